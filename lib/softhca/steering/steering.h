/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The flow steering of one port, with the semantics of Linux's mlx5_ib
 * (drivers/infiniband/hw/mlx5/fs.c, net/ethernet/mellanox/mlx5/core/fs_core.c), restated in
 * doc/design/steering.md.
 *
 * A received frame walks a list of flow tables (FT):
 *
 *     D(0) T(0) D(1) T(1) ... D(15) T(15) M ── ethtool ── kernel netdev ── LEFTOVERS ── dropped
 *
 * D(p) holds the DONT_TRAP rules of verbs priority p, T(p) the others, M the multicast-only ones of
 * any priority, and the ethtool tables the netdev's own (ethtool.h). An FT is a list of flow groups
 * (FG), one match mask each, in index order; an FG is a hash of flow table entries (FTE), one match
 * value each. At most one FTE a table is hit: the first group's that matches. A hit in D copies to
 * the FTE's destinations and goes on with the next table; a hit elsewhere delivers and ends.
 * SNIFFER is a pipeline of its own that copies all received and all sent frames.
 *
 * An entry may change the frames it hits (modify.h). The walk waits there: the caller has given the
 * frame as it was to those who got a copy so far, changes it, and goes on, for what follows sees
 * the changed one.
 *
 * A rule (what ibv_create_flow returns) owns one reference on an FTE, or more for the default
 * types; rules with the same match share the FTE, whose destinations are the union.
 *
 * Not thread-safe: the device lock (hw/device/device.h) covers it. Nothing here knows what a TIR
 * is; destinations are the caller's pointers.
 */
#ifndef SHCA_STEERING_STEERING_H
#define SHCA_STEERING_STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "steering/match/modify.h"
#include "steering/match/parse.h"

struct shca_fte;
struct shca_steering;
struct shca_rule;

/** What a counters object counts; the owner keeps it alive while a rule names it. */
struct shca_flow_counter {
	uint64_t packets;
	uint64_t bytes; /**< whole frames without FCS */
};

/** What the device can do; from the model. */
struct shca_steering_conf {
	bool dont_trap;
	bool sniffer;
	uint32_t tunnel_offloads; /**< gates GRE and MPLS specs */
};

/** A create_flow request after the uverbs checks that need objects (port, handles) were made. */
struct shca_rule_attr {
	uint32_t type;  /**< IB_UVERBS flow attr type: 0 NORMAL, 1 ALL_DEFAULT, 2 MC_DEFAULT, 3
			   SNIFFER */
	uint32_t flags; /**< 2 DONT_TRAP, 4 EGRESS */
	uint16_t priority;
	uint8_t nb_specs;
	const void *specs;   /**< kernel ABI specs back to back, unaligned, borrowed for the call */
	size_t specs_length; /**< bytes */
	void *tir;           /**< destination; NULL: a QP without a receive side */
	struct shca_flow_counter *counter; /**< of the one ACTION_COUNT spec, or NULL */
	/** Of the ACTION_HANDLE specs, in their order, alive as long as the rule. NULL: a HANDLE is
	 * refused. */
	const struct shca_modify *const *modify_set;
};

struct shca_param;

/** What mlx5dv_create_flow asks for: a match in the device's form (steering/match/param.h). */
struct shca_raw_rule_attr {
	bool egress;
	uint16_t priority;
	uint8_t criteria;
	const struct shca_param *mask, *value; /**< borrowed for the call */
	bool drop;
	bool default_miss; /**< hand the frame on to the netdev; not with drop */
	bool tag;
	uint32_t flow_tag;                 /**< 24 bits */
	void *tir;                         /**< destination, or NULL */
	struct shca_modify_set modify_set; /**< what it changes */
};

/** The Linux netdev beside the port, as far as steering sees it. */
struct shca_kernel_filter {
	bool present;
	bool promiscuous;
	uint8_t mac[6];
	/** No multicast group is joined; false: every one is, and the netdev's own filter decides.
	 */
	bool no_multicast;
};

struct shca_destination {
	void *tir;
	uint32_t flow_tag; /**< 0: untagged */
};

/** Where a frame goes. Arrays belong to the steering object and live until the next walk or rule
 * change. */
struct shca_verdict {
	const struct shca_destination *destination;
	unsigned int nb_destinations;
	bool to_kernel; /**< the netdev takes it */
	bool dropped;   /**< a DROP rule ended it (rx), or forbids sending it (tx) */
	/** Not NULL: nothing is decided yet but the destinations so far, which get the frame as it
	 * is. Then it is to be changed; one that is received goes on by shca_walk_rx_on(). */
	const struct shca_modify_set *modify_set;
	const struct shca_fte *waits_at;
	unsigned int waits_in; /**< which of the tables */
};

/** @return NULL when out of memory. */
struct shca_steering *shca_steering_create(const struct shca_steering_conf *conf);
/** All rules must be gone. NULL is allowed. */
void shca_steering_destroy(struct shca_steering *steering);
void shca_steering_set_kernel(
	struct shca_steering *steering, const struct shca_kernel_filter *filter);

/**
 * Install a rule with the checks and errnos of the kernel's spec parsing, mlx5_ib and fs_core, in
 * their order (doc/design/steering.md).
 *
 * @return 0, or -EINVAL, -EOPNOTSUPP, -ENOMEM (also: priority above 15), -EEXIST (same match, other
 * action or tag), -ENOSPC (table full); nothing is changed then.
 */
int shca_rule_add(
	struct shca_steering *steering, const struct shca_rule_attr *attr, struct shca_rule **rule);
/** As shca_rule_add(), for a rule of a matcher: same tables, same priorities. */
int shca_rule_add_raw(struct shca_steering *steering, const struct shca_raw_rule_attr *attr,
	struct shca_rule **rule);
/** Never fails. NULL is allowed. */
void shca_rule_del(struct shca_steering *steering, struct shca_rule *rule);
/** @return rules installed that can receive (not EGRESS, not DROP). */
unsigned int shca_steering_nb_receiving(const struct shca_steering *steering);

/** Steer a received frame; counts it at the entries it meets. */
void shca_walk_rx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);
/**
 * Go on with a frame that has been changed as @p verdict says.
 * @param verdict of shca_walk_rx() or of the last call; in the end its destinations are new ones
 */
void shca_walk_rx_on(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);
struct shca_cache_trail;
/** @return the entries that the frame of the last shca_walk_rx() met, as long as no rule changes;
 * NULL: more than a trail names. */
const struct shca_cache_trail *shca_walk_trail(const struct shca_steering *steering);
/** Count frames that met the same entries. @param bytes of all of them */
void shca_walk_count(const struct shca_cache_trail *trail, uint64_t nb_frames, uint64_t bytes);
/** Steer a frame about to be sent (EGRESS rules, sniffer copies). to_kernel is never set; an entry
 * that changes it is the last. */
void shca_walk_tx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);

/** @return a number that is another after each change of a rule or of the kernel's filter; never
 * 0. */
uint64_t shca_steering_generation(const struct shca_steering *steering);

/** @return false when no frame about to be sent meets a rule: shca_walk_tx() would do nothing. */
bool shca_steering_walks_tx(const struct shca_steering *steering);

/** Print every table in evaluation order, its groups and entries, in the form of mlx_fs_dump. */
void shca_steering_dump(const struct shca_steering *steering, FILE *out);

#endif /* SHCA_STEERING_STEERING_H */
