/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CQE compression: completions that differ in little become a title CQE and arrays of mini CQEs.
 * Pure: hw/state/cq.h places them in the ring.
 *
 *     slot  t      t+1       ...  t+8        ...  t+16       ...  t+N-1
 *           title  minis 0-7      minis 8-15      minis 16-23
 *
 * The title is the first completion, with format 3 and N in byte_count; mini 0 describes the same
 * completion. Fields that a mini CQE lacks come from the title, so only completions that agree in
 * these fields share a block; wqe_counter increases by one, or by the strides of the completion
 * before. The device leaves slots between the arrays unwritten. (Linux en_rx.c mlx5e_decompress_cqe
 * and mlx5e_read_mini_arr_slot; DPDK mlx5_rx.c mlx5_rx_poll_len.)
 */
#ifndef SHCA_HW_FORMAT_MINICQE_H
#define SHCA_HW_FORMAT_MINICQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hw/format/hw.h"

#define SHCA_MINI_MAX       64 /**< minis of a block */
#define SHCA_MINI_PER_ARRAY 8

#define SHCA_CQE_FORMAT_COMPRESSED (3 << 2) /**< of op_own */

/** The field that a mini CQE has besides the length. */
enum shca_mini_format {
	SHCA_MINI_NONE, /**< no compression */
	SHCA_MINI_HASH,
	SHCA_MINI_CSUM,
	SHCA_MINI_CSUM_STRIDX,
};

/** Linux mlx5/device.h struct mlx5_mini_cqe8. */
struct shca_minicqe {
	union {
		__be32 rss_hash;
		struct {
			__be16 checksum;
			__be16 stride_index; /**< wqe_counter of the CQE */
		};
		struct {
			__be16 wqe_counter;
			uint8_t wqe_opcode;
			uint8_t rsvd3;
		}; /**< sent */
	};
	__be32 byte_count;
};

static_assert(sizeof(struct shca_minicqe) * SHCA_MINI_PER_ARRAY == SHCA_CQE_BYTES, "an array");

/** A block under construction; empty when nb is 0. */
struct shca_minicqe_block {
	enum shca_mini_format format;
	uint8_t nb, max;
	uint16_t next_counter; /**< the next wqe_counter as software computes it */
	struct shca_cqe first; /**< the first completion */
	struct shca_cqe alike; /**< the fields in which all agree; the others 0 */
	struct shca_minicqe mini[SHCA_MINI_MAX];
};

/** Empty @p block. @param max number of minis that it may have, at least 1 */
void shca_minicqe_init(
	struct shca_minicqe_block *block, enum shca_mini_format format, uint32_t max);
/** @return whether @p cqe is of a kind that is ever compressed. */
bool shca_minicqe_takes(const struct shca_cqe *cqe);
/**
 * Append @p cqe, or begin an empty block with it.
 * @return false when it does not fit, or is of a kind that is never compressed; nothing changed
 */
bool shca_minicqe_add(struct shca_minicqe_block *block, const struct shca_cqe *cqe);
/** @return how many more completions @p block, which is not empty, may have. */
static inline uint32_t
shca_minicqe_room(const struct shca_minicqe_block *block)
{
	return block->max - block->nb;
}

/** @return where the mini CQE behind the latest one goes; the block is not empty. */
static inline struct shca_minicqe *
shca_minicqe_behind(struct shca_minicqe_block *block)
{
	return &block->mini[block->nb];
}

/** Append completions whose mini CQEs are behind the latest one: they differ from it only in the
 * fields of a receive queue's mini CQE and in the counter, which goes on; there is room. */
static inline void
shca_minicqe_add_alike(struct shca_minicqe_block *block, unsigned int nb)
{
	block->next_counter += (uint16_t)nb;
	block->nb += (uint8_t)nb;
}
/** Write the title of a block of at least two completions. */
void shca_minicqe_title(const struct shca_minicqe_block *block, struct shca_cqe *title);

/** Write array @p number, whole; minis beyond the block's are 0. */
static inline void
shca_minicqe_array(const struct shca_minicqe_block *block, unsigned int number,
	uint8_t array[static SHCA_CQE_BYTES])
{
	const unsigned int from = number * SHCA_MINI_PER_ARRAY, nb = block->nb - from;

	if (nb >= SHCA_MINI_PER_ARRAY) {
		memcpy(array, &block->mini[from], SHCA_CQE_BYTES);
		return;
	}
	memset(array, 0, SHCA_CQE_BYTES);
	memcpy(array, &block->mini[from], nb * sizeof(block->mini[0]));
}

/** @return the slot of array @p number, counted from the title's. */
static inline uint32_t
shca_minicqe_slot(unsigned int number)
{
	return number == 0 ? 1 : number * SHCA_MINI_PER_ARRAY;
}

#endif /* SHCA_HW_FORMAT_MINICQE_H */
