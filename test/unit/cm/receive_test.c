/* SPDX-License-Identifier: BSD-3-Clause */
/* Each message in each state: what becomes of the connection, what is answered, what is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cm/cm.h"
#include "end.h"

enum {
	NOW = 1000,
	NOTHING = 0, /* sent */
	SILENCE = -1,
};

static const struct shca_mad req = {
	.kind = SHCA_MAD_REQ,
	.service_id = 0x01061d2f,
	.ca_guid = GUID_HERE,
	.qpn = QPN_HERE,
	.remote_timeout = 20,
	.local_timeout = 20,
	.max_cm_retries = 15,
	.ack_timeout = 14,
};

/** What the other side says, of the connection whose ID here is @p id. */
static struct shca_mad
said(uint16_t kind, uint32_t id)
{
	struct shca_mad mad = req;

	mad.kind = kind;
	mad.local_id = ID_THERE;
	mad.remote_id = id;
	mad.tid = 0x99;
	mad.ca_guid = GUID_THERE;
	mad.qpn = kind == SHCA_MAD_DREQ ? QPN_HERE : QPN_THERE;
	mad.reason = SHCA_MAD_CONSUMER;
	return mad;
}

static void
ask(struct end *end, uint16_t kind)
{
	struct shca_mad mad = req;

	mad.kind = kind;
	assert_int_equal(shca_cm_request(end->cm, NOW, &end_path, &mad, end, &end->conn), 0);
}

static uint32_t
id_here(const struct end *end)
{
	return end->sent[0].local_id;
}

static void
come(struct end *end, uint16_t kind, uint8_t about)
{
	struct shca_mad mad = said(kind, end->nb_sent != 0 ? id_here(end) : 0);

	mad.about = about;
	end_receive(end, NOW, &mad);
}

static void
requested(struct end *end, uint16_t kind)
{
	come(end, kind, 0);
	assert_non_null(end->requested);
	end->conn = end->requested;
}

static void
reply(struct end *end)
{
	const struct shca_mad rep = { .kind = SHCA_MAD_REP, .qpn = QPN_HERE };

	assert_int_equal(shca_cm_reply(end->conn, NOW, &rep), 0);
}

/** Bring a new connection to a state, as its owner and the other side do. */
static void
reach(struct end *end, enum shca_cm_state state)
{
	end_open(end);
	switch (state) {
	case SHCA_CM_REQ_SENT:
		ask(end, SHCA_MAD_REQ);
		break;
	case SHCA_CM_SIDR_REQ_SENT:
		ask(end, SHCA_MAD_SIDR_REQ);
		break;
	case SHCA_CM_MRA_REQ_RCVD:
		ask(end, SHCA_MAD_REQ);
		come(end, SHCA_MAD_MRA, SHCA_MAD_ABOUT_REQ);
		break;
	case SHCA_CM_REP_RCVD:
	case SHCA_CM_MRA_REP_SENT:
	case SHCA_CM_ESTABLISHED:
	case SHCA_CM_DREQ_SENT:
	case SHCA_CM_DREQ_RCVD:
	case SHCA_CM_TIMEWAIT:
		ask(end, SHCA_MAD_REQ);
		come(end, SHCA_MAD_REP, 0);
		if (state == SHCA_CM_MRA_REP_SENT)
			assert_int_equal(shca_cm_delay(end->conn, 24), 0);
		else if (state != SHCA_CM_REP_RCVD)
			assert_int_equal(shca_cm_establish(end->conn, NULL), 0);
		if (state == SHCA_CM_DREQ_SENT || state == SHCA_CM_TIMEWAIT)
			assert_int_equal(shca_cm_disconnect(end->conn, NOW, NULL), 0);
		if (state == SHCA_CM_DREQ_RCVD)
			come(end, SHCA_MAD_DREQ, 0);
		if (state == SHCA_CM_TIMEWAIT)
			come(end, SHCA_MAD_DREP, 0);
		break;
	case SHCA_CM_SIDR_REQ_RCVD:
		requested(end, SHCA_MAD_SIDR_REQ);
		break;
	default:
		requested(end, SHCA_MAD_REQ);
		if (state == SHCA_CM_MRA_REQ_SENT) {
			assert_int_equal(shca_cm_delay(end->conn, 24), 0);
			/* Now the other side hears of it. */
			come(end, SHCA_MAD_REQ, 0);
		}
		if (state == SHCA_CM_REP_SENT || state == SHCA_CM_MRA_REP_RCVD)
			reply(end);
		if (state == SHCA_CM_MRA_REP_RCVD)
			come(end, SHCA_MAD_MRA, SHCA_MAD_ABOUT_REP);
	}
	assert_int_equal(shca_cm_state(end->conn), state);
}

/** The rest leaves the state as it is, says nothing and tells nobody. */
static const struct {
	enum shca_cm_state state;
	uint16_t kind;
	enum shca_cm_state next;
	uint16_t sent;
	int told;
} rows[] = {
	{ SHCA_CM_REQ_SENT, SHCA_MAD_REP, SHCA_CM_REP_RCVD, NOTHING, SHCA_CM_REP },
	{ SHCA_CM_REQ_SENT, SHCA_MAD_MRA, SHCA_CM_MRA_REQ_RCVD, NOTHING, SILENCE },
	{ SHCA_CM_REQ_SENT, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_MRA_REQ_RCVD, SHCA_MAD_REP, SHCA_CM_REP_RCVD, NOTHING, SHCA_CM_REP },
	{ SHCA_CM_MRA_REQ_RCVD, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_REQ_RCVD, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_MRA_REQ_SENT, SHCA_MAD_REQ, SHCA_CM_MRA_REQ_SENT, SHCA_MAD_MRA, SILENCE },
	{ SHCA_CM_MRA_REQ_SENT, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_REP_SENT, SHCA_MAD_REQ, SHCA_CM_REP_SENT, SHCA_MAD_REP, SILENCE },
	{ SHCA_CM_REP_SENT, SHCA_MAD_RTU, SHCA_CM_ESTABLISHED, NOTHING, SHCA_CM_RTU },
	{ SHCA_CM_REP_SENT, SHCA_MAD_MRA, SHCA_CM_MRA_REP_RCVD, NOTHING, SILENCE },
	{ SHCA_CM_REP_SENT, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_REP_SENT, SHCA_MAD_DREQ, SHCA_CM_DREQ_RCVD, NOTHING, SHCA_CM_DREQ },
	{ SHCA_CM_MRA_REP_RCVD, SHCA_MAD_REQ, SHCA_CM_MRA_REP_RCVD, SHCA_MAD_REP, SILENCE },
	{ SHCA_CM_MRA_REP_RCVD, SHCA_MAD_RTU, SHCA_CM_ESTABLISHED, NOTHING, SHCA_CM_RTU },
	{ SHCA_CM_MRA_REP_RCVD, SHCA_MAD_REJ, SHCA_CM_IDLE, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_MRA_REP_RCVD, SHCA_MAD_DREQ, SHCA_CM_DREQ_RCVD, NOTHING, SHCA_CM_DREQ },
	{ SHCA_CM_REP_RCVD, SHCA_MAD_REJ, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_MRA_REP_SENT, SHCA_MAD_REP, SHCA_CM_MRA_REP_SENT, SHCA_MAD_MRA, SILENCE },
	{ SHCA_CM_MRA_REP_SENT, SHCA_MAD_REJ, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_ESTABLISHED, SHCA_MAD_REP, SHCA_CM_ESTABLISHED, SHCA_MAD_RTU, SILENCE },
	{ SHCA_CM_ESTABLISHED, SHCA_MAD_REJ, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_ESTABLISHED, SHCA_MAD_DREQ, SHCA_CM_DREQ_RCVD, NOTHING, SHCA_CM_DREQ },
	{ SHCA_CM_ESTABLISHED, SHCA_MAD_LAP, SHCA_CM_ESTABLISHED, SHCA_MAD_APR, SILENCE },
	{ SHCA_CM_DREQ_SENT, SHCA_MAD_DREQ, SHCA_CM_DREQ_RCVD, NOTHING, SHCA_CM_DREQ },
	{ SHCA_CM_DREQ_SENT, SHCA_MAD_DREP, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_DREP },
	{ SHCA_CM_DREQ_SENT, SHCA_MAD_REJ, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_REJ },
	{ SHCA_CM_DREQ_RCVD, SHCA_MAD_DREP, SHCA_CM_TIMEWAIT, NOTHING, SHCA_CM_DREP },
	{ SHCA_CM_TIMEWAIT, SHCA_MAD_DREQ, SHCA_CM_TIMEWAIT, SHCA_MAD_DREP, SILENCE },
	{ SHCA_CM_SIDR_REQ_SENT, SHCA_MAD_SIDR_REP, SHCA_CM_IDLE, NOTHING, SHCA_CM_SIDR_REP },
};

static size_t
row_of(enum shca_cm_state state, uint16_t kind)
{
	size_t i = 0;

	while (i < sizeof(rows) / sizeof(rows[0]) &&
		(rows[i].state != state || rows[i].kind != kind))
		i++;
	return i;
}

static void
try(enum shca_cm_state state, uint16_t kind)
{
	const size_t row = row_of(state, kind);
	const bool is_known = row < sizeof(rows) / sizeof(rows[0]);
	unsigned int nb_sent, nb_told;
	struct shca_mad mad;
	struct end end;

	reach(&end, state);
	/* A passive side that has said nothing so far has an ID that nobody knows: REJ by timeout.
	 */
	mad = said(kind, end.nb_sent != 0 ? id_here(&end) : 0);
	if (kind == SHCA_MAD_REJ && end.nb_sent == 0) {
		mad.reason = SHCA_MAD_TIMEOUT;
		mad.info_length = 8;
		mad.info[6] = GUID_THERE >> 8;
		mad.info[7] = GUID_THERE & 0xff;
	}
	mad.about = state == SHCA_CM_REP_SENT || state == SHCA_CM_MRA_REP_RCVD ? SHCA_MAD_ABOUT_REP
									       : SHCA_MAD_ABOUT_REQ;
	nb_sent = end.nb_sent;
	nb_told = end.nb_told;
	end_receive(&end, NOW, &mad);
	print_message("state %d, %s\n", state, shca_mad_name(kind));
	assert_int_equal(shca_cm_state(end.conn), is_known ? rows[row].next : state);
	assert_int_equal(end.nb_sent - nb_sent, is_known && rows[row].sent != NOTHING);
	if (end.nb_sent != nb_sent) {
		assert_int_equal(end.sent[nb_sent].kind, rows[row].sent);
		assert_int_equal(end.sent[nb_sent].remote_id, ID_THERE);
	}
	assert_int_equal(end.nb_told - nb_told, is_known && rows[row].told != SILENCE);
	if (end.nb_told != nb_told)
		assert_int_equal(end.told[nb_told], rows[row].told);
	end_close(&end);
}

/** REQs have a test of their own where the connection was asked for from here; a DREQ for nobody
 * is answered. MRAs that come again make the wait longer. */
static bool
is_elsewhere(enum shca_cm_state state, uint16_t kind)
{
	const bool is_passive = state == SHCA_CM_REQ_RCVD || state == SHCA_CM_MRA_REQ_SENT ||
		state == SHCA_CM_REP_SENT || state == SHCA_CM_MRA_REP_RCVD;

	return (kind == SHCA_MAD_REQ && !is_passive) || kind == SHCA_MAD_SIDR_REQ ||
		(kind == SHCA_MAD_DREQ &&
			(state == SHCA_CM_REQ_SENT || state == SHCA_CM_MRA_REQ_RCVD ||
				state == SHCA_CM_REQ_RCVD || state == SHCA_CM_SIDR_REQ_SENT ||
				state == SHCA_CM_SIDR_REQ_RCVD));
}

static void
test_each(void **state)
{
	(void)state;
	for (int at = SHCA_CM_REQ_SENT; at < SHCA_CM_NB_STATES; at++)
		for (uint16_t kind = SHCA_MAD_REQ; kind < SHCA_MAD_KINDS_END; kind++)
			if (!is_elsewhere(at, kind))
				try(at, kind);
}

static void
test_unknown(void **state)
{
	struct shca_mad mad = said(SHCA_MAD_DREQ, 0x1234);
	const uint8_t noise[SHCA_MAD_BYTES] = { 1, 7, 1, 3 };
	struct end end;

	(void)state;
	end_open(&end);
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.nb_sent, 1);
	assert_int_equal(end.sent[0].kind, SHCA_MAD_DREP);
	assert_int_equal(end.sent[0].local_id, 0x1234);
	assert_int_equal(end.sent[0].remote_id, ID_THERE);
	assert_int_equal(end.sent[0].tid, 0x99);
	mad = said(SHCA_MAD_RTU, 0x1234);
	end_receive(&end, NOW, &mad);
	shca_cm_receive(end.cm, NOW, &end_path, noise, sizeof(noise));
	assert_int_equal(end.nb_sent, 1);
	assert_int_equal(shca_cm_dropped(end.cm), 2);
	end_close(&end);
}

static void
test_wrong_ids(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_ESTABLISHED);
	mad = said(SHCA_MAD_REJ, id_here(&end));
	mad.local_id++;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_ESTABLISHED);
	mad = said(SHCA_MAD_DREQ, id_here(&end));
	mad.qpn++;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_ESTABLISHED);
	assert_int_equal(shca_cm_dropped(end.cm), 2);
	end_close(&end);
}

/** 12.9.8.3.1: a queue pair asks for a connection while it is in one. */
static void
test_stale(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_REP_SENT);
	mad = said(SHCA_MAD_RTU, id_here(&end));
	end_receive(&end, NOW, &mad);
	mad = said(SHCA_MAD_REQ, 0);
	mad.local_id++;
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[1].reason, SHCA_MAD_STALE);
	assert_int_equal(end.sent[1].remote_id, ID_THERE + 1);
	assert_int_equal(end.sent[2].kind, SHCA_MAD_DREQ);
	assert_int_equal(end.sent[2].qpn, QPN_THERE);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_DREQ_SENT);
	end_close(&end);
	reach(&end, SHCA_CM_REQ_SENT);
	mad = said(SHCA_MAD_REJ, id_here(&end));
	mad.reason = SHCA_MAD_STALE;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_TIMEWAIT);
	end_close(&end);
}

/** The same of one that we have asked: by its REQ, and by the REP to another request of ours. */
static void
test_stale_active(void **state)
{
	struct shca_cm_conn *old;
	struct shca_mad mad;
	struct end end;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		reach(&end, SHCA_CM_ESTABLISHED);
		old = end.conn;
		if (i == 1)
			ask(&end, SHCA_MAD_REQ);
		mad = said(i == 0 ? SHCA_MAD_REQ : SHCA_MAD_REP,
			i == 0 ? 0 : end.sent[end.nb_sent - 1].local_id);
		mad.local_id++;
		end.nb_sent = 0;
		end_receive(&end, NOW, &mad);
		assert_int_equal(end.nb_sent, 2);
		assert_int_equal(end.sent[0].kind, SHCA_MAD_REJ);
		assert_int_equal(end.sent[0].reason, SHCA_MAD_STALE);
		assert_int_equal(
			end.sent[0].about, i == 0 ? SHCA_MAD_ABOUT_REQ : SHCA_MAD_ABOUT_REP);
		assert_int_equal(end.sent[0].local_id, mad.remote_id);
		assert_int_equal(end.sent[0].remote_id, ID_THERE + 1);
		assert_int_equal(end.sent[1].kind, SHCA_MAD_DREQ);
		assert_int_equal(end.sent[1].remote_id, ID_THERE);
		assert_int_equal(shca_cm_state(old), SHCA_CM_DREQ_SENT);
		if (i == 1)
			assert_int_equal(shca_cm_state(end.conn), SHCA_CM_REQ_SENT);
		end_close(&end);
	}
}

/** One that has ended its connection may use the number of its queue pair again at once. */
static void
test_queue_pair_of_one_that_ends(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct shca_cm_conn *old;

		reach(&end, SHCA_CM_ESTABLISHED);
		old = end.conn;
		mad = said(SHCA_MAD_DREQ, id_here(&end));
		if (i % 2 == 0)
			end_receive(&end, NOW, &mad);
		else
			assert_int_equal(shca_cm_disconnect(old, NOW, NULL), 0);
		if (i / 2 == 1)
			ask(&end, SHCA_MAD_REQ);
		mad = said(i / 2 == 0 ? SHCA_MAD_REQ : SHCA_MAD_REP,
			i / 2 == 0 ? 0 : end.sent[end.nb_sent - 1].local_id);
		mad.local_id++;
		end.nb_sent = 0;
		end.requested = NULL;
		end_receive(&end, NOW, &mad);
		assert_int_equal(end.nb_sent, 0);
		if (i / 2 == 0)
			assert_int_equal(shca_cm_state(end.requested), SHCA_CM_REQ_RCVD);
		else
			assert_int_equal(shca_cm_state(end.conn), SHCA_CM_REP_RCVD);
		assert_int_equal(
			shca_cm_state(old), i % 2 == 0 ? SHCA_CM_DREQ_RCVD : SHCA_CM_DREQ_SENT);
		end_close(&end);
	}
}

/** An ID of the other side is in one connection: a REP of it to another request is dropped. */
static void
test_rep_of_another(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_ESTABLISHED);
	ask(&end, SHCA_MAD_REQ);
	mad = said(SHCA_MAD_REP, end.sent[end.nb_sent - 1].local_id);
	end.nb_sent = 0;
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.nb_sent, 0);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_REQ_SENT);
	assert_int_equal(shca_cm_dropped(end.cm), 1);
	end_close(&end);
}

/** A REQ without a GUID is of nobody that we have asked for a connection. */
static void
test_no_guid(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_ESTABLISHED);
	mad = said(SHCA_MAD_REQ, 0);
	mad.local_id++;
	mad.ca_guid = 0;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_ESTABLISHED);
	assert_int_equal(shca_cm_nb(end.cm), 2);
	/* The same again is no third one. */
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_nb(end.cm), 2);
	end_close(&end);
}

/** In TIMEWAIT a connection has no queue pair any more: the number may come again, and in the next
 * connection (Linux cm_enter_timewait(): cm_remove_remote()). */
static void
test_queue_pair_comes_again(void **state)
{
	struct shca_mad mad;
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_REP_SENT);
	mad = said(SHCA_MAD_RTU, id_here(&end));
	end_receive(&end, NOW, &mad);
	mad = said(SHCA_MAD_DREQ, id_here(&end));
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_confirm(end.conn, NOW, NULL), 0);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_TIMEWAIT);
	end.requested = NULL;
	mad = said(SHCA_MAD_REQ, 0);
	mad.local_id++;
	end_receive(&end, NOW, &mad);
	assert_non_null(end.requested);
	assert_int_equal(end.nb_sent, 2); /* REP, DREP */
	assert_int_equal(shca_cm_state(end.requested), SHCA_CM_REQ_RCVD);
	shca_cm_release(end.requested, NOW);
	end_close(&end);
}

/** What a refusal of ours names in each state (core/cm.c cm_format_rej()), and where none is. */
static void
test_refusals(void **state)
{
	static const struct {
		enum shca_cm_state state;
		int result;
		uint8_t about;
	} refusals[] = {
		{ SHCA_CM_REQ_SENT, 0, SHCA_MAD_ABOUT_OTHER },
		{ SHCA_CM_MRA_REQ_RCVD, 0, SHCA_MAD_ABOUT_OTHER },
		{ SHCA_CM_REQ_RCVD, 0, SHCA_MAD_ABOUT_REQ },
		{ SHCA_CM_MRA_REQ_SENT, 0, SHCA_MAD_ABOUT_REQ },
		{ SHCA_CM_REP_SENT, 0, SHCA_MAD_ABOUT_OTHER },
		{ SHCA_CM_MRA_REP_RCVD, 0, SHCA_MAD_ABOUT_OTHER },
		{ SHCA_CM_REP_RCVD, 0, SHCA_MAD_ABOUT_REP },
		{ SHCA_CM_MRA_REP_SENT, 0, SHCA_MAD_ABOUT_REP },
		{ SHCA_CM_ESTABLISHED, -EINVAL, 0 },
		{ SHCA_CM_DREQ_SENT, -EINVAL, 0 },
		{ SHCA_CM_DREQ_RCVD, -EINVAL, 0 },
		{ SHCA_CM_TIMEWAIT, -EINVAL, 0 },
		{ SHCA_CM_SIDR_REQ_SENT, -EINVAL, 0 },
		{ SHCA_CM_SIDR_REQ_RCVD, -EINVAL, 0 },
	};
	const struct shca_mad rej = { .reason = SHCA_MAD_CONSUMER };

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		unsigned int nb_before;
		struct end end;

		reach(&end, refusals[i].state);
		nb_before = end.nb_sent;
		assert_int_equal(shca_cm_state(end.conn), refusals[i].state);
		assert_int_equal(shca_cm_reject(end.conn, &rej), refusals[i].result);
		assert_int_equal(end.nb_sent, nb_before + (refusals[i].result == 0));
		if (refusals[i].result == 0) {
			assert_int_equal(end.sent[nb_before].kind, SHCA_MAD_REJ);
			assert_int_equal(end.sent[nb_before].about, refusals[i].about);
			assert_int_equal(end.sent[nb_before].reason, SHCA_MAD_CONSUMER);
			assert_int_equal(shca_cm_state(end.conn), SHCA_CM_IDLE);
		} else {
			assert_int_equal(shca_cm_state(end.conn), refusals[i].state);
		}
		end_close(&end);
	}
}

static void
test_refused(void **state)
{
	struct shca_mad mad = said(SHCA_MAD_REQ, 0);
	struct end end;

	(void)state;
	end_open(&end);
	end.refuses = true;
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.sent[0].kind, SHCA_MAD_REJ);
	assert_int_equal(end.sent[0].reason, SHCA_MAD_INVALID_SERVICE_ID);
	assert_int_equal(end.sent[0].about, SHCA_MAD_ABOUT_REQ);
	assert_int_equal(end.sent[0].remote_id, ID_THERE);
	mad = said(SHCA_MAD_SIDR_REQ, 0);
	end_receive(&end, NOW, &mad);
	assert_int_equal(end.sent[1].kind, SHCA_MAD_SIDR_REP);
	assert_int_equal(end.sent[1].reason, SHCA_MAD_SIDR_UNSUPPORTED);
	assert_int_equal(end.sent[1].remote_id, ID_THERE);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);
}

/** A SIDR_REQ that comes again before its answer is one request. */
static void
test_sidr(void **state)
{
	const struct shca_mad answer = { .kind = SHCA_MAD_SIDR_REP, .qpn = 5, .qkey = 6 };
	struct shca_mad mad = said(SHCA_MAD_SIDR_REQ, 0);
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_SIDR_REQ_RCVD);
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_nb(end.cm), 1);
	assert_int_equal(shca_cm_reply(end.conn, NOW, &answer), 0);
	assert_int_equal(end.sent[0].kind, SHCA_MAD_SIDR_REP);
	assert_int_equal(end.sent[0].service_id, req.service_id);
	assert_int_equal(end.sent[0].qpn, 5);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_IDLE);
	shca_cm_release(end.conn, NOW);
	assert_int_equal(shca_cm_nb(end.cm), 0);
	end_close(&end);
}

/** What makes it the same: that it is a SIDR_REQ, its ID, and where it is from. */
static void
test_sidr_of_others(void **state)
{
	struct shca_mad mad = said(SHCA_MAD_SIDR_REQ, 0);
	struct shca_cm_path elsewhere = end_path;
	uint8_t bytes[SHCA_MAD_BYTES];
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_SIDR_REQ_RCVD);
	mad.local_id++;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_nb(end.cm), 2);
	elsewhere.remote[15]++;
	shca_mad_write(&mad, bytes);
	shca_cm_receive(end.cm, NOW, &elsewhere, bytes, sizeof(bytes));
	assert_int_equal(shca_cm_nb(end.cm), 3);
	end_close(&end);
	/* The ID of a connection */
	reach(&end, SHCA_CM_REQ_RCVD);
	mad = said(SHCA_MAD_SIDR_REQ, 0);
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_nb(end.cm), 2);
	end_close(&end);
}

/** 12.6.7.3: who gave up without having heard our ID names its own and its GUID, all of it; nothing
 * else does, and nothing else is ended so. */
static void
test_given_up(void **state)
{
	static const struct {
		uint16_t kind, reason;
		uint32_t id;
		uint64_t guid;
		enum shca_cm_state next;
	} cases[] = {
		{ SHCA_MAD_REJ, SHCA_MAD_TIMEOUT, ID_THERE, UINT64_C(0x0200000000002222),
			SHCA_CM_IDLE },
		{ SHCA_MAD_REJ, SHCA_MAD_TIMEOUT, ID_THERE, 0x2222, SHCA_CM_REQ_RCVD },
		{ SHCA_MAD_REJ, SHCA_MAD_TIMEOUT, ID_THERE, UINT64_C(0x0200000000002223),
			SHCA_CM_REQ_RCVD },
		{ SHCA_MAD_REJ, SHCA_MAD_TIMEOUT, ID_THERE + 1, UINT64_C(0x0200000000002222),
			SHCA_CM_REQ_RCVD },
		{ SHCA_MAD_REJ, SHCA_MAD_CONSUMER, ID_THERE, UINT64_C(0x0200000000002222),
			SHCA_CM_REQ_RCVD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_mad mad = said(SHCA_MAD_REQ, 0);
		struct end end;

		end_open(&end);
		mad.ca_guid = cases[0].guid;
		end_receive(&end, NOW, &mad);
		mad = said(cases[i].kind, 0);
		mad.reason = cases[i].reason;
		mad.local_id = cases[i].id;
		mad.info_length = 8;
		for (unsigned int j = 0; j < 8; j++)
			mad.info[j] = (uint8_t)(cases[i].guid >> (56 - 8 * j));
		end_receive(&end, NOW, &mad);
		assert_int_equal(shca_cm_state(end.requested), cases[i].next);
		assert_int_equal(end.nb_told, cases[i].next == SHCA_CM_IDLE);
		assert_int_equal(shca_cm_dropped(end.cm), cases[i].next != SHCA_CM_IDLE);
		end_close(&end);
	}
}

/** Who has not been heard of has no GUID, and is not who names none. */
static void
test_given_up_by_nobody(void **state)
{
	struct shca_mad mad = said(SHCA_MAD_REJ, 0);
	struct end end;

	(void)state;
	reach(&end, SHCA_CM_REQ_SENT);
	mad.reason = SHCA_MAD_TIMEOUT;
	mad.local_id = 0;
	mad.info_length = 8;
	end_receive(&end, NOW, &mad);
	assert_int_equal(shca_cm_state(end.conn), SHCA_CM_REQ_SENT);
	assert_int_equal(shca_cm_dropped(end.cm), 1);
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_wrong_ids),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_stale_active),
		cmocka_unit_test(test_queue_pair_of_one_that_ends),
		cmocka_unit_test(test_rep_of_another),
		cmocka_unit_test(test_no_guid),
		cmocka_unit_test(test_queue_pair_comes_again),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sidr),
		cmocka_unit_test(test_sidr_of_others),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_given_up_by_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
