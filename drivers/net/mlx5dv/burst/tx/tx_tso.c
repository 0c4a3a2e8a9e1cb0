/* SPDX-License-Identifier: BSD-3-Clause */
/* WQEs of TSO packets. Outside of the burst's template: the cost is in the headers and the same in
 * all instances. */
#include "base/dm_mbuf.h"
#include "tx_mseg.h"
#include "tx_tso.h"

/** Units of the shortest headers. */
#define UNITS_MIN ((MDV_TX_TSO_HEADER_MIN - MDV_TX_WQE_INLINE_START + 15) / 16)

/**
 * Replaces the division by the segment size by a product. It is exact: the payload, of fewer than
 * 64 mbufs and so below 2^22, times the error of the inverse, below 2^14, stays below 2^40
 * (Granlund and Montgomery 1994).
 */
#define INVERSE_SHIFT 40

uint32_t
mdv_tx_tso_header(const struct rte_mbuf *mbuf)
{
	uint32_t len = mbuf->l2_len + mbuf->l3_len + mbuf->l4_len;

	if (mbuf->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK)
		len += mbuf->outer_l2_len + mbuf->outer_l3_len;
	if (mbuf->l4_len < sizeof(struct rte_tcp_hdr) || mbuf->l4_len > MDV_TX_TSO_TCP_MAX ||
		len < MDV_TX_TSO_HEADER_MIN || len > MDV_TX_TSO_HEADER_MAX - RTE_VLAN_HLEN)
		return 0;
	if (mbuf->tso_segsz == 0 || mbuf->tso_segsz > MDV_TX_FRAME_MAX - len)
		return 0;
	return len;
}

uint64_t
mdv_tx_tso_more(const struct rte_mbuf *mbuf, uint64_t *frames)
{
	const uint32_t header = mdv_tx_tso_header(mbuf), payload = mbuf->pkt_len - header;
	const uint32_t more = header == 0 || payload == 0 ? 0 : (payload - 1) / mbuf->tso_segsz;

	*frames += more;
	return (uint64_t)more * header;
}

/** Compute the template. @return false: the packet cannot be segmented. */
static __rte_noinline bool
template_take(
	struct mdv_tx_tso_template *tso_template, const struct rte_mbuf *mbuf, bool insert_vlan)
{
	const uint64_t flags = mbuf->ol_flags;
	const bool tagged = insert_vlan && (flags & RTE_MBUF_F_TX_VLAN) != 0;
	const uint32_t header = mdv_tx_tso_header(mbuf);
	const uint32_t inlined = header + (tagged ? RTE_VLAN_HLEN : 0);
	const uint32_t csum = mdv_tx_csums[mdv_tx_csum_index(flags) | mdv_tx_tso_csum(flags)];
	const uint32_t words[4] = { 0, rte_cpu_to_be_32(csum << 24 | mbuf->tso_segsz), 0,
		rte_cpu_to_be_32(inlined << 16) };

	if (!(flags & RTE_MBUF_F_TX_TCP_SEG) || header == 0)
		return false;
	memcpy(tso_template->eth, words, sizeof(tso_template->eth));
	tso_template->tx_offload = mbuf->tx_offload;
	tso_template->ol_flags = flags;
	tso_template->header = header;
	tso_template->units = mdv_tx_wqe_ds_inline(inlined) - MDV_TX_WQE_DS_HEAD;
	/* External memory may be readable by the device only. */
	tso_template->least = tagged || (flags & RTE_MBUF_F_EXTERNAL) ? UINT32_MAX : header;
	tso_template->mss = mbuf->tso_segsz;
	tso_template->per_mss = (1ULL << INVERSE_SHIFT) / mbuf->tso_segsz + 1;
	tso_template->tagged = tagged;
	return true;
}

/**
 * Copy headers that are in several segments or that get a tag.
 * @return @p header, or NULL: the packet has fewer bytes, or has them in device memory
 */
static __rte_noinline const uint8_t *
headers_gather(const struct mdv_tx_tso_template *tso_template, const struct rte_mbuf *mbuf,
	uint8_t *header)
{
	uint8_t bytes[MDV_TX_TSO_HEADER_MAX];
	const uint8_t *from;

	if (mdv_dm_mbuf_is_partly(mbuf, tso_template->header))
		return NULL;
	from = rte_pktmbuf_read(mbuf, 0, tso_template->header, bytes);
	if (from == NULL)
		return NULL;
	if (tso_template->tagged)
		mdv_tx_wqe_copy_tagged(header, from, tso_template->header, mbuf->vlan_tci);
	else
		memcpy(header, from, tso_template->header);
	return header;
}

/** Where the inlined headers begin in a WQE. */
#define HEADER_OFF (MDV_TX_WQE_DS_HEAD * 16 - MDV_TX_WQE_INLINE_START)

/** Write the part of a WQE that packets of one template share. */
static __rte_always_inline void
head_write(uint8_t *wqe, const struct mdv_tx_tso_template *tso_template)
{
	memcpy(wqe + 16, tso_template->eth, sizeof(tso_template->eth));
}

/**
 * Copy @p len bytes of headers into @p units of a WQE and the bytes before these. The last unit
 * ends with them and lies over the one before, because what is behind them may be in a line of the
 * packet that nothing else reads.
 */
static __rte_always_inline void
headers_copy(uint8_t *wqe, const uint8_t *from, uint32_t len, uint32_t units)
{
	uint8_t *to = wqe + HEADER_OFF;
	uint32_t at = MDV_TX_WQE_INLINE_START;

	memcpy(to, from, MDV_TX_WQE_INLINE_START);
	memcpy(to + at, from + at, (UNITS_MIN - 1) * 16);
	if (unlikely(units != UNITS_MIN))
		for (at += (UNITS_MIN - 1) * 16; at + 16 < len; at += 16)
			memcpy(to + at, from + at, 16);
	memcpy(to + len - 16, from + len - 16, 16);
}

/** Write one packet of any form, at any place of the rings. @return the units of the WQE; 0:
 * nothing is written, by the reason @p status */
static __rte_noinline uint32_t
packet_write(struct mdv_txq *txq, const struct mdv_tx_tso_template *tso_template,
	struct rte_mbuf *mbuf, uint16_t pc, uint16_t head, uint32_t room,
	enum mdv_tx_status *status)
{
	const uint32_t slot = pc & txq->ring.mask,
		       ds_head = MDV_TX_WQE_DS_HEAD + tso_template->units;
	const uint32_t to_end =
		(txq->ring.mask + 1u - slot) * MDV_TX_WQE_DS_PER_BB - MDV_TX_WQE_DS_HEAD;
	const uint32_t len = tso_template->header + (tso_template->tagged ? RTE_VLAN_HLEN : 0) -
		MDV_TX_WQE_INLINE_START;
	const uint32_t first = RTE_MIN(len, to_end * 16);
	uint8_t *wqe = txq->ring.wqes + slot * MLX5_SEND_WQE_BB;
	const uint8_t *from = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint8_t copy[MDV_TX_TSO_HEADER_MAX];
	uint32_t ds = ds_head;

	*status = MDV_TX_NO_ROOM;
	if (ds_head >= room * MDV_TX_WQE_DS_PER_BB)
		return 0;
	*status = MDV_TX_BAD;
	if (mbuf->data_len < tso_template->least) {
		from = headers_gather(tso_template, mbuf, copy);
		if (from == NULL)
			return 0;
	}
	head_write(wqe, tso_template);
	memcpy(wqe + HEADER_OFF, from, MDV_TX_WQE_INLINE_START);
	from += MDV_TX_WQE_INLINE_START;
	memcpy(wqe + MDV_TX_WQE_DS_HEAD * 16, from, first);
	memcpy(txq->ring.wqes, from + first, len - first);
	*status = mdv_tx_mseg_write(txq, mbuf, tso_template->header, pc, head, &ds, room);
	if (*status == MDV_TX_SENT && ds == ds_head)
		*status = MDV_TX_BAD;
	return *status == MDV_TX_SENT ? ds : 0;
}

/** Write payload in several mbufs, or in memory outside of the last hit. @return the number of
 * data segments, or 0 if the packet cannot be sent */
static __rte_noinline uint32_t
payload_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *payload, struct rte_mbuf **slot)
{
	return mdv_tx_mseg_write_flat(txq, mbuf, skip, payload, slot) - payload;
}

/** Write a packet with headers in the first mbuf and contiguous room. @return the units of the
 * WQE, or 0 if the packet cannot be sent */
static __rte_always_inline uint32_t
packet_write_flat(struct mdv_txq *txq, const struct mdv_tx_tso_template *tso_template,
	struct rte_mbuf *mbuf, uint8_t *wqe, struct rte_mbuf **slot)
{
	/* Read once: the WQE's bytes may be anything to the compiler. */
	const uint32_t header = tso_template->header, units = tso_template->units;
	const uint32_t ds_head = MDV_TX_WQE_DS_HEAD + units;
	uint32_t nb;

	head_write(wqe, tso_template);
	headers_copy(wqe, rte_pktmbuf_mtod(mbuf, const uint8_t *), header, units);
	nb = payload_write(txq, mbuf, header, (struct mlx5_wqe_data_seg *)wqe + ds_head, slot);
	return likely(nb != 0) ? ds_head + nb : 0;
}

/** The positions in both rings, and their contiguous room. */
struct rings {
	uint8_t *wqe;
	const uint8_t *wqes_end;
	struct rte_mbuf **slot, **slots_end;
};

static __rte_always_inline struct rings
rings_at(const struct mdv_txq *txq, uint16_t pc, uint16_t head, uint32_t room)
{
	const struct mdv_tx_mseg_room flat = mdv_tx_mseg_room(txq, pc, head, room);
	uint8_t *wqe = txq->ring.wqes + (pc & txq->ring.mask) * MLX5_SEND_WQE_BB;
	struct rte_mbuf **slot = &txq->ring.mbufs[head & txq->ring.mask];

	return (struct rings){ wqe, wqe + flat.bbs * MLX5_SEND_WQE_BB, slot, slot + flat.slots };
}

static __rte_always_inline bool
rings_have(const struct rings *rings, uint32_t nb_segs, uint32_t ds)
{
	return ds <= MDV_TX_DS_MAX && rings->wqe + ds * 16 <= rings->wqes_end &&
		rings->slot + nb_segs <= rings->slots_end;
}

/** The packets written so far. */
struct sent {
	struct rings at;
	uint16_t pc, head;
	uint32_t nb;
	uint8_t *last;      /**< WQE */
	uint64_t nb_frames; /**< that the device makes of them, without the first of each */
	uint64_t bytes;
};

/**
 * Write the usual packets at the front: like the template, of one mbuf, in memory of the last hit,
 * with room before either ring ends.
 */
static __rte_always_inline void
run_write(const struct mdv_txq *txq, struct rte_mbuf *const *pkts, uint32_t nb, struct sent *sent)
{
	const struct mdv_tx_tso_template tso_template = txq->tso_template;
	const uint32_t header = tso_template.header, least = tso_template.mss + 1u;
	const uint32_t ds = MDV_TX_WQE_DS_HEAD + tso_template.units + 1;
	const uint32_t bbs = mdv_tx_wqe_bbs(ds), max = txq->limits.tso_max;
	const uint64_t key = (uint64_t)txq->mr.last.lkey_be << 32;
	const uint8_t *const end = sent->at.wqes_end - ds * 16;
	uint8_t *wqe = sent->at.wqe;
	uint64_t nb_frames = 0, bytes = 0;
	uint16_t pc = sent->pc;
	uint32_t n;

	/* Headers with a tag, or where only the device may read. */
	if (unlikely(tso_template.least != header || max < least))
		return;
	nb = RTE_MIN(nb, (uint32_t)(sent->at.slots_end - sent->at.slot));
	for (n = 0; n < nb; n++) {
		struct rte_mbuf *mbuf = pkts[n];
		const uint8_t *from = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		const uint32_t payload = mbuf->data_len - header;
		const uintptr_t addr = (uintptr_t)from + header;

		if (unlikely(mbuf->ol_flags != tso_template.ol_flags ||
			    mbuf->tx_offload != tso_template.tx_offload || mbuf->nb_segs != 1 ||
			    payload - least > max - least ||
			    addr - txq->mr.last.start >= txq->mr.last.size || wqe > end))
			break;
		mdv_tx_mseg_prefetch(pkts, n, nb, false);
		/* Two lines: headers of up to 82 bytes. */
		mdv_tx_wqe_prefetch(wqe);
		mdv_tx_wqe_prefetch(wqe + MLX5_SEND_WQE_BB);
		head_write(wqe, &tso_template);
		headers_copy(wqe, from, header, tso_template.units);
		mdv_tx_wqe_data_keyed((struct mlx5_wqe_data_seg *)wqe + ds - 1, addr, payload, key);
		mdv_tx_wqe_ctrl((void *)wqe, MLX5_OPCODE_TSO, pc, txq->ring.qpn_ds, ds,
			MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
		sent->at.slot[n] = mbuf;
		wqe += bbs * MLX5_SEND_WQE_BB;
		pc += bbs;
		bytes += payload;
		nb_frames += (payload - 1) * tso_template.per_mss >> INVERSE_SHIFT;
	}
	if (n != 0)
		sent->last = wqe - bbs * MLX5_SEND_WQE_BB;
	sent->at.wqe = wqe;
	sent->at.slot += n;
	sent->pc = pc;
	sent->head += n;
	sent->nb += n;
	sent->nb_frames += nb_frames;
	sent->bytes += bytes + (n + nb_frames) * header;
}

/** Write one packet of any form. @param room number of free WQEBBs @return MDV_TX_SENT, or why it
 * is not written */
static __rte_always_inline enum mdv_tx_status
one_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t room, bool insert_vlan,
	struct sent *sent)
{
	struct mdv_tx_tso_template *tso_template = &txq->tso_template;
	const uint32_t nb_segs = mbuf->nb_segs, max = txq->limits.tso_max;
	enum mdv_tx_status status = MDV_TX_BAD;
	uint32_t payload, more, ds, bbs;
	bool flat;

	if (unlikely(mbuf->ol_flags != tso_template->ol_flags ||
		    mbuf->tx_offload != tso_template->tx_offload) &&
		!template_take(tso_template, mbuf, insert_vlan))
		return MDV_TX_BAD;
	payload = mbuf->pkt_len - tso_template->header;
	if (unlikely(payload > max || payload <= tso_template->mss))
		return payload > max ? MDV_TX_BAD : MDV_TX_WHOLE;
	flat = mbuf->data_len >= tso_template->least &&
		rings_have(&sent->at, nb_segs, MDV_TX_WQE_DS_HEAD + tso_template->units + nb_segs);
	if (likely(flat))
		ds = packet_write_flat(txq, tso_template, mbuf, sent->at.wqe, sent->at.slot);
	else
		ds = packet_write(txq, tso_template, mbuf, sent->pc, sent->head, room, &status);
	if (unlikely(ds == 0))
		return status;
	/* Away from the end of the ring. */
	sent->last = likely(flat) ? sent->at.wqe
				  : txq->ring.wqes + (sent->pc & txq->ring.mask) * MLX5_SEND_WQE_BB;
	mdv_tx_wqe_ctrl((void *)sent->last, MLX5_OPCODE_TSO, sent->pc, txq->ring.qpn_ds, ds,
		MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	bbs = mdv_tx_wqe_bbs(ds);
	sent->pc += bbs;
	sent->head += nb_segs;
	sent->nb++;
	sent->at.wqe += bbs * MLX5_SEND_WQE_BB;
	sent->at.slot += nb_segs;
	if (unlikely(!flat))
		sent->at = rings_at(txq, sent->pc, sent->head, room - bbs);
	more = (payload - 1) * tso_template->per_mss >> INVERSE_SHIFT;
	sent->nb_frames += more;
	sent->bytes += mbuf->pkt_len + more * tso_template->header;
	return MDV_TX_SENT;
}

enum mdv_tx_status
mdv_tx_tso(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t room,
	bool insert_vlan, struct mdv_tx_pos *pos)
{
	struct sent sent = {
		.at = rings_at(txq, pos->pc, pos->head, room),
		.pc = pos->pc,
		.head = pos->head,
		.last = pos->last,
	};
	enum mdv_tx_status status = MDV_TX_SENT;
	uint16_t nb_mbufs;

	mdv_tx_mseg_prefetch_first(pkts, nb);
	while (sent.nb < nb && status == MDV_TX_SENT) {
		if (likely(pkts[sent.nb]->nb_segs == 1))
			run_write(txq, &pkts[sent.nb], nb - sent.nb, &sent);
		if (sent.nb == nb)
			break;
		mdv_tx_mseg_prefetch(pkts, sent.nb, nb, false);
		mdv_tx_wqe_prefetch(sent.at.wqe);
		mdv_tx_wqe_prefetch(sent.at.wqe + MLX5_SEND_WQE_BB);
		status = one_write(txq, pkts[sent.nb], room - (uint16_t)(sent.pc - pos->pc),
			insert_vlan, &sent);
	}
	if (sent.nb == 0)
		return status;
	nb_mbufs = sent.head - pos->head;
	if (unlikely(nb_mbufs != sent.nb && !txq->ring.chains))
		txq->ring.chains = true;
	pos->last = sent.last;
	pos->pc = sent.pc;
	pos->head = sent.head;
	pos->more += sent.nb_frames + sent.nb - nb_mbufs;
	pos->bytes += sent.bytes;
	pos->nb += sent.nb;
	return MDV_TX_SENT;
}
