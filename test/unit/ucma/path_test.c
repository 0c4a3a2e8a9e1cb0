/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of packets: what is fixed when it is resolved, and what the other side learns of it. */
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rig.h"

enum {
	SERVER = 1, /* uids */
	CLIENT,
	ACCEPTED,
	QPN_CLIENT = 0x11,
	QPN_SERVER = 0x22,
};

/** Who listens, and the options of who calls, before and after its way is resolved. */
static void
connect_with(struct rig *rig, uint32_t id[2], uint32_t option, uint8_t before, uint8_t after)
{
	rig_open(rig);
	rig_listener(rig, SERVER, RDMA_PS_TCP, 3);
	id[0] = rig_create(rig, CLIENT, RDMA_PS_TCP);
	if (before != 0)
		assert_int_equal(rig_option(rig, id[0], option, &before, 1), 0);
	rig_find(rig, id[0]);
	if (after != 0)
		assert_int_equal(rig_option(rig, id[0], option, &after, 1), 0);
	assert_int_equal(rig_connect(rig, id[0], QPN_CLIENT, ""), 0);
	id[1] = rig_accept_next(rig, ACCEPTED, QPN_SERVER);
}

static struct rdma_ucm_query_route_resp
route_of(struct rig *rig, uint32_t id)
{
	struct rdma_ucm_query_route_resp answer;
	const struct rdma_ucm_query command = { .response = (uintptr_t)&answer, .id = id };

	assert_int_equal(rig_do(rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(answer)),
		0);
	return answer;
}

/** What is set is what the QP gets, on this side; the other has what the REQ says, which is by the
 * life time of packets that the way was resolved with (cma_resolve_iboe_route()). */
static void
test_ack_timeout(void **state)
{
	static const struct {
		uint8_t before, after, client, server, life_time;
	} rows[] = {
		/* 16 for the way, twice, and 16 for the ACK */
		{ 0, 0, 18, 18, 16 },
		{ 19, 0, 19, 19, 18 },
		{ 0, 19, 19, 18, 16 },
		{ 20, 19, 19, 20, 19 },
		/* The smallest: the ACK alone takes 16. */
		{ 1, 0, 1, 16, 0 },
		/* 5 bits */
		{ 31, 0, 31, 31, 30 },
		{ 32, 0, 32, 31, 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_qp_attr attr;
		uint32_t id[2];
		struct rig rig;

		connect_with(&rig, id, RDMA_OPTION_ID_ACK_TIMEOUT, rows[i].before, rows[i].after);
		assert_int_equal(rig_qp_attr(&rig, id[0], IBV_QPS_RTS, &attr), 0);
		assert_int_equal(attr.timeout, rows[i].client);
		assert_int_equal(rig_qp_attr(&rig, id[1], IBV_QPS_RTS, &attr), 0);
		assert_int_equal(attr.timeout, rows[i].server);
		assert_int_equal(
			route_of(&rig, id[0]).ib_route[0].packet_life_time, rows[i].life_time);
		/* cm_format_paths_from_req() */
		assert_int_equal(
			route_of(&rig, id[1]).ib_route[0].packet_life_time, rows[i].server - 1);
		rig_close(&rig);
	}
}

/** Set to 0, no ACK is waited for, and the way is as long as ever. */
static void
test_no_ack_timeout(void **state)
{
	const uint8_t none = 0;
	struct ib_uverbs_qp_attr attr;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 3);
	client = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_option(&rig, client, RDMA_OPTION_ID_ACK_TIMEOUT, &none, 1), 0);
	rig_find(&rig, client);
	assert_int_equal(route_of(&rig, client).ib_route[0].packet_life_time, 16);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	server = rig_accept_next(&rig, ACCEPTED, QPN_SERVER);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.timeout, 0);
	assert_int_equal(rig_qp_attr(&rig, server, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.timeout, 18);
	rig_close(&rig);
}

/** cm_ack_timeout(): the larger of twice the way and the delay of ACKs, and one more where both are
 * about as long. The client's is by the other side's delay. */
static void
test_delays(void **state)
{
	static const struct {
		uint8_t delay, wanted;
	} rows[] = {
		/* Twice the way is 17 where nothing is set: against 16, 17, 18, 19 and 20 */
		{ 16, 18 },
		{ 17, 18 },
		{ 18, 19 },
		{ 19, 19 },
		{ 20, 20 },
		{ 30, 30 },
		{ 31, 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_qp_attr attr;
		uint32_t client;
		struct rig rig;

		rig_open(&rig);
		rig.more_delay = rows[i].delay - 16;
		rig_listener(&rig, SERVER, RDMA_PS_TCP, 3);
		client = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
		assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
		(void)rig_accept_next(&rig, ACCEPTED, QPN_SERVER);
		assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_RTS, &attr), 0);
		assert_int_equal(attr.timeout, rows[i].wanted);
		rig_close(&rig);
	}
}

/** The caller's type of service is the traffic class of either side (core/cm.c cm_req_handler()),
 * if it was set before the way was resolved; it is no service level, which is by classes that the
 * netdev has not (core/cma.c iboe_tos_to_sl()). */
static void
test_type_of_service(void **state)
{
	static const uint8_t classes[][2] = { { 0, 0 }, { 0x68, 0 }, { 0, 0x68 }, { 0x20, 0x68 } };

	(void)state;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct ib_uverbs_qp_attr attr;
		uint32_t id[2];
		struct rig rig;

		connect_with(&rig, id, RDMA_OPTION_ID_TOS, classes[i][0], classes[i][1]);
		assert_int_equal(rig.req.sl, 0);
		/* More than one hop is allowed (cm_format_req()). */
		assert_int_equal(rig.req.subnet_local, 0);
		for (unsigned int j = 0; j < 2; j++) {
			assert_int_equal(rig_qp_attr(&rig, id[j], IBV_QPS_RTR, &attr), 0);
			assert_int_equal(attr.ah_attr.grh.traffic_class, classes[i][0]);
			assert_int_equal(attr.ah_attr.sl, 0);
			assert_int_equal(
				route_of(&rig, id[j]).ib_route[0].traffic_class, classes[i][0]);
		}
		rig_close(&rig);
	}
}

/** Each connection has a label of its own, for paths of the network, by its ports
 * (cma_get_roce_udp_flow_label()); the REQ tells it, and the way back is the same. */
static void
test_flow_label(void **state)
{
	struct {
		uint32_t num_paths, reserved;
		struct ib_path_rec_data path;
	} path;
	struct rdma_ucm_query command = {
		.response = (uintptr_t)&path,
		.option = RDMA_USER_CM_QUERY_PATH,
	};
	struct rdma_ucm_query_route_resp route;
	struct ib_uverbs_qp_attr attr;
	const uint8_t *bytes = (const uint8_t *)path.path.path_rec;
	struct sockaddr_in src;
	uint32_t id[2], label;
	struct rig rig;

	(void)state;
	connect_with(&rig, id, RDMA_OPTION_ID_TOS, 0, 0);
	route = route_of(&rig, id[0]);
	memcpy(&src, &route.src_addr, sizeof(src));
	label = (ntohs(src.sin_port) * UINT32_C(31) + RIG_PORT) & 0xfffff;
	assert_int_equal(rig.req.flow_label, label);
	for (unsigned int i = 0; i < 2; i++) {
		route = route_of(&rig, id[i]);
		assert_int_equal(ntohl(route.ib_route[0].flow_label), label);
		assert_int_equal(rig_qp_attr(&rig, id[i], IBV_QPS_RTR, &attr), 0);
		assert_int_equal(attr.ah_attr.grh.flow_label, label);
		command.id = id[i];
		assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command),
					 sizeof(path)),
			0);
		assert_int_equal(bytes[44] << 16 | bytes[45] << 8 | bytes[46], label);
		assert_int_equal(bytes[47], 64);
	}
	rig_close(&rig);
}

/** An IPv6 address may say which. */
static void
test_flow_label_of_address(void **state)
{
	struct sockaddr_in6 src = rig_address6(1, 0), dst = rig_address6(2, RIG_PORT);
	struct rdma_ucm_resolve_ip command = { .timeout_ms = 1000 };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_query_route_resp route;

		/* The traffic class is not of the label. */
		src.sin6_flowinfo = htonl(i == 0 ? 0x0ff12345 : 0x0ff00000);
		command.id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
		memcpy(&command.src_addr, &src, sizeof(src));
		memcpy(&command.dst_addr, &dst, sizeof(dst));
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_IP, command), 0);
		rig_event(&rig, RIG_ADDR_RESOLVED);
		assert_int_equal(route_of(&rig, command.id).num_paths, 0);
		assert_int_equal(rig_route(&rig, command.id), 0);
		rig_event(&rig, RIG_ROUTE_RESOLVED);
		route = route_of(&rig, command.id);
		assert_int_equal(route.num_paths, 1);
		assert_int_equal(ntohl(route.ib_route[0].flow_label),
			i == 0 ? 0x12345
			       : (ntohs(route.src_addr.sin6_port) * UINT32_C(31) + RIG_PORT) &
					0xfffff);
	}
	rig_close(&rig);
}

/** The netdev's MTU when the way is resolved, and not when the identifier was bound
 * (cma_resolve_iboe_route()); there is none through one that is too small. */
static void
test_mtu(void **state)
{
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	rig.less_mtu = 3;
	assert_int_equal(rig_route(&rig, id), -EINVAL);
	assert_int_equal(route_of(&rig, id).num_paths, 0);
	rig.less_mtu = 1;
	assert_int_equal(rig_route(&rig, id), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	assert_int_equal(route_of(&rig, id).ib_route[0].mtu, 2);
	rig_close(&rig);
}

/** By UD the way is told with the answer, and who is asked knows of none (cma_ib_new_udp_id()). */
static void
test_ud(void **state)
{
	struct rdma_ucm_event_resp event;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_UDP, 3);
	client = rig_caller(&rig, CLIENT, RDMA_PS_UDP);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(route_of(&rig, server).num_paths, 0);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_ESTABLISHED);
	assert_int_not_equal(event.param.ud.ah_attr.grh.flow_label, 0);
	assert_int_equal(event.param.ud.ah_attr.grh.flow_label,
		ntohl(route_of(&rig, client).ib_route[0].flow_label));
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ack_timeout),
		cmocka_unit_test(test_no_ack_timeout),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_type_of_service),
		cmocka_unit_test(test_flow_label),
		cmocka_unit_test(test_flow_label_of_address),
		cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_ud),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
