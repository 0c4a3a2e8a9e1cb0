/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash table behind one mask. */
#include "steering/shape.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_BUCKETS = 8,
};

/** Fold the whole product: values that differ in a word's top bits only must differ in the low bits
 * of the hash. */
static uint64_t
mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static uint32_t
hash_key(const struct shca_shape *shape, const union shca_match_key *key)
{
	uint64_t hash = UINT64_C(0x2545f4914f6cdd1d);

	for (uint32_t i = 0; i < shape->nb_words; i++)
		hash = mix(hash, key->word[shape->word[i]] & shape->word_mask[i]);
	return (uint32_t)hash;
}

struct shca_shape *
shca_shape_create(const union shca_match_key *mask)
{
	struct shca_shape *shape = calloc(1, sizeof(*shape));

	if (shape == NULL)
		return NULL;
	shape->bucket = calloc(FIRST_BUCKETS, sizeof(struct shca_fte *));
	if (shape->bucket == NULL) {
		free(shape);
		return NULL;
	}
	shape->nb_buckets = FIRST_BUCKETS;
	shape->mask = *mask;
	shape->fields = shca_field_used(mask);
	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++) {
		if (mask->word[i] == 0)
			continue;
		shape->word[shape->nb_words] = i;
		shape->word_mask[shape->nb_words++] = mask->word[i];
	}
	return shape;
}

void
shca_shape_destroy(struct shca_shape *shape)
{
	if (shape == NULL)
		return;
	free(shape->bucket);
	free(shape);
}

static bool
matches(const struct shca_shape *shape, const struct shca_fte *fte, const union shca_match_key *key)
{
	for (uint32_t i = 0; i < shape->nb_words; i++)
		if ((key->word[shape->word[i]] & shape->word_mask[i]) != fte->value[i])
			return false;
	return true;
}

struct shca_fte *
shca_shape_find(const struct shca_shape *shape, const union shca_match_key *key)
{
	uint32_t hash = hash_key(shape, key);
	struct shca_fte *fte = shape->bucket[hash & (shape->nb_buckets - 1)];

	while (fte != NULL && (fte->hash != hash || !matches(shape, fte, key)))
		fte = fte->next;
	return fte;
}

struct shca_fte *
shca_shape_make(const struct shca_shape *shape, const union shca_match_key *key)
{
	struct shca_fte *fte = shca_fte_create(shape->nb_words);

	if (fte == NULL)
		return NULL;
	fte->hash = hash_key(shape, key);
	for (uint32_t i = 0; i < shape->nb_words; i++)
		fte->value[i] = key->word[shape->word[i]] & shape->word_mask[i];
	return fte;
}

static void
link_fte(struct shca_fte **bucket, uint32_t nb_buckets, struct shca_fte *fte)
{
	struct shca_fte **at = &bucket[fte->hash & (nb_buckets - 1)];

	fte->next = *at;
	*at = fte;
}

/** Double the buckets. Without memory for that the chains grow instead. */
static void
grow(struct shca_shape *shape)
{
	uint32_t nb_buckets = shape->nb_buckets * 2;
	struct shca_fte **bucket = calloc(nb_buckets, sizeof(struct shca_fte *));

	if (bucket == NULL)
		return;
	for (uint32_t i = 0; i < shape->nb_buckets; i++) {
		struct shca_fte *fte = shape->bucket[i];

		while (fte != NULL) {
			struct shca_fte *next = fte->next;

			link_fte(bucket, nb_buckets, fte);
			fte = next;
		}
	}
	free(shape->bucket);
	shape->bucket = bucket;
	shape->nb_buckets = nb_buckets;
}

void
shca_shape_add(struct shca_shape *shape, struct shca_fte *fte)
{
	if (shape->nb_ftes >= shape->nb_buckets)
		grow(shape);
	link_fte(shape->bucket, shape->nb_buckets, fte);
	shape->nb_ftes++;
}

void
shca_shape_del(struct shca_shape *shape, struct shca_fte *fte)
{
	struct shca_fte **at = &shape->bucket[fte->hash & (shape->nb_buckets - 1)];

	while (*at != fte)
		at = &(*at)->next;
	*at = fte->next;
	shape->nb_ftes--;
}

void
shca_shape_value(
	const struct shca_shape *shape, const struct shca_fte *fte, union shca_match_key *key)
{
	memset(key, 0, sizeof(*key));
	for (uint32_t i = 0; i < shape->nb_words; i++)
		key->word[shape->word[i]] = fte->value[i];
}
