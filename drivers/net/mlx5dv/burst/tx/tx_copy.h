/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets that are copied into WQEs (tx_inline=), so that the device reads no memory behind
 * pointers.
 *
 *     0      16     32
 *     ctrl   eth    data ...      each inlined (length, then the frame, padded to units) or a
 * pointer ctrl   eth with a frame     a WQE a packet, where the device takes one, or without
 * vectors
 *
 * Frames of one WQE have the same Ethernet segment, so they request the same checksums; tags are
 * copied with the frames. A WQE's last frame may go around the ring's end. Mbufs are freed with the
 * completion, as of other packets: so the queue counts and loses all packets in one way.
 */
#ifndef MDV_TX_COPY_H
#define MDV_TX_COPY_H

#include "base/vec.h"
#include "queue/tx/tx_inline.h"
#include "tx_vec.h"

/** Options of the instances that copy. They serve ports whose PCI or number of queues asks for it,
 * so each has all options: what these cost is little beside the copies. */
#define MDV_TX_INLINE_OPTS (MDV_TX_INLINE | MDV_TX_TSO | MDV_TX_CSUM | MDV_TX_VLAN | MDV_TX_MULTI)

static_assert(
	MDV_TX_INLINE_MAX == (MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD) * 16 - MDV_TX_WQE_DATA_START,
	"one such frame fills a WQE");
static_assert(MDV_TX_FRAME_MIN >= 16, "copied by 16 bytes and more");

/** @return how many mbufs the queue may have more: with larger WQEBBs a ring has no more packets
 * than descriptors. Chains may be beyond that, never beyond the ring. */
static __rte_always_inline uint32_t
mdv_tx_copy_slots(const struct mdv_txq *txq, uint16_t head)
{
	const uint32_t nb = (txq->ring.mask + 1u) >> txq->ring.inline_log2_bbs;
	const uint32_t used = (uint16_t)(head - txq->pos.tail);

	return used < nb ? nb - used : 0;
}

/** Copy @p len bytes, 16 at least, and read no others: those behind them may be in a line that
 * nothing else reads, or in no memory. */
static __rte_always_inline void
mdv_tx_copy_bytes(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t at;

	if (unlikely(len < sizeof(mdv_vec))) {
		memcpy(to, from, 16);
		memcpy(to + len - 16, from + len - 16, 16);
		return;
	}
	for (at = 0; at + sizeof(mdv_vec) < len; at += sizeof(mdv_vec))
		mdv_vec_store(to + at, mdv_vec_load(from + at));
	mdv_vec_store(to + len - sizeof(mdv_vec), mdv_vec_load(from + len - sizeof(mdv_vec)));
}

/** Copy the packet's frame, with a tag if it is to be inserted. @p len is the packet's, which
 * callers have in a register. */
static __rte_always_inline void
mdv_tx_copy_frame(uint8_t *to, const struct rte_mbuf *mbuf, uint32_t len, bool tagged)
{
	const uint8_t *from = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	mdv_tx_copy_bytes(to + (tagged ? RTE_VLAN_HLEN : 0), from, len);
	/* Then the addresses and the tag over the bytes before those. */
	if (tagged)
		mdv_tx_wqe_copy_tagged(to, from, 2 * RTE_ETHER_ADDR_LEN, mbuf->vlan_tci);
}

/** The same at @p to of the ring, which ends behind @p first of the frame's @p len bytes. */
void mdv_tx_copy_around(struct mdv_txq *txq, uint8_t *to, const struct rte_mbuf *mbuf, bool tagged,
	uint32_t first, uint32_t len);

/** @return the ol_flags of packets that are not inlined. Memory outside of mbufs may be readable by
 * the device only. */
static __rte_always_inline uint64_t
mdv_tx_copy_never(const unsigned int opts)
{
	return (mdv_tx_vec_alone(opts) & ~RTE_MBUF_F_TX_VLAN) | RTE_MBUF_F_EXTERNAL;
}

static __rte_always_inline bool
mdv_tx_copy_is_tagged(const struct rte_mbuf *mbuf, const unsigned int opts)
{
	return (opts & MDV_TX_VLAN) && (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN) != 0;
}

/** @return the frame's bytes, with a tag, if the packet is to be inlined; else 0. */
static __rte_always_inline uint32_t
mdv_tx_copy_len(const struct mdv_txq *txq, const struct rte_mbuf *mbuf, const unsigned int opts)
{
	const uint32_t tag = mdv_tx_copy_is_tagged(mbuf, opts) ? RTE_VLAN_HLEN : 0;
	const uint32_t len = mbuf->data_len + tag;

	if (((opts & MDV_TX_MULTI) && mbuf->nb_segs != 1) ||
		(mbuf->ol_flags & mdv_tx_copy_never(opts)) != 0 ||
		mbuf->data_len < MDV_TX_FRAME_MIN || len > txq->ring.inline_max)
		return 0;
	return len;
}

/** A WQE of many packets that is being built. */
struct mdv_tx_copy_wqe {
	uint8_t *at;    /**< where the next unit goes */
	uint8_t *start; /**< of the data segments */
	uint8_t *flat;  /**< the end of the ring, or of the WQE's room if that comes first */
	uint8_t *end;   /**< of the WQE's room, as if the ring did not end */
	struct rte_mbuf **mbufs; /**< where the next mbuf goes */
	uint64_t flags;          /**< of ol_flags that all packets share */
	uint64_t nb_bytes;       /**< of packets, without inserted tags */
};

/** What the functions for many packets look at: of all instances, so that these share them. */
#define MDV_TX_COPY_OPTS (MDV_TX_INLINE_OPTS | MDV_TX_SWP)

/** Begin a WQE at @p pos, of at most @p bbs WQEBBs. */
static __rte_always_inline struct mdv_tx_copy_wqe
mdv_tx_copy_begin(const struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t bbs,
	const struct mdv_tx_pos *pos)
{
	const uint32_t slot = pos->pc & txq->ring.mask, to_end = txq->ring.mask + 1u - slot;
	const uint32_t ds_flat = to_end * MDV_TX_WQE_DS_PER_BB - MDV_TX_WQE_DS_HEAD;
	const uint32_t ds = mdv_tx_vec_room(bbs);
	uint8_t *start = txq->ring.wqes + slot * MLX5_SEND_WQE_BB + (size_t)MDV_TX_WQE_DS_HEAD * 16;

	return (struct mdv_tx_copy_wqe){
		.at = start,
		.start = start,
		.flat = start + RTE_MIN(ds, ds_flat) * 16,
		.end = start + ds * 16,
		.mbufs = &txq->ring.mbufs[pos->head & txq->ring.mask],
		.flags = mbuf->ol_flags & MDV_TX_VEC_CSUM_FLAGS,
	};
}

/** Write the control and Ethernet segments of a WQE of @p n packets, and move @p pos behind it. */
static __rte_always_inline void
mdv_tx_copy_end(const struct mdv_txq *txq, const struct mdv_tx_copy_wqe *wqe, uint32_t n,
	struct mdv_tx_pos *pos)
{
	const uint32_t ds = MDV_TX_WQE_DS_HEAD + (uint32_t)(wqe->at - wqe->start) / 16;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)(wqe->start - (size_t)MDV_TX_WQE_DS_HEAD * 16);

	/* One unit is one pointer. */
	mdv_tx_wqe_ctrl(ctrl,
		ds == MDV_TX_WQE_DS_HEAD + 1 ? MLX5_OPCODE_SEND : MDV_HW_OPCODE_ENHANCED_MPSW,
		pos->pc, txq->ring.qpn_ds, ds, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	mdv_tx_wqe_eth((void *)(ctrl + 1), mdv_tx_csums[mdv_tx_csum_index(wqe->flags)], 0);
	pos->last = (uint8_t *)ctrl;
	pos->pc += mdv_tx_wqe_bbs(ds);
	pos->head += n;
	pos->nb += n;
	pos->bytes += wqe->nb_bytes;
}

/**
 * Append the packets at the front that are alike: short, before the ring's end, and all with a tag
 * or all without.
 * @param max bytes of a frame beyond the shortest, without its tag
 * @param tagged a constant
 * @return their number
 */
static __rte_always_inline uint32_t
mdv_tx_copy_alike(struct mdv_tx_copy_wqe *wqe, struct rte_mbuf **pkts, uint32_t nb, uint32_t max,
	const bool tagged)
{
	const uint64_t look =
		MDV_TX_VEC_CSUM_FLAGS | RTE_MBUF_F_TX_VLAN | mdv_tx_copy_never(MDV_TX_COPY_OPTS);
	const uint64_t flags = wqe->flags | (tagged ? RTE_MBUF_F_TX_VLAN : 0);
	const uint32_t tag = tagged ? RTE_VLAN_HLEN : 0;
	struct rte_mbuf **const mbufs = wqe->mbufs;
	uint8_t *at = wqe->at, *const flat = wqe->flat;
	uint64_t nb_bytes = 0;
	/* An index as wide as pointers are: the compiler has no second one for those. */
	size_t n;

	for (n = 0; n < nb; n++) {
		struct rte_mbuf *mbuf = pkts[n];
		const uint32_t len = mbuf->data_len;
		uint8_t *const next = at + (size_t)mdv_tx_wqe_ds_data(len + tag) * 16;

		if (unlikely(((mbuf->ol_flags ^ flags) & look) != 0 || mbuf->nb_segs != 1 ||
			    len - MDV_TX_FRAME_MIN > max || next > flat))
			break;
		mdv_tx_wqe_prefetch(at);
		mdv_tx_wqe_data_inline(at, len + tag);
		mdv_tx_copy_frame(at + MDV_TX_WQE_DATA_START, mbuf, len, tagged);
		mbufs[n] = mbuf;
		at = next;
		nb_bytes += len;
	}
	wqe->at = at;
	wqe->mbufs = mbufs + n;
	wqe->nb_bytes += nb_bytes;
	return n;
}

/** The same for packets without tags: a function, as its loop wants all registers. */
static __rte_noinline __rte_unused uint32_t
mdv_tx_copy_untagged(struct mdv_tx_copy_wqe *wqe, struct rte_mbuf **pkts, uint32_t nb, uint32_t max)
{
	/* A maximum below the shortest frame is negative. */
	return (int32_t)max < 0 ? 0 : mdv_tx_copy_alike(wqe, pkts, nb, max, false);
}

/** The same for packets with tags. */
static __rte_noinline __rte_unused uint32_t
mdv_tx_copy_tagged(struct mdv_tx_copy_wqe *wqe, struct rte_mbuf **pkts, uint32_t nb, uint32_t max)
{
	/* Below 0 where a tag makes the shortest frame too long. */
	return (int32_t)(max - RTE_VLAN_HLEN) < 0
		? 0
		: mdv_tx_copy_alike(wqe, pkts, nb, max - RTE_VLAN_HLEN, true);
}

/** @return whether a WQE with packets ends before this one, because it is full or has no room for
 * the frame. Without this mdv_tx_copy_odd() would find out, by more instructions. */
static __rte_always_inline bool
mdv_tx_copy_is_full(const struct mdv_tx_copy_wqe *wqe, const struct rte_mbuf *mbuf, uint32_t max)
{
	const uint32_t len = mbuf->data_len;

	return wqe->at == wqe->flat ||
		((int32_t)(len - MDV_TX_FRAME_MIN) <= (int32_t)max &&
			(size_t)mdv_tx_wqe_ds_data(len) * 16 > (size_t)(wqe->end - wqe->at));
}

/** @return the length of the shortest frame that is not inlined; @p tag: bytes to be inserted. */
static __rte_always_inline uint32_t
mdv_tx_copy_beyond(const struct mdv_txq *txq, uint32_t tag)
{
	return RTE_MAX((int32_t)MDV_TX_FRAME_MIN, txq->ring.inline_max + 1 - (int32_t)tag);
}

/**
 * Append the unusual packet number @p *n of @p nb and those like it: one around the ring's end, or
 * long ones.
 * @param n moves behind them
 * @return MDV_TX_SENT, MDV_TX_NO_ROOM: the WQE has none, or MDV_TX_WHOLE: it cannot share this WQE
 */
enum mdv_tx_status mdv_tx_copy_odd(struct mdv_txq *txq, struct mdv_tx_copy_wqe *wqe,
	struct rte_mbuf **pkts, uint32_t nb, uint32_t *n);

/**
 * Build one WQE of the packets at the front that can share it. The instances of a file share this.
 * @param nb number of packets that there are mbuf places for, before their ring ends
 * @param bbs number of free WQEBBs
 * @return MDV_TX_SENT, MDV_TX_NO_ROOM, or MDV_TX_WHOLE: the first needs a WQE of its own
 */
static __rte_noinline __rte_unused enum mdv_tx_status
mdv_tx_copy_many(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos)
{
	const uint32_t max = txq->ring.inline_max - MDV_TX_FRAME_MIN;
	struct mdv_tx_copy_wqe wqe = mdv_tx_copy_begin(txq, pkts[0], bbs, pos);
	enum mdv_tx_status status = MDV_TX_SENT;
	uint32_t n = 0;

	do {
		uint32_t more;

		if (pkts[n]->ol_flags & RTE_MBUF_F_TX_VLAN)
			more = mdv_tx_copy_tagged(&wqe, pkts + n, nb - n, max);
		else
			more = mdv_tx_copy_untagged(&wqe, pkts + n, nb - n, max);
		n += more;
		if (unlikely(more == 0))
			status = mdv_tx_copy_odd(txq, &wqe, pkts, nb, &n);
	} while (status == MDV_TX_SENT && n != nb && !mdv_tx_copy_is_full(&wqe, pkts[n], max));
	if (unlikely(n == 0))
		return status;
	mdv_tx_copy_end(txq, &wqe, n, pos);
	return MDV_TX_SENT;
}

/** Build the WQE of one packet, whose frame is in the Ethernet segment. @return as
 * mdv_tx_copy_many() */
static __rte_always_inline enum mdv_tx_status
mdv_tx_copy_one(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t bbs, struct mdv_tx_pos *pos,
	const unsigned int opts)
{
	const uint32_t len = mdv_tx_copy_len(txq, mbuf, opts), ds = mdv_tx_wqe_ds_inline(len);
	const uint32_t slot = pos->pc & txq->ring.mask;
	uint8_t *const wqe = txq->ring.wqes + slot * MLX5_SEND_WQE_BB;
	uint8_t *const to = wqe + MDV_TX_WQE_DS_HEAD * 16 - MDV_TX_WQE_INLINE_START;
	const uint32_t first = txq->ring.wqes + (txq->ring.mask + 1u) * MLX5_SEND_WQE_BB - to;
	const bool tagged = mdv_tx_copy_is_tagged(mbuf, opts);

	if (len == 0)
		return MDV_TX_WHOLE;
	if (mdv_tx_wqe_bbs(ds) > bbs)
		return MDV_TX_NO_ROOM;
	mdv_tx_wqe_ctrl((void *)wqe, MLX5_OPCODE_SEND, pos->pc, txq->ring.qpn_ds, ds,
		MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	mdv_tx_wqe_eth((void *)(wqe + 16),
		opts & MDV_TX_CSUM ? mdv_tx_csums[mdv_tx_csum_index(mbuf->ol_flags)] : 0,
		rte_cpu_to_be_32(len << 16));
	if (likely(len <= first))
		mdv_tx_copy_frame(to, mbuf, mbuf->data_len, tagged);
	else
		mdv_tx_copy_around(txq, to, mbuf, tagged, first, len);
	txq->ring.mbufs[pos->head & txq->ring.mask] = mbuf;
	pos->last = wqe;
	pos->pc += mdv_tx_wqe_bbs(ds);
	pos->head++;
	pos->bytes += mbuf->data_len;
	pos->nb++;
	return MDV_TX_SENT;
}

#endif /* MDV_TX_COPY_H */
