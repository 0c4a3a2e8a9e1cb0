/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device's data path formats: WQE segments, CQEs, doorbell records.
 *
 * infiniband/mlx5dv.h defines most of them; the rest is here with its source. The driver has its
 * own statement (drivers/net/mlx5dv/base/hw.h), so that one wrong constant cannot hide in both
 * halves. Sources: PRM is Mellanox Adapters Programmer's Reference Manual; mlx5/ in Linux is
 * include/linux/mlx5/; DPDK 22.11's drivers/common/mlx5/mlx5_prm.h. All fields are big-endian in
 * memory.
 */
#ifndef SHCA_HW_FORMAT_HW_H
#define SHCA_HW_FORMAT_HW_H

#include <assert.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

/** @{ Send WQE. */
#define SHCA_DS_BYTES      16 /**< the unit of ctrl.ds */
#define SHCA_WQE_MAX_DS    63 /**< ctrl.ds has 6 bits (PRM, control segment) */
#define SHCA_WQE_MAX_BYTES (SHCA_WQE_MAX_DS * SHCA_DS_BYTES)
#define SHCA_WQEBB_BYTES   MLX5_SEND_WQE_BB

#define SHCA_OPCODE_ENHANCED_MPSW 0x29 /**< Linux mlx5/device.h MLX5_OPCODE_ENHANCED_MPSW */
#define SHCA_OPCODE_DUMP          0x23 /**< Linux mlx5/device.h MLX5_OPCODE_DUMP */
#define SHCA_OPMOD_MPW            1 /**< of TSO: the old multi-packet form (DPDK MLX5_OPC_MOD_MPW) */
#define SHCA_MPW_MAX_FRAMES       6 /**< of the old form (DPDK MLX5_MPW_MAX_PACKETS) */

#define SHCA_CTRL_OPMOD_SHIFT 24
#define SHCA_CTRL_INDEX_SHIFT 8
#define SHCA_CTRL_QPN_SHIFT   8
#define SHCA_CTRL_DS_MASK     0x3f
#define SHCA_CTRL_CE_SHIFT    2
#define SHCA_CTRL_CE_MASK     3

/** When a WQE completes with a CQE: ctrl.fm_ce_se bits 3:2 (DPDK enum mlx5_completion_mode). */
enum shca_ce {
	SHCA_CE_ON_ERROR = 0,
	SHCA_CE_ON_FIRST_ERROR = 1, /**< flushed silently */
	SHCA_CE_ALWAYS = 2,
	SHCA_CE_ALWAYS_AND_EQE = 3,
};

/** Bits of the ethernet segment's cs_flags; the inner ones from Linux mlx5/qp.h. */
#define SHCA_ETH_CSUM_L3_INNER 0x10
#define SHCA_ETH_CSUM_L4_INNER 0x20
#define SHCA_ETH_CSUM_L3       MLX5_ETH_WQE_L3_CSUM
#define SHCA_ETH_CSUM_L4       MLX5_ETH_WQE_L4_CSUM

/** Bits of the ethernet segment's swp_flags; the segment has them and the offsets as Linux
 * mlx5/qp.h MLX5_ETH_WQE_SWP_* says. */
#define SHCA_SWP_INNER_L3_IPV6 0x01
#define SHCA_SWP_INNER_L4_UDP  0x02
#define SHCA_SWP_OUTER_L3_IPV6 0x10
#define SHCA_SWP_OUTER_L4_UDP  0x20

/** In place of inline_hdr_sz: insert a tag, C-VLAN or S-VLAN (Linux mlx5/qp.h
 * MLX5_ETH_WQE_INSERT_VLAN). */
#define SHCA_ETH_INSERT_VLAN 0x8000
#define SHCA_ETH_SVLAN       0x0001

/** Where the inline header starts in a WQE: after the ethernet segment's first 14 bytes. */
#define SHCA_INLINE_HEADER_OFFSET 30

/** The header that a minimum inline mode of L2 requires: Ethernet with one tag. */
#define SHCA_MIN_INLINE_L2_BYTES 18

static_assert(sizeof(struct mlx5_wqe_ctrl_seg) == 16, "control segment");
static_assert(offsetof(struct mlx5_wqe_ctrl_seg, fm_ce_se) == 11, "control segment");
static_assert(offsetof(struct mlx5_wqe_eth_seg, rsvd0) == 0, "software parser's offsets");
static_assert(offsetof(struct mlx5_wqe_eth_seg, cs_flags) == 4, "ethernet segment");
static_assert(offsetof(struct mlx5_wqe_eth_seg, rsvd1) == 5, "software parser's flags");
static_assert(offsetof(struct mlx5_wqe_eth_seg, mss) == 6, "ethernet segment");
static_assert(offsetof(struct mlx5_wqe_eth_seg, inline_hdr_sz) == 12, "ethernet segment");
static_assert(
	sizeof(struct mlx5_wqe_ctrl_seg) + offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start) ==
		SHCA_INLINE_HEADER_OFFSET,
	"ethernet segment");
static_assert(sizeof(struct mlx5_wqe_data_seg) == SHCA_DS_BYTES, "data segment");
/** @} */

/** @{ CQE. */
/** A timestamp of the real-time clock: seconds above, nanoseconds below (Linux
 * mlx5/core/lib/clock.h REAL_TIME_TO_NS). */
#define SHCA_CQE_REAL_TIME(ns) ((ns) / 1000000000 << 32 | (ns) % 1000000000)

/** An Ethernet CQE (Linux mlx5/device.h struct mlx5_cqe64, whose names mlx5dv.h gives for
 * InfiniBand).
 */
struct shca_cqe {
	uint8_t pkt_info; /**< SHCA_CQE_TUNNELED, SHCA_CQE_OUTER_IPV6 */
	uint8_t rsvd1;
	__be16 wqe_id;
	uint8_t lro[8];
	__be32 rss_hash;
	uint8_t rss_hash_type; /**< SHCA_RSS_TYPE_* */
	uint8_t ml_path;
	uint8_t rsvd18[2];
	__be16 checksum;
	__be16 slid;
	__be32 flags_rqpn;
	uint8_t hds_ip_ext;  /**< MLX5_CQE_L2_OK, L3_OK, L4_OK */
	uint8_t l4_hdr_type; /**< SHCA_CQE_CV and the rest */
	__be16 vlan_info;
	__be32 user_index; /**< 24 bits */
	__be32 metadata;
	uint8_t rsvd40[4];
	__be32 byte_count;
	__be64 timestamp;
	__be32 sop_drop_qpn; /**< sent: opcode << 24 | SQN; received: flow tag, 24 bits */
	__be16 wqe_counter;
	uint8_t signature;
	uint8_t op_own;
};

/** An error CQE, requester's or responder's (mlx5dv.h struct mlx5_err_cqe). */
struct shca_cqe_error {
	uint8_t rsvd0[2];
	__be16 wqe_id; /**< striding */
	uint8_t rsvd4[16];
	__be16 stride; /**< striding */
	uint8_t rsvd22[10];
	__be32 user_index;
	uint8_t rsvd36[8];
	__be32 byte_count;
	uint8_t rsvd48[4];
	uint8_t hw_err_synd;
	uint8_t hw_synd_type;
	uint8_t vendor_err_synd;
	uint8_t syndrome; /**< MLX5_CQE_SYNDROME_* */
	__be32 opcode_qpn;
	__be16 wqe_counter;
	uint8_t signature;
	uint8_t op_own;
};

/** Of a datagram, its network header (Linux mlx5/device.h MLX5_CQE_ROCE_L3_HEADER_TYPE_*). */
enum {
	SHCA_CQE_ROCE_GRH = 0,
	SHCA_CQE_ROCE_IPV6 = 1,
	SHCA_CQE_ROCE_IPV4 = 2,
};

#define SHCA_CQE_BYTES 64

static_assert(sizeof(struct shca_cqe) == SHCA_CQE_BYTES, "CQE");
static_assert(sizeof(struct mlx5_cqe64) == sizeof(struct shca_cqe), "CQE");
#define SHCA_SAME_OFFSET(ours, field, theirs, their_field)                                         \
	static_assert(offsetof(struct ours, field) == offsetof(struct theirs, their_field), #field)
SHCA_SAME_OFFSET(shca_cqe, wqe_id, mlx5_cqe64, wqe_id);
SHCA_SAME_OFFSET(shca_cqe, ml_path, mlx5_cqe64, ml_path);
SHCA_SAME_OFFSET(shca_cqe, slid, mlx5_cqe64, slid);
SHCA_SAME_OFFSET(shca_cqe, hds_ip_ext, mlx5_cqe64, hds_ip_ext);
SHCA_SAME_OFFSET(shca_cqe, l4_hdr_type, mlx5_cqe64, l4_hdr_type_etc);
SHCA_SAME_OFFSET(shca_cqe, vlan_info, mlx5_cqe64, vlan_info);
SHCA_SAME_OFFSET(shca_cqe, user_index, mlx5_cqe64, srqn_uidx);
SHCA_SAME_OFFSET(shca_cqe, metadata, mlx5_cqe64, imm_inval_pkey);
SHCA_SAME_OFFSET(shca_cqe, byte_count, mlx5_cqe64, byte_cnt);
SHCA_SAME_OFFSET(shca_cqe, timestamp, mlx5_cqe64, timestamp);
SHCA_SAME_OFFSET(shca_cqe, sop_drop_qpn, mlx5_cqe64, sop_drop_qpn);
SHCA_SAME_OFFSET(shca_cqe, wqe_counter, mlx5_cqe64, wqe_counter);
SHCA_SAME_OFFSET(shca_cqe, op_own, mlx5_cqe64, op_own);
static_assert(offsetof(struct shca_cqe, rss_hash) == 12, "Linux mlx5_cqe64.rss_hash_result");
static_assert(offsetof(struct shca_cqe, rss_hash_type) == 16, "Linux mlx5_cqe64.rss_hash_type");
static_assert(offsetof(struct shca_cqe, checksum) == 20, "Linux mlx5_cqe64.check_sum");
static_assert(sizeof(struct shca_cqe_error) == SHCA_CQE_BYTES, "error CQE");
static_assert(sizeof(struct mlx5_err_cqe) == sizeof(struct shca_cqe_error), "error CQE");
SHCA_SAME_OFFSET(shca_cqe_error, user_index, mlx5_err_cqe, srqn);
SHCA_SAME_OFFSET(shca_cqe_error, vendor_err_synd, mlx5_err_cqe, vendor_err_synd);
SHCA_SAME_OFFSET(shca_cqe_error, syndrome, mlx5_err_cqe, syndrome);
SHCA_SAME_OFFSET(shca_cqe_error, opcode_qpn, mlx5_err_cqe, s_wqe_opcode_qpn);
SHCA_SAME_OFFSET(shca_cqe_error, wqe_counter, mlx5_err_cqe, wqe_counter);
SHCA_SAME_OFFSET(shca_cqe_error, op_own, mlx5_err_cqe, op_own);

#define SHCA_CQE_OPCODE_SHIFT 4
#define SHCA_CQE_NUMBER_MASK  0xffffff /**< user index, flow tag, SQN */

/** byte_count of a striding queue: length, strides taken, nothing but strides (DPDK 22.11
 * mlx5_prm.h, MLX5_MPRQ_*). */
#define SHCA_CQE_STRIDES_SHIFT 16
#define SHCA_CQE_STRIDES_MASK  0x7fff
#define SHCA_CQE_FILLER        (1u << 31)

/** pkt_info (DPDK 22.11 mlx5_prm.h, MLX5_CQE_RX_TUNNEL_PACKET and _OUTER_IPV6_PACKET). */
#define SHCA_CQE_TUNNELED   0x01
#define SHCA_CQE_OUTER_IPV6 0x02

/** l4_hdr_type (Linux mlx5/device.h, CQE_L3_HDR_TYPE_*, CQE_L4_HDR_TYPE_*, get_cqe_...). */
#define SHCA_CQE_CV       0x01 /**< a C-VLAN tag was stripped */
#define SHCA_CQE_IP_EXT   0x02
#define SHCA_CQE_L3_SHIFT 2
#define SHCA_CQE_L4_SHIFT 4
#define SHCA_CQE_FRAGMENT 0x80
enum shca_cqe_l4 {
	SHCA_CQE_L4_NONE = 0,
	SHCA_CQE_L4_TCP = 1,
	SHCA_CQE_L4_UDP = 2,
	SHCA_CQE_L4_TCP_EMPTY_ACK = 3,
	SHCA_CQE_L4_TCP_ACK = 4,
};

/** rss_hash_type (Linux mlx5/device.h, CQE_RSS_HTYPE_*). */
#define SHCA_RSS_TYPE_IPV4 (1 << 2)
#define SHCA_RSS_TYPE_IPV6 (2 << 2)
#define SHCA_RSS_TYPE_TCP  (1 << 6)
#define SHCA_RSS_TYPE_UDP  (2 << 6)
#define SHCA_RSS_TYPE_SPI  (3 << 6)
/** @} */

/** @{ Words of a CQ's doorbell record (Linux mlx5/cq.h), and of the word that arms it. */
#define SHCA_CQ_DBR_CI        0
#define SHCA_CQ_DBR_ARM       1
#define SHCA_CQ_ARM_CI_MASK   0xffffff
#define SHCA_CQ_ARM_SOLICITED MLX5_CQ_DB_REQ_NOT_SOL
#define SHCA_CQ_ARM_SN_SHIFT  28
/** @} */

#endif /* SHCA_HW_FORMAT_HW_H */
