/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Default steering: the packets that the port receives when no rule of the application matches.
 *
 *     promiscuous     everything
 *     otherwise       own MACs; and
 *       allmulticast  all group addresses
 *       otherwise     broadcast, IPv6 multicast (33:33:*), the multicast list
 *
 * Outside of promiscuous mode, with the VLAN filter on and with VLANs in it, each rule exists once
 * for each VLAN (no spec of verbs matches untagged frames only, so the kernel gets these). Each
 * rule also exists once for each hash class of the port's RSS types. All are behind the
 * application's rules. With sniff=rx they copy; with sniff=all there is one SNIFFER rule instead.
 * In isolated mode there are none.
 *
 * Rules to the same destinations are one set, which has one table (flow_level.h): a packet that
 * several of them match is received once. After a change of RETA or RSS the new set has another
 * table than the old one until the old one is gone, so a packet is taken exactly once; sniffed
 * packets may come twice meanwhile. The set is computed from the port's state and compared with the
 * installed one; only the difference reaches the device.
 */
#ifndef MDV_FLOW_DEFAULT_H
#define MDV_FLOW_DEFAULT_H

#include <stdint.h>

#include <infiniband/verbs.h>
#include <rte_ether.h>

#include "device/devargs.h"
#include "flow/place/flow_level.h"
#include "flow_dest.h"
#include "flow_state.h"

struct mdv_port;

/** The match of a default rule; without padding, so that memcmp() compares two. */
struct mdv_flow_default_match {
	uint8_t dst[6], mask[6];
	rte_be16_t tci, tci_mask; /**< mask 0: tagged and untagged */
};

/** The verbs rule of one hash class. */
struct mdv_flow_default_part {
	enum mdv_rss_class_id id;
	struct mdv_flow_dest *dest;
	struct ibv_flow *flow;
};

/** One installed rule. */
struct mdv_flow_default_rule {
	TAILQ_ENTRY(mdv_flow_default_rule) next;
	struct mdv_flow_default_match match;
	struct mdv_flow_level_rule level;
	enum mdv_sniff sniff;
	uint32_t set;
	bool wanted; /**< belongs to the set that is being applied */
	uint8_t nb_parts;
	struct mdv_flow_default_part parts[MDV_RSS_NB_CLASSES]; /**< most specific first */
};

/**
 * Compute the matches that the port's state asks for.
 * @param matches the first @p room of them
 * @return the number of matches, also if it is more than @p room
 */
uint32_t mdv_flow_default_matches(
	const struct mdv_port *port, struct mdv_flow_default_match *matches, uint32_t room);
/** Replace the port's multicast list, under flow.lock: a queue's recovery may read it. The caller
 * applies it, and may then free the list before. */
void mdv_flow_default_set_groups(struct mdv_port *port, struct rte_ether_addr *list, uint32_t nb);
/** @return whether the port's multicast list has @p mac, in any thread that holds the port */
bool mdv_flow_default_has_group(const struct mdv_port *port, const struct rte_ether_addr *mac);
/**
 * Make the installed default rules match the port's state (MACs, promiscuous, allmulticast, RETA,
 * RSS conf), which has changed; add before removing. On failure the installed set stays as it was.
 * @return 0 (also when stopped or isolated) or a negative errno, logged.
 */
int mdv_flow_default_update(struct mdv_port *port);
/** Make the installed set match the port's state. Under flow.lock, with the queues started. */
int mdv_flow_default_apply(struct mdv_port *port);
/** Take all default rules out of the device. Under flow.lock. */
void mdv_flow_default_clear(struct mdv_port *port);

/** Build the attribute of one part of a rule. @return 0 or -E2BIG */
int mdv_flow_default_build(const struct mdv_port *port, const struct mdv_flow_default_rule *rule,
	enum mdv_rss_class_id id, uint8_t level, struct mdv_flow_build *build);
/** Put a default rule into another level, before it leaves its old level. */
int mdv_flow_default_move(
	struct mdv_port *port, struct mdv_flow_level_rule *level_rule, uint8_t level);

#endif /* MDV_FLOW_DEFAULT_H */
