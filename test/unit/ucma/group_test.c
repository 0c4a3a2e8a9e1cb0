/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups: who may join which, and what is told of them. */
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

enum {
	UID = 1,
};

static const struct sockaddr_in group4 = { .sin_family = AF_INET,
	.sin_addr.s_addr = __builtin_bswap32(0xe0010203) };

static void
test_group(void **state)
{
	struct rdma_ucm_create_id_resp answer = { .id = 99 };
	struct rdma_ucm_destroy_id_resp gone = { .events_reported = 99 };
	struct rdma_ucm_join_mcast command = {
		.response = (uintptr_t)&answer,
		.uid = 0x55,
		.addr_size = sizeof(struct sockaddr_in),
	};
	struct rdma_ucm_destroy_id leave = { .response = (uintptr_t)&gone };
	struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xe0010203) };
	const struct sockaddr_in6 group6 = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0xff, 0x0e, [15] = 9 } };
	struct rdma_ucm_event_resp event;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 1, RDMA_PS_UDP);
	memcpy(&command.addr, &group, sizeof(group));
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), -EINVAL);
	assert_int_equal(rig_bind(&rig, command.id, 1, 0), 0);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), 0);
	event = rig_event(&rig, RIG_MULTICAST_JOIN);
	assert_int_equal(event.uid, 0x55);
	assert_int_equal(event.id, answer.id);
	assert_int_equal(event.param.ud.qp_num, 0xffffff);
	assert_int_equal(event.param.ud.qkey, 0x01234567);
	assert_int_equal(event.param.ud.ah_attr.grh.dgid[12], 0xe0);
	leave.id = answer.id;
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_LEAVE_MCAST, &leave, sizeof(leave), 4), 0);
	assert_int_equal(gone.events_reported, 1);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_LEAVE_MCAST, &leave, sizeof(leave), 4), -ENOENT);
	/* Linux has none of IPv6 by RoCE v2, and says ENOTSUPP, which is its own. */
	memcpy(&command.addr, &group6, sizeof(group6));
	command.addr_size = sizeof(group6);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), -524);
	memcpy(&command.addr, &group, sizeof(group));
	command.addr_size = sizeof(group);
	/* With a route it is on its way to a connection. */
	command.id = rig_caller(&rig, 2, RDMA_PS_UDP);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), -EINVAL);
	group.sin_addr.s_addr = htonl(0x0a000002);
	memcpy(&command.addr, &group, sizeof(group));
	command.id = rig_create(&rig, 1, RDMA_PS_UDP);
	assert_int_equal(rig_bind(&rig, command.id, 1, 0), 0);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), -EINVAL);
	rig_close(&rig);
}

/** A group's way has no type of service, and by RoCE v1 no router on it
 * (cma_iboe_join_multicast()). */
static void
test_way(void **state)
{
	const uint8_t tos = 0x68;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_create_id_resp answer;
		struct rdma_ucm_join_mcast command = {
			.response = (uintptr_t)&answer,
			.addr_size = sizeof(group4),
		};
		struct rdma_ucm_event_resp event;
		struct rig rig;

		rig_open(&rig);
		rig.is_v1 = i == 1;
		command.id = rig_create(&rig, UID, RDMA_PS_UDP);
		memcpy(&command.addr, &group4, sizeof(group4));
		assert_int_equal(rig_option(&rig, command.id, RDMA_OPTION_ID_TOS, &tos, 1), 0);
		assert_int_equal(rig_bind(&rig, command.id, 1, 0), 0);
		assert_int_equal(
			rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4), 0);
		event = rig_event(&rig, RIG_MULTICAST_JOIN);
		assert_int_equal(event.param.ud.ah_attr.grh.traffic_class, 0);
		assert_int_equal(event.param.ud.ah_attr.grh.hop_limit, i == 0 ? 64 : 1);
		/* 224.1.2.3 mapped, or in ff0e::/16 */
		assert_int_equal(event.param.ud.ah_attr.grh.dgid[0], i == 0 ? 0 : 0xff);
		assert_int_equal(event.param.ud.ah_attr.grh.dgid[1], i == 0 ? 0 : 0x0e);
		assert_int_equal(event.param.ud.ah_attr.grh.dgid[11], 0xff);
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
