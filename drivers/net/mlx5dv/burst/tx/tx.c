/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum table of the send burst, and its rare packets. */
#include "tx.h"

/** Index: bits 1:0 L4 type of RTE_MBUF_F_TX_L4_MASK, 2 IP, 3 outer IP, 4 tunnel. SCTP (2) is not
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
	txq->errors++;
	rte_pktmbuf_free(mbuf);
}

__rte_noinline bool
mdv_tx_put_far(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg)
{
	const struct mdv_mr_place place =
		mdv_mr_cache_miss(&txq->mr, rte_pktmbuf_mtod_offset(mbuf, uintptr_t, skip), mbuf);

	mdv_tx_wqe_data(seg, place.addr, mbuf->data_len - skip, place.lkey_be);
	return place.lkey_be != MDV_MR_LKEY_NONE;
}
