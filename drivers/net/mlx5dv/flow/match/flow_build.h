/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A growing ibv_flow_attr: the header, followed by the specs without padding.
 *
 *     | ibv_flow_attr 20 | ETH 40 | IPV4_EXT 32 | UDP 16 | TAG 12 | ...
 *
 * Behind the header's 20 bytes every spec is at a multiple of 4 and none is naturally aligned, so
 * specs are read and written by memcpy() only. Pure: no verbs call, no lock.
 */
#ifndef MDV_FLOW_BUILD_H
#define MDV_FLOW_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rte_byteorder.h>

#include "flow_spec.h"
#include "rss.h"

/** The kernel's limit: drivers/infiniband/core/uverbs_cmd.c ib_uverbs_ex_create_flow. */
#define MDV_FLOW_BUILD_SPECS 10
#define MDV_FLOW_BUILD_BYTES                                                                       \
	(sizeof(struct ibv_flow_attr) + MDV_FLOW_BUILD_SPECS * sizeof(struct ibv_flow_spec))

/** The outer headers of the packet, or those inside its tunnel. */
enum mdv_flow_build_side {
	MDV_FLOW_BUILD_OUTER,
	MDV_FLOW_BUILD_INNER,
	MDV_FLOW_BUILD_SIDES,
};

struct mdv_flow_build {
	union {
		struct ibv_flow_attr attr; /**< size and num_of_specs are always current */
		uint8_t bytes[MDV_FLOW_BUILD_BYTES];
	};
	uint32_t layers; /**< MDV_LAYER_* matched, and MDV_LAYER_INNER() of them */
	/** A bit for each side whose ETH spec asks for any tag. The device recognises a tag only
	 * by its bits, so any tag takes two attributes, one for each value of DEI. */
	uint8_t any_tag;
	struct {
		uint16_t eth_at; /**< offset of the ETH spec in bytes[], 0: none */
		uint16_t l3_at;  /**< offset of the IP spec, 0: none */
	} sides[MDV_FLOW_BUILD_SIDES];
	uint32_t nb_items;   /**< of the pattern that it was made of, END included; 0: of none */
	uint32_t item_bytes; /**< of what they point to */
};

/** Start without specs: matches every packet. */
void mdv_flow_build_init(struct mdv_flow_build *build);
/** Assign the match, but leave out the bytes behind the last spec, which are most. */
void mdv_flow_build_copy(struct mdv_flow_build *to, const struct mdv_flow_build *from);
/** @return the offset of the copy of @p spec in bytes[], or -E2BIG. */
int mdv_flow_build_append(struct mdv_flow_build *build, const void *spec, uint16_t size);
/** Append a spec that masks nothing yet. @return its offset in bytes[], or -E2BIG. */
int mdv_flow_build_add_spec(
	struct mdv_flow_build *build, enum mdv_flow_spec_id id, enum mdv_flow_build_side side);
/** Start with a match on the destination MAC under a mask. */
void mdv_flow_build_eth(struct mdv_flow_build *build, const uint8_t dst[6], const uint8_t mask[6]);
/** Narrow the match to frames with a VLAN tag; there is an ETH spec. */
void mdv_flow_build_vlan(struct mdv_flow_build *build, rte_be16_t tci, rte_be16_t mask);

/** Ask for any tag on a side that has an ETH spec; the attribute is that of DEI 0. */
void mdv_flow_build_any_tag(struct mdv_flow_build *build, enum mdv_flow_build_side side);
/** @return how many attributes the match takes: 1, 2 or 4. */
static inline unsigned int
mdv_flow_build_nb_entries(const struct mdv_flow_build *build)
{
	return 1u << __builtin_popcount(build->any_tag);
}
/** Turn the attribute into number @p half of these. */
void mdv_flow_build_set_half(struct mdv_flow_build *build, unsigned int half);

/**
 * Take a type given before out of the ETH spec: an L3 item says all about the Ethernet type.
 * @return false if it contradicts @p type
 */
bool mdv_flow_build_fold_type(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, rte_be16_t type);
/** The same for an L4 item and the protocol field of the IP spec. */
bool mdv_flow_build_fold_proto(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, uint8_t proto);
/** Put the protocol into the IP spec, which must be there: for protocols without a spec of their
 * own. */
bool mdv_flow_build_pin_proto(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, uint8_t proto);
/** @return the layers of one side, without MDV_LAYER_INNER_SHIFT. */
uint32_t mdv_flow_build_layers(const struct mdv_flow_build *build, enum mdv_flow_build_side side);
/**
 * Narrow the match to packets that also have these layers (L3 and L4 ones, outer and inner).
 * @return 0, -EINVAL when no packet of the match has them, -E2BIG
 */
int mdv_flow_build_add_layers(struct mdv_flow_build *build, uint32_t layers);

/**
 * Make the build match half of its packets, by a bit of an address that its mask leaves open, and
 * make @p other match the rest.
 * @return 0, -E2BIG, or -ENOENT: no bit is open
 */
int mdv_flow_build_split(struct mdv_flow_build *build, struct mdv_flow_build *other);

/** @return where the first spec of @p type is in bytes[]; 0: there is none. */
uint16_t mdv_flow_build_find(const struct mdv_flow_build *build, uint32_t type);

/** Add an action. @return 0 or -E2BIG */
int mdv_flow_build_tag(struct mdv_flow_build *build, uint32_t tag);
/** Give the TAG at @p at, by mdv_flow_build_find(), another tag. */
void mdv_flow_build_set_tag(struct mdv_flow_build *build, uint16_t at, uint32_t tag);
int mdv_flow_build_drop(struct mdv_flow_build *build);
int mdv_flow_build_count(struct mdv_flow_build *build, struct ibv_counters *counters);
/** Take the COUNT away, which was appended last. */
void mdv_flow_build_uncount(struct mdv_flow_build *build);
int mdv_flow_build_action(struct mdv_flow_build *build, const struct ibv_flow_action *action);

/**
 * @return whether the first spec is one of a group address, for which mdv_flow_build_finish() puts
 * another before it if the rule does not copy
 */
bool mdv_flow_build_is_multicast(const struct mdv_flow_build *build);
/**
 * Fill in the header, and keep the kernel from moving a multicast rule behind all others.
 * @param port_num physical port, from 1
 * @return 0 or -E2BIG
 */
int mdv_flow_build_finish(
	struct mdv_flow_build *build, uint16_t priority, uint8_t port_num, bool dont_trap);

#endif /* MDV_FLOW_BUILD_H */
