/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Destinations of rules: an indirection table and the hash QP on it. Equal destinations share one
 * object by reference count, so ten thousand rules to one queue make one. Lock: the port's
 * flow.lock.
 */
#ifndef MDV_FLOW_DEST_H
#define MDV_FLOW_DEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "flow/match/rss.h"

struct ibv_qp;
struct mdv_port;
struct mdv_flow_dest;

#define MDV_FLOW_DEST_BUCKETS 256u

/** The port's destinations. Rules may spread over all of its queues: a list of all would be long.
 */
struct mdv_flow_dests {
	LIST_HEAD(, mdv_flow_dest) buckets[MDV_FLOW_DEST_BUCKETS]; /**< by queues */
	LIST_HEAD(, mdv_flow_dest) bare;                           /**< of no queue of the port */
};

/** The properties by which destinations differ. */
struct mdv_flow_dest_conf {
	uint64_t fields;    /**< mdv_rss_fields(); 0: all packets to queues[0] */
	const uint8_t *key; /**< MDV_RSS_KEY_BYTES */
	const uint16_t *queues;
	uint32_t nb_queues;
	bool again; /**< another object than that of an equal one without it */
};

/**
 * Find or make the destination. The queues must be started.
 * @return 0 and a reference in @p out, to be given back with mdv_flow_dest_put(), or a negative
 * errno
 */
int mdv_flow_dest_get(
	struct mdv_port *port, const struct mdv_flow_dest_conf *conf, struct mdv_flow_dest **out);
/**
 * The same for rules that need no queue of the port: those that drop, as verbs wants a QP there
 * too, any QP, and trials (flow_trial.h).
 * @param receives the QP has a receive queue, without a WQE, so that it can be a destination
 */
int mdv_flow_dest_get_bare(struct mdv_port *port, bool receives, struct mdv_flow_dest **out);
/** Take another reference to a destination of which the caller holds one. */
void mdv_flow_dest_hold(struct mdv_flow_dest *dest);
/** Give a reference back; @p dest may be NULL. */
void mdv_flow_dest_put(struct mdv_flow_dest *dest);
/** @return the QP that ibv_create_flow() takes. */
struct ibv_qp *mdv_flow_dest_qp(const struct mdv_flow_dest *dest);

#endif /* MDV_FLOW_DEST_H */
