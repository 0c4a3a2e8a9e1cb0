/* SPDX-License-Identifier: BSD-3-Clause */
/* What owners ask for, in states where they may and where not; what time brings; the end. */
#include "cm/cm.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "end.h"

enum {
	NOW = 1000,
	RETRIES = 3,
};

static const struct shca_mad req = {
	.kind = SHCA_MAD_REQ,
	.ca_guid = GUID_HERE,
	.qpn = QPN_HERE,
	.remote_timeout = 10,
	.local_timeout = 10,
	.ack_timeout = 8,
	.max_cm_retries = RETRIES,
};

/** 4.096 us * (2^10 + 2^8) */
static const uint64_t wait_ns = 4096 * (1024 + 256);

static void
come(struct end *end, uint16_t kind, uint8_t about)
{
	struct shca_mad mad = req;

	mad.kind = kind;
	mad.local_id = ID_THERE;
	mad.remote_id = end->nb_sent != 0 ? end->sent[0].local_id : 0;
	mad.ca_guid = GUID_THERE;
	mad.qpn = kind == SHCA_MAD_DREQ ? QPN_HERE : QPN_THERE;
	mad.about = about;
	mad.service_timeout = 15;
	end_receive(end, NOW, &mad);
}

static void
ask(struct end *end, uint16_t kind)
{
	struct shca_mad mad = req;

	mad.kind = kind;
	assert_int_equal(shca_cm_request(end->cm, NOW, &end_path, &mad, end, &end->conn), 0);
}

static void
establish(struct end *end)
{
	end_open(end);
	ask(end, SHCA_MAD_REQ);
	come(end, SHCA_MAD_REP, 0);
	assert_int_equal(
		shca_cm_establish(end->conn, (const uint8_t[SHCA_MAD_PRIVATE_MAX]){ 7 }), 0);
	assert_int_equal(end->sent[1].kind, SHCA_MAD_RTU);
	assert_int_equal(end->sent[1].private_data[0], 7);
	assert_int_equal(end->sent[1].tid, end->sent[0].tid);
}

static void
test_ids(void **state)
{
	struct shca_cm_conn *other;
	struct end end;
	uint32_t first;

	(void)state;
	end_open(&end);
	ask(&end, SHCA_MAD_SIDR_REQ);
	first = end.sent[0].local_id;
	/* A manager with another operand has another one. */
	assert_int_equal(first ^ END_ID_OPERAND, 1 << 20);
	assert_int_equal(shca_cm_request(end.cm, NOW, &end_path, &end.sent[0], &end, &other), 0);
	assert_int_not_equal(end.sent[1].local_id, first);
	assert_int_not_equal(end.sent[1].tid, end.sent[0].tid);
	shca_cm_release(end.conn, NOW);
	ask(&end, SHCA_MAD_SIDR_REQ);
	assert_int_not_equal(end.sent[2].local_id, first);
	for (unsigned int i = 0; i < 200; i++)
		ask(&end, SHCA_MAD_SIDR_REQ);
	assert_int_equal(shca_cm_nb(end.cm), 202);
	end_close(&end);
}

/** However many there are, each is found by its ID. */
static void
test_many(void **state)
{
	enum {
		NB = 200
	};
	struct shca_cm_conn *conns[NB];
	uint32_t ids[NB];
	struct end end;

	(void)state;
	end_open(&end);
	for (unsigned int i = 0; i < NB; i++) {
		end.nb_sent = 0;
		ask(&end, SHCA_MAD_REQ);
		conns[i] = end.conn;
		ids[i] = end.sent[0].local_id;
	}
	for (unsigned int i = 0; i < NB; i++) {
		end.nb_sent = 1;
		end.sent[0].local_id = ids[i];
		come(&end, SHCA_MAD_REJ, SHCA_MAD_ABOUT_REQ);
		assert_int_equal(shca_cm_state(conns[i]), SHCA_CM_IDLE);
		if (i + 1 < NB)
			assert_int_equal(shca_cm_state(conns[i + 1]), SHCA_CM_REQ_SENT);
	}
	end_close(&end);
}

/** 0 is no ID, whatever the manager makes its own of. */
static void
test_id_of_zero(void **state)
{
	struct end end = { .nb_sent = 0 };
	const struct shca_cm_ops ops = {
		.send = end_send,
		.request = end_request,
		.event = end_event,
		.arg = &end,
		.id_operand = 1 << 20,
	};

	(void)state;
	end.cm = shca_cm_create(&ops);
	assert_non_null(end.cm);
	ask(&end, SHCA_MAD_REQ);
	assert_int_not_equal(end.sent[0].local_id, 0);
	end_close(&end);
}

/** Everything but a request is refused in state IDLE; some of it in others. */
static void
test_wrong_state(void **state)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP };
	const struct shca_mad sidr_rep = { .kind = SHCA_MAD_SIDR_REP };
	struct end end;

	(void)state;
	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), -EINVAL);
	assert_int_equal(shca_cm_establish(end.conn, NULL), -EINVAL);
	assert_int_equal(shca_cm_delay(end.conn, 20), -EINVAL);
	assert_int_equal(shca_cm_disconnect(end.conn, NOW, NULL), -EINVAL);
	assert_int_equal(shca_cm_confirm(end.conn, NOW, NULL), -EINVAL);
	assert_int_equal(shca_cm_notify(end.conn), -EINVAL);
	come(&end, SHCA_MAD_REJ, 0);
	assert_int_equal(shca_cm_reject(end.conn, &rep), -EINVAL);
	assert_int_equal(end.nb_sent, 1);
	end_close(&end);
	end_open(&end);
	come(&end, SHCA_MAD_REQ, 0);
	end.conn = end.requested;
	assert_int_equal(shca_cm_reply(end.conn, NOW, &sidr_rep), -EINVAL);
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), 0);
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), -EINVAL);
	end_close(&end);
}

static void
test_notify(void **state)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP };
	struct end end;

	(void)state;
	end_open(&end);
	come(&end, SHCA_MAD_REQ, 0);
	end.conn = end.requested;
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), 0);
	assert_int_equal(shca_cm_notify(end.conn), 0);
	assert_int_equal(end.told[0], SHCA_CM_USER_ESTABLISHED);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_ESTABLISHED);
	assert_int_equal(shca_cm_notify(end.conn), -EISCONN);
	assert_int_equal(shca_cm_run(end.cm, UINT64_MAX - 1), UINT64_MAX);
	end_close(&end);
}

/** Time goes in steps: nothing happens before it is due, and then once. */
static unsigned int
wait_out(struct end *end, uint64_t step)
{
	const unsigned int nb_sent = end->nb_sent;
	uint64_t now = NOW;
	unsigned int rounds = 0;

	while (shca_cm_state(end->conn) != SHCA_CM_IDLE &&
		shca_cm_state(end->conn) != SHCA_CM_TIMEWAIT && rounds < 100) {
		shca_cm_run(end->cm, now + step - 1);
		assert_int_equal(end->nb_sent - nb_sent, rounds);
		now += step;
		rounds++;
		shca_cm_run(end->cm, now);
	}
	return rounds;
}

static void
test_no_answer(void **state)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP };
	struct end end;

	(void)state;
	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	assert_int_equal(shca_cm_run(end.cm, NOW), NOW + wait_ns);
	assert_int_equal(wait_out(&end, wait_ns), RETRIES + 1);
	assert_memory_equal(&end.sent[RETRIES], &end.sent[0], sizeof(end.sent[0]));
	/* The other side, which may have heard it all, is not told. */
	assert_int_equal(end.nb_sent, RETRIES + 1);
	assert_int_equal(end.nb_told, 1);
	assert_int_equal(end.told[0], SHCA_CM_UNREACHABLE);
	end_close(&end);

	end_open(&end);
	come(&end, SHCA_MAD_REQ, 0);
	end.conn = end.requested;
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), 0);
	assert_int_equal(wait_out(&end, wait_ns), RETRIES + 1);
	assert_int_equal(end.nb_sent, RETRIES + 1);
	assert_int_equal(end.told[0], SHCA_CM_UNREACHABLE);
	end_close(&end);

	end_open(&end);
	ask(&end, SHCA_MAD_SIDR_REQ);
	assert_int_equal(wait_out(&end, 4096 * 1024), RETRIES + 1);
	assert_int_equal(end.told[0], SHCA_CM_UNREACHABLE);
	end_close(&end);

	establish(&end);
	assert_int_equal(shca_cm_disconnect(end.conn, NOW, NULL), 0);
	assert_int_equal(wait_out(&end, wait_ns), RETRIES + 1);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_TIMEWAIT);
	assert_int_equal(end.told[1], SHCA_CM_DREQ_LOST);
	end_close(&end);
}

/** An MRA adds its time to the wait. */
static void
test_delay(void **state)
{
	const uint64_t longer = 4096 * UINT64_C(32768) + wait_ns;
	struct end end;

	(void)state;
	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	come(&end, SHCA_MAD_MRA, SHCA_MAD_ABOUT_REP);
	assert_int_equal(shca_cm_run(end.cm, NOW), NOW + wait_ns);
	come(&end, SHCA_MAD_MRA, SHCA_MAD_ABOUT_REQ);
	assert_int_equal(shca_cm_run(end.cm, NOW), NOW + longer);
	shca_cm_run(end.cm, NOW + longer);
	assert_int_equal(end.nb_sent, 2);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REQ);
	end_close(&end);
}

/** Who has to wait for the program is told so when he asks again (Linux core/cm.c ib_send_cm_mra(),
 * IB_CM_MRA_FLAG_DELAY). */
static void
test_delay_of_ours(void **state)
{
	struct end end;

	(void)state;
	end_open(&end);
	come(&end, SHCA_MAD_REQ, 0);
	end.conn = end.requested;
	assert_int_equal(shca_cm_delay(end.conn, 24), 0);
	assert_int_equal(end.nb_sent, 0);
	come(&end, SHCA_MAD_REQ, 0);
	assert_int_equal(end.nb_sent, 1);
	assert_int_equal(end.sent[0].kind, SHCA_MAD_MRA);
	assert_int_equal(end.sent[0].about, SHCA_MAD_ABOUT_REQ);
	assert_int_equal(end.sent[0].service_timeout, 24);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_MRA_REQ_SENT);
	end_close(&end);

	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	come(&end, SHCA_MAD_REP, 0);
	assert_int_equal(shca_cm_delay(end.conn, 24), 0);
	assert_int_equal(end.nb_sent, 1);
	come(&end, SHCA_MAD_REP, 0);
	assert_int_equal(end.nb_sent, 2);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_MRA);
	assert_int_equal(end.sent[1].about, SHCA_MAD_ABOUT_REP);
	end_close(&end);
}

/** A refusal names what it refuses (IBTA 12.6.7, "message REJected"). */
static void
test_refusal_of_ours(void **state)
{
	const struct shca_mad rej = { .reason = 28 };
	struct end end;

	(void)state;
	end_open(&end);
	come(&end, SHCA_MAD_REQ, 0);
	end.conn = end.requested;
	assert_int_equal(shca_cm_reject(end.conn, &rej), 0);
	assert_int_equal(end.sent[0].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[0].about, SHCA_MAD_ABOUT_REQ);
	end_close(&end);

	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	come(&end, SHCA_MAD_REP, 0);
	assert_int_equal(shca_cm_reject(end.conn, &rej), 0);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[1].about, SHCA_MAD_ABOUT_REP);
	end_close(&end);
}

/** Who gives up names itself, for the other side may not know by which ID (IBTA 12.6.7.3). */
static void
test_timeout_of_ours(void **state)
{
	static const uint8_t info[SHCA_MAD_INFO_MAX] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct shca_mad mad = req;
	struct end end;

	(void)state;
	mad.ca_guid = UINT64_C(0x0102030405060708);
	end_open(&end);
	assert_int_equal(shca_cm_request(end.cm, NOW, &end_path, &mad, &end, &end.conn), 0);
	assert_memory_equal(shca_cm_path(end.conn), &end_path, sizeof(end_path));
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.nb_sent, 2);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[1].reason, SHCA_MAD_TIMEOUT);
	assert_int_equal(end.sent[1].info_length, 8);
	assert_memory_equal(end.sent[1].info, info, sizeof(info));
	end_close(&end);
}

static void
test_timewait(void **state)
{
	const uint64_t over = NOW + 4096 * 256;
	struct end end;

	(void)state;
	establish(&end);
	assert_int_equal(shca_cm_disconnect(end.conn, NOW, NULL), 0);
	come(&end, SHCA_MAD_DREP, 0);
	assert_int_equal(shca_cm_run(end.cm, over - 1), over);
	assert_int_equal(end.nb_told, 2);
	assert_int_equal(shca_cm_run(end.cm, over), UINT64_MAX);
	assert_int_equal(end.told[2], SHCA_CM_TIMEWAIT_EXIT);
	shca_cm_release(end.conn, over);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);
}

/** An owner that goes leaves the other side no riddle, and nothing behind when time is over. */
static void
test_release(void **state)
{
	struct end end;

	(void)state;
	end_open(&end);
	ask(&end, SHCA_MAD_REQ);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[1].reason, SHCA_MAD_TIMEOUT);
	assert_int_equal(shca_cm_nb(end.cm), 0);

	come(&end, SHCA_MAD_REQ, 0);
	shca_cm_release(end.requested, NOW);
	assert_int_equal(end.sent[2].reason, SHCA_MAD_CONSUMER);
	assert_int_equal(shca_cm_nb(end.cm), 0);

	come(&end, SHCA_MAD_SIDR_REQ, 0);
	shca_cm_release(end.requested, NOW);
	assert_int_equal(end.sent[3].kind, SHCA_MAD_SIDR_REP);
	assert_int_equal(end.sent[3].reason, SHCA_MAD_SIDR_REJECTED);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);

	establish(&end);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.sent[2].kind, SHCA_MAD_DREQ);
	assert_int_equal(shca_cm_nb(end.cm), 1);
	come(&end, SHCA_MAD_DREP, 0);
	shca_cm_run(end.cm, NOW + 4096 * 256);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	assert_int_equal(end.nb_told, 1);
	end_close(&end);

	establish(&end);
	come(&end, SHCA_MAD_DREQ, 0);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.sent[2].kind, SHCA_MAD_DREP);
	end_close(&end);
	shca_cm_release(NULL, NOW);
	shca_cm_destroy(NULL);
}

static void
come_reply(struct end *end)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP, .qpn = QPN_HERE };

	end_open(end);
	come(end, SHCA_MAD_REQ, 0);
	end->conn = end->requested;
	assert_int_equal(shca_cm_reply(end->conn, NOW, &rep), 0);
}

/** Who has said yes and goes does not say that time is over. */
static void
test_release_replied(void **state)
{
	struct end end;

	(void)state;
	come_reply(&end);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[1].reason, SHCA_MAD_CONSUMER);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);
}

/** A target of XRC: where its number stands in a REP, and that it stays without its owner. */
static void
test_xrc(void **state)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP, .qpn = QPN_HERE, .initiator_depth = 3 };
	struct shca_mad mad = req;
	struct end end;

	(void)state;
	mad.transport = SHCA_MAD_EXTENDED;
	mad.extended_transport = 1;
	mad.local_id = ID_THERE;
	end_open(&end);
	end_receive(&end, NOW, &mad);
	end.conn = end.requested;
	assert_int_equal(shca_cm_reply(end.conn, NOW, &rep), 0);
	assert_int_equal(end.sent[0].eecn, QPN_HERE);
	assert_int_equal(end.sent[0].qpn, 0);
	assert_int_equal(end.sent[0].srq, 1);
	assert_int_equal(end.sent[0].initiator_depth, 0);
	come(&end, SHCA_MAD_RTU, 0);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_ESTABLISHED);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(end.nb_sent, 1);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);
	end_open(&end);
	assert_int_equal(shca_cm_request(end.cm, NOW, &end_path, &mad, &end, &end.conn), 0);
	mad = rep;
	mad.local_id = ID_THERE;
	mad.remote_id = end.sent[0].local_id;
	mad.qpn = 0;
	mad.eecn = QPN_THERE;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_establish(end.conn, NULL), 0);
	assert_int_equal(shca_cm_disconnect(end.conn, NOW, NULL), 0);
	assert_int_equal(end.sent[2].kind, SHCA_MAD_DREQ);
	assert_int_equal(end.sent[2].qpn, QPN_THERE);
	end_close(&end);
}

/** An extended transport is none of RC's (12.6.5). */
static void
test_no_xrc(void **state)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP, .qpn = QPN_HERE };
	struct shca_mad mad = req;
	struct end end;

	(void)state;
	mad.transport = SHCA_MAD_RC;
	mad.extended_transport = 1;
	mad.local_id = ID_THERE;
	end_open(&end);
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_reply(end.requested, NOW, &rep), 0);
	assert_int_equal(end.sent[0].qpn, QPN_HERE);
	assert_int_equal(end.sent[0].eecn, 0);
	end_close(&end);
}

/** A DREP is of the transaction of its DREQ (13.4.6.4). */
static void
test_drep_transaction(void **state)
{
	struct shca_mad mad = { .kind = SHCA_MAD_DREQ, .tid = 0x1234, .qpn = QPN_HERE };
	struct end end;

	(void)state;
	establish(&end);
	mad.local_id = ID_THERE;
	mad.remote_id = end.sent[0].local_id;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_confirm(end.conn, NOW, NULL), 0);
	assert_int_equal(end.sent[2].kind, SHCA_MAD_DREP);
	assert_int_equal(end.sent[2].tid, 0x1234);
	end_close(&end);
	/* In TIMEWAIT after a DREQ of our own. */
	establish(&end);
	assert_int_equal(shca_cm_disconnect(end.conn, NOW, NULL), 0);
	come(&end, SHCA_MAD_DREP, 0);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_TIMEWAIT);
	mad.remote_id = end.sent[0].local_id;
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.sent[3].kind, SHCA_MAD_DREP);
	assert_int_equal(end.sent[3].tid, 0x1234);
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_id_of_zero),
		cmocka_unit_test(test_wrong_state),
		cmocka_unit_test(test_notify),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_delay_of_ours),
		cmocka_unit_test(test_refusal_of_ours),
		cmocka_unit_test(test_timeout_of_ours),
		cmocka_unit_test(test_timewait),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_release_replied),
		cmocka_unit_test(test_xrc),
		cmocka_unit_test(test_no_xrc),
		cmocka_unit_test(test_drep_transaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
