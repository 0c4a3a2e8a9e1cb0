/* SPDX-License-Identifier: BSD-3-Clause */
/* CQE compression: completions -> title and mini CQEs. */
#include "hw/format/minicqe.h"

#include <endian.h>
#include <string.h>

#define OPCODE_SHIFT 24 /* of sop_drop_qpn, when sent */

static uint8_t
cqe_opcode(const struct shca_cqe *cqe)
{
	return cqe->op_own >> SHCA_CQE_OPCODE_SHIFT;
}

/** Clear the fields that the mini CQE carries, and those that it omits because software has no use
 * for them: the other format's field, and the time. */
static void
strip(struct shca_cqe *cqe)
{
	cqe->rss_hash = 0;
	cqe->checksum = 0;
	cqe->byte_count = 0;
	cqe->timestamp = 0;
	cqe->wqe_counter = 0;
	if (cqe_opcode(cqe) == MLX5_CQE_REQ)
		cqe->sop_drop_qpn &= htobe32(SHCA_CQE_NUMBER_MASK);
}

/** Software increments the title's counter, unless the mini CQE has the counter. */
static bool
is_next_counter(const struct shca_minicqe_block *block, const struct shca_cqe *cqe)
{
	if (cqe_opcode(cqe) == MLX5_CQE_REQ || block->format == SHCA_MINI_CSUM_STRIDX)
		return true;
	return be16toh(cqe->wqe_counter) == block->next_counter;
}

static uint16_t
counter_behind(const struct shca_cqe *cqe)
{
	uint32_t strides =
		be32toh(cqe->byte_count) >> SHCA_CQE_STRIDES_SHIFT & SHCA_CQE_STRIDES_MASK;

	return (uint16_t)(be16toh(cqe->wqe_counter) + (strides != 0 ? strides : 1));
}

static struct shca_minicqe
make_mini(enum shca_mini_format format, const struct shca_cqe *cqe)
{
	struct shca_minicqe mini = { .byte_count = cqe->byte_count };

	if (cqe_opcode(cqe) == MLX5_CQE_REQ) {
		mini.wqe_counter = cqe->wqe_counter;
		mini.wqe_opcode = (uint8_t)(be32toh(cqe->sop_drop_qpn) >> OPCODE_SHIFT);
	} else if (format == SHCA_MINI_HASH) {
		mini.rss_hash = cqe->rss_hash;
	} else {
		mini.checksum = cqe->checksum;
		if (format == SHCA_MINI_CSUM_STRIDX)
			mini.stride_index = cqe->wqe_counter;
	}
	return mini;
}

void
shca_minicqe_init(struct shca_minicqe_block *block, enum shca_mini_format format, uint32_t max)
{
	block->format = format;
	block->nb = 0;
	block->max = (uint8_t)(max < SHCA_MINI_MAX ? max : SHCA_MINI_MAX);
}

bool
shca_minicqe_takes(const struct shca_cqe *cqe)
{
	return cqe_opcode(cqe) == MLX5_CQE_RESP_SEND || cqe_opcode(cqe) == MLX5_CQE_REQ;
}

bool
shca_minicqe_add(struct shca_minicqe_block *block, const struct shca_cqe *cqe)
{
	struct shca_cqe alike = *cqe;

	if (!shca_minicqe_takes(cqe))
		return false;
	strip(&alike);
	if (block->nb == 0) {
		block->first = *cqe;
		block->alike = alike;
	} else if (block->nb == block->max || !is_next_counter(block, cqe) ||
		memcmp(&alike, &block->alike, sizeof(alike)) != 0) {
		return false;
	}
	block->next_counter = counter_behind(cqe);
	block->mini[block->nb++] = make_mini(block->format, cqe);
	return true;
}

void
shca_minicqe_title(const struct shca_minicqe_block *block, struct shca_cqe *title)
{
	*title = block->first;
	title->byte_count = htobe32(block->nb);
	title->op_own |= SHCA_CQE_FORMAT_COMPRESSED;
}
