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
#include "wire/wire.h"

struct shca_rq;

#define SHCA_FLOW_CACHE_BYTES      64 /**< compared bytes at a frame's beginning */
#define SHCA_FLOW_CACHE_MIN_FRAME  48
#define SHCA_FLOW_CACHE_LINES_LOG2 9

/** 16 bytes, in the widest register that every machine has. */
typedef uint64_t shca_flow_cache_vector __attribute__((vector_size(16)));
#define SHCA_FLOW_CACHE_VECTORS (SHCA_FLOW_CACHE_BYTES / sizeof(shca_flow_cache_vector))

struct shca_flow_cache_line {
	shca_flow_cache_vector value[SHCA_FLOW_CACHE_VECTORS]; /**< has no bit outside mask */
	shca_flow_cache_vector mask[SHCA_FLOW_CACHE_VECTORS];
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

/** @return the bits in which vector @p number of @p line differs from a frame, which has it there.
 */
static inline shca_flow_cache_vector
shca_flow_cache_differing(
	const struct shca_flow_cache_line *line, unsigned int number, const uint8_t *at)
{
	shca_flow_cache_vector bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return (bytes & line->mask[number]) ^ line->value[number];
}

/** @return whether @p line has the results for @p frame, while the rules are those of its
 * generation. */
static inline bool
shca_flow_cache_is_like(const struct shca_flow_cache_line *line, const struct shca_frame *frame)
{
	const uint8_t *bytes = frame->bytes;
	shca_flow_cache_vector differing;

	if (frame->length != line->length || frame->port != line->port)
		return false;
	static_assert(SHCA_FLOW_CACHE_VECTORS == 4, "one line each");
	differing = shca_flow_cache_differing(line, 0, bytes);
	differing |= shca_flow_cache_differing(line, 1, bytes + sizeof(differing));
	differing |= shca_flow_cache_differing(line, 2, bytes + 2 * sizeof(differing));
	differing |= shca_flow_cache_differing(line, 3, bytes + line->last);
	return (differing[0] | differing[1]) == 0;
}

#endif /* SHCA_HW_STATE_FLOW_CACHE_H */
