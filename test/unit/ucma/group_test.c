/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups: who may join which, and what is told of them. */
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

enum {
	UID = 1,
	GROUP_UID = 0x55,
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
		.uid = GROUP_UID,
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
	assert_int_equal(event.uid, GROUP_UID);
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
	static const uint8_t gids[2][16] = {
		{ [10] = 0xff, 0xff, 0xe0, 1, 2, 3 },
		{ 0xff, 0x0e, [10] = 0xff, 0xff, 0xe0, 1, 2, 3 },
	};
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
		assert_memory_equal(event.param.ud.ah_attr.grh.dgid, gids[i], 16);
		rig_close(&rig);
	}
}

static int
join(struct rig *rig, uint32_t id, const void *address, uint16_t size, uint16_t flags,
	uint32_t *number)
{
	struct rdma_ucm_create_id_resp answer = { .id = 99 };
	struct rdma_ucm_join_mcast command = {
		.response = (uintptr_t)&answer,
		.uid = GROUP_UID,
		.id = id,
		.addr_size = size,
		.join_flags = flags,
	};
	int ret;

	memcpy(&command.addr, address, sizeof(struct sockaddr_in));
	ret = rig_do(rig, RDMA_USER_CM_CMD_JOIN_MCAST, &command, sizeof(command), 4);
	*number = answer.id;
	return ret;
}

static int
leave(struct rig *rig, uint32_t number, uint32_t *nb_reported)
{
	struct rdma_ucm_destroy_id_resp answer = { .events_reported = 99 };
	const struct rdma_ucm_destroy_id command = {
		.response = (uintptr_t)&answer,
		.id = number,
	};
	const int ret = rig_do(rig, RDMA_USER_CM_CMD_LEAVE_MCAST, &command, sizeof(command), 4);

	*nb_reported = answer.events_reported;
	return ret;
}

/** Addresses with a size, flags, and identifiers that may join. */
static void
test_refused(void **state)
{
	const struct sockaddr_in unknown = { .sin_family = AF_UNIX };
	const uint16_t size = sizeof(group4);
	uint32_t number, id;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_UDP);
	assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
	assert_int_equal(join(&rig, id, &group4, 0, 0, &number), -EINVAL);
	assert_int_equal(join(&rig, id, &group4, size + 1, 0, &number), -EINVAL);
	assert_int_equal(join(&rig, id, &unknown, 0, 0, &number), -EINVAL);
	assert_int_equal(join(&rig, id, &group4, size, 2, &number), -EINVAL);
	assert_int_equal(join(&rig, id + 1, &group4, size, 0, &number), -ENOENT);
	assert_int_equal(number, 99);
	/* Only to send (RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) */
	assert_int_equal(join(&rig, id, &group4, size, 1, &number), 0);
	rig_event(&rig, RIG_MULTICAST_JOIN);
	/* Of connections, and of no port */
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
	assert_int_equal(join(&rig, id, &group4, size, 0, &number), -EINVAL);
	id = rig_create(&rig, UID, RDMA_PS_UDP);
	assert_int_equal(rig_bind_any(&rig, id, 0), 0);
	assert_int_equal(join(&rig, id, &group4, size, 0, &number), -EINVAL);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** The command of old */
static void
test_ip(void **state)
{
	struct rdma_ucm_create_id_resp answer;
	struct rdma_ucm_join_ip_mcast command = {
		.response = (uintptr_t)&answer,
		.uid = GROUP_UID,
	};
	const sa_family_t families[] = { 0, AF_UNIX, 27 };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, UID, RDMA_PS_UDP);
	assert_int_equal(rig_bind(&rig, command.id, 1, 0), 0);
	memcpy(&command.addr, &group4, sizeof(group4));
	for (unsigned int i = 0; i < 3; i++) {
		command.addr.sin6_family = families[i];
		assert_int_equal(
			rig_do(&rig, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &command, sizeof(command), 4),
			-EINVAL);
	}
	command.addr.sin6_family = AF_INET;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &command, sizeof(command), 4), 0);
	assert_int_equal(rig_event(&rig, RIG_MULTICAST_JOIN).uid, GROUP_UID);
	/* What cannot be answered is not joined. */
	command.response = 8;
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &command, sizeof(command), 4),
		-EFAULT);
	rig_expect_silence(&rig);
	assert_int_equal(rig_destroy(&rig, command.id), 1);
	rig_close(&rig);
}

/** With a group go its events, and no others. */
static void
test_leave(void **state)
{
	const uint16_t size = sizeof(group4);
	uint32_t id, first, second, nb, other;
	struct rig rig;
	int own, another;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_UDP);
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
	assert_int_equal(join(&rig, id, &group4, size, 0, &first), 0);
	assert_int_equal(join(&rig, id, &group4, size, 0, &second), 0);
	other = rig_create(&rig, UID + 1, RDMA_PS_UDP);
	assert_int_equal(rig_resolve(&rig, other, 1, 2, RIG_PORT), 0);
	/* From 0 on (DEFINE_XARRAY_ALLOC) */
	assert_int_equal(first, 0);
	assert_int_equal(second, 1);
	/* By another descriptor it is another's. */
	own = rig.fd;
	rig.fd = another = shca_ucma_open(rig.ucma, true);
	assert_int_equal(leave(&rig, first, &nb), -EINVAL);
	close(another);
	rig.fd = own;
	assert_int_equal(leave(&rig, first, &nb), 0);
	assert_int_equal(nb, 0);
	assert_int_equal(leave(&rig, first, &nb), -ENOENT);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).id, id);
	assert_int_equal(rig_event(&rig, RIG_MULTICAST_JOIN).id, second);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).id, other);
	rig_expect_silence(&rig);
	assert_int_equal(leave(&rig, second, &nb), 0);
	assert_int_equal(nb, 1);
	assert_int_equal(rig_destroy(&rig, id), 2);
	rig_close(&rig);
}

/** An identifier goes, and its groups with it: their numbers are nobody's. */
static void
test_goes(void **state)
{
	uint32_t id, number, nb;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_UDP);
	assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
	assert_int_equal(join(&rig, id, &group4, sizeof(group4), 0, &number), 0);
	assert_int_equal(rig_destroy(&rig, id), 0);
	rig_expect_silence(&rig);
	assert_int_equal(leave(&rig, number, &nb), -ENOENT);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_way),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ip),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
