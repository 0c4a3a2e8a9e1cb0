/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The match of a rule as value and mask of one fixed record, so that two matches can be compared.
 *
 * The fields lie as in the device's match parameter (fte_match_param of Linux's mlx5_ifc.h): IPv4
 * and IPv6 addresses share their bytes, TCP and UDP ports do not. Two rules with the same mask here
 * are in one flow group of a table, whatever specs they have. Pure.
 */
#ifndef MDV_FLOW_KEY_H
#define MDV_FLOW_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "flow_build.h"

#define MDV_FLOW_KEY_WORDS 23

struct mdv_flow_key {
	uint64_t words[MDV_FLOW_KEY_WORDS];
};

struct mdv_flow_match {
	struct mdv_flow_key value; /**< zero outside the mask */
	struct mdv_flow_key mask;
	uint32_t used; /**< bit i: the mask has bits in word i; most words have none */
	uint8_t depth; /**< of the deepest layer named: 0 L2, more for MPLS, L3, L4, tunnel, inner
			*/
};

/** Most matches have at most so many words: protocols, IPv4 addresses, ports. */
#define MDV_FLOW_PACKED_FEW 4

/** A match in less room: rules are many, and most words of their masks are zero. */
struct mdv_flow_packed {
	uint32_t used;                         /**< as in struct mdv_flow_match */
	uint64_t *many;                        /**< NULL: the words are in few[] */
	uint64_t few[2 * MDV_FLOW_PACKED_FEW]; /**< value and mask of each word */
};

/** Clear the tag bits of these sides; the match on having a tag stays. */
void mdv_flow_key_any_tag(struct mdv_flow_match *match, uint8_t sides);
/**
 * Compute the match of @p build; action specs match nothing.
 * @return 0, or -EINVAL: a spec has no row in flow_spec.h, and @p match is undefined
 */
int mdv_flow_key_match(const struct mdv_flow_build *build, struct mdv_flow_match *match);
/** Set @p match->used by its mask, which was not made by this file. */
void mdv_flow_key_set_used(struct mdv_flow_match *match);
bool mdv_flow_key_equal(const struct mdv_flow_key *a, const struct mdv_flow_key *b);
/** @return 0, or -ENOMEM and nothing to be freed */
int mdv_flow_key_pack(const struct mdv_flow_match *match, struct mdv_flow_packed *packed);
void mdv_flow_key_packed_free(struct mdv_flow_packed *packed);
/** Restore all of @p match except its depth. */
void mdv_flow_key_unpack(const struct mdv_flow_packed *packed, struct mdv_flow_match *match);
/** @return whether both have the same value; the caller knows that the masks are the same. */
bool mdv_flow_key_packed_equal(
	const struct mdv_flow_packed *packed, const struct mdv_flow_key *value);
/** Hash the mask, and mask with value. */
void mdv_flow_key_hash(const struct mdv_flow_match *match, uint64_t *mask, uint64_t *whole);
/** The second of them. @param mask the first */
uint64_t mdv_flow_key_hash_whole(const struct mdv_flow_match *match, uint64_t mask);

#endif /* MDV_FLOW_KEY_H */
