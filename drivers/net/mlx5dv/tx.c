/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum table of the send burst and the parts of it that are rarely run. */
#include "tx.h"
#include "txq.h"

/* Index: bits 1:0 L4 type of RTE_MBUF_F_TX_L4_MASK, 2 IP, 3 outer IP, 4 tunnel. SCTP (2) is not
 * offered. */
#define CSUM_L4(i) (((i)&3) == 1 || ((i)&3) == 3)
#define CSUM_PLAIN(i)                                                                              \
	((((i)&4) ? MLX5_ETH_WQE_L3_CSUM : 0) | (CSUM_L4(i) ? MLX5_ETH_WQE_L4_CSUM : 0))
#define CSUM_TUNNEL(i)                                                                             \
	((((i)&8) ? MLX5_ETH_WQE_L3_CSUM : 0) | (((i)&4) ? MDV_HW_ETH_L3_INNER_CSUM : 0) |         \
		(CSUM_L4(i) ? MDV_HW_ETH_L4_INNER_CSUM : 0))
#define CSUM(i)   (((i)&16) ? CSUM_TUNNEL(i) : CSUM_PLAIN(i))
#define CSUM_4(i) CSUM(i), CSUM((i) + 1), CSUM((i) + 2), CSUM((i) + 3)

const uint8_t mdv_tx_csums[32] = {
	CSUM_4(0),
	CSUM_4(4),
	CSUM_4(8),
	CSUM_4(12),
	CSUM_4(16),
	CSUM_4(20),
	CSUM_4(24),
	CSUM_4(28),
};

__rte_noinline void
mdv_tx_drop(struct mdv_txq *txq, struct rte_mbuf *mbuf)
{
	txq->count.errors++;
	rte_pktmbuf_free(mbuf);
}

void
mdv_tx_free(struct mdv_txq *txq, uint32_t idx, uint32_t nb)
{
	rte_pktmbuf_free_bulk(&txq->mbufs[idx], nb);
}

/** Packets in flight are lost with the queue's state: they were counted as sent. */
static void
flight_drop(struct mdv_txq *txq)
{
	for (; txq->ci != txq->pc; txq->ci++) {
		struct rte_mbuf **mbuf = &txq->mbufs[txq->ci & txq->mask];

		if (*mbuf == NULL)
			continue;
		txq->count.packets--;
		txq->count.bytes -= (*mbuf)->pkt_len;
		mdv_tx_drop(txq, *mbuf);
		*mbuf = NULL;
	}
}

/** The queue is beyond repair: full for ever, with only the packets in flight in its slots. */
static void
block(struct mdv_txq *txq)
{
	uint16_t first = txq->pc - (txq->mask + 1u), pc;

	for (pc = first; pc != txq->ci; pc++)
		txq->mbufs[pc & txq->mask] = NULL;
	txq->ci = first;
	txq->cq_ci++;
}

__rte_noinline void
mdv_tx_error(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	const struct mlx5_err_cqe *err = (const void *)&txq->cqes[txq->cq_ci & cq_mask];
	uint16_t failed = rte_be_to_cpu_16(err->wqe_counter);

	/* The WQEs before the one that failed are done. */
	if ((uint16_t)(failed - txq->ci) < (uint16_t)(txq->pc - txq->ci))
		mdv_tx_release(txq, failed, MDV_TX_MULTI);
	if (mdv_txq_recover(txq, err->syndrome) != 0) {
		/* The device may still read the packets: they are freed when the queue is stopped.
		 */
		block(txq);
		return;
	}
	flight_drop(txq);
	txq->pc = 0;
	txq->ci = 0;
	txq->requested = 0;
}
