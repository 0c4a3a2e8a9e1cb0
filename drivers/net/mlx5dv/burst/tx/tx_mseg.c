/* SPDX-License-Identifier: BSD-3-Clause */
/* WQEs of packets of several segments. Outside of the burst's template: the cost is in the
 * segments and the same in all instances. */
#include "base/vec.h"
#include "tx_mseg.h"
#include "tx_one.h"

/** Offset of refcnt and nb_segs in rearm_data. */
#define COUNTS_OFF 2

/** Fields that consecutive packets share. */
struct like {
	uint64_t ol_flags; /**< of the mbuf */
	uint64_t eth[2];   /**< the Ethernet segment without the tag */
	bool tagged;       /**< the device inserts a tag */
	bool cut;          /**< the device segments the packet (TSO) */
};

__rte_noinline enum mdv_tx_status
mdv_tx_mseg_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t skip, uint16_t pc,
	uint16_t head, uint32_t *ds, uint32_t room)
{
	const uint32_t mask = txq->ring.mask, ds_mask = (mask + 1) * MDV_TX_WQE_DS_PER_BB - 1;
	const uint32_t max = RTE_MIN(room * MDV_TX_WQE_DS_PER_BB, MDV_TX_DS_MAX);
	const uint32_t start = (pc & mask) * MDV_TX_WQE_DS_PER_BB, nb_segs = mbuf->nb_segs;
	struct mlx5_wqe_data_seg *const ring = (void *)txq->ring.wqes;
	uint32_t n, at = *ds;

	/* Mbufs that no completion is requested for yet stay in the ring: mdv_txq_request_min(). */
	if (nb_segs > mask + 1 - (uint16_t)(head - txq->pos.tail))
		return nb_segs > mask + 2 - txq->ring.request_min ? MDV_TX_BAD : MDV_TX_NO_ROOM;
	for (n = 0; n < nb_segs && mbuf != NULL; n++, mbuf = mbuf->next) {
		const uint32_t len = mbuf->data_len;

		txq->ring.mbufs[(head + n) & mask] = mbuf;
		if (len <= skip) {
			skip -= len;
			continue;
		}
		if (at == max)
			return max == MDV_TX_DS_MAX ? MDV_TX_BAD : MDV_TX_NO_ROOM;
		if (!mdv_tx_put(txq, mbuf, skip, &ring[(start + at) & ds_mask]))
			return MDV_TX_BAD;
		skip = 0;
		at++;
	}
	*ds = at;
	/* The packet is freed by nb_segs, so the chain must have as many mbufs. */
	return n == nb_segs ? MDV_TX_SENT : MDV_TX_BAD;
}

static void
like_take(struct like *like, const struct rte_mbuf *mbuf, unsigned int opts)
{
	const uint64_t flags = mbuf->ol_flags;
	const uint32_t cut = (opts & MDV_TX_TSO) ? mdv_tx_tso_csum(flags) : 0;
	const uint32_t csum =
		(opts & MDV_TX_CSUM) ? mdv_tx_csums[mdv_tx_csum_index(flags) | cut] : 0;

	like->ol_flags = flags;
	mdv_tx_wqe_eth((void *)like->eth, csum, 0);
	like->tagged = (opts & MDV_TX_VLAN) && (flags & RTE_MBUF_F_TX_VLAN);
	like->cut = cut != 0;
}

/**
 * Copy the headers that a WQE inlines, at most @p max bytes of the frame with the tag that is to be
 * inserted.
 * @param taken bytes of the packet among them; 0: the packet has too few, or has them in device
 * memory
 * @return bytes in @p header
 */
static uint32_t
headers_take(
	const struct rte_mbuf *mbuf, uint32_t max, bool tagged, uint8_t *header, uint32_t *taken)
{
	const uint32_t tag = tagged ? RTE_VLAN_HLEN : 0;
	const uint32_t len = RTE_MIN(mbuf->pkt_len, max - tag);
	uint8_t bytes[MDV_HW_ETH_INLINE_TRANSPORT];
	const uint8_t *from;

	*taken = 0;
	if (mdv_dm_mbuf_is_partly(mbuf, len) && rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	from = rte_pktmbuf_read(mbuf, 0, len, bytes);
	if (from == NULL)
		return 0;
	*taken = len;
	if (tagged)
		mdv_tx_wqe_copy_tagged(header, from, len, mbuf->vlan_tci);
	else
		memcpy(header, from, len);
	return len + tag;
}

/**
 * Write an Ethernet segment with all headers that the host demands, at any place of the ring.
 * @param taken as of headers_take()
 * @return the units of the WQE so far; 0: there is no room
 */
static uint32_t
long_head_write(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint16_t pc, uint32_t room,
	uint32_t *taken, unsigned int opts)
{
	const uint32_t mask = (txq->ring.mask + 1) * MDV_TX_WQE_DS_PER_BB - 1;
	const uint32_t start = (pc & txq->ring.mask) * MDV_TX_WQE_DS_PER_BB;
	uint8_t header[MDV_TX_WQE_INLINE_START + RTE_ALIGN(MDV_HW_ETH_INLINE_TRANSPORT, 16)] = {
		0
	};
	uint8_t *wqe = txq->ring.wqes + start * 16;
	struct like like;
	uint32_t inlined, ds, i;

	like_take(&like, mbuf, opts);
	inlined = headers_take(mbuf, txq->ring.min_inline, like.tagged, header, taken);
	ds = mdv_tx_wqe_ds_inline(inlined);
	if (*taken != 0 && ds >= room * MDV_TX_WQE_DS_PER_BB)
		return 0;
	memcpy(wqe + 16, like.eth, sizeof(like.eth));
	((struct mlx5_wqe_eth_seg *)(wqe + 16))->inline_hdr_sz = rte_cpu_to_be_16(inlined);
	memcpy(wqe + 30, header, MDV_TX_WQE_INLINE_START);
	for (i = MDV_TX_WQE_DS_HEAD; i < ds; i++)
		memcpy(txq->ring.wqes + ((start + i) & mask) * 16,
			header + MDV_TX_WQE_INLINE_START + (i - MDV_TX_WQE_DS_HEAD) * 16, 16);
	return ds;
}

/**
 * Write one packet of any form, at any place of the rings. @param bbs WQEBBs, set for MDV_TX_SENT
 */
static __rte_noinline enum mdv_tx_status
packet_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, uint16_t head, uint32_t room,
	unsigned int opts, uint32_t *bbs)
{
	uint8_t *wqe = txq->ring.wqes + (pc & txq->ring.mask) * MLX5_SEND_WQE_BB;
	uint32_t taken, ds_head, ds;
	enum mdv_tx_status status;

	if (mbuf->pkt_len - MDV_TX_FRAME_MIN > MDV_TX_FRAME_MAX - MDV_TX_FRAME_MIN)
		return MDV_TX_BAD;
	if (room == 0)
		return MDV_TX_NO_ROOM;
	if (txq->ring.min_inline != 0)
		ds_head = long_head_write(txq, mbuf, pc, room, &taken, opts);
	else
		ds_head = mdv_tx_head(wqe, mbuf, &taken, opts);
	if ((opts & MDV_TX_INLINE_L2) && taken == 0)
		return MDV_TX_BAD;
	if (ds_head == 0)
		return MDV_TX_NO_ROOM;
	ds = ds_head;
	status = mdv_tx_mseg_write(txq, mbuf, taken, pc, head, &ds, room);
	if (status != MDV_TX_SENT)
		return status;
	if (ds == ds_head && taken == 0)
		return MDV_TX_BAD;
	mdv_tx_wqe_ctrl((void *)wqe, MLX5_OPCODE_SEND, pc, txq->ring.qpn_ds, ds,
		MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	*bbs = mdv_tx_wqe_bbs(ds);
	return MDV_TX_SENT;
}

/** Write the usual packets: alike, chains, nothing inlined, contiguous in the rings. @return the
 * number of packets */
static __rte_noinline uint32_t
packets_write(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t room,
	const struct like *like, struct mdv_tx_pos *pos)
{
	const struct mdv_tx_mseg_room flat = mdv_tx_mseg_room(txq, pos->pc, pos->head, room);
	struct rte_mbuf **const start = &txq->ring.mbufs[pos->head & txq->ring.mask],
				**slot = start;
	uint8_t *at = txq->ring.wqes + (pos->pc & txq->ring.mask) * MLX5_SEND_WQE_BB,
		*last = pos->last;
	const uint8_t *const end = at + flat.bbs * MLX5_SEND_WQE_BB;
	uint64_t bytes = pos->bytes;
	uint16_t pc = pos->pc;
	uint32_t n;

	for (n = 0; n < nb; n++) {
		struct rte_mbuf *mbuf = pkts[n];
		struct mlx5_wqe_data_seg *wqe = (void *)at, *data;
		const uint32_t nb_segs = mbuf->nb_segs, len = mbuf->pkt_len;
		uint32_t ds = MDV_TX_WQE_DS_HEAD + nb_segs;

		if (unlikely(mbuf->ol_flags != like->ol_flags ||
			    nb_segs - 2 > MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD - 2 ||
			    (uint8_t *)(wqe + ds) > end || slot + nb_segs > start + flat.slots ||
			    len - MDV_TX_FRAME_MIN > MDV_TX_FRAME_MAX - MDV_TX_FRAME_MIN))
			break;
		mdv_tx_mseg_prefetch(pkts, n, nb, true);
		/* Two lines: up to six segments. */
		mdv_tx_wqe_prefetch(at);
		mdv_tx_wqe_prefetch(at + MLX5_SEND_WQE_BB);
		data = mdv_tx_mseg_write_flat(txq, mbuf, 0, wqe + MDV_TX_WQE_DS_HEAD, slot);
		if (unlikely(data == wqe + MDV_TX_WQE_DS_HEAD))
			break;
		ds = data - wqe;
		memcpy(wqe + 1, like->eth, sizeof(like->eth));
		if (unlikely(like->tagged))
			mdv_tx_wqe_eth_tag((void *)(wqe + 1), mbuf->vlan_tci);
		mdv_tx_wqe_ctrl((void *)wqe, MLX5_OPCODE_SEND, pc, txq->ring.qpn_ds, ds,
			MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
		last = at;
		at += mdv_tx_wqe_bbs(ds) * MLX5_SEND_WQE_BB;
		pc += mdv_tx_wqe_bbs(ds);
		slot += nb_segs;
		bytes += len;
	}
	pos->last = last;
	pos->pc = pc;
	pos->head += slot - start;
	pos->bytes = bytes;
	return n;
}

enum mdv_tx_status
mdv_tx_mseg_send(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t room,
	unsigned int opts, struct mdv_tx_pos *pos)
{
	const uint16_t pc = pos->pc, head = pos->head;
	struct like like;
	uint32_t n = 0, left = room, written, bbs;
	enum mdv_tx_status status = MDV_TX_NO_ROOM;

	do {
		struct rte_mbuf *mbuf = pkts[n];

		if (n == 0 || mbuf->ol_flags != like.ol_flags)
			like_take(&like, mbuf, opts);
		if (n != 0) {
			/* The first packet is known to come here, without TSO. */
			if ((mbuf->nb_segs < 2 && txq->ring.min_inline == 0) || like.cut)
				break;
			left = room - (uint16_t)(pos->pc - pc);
		}
		written = 0;
		if (!(opts & MDV_TX_INLINE_L2))
			written = packets_write(
				txq, &pkts[n], like.cut ? 1 : nb - n, left, &like, pos);
		n += written;
		if (written != 0)
			continue;
		status = packet_write(txq, mbuf, pos->pc, pos->head, left, opts, &bbs);
		if (status != MDV_TX_SENT)
			break;
		pos->last = txq->ring.wqes + (pos->pc & txq->ring.mask) * MLX5_SEND_WQE_BB;
		pos->pc += bbs;
		pos->head += mbuf->nb_segs;
		pos->bytes += mbuf->pkt_len;
		n++;
	} while (n < nb);
	if (n == 0)
		return status;
	if (unlikely(!txq->ring.chains))
		txq->ring.chains = true;
	pos->more += (uint64_t)n - (uint16_t)(pos->head - head);
	pos->nb += n;
	return MDV_TX_SENT;
}

uint32_t
mdv_tx_mseg_undo(struct rte_mbuf *const *mbufs, uint32_t nb, const struct rte_mempool *pool)
{
	static const struct rte_mbuf alone = { .refcnt = 1, .nb_segs = 1 };
	uint32_t counts, n;

	memcpy(&counts, (const uint8_t *)&alone.rearm_data + COUNTS_OFF, sizeof(counts));
	for (n = 0; n + MDV_VEC_LANES <= nb; n += MDV_VEC_LANES) {
		struct rte_mbuf *const *later = mbufs + MDV_TX_RELEASE_AHEAD;
		uint64_t flags = 0;

		MDV_VEC_EACH(i)
		{
			struct rte_mbuf *mbuf = mbufs[i];

			if (unlikely(mbuf->pool != pool || mbuf->refcnt != 1))
				return n;
			flags |= mbuf->ol_flags;
			mbuf->next = NULL;
			/* nb_segs and refcnt together are one store of a constant. */
			memcpy((uint8_t *)&mbuf->rearm_data + COUNTS_OFF, &counts, sizeof(counts));
			rte_prefetch0(RTE_PTR_ADD(later[i], RTE_CACHE_LINE_MIN_SIZE));
		}
		if (unlikely((flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0))
			return n;
		mbufs += MDV_VEC_LANES;
	}
	return n;
}
