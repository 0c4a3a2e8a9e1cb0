/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that come: whose they are, and what they tell. */
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rig.h"
#include "ucma/address.h"

enum {
	SERVER = 7, /* uids */
	CLIENT,
	ACCEPTED = 1,
	QPN_CLIENT = 0x11,
	QPN_SERVER = 0x22,
};

/** A datagram comes from 10.0.0.1 to 10.0.0.2 of mlx5_1. */
static void
come(struct rig *rig, const struct shca_mad *mad)
{
	static const uint8_t remote[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	const struct shca_ucma_gid local = {
		.gid = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.device = 1,
		.port = 1,
		.is_v2 = true,
	};
	uint8_t bytes[SHCA_MAD_BYTES];

	shca_mad_write(mad, bytes);
	shca_ucma_receive(rig->ucma, &local, remote, bytes);
	shca_ucma_step(rig->ucma);
}

/** Ask who listens at 10.0.0.2, and lose the question: it can come as the test likes it. */
static void
ask(struct rig *rig, uint16_t space)
{
	rig->loses = true;
	assert_int_equal(rig_connect(rig, rig_caller(rig, CLIENT, space), QPN_CLIENT, "hello"), 0);
}

/** Nobody has the port at the device: it is no service (core/cm.c cm_match_req()). Somebody has it,
 * but for other addresses: the RDMA CM refuses (cma_find_listener(), cm_destroy_id()). */
static void
test_not_for_us(void **state)
{
	static const struct {
		uint16_t space;
		bool is_ipv6; /* who listens, at mlx5_1; else at mlx5_0 */
		uint32_t event;
		uint32_t status;
	} rows[] = {
		{ RDMA_PS_TCP, false, RIG_REJECTED, SHCA_MAD_INVALID_SERVICE_ID },
		{ RDMA_PS_TCP, true, RIG_REJECTED, SHCA_MAD_CONSUMER },
		{ RDMA_PS_UDP, false, RIG_UNREACHABLE, SHCA_MAD_SIDR_UNSUPPORTED },
		{ RDMA_PS_UDP, true, RIG_UNREACHABLE, SHCA_MAD_SIDR_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig rig;
		uint32_t id;

		rig_open(&rig);
		id = rig_create(&rig, SERVER, rows[i].space);
		if (rows[i].is_ipv6)
			assert_int_equal(rig_bind6(&rig, id, 2, RIG_PORT), 0);
		else
			assert_int_equal(rig_bind(&rig, id, 1, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, id, 1), 0);
		id = rig_caller(&rig, CLIENT, rows[i].space);
		assert_int_equal(rig_connect(&rig, id, 1, ""), 0);
		shca_ucma_step(rig.ucma);
		assert_int_equal(rig_event(&rig, rows[i].event).status, rows[i].status);
		rig_expect_silence(&rig);
		rig_close(&rig);
	}
}

/** A header that is of neither version of IP is nobody's (cma_save_ip_info()), who listens for
 * queue pairs of XRC takes no other extended transport, and who listens for any takes all. */
static void
test_headers_and_types(void **state)
{
	static const struct {
		uint8_t type, version, transport, extended;
		bool is_taken;
	} rows[] = {
		{ IB_UVERBS_QPT_RC, 4, SHCA_MAD_RC, 0, true },
		{ IB_UVERBS_QPT_RC, 4, SHCA_MAD_RC, 1, true },
		{ IB_UVERBS_QPT_RC, 5, SHCA_MAD_RC, 0, false },
		{ IB_UVERBS_QPT_RC, 6, SHCA_MAD_RC, 0, false },
		{ IB_UVERBS_QPT_XRC_TGT, 4, SHCA_MAD_EXTENDED, 1, true },
		{ IB_UVERBS_QPT_XRC_TGT, 4, SHCA_MAD_EXTENDED, 2, false },
		{ IB_UVERBS_QPT_XRC_TGT, 4, SHCA_MAD_RC, 1, false },
		{ 0, 4, SHCA_MAD_UC, 0, true },
		{ 0, 4, SHCA_MAD_EXTENDED, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_create_id_resp answer;
		const struct rdma_ucm_create_id create = {
			.uid = SERVER,
			.response = (uintptr_t)&answer,
			.ps = RDMA_PS_IB,
			.qp_type = rows[i].type,
		};
		struct rig rig;

		print_message("row %zu\n", i);
		rig_open(&rig);
		assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create),
					 sizeof(answer)),
			0);
		assert_int_equal(rig_bind(&rig, answer.id, 2, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, answer.id, 1), 0);
		ask(&rig, RDMA_PS_IB);
		rig.req.private_data[1] = (uint8_t)(rows[i].version << 4);
		rig.req.transport = rows[i].transport;
		rig.req.extended_transport = rows[i].extended;
		come(&rig, &rig.req);
		if (rows[i].is_taken) {
			assert_int_equal(rig_event(&rig, RIG_CONNECT_REQUEST).uid, SERVER);
		} else {
			assert_int_equal(rig.last.kind, SHCA_MAD_REJ);
			assert_int_equal(rig.last.reason, SHCA_MAD_CONSUMER);
		}
		rig_close(&rig);
	}
}

/** Who listens for queue pairs of any type has some of the caller's. */
static void
test_any_type(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_create_id_resp answer;
		const struct rdma_ucm_create_id create = {
			.uid = SERVER,
			.response = (uintptr_t)&answer,
			.ps = RDMA_PS_IB,
		};
		struct ib_uverbs_qp_attr attr;
		struct rig rig;
		uint32_t id;

		rig_open(&rig);
		assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create),
					 sizeof(answer)),
			0);
		assert_int_equal(rig_bind(&rig, answer.id, 2, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, answer.id, 1), 0);
		ask(&rig, RDMA_PS_IB);
		if (i == 1)
			rig.last.kind = SHCA_MAD_SIDR_REQ;
		come(&rig, &rig.last);
		id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_qp_attr(&rig, id, IBV_QPS_INIT, &attr), 0);
		assert_int_equal(attr.qp_attr_mask & (IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS),
			i == 0 ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
		rig_close(&rig);
	}
}

/** Linux asks for patience when the other side asks again, and an application takes its time. */
static void
test_patience(void **state)
{
	struct rig rig;
	unsigned int nb;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
	ask(&rig, RDMA_PS_TCP);
	nb = rig.nb_sent;
	come(&rig, &rig.req);
	assert_int_equal(rig.nb_sent, nb);
	come(&rig, &rig.req);
	assert_int_equal(rig.nb_sent, nb + 1);
	assert_int_equal(rig.last.kind, SHCA_MAD_MRA);
	assert_int_equal(rig.last.about, SHCA_MAD_ABOUT_REQ);
	assert_int_equal(rig.last.service_timeout, 24); /* CMA_CM_MRA_SETTING */
	rig_event(&rig, RIG_CONNECT_REQUEST);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** ucma_listen(): how many requests wait, of which nobody has read. */
static void
test_backlog(void **state)
{
	static const struct {
		uint32_t backlog;
		unsigned int nb;
	} rows[] = { { 3, 3 }, { 0, 1024 }, { 1023, 1023 }, { 1024, 1024 }, { 1025, 1024 },
		{ UINT32_MAX, 1024 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig rig;

		rig_open(&rig);
		rig_listener(&rig, SERVER, RDMA_PS_TCP, rows[i].backlog);
		ask(&rig, RDMA_PS_TCP);
		for (unsigned int j = 0; j < rows[i].nb + 2; j++) {
			rig.req.local_id = 0x1000 + j;
			rig.req.qpn = 0x1000 + j;
			come(&rig, &rig.req);
		}
		/* Who listens, and who calls */
		assert_int_equal(shca_ucma_nb_ids(rig.ucma), 2 + rows[i].nb);
		rig_event(&rig, RIG_CONNECT_REQUEST);
		come(&rig, &rig.req);
		assert_int_equal(shca_ucma_nb_ids(rig.ucma), 3 + rows[i].nb);
		rig_close(&rig);
	}
}

static struct rdma_ucm_query_addr_resp
addresses(struct rig *rig, uint32_t id)
{
	struct rdma_ucm_query_addr_resp answer;
	const struct rdma_ucm_query command = { .response = (uintptr_t)&answer, .id = id };

	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(answer)), 0);
	return answer;
}

/** Either side has the other's address as its destination, with its port. */
static void
test_addresses(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_query_addr_resp client, server;
		struct sockaddr_in6 src = rig_address6(1, 0), dst = rig_address6(2, RIG_PORT);
		struct rdma_ucm_resolve_ip command = { .timeout_ms = 1000 };
		struct rdma_ucm_event_resp event;
		struct rig rig;
		uint32_t id;

		rig_open(&rig);
		id = rig_create(&rig, SERVER, RDMA_PS_TCP);
		assert_int_equal(
			i == 0 ? rig_bind(&rig, id, 2, RIG_PORT) : rig_bind6(&rig, id, 2, RIG_PORT),
			0);
		assert_int_equal(rig_listen(&rig, id, 1), 0);
		command.id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
		if (i == 0) {
			rig_find(&rig, command.id);
		} else {
			command.src_addr = src;
			command.dst_addr = dst;
			assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_IP, command), 0);
			rig_event(&rig, RIG_ADDR_RESOLVED);
			assert_int_equal(rig_route(&rig, command.id), 0);
			rig_event(&rig, RIG_ROUTE_RESOLVED);
		}
		assert_int_equal(rig_connect(&rig, command.id, QPN_CLIENT, "hello"), 0);
		shca_ucma_step(rig.ucma);
		event = rig_event(&rig, RIG_CONNECT_REQUEST);
		assert_int_equal(event.param.conn.private_data_len, 56);
		assert_memory_equal(event.param.conn.private_data, "hello", 6);
		client = addresses(&rig, command.id);
		server = addresses(&rig, event.id);
		assert_int_equal(client.src_size, i == 0 ? 16 : 28);
		assert_int_equal(client.src_size, server.dst_size);
		assert_memory_equal(&client.src_addr, &server.dst_addr, client.src_size);
		assert_int_equal(client.dst_size, server.src_size);
		assert_memory_equal(&client.dst_addr, &server.src_addr, client.dst_size);
		rig_close(&rig);
	}
}

/** What IP applications say in a REQ (annex A11): version, port, addresses. */
static void
test_header(void **state)
{
	uint8_t wanted[36] = { [1] = 4 << 4, [16] = 10, 0, 0, 1, [32] = 10, 0, 0, 2 };
	struct sockaddr_in src;
	struct rdma_ucm_query_addr_resp client;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, id, QPN_CLIENT, ""), 0);
	client = addresses(&rig, id);
	memcpy(&src, &client.src_addr, sizeof(src));
	memcpy(&wanted[2], &src.sin_port, 2);
	assert_memory_equal(rig.req.private_data, wanted, sizeof(wanted));
	rig_close(&rig);
}

static int
resolve_ib(struct rig *rig, uint32_t id, const struct shca_sockaddr_ib *src,
	const struct shca_sockaddr_ib *dst)
{
	struct rdma_ucm_resolve_addr command = {
		.id = id,
		.timeout_ms = 1000,
		.src_size = sizeof(*src),
		.dst_size = sizeof(*dst),
	};

	memcpy(&command.src_addr, src, sizeof(*src));
	memcpy(&command.dst_addr, dst, sizeof(*dst));
	return RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command);
}

/** By AF_IB a service ID and GIDs are all that there is, and no header is before private data. */
static void
test_af_ib(void **state)
{
	static const uint16_t spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t service = (uint64_t)spaces[i] << 16 | RIG_PORT;
		const struct shca_sockaddr_ib at = {
			.family = AF_IB,
			.addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
			.sid = __builtin_bswap64(service),
			.sid_mask = UINT64_MAX,
		};
		const struct shca_sockaddr_ib from = {
			.family = AF_IB,
			.addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
			.sid = __builtin_bswap64((uint64_t)spaces[i] << 16),
			.sid_mask = __builtin_bswap64(UINT64_C(0xffffffffffff0000)),
		};
		struct rdma_ucm_bind bind = { .addr_size = sizeof(at) };
		struct rdma_ucm_accept accept = { .uid = ACCEPTED };
		struct rdma_ucm_query_addr_resp known;
		struct rdma_ucm_event_resp event;
		struct rig rig;
		uint32_t client;

		rig_open(&rig);
		bind.id = rig_create(&rig, SERVER, spaces[i]);
		memcpy(&bind.addr, &at, sizeof(at));
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_BIND, bind), 0);
		assert_int_equal(rig_listen(&rig, bind.id, 1), 0);
		client = rig_create(&rig, CLIENT, spaces[i]);
		assert_int_equal(resolve_ib(&rig, client, &from, &at), 0);
		rig_event(&rig, RIG_ADDR_RESOLVED);
		assert_int_equal(rig_route(&rig, client), 0);
		rig_event(&rig, RIG_ROUTE_RESOLVED);
		assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, "hello"), 0);
		assert_int_equal(rig.last.service_id, service);
		assert_memory_equal(rig.last.private_data, "hello", 6);
		shca_ucma_step(rig.ucma);
		event = rig_event(&rig, RIG_CONNECT_REQUEST);
		accept.id = event.id;
		known = addresses(&rig, event.id);
		assert_int_equal(known.src_size, sizeof(at));
		assert_memory_equal(&known.src_addr, &at, sizeof(at));
		assert_memory_equal((uint8_t *)&known.dst_addr + 8, from.addr, 16);
		if (i == 0) {
			assert_int_equal(event.param.conn.private_data_len, 92);
			assert_memory_equal(event.param.conn.private_data, "hello", 6);
			rig_close(&rig);
			continue;
		}
		/* Only here a Q_Key of one's own is taken (ucma_copy_conn_param()). */
		assert_int_equal(event.param.ud.private_data_len, 216);
		assert_memory_equal(event.param.ud.private_data, "hello", 6);
		accept.conn_param = rig_param(QPN_SERVER, "");
		accept.conn_param.qkey = 0x55;
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_ACCEPT, accept), 0);
		shca_ucma_step(rig.ucma);
		assert_int_equal(rig_event(&rig, RIG_ESTABLISHED).param.ud.qkey, 0x55);
		rig_close(&rig);
	}
}

/** cm_format_paths_from_req(): the life time is half the timeout, and there is none of nothing. */
static void
test_life_time(void **state)
{
	static const struct {
		uint8_t timeout, life_time;
	} rows[] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 31, 30 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_query_route_resp route;
		struct rdma_ucm_query command = { .response = (uintptr_t)&route };
		struct rig rig;

		rig_open(&rig);
		rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
		ask(&rig, RDMA_PS_TCP);
		rig.req.ack_timeout = rows[i].timeout;
		come(&rig, &rig.req);
		command.id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command,
					 sizeof(command), sizeof(route)),
			0);
		assert_int_equal(route.ib_route[0].packet_life_time, rows[i].life_time);
		rig_close(&rig);
	}
}

/** Of IP all have one Q_Key, whatever an application says (ucma_copy_conn_param()). */
static void
test_qkey_of_ip(void **state)
{
	static const uint32_t given[] = { 0, 1, 0x55 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct rdma_ucm_accept accept = { .uid = ACCEPTED,
			.conn_param = rig_param(QPN_SERVER, "") };
		struct rig rig;

		rig_open(&rig);
		rig_listener(&rig, SERVER, RDMA_PS_UDP, 1);
		assert_int_equal(
			rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_UDP), QPN_CLIENT, ""),
			0);
		shca_ucma_step(rig.ucma);
		accept.id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		accept.conn_param.qkey = given[i];
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_ACCEPT, accept), 0);
		assert_int_equal(rig.last.qkey, 0x01234567);
		rig_close(&rig);
	}
}

/** An answer without a Q_Key is none (cma_set_qkey()). */
static void
test_no_qkey(void **state)
{
	uint32_t server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.changes_qkey = true;
	rig_listener(&rig, SERVER, RDMA_PS_UDP, 1);
	assert_int_equal(
		rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_UDP), QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -EINVAL);
	rig_close(&rig);
}

/** PSNs are random: of 24 bits, each of which is 0 and 1 at times. */
static void
test_psns(void **state)
{
	uint32_t ones[2] = { 0 }, zeros[2] = { 0 };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 40);
	for (unsigned int i = 0; i < 40; i++) {
		uint32_t server;

		assert_int_equal(
			rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), 0x100 + i, ""), 0);
		shca_ucma_step(rig.ucma);
		server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_accept(&rig, server, ACCEPTED, 0x200 + i, ""), 0);
		shca_ucma_step(rig.ucma);
		rig_event(&rig, RIG_CONNECT_RESPONSE);
		ones[0] |= rig.req.psn;
		zeros[0] |= ~rig.req.psn;
		ones[1] |= rig.rep.psn;
		zeros[1] |= ~rig.rep.psn;
	}
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(ones[i], 0xffffff);
		assert_int_equal(zeros[i] & 0xffffff, 0xffffff);
	}
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_for_us),
		cmocka_unit_test(test_headers_and_types),
		cmocka_unit_test(test_any_type),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_af_ib),
		cmocka_unit_test(test_life_time),
		cmocka_unit_test(test_qkey_of_ip),
		cmocka_unit_test(test_no_qkey),
		cmocka_unit_test(test_psns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
