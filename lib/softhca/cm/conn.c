/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/conn.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_MASK ((UINT32_C(1) << SHCA_CONN_SLOT_BITS) - 1)

static int
grow(struct shca_cm *cm)
{
	const uint32_t nb = cm->nb_slots != 0 ? cm->nb_slots * 2 : 64;
	struct shca_cm_conn **slot = realloc(cm->slot, nb * sizeof(cm->slot[0]));
	uint32_t *uses;

	if (slot == NULL)
		return -1;
	cm->slot = slot;
	uses = realloc(cm->uses, nb * sizeof(cm->uses[0]));
	if (uses == NULL)
		return -1;
	cm->uses = uses;
	memset(slot + cm->nb_slots, 0, (nb - cm->nb_slots) * sizeof(slot[0]));
	memset(uses + cm->nb_slots, 0, (nb - cm->nb_slots) * sizeof(uses[0]));
	cm->nb_slots = nb;
	return 0;
}

/** An ID is never 0, and not the one that its slot had last: late messages find nobody. */
static uint32_t
take_id(struct shca_cm *cm, struct shca_cm_conn *conn)
{
	uint32_t at = 0, id;

	while (at < cm->nb_slots && cm->slot[at] != NULL)
		at++;
	if (at > SLOT_MASK || (at == cm->nb_slots && grow(cm) != 0))
		return 0;
	cm->slot[at] = conn;
	do
		id = (++cm->uses[at] << SHCA_CONN_SLOT_BITS | at) ^ cm->ops.id_operand;
	while (id == 0);
	return id;
}

static uint32_t
slot_of(const struct shca_cm *cm, uint32_t local_id)
{
	return (local_id ^ cm->ops.id_operand) & SLOT_MASK;
}

struct shca_cm_conn *
shca_conn_create(struct shca_cm *cm, const struct shca_cm_path *path)
{
	struct shca_cm_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->local_id = take_id(cm, conn);
	if (conn->local_id == 0) {
		free(conn);
		return NULL;
	}
	conn->cm = cm;
	conn->path = *path;
	conn->deadline = SHCA_CONN_NEVER;
	TAILQ_INSERT_TAIL(&cm->conns, conn, link);
	cm->nb_conns++;
	return conn;
}

void
shca_conn_free(struct shca_cm_conn *conn)
{
	struct shca_cm *cm = conn->cm;

	TAILQ_REMOVE(&cm->conns, conn, link);
	cm->nb_conns--;
	cm->slot[slot_of(cm, conn->local_id)] = NULL;
	free(conn);
}

struct shca_cm_conn *
shca_conn_find(const struct shca_cm *cm, uint32_t local_id)
{
	const uint32_t at = slot_of(cm, local_id);
	struct shca_cm_conn *conn = at < cm->nb_slots ? cm->slot[at] : NULL;

	return conn != NULL && conn->local_id == local_id ? conn : NULL;
}

void
shca_conn_prepare(struct shca_cm_conn *conn, const struct shca_mad *mad)
{
	conn->sent = *mad;
	conn->sent.local_id = conn->local_id;
	conn->sent.remote_id = conn->remote_id;
	/* 12.6.1: answers have the transaction of the REQ. */
	conn->sent.tid = conn->tid;
}

void
shca_conn_send(struct shca_cm_conn *conn, const struct shca_mad *mad)
{
	shca_conn_prepare(conn, mad);
	conn->cm->ops.send(conn->cm->ops.arg, &conn->path, &conn->sent);
}

void
shca_conn_send_kind(struct shca_cm_conn *conn, enum shca_mad_kind kind, const uint8_t *private_data)
{
	struct shca_mad mad = { .kind = (uint16_t)kind, .qpn = conn->remote_qpn };

	if (private_data != NULL)
		memcpy(mad.private_data, private_data, sizeof(mad.private_data));
	shca_conn_send(conn, &mad);
}

void
shca_conn_send_again(struct shca_cm_conn *conn, enum shca_mad_kind kind)
{
	if (conn->sent.kind == kind)
		conn->cm->ops.send(conn->cm->ops.arg, &conn->path, &conn->sent);
	else
		conn->cm->dropped++;
}

bool
shca_conn_is_xrc(const struct shca_mad *req)
{
	return req->kind == SHCA_MAD_REQ && req->transport == SHCA_MAD_EXTENDED &&
		req->extended_transport == 1;
}

void
shca_conn_refuse(struct shca_cm *cm, const struct shca_cm_path *path, const struct shca_mad *mad,
	uint16_t reason)
{
	const struct shca_mad rej = {
		.kind = SHCA_MAD_REJ,
		.tid = mad->tid,
		.local_id = mad->remote_id,
		.remote_id = mad->local_id,
		.about = mad->kind == SHCA_MAD_REQ  ? SHCA_MAD_ABOUT_REQ
			: mad->kind == SHCA_MAD_REP ? SHCA_MAD_ABOUT_REP
						    : SHCA_MAD_ABOUT_OTHER,
		.reason = reason,
	};

	cm->ops.send(cm->ops.arg, path, &rej);
}

void
shca_conn_wait(struct shca_cm_conn *conn, enum shca_cm_state state, uint64_t now)
{
	conn->state = state;
	conn->retries = conn->max_retries;
	conn->deadline = now + conn->timeout_ns;
}

void
shca_conn_rest(struct shca_cm_conn *conn, enum shca_cm_state state)
{
	conn->state = state;
	conn->deadline = SHCA_CONN_NEVER;
}

void
shca_conn_enter_timewait(struct shca_cm_conn *conn, uint64_t now)
{
	conn->state = SHCA_CM_TIMEWAIT;
	conn->deadline = now + shca_cm_time(conn->ack_timeout);
}

void
shca_conn_tell(struct shca_cm_conn *conn, enum shca_cm_happening what, const struct shca_mad *mad)
{
	if (conn->owner != NULL)
		conn->cm->ops.event(conn->cm->ops.arg, conn->owner, what, mad);
	else if (conn->state == SHCA_CM_IDLE)
		shca_conn_free(conn);
}
