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
	uint8_t depth; /**< of the deepest layer named: 0 L2, 1 L3, 2 L4, 3 tunnel, 4-6 inner */
};

/** The match of what stands in @p build; action specs are skipped. */
void mdv_flow_key_match(const struct mdv_flow_build *build, struct mdv_flow_match *match);
bool mdv_flow_key_equal(const struct mdv_flow_key *a, const struct mdv_flow_key *b);
/** @return @p seed mixed with the key. */
uint64_t mdv_flow_key_hash(const struct mdv_flow_key *key, uint64_t seed);

#endif /* MDV_FLOW_KEY_H */
