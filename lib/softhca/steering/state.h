/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The steering object: the tables of one port, and the paths of packets through them.
 *
 * Core priority 2p is D(p), 2p + 1 is T(p), 32 is M (mlx5_ib ib_prio_to_core_prio); the same for
 * sending.
 */
#ifndef SHCA_STEERING_STATE_H
#define SHCA_STEERING_STATE_H

#include "steering/arfs.h"
#include "steering/cache.h"
#include "steering/ethtool.h"
#include "steering/profile.h"
#include "steering/steering.h"
#include "steering/table.h"

enum {
	SHCA_STATE_NB_PRIORITIES = 16, /* of verbs */
	SHCA_STATE_MULTICAST_PRIORITY = 2 * SHCA_STATE_NB_PRIORITIES,
	SHCA_STATE_NB_CORE_PRIORITIES = SHCA_STATE_MULTICAST_PRIORITY + 1,
};

/** Tables that a packet walks, in order: only those with entries. */
struct shca_state_path {
	struct shca_table *table[SHCA_STATE_NB_CORE_PRIORITIES];
	unsigned int nb_tables;
	uint64_t fields; /**< fields of all tables of the path, leftovers included */
};

/** A rule of the netdev; table NULL: none. */
struct shca_state_ethtool {
	struct shca_table *table;
	struct shca_fte *fte;
	struct ethtool_rx_flow_spec spec;
};

/** A flow of the netdev; table NULL: none. */
struct shca_state_flow {
	struct shca_table *table;
	struct shca_fte *fte;
};

struct shca_state_arfs {
	bool is_on;
	struct shca_table table[SHCA_ARFS_TABLES];
	struct shca_state_flow flow[SHCA_ARFS_FLOWS];
	unsigned int next; /**< the oldest flow, or an empty place */
};

struct shca_steering {
	struct shca_steering_conf conf;
	struct shca_table_firmware firmware;
	struct shca_kernel_filter kernel;

	struct shca_table rx[SHCA_STATE_NB_CORE_PRIORITIES];
	struct shca_table ethtool[SHCA_ETHTOOL_TABLES];
	struct shca_table leftovers;
	struct shca_table sniffer_rx;
	struct shca_table tx[SHCA_STATE_NB_CORE_PRIORITIES];
	struct shca_table sniffer_tx;

	struct shca_state_path rx_path, ethtool_path, arfs_path, tx_path;
	uint64_t paths_made_at; /**< firmware.nb_mask_changes then */
	struct shca_state_arfs arfs;
	uint32_t nb_queues; /**< of the netdev */
	struct shca_state_ethtool ethtool_rule[SHCA_ETHTOOL_LOCATIONS];
	unsigned int nb_receiving;
	struct shca_profile_a0 a0;

	uint64_t generation; /**< increases with each change of a rule or of the kernel's filter */
	struct shca_cache cache;       /**< of the generation in it */
	struct shca_cache_trail trail; /**< of the current walk */

	/** For verdicts; large enough for the longest one, so that no walk allocates. */
	struct shca_destination *destinations;
	uint32_t destinations_capacity;
};

/** Make room in verdicts for @p more destinations than now. @return 0 or -ENOMEM. */
int shca_steering_reserve(struct shca_steering *steering, uint32_t more);
struct shca_trace;
/** Walk as shca_walk_rx() with the trace's packet, and report each step; counts nothing. */
void shca_walk_trace(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict);
/** Go on after a modify, with the trace's packet changed. */
void shca_walk_trace_on(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict);
/** As shca_walk_trace(), for a frame about to be sent. */
void shca_walk_trace_tx(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict);
/** Count the commands of a table that gets its first entry, or has lost its last one: those for
 * itself, and the entries before it that forward to another table now. */
void shca_steering_connect(struct shca_steering *steering, const struct shca_table *table);
/** Note a change of a table, after each: another generation, and the paths anew if they differ. */
void shca_steering_refresh(struct shca_steering *steering);
/** Make the cache fit the present rules. */
void shca_steering_renew_cache(struct shca_steering *steering);
/** Call @p visit for each table with entries, in evaluation order: receiving, then sending. */
void shca_steering_visit(const struct shca_steering *steering,
	void (*visit)(const struct shca_table *table, void *arg), void *arg);

#endif /* SHCA_STEERING_STATE_H */
