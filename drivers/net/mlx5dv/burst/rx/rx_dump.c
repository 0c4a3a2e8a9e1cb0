/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a receive queue's completions for people. */
#include <errno.h>
#include <inttypes.h>

#include <rte_byteorder.h>

#include "queue/cq.h"
#include "rx.h"

#define WORDS_PER_LINE 8

/** As the device wrote it, in words of its byte order. */
static void
dump_words(const struct mdv_hw_cqe *cqe, FILE *file)
{
	const rte_be32_t *word = (const rte_be32_t *)cqe;

	for (unsigned int i = 0; i < sizeof(*cqe) / sizeof(*word); i++)
		fprintf(file, "%s%08x%s", i % WORDS_PER_LINE == 0 ? "    " : " ",
			rte_be_to_cpu_32(word[i]),
			i % WORDS_PER_LINE == WORDS_PER_LINE - 1 ? "\n" : "");
}

int
mdv_rx_dump_cqes(const struct mdv_rxq *rxq, uint16_t offset, uint16_t num, FILE *file)
{
	const uint32_t mask = rxq->ring.mask;

	if (!rxq->ready)
		return -EINVAL;
	for (uint32_t i = 0; i < num && i <= mask; i++) {
		const uint32_t slot = (rxq->pos.cq_ci + offset + i) & mask;
		const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[slot];
		const uint8_t op_own = mdv_cq_op_own(cqe);

		fprintf(file, "  Rx queue %u, CQE slot %u%s: opcode %u, owner %u%s, %u bytes\n",
			rxq->idx, slot, slot == (rxq->pos.cq_ci & mask) ? ", the next" : "",
			op_own >> MDV_HW_CQE_OPCODE_SHIFT, op_own & MDV_HW_CQE_OWNER,
			mdv_cq_is_block(op_own) ? ", begins a block" : "",
			rte_be_to_cpu_32(cqe->byte_cnt));
		dump_words(cqe, file);
	}
	return 0;
}
