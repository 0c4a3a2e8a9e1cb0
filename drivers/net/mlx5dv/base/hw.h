/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Facts of the device's formats that infiniband/mlx5dv.h lacks, each with its source.
 *
 * The driver takes from that header what it has: segments of a send WQE, opcodes, struct
 * mlx5_err_cqe. The CQE is written out here because struct mlx5_cqe64 leaves the Ethernet fields of
 * its first half reserved; the asserts below compare the two where they overlap.
 */
#ifndef MDV_HW_H
#define MDV_HW_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

/** CQE of 64 bytes, as an Ethernet receive or send completion. PRM "Completion Queue Entry". */
struct mdv_hw_cqe {
	uint8_t pkt_info; /**< bit 0 tunneled, bit 1 outer L3 is IPv6 (Linux mlx5/device.h) */
	uint8_t rsvd1;
	__be16 wqe_id;
	uint8_t lro[8];
	__be32 rss_hash;
	uint8_t rss_hash_type; /**< bits 3:2 IP, 7:6 L4; 0 nothing hashed (Linux mlx5/device.h) */
	uint8_t rsvd17[3];
	__be16 checksum;
	__be16 slid;
	__be32 flags_rqpn;
	uint8_t hds_ip_ext;     /**< MDV_HW_CQE_*_OK */
	uint8_t l4_l3_hdr_type; /**< bit 0 CV, 3:2 L3, 6:4 L4, 7 fragment */
	__be16 vlan_info;       /**< stripped TCI when CV is set */
	__be32 srqn_uidx;
	__be32 metadata;
	uint8_t rsvd40[4];
	__be32 byte_cnt;
	__be64 timestamp;
	__be32 sop_drop_qpn; /**< receive: drop counter 31:24, flow tag 23:0 */
	__be16 wqe_counter;
	uint8_t signature;
	uint8_t op_own; /**< opcode 7:4, format 3:2, solicited 1, owner 0 */
};
static_assert(sizeof(struct mdv_hw_cqe) == 64, "a CQE is one cache line");
static_assert(sizeof(struct mdv_hw_cqe) == sizeof(struct mlx5_cqe64), "same CQE");
static_assert(sizeof(struct mdv_hw_cqe) == sizeof(struct mlx5_err_cqe), "same CQE");
static_assert(offsetof(struct mdv_hw_cqe, rss_hash) == 12, "CQE");
static_assert(offsetof(struct mdv_hw_cqe, rss_hash_type) == 16, "CQE");
static_assert(
	offsetof(struct mdv_hw_cqe, hds_ip_ext) == offsetof(struct mlx5_cqe64, hds_ip_ext), "CQE");
static_assert(
	offsetof(struct mdv_hw_cqe, l4_l3_hdr_type) == offsetof(struct mlx5_cqe64, l4_hdr_type_etc),
	"CQE");
static_assert(
	offsetof(struct mdv_hw_cqe, vlan_info) == offsetof(struct mlx5_cqe64, vlan_info), "CQE");
static_assert(
	offsetof(struct mdv_hw_cqe, byte_cnt) == offsetof(struct mlx5_cqe64, byte_cnt), "CQE");
static_assert(
	offsetof(struct mdv_hw_cqe, sop_drop_qpn) == offsetof(struct mlx5_cqe64, sop_drop_qpn),
	"CQE");
static_assert(offsetof(struct mdv_hw_cqe, wqe_counter) == offsetof(struct mlx5_cqe64, wqe_counter),
	"CQE");
static_assert(offsetof(struct mdv_hw_cqe, op_own) == offsetof(struct mlx5_cqe64, op_own), "CQE");

/** op_own, by mlx5dv_get_cqe_{owner,se,format,opcode}() */
#define MDV_HW_CQE_OWNER        0x01u
#define MDV_HW_CQE_SOLICITED    0x02u
#define MDV_HW_CQE_FORMAT_MASK  0x0cu
#define MDV_HW_CQE_FORMAT_MINI  0x0cu /**< a block's title (Linux mlx5/cq.h MLX5_COMPRESSED) */
#define MDV_HW_CQE_OPCODE_SHIFT 4

/**
 * The fields in which a packet of a block differs from its title. The first 32 bits are the RSS
 * hash or the checksum, by the format that the CQ was made for (Linux mlx5/device.h struct
 * mlx5_mini_cqe8).
 */
struct mdv_hw_mini_cqe {
	__be32 rss_hash;
	__be32 byte_cnt;
};
/** A slot of the ring holds so many: MLX5_MINI_CQE_ARRAY_SIZE. */
#define MDV_HW_MINIS_PER_CQE 8u
static_assert(sizeof(struct mdv_hw_mini_cqe) * MDV_HW_MINIS_PER_CQE == sizeof(struct mdv_hw_cqe),
	"minis fill a slot");

/** byte_cnt of a striding queue: length 15:0, strides taken 30:16, and whether they have no packet
 * (DPDK mlx5_prm.h MLX5_MPRQ_LEN_MASK, MLX5_MPRQ_STRIDE_NUM_MASK, MLX5_MPRQ_FILLER_MASK). The
 * stride is in wqe_counter; in a mini CQE in bits 15:0 of what else is the hash (Linux
 * mlx5/device.h struct mlx5_mini_cqe8). */
#define MDV_HW_CQE_STRIDES_SHIFT 16
#define MDV_HW_CQE_STRIDES_MASK  0x7fffu
#define MDV_HW_CQE_ONE_STRIDE    (1u << MDV_HW_CQE_STRIDES_SHIFT)
#define MDV_HW_CQE_FILLER        (1u << 31)

/** hds_ip_ext (Linux mlx5/device.h CQE_L3_OK, CQE_L4_OK) */
#define MDV_HW_CQE_L3_OK 0x02u
#define MDV_HW_CQE_L4_OK 0x04u

/** l4_l3_hdr_type (Linux mlx5/device.h CQE_L3_HDR_TYPE_*, CQE_L4_HDR_TYPE_*) */
#define MDV_HW_CQE_CV              0x01u
#define MDV_HW_CQE_L3_IPV6         1u
#define MDV_HW_CQE_L3_IPV4         2u
#define MDV_HW_CQE_L4_TCP          1u
#define MDV_HW_CQE_L4_UDP          2u
#define MDV_HW_CQE_L4_TCP_ACK      3u /**< empty ACK */
#define MDV_HW_CQE_L4_TCP_ACK_DATA 4u

/** Both the IP and the L4 part of rss_hash_type. */
#define MDV_HW_CQE_HASH_TYPE_MASK 0xccu
/** Flow tag in sop_drop_qpn: an ACTION_TAG's 24 bits. */
#define MDV_HW_CQE_TAG_MASK 0xffffffu
/** Consumer counters written to a CQ's doorbell record have 24 bits (rdma-core cq.c). */
#define MDV_HW_CQ_CI_MASK 0xffffffu

/** Opcode of a WQE of many packets (Linux mlx5/device.h MLX5_OPCODE_ENHANCED_MPSW). */
#define MDV_HW_OPCODE_ENHANCED_MPSW 0x29u

/** fm_ce_se bits 3:2 (PRM "Send WQE control segment" ce); mlx5dv.h has the 2 only */
#define MDV_HW_CTRL_CQE_ON_FIRST_ERROR (1u << 2)
#define MDV_HW_CTRL_CQE_ALWAYS         ((unsigned int)MLX5_WQE_CTRL_CQ_UPDATE)

/** cs_flags of the Ethernet segment; mlx5dv.h has the outer two only (Linux mlx5/qp.h) */
#define MDV_HW_ETH_L3_INNER_CSUM 0x10u
#define MDV_HW_ETH_L4_INNER_CSUM 0x20u

/** Types of the headers whose offsets the software parser is given, in byte 5 of the Ethernet
 * segment; mlx5dv.h has both it and the offsets as reserved (Linux mlx5/qp.h MLX5_ETH_WQE_SWP_*) */
#define MDV_HW_SWP_INNER_L3_IPV6 0x01u
#define MDV_HW_SWP_INNER_L4_UDP  0x02u
#define MDV_HW_SWP_OUTER_L3_IPV6 0x10u
#define MDV_HW_SWP_OUTER_L4_UDP  0x20u

/** Ethernet segment bytes 28..31 in the insert form: this, then the TCI (Linux mlx5/qp.h insert).
 */
#define MDV_HW_ETH_INSERT_CVLAN 0x80000000u
/** Header bytes to inline where the device asks for L2 (Linux MLX5E_MIN_INLINE, ETH + VLAN). */
#define MDV_HW_ETH_INLINE_L2 18u
/** The same with an IPv6 header, and with a TCP header. */
#define MDV_HW_ETH_INLINE_NETWORK   (MDV_HW_ETH_INLINE_L2 + 40u)
#define MDV_HW_ETH_INLINE_TRANSPORT (MDV_HW_ETH_INLINE_NETWORK + 20u)

static_assert(sizeof(struct mlx5_wqe_ctrl_seg) == 16, "send WQE");
static_assert(offsetof(struct mlx5_wqe_ctrl_seg, fm_ce_se) == 11, "send WQE");
static_assert(sizeof(struct mlx5_wqe_data_seg) == 16, "WQE");
static_assert(offsetof(struct mlx5_wqe_eth_seg, rsvd1) == 5, "send WQE, software parser");
static_assert(offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start) == 14, "send WQE");
static_assert(sizeof(struct mlx5_wqe_eth_seg) == 32, "send WQE with 18 bytes inlined");

/** 16-byte units a WQE can have: ds is a field of 6 bits. */
#define MDV_HW_WQE_DS_MAX 63u

/** A stamp of a real-time clock has seconds in the upper half and nanoseconds in the lower (Linux
 * mlx5/core/lib/clock.h REAL_TIME_TO_NS): a second of it is so much more than 10^9. */
#define MDV_HW_REAL_TIME_GAP (uint32_t)((UINT64_C(1) << 32) - 1000000000)

/** Convert a stamp; @p gap: MDV_HW_REAL_TIME_GAP, or 0 for a counter's, which stay as they are. */
static inline uint64_t
mdv_hw_stamp_to_ns(uint64_t stamp, uint32_t gap)
{
	return stamp - (stamp >> 32) * gap;
}

#endif /* MDV_HW_H */
