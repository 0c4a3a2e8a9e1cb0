/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Subtable: all entries of one mask in one table, hashed by value (tuple space search, as in Open
 * vSwitch's classifier). At most one of them matches a packet; the cost of a look-up does not
 * depend on their number.
 *
 * A subtable spans all flow groups of its mask: table.h owns those and the entries' indices.
 */
#ifndef SHCA_STEERING_SUBTABLE_H
#define SHCA_STEERING_SUBTABLE_H

#include <stdint.h>

#include "steering/fte.h"
#include "steering/match/field.h"

struct shca_subtable {
	union shca_match_key mask;
	uint64_t fields;       /**< shca_field_used() of the mask */
	uint32_t nb_groups;    /**< of this mask */
	uint32_t big_groups;   /**< bit i: big group i has this mask (table.h) */
	uint32_t lowest_start; /**< first index of its first group */

	struct shca_fte **bucket;
	uint32_t nb_buckets; /**< power of two */
	uint32_t nb_ftes;

	/** The words of the mask that are not zero: a look-up skips the others. */
	uint32_t nb_words;
	uint8_t word[SHCA_MATCH_WORDS];
	uint64_t word_mask[SHCA_MATCH_WORDS];
};

/** @return NULL when out of memory. */
struct shca_subtable *shca_subtable_create(const union shca_match_key *mask);
/** All entries must be gone. NULL is allowed. */
void shca_subtable_destroy(struct shca_subtable *subtable);
/** @return the entry that matches a packet's key, or a rule's value, or NULL. */
struct shca_fte *shca_subtable_find(
	const struct shca_subtable *subtable, const union shca_match_key *key);
/** @return a new entry with the value @p key, which no look-up finds yet, or NULL when out of
 * memory. */
struct shca_fte *shca_subtable_make(
	const struct shca_subtable *subtable, const union shca_match_key *key);
/** Add an entry of shca_subtable_make(). */
void shca_subtable_add(struct shca_subtable *subtable, struct shca_fte *fte);
void shca_subtable_del(struct shca_subtable *subtable, struct shca_fte *fte);
/** Spread the words of an entry's value over a key. */
void shca_subtable_value(const struct shca_subtable *subtable, const struct shca_fte *fte,
	union shca_match_key *key);

#endif /* SHCA_STEERING_SUBTABLE_H */
