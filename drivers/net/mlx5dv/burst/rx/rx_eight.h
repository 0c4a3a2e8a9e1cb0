/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Eight received packets at once, by AVX-512 with VBMI: one instruction gathers any 64 bytes of two
 * registers, so a CQE moves into an mbuf by bytes, and not by lanes (rx_vec.h).
 *
 *     CQE 2i, CQE 2i+1 ── facts ──> one lane for each of all eight: indices of look-ups, length
 *           └──────────── rows ───> 32 bytes each, rearm_data to hash: lengths, TCI and hash
 *                                   first, the rest after the look-ups
 *
 * One load reads a line, or one store writes it. A file that includes this before rx_burst.h gets
 * eights, then fours.
 */
#ifndef MDV_RX_EIGHT_H
#define MDV_RX_EIGHT_H

#include "rx_vec.h"

#define MDV_RX_EIGHT 8u
/** Loop over the lanes, unrolled. */
#define MDV_RX_EACH_OF(nb, i) _Pragma("GCC unroll 8") for (unsigned int i = 0; i < (nb); i++)

typedef uint8_t mdv_rx_bytes __attribute__((vector_size(64)));
typedef uint32_t mdv_rx_words __attribute__((vector_size(64)));

/** Byte of a field in the first CQE of two; those of the second are 64 and up. */
#define MDV_RX_AT(field) offsetof(struct mdv_hw_cqe, field)
/* clang-format off */
/** hdr_type 7:0, OK bits 15:8, pkt_info 23:16, hash type 31:24, length 47:32, op_own 63:56 */
#define MDV_RX_FACTS(cqe) \
	(cqe) + MDV_RX_AT(l4_l3_hdr_type), (cqe) + MDV_RX_AT(hds_ip_ext), \
	(cqe) + MDV_RX_AT(pkt_info), (cqe) + MDV_RX_AT(rss_hash_type), \
	(cqe) + MDV_RX_AT(byte_cnt) + 3, (cqe) + MDV_RX_AT(byte_cnt) + 2, \
	(cqe) + MDV_RX_AT(rsvd1), (cqe) + MDV_RX_AT(op_own)
#define MDV_RX_FACTS_OF_TWO MDV_RX_FACTS(0), MDV_RX_FACTS(64)
#define MDV_RX_ZERO_4 0, 0, 0, 0
/** From a length and hash in network order: pkt_len, data_len, a TCI, hash. */
#define MDV_RX_TAIL(len, tci, hash) \
	MDV_RX_ZERO_4, MDV_RX_ZERO_4, MDV_RX_ZERO_4, MDV_RX_ZERO_4, MDV_RX_ZERO_4, \
	(len) + 3, (len) + 2, (len) + 1, (len), (len) + 3, (len) + 2, (tci) + 1, (tci), \
	(hash) + 3, (hash) + 2, (hash) + 1, (hash)
#define MDV_RX_TAIL_OF_CQE(cqe) \
	MDV_RX_TAIL((cqe) + MDV_RX_AT(byte_cnt), (cqe) + MDV_RX_AT(vlan_info), \
		(cqe) + MDV_RX_AT(rss_hash))
#define MDV_RX_TAIL_OF_MINI(mini) MDV_RX_TAIL((mini) + 4, 0, (mini))
#define MDV_RX_SWAP(at) \
	(at) + 7, (at) + 6, (at) + 5, (at) + 4, (at) + 3, (at) + 2, (at) + 1, (at)
/* clang-format on */

/** Masks for two rows: the 64-bit lanes rearm_data and ol_flags; the 32-bit lanes ol_flags and
 * packet_type; the bytes that come from a mini CQE. */
#define MDV_RX_ROWS_REARM    0x33
#define MDV_RX_ROWS_HDR_TYPE 0x1414
#define MDV_RX_ROWS_MINI     UINT64_C(0xf3f00000f3f00000)

/** Write two rows. */
static __rte_always_inline void
mdv_rx_eight_store(struct rte_mbuf *const *mbufs, __m512i rows)
{
	const size_t at = offsetof(struct rte_mbuf, rearm_data);

	_mm256_storeu_si256(RTE_PTR_ADD(mbufs[0], at), _mm512_castsi512_si256(rows));
	_mm256_storeu_si256(RTE_PTR_ADD(mbufs[1], at), _mm512_extracti64x4_epi64(rows, 1));
}

/** Swap the bytes of each lane. */
static __rte_always_inline __m512i
mdv_rx_eight_swap(__m512i lanes)
{
	const mdv_rx_bytes order = { MDV_RX_SWAP(0), MDV_RX_SWAP(8), MDV_RX_SWAP(16),
		MDV_RX_SWAP(24), MDV_RX_SWAP(32), MDV_RX_SWAP(40), MDV_RX_SWAP(48),
		MDV_RX_SWAP(56) };

	return _mm512_permutexvar_epi8((__m512i)order, lanes);
}

/** Add lanes 4 to 7 to lanes 0 to 3. */
static __rte_always_inline mdv_vec
mdv_rx_eight_fold(__m512i sums)
{
	return (mdv_vec)_mm512_castsi512_si256(sums) + (mdv_vec)_mm512_extracti64x4_epi64(sums, 1);
}

static __rte_always_inline __m512i
mdv_rx_eight_facts(const __m512i *cqes)
{
	const mdv_rx_bytes order = { MDV_RX_FACTS_OF_TWO, MDV_RX_FACTS_OF_TWO, MDV_RX_FACTS_OF_TWO,
		MDV_RX_FACTS_OF_TWO };
	__m512i facts = _mm512_permutex2var_epi8(cqes[0], (__m512i)order, cqes[1]);

	MDV_RX_EACH_OF(3, i)
	facts = _mm512_mask_mov_epi64(facts, 0xc << 2 * i,
		_mm512_permutex2var_epi8(cqes[2 * i + 2], (__m512i)order, cqes[2 * i + 3]));
	return facts;
}

/** @return in each lane ptype, and above it ol_flags, which are all below bit 32. */
static __rte_always_inline __m512i
mdv_rx_eight_hdr_type(const struct mdv_rxq *rxq, __m512i facts, const unsigned int opts)
{
	const __m512i none = _mm512_setzero_si512();
	const uint64_t vlan = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	__m512i idx, hdr_type;

	/* See mdv_rx_hdr_types. */
	idx = (_mm512_srli_epi64(facts, 2) & _mm512_set1_epi64(0x3f)) |
		(_mm512_srli_epi64(facts, 8) & _mm512_set1_epi64(0x300));
	if (opts & MDV_RX_CSUM)
		idx |= _mm512_srli_epi64(facts, 3) & _mm512_set1_epi64(0xc0);
	hdr_type = _mm512_mask_i64gather_epi64(none, 0xff, idx, mdv_rx_hdr_types, 8);
	if (!(opts & MDV_RX_CSUM))
		hdr_type &= _mm512_set1_epi64(UINT32_MAX);
	if (opts & MDV_RX_HASH)
		hdr_type = _mm512_mask_or_epi64(hdr_type,
			_mm512_test_epi64_mask(
				facts, _mm512_set1_epi64((int64_t)MDV_HW_CQE_HASH_TYPE_MASK << 24)),
			hdr_type, _mm512_set1_epi64((int64_t)RTE_MBUF_F_RX_RSS_HASH << 32));
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_VLAN)
		hdr_type = _mm512_mask_or_epi64(hdr_type,
			_mm512_test_epi64_mask(facts, _mm512_set1_epi64(MDV_HW_CQE_CV)), hdr_type,
			_mm512_set1_epi64((int64_t)vlan << 32));
	return hdr_type;
}

/** @return the flags of marks; the marks themselves go into the mbufs. */
static __rte_always_inline __m512i
mdv_rx_eight_marks(const struct mdv_hw_cqe *cqes, struct rte_mbuf *const *mbufs)
{
	mdv_vec flags[2];

	MDV_RX_EACH_OF(2, i)
	flags[i] = mdv_rx_vec_marks(
			   mdv_rx_vec_word(cqes + i * MDV_VEC_LANES, 7) >> 32 & MDV_HW_CQE_TAG_MASK,
			   mbufs + i * MDV_VEC_LANES)
		<< 32;
	return _mm512_inserti64x4(_mm512_castsi256_si512((__m256i)flags[0]), (__m256i)flags[1], 1);
}

/** The same as mdv_rx_vec_four(), for eight. */
static __rte_always_inline bool
mdv_rx_eight(const struct mdv_rxq *rxq, const struct mdv_hw_cqe *cqes,
	struct rte_mbuf *const *mbufs, uint8_t op_own, __m512i *bytes, const unsigned int opts)
{
	const uint8_t op_own_mask = UINT8_MAX & ~MDV_HW_CQE_SOLICITED;
	const mdv_rx_bytes order = { MDV_RX_TAIL_OF_CQE(0), MDV_RX_TAIL_OF_CQE(64) };
	const mdv_rx_words meaning_at = { 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 0, 0 };
	const __m512i rearms = _mm512_maskz_set1_epi64(0x55, rxq->rearm);
	__m512i cqe[MDV_RX_EIGHT], facts, hdr_type, rows;

	/* The device writes CQEs in order, and the owner bit of each last: this orders the load of
	 * the last one's before those of all bodies. */
	if ((mdv_cq_op_own(&cqes[MDV_RX_EIGHT - 1]) & op_own_mask) != op_own)
		return false;
	MDV_RX_EACH_OF(MDV_RX_EIGHT, i)
	cqe[i] = _mm512_loadu_si512(&cqes[i]);
	facts = mdv_rx_eight_facts(cqe);
	if (unlikely(_mm512_test_epi64_mask(facts ^ _mm512_set1_epi64((uint64_t)op_own << 56),
			     _mm512_set1_epi64((uint64_t)op_own_mask << 56)) != 0))
		return false;
	hdr_type = mdv_rx_eight_hdr_type(rxq, facts, opts);
	if ((opts & MDV_RX_MARK) && (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MARK))
		hdr_type |= mdv_rx_eight_marks(cqes, mbufs);
	MDV_RX_EACH_OF(MDV_RX_EIGHT / 2, i)
	{
		rows = _mm512_permutex2var_epi8(cqe[2 * i], (__m512i)order, cqe[2 * i + 1]);
		rows = _mm512_mask_mov_epi64(rows, MDV_RX_ROWS_REARM, rearms);
		rows = _mm512_mask_permutexvar_epi32(
			rows, MDV_RX_ROWS_HDR_TYPE, (__m512i)(meaning_at + 4 * i), hdr_type);
		mdv_rx_eight_store(mbufs + 2 * i, rows);
	}
	*bytes += _mm512_srli_epi64(facts, 32) & _mm512_set1_epi64(UINT16_MAX);
	return true;
}

/**
 * Take packets by eights, at most @p nb; CQEs and mbufs are contiguous.
 * @return the number of packets
 */
static __rte_always_inline uint32_t
mdv_rx_eights(const struct mdv_rxq *rxq, struct mdv_hw_cqe *cqes, struct rte_mbuf *const *mbufs,
	struct rte_mbuf **pkts, uint32_t nb, uint8_t op_own, mdv_vec *bytes,
	const unsigned int opts)
{
	const bool invalidate = (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI) != 0;
	__m512i lens = _mm512_setzero_si512();
	uint32_t i;

	for (i = 0; i + MDV_RX_EIGHT <= nb; i += MDV_RX_EIGHT) {
		_mm512_storeu_si512(pkts + i, _mm512_loadu_si512(mbufs + i));
		if (!mdv_rx_eight(rxq, cqes + i, mbufs + i, op_own, &lens, opts))
			break;
		if (invalidate) {
			MDV_RX_EACH_OF(MDV_RX_EIGHT, k)
			mdv_cq_invalidate(&cqes[i + k]);
		}
	}
	*bytes += mdv_rx_eight_fold(lens);
	return i;
}

/** The same as mdv_rx_mini_four(), for a whole array and slots of one segment. */
static __rte_always_inline void
mdv_rx_mini_eight(struct rte_mbuf *const *mbufs, const struct mdv_hw_mini_cqe *mini_cqes,
	const struct mdv_rx_mini_like *like, mdv_vec *bytes)
{
	const mdv_rx_bytes order = { MDV_RX_TAIL_OF_MINI(0), MDV_RX_TAIL_OF_MINI(8) };
	const __m512i all = _mm512_set_epi64(like->tci, like->ptype, like->flags, like->rearm,
		like->tci, like->ptype, like->flags, like->rearm);
	const __m512i words = _mm512_loadu_si512(mini_cqes);

	MDV_RX_EACH_OF(MDV_RX_EIGHT / 2, i)
	mdv_rx_eight_store(mbufs + 2 * i,
		_mm512_mask_permutexvar_epi8(
			all, MDV_RX_ROWS_MINI, (__m512i)(order + (uint8_t)(16 * i)), words));
	*bytes += mdv_rx_eight_fold(mdv_rx_eight_swap(words) & _mm512_set1_epi64(UINT32_MAX));
}

/** The same as mdv_rx_vec_post(), by eights. @return the number of WQEs */
static __rte_always_inline uint32_t
mdv_rx_post_eights(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
	const __m512i first = { 0, 8, 0, 9, 0, 10, 0, 11 }, second = { 0, 12, 0, 13, 0, 14, 0, 15 };
	const __m512i offset = _mm512_set1_epi64(rxq->buf_offset);
	uint64_t length_lkey;
	__m512i like;
	uint32_t i;

	/* The same in all WQEs. */
	memcpy(&length_lkey, &rxq->ring.wqes[idx], sizeof(length_lkey));
	like = _mm512_set1_epi64(length_lkey);
	for (i = 0; i + MDV_RX_EIGHT <= nb; i += MDV_RX_EIGHT) {
		const __m512i eight = _mm512_loadu_si512(from + i);
		const __m512i addrs = mdv_rx_eight_swap(eight + offset);

		_mm512_storeu_si512(&rxq->ring.mbufs[idx + i], eight);
		_mm512_storeu_si512(
			&rxq->ring.wqes[idx + i], _mm512_permutex2var_epi64(like, first, addrs));
		_mm512_storeu_si512(&rxq->ring.wqes[idx + i + MDV_RX_EIGHT / 2],
			_mm512_permutex2var_epi64(like, second, addrs));
	}
	return i;
}

#endif /* MDV_RX_EIGHT_H */
