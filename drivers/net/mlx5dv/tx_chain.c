/* SPDX-License-Identifier: BSD-3-Clause */
/* WQEs of packets of several segments. Not part of the burst's template: what costs here, the
 * segments, is the same in all instances. */
#include "tx_chain.h"
#include "tx_one.h"

/** What packets have in common that follow each other. */
struct like {
	uint64_t ol_flags; /**< of the mbuf */
	uint64_t eth[2];   /**< Ethernet segment but for the tag */
	bool tagged;       /**< a tag is inserted */
	bool cut;          /**< to be cut up */
};

__rte_noinline int
mdv_tx_chain_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t skip, uint16_t pc,
	uint16_t head, uint32_t ds, uint32_t room)
{
	const uint32_t mask = txq->mask, ds_mask = (mask + 1) * MDV_TX_WQE_DS_PER_BB - 1;
	const uint32_t max = RTE_MIN(room * MDV_TX_WQE_DS_PER_BB, MDV_TX_DS_MAX);
	const uint32_t start = (pc & mask) * MDV_TX_WQE_DS_PER_BB, nb_segs = mbuf->nb_segs;
	struct mlx5_wqe_data_seg *const ring = (void *)txq->wqes;
	uint32_t n;

	if (nb_segs > mask + 1 - (uint16_t)(head - txq->tail))
		return nb_segs > mask + 1 ? -1 : 0;
	for (n = 0; n < nb_segs && mbuf != NULL; n++, mbuf = mbuf->next) {
		const uint32_t len = mbuf->data_len;

		txq->mbufs[(head + n) & mask] = mbuf;
		if (len <= skip) {
			skip -= len;
			continue;
		}
		if (ds == max)
			return max == MDV_TX_DS_MAX ? -1 : 0;
		if (!mdv_tx_put(txq, mbuf, skip, &ring[(start + ds) & ds_mask]))
			return -1;
		skip = 0;
		ds++;
	}
	/* Whoever frees it will go by nb_segs. */
	return n == nb_segs ? (int)ds : -1;
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

/** One packet, however it is sent and wherever the rings end. @return WQEBBs, 0 when there is no
 * room now, -1 when it cannot be sent. */
static __rte_noinline int
packet_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, uint16_t head, uint32_t room,
	unsigned int opts)
{
	uint8_t *wqe = txq->wqes + (pc & txq->mask) * MLX5_SEND_WQE_BB;
	uint32_t taken, ds_head;
	int ds;

	if (room == 0)
		return 0;
	ds_head = mdv_tx_head(wqe, mbuf, &taken, opts);
	if ((opts & MDV_TX_INLINE_L2) && taken == 0)
		return -1;
	ds = mdv_tx_chain_write(txq, mbuf, taken, pc, head, ds_head, room);
	if (ds <= 0)
		return ds;
	if ((uint32_t)ds == ds_head && taken == 0)
		return -1;
	mdv_tx_wqe_ctrl(
		(void *)wqe, MLX5_OPCODE_SEND, pc, txq->sqn, ds, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	return mdv_tx_wqe_bbs(ds);
}

/** The usual packet, for which there is room in one piece, with nothing inlined. @return units of
 * the WQE, 0 when it cannot be sent. */
static __rte_always_inline uint32_t
packet_write_flat(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, uint16_t head,
	const struct like *like)
{
	struct mlx5_wqe_data_seg *wqe = (void *)(txq->wqes + (pc & txq->mask) * MLX5_SEND_WQE_BB);
	struct mlx5_wqe_data_seg *data = mdv_tx_chain_write_flat(
		txq, mbuf, 0, wqe + MDV_TX_WQE_DS_HEAD, &txq->mbufs[head & txq->mask]);
	const uint32_t ds = data - wqe;

	if (unlikely(data == NULL || ds == MDV_TX_WQE_DS_HEAD))
		return 0;
	memcpy(wqe + 1, like->eth, sizeof(like->eth));
	if (unlikely(like->tagged))
		mdv_tx_wqe_eth_tag((void *)(wqe + 1), mbuf->vlan_tci);
	mdv_tx_wqe_ctrl(
		(void *)wqe, MLX5_OPCODE_SEND, pc, txq->sqn, ds, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	return ds;
}

int
mdv_tx_chain_send(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t room,
	unsigned int opts, struct mdv_tx_pos *pos)
{
	uint16_t pc = pos->pc, last = pc, head = pos->head;
	struct mdv_tx_chain_room flat = { .bbs = 0 };
	uint64_t bytes = 0;
	struct like like;
	int bbs = 0;
	uint32_t n;

	like_take(&like, pkts[0], opts);
	if (!(opts & MDV_TX_INLINE_L2))
		flat = mdv_tx_chain_room(txq, pc, head, room);
	for (n = 0; n < nb; n++) {
		struct rte_mbuf *mbuf = pkts[n];
		const uint32_t nb_segs = mbuf->nb_segs, len = mbuf->pkt_len;

		if (unlikely(mbuf->ol_flags != like.ol_flags))
			like_take(&like, mbuf, opts);
		/* The first one is known to be a chain, and not to be cut up. */
		if (unlikely(nb_segs < 2 || like.cut) && n != 0)
			break;
		bbs = -1;
		if (unlikely(len - MDV_TX_FRAME_MIN > MDV_TX_FRAME_MAX - MDV_TX_FRAME_MIN))
			break;
		if (likely(mdv_tx_chain_fits(&flat, nb_segs, MDV_TX_WQE_DS_HEAD))) {
			uint32_t ds = packet_write_flat(txq, mbuf, pc, head, &like);

			if (unlikely(ds == 0))
				break;
			bbs = mdv_tx_wqe_bbs(ds);
			flat.bbs -= bbs;
			flat.slots -= nb_segs;
		} else {
			bbs = packet_write(txq, mbuf, pc, head, room, opts);
			if (bbs <= 0)
				break;
			if (!(opts & MDV_TX_INLINE_L2))
				flat = mdv_tx_chain_room(txq, pc + bbs, head + nb_segs, room - bbs);
		}
		last = pc;
		pc += bbs;
		room -= bbs;
		head += nb_segs;
		bytes += len;
	}
	if (n == 0)
		return bbs;
	txq->chains = true;
	pos->last = txq->wqes + (last & txq->mask) * MLX5_SEND_WQE_BB;
	pos->more += (uint64_t)n - (uint16_t)(head - pos->head);
	pos->bytes += bytes;
	pos->nb += n;
	pos->pc = pc;
	pos->head = head;
	return n;
}
