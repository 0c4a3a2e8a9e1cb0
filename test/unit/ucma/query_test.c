/* SPDX-License-Identifier: BSD-3-Clause */
/* What identifiers are asked, byte by byte, and what is listed of them. */
#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_user_sa.h>

#include "rig.h"

enum {
	SERVER = 1, /* uids */
	CLIENT,
	ACCEPTED,
};

static int
query(struct rig *rig, uint32_t id, uint32_t option, void *answer, size_t room)
{
	const struct rdma_ucm_query command = {
		.response = (uintptr_t)answer,
		.id = id,
		.option = option,
	};

	return rig_do(rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), room);
}

/** A path record as volume 1, 15.2.5.16 has it, and as much of it as there is room for. */
static void
test_path(void **state)
{
	const uint8_t tos = 0x68;
	uint8_t wanted[64] = {
		[8] = 0,
		[18] = 0xff,
		0xff,
		10,
		0,
		0,
		2, /* DGID */
		[34] = 0xff,
		0xff,
		10,
		0,
		0,
		1, /* SGID */
		[47] = 64,
		0x68,            /* hops, traffic class */
		[49] = 0x80 | 1, /* reversible, one path */
		[50] = 0xff,
		0xff, /* P_Key */
		[54] = 2 << 6 | 3,
		2 << 6 | 0,
		2 << 6 | 16 /* MTU, rate, life time: just that */
	};
	struct {
		uint32_t num_paths, reserved;
		struct ib_path_rec_data path;
		uint8_t more[8];
	} answer;
	struct rdma_ucm_query_addr_resp addresses;
	const size_t whole = sizeof(answer) - sizeof(answer.more);
	struct sockaddr_in src;
	uint32_t id, label;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_option(&rig, id, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	memset(&answer, 0xee, sizeof(answer));
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, sizeof(answer)), 0);
	assert_int_equal(answer.num_paths, 0);
	assert_int_equal(answer.path.flags, 0xeeeeeeee);
	rig_find(&rig, id);
	memset(&answer, 0xee, sizeof(answer));
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, 7), -ENOSPC);
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, 8), 0);
	assert_int_equal(answer.num_paths, 1);
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, whole - 1), 0);
	assert_int_equal(answer.num_paths, 1);
	assert_int_equal(answer.path.flags, 0xeeeeeeee);
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, whole), 0);
	assert_int_equal(answer.path.flags, IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL);
	assert_int_equal(query(&rig, id, RDMA_USER_CM_QUERY_PATH, &answer, sizeof(answer)), 0);
	assert_int_equal(answer.more[0], 0xee);
	assert_int_equal(
		query(&rig, id, RDMA_USER_CM_QUERY_ADDR, &addresses, sizeof(addresses)), 0);
	memcpy(&src, &addresses.src_addr, sizeof(src));
	label = (ntohs(src.sin_port) * UINT32_C(31) + RIG_PORT) & 0xfffff;
	wanted[44] = (uint8_t)(label >> 16);
	wanted[45] = (uint8_t)(label >> 8);
	wanted[46] = (uint8_t)label;
	assert_memory_equal(answer.path.path_rec, wanted, sizeof(wanted));
	rig_close(&rig);
}

/** Old programs have no room for what came later. */
static void
test_room(void **state)
{
	const size_t least = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);
	struct rdma_ucm_query_addr_resp answer;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_bind(&rig, id, 2, 0), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t option = i == 0 ? RDMA_USER_CM_QUERY_ADDR : RDMA_USER_CM_QUERY_GID;

		memset(&answer, 0xee, sizeof(answer));
		assert_int_equal(query(&rig, id, option, &answer, least - 1), -ENOSPC);
		assert_int_equal(query(&rig, id, option, &answer, least), 0);
		assert_int_equal(answer.ibdev_index, 0xeeeeeeee);
		assert_int_equal(query(&rig, id, option, &answer, sizeof(answer)), 0);
		assert_int_equal(answer.ibdev_index, 1);
		assert_int_equal(answer.port_num, 1);
		assert_int_equal(answer.reserved, 0);
	}
	rig_close(&rig);
}

static void
test_route(void **state)
{
	static const uint8_t sgid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	struct rdma_ucm_query_route_resp answer;
	struct rdma_ucm_query command = { .response = (uintptr_t)&answer };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	memset(&answer, 0xee, sizeof(answer));
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(answer)),
		0);
	/* Of no device */
	for (size_t i = 0; i < sizeof(answer); i++)
		assert_int_equal(((const uint8_t *)&answer)[i], 0);
	rig_find(&rig, command.id);
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(answer)),
		0);
	assert_int_equal(answer.node_guid, __builtin_bswap64(0x100));
	assert_int_equal(answer.num_paths, 1);
	assert_memory_equal(answer.ib_route[0].sgid, sgid, sizeof(sgid));
	assert_int_equal(answer.ib_route[0].pkey, 0xffff);
	assert_int_equal(answer.ib_route[0].reversible, 1);
	assert_int_equal(answer.ib_route[0].mtu_selector, 2);
	assert_int_equal(answer.ib_route[0].rate, 0);
	assert_int_equal(answer.ib_route[0].hop_limit, 64);
	rig_close(&rig);
}

static uint8_t
state_of(struct rig *rig, unsigned int device, uint32_t id)
{
	struct shca_ucma_tracked *ids;
	uint8_t found = UINT8_MAX;
	size_t nb;

	assert_int_equal(shca_ucma_track(rig->ucma, device, 0, &ids, &nb), 0);
	for (size_t i = 0; i < nb; i++)
		if (ids[i].number == id)
			found = ids[i].state;
	free(ids);
	return found;
}

/** States of Linux cma_priv.h enum rdma_cm_state, which "rdma resource show cm_id" names. */
static void
test_states(void **state)
{
	struct rig rig;
	uint32_t id, server;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
	id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(state_of(&rig, 0, id), UINT8_MAX);
	assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
	assert_int_equal(state_of(&rig, 0, id), 7);
	assert_int_equal(state_of(&rig, 1, id), UINT8_MAX);
	rig.reach = -EINPROGRESS;
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
	assert_int_equal(state_of(&rig, 0, id), 1);
	rig.reach = 0;
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(state_of(&rig, 0, id), 2);
	assert_int_equal(rig_route(&rig, id), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	assert_int_equal(state_of(&rig, 0, id), 4);
	assert_int_equal(rig_connect(&rig, id, 1, ""), 0);
	assert_int_equal(state_of(&rig, 0, id), 5);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(state_of(&rig, 1, server), 5);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, 2, ""), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_CONNECT_RESPONSE);
	assert_int_equal(rig_accept(&rig, id, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_ESTABLISHED);
	assert_int_equal(rig_disconnect(&rig, id), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_DISCONNECTED);
	assert_int_equal(state_of(&rig, 1, server), 6);
	/* Of no device any more */
	shca_ucma_remove(rig.ucma, 1);
	shca_ucma_step(rig.ucma);
	assert_int_equal(state_of(&rig, 1, server), UINT8_MAX);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_route),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
