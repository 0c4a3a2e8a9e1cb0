/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of rdma_cm from bytes: of any number, length and content, and such as fit, on files of
 * two programs whose ports reach each other, while datagrams are lost or made up. A file can be
 * read from exactly while an event waits, what names an identifier of another is refused, and
 * nothing is left when the files are closed.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "check.h"
#include "cm/mad.h"
#include "input.h"
#include "ucma/ucma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MAX_OPERATIONS = 96,
	NB_FILES = 2,
	ANSWER_BYTES = 1024,
	COMMAND_BYTES = 704, /* more than any command */
	PORTS = 3,
	NB_IDS = 32,
	CONNECT_REQUEST = 4, /* enum rdma_cm_event_type */
	CONNECT_RESPONSE,
};

static struct {
	struct fuzz_input input;
	struct shca_ucma *ucma;
	int fd[NB_FILES];
	uint8_t *answer; /* ANSWER_BYTES, and a page that cannot be written */
	bool loses;
	struct {
		uint32_t number;
		unsigned int file;
	} id[NB_IDS]; /* the last ones that were heard of */
	unsigned int nb_ids;
	uint8_t last_mad[SHCA_UCMA_MAD_BYTES];
	struct shca_ucma_gid last_local;
	uint8_t last_remote[SHCA_UCMA_GID_BYTES];
	struct {
		struct rdma_ucm_cmd_hdr header;
		uint8_t bytes[COMMAND_BYTES];
	} command;
} state;

/** @{ The world of the manager: 10.0.0.1 of mlx5_0 and 10.0.0.2 of mlx5_1. */
static unsigned int
list_gids(void *arg, struct shca_ucma_gid *gids, unsigned int max)
{
	(void)arg;
	FUZZ_CHECK(max >= 4);
	for (unsigned int i = 0; i < 4; i++)
		gids[i] = (struct shca_ucma_gid){
			.gid = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(1 + i / 2) },
			.device = i / 2,
			.port = 1,
			.index = (uint8_t)(2 + i % 2),
			.is_v2 = i % 2 == 1,
			.ifindex = 5 + i / 2,
		};
	return 4;
}

static void
describe_port(void *arg, const struct shca_ucma_gid *gid, struct shca_ucma_port *port)
{
	(void)arg;
	*port = (struct shca_ucma_port){
		.node_guid = 0x100 + gid->device, .mtu = 3, .ack_delay = 16
	};
}

static void
send_datagram(
	void *arg, const struct shca_ucma_gid *gid, const uint8_t *remote, const uint8_t *bytes)
{
	(void)arg;
	state.last_local = *gid;
	state.last_local.device = 1 - gid->device;
	memcpy(state.last_local.gid, remote, sizeof(state.last_local.gid));
	memcpy(state.last_remote, gid->gid, sizeof(state.last_remote));
	memcpy(state.last_mad, bytes, sizeof(state.last_mad));
	if (!state.loses)
		shca_ucma_receive(state.ucma, &state.last_local, state.last_remote, bytes);
}
/** @} */

/** @{ Content that fits. */
static void
put_address(size_t at, size_t size_at)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x0a000000 + fuzz_input_choose(&state.input, 4)),
		.sin_port = htons((uint16_t)(fuzz_input_choose(&state.input, PORTS) * 7471)),
	};
	const uint16_t size = sizeof(address);

	memcpy(state.command.bytes + at, &address, sizeof(address));
	if (size_at != 0)
		memcpy(state.command.bytes + size_at, &size, sizeof(size));
}

static void
put_param(size_t at)
{
	const struct rdma_ucm_conn_param param = {
		.qp_num = 0x100,
		.private_data_len = fuzz_input_choose(&state.input, 60),
		.retry_count = 7,
		.valid = fuzz_input_choose(&state.input, 8) != 0,
	};

	memcpy(state.command.bytes + at, &param, sizeof(param));
}

static void
fit_create(void)
{
	static const uint16_t spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB };
	struct rdma_ucm_create_id command;

	memcpy(&command, state.command.bytes, sizeof(command));
	command.ps = spaces[fuzz_input_choose(&state.input, 4)];
	command.qp_type = IB_UVERBS_QPT_RC;
	memcpy(state.command.bytes, &command, sizeof(command));
}

static void
fit_bind(void)
{
	put_address(
		offsetof(struct rdma_ucm_bind, addr), offsetof(struct rdma_ucm_bind, addr_size));
}

static void
fit_bind_ip(void)
{
	put_address(offsetof(struct rdma_ucm_bind_ip, addr), 0);
}

static void
fit_resolve(void)
{
	put_address(offsetof(struct rdma_ucm_resolve_addr, src_addr),
		offsetof(struct rdma_ucm_resolve_addr, src_size));
	put_address(offsetof(struct rdma_ucm_resolve_addr, dst_addr),
		offsetof(struct rdma_ucm_resolve_addr, dst_size));
}

static void
fit_resolve_ip(void)
{
	put_address(offsetof(struct rdma_ucm_resolve_ip, src_addr), 0);
	put_address(offsetof(struct rdma_ucm_resolve_ip, dst_addr), 0);
}

static void
fit_connect(void)
{
	put_param(offsetof(struct rdma_ucm_connect, conn_param));
}

static void
fit_accept(void)
{
	put_param(offsetof(struct rdma_ucm_accept, conn_param));
}

static void
fit_qp_attr(void)
{
	const uint32_t wanted = fuzz_input_choose(&state.input, 5);

	memcpy(state.command.bytes + offsetof(struct rdma_ucm_init_qp_attr, qp_state), &wanted,
		sizeof(wanted));
}

static void
fit_option(void)
{
	struct rdma_ucm_set_option command;
	struct ib_path_rec_data path = { .flags = fuzz_input_byte(&state.input) };

	memcpy(&command, state.command.bytes, sizeof(command));
	command.level = fuzz_input_choose(&state.input, 3);
	command.optname = fuzz_input_choose(&state.input, 6);
	command.optlen = fuzz_input_choose(&state.input, 2) ? fuzz_input_choose(&state.input, 9)
							    : (uint32_t)sizeof(path);
	command.optval = (uintptr_t)state.answer + ANSWER_BYTES - command.optlen;
	memcpy(state.answer + ANSWER_BYTES - sizeof(path), &path, sizeof(path));
	memcpy(state.command.bytes, &command, sizeof(command));
}

static void
fit_join_ip(void)
{
	put_address(offsetof(struct rdma_ucm_join_ip_mcast, addr), 0);
	if (fuzz_input_choose(&state.input, 4) != 0)
		state.command.bytes[offsetof(struct rdma_ucm_join_ip_mcast, addr) + 4] = 224;
}

static void
fit_join(void)
{
	put_address(offsetof(struct rdma_ucm_join_mcast, addr),
		offsetof(struct rdma_ucm_join_mcast, addr_size));
	state.command.bytes[offsetof(struct rdma_ucm_join_mcast, addr) + 4] = 224;
	state.command.bytes[offsetof(struct rdma_ucm_join_mcast, join_flags)] =
		fuzz_input_choose(&state.input, 3);
}

static void
fit_migrate(void)
{
	const uint32_t fd = (uint32_t)state.fd[fuzz_input_choose(&state.input, NB_FILES)];

	memcpy(state.command.bytes + offsetof(struct rdma_ucm_migrate_id, fd), &fd, sizeof(fd));
}
/** @} */

#define NOWHERE         SIZE_MAX
#define SHAPE(type, id) sizeof(struct type), offsetof(struct type, id)
#define ANSWER(type)    offsetof(struct type, response)

/** Where a command has what must fit, and what else it takes. */
static const struct {
	size_t bytes, id, response;
	void (*fit)(void);
} shapes[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = { sizeof(struct rdma_ucm_create_id), NOWHERE,
		ANSWER(rdma_ucm_create_id), fit_create },
	[RDMA_USER_CM_CMD_DESTROY_ID] = { SHAPE(rdma_ucm_destroy_id, id),
		ANSWER(rdma_ucm_destroy_id), NULL },
	[RDMA_USER_CM_CMD_BIND_IP] = { SHAPE(rdma_ucm_bind_ip, id), NOWHERE, fit_bind_ip },
	[RDMA_USER_CM_CMD_RESOLVE_IP] = { SHAPE(rdma_ucm_resolve_ip, id), NOWHERE, fit_resolve_ip },
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = { SHAPE(rdma_ucm_resolve_route, id), NOWHERE, NULL },
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = { SHAPE(rdma_ucm_query, id), ANSWER(rdma_ucm_query),
		NULL },
	[RDMA_USER_CM_CMD_CONNECT] = { SHAPE(rdma_ucm_connect, id), NOWHERE, fit_connect },
	[RDMA_USER_CM_CMD_LISTEN] = { SHAPE(rdma_ucm_listen, id), NOWHERE, NULL },
	[RDMA_USER_CM_CMD_ACCEPT] = { SHAPE(rdma_ucm_accept, id), NOWHERE, fit_accept },
	[RDMA_USER_CM_CMD_REJECT] = { SHAPE(rdma_ucm_reject, id), NOWHERE, NULL },
	[RDMA_USER_CM_CMD_DISCONNECT] = { SHAPE(rdma_ucm_disconnect, id), NOWHERE, NULL },
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = { SHAPE(rdma_ucm_init_qp_attr, id),
		ANSWER(rdma_ucm_init_qp_attr), fit_qp_attr },
	[RDMA_USER_CM_CMD_GET_EVENT] = { sizeof(struct rdma_ucm_get_event), NOWHERE,
		ANSWER(rdma_ucm_get_event), NULL },
	[RDMA_USER_CM_CMD_GET_OPTION] = { 24, NOWHERE, NOWHERE, NULL },
	[RDMA_USER_CM_CMD_SET_OPTION] = { SHAPE(rdma_ucm_set_option, id), NOWHERE, fit_option },
	[RDMA_USER_CM_CMD_NOTIFY] = { SHAPE(rdma_ucm_notify, id), NOWHERE, NULL },
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = { SHAPE(rdma_ucm_join_ip_mcast, id),
		ANSWER(rdma_ucm_join_ip_mcast), fit_join_ip },
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = { SHAPE(rdma_ucm_destroy_id, id),
		ANSWER(rdma_ucm_destroy_id), NULL },
	[RDMA_USER_CM_CMD_MIGRATE_ID] = { SHAPE(rdma_ucm_migrate_id, id),
		ANSWER(rdma_ucm_migrate_id), fit_migrate },
	[RDMA_USER_CM_CMD_QUERY] = { SHAPE(rdma_ucm_query, id), ANSWER(rdma_ucm_query), NULL },
	[RDMA_USER_CM_CMD_BIND] = { SHAPE(rdma_ucm_bind, id), NOWHERE, fit_bind },
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = { SHAPE(rdma_ucm_resolve_addr, id), NOWHERE,
		fit_resolve },
	[RDMA_USER_CM_CMD_JOIN_MCAST] = { SHAPE(rdma_ucm_join_mcast, id),
		ANSWER(rdma_ucm_join_mcast), fit_join },
};
#define NB_COMMANDS (sizeof(shapes) / sizeof(shapes[0]))

static bool
is_readable(unsigned int file)
{
	struct pollfd pollfd = { .fd = state.fd[file], .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN) != 0;
}

/** Most of a command's fields are small numbers, where they are not zero. */
static void
fill(size_t bytes)
{
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	for (unsigned int nb = fuzz_input_choose(&state.input, 4); nb != 0; nb--)
		state.command.bytes[fuzz_input_word(&state.input) % bytes] =
			fuzz_input_byte(&state.input);
}

static void
put_response(size_t at, uint16_t out)
{
	const uint64_t response = (uintptr_t)state.answer + ANSWER_BYTES - out;

	memcpy(state.command.bytes + at, &response, sizeof(response));
}

static int
write_command(unsigned int file, uint32_t number, size_t in, uint16_t out)
{
	state.command.header = (struct rdma_ucm_cmd_hdr){ number, (uint16_t)in, out };
	return shca_ucma_write(
		state.ucma, state.fd[file], &state.command, sizeof(state.command.header) + in);
}

static void
remember(unsigned int file, uint32_t number)
{
	state.id[state.nb_ids % NB_IDS].number = number;
	state.id[state.nb_ids % NB_IDS].file = file;
	state.nb_ids++;
}

/** @return an identifier, mostly one of the file's. */
static uint32_t
choose_id(unsigned int file)
{
	const unsigned int nb = state.nb_ids < NB_IDS ? state.nb_ids : NB_IDS;
	const uint8_t choice = fuzz_input_byte(&state.input);

	for (unsigned int i = 0; i < nb && choice < 0xf0; i++) {
		const unsigned int at = (choice + i) % nb;

		if (state.id[at].file == file || choice >= 0xe0)
			return state.id[at].number;
	}
	return choice % 8u;
}

/** What an answer tells of identifiers. */
static void
take_answer(unsigned int file, uint32_t number, uint16_t out)
{
	const uint8_t *answer = state.answer + ANSWER_BYTES - out;
	struct rdma_ucm_event_resp event;
	uint32_t id;

	if (number == RDMA_USER_CM_CMD_CREATE_ID) {
		memcpy(&id, answer, sizeof(id));
		remember(file, id);
	} else if (number == RDMA_USER_CM_CMD_GET_EVENT && out >= sizeof(event)) {
		memcpy(&event, answer, sizeof(event));
		if (event.event == CONNECT_REQUEST)
			remember(file, event.id);
	}
}

/** Run the command whose bytes are there. */
static int
run(unsigned int file, uint32_t number, uint16_t out)
{
	const bool was_readable = is_readable(file);
	int ret;

	if (shapes[number].response != NOWHERE)
		put_response(shapes[number].response, out);
	ret = write_command(file, number, shapes[number].bytes, out);
	FUZZ_CHECK(ret <= 0);
	if (number == RDMA_USER_CM_CMD_GET_EVENT)
		FUZZ_CHECK((ret != -EAGAIN) == was_readable || ret == -ENOSPC);
	if (ret == 0)
		take_answer(file, number, out);
	return ret;
}

/** A command that fits as far as its row says. */
static void
run_shaped(unsigned int file)
{
	const uint32_t number = fuzz_input_choose(&state.input, NB_COMMANDS);
	const uint16_t out =
		(uint16_t)(fuzz_input_choose(&state.input, 8) != 0 ? 512
								   : fuzz_input_byte(&state.input));
	const uint32_t id = choose_id(file);

	fill(shapes[number].bytes);
	if (shapes[number].id != NOWHERE)
		memcpy(state.command.bytes + shapes[number].id, &id, sizeof(id));
	if (shapes[number].fit != NULL)
		shapes[number].fit();
	(void)run(file, number, out);
}

/** @{ What programs do, one command of it for each byte, until something is refused. */
static int
run_simple(unsigned int file, uint32_t number, uint32_t id)
{
	if (shapes[number].id != NOWHERE)
		memcpy(state.command.bytes + shapes[number].id, &id, sizeof(id));
	return run(file, number, 512);
}

static void
put_fixed_address(size_t at, size_t size_at, uint8_t last, uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x0a000000u + last),
		.sin_port = htons(port),
	};
	const uint16_t size = sizeof(address);

	memcpy(state.command.bytes + at, &address, sizeof(address));
	memcpy(state.command.bytes + size_at, &size, sizeof(size));
}

static bool
create(unsigned int file, uint16_t space, uint32_t *id)
{
	const struct rdma_ucm_create_id command = { .ps = space, .qp_type = IB_UVERBS_QPT_RC };

	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	memcpy(state.command.bytes, &command, sizeof(command));
	if (run_simple(file, RDMA_USER_CM_CMD_CREATE_ID, 0) != 0)
		return false;
	*id = state.id[(state.nb_ids - 1) % NB_IDS].number;
	return true;
}

static uint16_t
choose_space(void)
{
	return fuzz_input_choose(&state.input, 3) == 0 ? RDMA_PS_UDP : RDMA_PS_TCP;
}

static void
serve(unsigned int file)
{
	uint32_t id;

	if (!create(file, choose_space(), &id))
		return;
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	put_fixed_address(offsetof(struct rdma_ucm_bind, addr),
		offsetof(struct rdma_ucm_bind, addr_size), 2, 7471);
	if (run_simple(file, RDMA_USER_CM_CMD_BIND, id) != 0)
		return;
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	(void)run_simple(file, RDMA_USER_CM_CMD_LISTEN, id);
}

static void
call(unsigned int file)
{
	const uint32_t timeout = 1000;
	uint32_t id;

	if (!create(file, choose_space(), &id))
		return;
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	memcpy(state.command.bytes + offsetof(struct rdma_ucm_resolve_addr, timeout_ms), &timeout,
		sizeof(timeout));
	put_fixed_address(offsetof(struct rdma_ucm_resolve_addr, dst_addr),
		offsetof(struct rdma_ucm_resolve_addr, dst_size), 2, 7471);
	put_fixed_address(offsetof(struct rdma_ucm_resolve_addr, src_addr),
		offsetof(struct rdma_ucm_resolve_addr, src_size), 1, 0);
	if (run_simple(file, RDMA_USER_CM_CMD_RESOLVE_ADDR, id) != 0)
		return;
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	memcpy(state.command.bytes + offsetof(struct rdma_ucm_resolve_route, timeout_ms), &timeout,
		sizeof(timeout));
	if (run_simple(file, RDMA_USER_CM_CMD_RESOLVE_ROUTE, id) != 0)
		return;
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	fit_connect();
	state.command.bytes[offsetof(struct rdma_ucm_connect, conn_param) +
		offsetof(struct rdma_ucm_conn_param, valid)] = 1;
	(void)run_simple(file, RDMA_USER_CM_CMD_CONNECT, id);
}

/** Read an event, and say yes to it. */
static void
answer_event(unsigned int file)
{
	struct rdma_ucm_event_resp event;

	(void)shca_ucma_step(state.ucma);
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	if (run_simple(file, RDMA_USER_CM_CMD_GET_EVENT, 0) != 0)
		return;
	memcpy(&event, state.answer + ANSWER_BYTES - 512, sizeof(event));
	memset(state.command.bytes, 0, sizeof(state.command.bytes));
	if (event.event == CONNECT_REQUEST) {
		fit_accept();
		state.command.bytes[offsetof(struct rdma_ucm_accept, conn_param) +
			offsetof(struct rdma_ucm_conn_param, valid)] = 1;
	}
	if (event.event == CONNECT_REQUEST || event.event == CONNECT_RESPONSE)
		(void)run_simple(file, RDMA_USER_CM_CMD_ACCEPT, event.id);
}
/** @} */

/** Any bytes, of any length, of which the header may say more. */
static void
run_wild(unsigned int file)
{
	const size_t length = fuzz_input_word(&state.input) % (sizeof(state.command) + 1);
	uint8_t *exact = fuzz_input_block(&state.input, length);

	if (exact == NULL)
		return;
	fuzz_input_fill(&state.input, exact, length < 64 ? length : 64);
	exact[0] %= 32;
	for (size_t i = 1; i < 4 && i < length; i++)
		exact[i] = 0;
	FUZZ_CHECK(shca_ucma_write(state.ucma, state.fd[file], exact, length) <= 0);
	fuzz_input_release(&state.input);
}

/** The last datagram again, perhaps changed. */
static void
repeat_datagram(unsigned int file)
{
	uint8_t bytes[SHCA_UCMA_MAD_BYTES];

	(void)file;
	memcpy(bytes, state.last_mad, sizeof(bytes));
	for (unsigned int nb = fuzz_input_choose(&state.input, 4); nb != 0; nb--)
		bytes[fuzz_input_byte(&state.input)] = fuzz_input_byte(&state.input);
	shca_ucma_receive(state.ucma, &state.last_local, state.last_remote, bytes);
}

static void
step(unsigned int file)
{
	(void)file;
	(void)shca_ucma_step(state.ucma);
}

static void
lose(unsigned int file)
{
	(void)file;
	state.loses = !state.loses;
}

static void
reopen(unsigned int file)
{
	if (fuzz_input_choose(&state.input, 4) != 0)
		return;
	close(state.fd[file]);
	state.fd[file] = shca_ucma_open(state.ucma, true);
	FUZZ_CHECK(state.fd[file] >= 0);
}

static void (*const operations[])(unsigned int file) = {
	run_shaped,
	run_shaped,
	run_shaped,
	run_shaped,
	run_shaped,
	serve,
	call,
	call,
	answer_event,
	answer_event,
	answer_event,
	run_wild,
	repeat_datagram,
	step,
	step,
	step,
	lose,
	reopen,
};

static void
set_up(void)
{
	const struct shca_ucma_conf conf = {
		.gids = list_gids,
		.port = describe_port,
		.send = send_datagram,
	};

	state.ucma = shca_ucma_create(&conf);
	FUZZ_CHECK(state.ucma != NULL);
	for (unsigned int i = 0; i < NB_FILES; i++) {
		state.fd[i] = shca_ucma_open(state.ucma, true);
		FUZZ_CHECK(state.fd[i] >= 0);
	}
}

/** What the programs leave is gone with their files. */
static void
tear_down(void)
{
	for (unsigned int i = 0; i < NB_FILES; i++)
		close(state.fd[i]);
	shca_ucma_reap(state.ucma);
	FUZZ_CHECK(shca_ucma_nb_ids(state.ucma) == 0);
	shca_ucma_destroy(state.ucma);
}

static uint8_t *
map_answer(void)
{
	uint8_t *page =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	FUZZ_CHECK(page != MAP_FAILED);
	FUZZ_CHECK(mprotect(page + 4096, 4096, PROT_NONE) == 0);
	return page + 4096 - ANSWER_BYTES;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *answer;
	size_t before;

	setenv("SOFTHCA_LOG", "error", 0);
	if (answer == NULL)
		answer = map_answer();
	memset(&state, 0, sizeof(state));
	state.answer = answer;
	state.input = (struct fuzz_input){ .at = data, .end = data + size };
	before = fuzz_check_allocated();
	set_up();
	for (unsigned int i = 0; i < MAX_OPERATIONS && fuzz_input_left(&state.input); i++) {
		const uint8_t which = fuzz_input_byte(&state.input);

		operations[(which & 0x7f) % (sizeof(operations) / sizeof(operations[0]))](
			which >> 7);
	}
	tear_down();
	fuzz_check_freed(before);
	return 0;
}
