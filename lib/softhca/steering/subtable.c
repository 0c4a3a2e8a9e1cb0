/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash table behind one mask. */
#include "steering/subtable.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_BUCKETS = 8,
};

/** Fold the whole product, so that values that differ in a word's top bits only differ in the low
 * bits of the hash. */
static uint64_t
mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static uint32_t
hash_key(const struct shca_subtable *subtable, const union shca_match_key *key)
{
	uint64_t hash = UINT64_C(0x2545f4914f6cdd1d);

	for (uint32_t i = 0; i < subtable->nb_words; i++)
		hash = mix(hash, key->word[subtable->word[i]] & subtable->word_mask[i]);
	return (uint32_t)hash;
}

struct shca_subtable *
shca_subtable_create(const union shca_match_key *mask)
{
	struct shca_subtable *subtable = calloc(1, sizeof(*subtable));

	if (subtable == NULL)
		return NULL;
	subtable->bucket = calloc(FIRST_BUCKETS, sizeof(struct shca_fte *));
	if (subtable->bucket == NULL) {
		free(subtable);
		return NULL;
	}
	subtable->nb_buckets = FIRST_BUCKETS;
	subtable->mask = *mask;
	subtable->fields = shca_field_used(mask);
	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++) {
		if (mask->word[i] == 0)
			continue;
		subtable->word[subtable->nb_words] = i;
		subtable->word_mask[subtable->nb_words++] = mask->word[i];
	}
	return subtable;
}

void
shca_subtable_destroy(struct shca_subtable *subtable)
{
	if (subtable == NULL)
		return;
	free(subtable->bucket);
	free(subtable);
}

static bool
matches(const struct shca_subtable *subtable, const struct shca_fte *fte,
	const union shca_match_key *key)
{
	for (uint32_t i = 0; i < subtable->nb_words; i++)
		if ((key->word[subtable->word[i]] & subtable->word_mask[i]) != fte->value[i])
			return false;
	return true;
}

struct shca_fte *
shca_subtable_find(const struct shca_subtable *subtable, const union shca_match_key *key)
{
	uint32_t hash = hash_key(subtable, key);
	struct shca_fte *fte = subtable->bucket[hash & (subtable->nb_buckets - 1)];

	while (fte != NULL && (fte->hash != hash || !matches(subtable, fte, key)))
		fte = fte->next;
	return fte;
}

struct shca_fte *
shca_subtable_make(const struct shca_subtable *subtable, const union shca_match_key *key)
{
	struct shca_fte *fte = shca_fte_create(subtable->nb_words);

	if (fte == NULL)
		return NULL;
	fte->hash = hash_key(subtable, key);
	for (uint32_t i = 0; i < subtable->nb_words; i++)
		fte->value[i] = key->word[subtable->word[i]] & subtable->word_mask[i];
	return fte;
}

static void
link_fte(struct shca_fte **bucket, uint32_t nb_buckets, struct shca_fte *fte)
{
	struct shca_fte **at = &bucket[fte->hash & (nb_buckets - 1)];

	fte->next = *at;
	*at = fte;
}

/** Double the buckets; if memory is short, the chains grow instead. */
static void
grow(struct shca_subtable *subtable)
{
	uint32_t nb_buckets = subtable->nb_buckets * 2;
	struct shca_fte **bucket = calloc(nb_buckets, sizeof(struct shca_fte *));

	if (bucket == NULL)
		return;
	for (uint32_t i = 0; i < subtable->nb_buckets; i++) {
		struct shca_fte *fte = subtable->bucket[i];

		while (fte != NULL) {
			struct shca_fte *next = fte->next;

			link_fte(bucket, nb_buckets, fte);
			fte = next;
		}
	}
	free(subtable->bucket);
	subtable->bucket = bucket;
	subtable->nb_buckets = nb_buckets;
}

void
shca_subtable_add(struct shca_subtable *subtable, struct shca_fte *fte)
{
	if (subtable->nb_ftes >= subtable->nb_buckets)
		grow(subtable);
	link_fte(subtable->bucket, subtable->nb_buckets, fte);
	subtable->nb_ftes++;
}

void
shca_subtable_del(struct shca_subtable *subtable, struct shca_fte *fte)
{
	struct shca_fte **at = &subtable->bucket[fte->hash & (subtable->nb_buckets - 1)];

	while (*at != fte)
		at = &(*at)->next;
	*at = fte->next;
	subtable->nb_ftes--;
}

void
shca_subtable_value(
	const struct shca_subtable *subtable, const struct shca_fte *fte, union shca_match_key *key)
{
	memset(key, 0, sizeof(*key));
	for (uint32_t i = 0; i < subtable->nb_words; i++)
		key->word[subtable->word[i]] = fte->value[i];
}
