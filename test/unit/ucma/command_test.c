/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands one by one: bad ones, queries, options, and identifiers that move. */
#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_user_sa.h>

#include "rig.h"

static int
raw(struct rig *rig, uint32_t number, uint16_t in, uint16_t out, size_t length)
{
	const struct {
		struct rdma_ucm_cmd_hdr header;
		uint8_t bytes[1024];
	} whole = { .header = { number, in, out } };

	return shca_ucma_write(rig->ucma, rig->fd, &whole, length);
}

static void
test_malformed(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(raw(&rig, 0, 0, 0, 4), -EINVAL);
	assert_int_equal(raw(&rig, 23, 24, 4, 32), -EINVAL);
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_CREATE_ID, 24, 4, 31), -EINVAL);
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_CREATE_ID, 23, 4, 32), -EINVAL);
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_CREATE_ID, 24, 3, 32), -ENOSPC);
	/* No port space */
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_CREATE_ID, 24, 4, 32), -EINVAL);
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_GET_OPTION, 24, 4, 32), -ENOSYS);
	assert_int_equal(raw(&rig, RDMA_USER_CM_CMD_CONNECT, 300, 0, 308), -EINVAL);
	assert_int_equal(shca_ucma_write(rig.ucma, 0, &rig, 32), -EBADF);
	/* Each command looks its identifier up. */
	for (uint32_t number = 1; number <= RDMA_USER_CM_CMD_JOIN_MCAST; number++)
		if (number != RDMA_USER_CM_CMD_GET_EVENT)
			assert_true(raw(&rig, number, 600, 600, 608) < 0);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	rig_close(&rig);
}

/** The least room for an answer, and what a command of zeros is answered with that has it. */
static void
test_room(void **state)
{
	static const struct {
		uint32_t number;
		uint16_t in, out;
		int wanted;
	} rows[] = {
		{ RDMA_USER_CM_CMD_CREATE_ID, sizeof(struct rdma_ucm_create_id), 4, -EINVAL },
		{ RDMA_USER_CM_CMD_DESTROY_ID, sizeof(struct rdma_ucm_destroy_id), 4, -ENOENT },
		{ RDMA_USER_CM_CMD_BIND_IP, sizeof(struct rdma_ucm_bind_ip), 0, -EINVAL },
		{ RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(struct rdma_ucm_resolve_ip), 0, -EINVAL },
		{ RDMA_USER_CM_CMD_RESOLVE_ROUTE, sizeof(struct rdma_ucm_resolve_route), 0,
			-ENOENT },
		{ RDMA_USER_CM_CMD_QUERY_ROUTE, sizeof(struct rdma_ucm_query),
			offsetof(struct rdma_ucm_query_route_resp, ibdev_index), -ENOENT },
		{ RDMA_USER_CM_CMD_CONNECT, offsetof(struct rdma_ucm_connect, ece), 0, -EINVAL },
		{ RDMA_USER_CM_CMD_LISTEN, sizeof(struct rdma_ucm_listen), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_ACCEPT, offsetof(struct rdma_ucm_accept, ece), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_REJECT, sizeof(struct rdma_ucm_reject), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_DISCONNECT, sizeof(struct rdma_ucm_disconnect), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_INIT_QP_ATTR, sizeof(struct rdma_ucm_init_qp_attr),
			sizeof(struct ib_uverbs_qp_attr), -ENOENT },
		{ RDMA_USER_CM_CMD_GET_EVENT, sizeof(struct rdma_ucm_get_event),
			offsetof(struct rdma_ucm_event_resp, reserved), -EAGAIN },
		{ RDMA_USER_CM_CMD_GET_OPTION, 0, 0, -ENOSYS },
		{ RDMA_USER_CM_CMD_SET_OPTION, sizeof(struct rdma_ucm_set_option), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_NOTIFY, sizeof(struct rdma_ucm_notify), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_JOIN_IP_MCAST, sizeof(struct rdma_ucm_join_ip_mcast), 4,
			-EINVAL },
		{ RDMA_USER_CM_CMD_LEAVE_MCAST, sizeof(struct rdma_ucm_destroy_id), 4, -ENOENT },
		{ RDMA_USER_CM_CMD_MIGRATE_ID, sizeof(struct rdma_ucm_migrate_id), 4, -EINVAL },
		{ RDMA_USER_CM_CMD_QUERY, sizeof(struct rdma_ucm_query), 0, -ENOENT },
		{ RDMA_USER_CM_CMD_BIND, sizeof(struct rdma_ucm_bind), 0, -EINVAL },
		{ RDMA_USER_CM_CMD_RESOLVE_ADDR, sizeof(struct rdma_ucm_resolve_addr), 0, -EINVAL },
		{ RDMA_USER_CM_CMD_JOIN_MCAST, sizeof(struct rdma_ucm_join_mcast), 4, -EINVAL },
	};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t length = sizeof(struct rdma_ucm_cmd_hdr) + rows[i].in;

		print_message("command %u\n", rows[i].number);
		assert_int_equal(
			raw(&rig, rows[i].number, rows[i].in, rows[i].out, length), rows[i].wanted);
		/* Bytes behind it do no harm. */
		assert_int_equal(raw(&rig, rows[i].number, rows[i].in, rows[i].out, length + 1),
			rows[i].wanted);
		if (rows[i].out != 0)
			assert_int_equal(
				raw(&rig, rows[i].number, rows[i].in, rows[i].out - 1, length),
				-ENOSPC);
		if (rows[i].in != 0)
			assert_int_equal(
				raw(&rig, rows[i].number, rows[i].in - 1, rows[i].out, length),
				-EINVAL);
	}
	assert_int_equal(shca_ucma_write(rig.ucma, rig.fd, (const void *)8, 32), -EFAULT);
	rig_close(&rig);
}

static void
test_whose(void **state)
{
	struct rdma_ucm_listen command = { .backlog = 1 };
	struct rig rig;
	int first, other;

	(void)state;
	rig_open(&rig);
	first = rig.fd;
	command.id = rig_create(&rig, 1, RDMA_PS_TCP);
	other = rig.fd = shca_ucma_open(rig.ucma, true);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_LISTEN, command), -EINVAL);
	command.id += 5;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_LISTEN, command), -ENOENT);
	close(other);
	rig.fd = first;
	rig_close(&rig);
}

static void
test_bad_addresses_of_answers(void **state)
{
	const struct rdma_ucm_create_id create = { .response = 8, .ps = RDMA_PS_TCP };
	const struct rdma_ucm_get_event get = { .response = 8 };
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create), 4), -EFAULT);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	id = rig_create(&rig, 3, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get),
				 sizeof(struct rdma_ucm_event_resp)),
		-EFAULT);
	/* An event that was not delivered is still there. */
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).uid, 3);
	assert_int_equal(rig_destroy(&rig, id), 1);
	rig_close(&rig);
}

static void
test_query(void **state)
{
	struct rdma_ucm_query_addr_resp answer;
	struct rdma_ucm_query_route_resp route;
	struct {
		uint32_t num_paths, reserved;
		struct ib_path_rec_data path;
		uint8_t more[64];
	} path;
	struct rdma_ucm_query command = { .response = (uintptr_t)&answer };
	const uint8_t *bytes = (const uint8_t *)path.path.path_rec;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_caller(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(answer)), 0);
	assert_int_equal(answer.node_guid, __builtin_bswap64(0x100));
	assert_int_equal(answer.port_num, 1);
	/* Of IB: Ethernet's broadcast address has none (ib_addr_get_pkey()). */
	assert_int_equal(answer.pkey, 0);
	assert_int_equal(answer.src_size, 16);
	assert_int_equal(((const struct sockaddr_in *)&answer.dst_addr)->sin_port, htons(RIG_PORT));
	assert_int_not_equal(((const struct sockaddr_in *)&answer.src_addr)->sin_port, 0);
	command.option = RDMA_USER_CM_QUERY_GID;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(answer)), 0);
	assert_int_equal(answer.dst_size, 48);
	assert_int_equal(((const uint8_t *)&answer.dst_addr)[8 + 15], 2);
	/* 0x01061d2f */
	assert_int_equal(((const uint8_t *)&answer.dst_addr)[24 + 6], 0x1d);
	assert_int_equal(((const uint16_t *)&answer.dst_addr)[1], 0);
	command.option = RDMA_USER_CM_QUERY_PATH;
	command.response = (uintptr_t)&path;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(path)), 0);
	assert_int_equal(path.num_paths, 1);
	assert_int_equal(path.path.flags, IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL);
	assert_int_equal(bytes[8 + 15], 2);
	assert_int_equal(bytes[24 + 15], 1);
	assert_int_equal(bytes[54], 0x83);
	command.option = 3;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), 400), -ENOSYS);
	command.response = (uintptr_t)&route;
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(route)),
		0);
	assert_int_equal(route.num_paths, 1);
	assert_int_equal(route.ib_route[0].mtu, 3);
	assert_int_equal(route.ib_route[0].packet_life_time, 16);
	rig_close(&rig);
}

static void
test_options(void **state)
{
	static const struct {
		uint16_t space;
		uint32_t name, bytes;
		int wanted;
	} rows[] = {
		{ RDMA_PS_TCP, RDMA_OPTION_ID_TOS, 1, 0 },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_TOS, 4, -EINVAL },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_REUSEADDR, 4, 0 },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_REUSEADDR, 1, -EINVAL },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_AFONLY, 4, 0 },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_AFONLY, 8, -EINVAL },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 0 },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_ACK_TIMEOUT, 4, -EINVAL },
		/* UD has no ACKs. */
		{ RDMA_PS_UDP, RDMA_OPTION_ID_ACK_TIMEOUT, 1, -EINVAL },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_ACK_TIMEOUT + 1, 1, -ENOSYS },
		{ RDMA_PS_TCP, RDMA_OPTION_ID_TOS, 5000, -EINVAL },
	};
	const uint8_t value[8] = { 1 };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rig_option(&rig, rig_create(&rig, 1, rows[i].space), rows[i].name,
					 value, rows[i].bytes),
			rows[i].wanted);
	rig_close(&rig);
}

/** Who listens shares its address with nobody, and cannot begin to. */
static void
test_option_of_a_listener(void **state)
{
	const int on = 1;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	assert_int_equal(rig_option(&rig, id, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), -EINVAL);
	rig_close(&rig);
}

/** rdma_set_reuseaddr(), rdma_set_afonly(): what may be set when. */
static void
test_options_by_state(void **state)
{
	enum {
		IDLE,
		BOUND,
		RESOLVED,
		LISTENS,
		NB
	};
	static const struct {
		uint32_t name;
		int value;
		int wanted[NB];
	} rows[] = {
		{ RDMA_OPTION_ID_REUSEADDR, 0, { 0, -EINVAL, -EINVAL, -EINVAL } },
		{ RDMA_OPTION_ID_REUSEADDR, 1, { 0, 0, 0, -EINVAL } },
		{ RDMA_OPTION_ID_REUSEADDR, 2, { 0, 0, 0, -EINVAL } },
		{ RDMA_OPTION_ID_AFONLY, 0, { 0, 0, -EINVAL, -EINVAL } },
		{ RDMA_OPTION_ID_AFONLY, 1, { 0, 0, -EINVAL, -EINVAL } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned int at = IDLE; at < NB; at++) {
			struct rig rig;
			uint32_t id;

			rig_open(&rig);
			id = rig_create(&rig, 1, RDMA_PS_TCP);
			if (at != IDLE)
				assert_int_equal(rig_bind(&rig, id, 1, RIG_PORT), 0);
			if (at == RESOLVED)
				assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
			if (at == LISTENS)
				assert_int_equal(rig_listen(&rig, id, 1), 0);
			assert_int_equal(
				rig_option(&rig, id, rows[i].name, &rows[i].value, sizeof(int)),
				rows[i].wanted[at]);
			rig_close(&rig);
		}
}

/** Values are as long as they are, and where the program says. */
static void
test_option_values(void **state)
{
	static uint8_t value[4097];
	struct rdma_ucm_set_option command = {
		.optval = (uintptr_t)value,
		.level = RDMA_OPTION_IB,
		.optname = RDMA_OPTION_IB_PATH,
		.optlen = 4096,
	};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(
		rig_option(&rig, command.id, RDMA_OPTION_ID_TOS, (const void *)8, 1), -EFAULT);
	command.level = 9;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -ENOSYS);
	command.optlen++;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -EINVAL);
	rig_close(&rig);
}

/** A path that a program has found itself stands for rdma_resolve_route(). */
static void
test_option_path(void **state)
{
	struct ib_path_rec_data paths[2] = { { .flags = 1 },
		{ .flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL } };
	struct rdma_ucm_set_option command = {
		.optval = (uintptr_t)paths,
		.level = RDMA_OPTION_IB,
		.optname = RDMA_OPTION_IB_PATH,
		.optlen = sizeof(paths),
	};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -EINVAL);
	assert_int_equal(rig_resolve(&rig, command.id, 1, 2, RIG_PORT), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	/* The one that is a path is not of the value; nor is there any in none. */
	command.optlen = sizeof(paths[0]);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -EINVAL);
	command.optlen = 0;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -EINVAL);
	command.optlen = sizeof(paths) - 1;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), -EINVAL);
	command.optlen = sizeof(paths);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_SET_OPTION, command), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	rig_close(&rig);
}

/** An identifier goes to another descriptor, and its events with it. */
static void
test_migrate(void **state)
{
	struct rdma_ucm_migrate_resp answer = { .events_reported = 99 };
	struct rdma_ucm_migrate_id command = { .response = (uintptr_t)&answer };
	struct rig rig;
	int from;

	(void)state;
	rig_open(&rig);
	from = rig.fd;
	command.id = rig_create(&rig, 0x77, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, command.id, 1, 2, RIG_PORT), 0);
	rig.fd = shca_ucma_open(rig.ucma, true);
	/* No descriptor, and one of something else */
	command.fd = UINT32_MAX;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), -ENOENT);
	command.fd = 0;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), -EINVAL);
	command.fd = (uint32_t)from;
	command.id++;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), -ENOENT);
	command.id--;
	command.response = 8;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), -EFAULT);
	assert_false(rig_is_readable(&rig));
	command.response = (uintptr_t)&answer;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), 0);
	assert_int_equal(answer.events_reported, 0);
	/* To where it is already, with two events. */
	assert_int_equal(rig_route(&rig, command.id), 0);
	command.fd = (uint32_t)rig.fd;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), 0);
	close(from);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).uid, 0x77);
	assert_int_equal(rig_event(&rig, RIG_ROUTE_RESOLVED).uid, 0x77);
	assert_false(rig_is_readable(&rig));
	assert_int_equal(rig_destroy(&rig, command.id), 2);
	rig_close(&rig);
}

/** Who is bound to the device is told once, and can do no more than go. */
static void
test_removal(void **state)
{
	struct rdma_ucm_connect connect = { .conn_param = rig_param(5, "") };
	struct rig rig;
	uint32_t listener, caller, anywhere;

	(void)state;
	rig_open(&rig);
	anywhere = rig_create(&rig, 3, RDMA_PS_TCP);
	listener = rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	caller = rig_caller(&rig, 2, RDMA_PS_TCP);
	shca_ucma_remove(rig.ucma, 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_DEVICE_REMOVAL).id, caller);
	rig_expect_silence(&rig);
	shca_ucma_remove(rig.ucma, 0);
	rig_expect_silence(&rig);
	/* ucma_close_id() has let go of all but the number. */
	connect.id = caller;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_CONNECT, connect), -ENXIO);
	assert_int_equal(rig_resolve(&rig, caller, 1, 2, RIG_PORT), -ENXIO);
	assert_int_equal(rig_disconnect(&rig, caller), -ENXIO);
	/* Resolved, routed, removed. */
	assert_int_equal(rig_destroy(&rig, caller), 3);
	shca_ucma_remove(rig.ucma, 1);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_DEVICE_REMOVAL).uid, 1);
	rig_expect_silence(&rig);
	assert_int_equal(rig_listen(&rig, listener, 1), -ENXIO);
	/* Its port, too, as rdma_destroy_id() does. */
	assert_int_equal(rig_bind_any(&rig, anywhere, RIG_PORT), 0);
	assert_int_equal(rig_destroy(&rig, listener), 1);
	assert_int_equal(rig_destroy(&rig, anywhere), 0);
	rig_close(&rig);
}

/** With the device a group's number goes, too (ucma_leave_multicast()). */
static void
test_removal_of_a_group(void **state)
{
	struct rdma_ucm_create_id_resp answer = { .id = 99 };
	struct rdma_ucm_join_mcast join = { .response = (uintptr_t)&answer,
		.addr_size = sizeof(struct sockaddr_in) };
	const struct sockaddr_in group = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xe0010203) };
	struct rdma_ucm_destroy_id_resp gone;
	struct rdma_ucm_destroy_id leave = { .response = (uintptr_t)&gone };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	join.id = rig_create(&rig, 1, RDMA_PS_UDP);
	memcpy(&join.addr, &group, sizeof(group));
	assert_int_equal(rig_bind(&rig, join.id, 1, 0), 0);
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &join, sizeof(join), 4), 0);
	shca_ucma_remove(rig.ucma, 0);
	shca_ucma_step(rig.ucma);
	leave.id = answer.id;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_LEAVE_MCAST, &leave, sizeof(leave), 4), -ENXIO);
	rig_event(&rig, RIG_MULTICAST_JOIN);
	rig_event(&rig, RIG_DEVICE_REMOVAL);
	assert_int_equal(rig_destroy(&rig, join.id), 2);
	rig_close(&rig);
}

/** The other side of a connection is at the device that goes. */
static void
test_removal_of_a_connection(void **state)
{
	struct rig rig;
	uint32_t caller;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	caller = rig_caller(&rig, 2, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, caller, 0x11, ""), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_CONNECT_REQUEST);
	rig.loses = true;
	shca_ucma_remove(rig.ucma, 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_DEVICE_REMOVAL).id, caller);
	/* No answer to what it had asked for comes any more. */
	shca_ucma_step(rig.ucma);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** A program hears of a request's identifier, and gives it its uid, when it accepts: until then an
 * event of it would name nothing that the program knows (ucma_event_handler()). */
static void
test_removal_of_a_request(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	assert_int_equal(rig_connect(&rig, rig_caller(&rig, 2, RDMA_PS_TCP), 0x11, ""), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_CONNECT_REQUEST);
	rig.loses = true;
	shca_ucma_remove(rig.ucma, 1);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_DEVICE_REMOVAL).uid, 1);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** A request that nobody has read may be destroyed by its number, alone or with the file. */
static void
test_request_that_goes_first(void **state)
{
	struct rig rig;
	uint32_t listener, caller;

	(void)state;
	rig_open(&rig);
	listener = rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	caller = rig_caller(&rig, 2, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, caller, 0x11, ""), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 3);
	assert_int_equal(rig_destroy(&rig, caller + 1), 0);
	rig_event(&rig, RIG_CONNECT_REQUEST);
	assert_int_equal(rig_destroy(&rig, listener), 1);

	rig_listener(&rig, 1, RDMA_PS_TCP, 1);
	caller = rig_caller(&rig, 2, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, caller, 0x11, ""), 0);
	shca_ucma_step(rig.ucma);
	close(rig.fd);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	rig.fd = shca_ucma_open(rig.ucma, true);
	rig_close(&rig);
}

/** Its program is killed, or another thread closes the file, while a command is on its way. */
static void
test_file_that_goes_first(void **state)
{
	const struct rdma_ucm_create_id command = { .ps = RDMA_PS_TCP };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(shutdown(rig.fd, SHUT_RDWR), 0);
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_CREATE_ID, &command, sizeof(command),
				 sizeof(struct rdma_ucm_create_id_resp)),
		-EIO);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_bad_addresses_of_answers),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_option_of_a_listener),
		cmocka_unit_test(test_options_by_state),
		cmocka_unit_test(test_option_values),
		cmocka_unit_test(test_option_path),
		cmocka_unit_test(test_migrate),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_removal_of_a_group),
		cmocka_unit_test(test_removal_of_a_connection),
		cmocka_unit_test(test_removal_of_a_request),
		cmocka_unit_test(test_request_that_goes_first),
		cmocka_unit_test(test_file_that_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
