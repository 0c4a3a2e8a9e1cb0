/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Builders of a SEND WQE's segments, from values to bytes.
 *
 *     0        16                32 or 48            at the ring's end any 16-byte
 *     ctrl     eth [inline hdr]  data  data ...      segment may be the first of the ring again
 *
 * The control segment must be within one WQEBB with the Ethernet segment; callers handle the wrap
 * of the data segments.
 */
#ifndef MDV_TX_WQE_H
#define MDV_TX_WQE_H

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>

#include "base/hw.h"

/** 16-byte units of the control segment and an Ethernet segment without inlined header. */
#define MDV_TX_WQE_DS_HEAD 2u
/** The same with 3 to 18 bytes inlined. */
#define MDV_TX_WQE_DS_HEAD_INLINE 3u
/** Inlined bytes that lie before the second unit of the Ethernet segment. */
#define MDV_TX_WQE_INLINE_START 2u
/** 16-byte units of a WQEBB. */
#define MDV_TX_WQE_DS_PER_BB 4u

/** @return the WQEBBs of a WQE of @p ds units. */
static __rte_always_inline uint32_t
mdv_tx_wqe_bbs(uint32_t ds)
{
	return (ds + MDV_TX_WQE_DS_PER_BB - 1) / MDV_TX_WQE_DS_PER_BB;
}

/** Bytes from the line of the ring that is written to the one that is asked for meanwhile. */
#define MDV_TX_RING_AHEAD (32u * MLX5_SEND_WQE_BB)

/** Ask for a line of the ring that will be written soon. The ring is larger than a first-level
 * cache, and the device has read the line since it was written, so that a store would wait for it.
 * Close to the ring's end it is one of whatever follows, for nothing. */
static __rte_always_inline void
mdv_tx_wqe_prefetch(const void *wqe)
{
	__builtin_prefetch((const void *)((uintptr_t)wqe + MDV_TX_RING_AHEAD), 1);
}

/** Write the control segment. @p qpn_ds is the SQ's number in bits 31:8, @p ce MDV_HW_CTRL_CQE_*.
 */
static __rte_always_inline void
mdv_tx_wqe_ctrl(struct mlx5_wqe_ctrl_seg *ctrl, uint32_t opcode, uint16_t pc, uint32_t qpn_ds,
	uint32_t ds, uint8_t ce)
{
	/* Signature and stream are 0, then comes ce; the immediate is 0, as these opcodes have
	 * none. */
	const uint64_t words[2] = { rte_cpu_to_be_64((uint64_t)pc << 40 | (uint64_t)opcode << 32 |
					    qpn_ds | ds),
		rte_cpu_to_be_32(ce) };

	memcpy(ctrl, words, sizeof(words));
}

/** @return bytes 28..31 of an Ethernet segment that makes the device insert a tag. */
static __rte_always_inline __be32
mdv_tx_wqe_insert(uint16_t tci)
{
	return rte_cpu_to_be_32(MDV_HW_ETH_INSERT_CVLAN | tci);
}

/** Write an Ethernet segment of 16 bytes; @p tail_be is 0 or mdv_tx_wqe_insert(). */
static __rte_always_inline void
mdv_tx_wqe_eth(struct mlx5_wqe_eth_seg *eth, uint8_t cs_flags, __be32 tail_be)
{
	const uint32_t words[4] = { 0, rte_cpu_to_be_32((uint32_t)cs_flags << 24), 0, tail_be };

	memcpy(eth, words, sizeof(words));
}

/** Make the device insert a tag, in addition to the segment's other content. */
static __rte_always_inline void
mdv_tx_wqe_eth_tag(struct mlx5_wqe_eth_seg *eth, uint16_t tci)
{
	const __be32 tail_be = mdv_tx_wqe_insert(tci);

	memcpy((uint8_t *)eth + 12, &tail_be, sizeof(tail_be));
}

/**
 * Copy @p len bytes of a frame, 12 at least, with a tag inserted.
 * @param to gets RTE_VLAN_HLEN bytes more
 */
static __rte_always_inline void
mdv_tx_wqe_copy_tagged(uint8_t *to, const uint8_t *from, uint32_t len, uint16_t tci)
{
	const uint32_t tag_off = 2 * RTE_ETHER_ADDR_LEN;
	const __be32 tag = rte_cpu_to_be_32((uint32_t)RTE_ETHER_TYPE_VLAN << 16 | tci);

	memcpy(to, from, tag_off);
	memcpy(to + tag_off, &tag, sizeof(tag));
	memcpy(to + tag_off + RTE_VLAN_HLEN, from + tag_off, len - tag_off);
}

/** @return the units of the control segment and an Ethernet segment with @p len bytes inlined, 2
 * at least. */
static __rte_always_inline uint32_t
mdv_tx_wqe_ds_inline(uint32_t len)
{
	return MDV_TX_WQE_DS_HEAD + (len - MDV_TX_WQE_INLINE_START + 15) / 16;
}

/** Write an Ethernet segment of 32 bytes, with @p len bytes (3 to 18) of the packet in it. */
static __rte_always_inline void
mdv_tx_wqe_eth_inline(
	struct mlx5_wqe_eth_seg *eth, uint8_t cs_flags, const uint8_t *header, uint32_t len)
{
	uint8_t *bytes = (uint8_t *)eth;

	mdv_tx_wqe_eth(eth, cs_flags, rte_cpu_to_be_32(len << 16));
	memcpy(bytes + offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start), header, len);
}

/** Bytes of a data segment before inlined data. */
#define MDV_TX_WQE_DATA_START 4u

/** @return the units of a data segment with @p len bytes inlined. */
static __rte_always_inline uint32_t
mdv_tx_wqe_ds_data(uint32_t len)
{
	return (MDV_TX_WQE_DATA_START + len + 15) / 16;
}

/** Write the header of a data segment with @p len bytes inlined, which follow it. */
static __rte_always_inline void
mdv_tx_wqe_data_inline(void *seg, uint32_t len)
{
	const __be32 byte_count = rte_cpu_to_be_32(len | MLX5_INLINE_SEG);

	memcpy(seg, &byte_count, sizeof(byte_count));
}

/** @return the units of the data segment at @p seg, with a pointer or inlined. */
static inline uint32_t
mdv_tx_wqe_ds_of(const struct mlx5_wqe_data_seg *seg)
{
	const uint32_t byte_count = rte_be_to_cpu_32(seg->byte_count);

	return byte_count & MLX5_INLINE_SEG ? mdv_tx_wqe_ds_data(byte_count & ~MLX5_INLINE_SEG) : 1;
}

/** Write a data segment. @p len is not 0, which the device would read as 2^31. */
static __rte_always_inline void
mdv_tx_wqe_data(struct mlx5_wqe_data_seg *seg, uint64_t addr, uint32_t len, uint32_t lkey_be)
{
	seg->byte_count = rte_cpu_to_be_32(len);
	seg->lkey = lkey_be;
	seg->addr = rte_cpu_to_be_64(addr);
}

/** The same with @p key, which has the lkey's bits 31:0 in bits 63:32. */
static __rte_always_inline void
mdv_tx_wqe_data_keyed(struct mlx5_wqe_data_seg *seg, uintptr_t addr, uint32_t len, uint64_t key)
{
	const uint64_t words[2] = { key | rte_cpu_to_be_32(len), rte_cpu_to_be_64(addr) };

	memcpy(seg, words, sizeof(words));
}

#endif /* MDV_TX_WQE_H */
