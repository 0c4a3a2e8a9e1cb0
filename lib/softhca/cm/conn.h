/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A connection, for the files of this room. */
#ifndef SHCA_CM_CONN_H
#define SHCA_CM_CONN_H

#include <sys/queue.h>

#include "cm/cm.h"

#define SHCA_CONN_NEVER UINT64_MAX

/** Local IDs: the slot in the low bits, and above it how often that was used. */
#define SHCA_CONN_SLOT_BITS 20

struct shca_cm_conn {
	TAILQ_ENTRY(shca_cm_conn) link;
	struct shca_cm *cm;
	void *owner; /* NULL: has gone */
	enum shca_cm_state state;
	struct shca_cm_path path;
	uint32_t local_id, remote_id; /* remote 0: not known */
	bool is_xrc_ini, is_xrc_tgt; /* of a queue pair of XRC that asks, or is asked (annex A14) */
	bool is_known;               /* who the other side is: by its REQ or REP */
	uint64_t remote_guid;
	uint32_t local_qpn, remote_qpn;
	uint64_t tid;        /* of the REQ or SIDR_REQ that came */
	uint64_t service_id; /* of a SIDR_REQ */
	uint8_t ack_timeout;
	uint64_t timeout_ns;  /* until a message is sent again */
	unsigned int retries; /* left for it */
	uint8_t max_retries;
	uint64_t deadline;
	struct shca_mad sent; /* the last message, to be sent again; kind 0: there is none */
};

struct shca_cm {
	struct shca_cm_ops ops;
	TAILQ_HEAD(, shca_cm_conn) conns;
	unsigned int nb_conns;
	struct shca_cm_conn **slot;
	uint32_t *uses; /* of each slot */
	uint32_t nb_slots;
	uint64_t next_tid;
	uint64_t dropped;
};

/** @return a connection in state IDLE with a local ID, or NULL: no memory. */
struct shca_cm_conn *shca_conn_create(struct shca_cm *cm, const struct shca_cm_path *path);
void shca_conn_free(struct shca_cm_conn *conn);
/** @return the connection of this ID of ours, or NULL. */
struct shca_cm_conn *shca_conn_find(const struct shca_cm *cm, uint32_t local_id);

/** @{ Messages. */
/** Fill in the IDs, and remember it as sent: shca_conn_send_again() sends it. */
void shca_conn_prepare(struct shca_cm_conn *conn, const struct shca_mad *mad);
/** The same, and send it. */
void shca_conn_send(struct shca_cm_conn *conn, const struct shca_mad *mad);
/** The same, with nothing but private data (or NULL). */
void shca_conn_send_kind(
	struct shca_cm_conn *conn, enum shca_mad_kind kind, const uint8_t *private_data);
/** Send the last message again if it is of this kind. */
void shca_conn_send_again(struct shca_cm_conn *conn, enum shca_mad_kind kind);
/** @return whether a REQ is for queue pairs of XRC. */
bool shca_conn_is_xrc(const struct shca_mad *req);
/** REJ for no connection of ours. */
void shca_conn_refuse(struct shca_cm *cm, const struct shca_cm_path *path,
	const struct shca_mad *mad, uint16_t reason);
/** @} */

/** @{ States. */
/** Wait for an answer to what was sent. */
void shca_conn_wait(struct shca_cm_conn *conn, enum shca_cm_state state, uint64_t now);
/** No timer runs. */
void shca_conn_rest(struct shca_cm_conn *conn, enum shca_cm_state state);
/** 12.9.8: packets on their way may still come. */
void shca_conn_enter_timewait(struct shca_cm_conn *conn, uint64_t now);
/** Tell the owner, if there is one; else a connection that is IDLE is freed. */
void shca_conn_tell(
	struct shca_cm_conn *conn, enum shca_cm_happening what, const struct shca_mad *mad);
/** @} */

#endif /* SHCA_CM_CONN_H */
