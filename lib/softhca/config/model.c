/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The models. Limits are those a PF of the generation reports to verbs (ibv_devinfo -v on the
 * cards); offloads are only those the engines of hw/ and steering/ carry out.
 */
#include "config/model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#define FW_VERSION(major, minor, sub) ((uint64_t)(major) << 32 | (uint64_t)(minor) << 16 | (sub))

#define HASH_FIELDS                                                                                \
	(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 |                      \
		IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP |       \
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP | IBV_RX_HASH_INNER)

#define TUNNELS_BASIC                                                                              \
	(MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN | MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE)
#define TUNNELS_MPLS                                                                               \
	(TUNNELS_BASIC | MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE |                 \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP)

#define MAX_TSO_BYTES (1u << 18)

/** Linux mlx5_ib.h: MLX5_MIN_SINGLE_WQE_LOG_NUM_STRIDES, and the lower limit of devices with the
 * capability ext_stride_num_range. */
#define MIN_LOG_STRIDES     9
#define MIN_LOG_STRIDES_EXT 3

/** From ConnectX-5 on. */
#define MEMIC_BYTES (1u << 17)

/** The old form and the enhanced one. The kernel enables either on an SQ only if the device has the
 * old one (Linux hw/mlx5/qp.c, create_raw_packet_qp_sq). */
#define MULTI_PKT_OLD SHCA_MPW_OLD
#define MULTI_PKT     (MULTI_PKT_OLD | SHCA_MPW_ENHANCED)

/** From ConnectX-5 on: modify header with 16 actions (DPDK 22.11 mlx5.h, MLX5_ROOT_TBL_MODIFY_NUM),
 * packet reformat with 128 bytes. */
#define MODIFY .modify_actions = 16, .encap_bytes = 128

/** From ConnectX-5 on. Older parsers forget their own findings as soon as a WQE gives an offset
 * (DPDK mlx5_tx.h txq_mbuf_to_swp); softhca does not model that. */
#define SW_PARSING (MLX5DV_SW_PARSING | MLX5DV_SW_PARSING_CSUM | MLX5DV_SW_PARSING_LSO)

/* .dump from ConnectX-6 Dx on, where Linux (mlx5/core/en_accel/ktls_tx.c, tx_post_resync_dump) and
 * DOCA GPUNetIO (doca_gpu_dev_eth_rxq_mcst) post such WQEs. */

#define MINI_BASIC  (MLX5DV_CQE_RES_FORMAT_HASH | MLX5DV_CQE_RES_FORMAT_CSUM)
#define MINI_STRIDX (MINI_BASIC | MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX)

/* clang-format off */
/** Limits of all generations. A WQE has at most 16 WQEBBs: max_sq_desc_bytes. */
#define COMMON_LIMITS \
	.max_qp = 131072, .max_qp_wr = 32768, .max_sge = 30, .max_cq = 16777216, \
	.max_cqe = 4194303, .max_mr = 16777216, .max_pd = 16777216, .max_mr_size = UINT64_MAX, \
	.max_rwq_ind_tables = 1048576, .max_rwq_ind_table_size = 2048, \
	.max_wq_type_rq = 8388608, .max_sq_desc_bytes = 1024, .max_rq_desc_bytes = 512, \
	.max_send_wqebb = 32768, .max_recv_wr = 32768

#define COMMON_OFFLOADS \
	.checksum = true, .cvlan_strip = true, .cvlan_insert = true, .scatter_fcs = true, \
	.rx_hash_fields = HASH_FIELDS, .flow_counters = 32768, .max_tso_bytes = MAX_TSO_BYTES, \
	.cqe_comp_max = 64, .cqe_128b_pad = true

/** What no source tells, such as the lengths of an entry's lists, is more than programs ask for;
 * the model "lean" has the least. */
#define STEERING \
	.dont_trap = true, .sniffer = true, .inner_ip_version = true, \
	.reformat_and_fwd_to_table = true, .reformat_and_modify_action = true, \
	.max_fte_destinations = 4096, .max_fte_counters = 16

const struct shca_model shca_models[] = {
	{
		.name = "cx5", .board = "softhca ConnectX-5", .pci_device_id = 0x1017,
		.pci_vf_id = 0x1018,
		.hw_ver = 0, .fw_ver = FW_VERSION(16, 35, 2000),
		COMMON_LIMITS, COMMON_OFFLOADS, STEERING,
		.min_inline = SHCA_MIN_INLINE_NONE, .tunnel_offloads = TUNNELS_MPLS,
		.sw_parsing = SW_PARSING,
		.cqe_comp_formats = MINI_STRIDX, .multi_pkt_send = MULTI_PKT,
		.max_dm_bytes = MEMIC_BYTES, .max_rate_kbps = 100000000, .paced_bursts = true, MODIFY,
		.min_log_strides = MIN_LOG_STRIDES_EXT,
	},
	{
		.name = "cx4lx", .board = "softhca ConnectX-4 Lx", .pci_device_id = 0x1015,
		.pci_vf_id = 0x1016,
		.hw_ver = 0, .fw_ver = FW_VERSION(14, 32, 1010),
		COMMON_LIMITS, COMMON_OFFLOADS, STEERING,
		.min_inline = SHCA_MIN_INLINE_L2, .tunnel_offloads = TUNNELS_BASIC,
		.cqe_comp_formats = MINI_BASIC, .multi_pkt_send = MULTI_PKT_OLD,
		.max_rate_kbps = 50000000, .min_log_strides = MIN_LOG_STRIDES,
	},
	{
		.name = "cx6dx", .board = "softhca ConnectX-6 Dx", .pci_device_id = 0x101d,
		.pci_vf_id = 0x101e,
		.hw_ver = 0, .fw_ver = FW_VERSION(22, 35, 2000),
		COMMON_LIMITS, COMMON_OFFLOADS, STEERING,
		.min_inline = SHCA_MIN_INLINE_NONE, .tunnel_offloads = TUNNELS_MPLS,
		.sw_parsing = SW_PARSING,
		.cqe_comp_formats = MINI_STRIDX, .multi_pkt_send = MULTI_PKT,
		.may_keep_time = true, .dump = true,
		.max_dm_bytes = MEMIC_BYTES, .max_rate_kbps = 100000000, .paced_bursts = true, MODIFY,
		.min_log_strides = MIN_LOG_STRIDES_EXT,
	},
	{
		/* Not one product: each capability that rules need is absent or small as it is on some
		 * device or firmware. */
		.name = "lean", .board = "softhca ConnectX-5 with little steering", .pci_device_id = 0x1017,
		.pci_vf_id = 0x1018,
		.hw_ver = 0, .fw_ver = FW_VERSION(16, 20, 1010),
		COMMON_LIMITS, COMMON_OFFLOADS,
		.min_inline = SHCA_MIN_INLINE_NONE, .tunnel_offloads = TUNNELS_BASIC,
		.cqe_comp_formats = MINI_BASIC, .multi_pkt_send = MULTI_PKT,
		.max_fte_destinations = 2, .max_fte_counters = 1, MODIFY,
		.min_log_strides = MIN_LOG_STRIDES,
	},
	{ .name = NULL },
};
/* clang-format on */

const struct shca_model *
shca_model_find(const char *name)
{
	for (const struct shca_model *model = shca_models; model->name != NULL; model++)
		if (strcmp(model->name, name) == 0)
			return model;
	return NULL;
}

void
shca_model_print_fw(const struct shca_model *model, char *text, size_t size)
{
	snprintf(text, size, "%u.%u.%04u", (unsigned int)(model->fw_ver >> 32),
		(unsigned int)(model->fw_ver >> 16 & 0xffff),
		(unsigned int)(model->fw_ver & 0xffff));
}
