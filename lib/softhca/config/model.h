/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a device can do. Device queries report its model, the ABI refuses everything else, and hw/
 * and steering/ carry it out. A model is a file: those of the tree (models/) are built in, and a
 * user names others (model_parse.h). Immutable.
 */
#ifndef SHCA_CONFIG_MODEL_H
#define SHCA_CONFIG_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Inline mode as the ABI encodes it (mlx5_ib_alloc_ucontext_resp.eth_min_inline). */
enum shca_min_inline {
	SHCA_MIN_INLINE_UNKNOWN = 0,
	SHCA_MIN_INLINE_NONE = 1,
	SHCA_MIN_INLINE_L2 = 2,
	SHCA_MIN_INLINE_NETWORK = 3,   /**< headers up to the IP header's end */
	SHCA_MIN_INLINE_TRANSPORT = 4, /**< up to the end of TCP's or UDP's */
};

/** @{ Of striding receive queues. */
#define SHCA_MIN_LOG_STRIDE_BYTES 6
#define SHCA_MAX_LOG_STRIDE_BYTES 13
#define SHCA_MAX_LOG_STRIDES      16
/** @} */

/** @{ Bits of multi_pkt_send. */
#define SHCA_MPW_OLD      2
#define SHCA_MPW_ENHANCED 4
/** @} */

/** rq_ts_format and sq_ts_format of the firmware (Linux mlx5_ifc.h
 * MLX5_TIMESTAMP_FORMAT_CAP_*). */
enum shca_clocks {
	SHCA_CLOCKS_FREE_RUNNING,
	SHCA_CLOCKS_BOTH, /**< the real-time clock with rtc=on */
	SHCA_CLOCKS_REAL_ONLY,
};

/** The slowest limit of a paced send queue. */
#define SHCA_MIN_RATE_KBPS 1

#define SHCA_MODEL_NAME_MAX 32

struct shca_model {
	char name[SHCA_MODEL_NAME_MAX];
	char board[64]; /**< the card, for board_id and messages */
	uint16_t pci_device_id;
	uint16_t pci_vf_id; /**< of its virtual functions */
	uint32_t hw_ver;
	char module[17]; /**< part number of what is in the port's cage; "none" */
	uint64_t fw_ver; /**< major << 32 | minor << 16 | sub */

	uint32_t max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_mr, max_pd;
	uint64_t max_mr_size; /**< bytes */
	uint32_t max_rwq_ind_tables, max_rwq_ind_table_size, max_wq_type_rq;
	uint16_t max_sq_desc_bytes, max_rq_desc_bytes;
	uint32_t max_send_wqebb, max_recv_wr;

	enum shca_min_inline min_inline;
	bool checksum;     /**< RAW_IP_CSUM both ways */
	bool cvlan_strip;  /**< IB_UVERBS raw packet cap CVLAN_STRIPPING */
	bool cvlan_insert; /**< eth segment insert form */
	bool scatter_fcs;
	bool dont_trap;        /**< nic_rx_multi_path_tirs */
	bool sniffer;          /**< allow_sniffer_and_nic_rx_shared_tir */
	bool inner_ip_version; /**< ft_field_support.inner_ip_version */
	/** An entry may do both (flow_table_properties_nic_receive). */
	bool reformat_and_fwd_to_table, reformat_and_modify_action;
	/** The most of each in an entry: log_max_destination, log_max_flow_counter. */
	uint32_t max_fte_destinations, max_fte_counters;
	uint32_t max_tso_bytes;    /**< 0: no TSO */
	uint32_t cqe_comp_max;     /**< mini CQEs a block; 0: no compression */
	uint32_t cqe_comp_formats; /**< MLX5DV_CQE_RES_FORMAT_* */
	bool cqe_128b_pad;         /**< CQEs of 128 bytes can be padded */
	uint32_t multi_pkt_send;   /**< SHCA_MPW_*, as the ABI encodes it */
	uint32_t tunnel_offloads;  /**< MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_* */
	uint32_t sw_parsing;       /**< MLX5DV_SW_PARSING*; all or 0: none */
	uint64_t rx_hash_fields;   /**< IBV_RX_HASH_* it can hash */
	uint32_t flow_counters;
	uint32_t max_modify_headers, max_reformats; /**< contexts that the firmware has */
	uint8_t modify_actions;  /**< of a modify-header object; 0: there are none */
	uint8_t encap_bytes;     /**< of a packet-reformat object; 0: there are none */
	uint8_t min_log_strides; /**< of a WQE in strides, up to 16; 0: no striding queues */
	uint32_t max_rate_kbps;  /**< of paced send queues, from 1 on; 0: no pacing */
	bool paced_bursts;       /**< a burst size can be given */
	enum shca_clocks clocks; /**< by which completions can be stamped */
	bool dump;               /**< send queues take DUMP WQEs */
	uint32_t max_dm_bytes;   /**< of device memory; 0: none */

	/** Capabilities of the model's text that no softhca has. */
	char left_out[256];
};

/** @return the @p index th model of the tree, or NULL behind the last; the first is the default.
 * Thread-safe. */
const struct shca_model *shca_model_at(unsigned int index);
/** @return the model of the tree named @p name, or NULL. */
const struct shca_model *shca_model_find(const char *name);
/** Write the firmware's version as the kernel shows it; 32 bytes are enough. */
void shca_model_print_fw(const struct shca_model *model, char *text, size_t size);
/** @return what a query of the device tells of it, IB_UVERBS_DEVICE_*. */
uint64_t shca_model_cap_flags(const struct shca_model *model);
#endif /* SHCA_CONFIG_MODEL_H */
