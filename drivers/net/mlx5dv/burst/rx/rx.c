/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the receive burst and the parts of it that are rarely run. */
#include <errno.h>
#include <string.h>

#include <rte_net.h>

#include "queue/rxq_ring.h"
#include "rx_burst.h"

/* A table of 4^n constants, computed from the index by a macro. */
#define TABLE_4(f, i)  f(i), f((i) + 1), f((i) + 2), f((i) + 3)
#define TABLE_16(f, i) TABLE_4(f, i), TABLE_4(f, (i) + 4), TABLE_4(f, (i) + 8), TABLE_4(f, (i) + 12)
#define TABLE_64(f, i)                                                                             \
	TABLE_16(f, i), TABLE_16(f, (i) + 16), TABLE_16(f, (i) + 32), TABLE_16(f, (i) + 48)
#define TABLE_256(f, i)                                                                            \
	TABLE_64(f, i), TABLE_64(f, (i) + 64), TABLE_64(f, (i) + 128), TABLE_64(f, (i) + 192)
#define TABLE_1024(f) TABLE_256(f, 0), TABLE_256(f, 256), TABLE_256(f, 512), TABLE_256(f, 768)

/* Index: bits 1:0 L3, 4:2 L4, 5 fragment, 6 L3_OK, 7 L4_OK, 8 tunneled, 9 outer L3 is IPv6. */
#define PTYPE_L3(i)     ((i)&3)
#define PTYPE_L4(i)     ((i) >> 2 & 7)
#define PTYPE_FRAG(i)   ((i) >> 5 & 1)
#define PTYPE_TUNNEL(i) ((i) >> 8 & 1)
#define PTYPE_OUTER6(i) ((i) >> 9 & 1)
#define PTYPE_IS_IP(i)  (PTYPE_L3(i) == MDV_HW_CQE_L3_IPV4 || PTYPE_L3(i) == MDV_HW_CQE_L3_IPV6)
#define PTYPE_IS_TCP(l4)                                                                           \
	((l4) == MDV_HW_CQE_L4_TCP || (l4) == MDV_HW_CQE_L4_TCP_ACK ||                             \
		(l4) == MDV_HW_CQE_L4_TCP_ACK_DATA)
/* L4 of an IP header by the names with the given prefix: RTE_PTYPE_ or RTE_PTYPE_INNER_. */
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

/* L3_OK is also set for IPv6, which has no checksum. A bad header leaves that of L4 unknown. */
#define CSUM_L3_OK(i)  ((i) >> 6 & 1)
#define CSUM_L4_OK(i)  ((i) >> 7 & 1)
#define CSUM_IP_BAD(i) (!CSUM_L3_OK(i) && PTYPE_L3(i) == MDV_HW_CQE_L3_IPV4)
#define CSUM_IP(i)                                                                                 \
	(CSUM_L3_OK(i)                   ? RTE_MBUF_F_RX_IP_CKSUM_GOOD                             \
			: CSUM_IP_BAD(i) ? RTE_MBUF_F_RX_IP_CKSUM_BAD                              \
					 : 0)
#define CSUM_L4(i)                                                                                 \
	(CSUM_L4_OK(i)                                     ? RTE_MBUF_F_RX_L4_CKSUM_GOOD           \
			: PTYPE_FRAG(i) || CSUM_IP_BAD(i)  ? 0                                     \
			: PTYPE_IS_TCP(PTYPE_L4(i))        ? RTE_MBUF_F_RX_L4_CKSUM_BAD            \
			: PTYPE_L4(i) == MDV_HW_CQE_L4_UDP ? RTE_MBUF_F_RX_L4_CKSUM_NONE           \
							   : 0)
#define MEANING(i)                                                                                 \
	{                                                                                          \
		.ptype = PTYPE(i), .csum = CSUM_IP(i) | CSUM_L4(i)                                 \
	}

const struct mdv_rx_meaning mdv_rx_meanings[1024] = { TABLE_1024(MEANING) };

/** @return offset of the UDP header in the first segment, 0 where there is none to be found. */
static uint32_t
udp_offset(const struct rte_mbuf *mbuf)
{
	struct rte_net_hdr_lens lens = { 0 };
	uint32_t ptype, offset;

	ptype = rte_net_get_ptype(
		mbuf, &lens, RTE_PTYPE_L2_MASK | RTE_PTYPE_L3_MASK | RTE_PTYPE_L4_MASK);
	offset = lens.l2_len + lens.l3_len;
	if ((ptype & RTE_PTYPE_L4_MASK) != RTE_PTYPE_L4_UDP ||
		offset + sizeof(struct rte_udp_hdr) > mbuf->data_len)
		return 0;
	return offset;
}

static uint64_t
udp_csum_flag(const struct rte_mbuf *mbuf)
{
	const struct rte_udp_hdr *udp;
	uint32_t offset;

	/* The device's verdict on a tunnel is about the inner headers: not parsed here. */
	if ((mbuf->packet_type & RTE_PTYPE_INNER_L3_MASK) != 0)
		return RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN;
	offset = udp_offset(mbuf);
	if (offset == 0)
		return RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN;
	udp = rte_pktmbuf_mtod_offset(mbuf, const struct rte_udp_hdr *, offset);
	return udp->dgram_cksum == 0 ? RTE_MBUF_F_RX_L4_CKSUM_GOOD : RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

__rte_noinline void
mdv_rx_settle_udp(struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	uint16_t i;

	for (i = 0; i < nb_pkts; i++) {
		struct rte_mbuf *mbuf = pkts[i];

		if ((mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) != RTE_MBUF_F_RX_L4_CKSUM_NONE)
			continue;
		mbuf->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK;
		mbuf->ol_flags |= udp_csum_flag(mbuf);
	}
}

/** The packet of the WQE at wqe_ci is not delivered: its slot becomes a hole like any other. */
static void
slot_drop(struct mdv_rxq *rxq)
{
	struct rte_mbuf **mbuf = &rxq->mbufs[rxq->wqe_ci & rxq->mask];

	if (rxq->expects & MDV_RX_EXPECT_MINI)
		mdv_cq_invalidate(&rxq->cqes[rxq->cq_ci & rxq->mask]);

	/* Slots of several segments keep their mbufs: nothing is missing there. */
	if (rxq->log2_segs == 0) {
		rte_mbuf_raw_free(*mbuf);
		*mbuf = NULL;
		rxq->nb_holes++;
	}
	rxq->cq_ci++;
	rxq->wqe_ci++;
}

__rte_noinline void
mdv_rx_error(struct mdv_rxq *rxq)
{
	const struct mdv_hw_cqe *cqe = &rxq->cqes[rxq->cq_ci & rxq->mask];
	const struct mlx5_err_cqe *err = (const void *)cqe;

	rxq->count.errors++;
	if ((cqe->op_own >> MDV_HW_CQE_OPCODE_SHIFT) != MLX5_CQE_RESP_ERR ||
		err->syndrome == MDV_HW_SYNDROME_LOCAL_LENGTH) {
		slot_drop(rxq);
		return;
	}
	if (mdv_rxq_ring_recover(rxq, err->syndrome) != 0) {
		slot_drop(rxq);
		mdv_rxq_ring_break(rxq);
	}
}

__rte_noinline uint32_t
mdv_rx_refill_short(struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t nb)
{
	uint32_t fewer;

	for (fewer = nb / 2; fewer != 0; fewer /= 2) {
		if (rte_mempool_get_bulk(rxq->pool, (void **)mbufs, fewer) == 0)
			break;
	}
	rxq->count.nombuf += nb - fewer;
	return fewer;
}

/** Segment @p seg of the WQE whose segments start at @p at gets a buffer. @param known lkey and the
 * buffer's place in the mbuf */
static __rte_always_inline void
segment_fill(
	struct mdv_rxq *rxq, uint32_t at, uint32_t seg, struct rte_mbuf *mbuf, const bool known)
{
	struct mlx5_wqe_data_seg *dseg = &rxq->wqes[at + seg];
	uintptr_t addr = known ? (uintptr_t)mbuf + rxq->buf_offset : mdv_rx_mbuf_addr(rxq, mbuf);

	rxq->mbufs[at + seg] = mbuf;
	if (seg != 0)
		addr -= rxq->headroom;
	if (!known && rxq->lkey_be == MDV_MR_LKEY_NONE)
		dseg->lkey = mdv_mr_lkey(&rxq->mr, addr, mbuf);
	dseg->addr = rte_cpu_to_be_64(addr);
}

/**
 * Put @p nb mbufs where they are missing, in at most @p nb_wqes WQEs from wqe_pi on, and post those
 * that are whole. @return mbufs that are left
 */
static __rte_always_inline uint32_t
slots_fill(struct mdv_rxq *rxq, uint32_t nb_wqes, struct rte_mbuf *const *fresh, uint32_t nb,
	const bool known)
{
	const uint32_t nb_segs = 1u << rxq->log2_segs, mask = rxq->mask;
	const uint32_t end = rxq->wqe_pi + nb_wqes;
	uint32_t pi, seg;

	for (pi = rxq->wqe_pi; pi != end; pi++) {
		const uint32_t at = (pi & mask) << rxq->log2_segs;
		struct rte_mbuf *const *mbufs = &rxq->mbufs[at];

		for (seg = 0; seg < nb_segs && mbufs[seg] == NULL; seg++)
			;
		/* The last hole first: should mbufs run out, those left are still the first ones.
		 */
		for (; seg != 0 && nb != 0; nb--)
			segment_fill(rxq, at, --seg, fresh[nb - 1], known);
		if (unlikely(seg != 0))
			break;
	}
	rxq->wqe_pi = pi;
	return nb;
}

void
mdv_rx_refill_scattered(struct mdv_rxq *rxq)
{
	const bool known = rxq->buf_offset != 0 && rxq->lkey_be != MDV_MR_LKEY_NONE;
	const uint32_t end = rxq->wqe_ci + rxq->mask + 1;
	struct rte_mbuf *fresh[MDV_RX_REFILL_MIN];
	uint32_t left;

	if (end - rxq->wqe_pi < rxq->refill_min)
		return;
	do {
		const uint32_t want = RTE_MIN(rxq->nb_holes, RTE_DIM(fresh));
		uint32_t nb = want;

		if (unlikely(mdv_pool_get(rxq->pool, fresh, nb) != 0))
			nb = mdv_rx_refill_short(rxq, fresh, nb);
		if (likely(known))
			left = slots_fill(rxq, end - rxq->wqe_pi, fresh, nb, true);
		else
			left = slots_fill(rxq, end - rxq->wqe_pi, fresh, nb, false);
		rxq->nb_holes -= nb - left;
		if (unlikely(nb != want))
			break;
	} while (rxq->nb_holes != 0 && left == 0);
	if (unlikely(left != 0))
		rte_mempool_put_bulk(rxq->pool, (void **)fresh, left);
	mdv_rx_doorbell(rxq);
}

int
mdv_rx_fill(struct mdv_rxq *rxq)
{
	const uint32_t nb_segs = 1u << rxq->log2_segs;
	const uint32_t nb_mbufs = (rxq->mask + 1) << rxq->log2_segs;
	uint32_t i;

	for (i = 0; i < nb_mbufs; i++) {
		uint32_t room = rxq->room - (i % nb_segs == 0 ? rxq->headroom : 0);

		rxq->mbufs[i] = NULL;
		rxq->wqes[i] = (struct mlx5_wqe_data_seg){
			.byte_count = rte_cpu_to_be_32(room),
			.lkey = rxq->lkey_be,
		};
	}
	rxq->wqe_ci = 0;
	rxq->wqe_pi = 0;
	rxq->nb_holes = nb_mbufs;
	rxq->ibv.posted = 0;
	if (rxq->log2_segs != 0)
		mdv_rx_refill_scattered(rxq);
	else
		mdv_rx_refill(rxq, false);
	/* A pool that fails may have written there what it keeps. */
	for (i = rxq->log2_segs == 0 ? rxq->wqe_pi : nb_mbufs; i < nb_mbufs; i++)
		rxq->mbufs[i] = NULL;
	/* Counted by the refill only where there are several a WQE; the port's burst may scatter
	 * all the same. */
	if (rxq->log2_segs == 0)
		rxq->nb_holes = nb_mbufs - rxq->wqe_pi;
	return rxq->wqe_pi == rxq->mask + 1 ? 0 : -ENOMEM;
}

void
mdv_rx_drain(struct mdv_rxq *rxq)
{
	uint32_t i;

	rxq->nb_ready = 0;
	rxq->ready_bytes = 0;
	if (rxq->log2_segs == 0) {
		for (; rxq->wqe_ci != rxq->wqe_pi; rxq->wqe_ci++)
			rte_mbuf_raw_free(rxq->mbufs[rxq->wqe_ci & rxq->mask]);
		return;
	}
	for (i = 0; i < (rxq->mask + 1) << rxq->log2_segs; i++) {
		if (rxq->mbufs[i] != NULL)
			rte_mbuf_raw_free(rxq->mbufs[i]);
		rxq->mbufs[i] = NULL;
	}
	rxq->wqe_ci = rxq->wqe_pi;
}
