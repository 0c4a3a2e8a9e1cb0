/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The receive queue as the burst functions see it; the burst itself is in rx_burst.h.
 *
 *     CQ   ci ─────> slot cq_ci & mask        one CQE a packet
 *     WQ   wqe_ci ─> slot wqe_ci & mask       its WQE: 2^log2_segs segments, and as many mbufs
 *          wqe_pi ─> first WQE not posted     [wqe_ci, wqe_pi) belong to the device
 *
 * Both rings have the same size and move in step; the difference of cq_ci and wqe_ci only changes
 * when the WQ was reset after an error, which starts the device's WQE counter at 0 again. A
 * received packet leaves a hole behind that the refill closes in bulk, so an empty pool costs
 * nothing but buffers: the ring runs down, the device counts what it cannot place, and the next
 * burst tries again.
 *
 * With several segments a slot keeps the mbufs that its packet did not need; NULL marks those to
 * replace, which are the first ones of the slot, for packets take segments in order.
 *
 * A block of compressed CQEs is written into the first mbufs of its packets all at once, and cq_ci
 * moves past it; wqe_ci does as bursts take the packets, nb_ready of which are still there.
 *
 * Owner: the polling thread; counters are read by others without order.
 */
#ifndef MDV_RX_H
#define MDV_RX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include "base/hw.h"
#include "base/mark.h"
#include "mem/mr.h"
#include "port/revive.h"
#include "queue/cq.h"

struct ibv_wq;
struct mdv_port;

/** Segments a WQE can have here; bounded below by the device's max_sge. */
#define MDV_RX_SEGS_MAX 32
/** Missing WQEs that make a refill, in a ring of four times as many at least. */
#define MDV_RX_REFILL_MIN 64

/** What a burst function does beyond lengths and packet types: constant in each instance. */
enum mdv_rx_opt {
	MDV_RX_CSUM = 1 << 0,
	MDV_RX_HASH = 1 << 1,
	MDV_RX_MARK = 1 << 2,      /**< as far as MDV_RX_EXPECT_MARK */
	MDV_RX_TIMESTAMP = 1 << 3, /**< not from compressed CQEs */
	MDV_RX_SCATTER = 1 << 4,   /**< several segments a WQE */
	MDV_RX_NB_OPTS = 1 << 5,
};

/**
 * What CQEs may come to say while the queue is being polled. Looked up by each burst and set before
 * the device is told to begin: a change of the burst function would not reach a thread that is
 * inside of the old one.
 */
enum mdv_rx_expect {
	MDV_RX_EXPECT_MARK = 1 << 0, /**< a rule may tag packets */
	MDV_RX_EXPECT_VLAN = 1 << 1, /**< VLAN tags may be stripped */
	MDV_RX_EXPECT_MINI = 1 << 2, /**< CQEs may be compressed */
	MDV_RX_EXPECT_NONE = 1 << 3, /**< none will come: the queue has to be made anew */
};

struct mdv_rx_counters {
	uint64_t packets, bytes;
	uint64_t nombuf; /**< buffers that the pool could not give */
	uint64_t errors; /**< error CQEs */
};

struct mdv_rxq {
	/* line 0: read by every burst, written by none */
	struct mdv_hw_cqe *cqes;
	struct rte_mbuf **mbufs; /**< WQE slot << log2_segs + segment */
	struct mlx5_wqe_data_seg *wqes;
	volatile __be32 *cq_dbrec;
	volatile __be32 *wq_dbrec;
	struct rte_mempool *pool;
	uint64_t rearm; /**< rearm_data of a packet's first mbuf */
	uint32_t mask;  /**< of both rings */
	uint8_t log2_wqes;
	uint8_t log2_segs;
	uint8_t refill_min; /**< missing WQEs worth a refill */
	uint8_t expects;    /**< enum mdv_rx_expect; never less until the queue stops */

	/* line 1: written by every burst that receives */
	uint32_t cq_ci __rte_cache_aligned;
	uint32_t wqe_ci;
	uint32_t wqe_pi;
	uint32_t lkey_be; /**< of the pool; MDV_MR_LKEY_NONE: ask for each mbuf */
	struct mdv_rx_counters count;
	uint32_t buf_offset; /**< from an mbuf to its first data byte; 0: read buf_addr */
	uint16_t headroom;   /**< of a packet's first mbuf; there is none in the others */
	uint16_t room;       /**< bytes of an mbuf's data room, headroom included */
	uint16_t nb_ready;   /**< packets from wqe_ci on of a block: mbufs are written, CQEs gone */
	uint16_t ready_csum; /**< their checksum flags, the same for all */
	uint32_t ready_bytes;

	/* line 2: timestamps, scattered packets and pools of several regions only */
	uint64_t timestamp_flag __rte_cache_aligned; /**< in ol_flags */
	int32_t timestamp_at;                        /**< dynamic field's offset in the mbuf */
	uint32_t nb_holes; /**< mbufs that are missing, where MDV_RX_SCATTER is */
	struct mdv_mr_cache mr;

	/* control path */
	struct mdv_rx_counters base; /**< count at the last reset of the statistics */
	LIST_ENTRY(mdv_rxq) next;    /**< of port->queues */
	uint32_t told;               /**< events that were logged, by 1 << ibv_event_type */
	uint64_t told_syndromes;     /**< see mdv_cq_tell_stop() */
	struct mdv_revive_wait revive_wait;
	struct mdv_port *port;
	struct mdv_rxq *next_parked; /**< released, but rules point at the WQ */
	struct ibv_wq *wq;           /**< NULL: the port is not started */
	struct mdv_cq cq;
	struct rte_eth_rxconf conf;
	uint16_t port_id;
	uint16_t idx;
	uint16_t nb_desc; /**< buffers asked for, a power of two */
	bool ready;       /**< started: the WQ takes packets, and mbufs are in the ring */
	bool vlan_strip;
	bool wq_strips; /**< what the WQ was told last of vlan_strip */
	struct {
		eth_rx_burst_t burst; /**< that reads the rings */
		uint32_t posted;      /**< first WQE that verbs does not have */
	} ibv;                        /**< mode=ibv only: see rx_ibv.h */
};
static_assert(offsetof(struct mdv_rxq, expects) < RTE_CACHE_LINE_SIZE, "line 0");
static_assert(offsetof(struct mdv_rxq, cq_ci) == RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_rxq, ready_bytes) < 2 * RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_rxq, timestamp_flag) == 2 * RTE_CACHE_LINE_SIZE, "line 2");
static_assert(offsetof(struct mdv_rxq, mr) + offsetof(struct mdv_mr_cache, generation) <
		3 * RTE_CACHE_LINE_SIZE,
	"line 2");

/** What a CQE says of the headers. */
struct mdv_rx_meaning {
	uint32_t ptype; /**< RTE_PTYPE_* */
	uint32_t csum;  /**< RTE_MBUF_F_RX_*CKSUM*; see mdv_rx_settle_udp() for UDP */
};
/** By l4_l3_hdr_type bits 7:2 | OK bits 2:1 << 6 | pkt_info bits 1:0 << 8; types need no OK bits.
 */
extern const struct mdv_rx_meaning mdv_rx_meanings[1024];

/**
 * The CQE at cq_ci is not a received packet: count it, give its buffers back, and when the queue
 * has stopped, start it anew. cq_ci and wqe_ci have moved past it afterwards.
 */
void mdv_rx_error(struct mdv_rxq *rxq);
/**
 * Packets that mdv_rx_meanings calls L4_CKSUM_NONE are UDP that the device did not find good. That
 * may be a datagram without checksum: look, and say GOOD or BAD.
 */
void mdv_rx_settle_udp(struct rte_mbuf **pkts, uint16_t nb_pkts);
/** The refill for WQEs of several segments: replaces what is missing in each. */
void mdv_rx_refill_scattered(struct mdv_rxq *rxq);
/** The pool cannot give @p nb mbufs: count it and take fewer. @return how many of @p mbufs are
 * filled. */
uint32_t mdv_rx_refill_short(struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t nb);
/**
 * Write all WQEs of an empty ring (no mbufs) and fill it. Counters restart at 0.
 * @return 0, -ENOMEM when the pool ran out: the mbufs so far are in the ring.
 */
int mdv_rx_fill(struct mdv_rxq *rxq);
/** Free every mbuf of the ring; the device no longer has it. */
void mdv_rx_drain(struct mdv_rxq *rxq);

/** Instances by enum mdv_rx_opt, with vectors of 128, 256 and 512 bits. */
extern const eth_rx_burst_t mdv_rx_vec128[MDV_RX_NB_OPTS];
extern const eth_rx_burst_t mdv_rx_vec256[MDV_RX_NB_OPTS];
extern const eth_rx_burst_t mdv_rx_vec512[MDV_RX_TIMESTAMP];

/**
 * @return the instance for the set of enum mdv_rx_opt that makes the best of vectors of at most
 * @p simd_bits bits (rte_vect_get_max_simd_bitwidth()), on this CPU.
 */
eth_rx_burst_t mdv_rx_select(unsigned int opts, unsigned int simd_bits);
/** @return what kept mdv_rx_select() from wider vectors; NULL: it has the widest there are. */
const char *mdv_rx_select_handicap(unsigned int opts, unsigned int simd_bits);
/** @return whether @p burst is one of ours, and what ethdev rx_burst_mode_get says of it. */
bool mdv_rx_select_describe(eth_rx_burst_t burst, struct rte_eth_burst_mode *mode);

/** Address for the device of the first segment's data. */
static __rte_always_inline uintptr_t
mdv_rx_mbuf_addr(const struct mdv_rxq *rxq, const struct rte_mbuf *mbuf)
{
	/* Not reading the mbuf saves a cold line; where its buffer lies elsewhere there is no
	 * choice. */
	if (likely(rxq->buf_offset != 0))
		return (uintptr_t)mbuf + rxq->buf_offset;
	return (uintptr_t)mbuf->buf_addr + rxq->headroom;
}

/**
 * Tell the device how far CQEs are read and WQEs are posted. The CQ has a slot for each WQE, so its
 * slots are not missed before there are new WQEs: one doorbell record written less by most bursts.
 */
static __rte_always_inline void
mdv_rx_doorbell(struct mdv_rxq *rxq)
{
	/* Orders the stores to slots and WQEs before those of the counters that give them away, and
	 * the room in the CQ before what may fill it. */
	rte_io_wmb();
	mdv_cq_update_ci(rxq->cq_dbrec, rxq->cq_ci);
	rte_io_wmb();
	*rxq->wq_dbrec = rte_cpu_to_be_32(rxq->wqe_pi & UINT16_MAX);
}

/** Point @p nb consecutive WQEs at the mbufs of the same slots. */
static __rte_always_inline void
mdv_rx_post(struct mdv_rxq *rxq, uint32_t idx, uint32_t nb)
{
	uint32_t i;

	if (likely(rxq->lkey_be != MDV_MR_LKEY_NONE)) {
		for (i = idx; i < idx + nb; i++)
			rxq->wqes[i].addr = rte_cpu_to_be_64(mdv_rx_mbuf_addr(rxq, rxq->mbufs[i]));
		return;
	}
	for (i = idx; i < idx + nb; i++) {
		uintptr_t addr = mdv_rx_mbuf_addr(rxq, rxq->mbufs[i]);

		rxq->wqes[i].lkey = mdv_mr_lkey(&rxq->mr, addr, rxq->mbufs[i]);
		rxq->wqes[i].addr = rte_cpu_to_be_64(addr);
	}
}

/** data_off, refcnt, nb_segs and port in one store. */
static __rte_always_inline void
mdv_rx_rearm(struct rte_mbuf *mbuf, uint64_t rearm)
{
	memcpy((uint8_t *)mbuf + offsetof(struct rte_mbuf, rearm_data), &rearm, sizeof(rearm));
}

/**
 * A packet of @p len bytes leaves the slot whose mbufs these are; the first is written as that of
 * one which lies in it alone.
 * @return mbufs taken: holes
 */
static __rte_always_inline uint32_t
mdv_rx_take_segments(const struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t len)
{
	const uint32_t room = rxq->room, first_room = room - rxq->headroom;
	const uint32_t nb_segs = 1u << rxq->log2_segs;
	struct rte_mbuf *const first = mbufs[0], *last = first;
	uint32_t rest = len - first_room, nb = 1;

	mbufs[0] = NULL;
	if (len <= first_room || unlikely(nb_segs == 1))
		return 1;
	first->data_len = first_room;
	do {
		struct rte_mbuf *mbuf = mbufs[nb];
		const uint32_t here = RTE_MIN(rest, room);

		mbufs[nb++] = NULL;
		mbuf->data_off = 0;
		mbuf->data_len = here;
		last->next = mbuf;
		last = mbuf;
		rest -= here;
	} while (rest != 0 && likely(nb < nb_segs));
	first->nb_segs = nb;
	return nb;
}

static __rte_always_inline void
mdv_rx_set_timestamp(const struct mdv_rxq *rxq, struct rte_mbuf *mbuf, uint64_t timestamp)
{
	*RTE_MBUF_DYNFIELD(mbuf, rxq->timestamp_at, rte_mbuf_timestamp_t *) = timestamp;
}

/** Flags and values that the CQE holds beside the length. @return the checksum flags. */
static __rte_always_inline uint32_t
mdv_rx_offloads(const struct mdv_rxq *rxq, struct rte_mbuf *mbuf, const struct mdv_hw_cqe *cqe,
	const unsigned int opts)
{
	const uint8_t hdr_type = cqe->l4_l3_hdr_type;
	uint32_t idx = hdr_type >> 2 | (cqe->pkt_info & 3) << 8, csum = 0, tag;
	uint64_t ol_flags = 0;

	if (opts & MDV_RX_CSUM) {
		idx |= (cqe->hds_ip_ext & (MDV_HW_CQE_L3_OK | MDV_HW_CQE_L4_OK)) << 5;
		csum = mdv_rx_meanings[idx].csum;
		ol_flags |= csum;
	}
	mbuf->packet_type = mdv_rx_meanings[idx].ptype;
	if (rxq->expects & MDV_RX_EXPECT_VLAN) {
		ol_flags |= -(uint64_t)(hdr_type & MDV_HW_CQE_CV) &
			(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
		mbuf->vlan_tci = rte_be_to_cpu_16(cqe->vlan_info);
	}
	if (opts & MDV_RX_HASH) {
		if (cqe->rss_hash_type & MDV_HW_CQE_HASH_TYPE_MASK)
			ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
		mbuf->hash.rss = rte_be_to_cpu_32(cqe->rss_hash);
	}
	if ((opts & MDV_RX_MARK) && (rxq->expects & MDV_RX_EXPECT_MARK)) {
		tag = rte_be_to_cpu_32(cqe->sop_drop_qpn) & MDV_HW_CQE_TAG_MASK;
		if (tag != MDV_MARK_TAG_NONE) {
			ol_flags |= RTE_MBUF_F_RX_FDIR;
			if (tag != MDV_MARK_TAG_FLAG) {
				ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
				mbuf->hash.fdir.hi = mdv_mark_from_tag(tag);
			}
		}
	}
	if (opts & MDV_RX_TIMESTAMP) {
		ol_flags |= rxq->timestamp_flag;
		mdv_rx_set_timestamp(rxq, mbuf, rte_be_to_cpu_64(cqe->timestamp));
	}
	mbuf->ol_flags = ol_flags;
	return csum;
}

#endif /* MDV_RX_H */
