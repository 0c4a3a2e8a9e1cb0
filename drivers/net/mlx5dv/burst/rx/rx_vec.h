/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Four received packets at once: CQEs into mbufs, one mbuf a packet.
 *
 * A CQE consists of big-endian 64-bit words, as in the PRM; word n of four CQEs is one vector.
 * Single bytes are taken from lanes as they lie in memory, with the first byte in bits 7:0, and
 * fields of several bytes from lanes in CPU order:
 *
 *     as they lie                            in CPU order
 *     0  pkt_info 7:0                        1  rss_hash 31:0
 *     2  rss_hash_type 7:0                   3  TCI 15:0
 *     3  l4_l3_hdr_type 47:40,               5  byte_cnt 31:0
 *        hds_ip_ext 39:32                    6  timestamp
 *     7  op_own 63:56                        7  flow tag 55:32, wqe_counter 31:16
 *
 * Four lanes a packet are stored as 32 bytes, from rearm_data to the RSS hash: one half of the
 * mbuf's first line, the only line that is touched.
 */
#ifndef MDV_RX_VEC_H
#define MDV_RX_VEC_H

#include "base/vec.h"
#include "rx.h"
#include "rx_stride.h"

static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, rearm_data) + 8,
	"lane 1 of an mbuf");
static_assert(offsetof(struct rte_mbuf, packet_type) == offsetof(struct rte_mbuf, rearm_data) + 16,
	"lane 2 of an mbuf");
static_assert(offsetof(struct rte_mbuf, pkt_len) == offsetof(struct rte_mbuf, rearm_data) + 20,
	"lane 2 of an mbuf");
static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, rearm_data) + 24,
	"lane 3 of an mbuf");
static_assert(offsetof(struct rte_mbuf, vlan_tci) == offsetof(struct rte_mbuf, rearm_data) + 26,
	"lane 3 of an mbuf");
static_assert(offsetof(struct rte_mbuf, hash.rss) == offsetof(struct rte_mbuf, rearm_data) + 28,
	"lane 3 of an mbuf");

/** Fields that the packets of a block share. */
struct mdv_rx_mini_like {
	uint64_t rearm;
	uint64_t flags;
	uint32_t ptype;
	uint32_t tci; /**< from bit 16 on, as stored beside data_len */
};

static __rte_always_inline mdv_vec
mdv_rx_vec_word(const struct mdv_hw_cqe *cqes, unsigned int word)
{
	return mdv_vec_swap(mdv_vec_load_column(
		(const uint8_t *)cqes + word * sizeof(uint64_t), sizeof(*cqes)));
}

/** @return @p flags in the lanes in which @p bits are not all 0. */
static __rte_always_inline mdv_vec
mdv_rx_vec_flag(mdv_vec bits, uint64_t flags)
{
	return ~mdv_vec_equal(bits, mdv_vec_all(0)) & mdv_vec_all(flags);
}

/** Look up packet types and checksum flags. @param info, headers words 0 and 3 as they lie
 * @return struct mdv_rx_hdr_type in each lane. */
static __rte_always_inline mdv_vec
mdv_rx_vec_hdr_type(mdv_vec info, mdv_vec headers, const unsigned int opts)
{
	mdv_vec idx = (headers >> 42 & 0x3f) | (info << 8 & 0x300);
	uint64_t lanes[MDV_VEC_LANES];

	if (opts & MDV_RX_CSUM)
		idx |= headers >> 27 & 0xc0;
	MDV_VEC_EACH(i)
	memcpy(&lanes[i], &mdv_rx_hdr_types[idx[i]], sizeof(lanes[i]));
	return (mdv_vec){ lanes[0], lanes[1], lanes[2], lanes[3] };
}

static __rte_always_inline mdv_vec
mdv_rx_vec_marks(mdv_vec tags, struct rte_mbuf *const *mbufs)
{
	const mdv_vec none = mdv_vec_equal(tags, mdv_vec_all(MDV_MARK_TAG_NONE));
	const mdv_vec flag = mdv_vec_equal(tags, mdv_vec_all(MDV_MARK_TAG_FLAG));
	const mdv_vec ids = tags - 1; /* mdv_mark_from_tag() */

	/* Without the flag the value is ignored. */
	MDV_VEC_EACH(i)
	mbufs[i]->hash.fdir.hi = ids[i];
	return ~none & (RTE_MBUF_F_RX_FDIR | (~flag & RTE_MBUF_F_RX_FDIR_ID));
}

/** Write timestamps, which alone need the mbufs' second lines. */
static __rte_always_inline mdv_vec
mdv_rx_vec_timestamps(
	const struct mdv_rxq *rxq, const struct mdv_hw_cqe *cqes, struct rte_mbuf *const *mbufs)
{
	const mdv_vec stamps = mdv_rx_vec_word(cqes, 6);
	const mdv_vec timestamps = stamps - (stamps >> 32) * rxq->timestamp_gap;

	MDV_VEC_EACH(i)
	mdv_rx_set_timestamp(rxq, mbufs[i], timestamps[i]);
	return mdv_vec_all(rxq->timestamp_flag);
}

/** Add what @p runtime_opts, a part of the queue's, ask for: one branch where they ask for nothing.
 * @param headers, owners words 3 and 7 as they lie */
static __rte_always_inline void
mdv_rx_vec_runtime(uint8_t runtime_opts, mdv_vec headers, mdv_vec owners,
	struct rte_mbuf *const *mbufs, mdv_vec *flags, mdv_vec *last)
{
	if (runtime_opts & MDV_RX_RUNTIME_VLAN) {
		headers = mdv_vec_swap(headers);
		*flags |= mdv_rx_vec_flag(headers & (MDV_HW_CQE_CV << 16),
			RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
		*last |= (headers & UINT16_MAX) << 16;
	}
	if (runtime_opts & MDV_RX_RUNTIME_MARK)
		*flags |= mdv_rx_vec_marks(mdv_vec_swap(owners) >> 32 & MDV_HW_CQE_TAG_MASK, mbufs);
}

/**
 * Take four packets, if there are four and none is an error or compressed.
 *
 * @param ci the first's stride, with MDV_RX_STRIDE
 * @param op_own theirs
 * @param rearm the queue's, in all lanes
 * @param bytes their lengths are added
 * @return whether the mbufs have been written
 */
static __rte_always_inline bool
mdv_rx_vec_four(const struct mdv_rxq *rxq, const struct mdv_hw_cqe *cqes, uint32_t ci,
	struct rte_mbuf *const *mbufs, uint8_t op_own, mdv_vec rearm, mdv_vec *bytes,
	const unsigned int opts)
{
	const uint8_t op_own_mask = UINT8_MAX & ~MDV_HW_CQE_SOLICITED;
	const uint8_t runtime_mask =
		MDV_RX_RUNTIME_VLAN | (opts & MDV_RX_MARK ? MDV_RX_RUNTIME_MARK : 0);
	const mdv_vec owners =
		mdv_vec_load_column((const uint8_t *)cqes + 7 * sizeof(uint64_t), sizeof(*cqes));
	mdv_vec words[MDV_VEC_LANES], lens, hdr_type, flags, last, rows[MDV_VEC_LANES];
	uint8_t runtime_opts;

	if (!mdv_vec_is_zero((owners ^ (uint64_t)op_own << 56) & (uint64_t)op_own_mask << 56))
		return false;
	/* The device writes the owner bit last: orders its load before those of the CQE's body. */
	rte_io_rmb();
	mdv_vec_load_rows(cqes, sizeof(*cqes), words);
	lens = mdv_rx_vec_word(cqes, 5) & UINT32_MAX;
	if (opts & MDV_RX_STRIDE) {
		if (!mdv_rx_stride_are_next(rxq, ci, lens, mdv_vec_swap(owners) >> 16 & UINT16_MAX))
			return false;
		lens &= UINT16_MAX;
	}
	hdr_type = mdv_rx_vec_hdr_type(words[0], words[3], opts);
	flags = opts & MDV_RX_CSUM ? hdr_type >> 32 : mdv_vec_all(0);
	last = lens & UINT16_MAX;
	if (opts & MDV_RX_HASH) {
		flags |= mdv_rx_vec_flag(
			words[2] & MDV_HW_CQE_HASH_TYPE_MASK, RTE_MBUF_F_RX_RSS_HASH);
		last |= mdv_vec_swap(words[1]) << 32;
	}
	runtime_opts = rxq->ring.runtime_opts & runtime_mask;
	if (runtime_opts != 0)
		mdv_rx_vec_runtime(runtime_opts, words[3], owners, mbufs, &flags, &last);
	if (opts & MDV_RX_TIMESTAMP)
		flags |= mdv_rx_vec_timestamps(rxq, cqes, mbufs);
	mdv_vec_transpose(rearm, flags, (hdr_type & UINT32_MAX) | lens << 32, last, rows);
	MDV_VEC_EACH(i)
	mdv_vec_store(RTE_PTR_ADD(mbufs[i], offsetof(struct rte_mbuf, rearm_data)), rows[i]);
	*bytes += lens;
	return true;
}

/** Put four mbufs into slots, and point their WQEs at them. */
static __rte_always_inline void
mdv_rx_vec_post_four(struct rte_mbuf **mbufs, struct mlx5_wqe_data_seg *wqes,
	struct rte_mbuf *const *from, mdv_vec offset)
{
	const mdv_vec four = mdv_vec_load(from);
	const mdv_vec addrs = mdv_vec_swap(four + offset);

	mdv_vec_store(mbufs, four);
	MDV_VEC_EACH(i)
	wqes[i].addr = addrs[i];
}

/** The same as mdv_rx_post() for mbufs of one lkey, by eights; the rest of a refill one by one. */
static __rte_always_inline void
mdv_rx_vec_post(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
	const mdv_vec offset = mdv_vec_all(rxq->buf_offset);
	struct rte_mbuf **mbufs = &rxq->ring.mbufs[idx];
	struct mlx5_wqe_data_seg *wqes = &rxq->ring.wqes[idx];
	struct rte_mbuf *const *end = from + (nb & ~(2 * MDV_VEC_LANES - 1));

	for (; from != end; from += 2 * MDV_VEC_LANES) {
		mdv_rx_vec_post_four(mbufs, wqes, from, offset);
		mdv_rx_vec_post_four(
			mbufs + MDV_VEC_LANES, wqes + MDV_VEC_LANES, from + MDV_VEC_LANES, offset);
		mbufs += 2 * MDV_VEC_LANES;
		wqes += 2 * MDV_VEC_LANES;
	}
	nb &= 2 * MDV_VEC_LANES - 1;
	if (nb != 0)
		mdv_rx_post(rxq, mbufs - rxq->ring.mbufs, from, nb);
}

#endif /* MDV_RX_VEC_H */
