/* SPDX-License-Identifier: BSD-3-Clause */
/* A port by write(2) and mmap(2) alone, as programs had it before there was an ioctl. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bare.h"

#define EXTENDED        IB_USER_VERBS_CMD_FLAG_EXTENDED
#define BF_OFFSET       0x800
#define BFREG_BYTES     512
#define BFREGS_PER_PAGE 4

struct old_header {
	struct ib_uverbs_cmd_hdr core;
};

struct ex_header {
	struct ib_uverbs_cmd_hdr core;
	struct ib_uverbs_ex_cmd_hdr more;
};

/** An old command, its own part and the provider's in one structure. @return 0 or the errno. */
static int
send_old(int fd, uint32_t number, void *command, size_t bytes, size_t answer_bytes)
{
	*(struct ib_uverbs_cmd_hdr *)command = (struct ib_uverbs_cmd_hdr){
		.command = number,
		.in_words = (uint16_t)(bytes / 4),
		.out_words = (uint16_t)(answer_bytes / 4),
	};
	return write(fd, command, bytes) == (ssize_t)bytes ? 0 : errno;
}

static void
must_send(
	int fd, uint32_t number, void *command, size_t bytes, size_t answer_bytes, const char *what)
{
	errno = send_old(fd, number, command, bytes, answer_bytes);
	bare_must(errno == 0, what);
}

static uint64_t
address(const void *pointer)
{
	return (uintptr_t)pointer;
}

struct context_command {
	struct old_header header;
	struct ib_uverbs_get_context core;
	struct mlx5_ib_alloc_ucontext_req_v2 driver;
};

static int
try_context(int fd, uint64_t lib_caps, struct mlx5_ib_alloc_ucontext_resp *driver, int *async_fd)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		struct mlx5_ib_alloc_ucontext_resp driver;
	} answer = { 0 };
	struct context_command command = {
		.core = { .response = address(&answer) },
		.driver = { .total_num_bfregs = 16,
			.num_low_latency_bfregs = 4,
			.max_cqe_version = 1,
			.lib_caps = lib_caps },
	};
	int ret = send_old(
		fd, IB_USER_VERBS_CMD_GET_CONTEXT, &command, sizeof(command), sizeof(answer));

	*driver = answer.driver;
	*async_fd = (int)answer.core.async_fd;
	CHECK(ret != 0 || answer.core.num_comp_vectors > 0, answer.core.num_comp_vectors);
	return ret;
}

static void
get_context(struct bare *bare)
{
	struct mlx5_ib_alloc_ucontext_resp driver;
	int async_fd;

	errno = try_context(bare->fd, MLX5_LIB_CAP_4K_UAR, &driver, &async_fd);
	bare_must(errno == 0, "GET_CONTEXT");
	CHECK(driver.tot_bfregs == 16, driver.tot_bfregs);
	CHECK(driver.cqe_version == 1, driver.cqe_version);
	CHECK(async_fd > bare->fd, async_fd);
	close(async_fd);
}

static void
alloc_pd(struct bare *bare)
{
	struct {
		struct ib_uverbs_alloc_pd_resp core;
		struct mlx5_ib_alloc_pd_resp driver;
	} answer;
	struct {
		struct old_header header;
		struct ib_uverbs_alloc_pd core;
	} command = { .core = { .response = address(&answer) } };

	must_send(bare->fd, IB_USER_VERBS_CMD_ALLOC_PD, &command, sizeof(command), sizeof(answer),
		"ALLOC_PD");
	bare->pd = answer.core.pd_handle;
}

static void
reg_mr(struct bare *bare)
{
	struct ib_uverbs_reg_mr_resp answer;
	struct {
		struct old_header header;
		struct ib_uverbs_reg_mr core;
	} command = { .core = { .response = address(&answer) } };

	bare_fill_mr(bare, &command.core);
	must_send(bare->fd, IB_USER_VERBS_CMD_REG_MR, &command, sizeof(command), sizeof(answer),
		"REG_MR");
	bare->mr = answer.mr_handle;
	bare->lkey = answer.lkey;
}

static void
create_cq(struct bare *bare)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct mlx5_ib_create_cq_resp driver;
	} answer;
	struct {
		struct old_header header;
		struct ib_uverbs_create_cq core;
		struct mlx5_ib_create_cq driver;
	} command = {
		.core = { .response = address(&answer), .cqe = BARE_CQES - 1, .comp_channel = -1 },
	};

	bare_fill_cq(bare, &command.driver);
	must_send(bare->fd, IB_USER_VERBS_CMD_CREATE_CQ, &command, sizeof(command), sizeof(answer),
		"CREATE_CQ");
	CHECK(answer.core.cqe == BARE_CQES - 1, answer.core.cqe);
	bare->cq = answer.core.cq_handle;
}

static void
create_qp(struct bare *bare)
{
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct mlx5_ib_create_qp_resp driver;
	} answer;
	struct {
		struct old_header header;
		struct ib_uverbs_create_qp core;
		struct mlx5_ib_create_qp driver;
	} command = {
		.core = { .response = address(&answer),
			.pd_handle = bare->pd,
			.send_cq_handle = bare->cq,
			.recv_cq_handle = bare->cq,
			.qp_type = IBV_QPT_RAW_PACKET },
	};

	bare_fill_cap((struct ib_uverbs_qp_cap *)&command.core.max_send_wr);
	bare_fill_qp(bare, &command.driver);
	must_send(bare->fd, IB_USER_VERBS_CMD_CREATE_QP, &command, sizeof(command), sizeof(answer),
		"CREATE_QP");
	CHECK(answer.core.max_send_wr == BARE_WQES, answer.core.max_send_wr);
	bare->qp = answer.core.qp_handle;
	bare->sqn = answer.core.qpn;
	/* The kernel has chosen a register, one of those of low latency first: 12 of 16. */
	CHECK(answer.driver.bfreg_index == 12 / 2 * BFREGS_PER_PAGE, answer.driver.bfreg_index);
	bare->bf_offset = BF_OFFSET + answer.driver.bfreg_index % BFREGS_PER_PAGE * BFREG_BYTES;
	bare->uar = mmap(NULL, BARE_PAGE, PROT_WRITE, MAP_SHARED, bare->fd,
		(off_t)(answer.driver.bfreg_index / BFREGS_PER_PAGE) * BARE_PAGE);
	bare_must(bare->uar != MAP_FAILED, "mmap of a UAR page");
}

static void
modify_qp(struct bare *bare, uint32_t mask, uint8_t state)
{
	struct {
		struct old_header header;
		struct ib_uverbs_modify_qp core;
	} command = { 0 };

	bare_fill_modify(bare, mask, state, &command.core);
	must_send(bare->fd, IB_USER_VERBS_CMD_MODIFY_QP, &command, sizeof(command), 0, "MODIFY_QP");
}

struct flow_command {
	struct ex_header header;
	struct bare_flow core;
};

static void
init_flow(const struct bare *bare, struct flow_command *command,
	struct ib_uverbs_create_flow_resp *answer)
{
	*command = (struct flow_command){
		.header = {
			.core = { .command = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
				.in_words = sizeof(command->core) / 8,
				.out_words = sizeof(*answer) / 8 },
			.more = { .response = address(answer) },
		},
	};
	bare_fill_flow(bare, &command->core);
}

static void
create_flow(struct bare *bare)
{
	struct ib_uverbs_create_flow_resp answer;
	struct flow_command command;

	init_flow(bare, &command, &answer);
	bare_must(write(bare->fd, &command, sizeof(command)) == sizeof(command), "EX_CREATE_FLOW");
	bare->flow = answer.flow_handle;
}

static int
destroy_flow(const struct bare *bare)
{
	struct {
		struct ex_header header;
		struct ib_uverbs_destroy_flow core;
	} command = {
		.header.core = { .command = EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
			.in_words = sizeof(command.core) / 8 },
		.core = { .flow_handle = bare->flow },
	};

	return write(bare->fd, &command, sizeof(command)) == sizeof(command) ? 0 : errno;
}

static int
destroy_qp(const struct bare *bare)
{
	struct ib_uverbs_destroy_qp_resp answer;
	struct {
		struct old_header header;
		struct ib_uverbs_destroy_qp core;
	} command = { .core = { .response = address(&answer), .qp_handle = bare->qp } };

	return send_old(
		bare->fd, IB_USER_VERBS_CMD_DESTROY_QP, &command, sizeof(command), sizeof(answer));
}

static int
destroy_cq(const struct bare *bare)
{
	struct ib_uverbs_destroy_cq_resp answer;
	struct {
		struct old_header header;
		struct ib_uverbs_destroy_cq core;
	} command = { .core = { .response = address(&answer), .cq_handle = bare->cq } };

	return send_old(
		bare->fd, IB_USER_VERBS_CMD_DESTROY_CQ, &command, sizeof(command), sizeof(answer));
}

/** As rdma-core 18 and 19 do: the structure is whole, its length is not. */
static int
destroy_cq_cut(const struct bare *bare)
{
	struct ib_uverbs_destroy_cq_resp answer = { .comp_events_reported = 99 };
	struct {
		struct old_header header;
		struct ib_uverbs_destroy_cq core;
	} command = { .core = { .response = address(&answer), .cq_handle = bare->cq } };
	int ret = send_old(bare->fd, IB_USER_VERBS_CMD_DESTROY_CQ, &command, 16, sizeof(answer));

	CHECK(ret != 0 || answer.comp_events_reported == 0, answer.comp_events_reported);
	return ret;
}

/** DEALLOC_PD, DEREG_MR: a handle and no answer. */
static int
destroy_named(const struct bare *bare, uint32_t number, uint32_t handle)
{
	struct {
		struct old_header header;
		uint32_t handle;
	} command = { .handle = handle };

	return send_old(bare->fd, number, &command, sizeof(command), 0);
}

/** What is in use stays; what is gone is not there. */
static void
destroy_all(struct bare *bare)
{
	CHECK(destroy_named(bare, IB_USER_VERBS_CMD_DEALLOC_PD, bare->pd) == EBUSY, errno);
	CHECK(destroy_cq(bare) == EBUSY, errno);
	CHECK(destroy_qp(bare) == EBUSY, errno);
	CHECK(destroy_flow(bare) == 0, errno);
	CHECK(destroy_flow(bare) == ENOENT, errno);
	CHECK(destroy_named(bare, IB_USER_VERBS_CMD_DEREG_MR, bare->pd) == EINVAL, errno);
	CHECK(destroy_qp(bare) == 0, errno);
	CHECK(destroy_cq_cut(bare) == 0, errno);
	CHECK(destroy_cq(bare) == ENOENT, errno);
	CHECK(destroy_named(bare, IB_USER_VERBS_CMD_DEREG_MR, bare->mr) == 0, errno);
	CHECK(destroy_named(bare, IB_USER_VERBS_CMD_DEALLOC_PD, bare->pd) == 0, errno);
}

/** The device and its port, by the old short forms. */
static void
test_queries(int fd)
{
	struct ib_uverbs_query_device_resp device = { 0 };
	struct ib_uverbs_query_port_resp port = { 0 };
	struct {
		struct old_header header;
		struct ib_uverbs_query_device core;
	} ask_device = { .core = { .response = address(&device) } };
	struct {
		struct old_header header;
		struct ib_uverbs_query_port core;
	} ask_port = { .core = { .response = address(&port), .port_num = 1 } };

	CHECK(send_old(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, &ask_device, sizeof(ask_device),
		      sizeof(device)) == 0,
		errno);
	CHECK(device.phys_port_cnt == 1 && device.max_qp > 0, device.phys_port_cnt);
	CHECK(send_old(fd, IB_USER_VERBS_CMD_QUERY_PORT, &ask_port, sizeof(ask_port),
		      sizeof(port)) == 0,
		errno);
	CHECK(port.link_layer == IBV_LINK_LAYER_ETHERNET, port.link_layer);
	CHECK(port.state == IBV_PORT_ACTIVE, port.state);
	ask_port.core.port_num = 2;
	CHECK(send_old(fd, IB_USER_VERBS_CMD_QUERY_PORT, &ask_port, sizeof(ask_port),
		      sizeof(port)) == EINVAL,
		errno);
	ask_device.core.response = 8;
	CHECK(send_old(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, &ask_device, sizeof(ask_device),
		      sizeof(device)) == EFAULT,
		errno);
}

/** Headers that verify_hdr does not let pass. */
static void
test_old_headers(int fd)
{
	static const struct {
		const char *what;
		struct ib_uverbs_cmd_hdr header;
		size_t bytes;
		int expected;
	} rows[] = {
		{ "a header cut", { 0 }, 7, EINVAL },
		{ "nothing", { 0 }, 0, EINVAL },
		{ "words not those written", { IB_USER_VERBS_CMD_QUERY_DEVICE, 5, 44 }, 16,
			EINVAL },
		{ "a command cut", { IB_USER_VERBS_CMD_QUERY_DEVICE, 3, 44 }, 12, ENOSPC },
		{ "a CQ's cut otherwise", { IB_USER_VERBS_CMD_DESTROY_CQ, 5, 2 }, 20, ENOSPC },
		{ "an answer cut", { IB_USER_VERBS_CMD_QUERY_DEVICE, 4, 43 }, 16, ENOSPC },
		{ "unknown bits", { 0x100, 4, 44 }, 16, EINVAL },
		{ "flags of nothing", { 1u << 30, 4, 44 }, 16, EINVAL },
		{ "not for this device", { IB_USER_VERBS_CMD_REG_SMR, 4, 0 }, 16, EOPNOTSUPP },
		{ "not by this way", { IB_USER_VERBS_CMD_POLL_CQ, 4, 0 }, 16, EOPNOTSUPP },
		{ "no command", { 0xff, 4, 0 }, 16, EOPNOTSUPP },
		{ "no command, whatever its words", { 0xff, 5, 0 }, 16, EOPNOTSUPP },
		{ "none below the last, and its words", { IB_USER_VERBS_CMD_REG_SMR, 5, 0 }, 16,
			EINVAL },
		{ "extended, cut", { EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, 0, 0 }, 23,
			EINVAL },
	};
	uint8_t bytes[32] = { 0 };
	void *unmapped = mmap(NULL, BARE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(bytes, &rows[i].header, sizeof(rows[i].header));
		errno = 0;
		CHECK(write(fd, bytes, rows[i].bytes) == -1, i);
		if (errno != rows[i].expected)
			bare_check(false, rows[i].what, errno);
	}
	CHECK(write(fd, unmapped, 16) == -1 && errno == EFAULT, errno);
	munmap(unmapped, BARE_PAGE);
}

/** The second header of extended commands. */
static void
test_extended_headers(int fd)
{
	static const struct {
		const char *what;
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_ex_cmd_hdr more;
		int expected;
	} rows[] = {
#define FLOW EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW
		{ "words not those written", { FLOW, 7, 1 }, { 4096, 0, 0, 0 }, EINVAL },
		{ "the provider's words count", { FLOW, 8, 1 }, { 4096, 1, 0, 0 }, EINVAL },
		{ "a command cut", { FLOW, 2, 1 }, { 4096, 6, 0, 0 }, ENOSPC },
		{ "reserved", { FLOW, 8, 1 }, { 4096, 0, 0, 1 }, EINVAL },
		{ "an address and no room", { FLOW, 8, 0 }, { 4096, 0, 0, 0 }, EINVAL },
		{ "room and no address", { FLOW, 8, 1 }, { 0, 0, 0, 0 }, EINVAL },
		{ "room for the provider only", { FLOW, 8, 0 }, { 4096, 0, 1, 0 }, ENOSPC },
		{ "no command", { EXTENDED | 0xff, 8, 1 }, { 4096, 0, 0, 0 }, EOPNOTSUPP },
		{ "none below the last", { EXTENDED | 0x20, 8, 1 }, { 4096, 0, 0, 0 }, EINVAL },
	};
	struct bare bare = { .qp = 999 };
	struct ib_uverbs_create_flow_resp answer;
	struct flow_command command;

	init_flow(&bare, &command, &answer);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		command.header.core = rows[i].header;
		command.header.more = rows[i].more;
		errno = 0;
		CHECK(write(fd, &command, sizeof(command)) == -1, i);
		if (errno != rows[i].expected)
			bare_check(false, rows[i].what, errno);
	}
	/* All in order, but for a queue pair that there is not. */
	init_flow(&bare, &command, &answer);
	CHECK(write(fd, &command, sizeof(command)) == -1 && errno == EINVAL, errno);
}

static void
test_context(void)
{
	struct mlx5_ib_alloc_ucontext_resp driver;
	int fd = bare_open(), async_fd;
	struct bare bare = { .fd = fd };

	/* Before there is a context, there is nothing. */
	CHECK(destroy_named(&bare, IB_USER_VERBS_CMD_DEALLOC_PD, 0) == EINVAL, errno);
	/* Dynamic UAR pages are known here, too; there is no command that allocates one. */
	CHECK(try_context(fd, MLX5_LIB_CAP_DYN_UAR, &driver, &async_fd) == 0, errno);
	CHECK(driver.tot_bfregs == 0, driver.tot_bfregs);
	close(async_fd);
	CHECK(try_context(fd, MLX5_LIB_CAP_4K_UAR, &driver, &async_fd) == EINVAL, errno);
	test_queries(fd);
	test_old_headers(fd);
	test_extended_headers(fd);
	CHECK(destroy_named(&bare, IB_USER_VERBS_CMD_DEALLOC_PD, 0) == ENOENT, errno);
	close(fd);
}

static const struct bare_abi abi = {
	.get_context = get_context,
	.alloc_pd = alloc_pd,
	.reg_mr = reg_mr,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.create_flow = create_flow,
	.destroy_all = destroy_all,
};

int
main(void)
{
	test_context();
	bare_run(&abi);
	return bare_end();
}
