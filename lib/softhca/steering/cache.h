/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Verdicts of received frames, by the parts of a frame that the rules look at: like Open vSwitch's
 * megaflow cache, with the union of all rules' masks.
 *
 * Frames that agree in all bits of the masks of the receiving tables hit the same entries, whatever
 * the number of tables and masks. A line of the cache names those entries, so that their counters
 * stay exact. A change of any rule makes the whole cache void.
 *
 *     key & union of the masks --hash--> [words | entries hit | where the frame goes]
 */
#ifndef SHCA_STEERING_CACHE_H
#define SHCA_STEERING_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "steering/fte.h"
#include "steering/match/field.h"
#include "steering/steering.h"

/** Limits of a line; a larger verdict is not cached. */
#define SHCA_CACHE_WORDS        12 /**< of the key */
#define SHCA_CACHE_FTES         4
#define SHCA_CACHE_DESTINATIONS 4

#define SHCA_CACHE_LINES_LOG2 12

/** The bits that a verdict depends on, without those that are always zero. */
struct shca_cache_plan {
	uint32_t nb_words;
	uint8_t word[SHCA_MATCH_WORDS];
	uint64_t mask[SHCA_MATCH_WORDS];
	uint64_t factor[SHCA_MATCH_WORDS]; /**< of the hash */
};

/** The entries that a frame hit. */
struct shca_cache_trail {
	uint32_t nb_ftes; /**< more than SHCA_CACHE_FTES: not all are named */
	struct shca_fte *fte[SHCA_CACHE_FTES];
};

struct shca_cache_line {
	uint64_t generation; /**< of the rules; 0: empty */
	uint64_t word[SHCA_CACHE_WORDS];
	struct shca_cache_trail trail;
	struct shca_verdict verdict; /**< its destinations are below */
	struct shca_destination destination[SHCA_CACHE_DESTINATIONS];
};

struct shca_cache {
	uint64_t generation; /**< of the rules whose masks these are */
	union shca_match_key mask;
	struct shca_cache_plan plan;
	struct shca_cache_line *line;
};

/** @return 0 or -ENOMEM. */
int shca_cache_init(struct shca_cache *cache);
void shca_cache_fini(struct shca_cache *cache);
/** Forget all verdicts and masks, as the rules have changed. */
void shca_cache_renew(struct shca_cache *cache, uint64_t generation);
/** Add the bits of @p mask to those that verdicts depend on. */
void shca_cache_look_at(struct shca_cache *cache, const union shca_match_key *mask);
/** Prepare for find() and put(), after all masks were added. */
void shca_cache_plan(struct shca_cache *cache);
/**
 * Look a frame's key up.
 *
 * @param[out] is_hit the line has the frame's verdict; else the verdict may be put there
 * @return NULL when there are more words than a line has
 */
struct shca_cache_line *shca_cache_find(
	const struct shca_cache *cache, const union shca_match_key *key, bool *is_hit);
/** Store the trail and verdict of a frame whose look-up ended in @p line. */
void shca_cache_put(const struct shca_cache *cache, struct shca_cache_line *line,
	const struct shca_cache_trail *trail, const struct shca_verdict *verdict);

#endif /* SHCA_STEERING_CACHE_H */
