/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The parts of the receive burst; the burst itself is in rx_burst.h.
 */
#ifndef MDV_RX_H
#define MDV_RX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "base/compat.h"
#include "base/mark.h"
#include "queue/rx/rx_refill.h"
#include "queue/rx/rx_split.h"
#include "queue/rx/rxq.h"

/** Work of a burst function beyond lengths and packet types: constant in each instance. */
enum mdv_rx_opt {
	MDV_RX_CSUM = 1 << 0,
	MDV_RX_HASH = 1 << 1,
	MDV_RX_MARK = 1 << 2,      /**< tags, while MDV_RX_RUNTIME_MARK is set */
	MDV_RX_TIMESTAMP = 1 << 3, /**< not from compressed CQEs */
	MDV_RX_SCATTER = 1 << 4,   /**< several segments a WQE */
	MDV_RX_STRIDE = 1 << 5,    /**< many packets a WQE; not with MDV_RX_SCATTER */
	MDV_RX_NB_OPTS = MDV_RX_STRIDE + MDV_RX_SCATTER,
	MDV_RX_SPLIT = 1 << 6, /**< segments differ; with MDV_RX_SCATTER, and without vectors */
	MDV_RX_NB_OPTS_SPLIT = MDV_RX_SCATTER,
};

/** The headers as a CQE describes them. */
struct mdv_rx_hdr_type {
	uint32_t ptype; /**< RTE_PTYPE_* */
	uint32_t csum;  /**< RTE_MBUF_F_RX_*CKSUM*: good or unknown, never bad */
};
/** By l4_l3_hdr_type bits 7:2 | OK bits 2:1 << 6 | pkt_info bits 1:0 << 8; types need no OK bits.
 */
extern const struct mdv_rx_hdr_type mdv_rx_hdr_types[1024];

/** Handle the CQE at cq_ci, which is not a received packet: count it, give its buffers back, and
 * restart the queue if it has stopped. Afterwards cq_ci and wqe_ci are past it. */
void mdv_rx_error(struct mdv_rxq *rxq);
/** Say of @p nb packets again that their buffers are in external memory, if the pool has pinned
 * ones: the pool says so once, and the flags of CQEs have replaced that. */
void mdv_rx_tell_pinned(const struct mdv_rxq *rxq, struct rte_mbuf *const *pkts, uint16_t nb);
/** Instances by enum mdv_rx_opt, with vectors of 128, 256 and 512 bits. */
extern const eth_rx_burst_t mdv_rx_vec128[MDV_RX_NB_OPTS];
extern const eth_rx_burst_t mdv_rx_vec256[MDV_RX_NB_OPTS];
extern const eth_rx_burst_t mdv_rx_vec512[MDV_RX_TIMESTAMP];
/** Those with MDV_RX_SCATTER and MDV_RX_SPLIT, by the other options. */
extern const eth_rx_burst_t mdv_rx_split_burst[MDV_RX_NB_OPTS_SPLIT];

/** @return for this set of enum mdv_rx_opt the instance with the widest vectors of at most @p
 * simd_bits bits (rte_vect_get_max_simd_bitwidth()) that this CPU supports. */
eth_rx_burst_t mdv_rx_select(unsigned int opts, unsigned int simd_bits);
/** @return the reason why mdv_rx_select() takes no wider vectors; NULL: it takes the widest. */
const char *mdv_rx_select_limited_by(unsigned int opts, unsigned int simd_bits);
/** @return whether @p burst is an instance of this driver; @p mode is filled for ethdev
 * rx_burst_mode_get. */
bool mdv_rx_select_describe(eth_rx_burst_t burst, struct rte_eth_burst_mode *mode);

/**
 * Print @p num of the CQ's entries, from the @p offset th behind the next one on; the ring has no
 * end, so those before the next, which the driver has taken, are the last.
 * @return 0, -EINVAL: stopped
 */
int mdv_rx_dump_cqes(const struct mdv_rxq *rxq, uint16_t offset, uint16_t num, FILE *file);

#ifdef MDV_COMPAT_RECYCLE
/** ethdev recycle_rxq_info_get: of a started queue; one that cannot recycle has a ring of no size.
 */
void mdv_rx_recycle_info_get(
	struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_recycle_rxq_info *info);
/** ethdev recycle_rx_descriptors_refill: @p nb mbufs are in the ring from wqe_pi on, up to its end
 * at most. */
void mdv_rx_recycle_refill(void *rxq, uint16_t nb);

/** @return the low half of a position, which ethdev shows to the send queue's driver */
static inline uint16_t *
mdv_rx_recycle_pos(uint32_t *pos)
{
	return (uint16_t *)pos + (RTE_BYTE_ORDER == RTE_BIG_ENDIAN);
}
#endif

/** Write data_off, refcnt, nb_segs and port by one store. */
static __rte_always_inline void
mdv_rx_rearm(struct rte_mbuf *mbuf, uint64_t rearm)
{
	memcpy((uint8_t *)mbuf + offsetof(struct rte_mbuf, rearm_data), &rearm, sizeof(rearm));
}

/**
 * Take a packet of @p len bytes from the slot of these mbufs. The first mbuf is written as if it
 * held the whole packet.
 * @param split a constant: the queue splits packets
 * @return the number of mbufs taken, which leave holes
 */
static __rte_always_inline uint32_t
mdv_rx_take_segments_of(
	const struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t len, const bool split)
{
	const uint32_t room = rxq->room, first_room = room - rxq->headroom;
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	struct rte_mbuf *const first = mbufs[0], *last = first;
	uint32_t rest = len - first_room, nb = 1;

	mbufs[0] = NULL;
	if (len <= first_room || unlikely(nb_segs == 1))
		return 1;
	first->data_len = first_room;
	do {
		struct rte_mbuf *mbuf = mbufs[nb];
		const struct mdv_rx_seg *seg = split ? &rxq->split->segs[nb] : NULL;
		const uint32_t here = RTE_MIN(rest, split ? seg->length : room);

		mbufs[nb++] = NULL;
		mbuf->data_off = split ? seg->data_off : 0;
		mbuf->data_len = here;
		last->next = mbuf;
		last = mbuf;
		rest -= here;
	} while (rest != 0 && likely(nb < nb_segs));
	first->nb_segs = nb;
	return nb;
}

/** The same for any queue of a burst with MDV_RX_SCATTER. @param opts a constant */
static __rte_always_inline uint32_t
mdv_rx_take_segments(
	const struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t len, const unsigned int opts)
{
	if ((opts & MDV_RX_SPLIT) && rxq->split != NULL)
		return mdv_rx_take_segments_of(rxq, mbufs, len, true);
	return mdv_rx_take_segments_of(rxq, mbufs, len, false);
}

static __rte_always_inline void
mdv_rx_set_timestamp(const struct mdv_rxq *rxq, struct rte_mbuf *mbuf, uint64_t timestamp)
{
	*RTE_MBUF_DYNFIELD(mbuf, rxq->timestamp_at, rte_mbuf_timestamp_t *) = timestamp;
}

/** Write the flags and values of the CQE other than the length. */
static __rte_always_inline void
mdv_rx_offloads(const struct mdv_rxq *rxq, struct rte_mbuf *mbuf, const struct mdv_hw_cqe *cqe,
	const unsigned int opts)
{
	const uint8_t hdr_type = cqe->l4_l3_hdr_type;
	uint32_t idx = hdr_type >> 2 | (cqe->pkt_info & 3) << 8, tag;
	uint64_t ol_flags = 0;

	if (opts & MDV_RX_CSUM) {
		idx |= (cqe->hds_ip_ext & (MDV_HW_CQE_L3_OK | MDV_HW_CQE_L4_OK)) << 5;
		ol_flags |= mdv_rx_hdr_types[idx].csum;
	}
	mbuf->packet_type = mdv_rx_hdr_types[idx].ptype;
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_VLAN) {
		ol_flags |= -(uint64_t)(hdr_type & MDV_HW_CQE_CV) &
			(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
		mbuf->vlan_tci = rte_be_to_cpu_16(cqe->vlan_info);
	}
	if (opts & MDV_RX_HASH) {
		if (cqe->rss_hash_type & MDV_HW_CQE_HASH_TYPE_MASK)
			ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
		mbuf->hash.rss = rte_be_to_cpu_32(cqe->rss_hash);
	}
	if ((opts & MDV_RX_MARK) && (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MARK)) {
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
		mdv_rx_set_timestamp(rxq, mbuf,
			mdv_hw_stamp_to_ns(rte_be_to_cpu_64(cqe->timestamp), rxq->timestamp_gap));
	}
	mbuf->ol_flags = ol_flags;
}

#endif /* MDV_RX_H */
