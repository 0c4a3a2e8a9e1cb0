/* SPDX-License-Identifier: BSD-3-Clause */
/* What queue pairs are to be set to, and when it is known: rdma_init_qp_attr(), and the states of
 * core/cm.c cm_init_qp_init_attr() and those beside it. */
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rig.h"

enum {
	CLIENT = 1, /* uids */
	SERVER,
	ACCEPTED,
	QPN_CLIENT = 0x11,
	QPN_SERVER = 0x22,
	UNCONNECTED = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
};

/** What INIT, RTR and RTS are answered with. */
static void
expect(struct rig *rig, uint32_t id, int init, int more)
{
	struct ib_uverbs_qp_attr attr;

	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_RESET, &attr), -EINVAL);
	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_INIT, &attr), init);
	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_RTR, &attr), more);
	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_RTS, &attr), more);
	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_SQD, &attr), -EINVAL);
	assert_int_equal(rig_qp_attr(rig, id, IBV_QPS_ERR, &attr), -EINVAL);
}

/** Before there is a connection any state is answered with what INIT has. */
static void
test_unconnected(void **state)
{
	struct ib_uverbs_qp_attr attr;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_qp_attr(&rig, id, IBV_QPS_INIT, &attr), -EINVAL);
	assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
	for (uint32_t i = IBV_QPS_RESET; i <= IBV_QPS_ERR; i++) {
		assert_int_equal(rig_qp_attr(&rig, id, i, &attr), 0);
		assert_int_equal(attr.qp_attr_mask, UNCONNECTED | IBV_QP_ACCESS_FLAGS);
		assert_int_equal(attr.qp_state, i);
		assert_int_equal(attr.port_num, 1);
		assert_int_equal(attr.qp_access_flags, 0);
	}
	assert_int_equal(rig_qp_attr(&rig, id, IBV_QPS_ERR + 1, &attr), -EINVAL);
	/* Who listens has no connection, and will have none. */
	expect(&rig, rig_listener(&rig, SERVER, RDMA_PS_TCP, 1), -EINVAL, -EINVAL);
	rig_close(&rig);
}

static void
test_connection(void **state)
{
	struct rig rig;
	uint32_t client, server;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
	client = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	expect(&rig, client, 0, -EINVAL);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	expect(&rig, server, 0, 0);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	expect(&rig, server, 0, 0);
	shca_ucma_step(rig.ucma);
	expect(&rig, client, 0, 0);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	expect(&rig, client, 0, 0);
	expect(&rig, server, 0, 0);
	assert_int_equal(rig_disconnect(&rig, client), 0);
	expect(&rig, client, -EINVAL, -EINVAL);
	shca_ucma_step(rig.ucma);
	expect(&rig, server, -EINVAL, -EINVAL);
	assert_int_equal(rig_disconnect(&rig, server), 0);
	expect(&rig, server, -EINVAL, -EINVAL);
	rig_close(&rig);
}

static void
test_refused(void **state)
{
	struct rdma_ucm_reject command = { 0 };
	struct rig rig;
	uint32_t client;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
	client = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	command.id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, command), 0);
	expect(&rig, command.id, -EINVAL, -EINVAL);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_REJECTED);
	expect(&rig, client, -EINVAL, -EINVAL);
	rig_close(&rig);
}

/** UD has no connection, and a Q_Key from the first time on: who has another one is refused
 * (cma_set_qkey()). */
static void
test_ud(void **state)
{
	struct ib_uverbs_qp_attr attr;
	struct rig rig;
	uint32_t client, server;

	(void)state;
	rig_open(&rig);
	rig.changes_qkey = true;
	rig.qkey = 0x89abcdef;
	rig_listener(&rig, SERVER, RDMA_PS_UDP, 1);
	client = rig_caller(&rig, CLIENT, RDMA_PS_UDP);
	for (uint32_t i = IBV_QPS_RESET; i <= IBV_QPS_ERR; i++) {
		assert_int_equal(rig_qp_attr(&rig, client, i, &attr), 0);
		assert_int_equal(attr.qp_attr_mask, UNCONNECTED | IBV_QP_QKEY);
		assert_int_equal(attr.qkey, 0x01234567);
	}
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_RTR, &attr), 0);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -EINVAL);
	rig_close(&rig);
}

/** Who asks packets has retries, who is asked has resources for it, and UC has neither. */
static void
test_types(void **state)
{
	enum {
		RTR = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		ASKED = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		RTS = IBV_QP_STATE | IBV_QP_SQ_PSN,
		ASKS = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
	};
	static const struct {
		uint8_t client, server;
		uint32_t rtr[2], rts[2]; /* more than each has */
	} rows[] = {
		{ IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RC, { ASKED, ASKED },
			{ ASKS | IBV_QP_TIMEOUT, ASKS | IBV_QP_TIMEOUT } },
		{ IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UC, { 0, 0 }, { 0, 0 } },
		{ IB_UVERBS_QPT_XRC_INI, IB_UVERBS_QPT_XRC_TGT, { 0, ASKED },
			{ ASKS | IBV_QP_TIMEOUT, IBV_QP_TIMEOUT } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_qp_attr attr;
		uint32_t id[2];
		struct rig rig;

		rig_open(&rig);
		id[1] = rig_create_of_type(&rig, SERVER, rows[i].server);
		assert_int_equal(rig_bind(&rig, id[1], 2, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, id[1], 1), 0);
		id[0] = rig_create_of_type(&rig, CLIENT, rows[i].client);
		rig_find(&rig, id[0]);
		assert_int_equal(rig_connect(&rig, id[0], QPN_CLIENT, ""), 0);
		id[1] = rig_accept_next(&rig, ACCEPTED, QPN_SERVER);
		for (unsigned int j = 0; j < 2; j++) {
			assert_int_equal(rig_qp_attr(&rig, id[j], IBV_QPS_RTR, &attr), 0);
			assert_int_equal(attr.qp_attr_mask, RTR | rows[i].rtr[j]);
			assert_int_equal(rig_qp_attr(&rig, id[j], IBV_QPS_RTS, &attr), 0);
			assert_int_equal(attr.qp_attr_mask, RTS | rows[i].rts[j]);
		}
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unconnected),
		cmocka_unit_test(test_connection),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ud),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
