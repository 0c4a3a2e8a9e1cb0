/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager: what its owner asks for, and what time brings. */
#include "cm/cm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn.h"

/** Transactions that begin here are told from those of others by their first half (13.4.6.4). */
#define TID_FIRST UINT64_C(0x100000000)

struct shca_cm *
shca_cm_create(const struct shca_cm_ops *ops)
{
	struct shca_cm *cm = calloc(1, sizeof(*cm));

	if (cm == NULL)
		return NULL;
	cm->ops = *ops;
	cm->next_tid = TID_FIRST;
	TAILQ_INIT(&cm->conns);
	return cm;
}

void
shca_cm_destroy(struct shca_cm *cm)
{
	if (cm == NULL)
		return;
	while (!TAILQ_EMPTY(&cm->conns))
		shca_conn_free(TAILQ_FIRST(&cm->conns));
	free(cm->slot);
	free(cm->uses);
	free(cm);
}

int
shca_cm_request(struct shca_cm *cm, uint64_t now, const struct shca_cm_path *path,
	const struct shca_mad *mad, void *owner, struct shca_cm_conn **out)
{
	const bool is_sidr = mad->kind == SHCA_MAD_SIDR_REQ;
	struct shca_cm_conn *conn = shca_conn_create(cm, path);

	if (conn == NULL)
		return -ENOMEM;
	conn->owner = owner;
	conn->tid = cm->next_tid++;
	conn->is_xrc_ini = shca_conn_is_xrc(mad);
	conn->local_qpn = mad->qpn;
	conn->ack_timeout = mad->ack_timeout;
	conn->max_retries = mad->max_cm_retries;
	/* 12.9.8.2: what the other side takes, and twice the way. */
	conn->timeout_ns =
		shca_cm_time(mad->remote_timeout) + (is_sidr ? 0 : shca_cm_time(mad->ack_timeout));
	*out = conn;
	shca_conn_wait(conn, is_sidr ? SHCA_CM_SIDR_REQ_SENT : SHCA_CM_REQ_SENT, now);
	shca_conn_send(conn, mad);
	return 0;
}

static int
reply_sidr(struct shca_cm_conn *conn, const struct shca_mad *mad)
{
	struct shca_mad reply = *mad;

	reply.service_id = conn->service_id;
	shca_conn_rest(conn, SHCA_CM_IDLE);
	shca_conn_send(conn, &reply);
	return 0;
}

/** As core/cm.c cm_format_rep(): a target's number has a place of its own. */
static void
name_target(struct shca_mad *rep)
{
	rep->eecn = rep->qpn;
	rep->srq = 1;
	rep->qpn = rep->initiator_depth = rep->flow_control = 0;
}

int
shca_cm_reply(struct shca_cm_conn *conn, uint64_t now, const struct shca_mad *mad)
{
	struct shca_mad rep = *mad;

	if (conn->state == SHCA_CM_SIDR_REQ_RCVD)
		return mad->kind == SHCA_MAD_SIDR_REP ? reply_sidr(conn, mad) : -EINVAL;
	if ((conn->state != SHCA_CM_REQ_RCVD && conn->state != SHCA_CM_MRA_REQ_SENT) ||
		mad->kind != SHCA_MAD_REP)
		return -EINVAL;
	conn->local_qpn = mad->qpn;
	if (conn->is_xrc_tgt)
		name_target(&rep);
	shca_conn_wait(conn, SHCA_CM_REP_SENT, now);
	shca_conn_send(conn, &rep);
	return 0;
}

int
shca_cm_establish(struct shca_cm_conn *conn, const uint8_t *private_data)
{
	if (conn->state != SHCA_CM_REP_RCVD && conn->state != SHCA_CM_MRA_REP_SENT)
		return -EINVAL;
	shca_conn_rest(conn, SHCA_CM_ESTABLISHED);
	shca_conn_send_kind(conn, SHCA_MAD_RTU, private_data);
	return 0;
}

/** What a REJ is about in each state that may send one, one more; 0: none. */
static const uint8_t rejected[SHCA_CM_NB_STATES] = {
	[SHCA_CM_REQ_SENT] = SHCA_MAD_ABOUT_OTHER + 1,
	[SHCA_CM_MRA_REQ_RCVD] = SHCA_MAD_ABOUT_OTHER + 1,
	[SHCA_CM_REQ_RCVD] = SHCA_MAD_ABOUT_REQ + 1,
	[SHCA_CM_MRA_REQ_SENT] = SHCA_MAD_ABOUT_REQ + 1,
	[SHCA_CM_REP_SENT] = SHCA_MAD_ABOUT_OTHER + 1,
	[SHCA_CM_MRA_REP_RCVD] = SHCA_MAD_ABOUT_OTHER + 1,
	[SHCA_CM_REP_RCVD] = SHCA_MAD_ABOUT_REP + 1,
	[SHCA_CM_MRA_REP_SENT] = SHCA_MAD_ABOUT_REP + 1,
};

int
shca_cm_reject(struct shca_cm_conn *conn, const struct shca_mad *mad)
{
	struct shca_mad rej = *mad;

	if (rejected[conn->state] == 0)
		return -EINVAL;
	rej.kind = SHCA_MAD_REJ;
	rej.about = rejected[conn->state] - 1;
	shca_conn_rest(conn, SHCA_CM_IDLE);
	shca_conn_send(conn, &rej);
	return 0;
}

int
shca_cm_delay(struct shca_cm_conn *conn, uint8_t n)
{
	const bool is_req = conn->state == SHCA_CM_REQ_RCVD;
	const struct shca_mad mra = {
		.kind = SHCA_MAD_MRA,
		.about = is_req ? SHCA_MAD_ABOUT_REQ : SHCA_MAD_ABOUT_REP,
		.service_timeout = n,
	};

	if (!is_req && conn->state != SHCA_CM_REP_RCVD)
		return -EINVAL;
	conn->state = is_req ? SHCA_CM_MRA_REQ_SENT : SHCA_CM_MRA_REP_SENT;
	shca_conn_prepare(conn, &mra);
	return 0;
}

int
shca_cm_disconnect(struct shca_cm_conn *conn, uint64_t now, const uint8_t *private_data)
{
	if (conn->state != SHCA_CM_ESTABLISHED)
		return -EINVAL;
	shca_conn_wait(conn, SHCA_CM_DREQ_SENT, now);
	shca_conn_send_kind(conn, SHCA_MAD_DREQ, private_data);
	return 0;
}

int
shca_cm_confirm(struct shca_cm_conn *conn, uint64_t now, const uint8_t *private_data)
{
	if (conn->state != SHCA_CM_DREQ_RCVD)
		return -EINVAL;
	shca_conn_enter_timewait(conn, now);
	shca_conn_send_kind(conn, SHCA_MAD_DREP, private_data);
	return 0;
}

int
shca_cm_notify(struct shca_cm_conn *conn)
{
	if (conn->state == SHCA_CM_ESTABLISHED)
		return -EISCONN;
	if (conn->state != SHCA_CM_REP_SENT && conn->state != SHCA_CM_MRA_REP_RCVD)
		return -EINVAL;
	shca_conn_rest(conn, SHCA_CM_ESTABLISHED);
	shca_conn_tell(conn, SHCA_CM_USER_ESTABLISHED, NULL);
	return 0;
}

/** 12.6.7.3: who the REQ was from, as the receiver may not know our ID. */
static void
reject_for_timeout(struct shca_cm_conn *conn)
{
	struct shca_mad rej = { .reason = SHCA_MAD_TIMEOUT };
	const uint64_t guid = conn->sent.ca_guid;

	rej.info_length = sizeof(guid);
	for (unsigned int i = 0; i < sizeof(guid); i++)
		rej.info[i] = (uint8_t)(guid >> (56 - 8 * i));
	shca_cm_reject(conn, &rej);
}

/** As Linux's cm_destroy_id(). */
void
shca_cm_release(struct shca_cm_conn *conn, uint64_t now)
{
	const struct shca_mad refusal = { .reason = SHCA_MAD_CONSUMER };
	const struct shca_mad no_qp = {
		.kind = SHCA_MAD_SIDR_REP,
		.reason = SHCA_MAD_SIDR_REJECTED,
	};

	if (conn == NULL)
		return;
	conn->owner = NULL;
	switch (conn->state) {
	case SHCA_CM_REQ_SENT:
	case SHCA_CM_MRA_REQ_RCVD:
		reject_for_timeout(conn);
		break;
	case SHCA_CM_REP_SENT:
	case SHCA_CM_MRA_REP_RCVD:
	case SHCA_CM_REQ_RCVD:
	case SHCA_CM_MRA_REQ_SENT:
	case SHCA_CM_REP_RCVD:
	case SHCA_CM_MRA_REP_SENT:
		shca_cm_reject(conn, &refusal);
		break;
	case SHCA_CM_SIDR_REQ_RCVD:
		reply_sidr(conn, &no_qp);
		break;
	case SHCA_CM_SIDR_REQ_SENT:
		shca_conn_rest(conn, SHCA_CM_IDLE);
		break;
	case SHCA_CM_ESTABLISHED:
		/* A target stays for others that send to it. */
		if (conn->is_xrc_tgt)
			shca_conn_rest(conn, SHCA_CM_IDLE);
		else
			shca_cm_disconnect(conn, now, NULL);
		break;
	case SHCA_CM_DREQ_RCVD:
		shca_cm_confirm(conn, now, NULL);
		break;
	default:
		break;
	}
	/* Others end by a message or by time. */
	if (conn->state == SHCA_CM_IDLE)
		shca_conn_free(conn);
}

/** No answer has come. The other side, which may have heard it all, is not told (Linux core/cm.c
 * cm_process_send_error()). */
static void
give_up(struct shca_cm_conn *conn, uint64_t now)
{
	switch (conn->state) {
	case SHCA_CM_TIMEWAIT:
		shca_conn_rest(conn, SHCA_CM_IDLE);
		shca_conn_tell(conn, SHCA_CM_TIMEWAIT_EXIT, NULL);
		break;
	case SHCA_CM_DREQ_SENT:
		shca_conn_enter_timewait(conn, now);
		shca_conn_tell(conn, SHCA_CM_DREQ_LOST, NULL);
		break;
	default:
		shca_conn_rest(conn, SHCA_CM_IDLE);
		shca_conn_tell(conn, SHCA_CM_UNREACHABLE, NULL);
	}
}

static void
expire(struct shca_cm_conn *conn, uint64_t now)
{
	if (conn->state == SHCA_CM_TIMEWAIT || conn->retries == 0) {
		give_up(conn, now);
		return;
	}
	conn->retries--;
	conn->deadline = now + conn->timeout_ns;
	conn->cm->ops.send(conn->cm->ops.arg, &conn->path, &conn->sent);
}

uint64_t
shca_cm_run(struct shca_cm *cm, uint64_t now)
{
	uint64_t next = SHCA_CONN_NEVER;
	struct shca_cm_conn *conn;

	/* Each round begins anew: a callback may have released any. */
	do {
		next = SHCA_CONN_NEVER;
		TAILQ_FOREACH (conn, &cm->conns, link) {
			if (conn->deadline <= now)
				break;
			if (conn->deadline < next)
				next = conn->deadline;
		}
		if (conn != NULL)
			expire(conn, now);
	} while (conn != NULL);
	return next;
}

enum shca_cm_state
shca_cm_state(const struct shca_cm_conn *conn)
{
	return conn->state;
}

const struct shca_cm_path *
shca_cm_path(const struct shca_cm_conn *conn)
{
	return &conn->path;
}

uint64_t
shca_cm_dropped(const struct shca_cm *cm)
{
	return cm->dropped;
}

unsigned int
shca_cm_nb(const struct shca_cm *cm)
{
	return cm->nb_conns;
}
