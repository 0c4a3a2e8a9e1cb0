/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Default steering: what the port receives when no rule of the application says otherwise.
 *
 *     promiscuous     everything
 *     otherwise       own MACs; and
 *       allmulticast  all group addresses
 *       otherwise     broadcast, IPv6 multicast (33:33:*), the multicast list
 *
 * times the VLANs of the filter, when it is on and has any, and promiscuous mode apart (no spec of
 * verbs matches what is not tagged, so such frames are the kernel's then); times the hash classes
 * of the port's RSS types, all below the application's rules. With sniff=rx they copy, with
 * sniff=all there is one SNIFFER rule instead. In isolated mode nothing.
 *
 * Rules to the same destinations are one set, which has one table (flow_level.h): a packet that
 * several match is received once. A new set, after a change of RETA or RSS, has another table
 * than the old one until that is gone, so what is taken is never taken twice or missed; sniffed
 * packets may come twice in that moment. The set is computed anew from the port's state and
 * compared to what is installed; only the difference reaches the device.
 */
#ifndef MDV_FLOW_DEFAULT_H
#define MDV_FLOW_DEFAULT_H

#include <stdint.h>

#include <infiniband/verbs.h>

#include "device/devargs.h"
#include "flow/place/flow_level.h"
#include "flow_dest.h"
#include "flow_dest.h"
#include "flow_state.h"

struct mdv_port;

/** What a default rule matches; no padding, so that memcmp() tells. */
struct mdv_flow_default_match {
	uint8_t dst[6], mask[6];
	rte_be16_t tci, tci_mask; /**< mask 0: tagged or not */
};

/** The rule of one hash class. */
struct mdv_flow_default_part {
	enum mdv_rss_class_id id;
	struct mdv_flow_dest *rss;
	struct ibv_flow *flow;
};

/** One installed rule. */
struct mdv_flow_default_rule {
	TAILQ_ENTRY(mdv_flow_default_rule) next;
	struct mdv_flow_default_match match;
	struct mdv_flow_level_rule level;
	enum mdv_sniff sniff;
	uint32_t set;
	bool wanted; /**< by the set that is being applied */
	uint8_t nb_parts;
	struct mdv_flow_default_part parts[MDV_RSS_NB_CLASSES]; /**< most specific first */
};

/**
 * What the port's state asks for.
 * @param matches NULL, or room for as many as a call with NULL returned
 * @return how many
 */
uint32_t mdv_flow_default_matches(
	const struct mdv_port *port, struct mdv_flow_default_match *matches);
/**
 * The port's state changed (MACs, promiscuous, allmulticast, RETA, RSS conf): make the installed
 * default rules match it, adding before removing. On failure the installed set is what it was.
 * @return 0 (also when stopped or isolated) or a negative errno, logged.
 */
int mdv_flow_default_update(struct mdv_port *port);
/** Make the installed set what the port's state asks for. Under flow.lock, queues started. */
int mdv_flow_default_apply(struct mdv_port *port);
/** Take all out. Under flow.lock. */
void mdv_flow_default_clear(struct mdv_port *port);

/** The attribute of one part of a rule. @return 0 or -E2BIG */
int mdv_flow_default_build(const struct mdv_port *port, const struct mdv_flow_default_rule *rule,
	enum mdv_rss_class_id id, uint8_t level, struct mdv_flow_build *build);
/** Put a default rule into another level, there before it is gone from here. */
int mdv_flow_default_move(
	struct mdv_port *port, struct mdv_flow_level_rule *level_rule, uint8_t level);

#endif /* MDV_FLOW_DEFAULT_H */
