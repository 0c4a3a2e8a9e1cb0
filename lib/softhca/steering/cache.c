/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts by the parts of a frame that the rules look at. */
#include "steering/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** @return an odd number without pattern (splitmix64). Each word has its own, so that the products
 * of a hash do not depend on each other. */
static uint64_t
factor(uint32_t i)
{
	uint64_t number = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return (number ^ number >> 31) | 1;
}

int
shca_cache_init(struct shca_cache *cache)
{
	*cache = (struct shca_cache){
		.line = calloc(UINT32_C(1) << SHCA_CACHE_LINES_LOG2, sizeof(*cache->line)),
	};
	return cache->line != NULL ? 0 : -ENOMEM;
}

void
shca_cache_fini(struct shca_cache *cache)
{
	free(cache->line);
	cache->line = NULL;
}

void
shca_cache_renew(struct shca_cache *cache, uint64_t generation)
{
	cache->generation = generation;
	memset(&cache->mask, 0, sizeof(cache->mask));
}

void
shca_cache_look_at(struct shca_cache *cache, const union shca_match_key *mask)
{
	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++)
		cache->mask.word[i] |= mask->word[i];
}

void
shca_cache_plan(struct shca_cache *cache)
{
	struct shca_cache_plan *plan = &cache->plan;

	plan->nb_words = 0;
	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++) {
		if (cache->mask.word[i] == 0)
			continue;
		plan->word[plan->nb_words] = (uint8_t)i;
		plan->factor[plan->nb_words] = factor(i);
		plan->mask[plan->nb_words++] = cache->mask.word[i];
	}
}

struct shca_cache_line *
shca_cache_find(const struct shca_cache *cache, const union shca_match_key *key, bool *is_hit)
{
	const struct shca_cache_plan *plan = &cache->plan;
	uint64_t word[SHCA_CACHE_WORDS];
	struct shca_cache_line *line;
	uint64_t hash = 0;
	uint64_t differing;

	if (plan->nb_words > SHCA_CACHE_WORDS)
		return NULL;
	for (uint32_t i = 0; i < plan->nb_words; i++) {
		word[i] = key->word[plan->word[i]] & plan->mask[i];
		hash += word[i] * plan->factor[i];
	}
	/* A word's top bits do not reach the lower bits of a product: fold before the last one. */
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	line = &cache->line[hash >> (64 - SHCA_CACHE_LINES_LOG2)];
	differing = line->generation ^ cache->generation;
	for (uint32_t i = 0; i < plan->nb_words; i++)
		differing |= word[i] ^ line->word[i];
	*is_hit = differing == 0;
	if (!*is_hit) {
		line->generation = 0;
		memcpy(line->word, word, plan->nb_words * sizeof(word[0]));
	}
	return line;
}

void
shca_cache_put(const struct shca_cache *cache, struct shca_cache_line *line,
	const struct shca_cache_trail *trail, const struct shca_verdict *verdict)
{
	if (trail->nb_ftes > SHCA_CACHE_FTES || verdict->nb_destinations > SHCA_CACHE_DESTINATIONS)
		return;
	line->generation = cache->generation;
	line->trail = *trail;
	line->verdict = *verdict;
	line->verdict.destination = line->destination;
	for (unsigned int i = 0; i < verdict->nb_destinations; i++)
		line->destination[i] = verdict->destination[i];
}
