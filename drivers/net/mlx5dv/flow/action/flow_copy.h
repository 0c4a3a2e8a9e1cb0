/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The copy of a rule as the application gave it, for the next start of the port and for dumps.
 *
 * rte_flow_conv() does the same for any rule, in a fifth of the time that a rule takes here. The
 * rows know the size of each item that the driver matches, and of most configurations of actions.
 * Of rules that differ in values alone there is one copy, and the values of each.
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

/** Room in an image; a rule with a larger copy keeps all of it. */
#define MDV_FLOW_COPY_IMAGE_BYTES    512
#define MDV_FLOW_COPY_IMAGE_POINTERS 24
#define MDV_FLOW_COPY_IMAGE_WORDS    24
#define MDV_FLOW_COPY_IMAGE_CONFS    8

/** Four bytes of an item that its mask has bits of. */
struct mdv_flow_copy_word {
	uint16_t at;     /**< in the copy */
	uint8_t item_at; /**< in the item's spec */
	uint8_t item;
};

/** The configuration of an action. */
struct mdv_flow_copy_conf {
	uint16_t at;      /**< in the copy */
	uint16_t kept_at; /**< among the configurations that a rule keeps */
	uint8_t bytes;
	uint8_t action;
};

/**
 * A copy that many rules share, which differ in values alone and keep only these. Counted: the last
 * user frees it.
 */
struct mdv_flow_copy_image {
	uint32_t nb_users;    /**< atomic: rules are freed by any thread */
	uint16_t bytes;       /**< of the copy */
	uint16_t value_bytes; /**< of what a rule keeps: the words, and the configurations */
	uint16_t conf_bytes;  /**< of the latter */
	uint16_t actions_at;
	uint8_t nb_pointers, nb_words, nb_confs;
	uint16_t pointers[MDV_FLOW_COPY_IMAGE_POINTERS]; /**< where they are; into the copy */
	struct mdv_flow_copy_word words[MDV_FLOW_COPY_IMAGE_WORDS];
	struct mdv_flow_copy_conf confs[MDV_FLOW_COPY_IMAGE_CONFS];
	/** The copy; the pointers are offsets in it. */
	uint8_t copy[MDV_FLOW_COPY_IMAGE_BYTES] __rte_aligned(sizeof(uint64_t));
};

/** Room to write a copy to that has an image. */
struct mdv_flow_copy_room {
	uint8_t bytes[MDV_FLOW_COPY_IMAGE_BYTES] __rte_aligned(sizeof(uint64_t));
};

/** @return an image of a copy that has been written, with one user; NULL: it has too much for one,
 * rte_flow_conv() made it, or no memory */
struct mdv_flow_copy_image *mdv_flow_copy_learn(
	const struct mdv_flow_copy *copy, const struct rte_flow_conv_rule *written);
/** Add and remove a user. @p image of the latter may be NULL. */
void mdv_flow_copy_image_get(struct mdv_flow_copy_image *image);
void mdv_flow_copy_image_put(struct mdv_flow_copy_image *image);
/** @return whether actions differ from those of the image in values alone. */
bool mdv_flow_copy_is_like(
	const struct mdv_flow_copy_image *image, const struct rte_flow_action actions[]);
/** Write the configurations of actions that are like those. @param to has room for
 * image->conf_bytes */
void mdv_flow_copy_keep_confs(const struct mdv_flow_copy_image *image,
	const struct rte_flow_action actions[], uint8_t *to);
/** @return whether actions that are like those have these configurations. */
bool mdv_flow_copy_has_confs(const struct mdv_flow_copy_image *image,
	const struct rte_flow_action actions[], const uint8_t *confs);
/**
 * Write the values of a rule that differs from the image in these alone.
 * @param given whose items and actions have been compared
 * @param to has room for image->value_bytes
 */
void mdv_flow_copy_keep(const struct mdv_flow_copy_image *image,
	const struct rte_flow_conv_rule *given, uint8_t *to);
/** Write the copy of the rule that has these values; bits that no mask has are those of the image.
 * @return it, in @p room */
const struct rte_flow_conv_rule *mdv_flow_copy_expand(const struct mdv_flow_copy_image *image,
	const uint8_t *values, struct mdv_flow_copy_room *room);

#endif /* MDV_FLOW_COPY_H */
