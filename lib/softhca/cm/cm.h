/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Connections: both sides of the protocol of InfiniBand Architecture Specification volume 1,
 * chapter 12, by the states of 12.9.7. What Linux decides where the specification leaves it open
 * is from Linux 6.1, drivers/infiniband/core/cm.c.
 *
 * Messages come in by shca_cm_receive() and go out by a callback; time is an argument, in
 * nanoseconds from any start. Not thread-safe. Callbacks may call any function here, and release
 * the connection that they are about.
 */
#ifndef SHCA_CM_CM_H
#define SHCA_CM_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "cm/mad.h"

struct shca_cm;
struct shca_cm_conn;

/** Where messages of a connection go, and come from. */
struct shca_cm_path {
	uint32_t port; /**< a number of the caller's for the port here */
	uint8_t local[SHCA_MAD_GID_BYTES], remote[SHCA_MAD_GID_BYTES];
};

/** The states of 12.9.7, and of SIDR (12.11). */
enum shca_cm_state {
	SHCA_CM_IDLE,
	SHCA_CM_REQ_SENT,
	SHCA_CM_REQ_RCVD,
	SHCA_CM_MRA_REQ_SENT,
	SHCA_CM_MRA_REQ_RCVD,
	SHCA_CM_REP_SENT,
	SHCA_CM_REP_RCVD,
	SHCA_CM_MRA_REP_SENT,
	SHCA_CM_MRA_REP_RCVD,
	SHCA_CM_ESTABLISHED,
	SHCA_CM_DREQ_SENT,
	SHCA_CM_DREQ_RCVD,
	SHCA_CM_TIMEWAIT,
	SHCA_CM_SIDR_REQ_SENT,
	SHCA_CM_SIDR_REQ_RCVD,
	SHCA_CM_NB_STATES,
};

/** What happens to a connection. */
enum shca_cm_happening {
	SHCA_CM_REP,              /**< shca_cm_establish() or shca_cm_reject() follows */
	SHCA_CM_RTU,              /**< it is established */
	SHCA_CM_USER_ESTABLISHED, /**< by shca_cm_notify() */
	SHCA_CM_REJ,
	SHCA_CM_DREQ, /**< shca_cm_confirm() follows */
	SHCA_CM_DREP,
	SHCA_CM_UNREACHABLE, /**< no answer to REQ, REP or SIDR_REQ */
	SHCA_CM_DREQ_LOST,   /**< no answer to DREQ */
	SHCA_CM_TIMEWAIT_EXIT,
	SHCA_CM_SIDR_REP,
};

/** What a caller does for a manager. */
struct shca_cm_ops {
	void (*send)(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad);
	/**
	 * A REQ or SIDR_REQ has come.
	 * @param[out] reason of a refusal: of a REJ (12.6.7.2; 0: none is sent, so that the REQ
	 * comes again), or status of a SIDR_REP
	 * @return the owner of @p conn from now on, or NULL: it is refused.
	 */
	void *(*request)(
		void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason);
	/** @param mad the message that has come, or NULL */
	void (*event)(
		void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad);
	void *arg;
	/** Of the manager's IDs, as core/cm.c cm.random_id_operand: others that have a connection
	 * with one that is gone must not take the next one's for those. */
	uint32_t id_operand;
};

/** @return a manager, or NULL: no memory. */
struct shca_cm *shca_cm_create(const struct shca_cm_ops *ops);
/** Forget all connections, without a word to anybody. NULL is allowed. */
void shca_cm_destroy(struct shca_cm *cm);
/** @return 4.096 us * 2^n, as timeouts are told: @p n has 5 bits. */
static inline uint64_t
shca_cm_time(uint8_t n)
{
	return UINT64_C(4096) << (n & 31);
}

/** A datagram of class CommMgt that came to port @p path->port of the caller's. */
void shca_cm_receive(struct shca_cm *cm, uint64_t now, const struct shca_cm_path *path,
	const uint8_t *bytes, size_t length);
/** Do what is due. @return when something is due next; UINT64_MAX: nothing is. */
uint64_t shca_cm_run(struct shca_cm *cm, uint64_t now);

/**
 * Send a REQ or SIDR_REQ. IDs and the transaction are filled in here.
 * @return 0, -ENOMEM
 */
int shca_cm_request(struct shca_cm *cm, uint64_t now, const struct shca_cm_path *path,
	const struct shca_mad *mad, void *owner, struct shca_cm_conn **conn);
/** @{ Answer. The message's IDs are filled in. @return 0, or -EINVAL: not in this state. */
/** REP, or SIDR_REP, after which the connection is IDLE. */
int shca_cm_reply(struct shca_cm_conn *conn, uint64_t now, const struct shca_mad *mad);
/** RTU. @param private_data SHCA_MAD_PRIVATE_MAX bytes, or NULL */
int shca_cm_establish(struct shca_cm_conn *conn, const uint8_t *private_data);
/** REJ. @param mad its reason, info and private data */
int shca_cm_reject(struct shca_cm_conn *conn, const struct shca_mad *mad);
/** MRA: the answer takes up to 4.096 us * 2^n more. It is sent to who asks again, as Linux's RDMA
 * CM wants it (IB_CM_MRA_FLAG_DELAY). */
int shca_cm_delay(struct shca_cm_conn *conn, uint8_t n);
/** DREQ. @param private_data as above */
int shca_cm_disconnect(struct shca_cm_conn *conn, uint64_t now, const uint8_t *private_data);
/** DREP. */
int shca_cm_confirm(struct shca_cm_conn *conn, uint64_t now, const uint8_t *private_data);
/** Data has come before the RTU, so that the connection is established (12.9.7.2). */
int shca_cm_notify(struct shca_cm_conn *conn);
/** @} */
/** The owner goes: what the other side waits for is refused or ended. NULL is allowed. */
void shca_cm_release(struct shca_cm_conn *conn, uint64_t now);

enum shca_cm_state shca_cm_state(const struct shca_cm_conn *conn);
const struct shca_cm_path *shca_cm_path(const struct shca_cm_conn *conn);
/** Messages that were dropped: malformed, of no connection, or not due in its state. */
uint64_t shca_cm_dropped(const struct shca_cm *cm);
/** @return connections, those whose owner has gone included. */
unsigned int shca_cm_nb(const struct shca_cm *cm);

#endif /* SHCA_CM_CM_H */
