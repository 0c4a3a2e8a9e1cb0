/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What became of a received frame, for those that have the same headers: how they parse, the
 * entries they meet, the queue they go to and their hash. Internal to hw/.
 *
 *     frame --same bytes?--> [headers, masked | parsed | entries met | queue, hash, tag]
 *       '--> parse, walk, choose, put
 *
 * Rules see of a frame what the parser makes of its headers, so equal headers need no parser. Bytes
 * that neither looks at are masked: an IPv4 header's identification and checksum, what TCP counts,
 * checksums. Only plain TCP and UDP frames with one destination are remembered, whose headers end
 * within the bytes compared; a change of any rule makes all void, as with the cache of verdicts
 * (steering/cache.h), which stands behind and knows the others.
 */
#ifndef SHCA_HW_STATE_MEMO_H
#define SHCA_HW_STATE_MEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "steering/cache.h"
#include "steering/match/parse.h"
#include "wire/wire.h"

struct shca_rq;

#define SHCA_FLOW_CACHE_BYTES      64 /**< of a frame's beginning, compared */
#define SHCA_FLOW_CACHE_MIN_FRAME  48
#define SHCA_FLOW_CACHE_LINES_LOG2 9

/** 16 bytes, in the widest register that every machine has. */
typedef uint64_t shca_flow_cache_vector __attribute__((vector_size(16)));
#define SHCA_FLOW_CACHE_VECTORS (SHCA_FLOW_CACHE_BYTES / sizeof(shca_flow_cache_vector))

struct shca_flow_cache_line {
	shca_flow_cache_vector value[SHCA_FLOW_CACHE_VECTORS]; /**< has no bit outside mask */
	shca_flow_cache_vector mask[SHCA_FLOW_CACHE_VECTORS];
	uint64_t generation; /**< of the rules; 0: empty */
	uint32_t length;     /**< of the frame */
	uint32_t last;       /**< where the last vector begins: no frame is read past its end */
	struct shca_packet packet; /**< its bytes are gone */
	struct shca_cache_trail trail;
	struct shca_rq *rq;
	uint32_t flow_tag;
	uint32_t rss_hash;
	uint8_t rss_hash_type;
};

struct shca_flow_cache {
	struct shca_flow_cache_line *line;
	struct shca_flow_cache_line *latest; /**< found or put last */
};

/** @return whether @p line tells what becomes of @p frame, as long as rules are as they were. */
static inline bool
shca_flow_cache_is_like(const struct shca_flow_cache_line *line, const struct shca_frame *frame)
{
	const uint32_t offset[SHCA_FLOW_CACHE_VECTORS] = { 0, 16, 32, line->last };
	shca_flow_cache_vector differing = { 0 };

	if (frame->length != line->length)
		return false;
	for (unsigned int i = 0; i < SHCA_FLOW_CACHE_VECTORS; i++) {
		shca_flow_cache_vector bytes;

		memcpy(&bytes, frame->bytes + offset[i], sizeof(bytes));
		differing |= (bytes & line->mask[i]) ^ line->value[i];
	}
	return (differing[0] | differing[1]) == 0;
}

#endif /* SHCA_HW_STATE_MEMO_H */
