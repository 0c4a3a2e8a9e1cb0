/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the receive burst, and its rare cases. */
#include <errno.h>
#include <string.h>

#include "queue/rx/rxq_ring.h"
#include "rx_burst.h"

/** A table of 4^n constants, computed from the index by a macro. */
#define TABLE_4(f, i)  f(i), f((i) + 1), f((i) + 2), f((i) + 3)
#define TABLE_16(f, i) TABLE_4(f, i), TABLE_4(f, (i) + 4), TABLE_4(f, (i) + 8), TABLE_4(f, (i) + 12)
#define TABLE_64(f, i)                                                                             \
	TABLE_16(f, i), TABLE_16(f, (i) + 16), TABLE_16(f, (i) + 32), TABLE_16(f, (i) + 48)
#define TABLE_256(f, i)                                                                            \
	TABLE_64(f, i), TABLE_64(f, (i) + 64), TABLE_64(f, (i) + 128), TABLE_64(f, (i) + 192)
#define TABLE_1024(f) TABLE_256(f, 0), TABLE_256(f, 256), TABLE_256(f, 512), TABLE_256(f, 768)

/** Index: bits 1:0 L3, 4:2 L4, 5 fragment, 6 L3_OK, 7 L4_OK, 8 tunneled, 9 outer L3 is IPv6. */
#define PTYPE_L3(i)     ((i)&3)
#define PTYPE_L4(i)     ((i) >> 2 & 7)
#define PTYPE_FRAG(i)   ((i) >> 5 & 1)
#define PTYPE_TUNNEL(i) ((i) >> 8 & 1)
#define PTYPE_OUTER6(i) ((i) >> 9 & 1)
#define PTYPE_IS_IP(i)  (PTYPE_L3(i) == MDV_HW_CQE_L3_IPV4 || PTYPE_L3(i) == MDV_HW_CQE_L3_IPV6)
#define PTYPE_IS_TCP(l4)                                                                           \
	((l4) == MDV_HW_CQE_L4_TCP || (l4) == MDV_HW_CQE_L4_TCP_ACK ||                             \
		(l4) == MDV_HW_CQE_L4_TCP_ACK_DATA)
/** L4 of an IP header by the names with the given prefix: RTE_PTYPE_ or RTE_PTYPE_INNER_. */
#define PTYPE_IP(i, prefix)                                                                        \
	((PTYPE_L3(i) == MDV_HW_CQE_L3_IPV6 ? prefix##L3_IPV6_EXT_UNKNOWN                          \
					    : prefix##L3_IPV4_EXT_UNKNOWN) |                       \
		(PTYPE_FRAG(i)                                     ? prefix##L4_FRAG               \
				: PTYPE_L4(i) == 0                 ? prefix##L4_NONFRAG            \
				: PTYPE_IS_TCP(PTYPE_L4(i))        ? prefix##L4_TCP                \
				: PTYPE_L4(i) == MDV_HW_CQE_L4_UDP ? prefix##L4_UDP                \
								   : 0))
#define PTYPE_OUTER(i)                                                                             \
	(PTYPE_OUTER6(i) ? RTE_PTYPE_L3_IPV6_EXT_UNKNOWN : RTE_PTYPE_L3_IPV4_EXT_UNKNOWN)
#define PTYPE(i)                                                                                   \
	(RTE_PTYPE_L2_ETHER |                                                                      \
		(PTYPE_TUNNEL(i) ? PTYPE_OUTER(i) |                                                \
					(PTYPE_IS_IP(i) ? PTYPE_IP(i, RTE_PTYPE_INNER_) : 0)       \
				: PTYPE_IS_IP(i) ? PTYPE_IP(i, RTE_PTYPE_)                         \
						 : 0))

/** Without its OK bit a checksum may be wrong, or was not looked at: TCP behind an IPv6 routing
 * header (Linux mlx5e_handle_csum() calls both CHECKSUM_NONE). L3_OK is also set for IPv6, which
 * has none. */
#define CSUM_IP(i) ((i) >> 6 & 1 ? RTE_MBUF_F_RX_IP_CKSUM_GOOD : RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN)
#define CSUM_L4(i) ((i) >> 7 & 1 ? RTE_MBUF_F_RX_L4_CKSUM_GOOD : RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
#define MEANING(i)                                                                                 \
	{                                                                                          \
		.ptype = PTYPE(i), .csum = CSUM_IP(i) | CSUM_L4(i)                                 \
	}

const struct mdv_rx_hdr_type mdv_rx_hdr_types[1024] = { TABLE_1024(MEANING) };

/**
 * Skip the WQE at wqe_ci, whose packet is not delivered: its slot becomes a hole like any other.
 */
static void
slot_drop(struct mdv_rxq *rxq)
{
	struct rte_mbuf **mbuf = &rxq->ring.mbufs[rxq->pos.wqe_ci & rxq->ring.mask];

	if (rxq->strides.log2_strides != 0) {
		mdv_rx_stride_drop(rxq);
		return;
	}
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI)
		mdv_cq_invalidate(&rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask]);

	/* A slot of several segments keeps its mbufs, so none is missing. */
	if (rxq->ring.log2_segs == 0) {
		rte_mbuf_raw_free(*mbuf);
		*mbuf = NULL;
		rxq->nb_empty++;
	}
	rxq->pos.cq_ci++;
	rxq->pos.wqe_ci++;
}

/** @return whether the WQ has stopped: the syndromes after which DPDK's mlx5 driver resets it, too
 * (mlx5_rx.c mlx5_rx_err_handle()) */
static bool
has_stopped(uint8_t syndrome)
{
	return syndrome == MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR ||
		syndrome == MLX5_CQE_SYNDROME_LOCAL_PROT_ERR ||
		syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
}

__rte_noinline void
mdv_rx_error(struct mdv_rxq *rxq)
{
	const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];
	const struct mlx5_err_cqe *err = (const void *)cqe;

	rxq->count.errors++;
	if ((cqe->op_own >> MDV_HW_CQE_OPCODE_SHIFT) != MLX5_CQE_RESP_ERR ||
		!has_stopped(err->syndrome)) {
		slot_drop(rxq);
		return;
	}
	if (mdv_rxq_ring_recover(rxq, err->syndrome) != 0) {
		slot_drop(rxq);
		mdv_rxq_ring_break(rxq);
	}
}

/* Without RTE_MBUF_F_EXTERNAL a clone takes what lies before the data for an mbuf
 * (rte_mbuf_from_indirect()), and a send queue that inlines would read the data. */
__rte_noinline void
mdv_rx_tell_pinned(const struct mdv_rxq *rxq, struct rte_mbuf *const *pkts, uint16_t nb)
{
	if ((rte_pktmbuf_priv_flags(rxq->pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) == 0)
		return;
	while (nb-- != 0)
		pkts[nb]->ol_flags |= RTE_MBUF_F_EXTERNAL;
}
