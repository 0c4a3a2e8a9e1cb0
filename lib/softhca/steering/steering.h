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
 * An entry may change the frames it matches (modify.h). The walk returns there: the caller gives
 * the unchanged frame to the destinations so far, changes it, and goes on with the changed one.
 *
 * A rule, the result of ibv_create_flow, owns one reference on an FTE, or more for the default
 * types; rules with the same match share the FTE, whose destinations are the union.
 *
 * Not thread-safe: the device lock (hw/device/device.h) covers it. Steering does not look into
 * TIRs: destinations are the caller's pointers.
 */
#ifndef SHCA_STEERING_STEERING_H
#define SHCA_STEERING_STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/profile.h"
#include "steering/match/modify.h"
#include "steering/match/parse.h"

struct shca_context;
struct shca_fte;
struct shca_steering;
struct shca_rule;

/** Counts of a counters object; the owner keeps it alive while a rule names it. */
struct shca_flow_counter {
	uint64_t packets;
	uint64_t bytes; /**< whole frames without FCS */
};

/** Capabilities of the device, from the model. */
struct shca_steering_conf {
	bool dont_trap;
	bool sniffer;
	uint32_t tunnel_offloads; /**< gates GRE and MPLS specs */
	bool inner_ip_version;    /**< inner IP specs match the version, not the EtherType */
	bool esp_spi;             /**< the kernel has ESP specs (gone with Linux 5.19) */
	bool reformat_and_fwd_to_table, reformat_and_modify_action; /**< in one entry */
	/** Most of each in one entry (log_max_destination, log_max_flow_counter); 0: no limit */
	uint32_t max_fte_destinations, max_fte_counters;
	/** Of an e-switch's manager: a rule is of one port, and none is for sending (mlx5_ib fs.c,
	 * dev->is_rep). */
	bool is_rep;
	enum shca_profile profile; /**< an older card's limits (profile.h) */
};

/** A create_flow request after the uverbs checks that need objects (port, handles). */
struct shca_rule_attr {
	uint32_t type;  /**< IB_UVERBS flow attr type: 0 NORMAL, 1 ALL_DEFAULT, 2 MC_DEFAULT, 3
			   SNIFFER */
	uint32_t flags; /**< 2 DONT_TRAP, 4 EGRESS */
	uint16_t priority;
	/** Of an e-switch's manager: frames of this port only; 0: it has no representor. */
	uint16_t source_port;
	uint8_t nb_specs;
	const void *specs;   /**< kernel ABI specs back to back, unaligned, borrowed for the call */
	size_t specs_length; /**< bytes */
	void *tir;           /**< destination; NULL: a QP without a receive side */
	struct shca_flow_counter *counter; /**< of the one ACTION_COUNT spec, or NULL */
	struct shca_context *context;      /**< whose it is, for dumps; NULL: nobody's */
	/** Of the ACTION_HANDLE specs, in their order, alive as long as the rule. NULL: a HANDLE is
	 * refused. */
	const struct shca_modify *const *modify_set;
};

struct shca_param;

/** A request of mlx5dv_create_flow: a match in the device's form (steering/match/param.h). */
struct shca_raw_rule_attr {
	bool egress;
	uint16_t priority;
	uint8_t criteria;
	const struct shca_param *mask, *value; /**< borrowed for the call */
	bool drop;
	bool default_miss; /**< pass the frame on to the netdev; excludes drop */
	bool tag;
	uint32_t flow_tag;                 /**< 24 bits */
	void *tir;                         /**< destination, or NULL */
	struct shca_context *context;      /**< whose it is, for dumps; NULL: nobody's */
	struct shca_modify_set modify_set; /**< changes to frames */
};

/** Commands to firmware so far. */
struct shca_steering_commands {
	uint64_t tables; /**< made and destroyed; groups and entries likewise */
	uint64_t groups;
	uint64_t entries; /**< also changed: a rule joins or leaves one */
	/** Entries written again because the table that they forward to is another (fs_core.c,
	 * connect_fwd_rules). */
	uint64_t rewrites;
};

/** The Linux netdev beside the port, as far as steering sees it. */
struct shca_kernel_filter {
	bool present;
	bool promiscuous;
	uint8_t mac[6];
	/** Addresses that it lists, borrowed as long as this filter is set; groups do not count. */
	const uint8_t (*macs)[6];
	unsigned int nb_macs;
	/** The netdev has joined no multicast group; false: it counts as joined to all, and its own
	 * filter decides. */
	bool no_multicast;
};

struct shca_destination {
	void *tir;
	uint32_t flow_tag; /**< 0: untagged */
};

/** The result of a walk. Arrays belong to the steering object and live until the next walk or rule
 * change. */
struct shca_verdict {
	const struct shca_destination *destination;
	unsigned int nb_destinations;
	bool to_kernel; /**< the netdev takes it */
	bool dropped;   /**< a DROP rule ended the walk (rx), or forbids sending (tx) */
	/** Not NULL: the walk is not at its end. The destinations so far get the frame unchanged;
	 * then the caller changes it and, for a received one, calls shca_walk_rx_on(). */
	const struct shca_modify_set *modify_set;
	const struct shca_fte *waits_at;
	unsigned int waits_in; /**< number of the table in its path */
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
 * action or tag), -ENOSPC (table full), -ENXIO (beyond the limits of static A0); an error changes
 * nothing.
 */
int shca_rule_add(
	struct shca_steering *steering, const struct shca_rule_attr *attr, struct shca_rule **rule);
/** As shca_rule_add(), for a rule of a matcher: same tables, same priorities. */
int shca_rule_add_raw(struct shca_steering *steering, const struct shca_raw_rule_attr *attr,
	struct shca_rule **rule);
/** @return whether @p rule, which does not drop, has its first entry together with others */
bool shca_rule_shares_entry(const struct shca_rule *rule);
/** Never fails. NULL is allowed. */
void shca_rule_del(struct shca_steering *steering, struct shca_rule *rule);
/** @return the number of installed rules that receive (not EGRESS, not DROP). */
unsigned int shca_steering_nb_receiving(const struct shca_steering *steering);

/** Steer a received frame, and count it at the entries it hits. */
void shca_walk_rx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);
/**
 * Go on with a frame after the change in @p verdict.
 * @param verdict of shca_walk_rx() or of the last call; returns with further destinations only
 */
void shca_walk_rx_on(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);
struct shca_cache_trail;
/** @return the entries that the frame of the last shca_walk_rx() hit, valid until a rule changes;
 * NULL: more than a trail names. */
const struct shca_cache_trail *shca_walk_trail(const struct shca_steering *steering);
/** Count frames that hit the same entries. @param bytes of all frames */
void shca_walk_count(const struct shca_cache_trail *trail, uint64_t nb_frames, uint64_t bytes);
/** Steer a frame about to be sent (EGRESS rules, sniffer copies). Never sets to_kernel; an entry
 * that changes the frame ends the walk. */
void shca_walk_tx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict);

/** @return a number that differs after each change of a rule or of the kernel's filter; never 0. */
uint64_t shca_steering_generation(const struct shca_steering *steering);

/** @return what was asked of firmware so far. */
const struct shca_steering_commands *shca_steering_commands(const struct shca_steering *steering);

/** @return whether any rule is for frames about to be sent; else shca_walk_tx() does nothing. */
bool shca_steering_walks_tx(const struct shca_steering *steering);

/** Print every table in evaluation order, its groups and entries, in the form of mlx_fs_dump. */
void shca_steering_dump(const struct shca_steering *steering, FILE *out);

#endif /* SHCA_STEERING_STEERING_H */
