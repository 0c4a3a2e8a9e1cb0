/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a rule matches, as value and mask of one fixed record, so that two matches can be compared.
 *
 * The fields lie as in the device's match parameter (fte_match_param of Linux's mlx5_ifc.h): IPv4
 * and IPv6 addresses share their bytes, TCP and UDP ports do not. Two rules with the same mask here
 * are in one flow group of a table, whatever specs they were written with. Pure.
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
	uint8_t depth; /**< of the deepest layer named: 0 L2, more for MPLS, L3, L4, tunnel, inner
			*/
};

/** So many words a match has in most rules: protocols, IPv4 addresses, ports. */
#define MDV_FLOW_PACKED_FEW 4

/** A match in less room: rules are many, and most words of their masks are zero. */
struct mdv_flow_packed {
	uint32_t used;                         /**< bit i: the mask has word i */
	uint64_t *many;                        /**< NULL: they are in few[] */
	uint64_t few[2 * MDV_FLOW_PACKED_FEW]; /**< value and mask of each word */
};

/** Forget what is in the tags of these sides, and keep that there are some. */
void mdv_flow_key_any_tag(struct mdv_flow_match *match, uint8_t sides);
/**
 * The match of what stands in @p build; action specs match nothing.
 * @return 0, or -EINVAL: a spec has no row in flow_spec.h, and @p match is undefined
 */
int mdv_flow_key_match(const struct mdv_flow_build *build, struct mdv_flow_match *match);
bool mdv_flow_key_equal(const struct mdv_flow_key *a, const struct mdv_flow_key *b);
/** @return 0, or -ENOMEM and nothing to be freed */
int mdv_flow_key_pack(const struct mdv_flow_match *match, struct mdv_flow_packed *packed);
void mdv_flow_key_packed_free(struct mdv_flow_packed *packed);
/** All of @p match but its depth. */
void mdv_flow_key_unpack(const struct mdv_flow_packed *packed, struct mdv_flow_match *match);
/** @return whether both have the same value; their masks are the same. */
bool mdv_flow_key_packed_equal(
	const struct mdv_flow_packed *packed, const struct mdv_flow_key *value);
/** Hashes of the mask, and of mask and value. */
void mdv_flow_key_hash(const struct mdv_flow_match *match, uint64_t *mask, uint64_t *whole);

#endif /* MDV_FLOW_KEY_H */
