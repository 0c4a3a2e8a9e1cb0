/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The copy of a rule as the application gave it, for the next start of the port and for dumps.
 *
 * rte_flow_conv() does the same for any rule, in a fifth of the time that a rule takes here. The
 * rows know the size of each item that the driver matches, and of most configurations of actions.
 * Pure.
 */
#ifndef MDV_FLOW_COPY_H
#define MDV_FLOW_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include <rte_flow_driver.h>

#include "flow/match/flow_build.h"

/** What is copied, and how much memory it takes. */
struct mdv_flow_copy {
	const struct rte_flow_conv_rule *given;
	size_t nb_items, nb_actions; /**< END included */
	size_t bytes;                /**< of the whole copy */
	size_t conv_bytes;           /**< of its actions, by rte_flow_conv(); 0: not needed */
};

/**
 * Measure a rule that mdv_flow_plan_make() has accepted, without SAMPLE.
 * @param match made of the rule's pattern
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_copy_measure(struct mdv_flow_copy *copy, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_build *match, struct rte_flow_error *error);
/** Write the copy to @p to, aligned to 8 bytes and with room for copy->bytes. */
void mdv_flow_copy_write(const struct mdv_flow_copy *copy, struct rte_flow_conv_rule *to);

/** Room in an image; a larger copy is written anew each time. */
#define MDV_FLOW_COPY_IMAGE_BYTES    512
#define MDV_FLOW_COPY_IMAGE_POINTERS 24
#define MDV_FLOW_COPY_IMAGE_VALUES   12

/** Bytes of a copy that rules of one form have each their own. */
struct mdv_flow_copy_value {
	uint16_t at;    /**< in the copy */
	uint8_t bytes;  /**< a multiple of 4 for an item */
	uint8_t number; /**< of the item or the action */
};

/** A copy from which those of other rules are made that differ in values alone. */
struct mdv_flow_copy_image {
	uint16_t bytes; /**< of the copy; 0: there is none */
	uint16_t actions_at;
	uint8_t nb_pointers, nb_items, nb_values;
	uint16_t pointers[MDV_FLOW_COPY_IMAGE_POINTERS]; /**< where they are; into the copy */
	/** Of nb_items items, and of actions. */
	struct mdv_flow_copy_value values[MDV_FLOW_COPY_IMAGE_VALUES];
	/** The copy; the pointers are offsets in it. */
	uint8_t copy[MDV_FLOW_COPY_IMAGE_BYTES] __rte_aligned(sizeof(uint64_t));
};

/** Make an image of a copy that has been written. It has none afterwards if there is no room, or
 * rte_flow_conv() made the copy. */
void mdv_flow_copy_learn(struct mdv_flow_copy_image *image, const struct mdv_flow_copy *copy,
	const struct rte_flow_conv_rule *written);
/** @return whether actions differ from those of the image in values alone. */
bool mdv_flow_copy_is_like(
	const struct mdv_flow_copy_image *image, const struct rte_flow_action actions[]);
/**
 * Write the copy of a rule that differs from the image in values alone.
 * @param given whose items and actions have been compared
 * @param to as for mdv_flow_copy_write(), with room for image->bytes
 */
void mdv_flow_copy_write_like(const struct mdv_flow_copy_image *image,
	const struct rte_flow_conv_rule *given, struct rte_flow_conv_rule *to);

#endif /* MDV_FLOW_COPY_H */
