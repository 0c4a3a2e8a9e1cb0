/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Data segments of WQEs, most of which have the length and the key of the one before: what was
 * found out about that one then holds, and only the address is left to look at.
 */
#ifndef SHCA_HW_QUEUE_SEGMENT_H
#define SHCA_HW_QUEUE_SEGMENT_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "hw/format/hw.h"

/** The latest segment that was looked up. All zero: none yet. */
struct shca_segment_like {
	uint64_t head;   /**< its length and key, as they lie in the ring */
	uint64_t last;   /**< bytes from the region's beginning to where an access begins at most */
	uint32_t length; /**< bytes of an access */
	struct shca_mem_window window;
};

/** @return the segment at @p at, each word read once: the program may write them at any time. */
static inline struct mlx5_wqe_data_seg
shca_segment_load(const uint8_t *at)
{
	const uint64_t *posted = (const void *)at;
	struct mlx5_wqe_data_seg segment;
	uint64_t word[2];

	word[0] = __atomic_load_n(&posted[0], __ATOMIC_RELAXED);
	word[1] = __atomic_load_n(&posted[1], __ATOMIC_RELAXED);
	static_assert(sizeof(word) == sizeof(segment), "two words");
	memcpy(&segment, word, sizeof(segment));
	return segment;
}

/** @return the length and key of a segment, as they lie in the ring. */
static inline uint64_t
shca_segment_head(const struct mlx5_wqe_data_seg *segment)
{
	uint64_t head;

	static_assert(offsetof(struct mlx5_wqe_data_seg, addr) == sizeof(head), "what is before");
	memcpy(&head, segment, sizeof(head));
	return head;
}

/**
 * @param bytes of a segment
 * @param offset set to where it points to in the region of @p like
 * @return whether it is like that one, and what is accessed lies in its region
 */
static inline bool
shca_segment_is_like(const struct shca_segment_like *like, const uint8_t *bytes, uint64_t *offset)
{
	uint64_t head, addr;

	memcpy(&head, bytes, sizeof(head));
	memcpy(&addr, bytes + offsetof(struct mlx5_wqe_data_seg, addr), sizeof(addr));
	/* An address before the region is beyond its end, modulo 2^64. */
	*offset = be64toh(addr) - like->window.iova;
	return head == like->head && *offset <= like->last;
}

/**
 * Look up the first @p length bytes that @p segment points at, for those that are like it.
 * @return as shca_mem_ptr()
 */
static inline uint8_t *
shca_segment_look_up(struct shca_segment_like *like, struct shca_mem *mem, uint32_t pdn,
	const struct mlx5_wqe_data_seg *segment, uint32_t length, bool write)
{
	uint8_t *at = shca_mem_window_ptr(&like->window, mem, pdn, be32toh(segment->lkey),
		be64toh(segment->addr), length, write);

	if (at != NULL) {
		like->head = shca_segment_head(segment);
		like->length = length;
		like->last = like->window.length - length;
	}
	return at;
}

/**
 * Find where segments point to, from that at @p at on, if they are like that of @p like, which was
 * looked up, and what is accessed lies in its region. Prefetches that.
 * @param stride_bytes from one segment to the next
 * @param write what is accessed will be written
 * @param to has room for @p nb addresses
 * @return for how many; the next one is not like that
 */
unsigned int shca_segments_point(const struct shca_segment_like *like, const uint8_t *at,
	uint32_t stride_bytes, unsigned int nb, bool write, uint8_t **to);

#endif /* SHCA_HW_QUEUE_SEGMENT_H */
