/* SPDX-License-Identifier: BSD-3-Clause */
/* A message and the state it finds: one row each, as the tables of 12.9.7. */
#include <string.h>

#include "cm/conn.h"

#define IN(state) (UINT32_C(1) << (state))

/** A message on its way in. */
struct arrival {
	struct shca_cm *cm;
	const struct shca_cm_path *path;
	const struct shca_mad *mad;
	uint64_t now;
};

/** Of one that has ended the connection, or is being told so: it has not forgotten it. */
static bool
is_ending(const struct shca_cm_conn *conn)
{
	return conn->state == SHCA_CM_DREQ_RCVD || conn->state == SHCA_CM_DREQ_SENT;
}

/** Who sent the REQ or REP: the same again, or another connection that its queue pair is in. In
 * TIMEWAIT it is in none any more (Linux cm_enter_timewait()). Nor is it here in one that ends,
 * which may wait for its program for as long as that likes: numbers of queue pairs come again at
 * once, as a card's do not. */
static struct shca_cm_conn *
find_remote(const struct arrival *at, bool *is_same)
{
	struct shca_cm_conn *conn;

	TAILQ_FOREACH (conn, &at->cm->conns, link) {
		if (!conn->is_known || conn->remote_guid != at->mad->ca_guid ||
			conn->state == SHCA_CM_IDLE || conn->state == SHCA_CM_TIMEWAIT)
			continue;
		*is_same = conn->remote_id == at->mad->local_id;
		if (*is_same || (!is_ending(conn) && conn->remote_qpn == at->mad->qpn))
			return conn;
	}
	return NULL;
}

/** 12.9.8.3.1: the other side has forgotten this connection of its queue pair. */
static void
refuse_stale(const struct arrival *at, struct shca_cm_conn *conn)
{
	shca_conn_refuse(at->cm, at->path, at->mad, SHCA_MAD_STALE);
	if (conn->state == SHCA_CM_ESTABLISHED)
		shca_cm_disconnect(conn, at->now, NULL);
}

static void
know_remote(const struct shca_mad *mad, struct shca_cm_conn *conn)
{
	conn->is_known = true;
	conn->remote_id = mad->local_id;
	conn->remote_guid = mad->ca_guid;
	conn->remote_qpn = mad->qpn;
}

/** One that is stale leaves the REQ without an answer, as in cm_rep_handler(). */
static void
take_rep(const struct arrival *at, struct shca_cm_conn *conn)
{
	bool is_same = false;
	struct shca_cm_conn *other = find_remote(at, &is_same);

	if (other != NULL) {
		if (is_same)
			at->cm->dropped++;
		else
			refuse_stale(at, other);
		return;
	}
	know_remote(at->mad, conn);
	shca_conn_rest(conn, SHCA_CM_REP_RCVD);
	shca_conn_tell(conn, SHCA_CM_REP, at->mad);
}

/** 12.9.8.3.1: the answer to it was lost. */
static void
repeat_mra(const struct arrival *at, struct shca_cm_conn *conn)
{
	(void)at;
	shca_conn_send_again(conn, SHCA_MAD_MRA);
}

static void
repeat_rep(const struct arrival *at, struct shca_cm_conn *conn)
{
	(void)at;
	shca_conn_send_again(conn, SHCA_MAD_REP);
}

static void
repeat_rtu(const struct arrival *at, struct shca_cm_conn *conn)
{
	(void)at;
	shca_conn_send_again(conn, SHCA_MAD_RTU);
}

static void
repeat_drep(const struct arrival *at, struct shca_cm_conn *conn)
{
	conn->tid = at->mad->tid;
	if (conn->sent.kind == SHCA_MAD_DREP)
		shca_conn_send_again(conn, SHCA_MAD_DREP);
	else
		shca_conn_send_kind(conn, SHCA_MAD_DREP, NULL);
}

static void
take_rtu(const struct arrival *at, struct shca_cm_conn *conn)
{
	shca_conn_rest(conn, SHCA_CM_ESTABLISHED);
	shca_conn_tell(conn, SHCA_CM_RTU, at->mad);
}

static void
take_mra(const struct arrival *at, struct shca_cm_conn *conn)
{
	const bool is_req = conn->state == SHCA_CM_REQ_SENT || conn->state == SHCA_CM_MRA_REQ_RCVD;

	if (at->mad->about != (is_req ? SHCA_MAD_ABOUT_REQ : SHCA_MAD_ABOUT_REP)) {
		at->cm->dropped++;
		return;
	}
	conn->state = is_req ? SHCA_CM_MRA_REQ_RCVD : SHCA_CM_MRA_REP_RCVD;
	/* The REP will be from this ID; a REJ may be. */
	conn->deadline = at->now + shca_cm_time(at->mad->service_timeout) + conn->timeout_ns;
}

static void
take_rej(const struct arrival *at, struct shca_cm_conn *conn)
{
	/* Queue pairs of an earlier connection may still send (12.9.8.3.1). */
	if (at->mad->reason == SHCA_MAD_STALE)
		shca_conn_enter_timewait(conn, at->now);
	else
		shca_conn_rest(conn, SHCA_CM_IDLE);
	shca_conn_tell(conn, SHCA_CM_REJ, at->mad);
}

/** It was established from here: packets may be on their way. */
static void
take_rej_late(const struct arrival *at, struct shca_cm_conn *conn)
{
	shca_conn_enter_timewait(conn, at->now);
	shca_conn_tell(conn, SHCA_CM_REJ, at->mad);
}

static void
take_dreq(const struct arrival *at, struct shca_cm_conn *conn)
{
	/* cm_dreq_handler(): of another queue pair, so of another connection */
	if (at->mad->qpn != conn->local_qpn) {
		at->cm->dropped++;
		return;
	}
	/* 13.4.6.4: the DREP is of the DREQ's transaction. */
	conn->tid = at->mad->tid;
	shca_conn_rest(conn, SHCA_CM_DREQ_RCVD);
	if (conn->owner == NULL)
		shca_cm_confirm(conn, at->now, NULL);
	else
		shca_conn_tell(conn, SHCA_CM_DREQ, at->mad);
}

static void
take_drep(const struct arrival *at, struct shca_cm_conn *conn)
{
	shca_conn_enter_timewait(conn, at->now);
	shca_conn_tell(conn, SHCA_CM_DREP, at->mad);
}

static void
take_sidr_rep(const struct arrival *at, struct shca_cm_conn *conn)
{
	shca_conn_rest(conn, SHCA_CM_IDLE);
	shca_conn_tell(conn, SHCA_CM_SIDR_REP, at->mad);
}

/** No alternate paths (12.8; Linux's RDMA CM asks for none). */
static void
refuse_lap(const struct arrival *at, struct shca_cm_conn *conn)
{
	const struct shca_mad apr = {
		.kind = SHCA_MAD_APR,
		.tid = at->mad->tid,
		.local_id = conn->local_id,
		.remote_id = conn->remote_id,
		.reason = SHCA_MAD_APR_UNSUPPORTED,
	};

	at->cm->ops.send(at->cm->ops.arg, &conn->path, &apr);
}

static const struct {
	uint16_t kind;
	uint32_t states;
	void (*take)(const struct arrival *at, struct shca_cm_conn *conn);
} message_rows[] = {
	{ SHCA_MAD_REQ, IN(SHCA_CM_MRA_REQ_SENT), repeat_mra },
	{ SHCA_MAD_REQ, IN(SHCA_CM_REP_SENT) | IN(SHCA_CM_MRA_REP_RCVD), repeat_rep },
	{ SHCA_MAD_REP, IN(SHCA_CM_REQ_SENT) | IN(SHCA_CM_MRA_REQ_RCVD), take_rep },
	{ SHCA_MAD_REP, IN(SHCA_CM_MRA_REP_SENT), repeat_mra },
	{ SHCA_MAD_REP, IN(SHCA_CM_ESTABLISHED), repeat_rtu },
	{ SHCA_MAD_RTU, IN(SHCA_CM_REP_SENT) | IN(SHCA_CM_MRA_REP_RCVD), take_rtu },
	{ SHCA_MAD_MRA,
		IN(SHCA_CM_REQ_SENT) | IN(SHCA_CM_MRA_REQ_RCVD) | IN(SHCA_CM_REP_SENT) |
			IN(SHCA_CM_MRA_REP_RCVD),
		take_mra },
	{ SHCA_MAD_REJ,
		IN(SHCA_CM_REQ_SENT) | IN(SHCA_CM_MRA_REQ_RCVD) | IN(SHCA_CM_REQ_RCVD) |
			IN(SHCA_CM_MRA_REQ_SENT) | IN(SHCA_CM_REP_SENT) | IN(SHCA_CM_MRA_REP_RCVD),
		take_rej },
	{ SHCA_MAD_REJ,
		IN(SHCA_CM_REP_RCVD) | IN(SHCA_CM_MRA_REP_SENT) | IN(SHCA_CM_ESTABLISHED) |
			IN(SHCA_CM_DREQ_SENT),
		take_rej_late },
	{ SHCA_MAD_DREQ,
		IN(SHCA_CM_REP_SENT) | IN(SHCA_CM_MRA_REP_RCVD) | IN(SHCA_CM_ESTABLISHED) |
			IN(SHCA_CM_DREQ_SENT),
		take_dreq },
	{ SHCA_MAD_DREQ, IN(SHCA_CM_TIMEWAIT), repeat_drep },
	{ SHCA_MAD_DREP, IN(SHCA_CM_DREQ_SENT) | IN(SHCA_CM_DREQ_RCVD), take_drep },
	{ SHCA_MAD_SIDR_REP, IN(SHCA_CM_SIDR_REQ_SENT), take_sidr_rep },
	{ SHCA_MAD_LAP, IN(SHCA_CM_ESTABLISHED), refuse_lap },
};

static void
take(const struct arrival *at, struct shca_cm_conn *conn)
{
	for (size_t i = 0; i < sizeof(message_rows) / sizeof(message_rows[0]); i++)
		if (message_rows[i].kind == at->mad->kind &&
			(message_rows[i].states & IN(conn->state)) != 0) {
			message_rows[i].take(at, conn);
			return;
		}
	at->cm->dropped++;
}

/** Ask whose it is, and refuse it if nobody's. */
static void
offer(const struct arrival *at, struct shca_cm_conn *conn, uint16_t reason)
{
	const struct shca_mad *mad = at->mad;
	struct shca_mad answer = { .kind = SHCA_MAD_SIDR_REP };

	conn->owner = at->cm->ops.request(at->cm->ops.arg, conn, mad, &reason);
	if (conn->owner != NULL)
		return;
	answer.reason = reason;
	if (mad->kind == SHCA_MAD_SIDR_REQ)
		shca_cm_reply(conn, at->now, &answer);
	else if (reason == 0)
		at->cm->dropped++;
	else
		shca_conn_refuse(at->cm, &conn->path, mad, reason);
	shca_conn_free(conn);
}

static void
take_req(const struct arrival *at)
{
	const struct shca_mad *mad = at->mad;
	bool is_same = false;
	struct shca_cm_conn *conn = find_remote(at, &is_same);

	if (conn != NULL && is_same) {
		take(at, conn);
		return;
	}
	if (conn != NULL) {
		refuse_stale(at, conn);
		return;
	}
	conn = shca_conn_create(at->cm, at->path);
	if (conn == NULL) {
		shca_conn_refuse(at->cm, at->path, mad, SHCA_MAD_NO_RESOURCES);
		return;
	}
	know_remote(mad, conn);
	conn->is_xrc_tgt = shca_conn_is_xrc(mad);
	conn->tid = mad->tid;
	conn->ack_timeout = mad->ack_timeout;
	conn->max_retries = mad->max_cm_retries;
	conn->timeout_ns = shca_cm_time(mad->local_timeout) + shca_cm_time(mad->ack_timeout);
	shca_conn_rest(conn, SHCA_CM_REQ_RCVD);
	offer(at, conn, SHCA_MAD_INVALID_SERVICE_ID);
}

static void
take_sidr_req(const struct arrival *at)
{
	const struct shca_mad *mad = at->mad;
	struct shca_cm_conn *conn;

	TAILQ_FOREACH (conn, &at->cm->conns, link)
		if (conn->state == SHCA_CM_SIDR_REQ_RCVD && conn->remote_id == mad->local_id &&
			memcmp(conn->path.remote, at->path->remote, SHCA_MAD_GID_BYTES) == 0)
			return; /* The answer is on its way. */
	conn = shca_conn_create(at->cm, at->path);
	if (conn == NULL) {
		at->cm->dropped++;
		return;
	}
	conn->remote_id = mad->local_id;
	conn->tid = mad->tid;
	conn->service_id = mad->service_id;
	shca_conn_rest(conn, SHCA_CM_SIDR_REQ_RCVD);
	offer(at, conn, SHCA_MAD_SIDR_UNSUPPORTED);
}

/** @return the connection of both IDs; who has sent a REQ does not know the other one yet. */
static struct shca_cm_conn *
find(const struct arrival *at)
{
	struct shca_cm_conn *conn = shca_conn_find(at->cm, at->mad->remote_id);

	if (conn == NULL)
		return NULL;
	if (conn->state == SHCA_CM_REQ_SENT || conn->state == SHCA_CM_MRA_REQ_RCVD ||
		conn->state == SHCA_CM_SIDR_REQ_SENT || conn->remote_id == at->mad->local_id)
		return conn;
	return NULL;
}

/** 12.6.7.3: who gave up may not have known our ID, and names its own and its GUID. */
static struct shca_cm_conn *
find_given_up(const struct arrival *at)
{
	struct shca_cm_conn *conn;
	uint64_t guid = 0;

	if (at->mad->kind != SHCA_MAD_REJ || at->mad->reason != SHCA_MAD_TIMEOUT)
		return NULL;
	for (unsigned int i = 0; i < sizeof(guid); i++)
		guid = guid << 8 | at->mad->info[i];
	TAILQ_FOREACH (conn, &at->cm->conns, link)
		if (conn->remote_guid != 0 && conn->remote_guid == guid &&
			conn->remote_id == at->mad->local_id)
			return conn;
	return NULL;
}

/** 12.9.8.3.3: a DREQ is answered even when its connection is forgotten. */
static void
answer_nobody(const struct arrival *at)
{
	const struct shca_mad drep = {
		.kind = SHCA_MAD_DREP,
		.tid = at->mad->tid,
		.local_id = at->mad->remote_id,
		.remote_id = at->mad->local_id,
	};

	if (at->mad->kind == SHCA_MAD_DREQ)
		at->cm->ops.send(at->cm->ops.arg, at->path, &drep);
	else
		at->cm->dropped++;
}

void
shca_cm_receive(struct shca_cm *cm, uint64_t now, const struct shca_cm_path *path,
	const uint8_t *bytes, size_t length)
{
	struct shca_mad mad;
	const struct arrival at = { .cm = cm, .path = path, .mad = &mad, .now = now };
	struct shca_cm_conn *conn;

	if (shca_mad_read(bytes, length, &mad) != 0) {
		cm->dropped++;
		return;
	}
	if (mad.kind == SHCA_MAD_REQ) {
		take_req(&at);
		return;
	}
	if (mad.kind == SHCA_MAD_SIDR_REQ) {
		take_sidr_req(&at);
		return;
	}
	conn = find(&at);
	if (conn == NULL)
		conn = find_given_up(&at);
	if (conn != NULL && conn->is_xrc_ini && mad.kind == SHCA_MAD_REP)
		mad.qpn = mad.eecn;
	if (conn != NULL)
		take(&at, conn);
	else
		answer_nobody(&at);
}
