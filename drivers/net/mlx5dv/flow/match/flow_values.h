/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What patterns that differ in their values alone have in common, and the places of these values.
 *
 *     pattern        eth / ipv4 dst spec 10.0.0.1 / udp dst spec 53
 *                              |                        |
 *     ibv_flow_attr  ETH IPV4  dst                 UDP  dst_port
 *     record                   headers[0].dst_ip        headers[0].udp_dst
 *
 * A pattern has them if no check reads its values (mdv_flow_item_field.any_value) and it has no
 * tunnel. Pure.
 */
#ifndef MDV_FLOW_VALUES_H
#define MDV_FLOW_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "flow_build.h"
#include "flow_key.h"

/** Items of a pattern, END included; more are translated anew each time. */
#define MDV_FLOW_VALUES_ITEMS 8
#define MDV_FLOW_VALUES_MAX   16

/** A field that is masked. */
struct mdv_flow_value {
	uint8_t item;       /**< index in the pattern */
	uint8_t at, bytes;  /**< place in the item */
	uint16_t attr_at;   /**< place in the bytes of the ibv_flow_attr */
	uint16_t record_at; /**< place in struct mdv_flow_spec_record */
};

/** An item without its values. */
struct mdv_flow_valueless {
	enum rte_flow_item_type type;
	bool has_spec, has_mask;
	uint8_t bytes;    /**< of the mask; a multiple of 4 */
	uint8_t mask[64]; /**< given or default; if there is a spec */
};

struct mdv_flow_values {
	uint8_t nb_items;  /**< END included; 0: fits no pattern */
	uint8_t nb_values; /**< in the order of items */
	struct mdv_flow_valueless items[MDV_FLOW_VALUES_ITEMS];
	struct mdv_flow_value values[MDV_FLOW_VALUES_MAX];
};

/**
 * Note what patterns like @p pattern have in common.
 * @param build of mdv_flow_item_translate(); later specs may have been appended
 * @return whether there is such a thing; otherwise @p values fits no pattern
 */
bool mdv_flow_values_learn(struct mdv_flow_values *values, const struct rte_flow_item pattern[],
	const struct mdv_flow_build *build);
/** @return whether @p pattern is the one learnt, but for its values. */
bool mdv_flow_values_fit(
	const struct mdv_flow_values *values, const struct rte_flow_item pattern[]);
/** Write the values of @p pattern, which fits, to an attribute and match of the pattern learnt. */
void mdv_flow_values_put(const struct mdv_flow_values *values, const struct rte_flow_item pattern[],
	struct mdv_flow_build *build, struct mdv_flow_match *match);

#endif /* MDV_FLOW_VALUES_H */
