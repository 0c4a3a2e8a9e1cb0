/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The parts of the send burst; the burst itself is in tx_burst.h.
 */
#ifndef MDV_TX_H
#define MDV_TX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/compat.h"
#include "device/uar.h"
#include "queue/tx/tx_limits.h"
#include "queue/tx/tx_wqe.h"
#include "queue/tx/txq.h"
#include "queue/tx/txq_ring.h"

/** Work of a burst function beyond sending one segment: constant in each instance. */
enum mdv_tx_opt {
	MDV_TX_MULTI = 1 << 0, /**< several segments a packet */
	MDV_TX_CSUM = 1 << 1,
	MDV_TX_VLAN = 1 << 2,
	MDV_TX_FAST_FREE = 1 << 3, /**< fast free: all mbufs are of one pool and not shared */
	MDV_TX_TSO = 1 << 4,       /**< only with MDV_TX_CSUM */
	MDV_TX_INLINE_L2 =
		1 << 5,         /**< the device needs the L2 header in the WQE: not with vectors */
	MDV_TX_SWP = 1 << 6,    /**< WQEs give the places of headers: see MDV_TX_SWP_OPTS */
	MDV_TX_INLINE = 1 << 7, /**< short packets are copied into WQEs: see MDV_TX_INLINE_OPTS */
	MDV_TX_NB_OPTS = 1 << 8,
};

/** Result for the first of the packets given to a function. */
enum mdv_tx_status {
	MDV_TX_SENT,    /**< its WQE is written */
	MDV_TX_NO_ROOM, /**< it must wait until more WQEs complete */
	MDV_TX_BAD,     /**< it cannot be sent */
	MDV_TX_WHOLE,   /**< it needs no long WQE: it is neither a chain nor TSO */
};

/** cs_flags by mdv_tx_csum_index(). */
extern const uint8_t mdv_tx_csums[32];

/** Free and count a packet that cannot be sent. */
void mdv_tx_drop(struct mdv_txq *txq, struct rte_mbuf *mbuf);
/** The same as mdv_tx_put(), for memory other than the last hit's. */
bool mdv_tx_put_far(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg);
/** Restart the queue after a CQE with an error. cq_ci has not moved past it. */
void mdv_tx_error(struct mdv_txq *txq);
/** ethdev tx_done_cleanup, tx_descriptor_status. */
int mdv_tx_done_cleanup(void *txq, uint32_t free_cnt);
int mdv_tx_done_status(void *txq, uint16_t offset);
#ifdef MDV_COMPAT_RECYCLE
/** ethdev recycle_tx_mbufs_reuse. @return the number of mbufs written to the receive queue's ring
 */
uint16_t mdv_tx_recycle_reuse(void *txq, struct rte_eth_recycle_rxq_info *info);
#endif
/** Print the queue's state. */
void mdv_tx_dump(const struct mdv_txq *txq, FILE *file);
/**
 * Print @p num of the WQEs that the device has, from number @p offset on, the oldest first.
 * @return 0, -EINVAL: stopped
 */
int mdv_tx_dump_wqes(const struct mdv_txq *txq, uint16_t offset, uint16_t num, FILE *file);
/** Instances by enum mdv_tx_opt, with vectors of 128 and 256 bits; NULL with MDV_TX_INLINE_L2. */
extern const eth_tx_burst_t mdv_tx_vec128[MDV_TX_NB_OPTS];
extern const eth_tx_burst_t mdv_tx_vec256[MDV_TX_NB_OPTS];

/** ethdev tx_pkt_prepare. */
uint16_t mdv_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/**
 * @return for this set of enum mdv_tx_opt the instance with the widest vectors of at most @p
 * simd_bits bits that this CPU supports; 0 bits if the device does not take several packets a WQE.
 */
eth_tx_burst_t mdv_tx_select(unsigned int opts, unsigned int simd_bits);
/** @return the reason why mdv_tx_select() takes no wider vectors; NULL: it takes the widest. */
const char *mdv_tx_select_limited_by(unsigned int opts, unsigned int simd_bits);
/** @return whether @p burst is an instance of this driver; @p mode is filled for ethdev
 * tx_burst_mode_get. */
bool mdv_tx_select_describe(eth_tx_burst_t burst, struct rte_eth_burst_mode *mode);

/** @return the number of mbufs of the packet whose first one is at @p tail. */
static inline uint16_t
mdv_tx_packet_mbufs(const struct mdv_txq *txq, uint16_t tail)
{
	return txq->ring.chains ? txq->ring.mbufs[tail & txq->ring.mask]->nb_segs : 1;
}

/** The progress of a burst. */
struct mdv_tx_pos {
	uint16_t pc, head;
	uint16_t nb;   /**< packets taken so far, including dropped ones */
	uint8_t *last; /**< last WQE; NULL: none yet */
	uint64_t bytes;
	uint64_t more; /**< frames beyond one an mbuf; modulo 2^64, as it may be below 0 */
};

/** Copy field by field. An assignment is done by vectors, each of which waits until the narrow
 * stores of what it reads have left the CPU's store buffer. */
static __rte_always_inline void
mdv_tx_pos_copy(struct mdv_tx_pos *to, const struct mdv_tx_pos *from)
{
	to->pc = from->pc;
	to->head = from->head;
	to->nb = from->nb;
	to->last = from->last;
	to->bytes = from->bytes;
	to->more = from->more;
}

/** @return the bits of ol_flags that decide about checksums, packed. */
static __rte_always_inline uint32_t
mdv_tx_csum_index(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_L4_MASK == 3ULL << 52, "bits 1:0 of the index");
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == 1ULL << 54, "bit 2 of the index");
	static_assert(RTE_MBUF_F_TX_OUTER_IP_CKSUM == 1ULL << 58, "bit 3 of the index");

	return (ol_flags >> 52 & 7) | (ol_flags >> 55 & 8) |
		((ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) != 0 ? 16 : 0);
}

/** Write the data segment of the mbuf's bytes without the first @p skip. @return false: their
 * memory is unknown */
static __rte_always_inline bool
mdv_tx_put(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg)
{
	const uintptr_t addr = rte_pktmbuf_mtod_offset(mbuf, uintptr_t, skip);

	if (unlikely(addr - txq->mr.last.start >= txq->mr.last.size))
		return mdv_tx_put_far(txq, mbuf, skip, seg);
	mdv_tx_wqe_data(seg, addr, mbuf->data_len - skip, txq->mr.last.lkey_be);
	return true;
}

/** Ring the doorbell: the device may fetch WQEs before @p pc; @p last is the control segment of the
 * last one. */
static __rte_always_inline void
mdv_tx_doorbell(struct mdv_txq *txq, const void *last, uint16_t pc)
{
	volatile uint64_t *reg = mdv_uar_regs[txq->ring.uar_slot];

	/* Orders the stores of the WQEs before the record, for the device that reads both. */
	rte_io_wmb();
	*txq->ring.dbrec = rte_cpu_to_be_32(pc);
	/* Orders the record before the register. */
	if (likely(!txq->ring.uar_combines)) {
		rte_io_wmb();
		*reg = *(const volatile uint64_t *)last;
		return;
	}
	/* A write-combining store could overtake it even so, and would be held back. */
	rte_wmb();
	*reg = *(const volatile uint64_t *)last;
	rte_wmb();
}

#endif /* MDV_TX_H */
