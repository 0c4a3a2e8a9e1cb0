/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a send queue for people: its indices, and the WQEs that the device has. */
#include <errno.h>
#include <inttypes.h>

#include <rte_byteorder.h>

#include "queue/tx/tx_wqe.h"
#include "tx.h"

/* clang-format off */
static const struct {
	uint32_t opcode;
	const char *name;
} opcodes[] = {
	{ MLX5_OPCODE_SEND, "SEND" },
	{ MLX5_OPCODE_TSO, "TSO" },
	{ MDV_HW_OPCODE_ENHANCED_MPSW, "SEND of many" },
};

static const struct {
	uint8_t flag;
	const char *name;
} csums[] = {
	{ MLX5_ETH_WQE_L3_CSUM, " outer-IP" },
	{ MLX5_ETH_WQE_L4_CSUM, " outer-L4" },
	{ MDV_HW_ETH_L3_INNER_CSUM, " inner-IP" },
	{ MDV_HW_ETH_L4_INNER_CSUM, " inner-L4" },
};
/* clang-format on */

static const char *
opcode_name(uint32_t opcode)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(opcodes); i++) {
		if (opcodes[i].opcode == opcode)
			return opcodes[i].name;
	}
	return "unknown";
}

/** @return unit @p ds of the WQE at @p ci. */
static const void *
unit_at(const struct mdv_txq *txq, uint16_t ci, uint32_t ds)
{
	const uint32_t mask = (txq->ring.mask + 1u) * MDV_TX_WQE_DS_PER_BB - 1;

	return txq->ring.wqes +
		(((uint32_t)(ci & txq->ring.mask) * MDV_TX_WQE_DS_PER_BB + ds) & mask) * 16u;
}

/** Print the Ethernet segment. @return the units of the WQE before the data segments */
static uint32_t
dump_eth(const struct mdv_txq *txq, uint16_t ci, FILE *file)
{
	const struct mlx5_wqe_eth_seg *eth = unit_at(txq, ci, 1);
	const uint32_t inlined = rte_be_to_cpu_16(eth->inline_hdr_sz);
	unsigned int i;

	if (eth->cs_flags != 0)
		fprintf(file, ", checksums:");
	for (i = 0; i < RTE_DIM(csums); i++)
		fprintf(file, "%s", eth->cs_flags & csums[i].flag ? csums[i].name : "");
	if (eth->mss != 0)
		fprintf(file, ", segments of %u bytes", rte_be_to_cpu_16(eth->mss));
	if (inlined & MDV_HW_ETH_INSERT_CVLAN >> 16) {
		fprintf(file, ", inserts tag %#x",
			eth->inline_hdr_start[0] << 8 | eth->inline_hdr_start[1]);
		return MDV_TX_WQE_DS_HEAD;
	}
	if (inlined == 0)
		return MDV_TX_WQE_DS_HEAD;
	fprintf(file, ", %u bytes inlined", inlined);
	return mdv_tx_wqe_ds_inline(RTE_MAX(inlined, MDV_TX_WQE_INLINE_START));
}

/** @return WQEBBs of the WQE at @p ci, which is printed if @p file is not NULL. */
static uint32_t
dump_wqe(const struct mdv_txq *txq, uint16_t ci, FILE *file)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = unit_at(txq, ci, 0);
	const uint32_t opcode = rte_be_to_cpu_32(ctrl->opmod_idx_opcode) & UINT8_MAX;
	const uint32_t nb_ds = rte_be_to_cpu_32(ctrl->qpn_ds) & MDV_HW_WQE_DS_MAX;
	uint32_t ds;

	if (file == NULL)
		return RTE_MAX(mdv_tx_wqe_bbs(nb_ds), 1u);
	fprintf(file, "  WQE %u (slot %u): %s, %u units, completion %s", ci, ci & txq->ring.mask,
		opcode_name(opcode), nb_ds,
		ctrl->fm_ce_se == MDV_HW_CTRL_CQE_ALWAYS ? "asked for" : "on error");
	ds = dump_eth(txq, ci, file);
	fprintf(file, "\n");
	for (; ds < nb_ds; ds += mdv_tx_wqe_ds_of(unit_at(txq, ci, ds))) {
		const struct mlx5_wqe_data_seg *seg = unit_at(txq, ci, ds);
		const uint32_t byte_count = rte_be_to_cpu_32(seg->byte_count);

		if (byte_count & MLX5_INLINE_SEG) {
			fprintf(file, "    %u bytes inlined\n", byte_count & ~MLX5_INLINE_SEG);
			continue;
		}
		fprintf(file, "    %u bytes at 0x%" PRIx64 ", lkey 0x%x\n", byte_count,
			rte_be_to_cpu_64(seg->addr), rte_be_to_cpu_32(seg->lkey));
	}
	return RTE_MAX(mdv_tx_wqe_bbs(nb_ds), 1u);
}

int
mdv_tx_dump_wqes(const struct mdv_txq *txq, uint16_t offset, uint16_t num, FILE *file)
{
	const uint16_t pc = txq->pos.pc;
	uint16_t ci = txq->pos.ci, n = 0;

	if (!txq->ready)
		return -EINVAL;
	while ((uint16_t)(pc - ci - 1) < txq->ring.mask + 1u && n < offset + num) {
		ci += dump_wqe(txq, ci, n >= offset ? file : NULL);
		n++;
	}
	return 0;
}

void
mdv_tx_dump(const struct mdv_txq *txq, FILE *file)
{
	fprintf(file, "Tx queue %u: ", txq->idx);
	if (!txq->ready) {
		fprintf(file, "stopped, %u descriptors\n", txq->nb_desc);
		return;
	}
	fprintf(file, "SQ 0x%x of %u WQEBBs: %u to %u with the device, doorbell record %u\n",
		txq->ring.qpn_ds >> 8, txq->ring.mask + 1u, txq->pos.ci, txq->pos.pc,
		rte_be_to_cpu_32(*txq->ring.dbrec));
	fprintf(file, "  mbufs %u to %u not known to be sent\n", txq->pos.tail, txq->pos.head);
	fprintf(file, "  CQ of %u: %u of %u completions taken, doorbell record %u\n",
		1u << txq->ring.log2_cqes, (uint16_t)txq->pos.cq_ci, txq->pos.cq_pi,
		rte_be_to_cpu_32(*txq->ring.cq_dbrec));
	fprintf(file, "  %" PRIu64 " frames, %" PRIu64 " bytes, %" PRIu64 " errors\n",
		txq->count.packets, txq->count.bytes, txq->errors);
	if (txq->nb_stops != 0)
		fprintf(file, "  stopped %u times, last by WQE %u with syndrome 0x%02x, %s\n",
			txq->nb_stops, txq->stop_wqe, txq->stop_syndrome,
			mdv_cq_syndrome(txq->stop_syndrome));
}
