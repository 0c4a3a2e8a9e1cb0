/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The send queue as the burst functions see it, and the burst template.
 *
 *     SQ   ci ──────> first WQEBB not known to be done      WQEBB n is slot n & mask, for n of 16
 * bits pc ──────> next WQEBB                            [ci, pc) belongs to the device requested pc
 * behind the last WQE that asked for a CQE mbufs[slot]     the packet whose WQE starts in that
 * WQEBB, NULL where a WQE goes on
 *
 * A completion names the WQEBB where its WQE starts; everything up to there is done and its mbufs
 * are freed. The further WQEBBs of that WQE count as busy until the next completion, which keeps
 * the arithmetic to one subtraction. At least a quarter of the ring is never without a requested
 * completion behind it, so a full ring always drains.
 *
 * Owner: the sending thread; counters are read by others without order.
 */
#ifndef MDV_TX_H
#define MDV_TX_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "cq.h"
#include "hw.h"
#include "mr.h"
#include "tx_wqe.h"

struct ibv_qp;
struct mdv_port;

/** What a burst function does beyond sending one segment: constant in each instance. */
enum mdv_tx_opt {
	MDV_TX_MULTI = 1 << 0, /**< several segments a packet */
	MDV_TX_CSUM = 1 << 1,
	MDV_TX_VLAN = 1 << 2,
	MDV_TX_INLINE_L2 = 1 << 3, /**< the device wants the L2 header in the WQE */
	MDV_TX_FAST_FREE = 1 << 4, /**< all mbufs of one pool, not shared */
	MDV_TX_NB_OPTS = 1 << 5,
};

/** 16-byte units of the longest WQE: 15 WQEBBs, as Linux and DPDK keep to. */
#define MDV_TX_DS_MAX 60u
/** Segments of a packet that always fit. */
#define MDV_TX_SEGS_MAX (MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD_INLINE)
/** Shortest frame: the device parses an Ethernet header. */
#define MDV_TX_FRAME_MIN 14u
/** WQEBBs after which a burst asks for a completion, in a ring of four times as many at least. */
#define MDV_TX_REQUEST_MIN 32

struct mdv_tx_counters {
	uint64_t packets, bytes;
	uint64_t errors; /**< packets that could not be sent, and those lost to a queue error */
};

struct mdv_txq {
	/* line 0: read by every burst, written by none */
	uint8_t *wqes;
	struct rte_mbuf **mbufs;
	volatile __be32 *dbrec;     /**< word 1 of the QP's record */
	volatile uint64_t *uar_reg; /**< doorbell register */
	const struct mdv_hw_cqe *cqes;
	volatile __be32 *cq_dbrec;
	uint32_t sqn;
	uint32_t frame_span; /**< longest less shortest frame */
	uint16_t mask;       /**< of WQEBBs */
	uint16_t request_min;
	uint8_t log2_cqes;
	bool uar_combines; /**< the register's page is write-combining: flush after ringing */

	/* line 1: written by every burst */
	uint16_t pc __rte_cache_aligned;
	uint16_t ci;
	uint16_t requested;
	uint32_t cq_ci;
	struct mdv_tx_counters count;
	struct mdv_mr_cache mr; /**< its last hit is in this line, the rest is for misses */

	/* control path */
	struct mdv_tx_counters base; /**< count at the last reset of the statistics */
	struct mdv_port *port;
	struct ibv_qp *qp; /**< NULL: not started */
	struct mdv_cq cq;
	struct rte_eth_txconf conf;
	uint16_t idx;
	uint16_t nb_desc; /**< WQEBBs, a power of two */
};
static_assert(offsetof(struct mdv_txq, uar_combines) < 64, "line 0");
static_assert(offsetof(struct mdv_txq, pc) == 64, "line 1");
static_assert(
	offsetof(struct mdv_txq, mr) + offsetof(struct mdv_mr_cache, generation) <= 128, "line 1");

/** cs_flags by mdv_tx_csum_index(). */
extern const uint8_t mdv_tx_csums[32];

/** The packet cannot be sent: free and count it. */
void mdv_tx_drop(struct mdv_txq *txq, struct rte_mbuf *mbuf);
/** The CQE at cq_ci reports an error: start the queue anew. */
void mdv_tx_error(struct mdv_txq *txq);
/** Free the packets of @p nb slots from @p idx on, which do not wrap; NULL is skipped. */
void mdv_tx_free(struct mdv_txq *txq, uint32_t idx, uint32_t nb);

/** @return the instance for the set of enum mdv_tx_opt. */
eth_tx_burst_t mdv_tx_select(unsigned int opts);
/** @return the options of an instance, negative when it is none. */
int mdv_tx_select_opts(eth_tx_burst_t burst);
/** ethdev tx_burst_mode_get text of an option set. */
void mdv_tx_select_describe(unsigned int opts, char *text, size_t size);

/** Bits of ol_flags that decide about checksums, packed. */
static __rte_always_inline uint32_t
mdv_tx_csum_index(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_L4_MASK == 3ULL << 52, "bits 1:0 of the index");
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == 1ULL << 54, "bit 2 of the index");
	static_assert(RTE_MBUF_F_TX_OUTER_IP_CKSUM == 1ULL << 58, "bit 3 of the index");

	return (ol_flags >> 52 & 7) | (ol_flags >> 55 & 8) |
		((ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) != 0 ? 16 : 0);
}

/** Free what a completion has released: slots [ci, to). */
static __rte_always_inline void
mdv_tx_release(struct mdv_txq *txq, uint16_t to, const unsigned int opts)
{
	while (txq->ci != to) {
		uint32_t idx = txq->ci & txq->mask;
		uint32_t nb = RTE_MIN((uint32_t)(uint16_t)(to - txq->ci), txq->mask + 1u - idx);

		/* Chains have to be taken apart, so only single mbufs go back without a look. */
		if ((opts & MDV_TX_FAST_FREE) && !(opts & MDV_TX_MULTI))
			rte_mempool_put_bulk(txq->mbufs[idx]->pool, (void **)&txq->mbufs[idx], nb);
		else
			mdv_tx_free(txq, idx, nb);
		txq->ci += nb;
	}
}

/** Take completions. */
static __rte_always_inline void
mdv_tx_reap(struct mdv_txq *txq, const unsigned int opts)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	const struct mdv_hw_cqe *cqe = &txq->cqes[txq->cq_ci & cq_mask];
	uint8_t op_own = mdv_cq_op_own(cqe);
	uint16_t done = 0;

	if (!mdv_cq_is_valid(op_own, txq->cq_ci, txq->log2_cqes))
		return;
	do {
		if (unlikely(op_own >> MDV_HW_CQE_OPCODE_SHIFT != MLX5_CQE_REQ)) {
			mdv_tx_error(txq);
			return;
		}
		done = rte_be_to_cpu_16(cqe->wqe_counter) + 1;
		txq->cq_ci++;
		cqe = &txq->cqes[txq->cq_ci & cq_mask];
		op_own = mdv_cq_op_own(cqe);
	} while (mdv_cq_is_valid(op_own, txq->cq_ci, txq->log2_cqes));
	mdv_cq_update_ci(txq->cq_dbrec, txq->cq_ci);
	mdv_tx_release(txq, done, opts);
}

/** Ring: the device may fetch WQEs before pc; @p last is the control segment of the last one. */
static __rte_always_inline void
mdv_tx_doorbell(struct mdv_txq *txq, const void *last)
{
	/* Orders the stores of the WQEs before the record, for the device that reads both. */
	rte_io_wmb();
	*txq->dbrec = rte_cpu_to_be_32(txq->pc);
	/* Orders the record before the register: a write-combining store could overtake it. */
	if (unlikely(txq->uar_combines))
		rte_wmb();
	else
		rte_io_wmb();
	*txq->uar_reg = *(const volatile uint64_t *)last;
	if (unlikely(txq->uar_combines))
		rte_wmb();
}

/** Write the L2 header into the WQE, with its VLAN tag if one is to be inserted. @return bytes
 * taken, 0: none there. */
static __rte_always_inline uint32_t
mdv_tx_inline_l2(struct mlx5_wqe_eth_seg *eth, const struct rte_mbuf *mbuf, uint8_t cs_flags,
	const unsigned int opts)
{
	const uint32_t tci_off = 2 * RTE_ETHER_ADDR_LEN;
	uint8_t copy[MDV_HW_ETH_INLINE_L2], header[MDV_HW_ETH_INLINE_L2];
	const bool tagged = (opts & MDV_TX_VLAN) && (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN);
	uint32_t len = tagged ? MDV_TX_FRAME_MIN : RTE_MIN(mbuf->pkt_len, MDV_HW_ETH_INLINE_L2);
	const uint8_t *from = rte_pktmbuf_read(mbuf, 0, len, copy);

	if (unlikely(from == NULL))
		return 0;
	if (!tagged) {
		mdv_tx_wqe_eth_inline(eth, cs_flags, from, len);
		return len;
	}
	memcpy(header, from, tci_off);
	header[tci_off] = RTE_ETHER_TYPE_VLAN >> 8;
	header[tci_off + 1] = RTE_ETHER_TYPE_VLAN & 0xff;
	header[tci_off + 2] = mbuf->vlan_tci >> 8;
	header[tci_off + 3] = mbuf->vlan_tci & 0xff;
	memcpy(header + tci_off + RTE_VLAN_HLEN, from + tci_off, 2);
	mdv_tx_wqe_eth_inline(eth, cs_flags, header, sizeof(header));
	return len;
}

/** The Ethernet segment. @return units of the WQE so far; @p taken bytes of the packet are in it.
 */
static __rte_always_inline uint32_t
mdv_tx_head(void *wqe, const struct rte_mbuf *mbuf, uint32_t *taken, const unsigned int opts)
{
	struct mlx5_wqe_eth_seg *eth = (void *)((struct mlx5_wqe_ctrl_seg *)wqe + 1);
	uint8_t cs_flags = 0;
	__be32 tail_be = 0;

	if (opts & MDV_TX_CSUM)
		cs_flags = mdv_tx_csums[mdv_tx_csum_index(mbuf->ol_flags)];
	if (opts & MDV_TX_INLINE_L2) {
		*taken = mdv_tx_inline_l2(eth, mbuf, cs_flags, opts);
		return MDV_TX_WQE_DS_HEAD_INLINE;
	}
	if ((opts & MDV_TX_VLAN) && (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN))
		tail_be = mdv_tx_wqe_insert(mbuf->vlan_tci);
	mdv_tx_wqe_eth(eth, cs_flags, tail_be);
	*taken = 0;
	return MDV_TX_WQE_DS_HEAD;
}

/** Build the WQE of a packet of one segment: always one WQEBB. @return WQEBBs, -1 when it cannot be
 * sent. */
static __rte_always_inline int
mdv_tx_single(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, const unsigned int opts)
{
	uint32_t slot = pc & txq->mask;
	uint8_t *wqe = txq->wqes + slot * MLX5_SEND_WQE_BB;
	uint32_t taken, ds = mdv_tx_head(wqe, mbuf, &taken, opts);
	uint32_t len = mbuf->data_len - taken;
	uintptr_t addr = rte_pktmbuf_mtod_offset(mbuf, uintptr_t, taken);

	if ((opts & MDV_TX_INLINE_L2) && unlikely(taken == 0))
		return -1;
	if (!(opts & MDV_TX_INLINE_L2) || likely(len != 0)) {
		uint32_t lkey_be = mdv_mr_lkey(&txq->mr, addr, mbuf);

		if (unlikely(lkey_be == MDV_MR_LKEY_NONE))
			return -1;
		mdv_tx_wqe_data((struct mlx5_wqe_data_seg *)wqe + ds, addr, len, lkey_be);
		ds++;
	}
	mdv_tx_wqe_ctrl((void *)wqe, pc, txq->sqn, ds, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	txq->mbufs[slot] = mbuf;
	return 1;
}

/**
 * Build the WQE of a packet of several segments, in at most @p room WQEBBs.
 * @return WQEBBs, 0 when there is no room now, -1 when it cannot be sent.
 */
static __rte_always_inline int
mdv_tx_multi(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, uint32_t room,
	const unsigned int opts)
{
	const uint32_t slot = pc & txq->mask;
	const uint32_t ds_mask = (txq->mask + 1u) * MDV_TX_WQE_DS_PER_BB - 1;
	uint8_t *wqe = txq->wqes + slot * MLX5_SEND_WQE_BB;
	uint32_t taken, ds = mdv_tx_head(wqe, mbuf, &taken, opts);
	const uint32_t ds_head = ds;
	const struct rte_mbuf *seg;
	uint32_t i, nb_bbs;

	if ((opts & MDV_TX_INLINE_L2) && unlikely(taken == 0))
		return -1;
	for (seg = mbuf; seg != NULL; seg = seg->next) {
		uint32_t len = seg->data_len, pos, lkey_be;
		uintptr_t addr;

		if (len <= taken) {
			taken -= len;
			continue;
		}
		if (unlikely(ds == MDV_TX_DS_MAX))
			return -1;
		if (unlikely(ds == room * MDV_TX_WQE_DS_PER_BB))
			return 0;
		addr = rte_pktmbuf_mtod_offset(seg, uintptr_t, taken);
		lkey_be = mdv_mr_lkey(&txq->mr, addr, seg);
		if (unlikely(lkey_be == MDV_MR_LKEY_NONE))
			return -1;
		pos = (slot * MDV_TX_WQE_DS_PER_BB + ds) & ds_mask;
		mdv_tx_wqe_data(
			(struct mlx5_wqe_data_seg *)txq->wqes + pos, addr, len - taken, lkey_be);
		taken = 0;
		ds++;
	}
	if (unlikely(ds == ds_head && !(opts & MDV_TX_INLINE_L2)))
		return -1;
	mdv_tx_wqe_ctrl((void *)wqe, pc, txq->sqn, ds, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	nb_bbs = mdv_tx_wqe_bbs(ds);
	txq->mbufs[slot] = mbuf;
	for (i = 1; i < nb_bbs; i++)
		txq->mbufs[(slot + i) & txq->mask] = NULL;
	return nb_bbs;
}

/** Hand the WQEs [txq->pc, pc) over, with a completion request if one is due. */
static __rte_always_inline void
mdv_tx_commit(struct mdv_txq *txq, uint16_t pc, struct mlx5_wqe_ctrl_seg *last)
{
	if ((uint16_t)(pc - txq->requested) >= txq->request_min) {
		last->fm_ce_se = MDV_HW_CTRL_CQE_ALWAYS;
		txq->requested = pc;
	}
	txq->pc = pc;
	mdv_tx_doorbell(txq, last);
}

/**
 * Send up to @p nb_pkts packets; fewer when the ring is full. What cannot be sent is freed and
 * counted. A packet costs the mbuf's first line (read), its WQEBB (written) and a share of the
 * mbufs[] lines; line 0 of the queue is read, line 1 written once a burst.
 */
static __rte_always_inline uint16_t
mdv_tx_burst(struct mdv_txq *txq, struct rte_mbuf **pkts, uint16_t nb_pkts, const unsigned int opts)
{
	uint16_t pc, nb, nb_sent = 0;
	uint8_t *last = NULL;
	uint64_t bytes = 0;
	uint32_t room;

	mdv_tx_reap(txq, opts);
	mdv_mr_cache_check(&txq->mr);
	pc = txq->pc;
	room = txq->mask + 1u - (uint16_t)(pc - txq->ci);
	for (nb = 0; nb < nb_pkts && room != 0; nb++) {
		struct rte_mbuf *mbuf = pkts[nb];
		const bool chained = (opts & MDV_TX_MULTI) && mbuf->nb_segs > 1;
		uint32_t len = chained ? mbuf->pkt_len : mbuf->data_len;
		int nb_bbs = -1;

		if (likely(len - MDV_TX_FRAME_MIN <= txq->frame_span)) {
			if (chained)
				nb_bbs = mdv_tx_multi(txq, mbuf, pc, room, opts);
			else
				nb_bbs = mdv_tx_single(txq, mbuf, pc, opts);
		}
		if (unlikely(nb_bbs <= 0)) {
			if (nb_bbs == 0)
				break;
			mdv_tx_drop(txq, mbuf);
			continue;
		}
		last = txq->wqes + (pc & txq->mask) * MLX5_SEND_WQE_BB;
		pc += nb_bbs;
		room -= nb_bbs;
		bytes += len;
		nb_sent++;
	}
	if (last != NULL) {
		txq->count.packets += nb_sent;
		txq->count.bytes += bytes;
		mdv_tx_commit(txq, pc, (void *)last);
	}
	return nb;
}

#endif /* MDV_TX_H */
