/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Results for received frames, by their headers: parsed headers, the entries that match, the queue
 * and the hash. Internal to hw/.
 *
 *     frame --same bytes?--> [headers, masked | parsed | entries met | queue, hash, tag]
 *       '--> parse, walk, choose, put
 *
 * Rules match on parsed headers, so a frame with equal headers needs no parser. Bytes that neither
 * the parser nor rules read are masked: identification and checksum of IPv4, TCP's sequence numbers
 * and window, L4 checksums. The cache keeps plain TCP and UDP frames with one destination, whose
 * headers end within the compared bytes. A change of any rule invalidates all lines, as in the
 * cache of verdicts (steering/cache.h), which serves the frames that are not in here.
 */
#ifndef SHCA_HW_STATE_FLOW_CACHE_H
#define SHCA_HW_STATE_FLOW_CACHE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "steering/cache.h"
#include "steering/match/parse.h"
#include "wire/wide.h"
#include "wire/wire.h"

struct shca_rq;

#define SHCA_FLOW_CACHE_BYTES      64 /**< compared bytes at a frame's beginning */
#define SHCA_FLOW_CACHE_MIN_FRAME  48
#define SHCA_FLOW_CACHE_LINES_LOG2 9

#define SHCA_FLOW_CACHE_VECTORS (SHCA_FLOW_CACHE_BYTES / sizeof(shca_wide))

struct shca_flow_cache_line {
	shca_wide value[SHCA_FLOW_CACHE_VECTORS]; /**< has no bit outside mask */
	shca_wide mask[SHCA_FLOW_CACHE_VECTORS];
	uint64_t generation;       /**< of the rules at that time; 0: empty */
	uint32_t length;           /**< of the frame */
	uint32_t port;             /**< that it came by */
	uint32_t last;             /**< offset of the last vector; no frame is read past its end */
	struct shca_packet packet; /**< without its bytes */
	struct shca_cache_trail trail;
	struct shca_rq *rq;
	uint32_t flow_tag;
	uint32_t rss_hash;
	uint8_t rss_hash_type;
};

struct shca_flow_cache {
	struct shca_flow_cache_line *line;
	struct shca_flow_cache_line *latest; /**< latest hit or insertion */
};

/** @return whether @p line has the results for all @p nb frames, while the rules are those of its
 * generation. */
static inline __attribute__((always_inline)) bool
shca_flow_cache_are_like(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	const unsigned int nb)
{
	shca_wide first_differs = { 0 }, last_differs = { 0 }, first, last;

	static_assert(SHCA_FLOW_CACHE_VECTORS == 2, "they meet or overlap");
#pragma GCC unroll 16
	for (unsigned int i = 0; i < nb; i++) {
		if (frame[i].length != line->length || frame[i].port != line->port)
			return false;
		memcpy(&first, frame[i].bytes, sizeof(first));
		memcpy(&last, frame[i].bytes + line->last, sizeof(last));
		first_differs |= first ^ line->value[0];
		last_differs |= last ^ line->value[1];
	}
	first_differs = (first_differs & line->mask[0]) | (last_differs & line->mask[1]);
	return !shca_wide_any(&first_differs);
}

static inline bool
shca_flow_cache_is_like(const struct shca_flow_cache_line *line, const struct shca_frame *frame)
{
	return shca_flow_cache_are_like(line, frame, 1);
}

#endif /* SHCA_HW_STATE_FLOW_CACHE_H */
