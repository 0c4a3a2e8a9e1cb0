/* SPDX-License-Identifier: BSD-3-Clause */
/* What REQ, REP and REJ say of what an application has asked for, and what it may not ask for. */
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rig.h"

enum {
	SERVER = 7, /* uids */
	CLIENT,
	ACCEPTED,
	QPN_CLIENT = 0x11,
	QPN_SERVER = 0x22,
};

static char text[256];

/** @return private data of so many bytes */
static const char *
bytes(size_t nb)
{
	memset(text, 'x', nb);
	text[nb] = '\0';
	return text;
}

/** From the request to where the other side has it. @return its identifier there */
static uint32_t
request(struct rig *rig, uint16_t space, uint32_t *client)
{
	rig_open(rig);
	rig_listener(rig, SERVER, space, 3);
	*client = rig_caller(rig, CLIENT, space);
	assert_int_equal(rig_connect(rig, *client, QPN_CLIENT, ""), 0);
	shca_ucma_step(rig->ucma);
	return rig_event(rig, RIG_CONNECT_REQUEST).id;
}

/** Flags are flags, whatever number an application gives, and retries are at most 7
 * (cma_connect_ib(), cma_accept_ib()). */
static void
test_parameters(void **state)
{
	static const struct {
		uint8_t given, flag, retries;
	} rows[] = { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 2 }, { 7, 1, 7 }, { 8, 1, 7 },
		{ 255, 1, 7 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_connect connect = { .conn_param = rig_param(0x12345678, "") };
		struct rdma_ucm_accept accept = { .uid = ACCEPTED };
		struct rdma_ucm_conn_param *param = &connect.conn_param;
		struct ib_uverbs_qp_attr attr;
		struct rig rig;

		rig_open(&rig);
		rig_listener(&rig, SERVER, RDMA_PS_TCP, 3);
		connect.id = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
		param->flow_control = param->srq = rows[i].given;
		param->retry_count = param->rnr_retry_count = rows[i].given;
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_CONNECT, connect), 0);
		assert_int_equal(rig.req.flow_control, rows[i].flag);
		assert_int_equal(rig.req.srq, rows[i].flag);
		assert_int_equal(rig.req.retry_count, rows[i].retries);
		assert_int_equal(rig.req.rnr_retry_count, rows[i].retries);
		assert_int_equal(rig.req.qpn, 0x345678);
		assert_int_equal(rig.req.local_lid, 0xffff);
		assert_int_equal(rig.req.remote_lid, 0xffff);
		assert_int_equal(rig.req.max_cm_retries, 15);
		assert_int_equal(rig.req.local_timeout, 20);
		assert_int_equal(rig.req.remote_timeout, 20);
		assert_int_equal(rig.req.hop_limit, 64);
		assert_int_equal(rig.req.pkey, 0xffff);
		shca_ucma_step(rig.ucma);
		accept.id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		accept.conn_param = *param;
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_ACCEPT, accept), 0);
		assert_int_equal(rig.rep.flow_control, rows[i].flag);
		assert_int_equal(rig.rep.srq, rows[i].flag);
		assert_int_equal(rig.rep.rnr_retry_count, rows[i].retries);
		assert_int_equal(rig.rep.qpn, 0x345678);
		/* What it has accepted is what its queue pair gets. */
		assert_int_equal(rig_qp_attr(&rig, accept.id, IBV_QPS_RTR, &attr), 0);
		assert_int_equal(attr.max_dest_rd_atomic, 3);
		assert_int_equal(rig_qp_attr(&rig, accept.id, IBV_QPS_RTS, &attr), 0);
		assert_int_equal(attr.max_rd_atomic, 2);
		assert_int_equal(attr.retry_cnt, rows[i].retries);
		rig_close(&rig);
	}
}

/** With nothing to read and no atomics the queue pair allows neither. */
static void
test_no_reads(void **state)
{
	static const uint8_t resources[] = { 0, 1 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_connect connect = { .conn_param = rig_param(QPN_CLIENT, "") };
		struct ib_uverbs_qp_attr attr;
		struct rig rig;

		rig_open(&rig);
		connect.id = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
		connect.conn_param.responder_resources = resources[i];
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_CONNECT, connect), 0);
		assert_int_equal(rig_qp_attr(&rig, connect.id, IBV_QPS_INIT, &attr), 0);
		assert_int_equal(attr.qp_access_flags,
			IBV_ACCESS_REMOTE_WRITE |
				(i == 0 ? 0 : IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
		rig_close(&rig);
	}
}

/** A REQ has room for 92 bytes, of which IP takes 36, a REP for 196; a SIDR_REQ for 216, a SIDR_REP
 * for 136, a REJ for 148. */
static void
test_private_data(void **state)
{
	static const struct {
		uint16_t space;
		size_t request, response, refusal;
	} rows[] = { { RDMA_PS_TCP, 56, 196, 148 }, { RDMA_PS_UDP, 180, 136, 136 } };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_ucm_reject reject = { .private_data_len = 255 };
		struct rig rig;
		uint32_t client, server;

		rig_open(&rig);
		client = rig_caller(&rig, CLIENT, rows[i].space);
		assert_int_equal(
			rig_connect(&rig, client, QPN_CLIENT, bytes(rows[i].request + 1)), -EINVAL);
		assert_int_equal(rig.nb_sent, 0);
		/* It may try again. */
		assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, bytes(rows[i].request)), 0);
		assert_int_equal(rig.nb_sent, 1);
		rig_close(&rig);

		server = request(&rig, rows[i].space, &client);
		assert_int_equal(
			rig_accept(&rig, server, ACCEPTED, QPN_SERVER, bytes(rows[i].response)), 0);
		rig_close(&rig);

		reject.id = request(&rig, rows[i].space, &client);
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, reject), -EINVAL);
		reject.private_data_len = (uint8_t)(rows[i].refusal + 1);
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, reject), -EINVAL);
		reject.private_data_len = (uint8_t)rows[i].refusal;
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, reject), 0);
		rig_close(&rig);
	}
}

/** ucma_reject(): the application's reason, or the vendor's. By UD there is one status. */
static void
test_reasons(void **state)
{
	static const struct {
		uint16_t space;
		uint8_t reason;
		int wanted;
		uint32_t status;
	} rows[] = {
		{ RDMA_PS_TCP, 0, 0, 28 },
		{ RDMA_PS_TCP, 28, 0, 28 },
		{ RDMA_PS_TCP, 35, 0, 35 },
		{ RDMA_PS_TCP, 1, -EINVAL, 0 },
		{ RDMA_PS_TCP, 27, -EINVAL, 0 },
		{ RDMA_PS_UDP, 0, 0, 2 },
		{ RDMA_PS_UDP, 35, 0, 2 },
		{ RDMA_PS_UDP, 1, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_reject command = { .reason = rows[i].reason };
		struct rig rig;
		uint32_t client;

		command.id = request(&rig, rows[i].space, &client);
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, command), rows[i].wanted);
		shca_ucma_step(rig.ucma);
		if (rows[i].wanted == 0)
			assert_int_equal(rig_event(&rig,
						 rows[i].space == RDMA_PS_TCP ? RIG_REJECTED
									      : RIG_UNREACHABLE)
						 .status,
				rows[i].status);
		else
			rig_expect_silence(&rig);
		/* Nobody to refuse */
		command.id = rig_caller(&rig, CLIENT, rows[i].space);
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, command), -EINVAL);
		rig_close(&rig);
	}
}

/** Only what is on its way can be accepted, and by the side that was asked with parameters
 * (rdma_accept()). */
static void
test_accept(void **state)
{
	struct rig rig;
	uint32_t client, server;

	(void)state;
	server = request(&rig, RDMA_PS_TCP, &client);
	/* Who has asked has nothing to accept yet; it gives up so. */
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), -EINVAL);
	assert_int_equal(rig.last.kind, SHCA_MAD_REJ);
	rig_close(&rig);

	server = request(&rig, RDMA_PS_TCP, &client);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	/* Twice is once too often, and the connection is refused. */
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), -EINVAL);
	assert_int_equal(rig.last.kind, SHCA_MAD_REJ);
	rig_close(&rig);

	server = request(&rig, RDMA_PS_TCP, &client);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, ""), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_CONNECT_RESPONSE);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_ESTABLISHED);
	assert_int_equal(rig_disconnect(&rig, server), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_DISCONNECTED);
	/* It has ended, and says nothing. */
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), -EINVAL);
	assert_int_equal(rig.last.kind, SHCA_MAD_DREQ);
	assert_int_equal(
		rig_accept(&rig, rig_create(&rig, CLIENT, RDMA_PS_TCP), 0, 0, NULL), -EINVAL);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_no_reads),
		cmocka_unit_test(test_private_data),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
