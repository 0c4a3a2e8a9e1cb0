/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Looks up results for received frames (hw/state/flow_cache.h), and keeps them.
 */
#ifndef SHCA_HW_QUEUE_FLOW_CACHE_H
#define SHCA_HW_QUEUE_FLOW_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/flow_cache.h"

struct shca_cache_trail;
struct shca_packet;
struct shca_verdict;

/** @return 0 or -ENOMEM. */
int shca_flow_cache_init(struct shca_flow_cache *flow_cache);
void shca_flow_cache_fini(struct shca_flow_cache *flow_cache);

/** @return the line for @p frame under the rules of @p generation, or NULL. */
const struct shca_flow_cache_line *shca_flow_cache_find(
	struct shca_flow_cache *flow_cache, uint64_t generation, const struct shca_frame *frame);
/**
 * Keep the results for @p packet, if the cache keeps frames of its kind.
 * @param trail the entries that it met, if complete, or NULL
 */
void shca_flow_cache_put(struct shca_flow_cache *flow_cache, uint64_t generation,
	const struct shca_packet *packet, const struct shca_verdict *verdict,
	const struct shca_cache_trail *trail);

#endif /* SHCA_HW_QUEUE_FLOW_CACHE_H */
