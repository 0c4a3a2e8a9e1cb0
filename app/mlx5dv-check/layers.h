/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames as a list of headers, of which one byte may be another; known again by their last bytes,
 * whatever a rule does to the first.
 */
#ifndef CHECK_LAYERS_H
#define CHECK_LAYERS_H

#include <rte_flow.h>

#include "check.h"

enum check_layer {
	CHECK_LAYER_END,
	CHECK_ETH, /**< from 02:00:00:00:01:CHECK_RULE_SRC to the receiver */
	CHECK_VLAN,
	CHECK_IPV4,
	CHECK_IPV6,
	CHECK_UDP,
	CHECK_TCP,
	CHECK_ESP,
	CHECK_GRE,
	CHECK_GRE_KEY, /**< with a key */
	CHECK_NVGRE,
	CHECK_VXLAN,
	CHECK_MPLS,
	CHECK_NB_LAYERS,
};

#define CHECK_LAYERS_MAX  8
#define CHECK_LAYERS_SIZE 144

/** Bytes of a header that are others; 0 of them: none. */
struct check_patch {
	uint8_t layer; /**< index of the header */
	uint8_t at, nb;
	uint8_t bytes[16];
};

struct check_layers {
	uint8_t bytes[CHECK_LAYERS_SIZE];
	uint16_t at[CHECK_LAYERS_MAX]; /**< where each header begins */
};

/** Write a frame of CHECK_LAYERS_SIZE bytes, with right lengths and checksums.
 * @param layers enum check_layer, ended by CHECK_LAYER_END @param seq by which it is known again */
void check_layers_write(const struct check *check, enum check_side from, const uint8_t *layers,
	const struct check_patch *patch, uint32_t seq, struct check_layers *frame);
/** @return the length of a header */
uint16_t check_layer_bytes(enum check_layer layer);
/** Set lengths and checksums of IP and UDP to 0, which who puts headers on fills in. */
void check_layers_blank(const uint8_t *layers, unsigned int nb, struct check_layers *frame);
/** @return the item of rte_flow that is that header */
enum rte_flow_item_type check_layer_item(enum check_layer layer);

/** Send bytes of a frame. @return 0, -ENOMEM or -EIO */
int check_layers_send(
	struct check *check, enum check_side from, const uint8_t *bytes, uint16_t length);
/** Collect what comes until frame 0 has, and a little longer: of the frames up to @p nb one packet
 * each. @param got NULL: it did not come; the caller frees the mbufs */
void check_layers_collect(
	struct check *check, enum check_side side, struct check_got *got, unsigned int nb);
/** @return whether a packet, a tag that was stripped included, has these bytes */
bool check_layers_equal(const struct rte_mbuf *mbuf, const uint8_t *bytes, uint16_t length);

#endif /* CHECK_LAYERS_H */
