/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A walk over every capability that ibv_query_device_ex and mlx5dv_query_device report: each
 * reported one is tried and works, each other one is refused with the errno of Linux, and every
 * reported bit has a row. Prints one line a row, for people.
 */
#include "capabilities.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

static struct {
	struct ibv_device_attr_ex ex;
	struct mlx5dv_context dv;
	uint8_t nothing; /* a capability that no query reports */
} report;

/** A capability: bits of a field of the report, or all of it. */
struct row {
	const char *name;
	size_t offset, size;
	uint64_t bits;            /* 0: the field is a number */
	int (*try)(uint64_t arg); /* NULL: a fact without a way to try it */
	uint64_t arg;             /* 0: the reported value */
	uint64_t too_much;        /* the number plus this is refused with ... */
	int refusal; /* also for bits that are not reported, and for a number that is 0 */
};

/* clang-format off */
#define FIELD(field) offsetof(__typeof__(report), field), sizeof(report.field)
/** A known field without a way to try it. */
#define FACT(field) { #field, FIELD(field), 0, NULL, 0, 0, 0 }
/** Counted for each file; test/unit/abi/core/object_test.c reaches such limits. */
#define COUNTED(field) FACT(field)
#define NUMBER(field, try, refusal) { #field, FIELD(field), 0, try, 0, 0, refusal }
#define LIMIT(field, try, more, refusal) { #field, FIELD(field), 0, try, 0, more, refusal }
#define BIT(field, bit, try, arg, refusal) { #bit, FIELD(field), bit, try, arg, 0, refusal }
#define FLAG(bit, try, arg, refusal) BIT(ex.orig_attr.device_cap_flags, IBV_DEVICE_##bit, try, arg, refusal)
#define FLAG_EX(bit, value, try, arg, refusal) { #bit, FIELD(ex.device_cap_flags_ex), value, try, arg, 0, refusal }

static const struct row rows[] = {
	FACT(ex.orig_attr.fw_ver), FACT(ex.orig_attr.node_guid), FACT(ex.orig_attr.sys_image_guid),
	FACT(ex.orig_attr.vendor_id), FACT(ex.orig_attr.vendor_part_id), FACT(ex.orig_attr.hw_ver),
	FACT(ex.orig_attr.max_mr_size), FACT(ex.orig_attr.page_size_cap), FACT(ex.orig_attr.max_pkeys),
	FACT(ex.orig_attr.local_ca_ack_delay),
	FACT(ex.orig_attr.phys_port_cnt), FACT(ex.phys_port_cnt_ex), FACT(ex.comp_mask),
	FACT(ex.rss_caps.supported_qpts), FACT(ex.tso_caps.supported_qpts), FACT(ex.packet_pacing_caps.supported_qpts),
	COUNTED(ex.orig_attr.max_qp), COUNTED(ex.orig_attr.max_cq), COUNTED(ex.orig_attr.max_mr),
	COUNTED(ex.orig_attr.max_pd),
	COUNTED(ex.rss_caps.max_rwq_indirection_tables), COUNTED(ex.max_wq_type_rq),
	LIMIT(ex.orig_attr.max_qp_wr, try_recv_wrs, 1, EINVAL),
	LIMIT(ex.orig_attr.max_sge, try_sges, 3, EINVAL),
	FACT(ex.orig_attr.max_sge_rd),
	/* A ring of the full number takes a quarter gigabyte: only a larger number is tried. */
	{ "ex.orig_attr.max_cqe", FIELD(ex.orig_attr.max_cqe), 0, try_cqes, 4096, 1, EINVAL },

	FLAG(SYS_IMAGE_GUID, NULL, 0, 0),
	/* test/system/test_ctl.py has events, test/conformance/test_rdma_core.py RNR NAKs and invalidation. */
	FLAG(PORT_ACTIVE_EVENT, NULL, 0, 0),
	FLAG(RC_RNR_NAK_GEN, NULL, 0, 0),
	FLAG(MEM_MGT_EXTENSIONS, NULL, 0, 0),
	/* From one port to another, of which the devices have one. */
	FLAG(CHANGE_PHY_PORT, NULL, 0, 0),
	FLAG(RAW_IP_CSUM, try_checksums, 0, EINVAL),
	FLAG(MANAGED_FLOW_STEERING, try_rule, 0, EOPNOTSUPP),
	FLAG(MEM_WINDOW, try_mw, IBV_MW_TYPE_1, EOPNOTSUPP),
	FLAG(MEM_WINDOW_TYPE_2B, try_mw, IBV_MW_TYPE_2, EOPNOTSUPP),
	FLAG(XRC, try_xrcd, 0, EOPNOTSUPP),
	FLAG(SRQ_RESIZE, try_srq_resize, 0, EINVAL),
	/* Of IPoIB, which Ethernet has not. */
	FLAG(UD_IP_CSUM, NULL, 0, 0),
	FLAG(RC_IP_CSUM, NULL, 0, 0),
	FLAG_EX(IBV_DEVICE_PCI_WRITE_END_PADDING, IBV_DEVICE_PCI_WRITE_END_PADDING, try_wq_flag, IBV_WQ_FLAGS_PCI_WRITE_END_PADDING, EOPNOTSUPP),
	FLAG_EX(IBV_DEVICE_RAW_SCATTER_FCS, IBV_DEVICE_RAW_SCATTER_FCS, try_wq_flag, IBV_WQ_FLAGS_SCATTER_FCS, EOPNOTSUPP),
	/* The lower half again. */
	{ "ex.device_cap_flags_ex", FIELD(ex.device_cap_flags_ex), UINT32_MAX, NULL, 0, 0, 0 },
	COUNTED(ex.orig_attr.max_srq),
	LIMIT(ex.orig_attr.max_srq_wr, try_srq_wrs, 1, EINVAL),
	LIMIT(ex.orig_attr.max_srq_sge, try_srq_sges, 1, EINVAL),
	COUNTED(ex.orig_attr.max_mw),
	/* On Ethernet the library makes them by itself. */
	FACT(ex.orig_attr.max_ah),
	/* test/conformance/test_rdma_core.py has atomics and reads. */
	FACT(ex.orig_attr.max_qp_init_rd_atom), FACT(ex.orig_attr.max_res_rd_atom),
	FACT(ex.orig_attr.atomic_cap),
	/* test/verbs/multicast.c. */
	FACT(ex.orig_attr.max_mcast_grp), FACT(ex.orig_attr.max_mcast_qp_attach), FACT(ex.orig_attr.max_total_mcast_qp_attach),
	{ "ex.orig_attr.max_qp_rd_atom", FIELD(ex.orig_attr.max_qp_rd_atom), 0, try_qp_type, IBV_QPT_RC, 0, EOPNOTSUPP },
	{ "ex.odp_caps.general_caps", FIELD(ex.odp_caps.general_caps), 0, try_mr_access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND, 0, EINVAL },
	{ "ex.tm_caps.max_num_tags", FIELD(ex.tm_caps.max_num_tags), 0, try_tag_matching, 0, 0, EINVAL },
	/* All that the field of 16 bits can say is allowed. */
	{ "ex.cq_mod_caps.max_cq_count", FIELD(ex.cq_mod_caps.max_cq_count), 0, try_cq_count, UINT16_MAX, 0, EOPNOTSUPP },
	LIMIT(ex.cq_mod_caps.max_cq_period, try_cq_period, 1, EINVAL),

	NUMBER(ex.completion_timestamp_mask, try_clock, EOPNOTSUPP),
	NUMBER(ex.hca_core_clock, try_clock, EOPNOTSUPP),
	NUMBER(dv.hca_core_clock, try_clock, EOPNOTSUPP),
	NUMBER(dv.max_clock_info_update_nsec, try_clock_info, EINVAL),
	LIMIT(ex.tso_caps.max_tso, try_tso, 0, EINVAL),
	LIMIT(ex.rss_caps.max_rwq_indirection_table_size, try_table, 1, EINVAL),
	BIT(ex.rss_caps.rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ, try_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ, EOPNOTSUPP),
	/* XOR, which mlx4 has. */
	{ "XOR", FIELD(ex.rss_caps.rx_hash_function), 2, try_hash_function, 2, 0, EOPNOTSUPP },
#define HASH(bit) BIT(ex.rss_caps.rx_hash_fields_mask, IBV_RX_HASH_##bit, try_hash, IBV_RX_HASH_##bit, EOPNOTSUPP)
	HASH(SRC_IPV4), HASH(DST_IPV4), HASH(SRC_IPV6), HASH(DST_IPV6),
	HASH(SRC_PORT_TCP), HASH(DST_PORT_TCP), HASH(SRC_PORT_UDP), HASH(DST_PORT_UDP), HASH(IPSEC_SPI),
	BIT(ex.rss_caps.rx_hash_fields_mask, IBV_RX_HASH_INNER, try_hash, IBV_RX_HASH_INNER | IBV_RX_HASH_SRC_IPV4, EOPNOTSUPP),
	BIT(ex.raw_packet_caps, IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, try_wq_flag, IBV_WQ_FLAGS_CVLAN_STRIPPING, EOPNOTSUPP),
	BIT(ex.raw_packet_caps, IBV_RAW_PACKET_CAP_SCATTER_FCS, try_wq_flag, IBV_WQ_FLAGS_SCATTER_FCS, EOPNOTSUPP),
	BIT(ex.raw_packet_caps, IBV_RAW_PACKET_CAP_IP_CSUM, try_checksums, 0, EINVAL),
	BIT(ex.raw_packet_caps, IBV_RAW_PACKET_CAP_DELAY_DROP, try_wq_flag, IBV_WQ_FLAGS_DELAY_DROP, EOPNOTSUPP),
	NUMBER(ex.packet_pacing_caps.qp_rate_limit_min, try_rate, EINVAL),
	LIMIT(ex.packet_pacing_caps.qp_rate_limit_max, try_rate, 1, EINVAL),
	LIMIT(ex.max_dm_size, try_dm, 4096, EINVAL),

	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_CQE_V1, NULL, 0, 0),
	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED, try_multi_packet, 0, EIO),
	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW, try_multi_packet, 1, EIO),
	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP, try_cqe_128_compressed, 0, EOPNOTSUPP),
	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD, try_cqe_pad, 0, EINVAL),
	/* test/verbs/clock.c. */
	BIT(dv.flags, MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, NULL, 0, 0),
	/* MLX5DV_CONTEXT_FLAGS_BLUEFLAME of rdma-core 65: libmlx5 has such a register */
	BIT(dv.flags, 1 << 8, NULL, 0, 0),
	FACT(dv.comp_mask), FACT(dv.version), FACT(dv.cqe_comp_caps.max_num), FACT(dv.striding_rq_caps.supported_qpts),
	BIT(dv.cqe_comp_caps.supported_format, MLX5DV_CQE_RES_FORMAT_HASH, try_cqe_format, MLX5DV_CQE_RES_FORMAT_HASH, EINVAL),
	BIT(dv.cqe_comp_caps.supported_format, MLX5DV_CQE_RES_FORMAT_CSUM, try_cqe_format, MLX5DV_CQE_RES_FORMAT_CSUM, EINVAL),
	BIT(dv.cqe_comp_caps.supported_format, MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, try_cqe_format, MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, EINVAL),
	{ "no such format", FIELD(dv.cqe_comp_caps.supported_format), 8, try_cqe_format, 8, 0, EINVAL },
	NUMBER(dv.striding_rq_caps.min_single_stride_log_num_of_bytes, try_stride_bytes, EINVAL),
	LIMIT(dv.striding_rq_caps.max_single_stride_log_num_of_bytes, try_stride_bytes, 1, EINVAL),
	NUMBER(dv.striding_rq_caps.min_single_wqe_log_num_of_strides, try_strides, EINVAL),
	LIMIT(dv.striding_rq_caps.max_single_wqe_log_num_of_strides, try_strides, 1, EINVAL),
#define TUNNEL(bit) BIT(dv.tunnel_offloads_caps, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_##bit, try_tunnel, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_##bit, EOPNOTSUPP)
	TUNNEL(VXLAN), TUNNEL(GRE), TUNNEL(CW_MPLS_OVER_GRE), TUNNEL(CW_MPLS_OVER_UDP),
	BIT(dv.sw_parsing_caps.sw_parsing_offloads, MLX5DV_SW_PARSING, try_swp, 0, EIO),
	BIT(dv.sw_parsing_caps.sw_parsing_offloads, MLX5DV_SW_PARSING_CSUM, try_swp, 0, EIO),
	/* test/system/test_swp.py, and test/unit/hw/format/swp_test.c. */
	BIT(dv.sw_parsing_caps.sw_parsing_offloads, MLX5DV_SW_PARSING_LSO, NULL, 0, 0),
	FACT(dv.sw_parsing_caps.supported_qpts),
	/* For contexts that number their registers, as old libraries do. */
	FACT(dv.max_dynamic_bfregs),
	NUMBER(dv.flow_action_flags, try_esp, EPROTONOSUPPORT),
	NUMBER(dv.dc_odp_caps, try_dct, EOPNOTSUPP),
	NUMBER(dv.dci_streams_caps.max_log_num_concurent, try_dct, EOPNOTSUPP),
	NUMBER(dv.sig_caps.block_size, try_devx, EPROTONOSUPPORT),
	NUMBER(dv.crypto_caps.crypto_engines, try_crypto, EOPNOTSUPP),
#define NEVER(name, try, arg, refusal) { name, FIELD(nothing), 1, try, arg, 0, refusal }
	NEVER("group of raw packets", try_multicast, 0, EINVAL),
	NEVER("mlx5dv_pp_alloc", try_pp, 0, EPROTONOSUPPORT),
	NEVER("mlx5dv_alloc_var", try_var, 0, EPROTONOSUPPORT),
	NEVER("steering memory", try_dm_type, MLX5DV_DM_TYPE_STEERING_SW_ICM, EOPNOTSUPP),
	NEVER("header modify memory", try_dm_type, MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM, EOPNOTSUPP),
	NEVER("matcher of the e-switch", try_matcher, MLX5DV_FLOW_TABLE_TYPE_FDB, EOPNOTSUPP),
	NEVER("matcher of RDMA received", try_matcher, MLX5DV_FLOW_TABLE_TYPE_RDMA_RX, EOPNOTSUPP),
};
/* clang-format on */

/** Facts may be longer than a number: firmware's version is a string. */
static size_t
number_size(const struct row *row)
{
	return row->size < sizeof(uint64_t) ? row->size : sizeof(uint64_t);
}

static uint64_t
value_of(const struct row *row)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)&report + row->offset, number_size(row));
	return value;
}

static void
say(const struct row *row, const char *what, int wanted, int got)
{
	printf("%s: %s%s%s\n", row->name, what, wanted != 0 ? ", refused: " : "",
		wanted != 0 ? strerror(got) : "");
	rig_check(got == wanted, row->name, got);
}

static void
walk(const struct row *row)
{
	const uint64_t value = value_of(row);
	const bool is_reported = row->bits != 0 ? (value & row->bits) != 0 : value != 0;
	const uint64_t arg = row->arg == 0 && row->bits == 0 ? value : row->arg;
	const int wanted = is_reported ? 0 : row->refusal;

	if (row->try == NULL)
		return;
	say(row, is_reported ? "reported, works" : "not reported", wanted, row->try(arg));
	if (row->too_much != 0 && is_reported)
		say(row, "more than reported", row->refusal, row->try(value + row->too_much));
}

/** Check what is reported beyond the rows. */
static void
check_known(void)
{
	__typeof__(report) left = report;
	const uint8_t *bytes = (const uint8_t *)&left;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;
		uint8_t *at = (uint8_t *)&left + rows[i].offset;

		memcpy(&value, at, number_size(&rows[i]));
		value &= rows[i].bits != 0 ? ~rows[i].bits : 0;
		memset(at, 0, rows[i].size);
		memcpy(at, &value, number_size(&rows[i]));
	}
	for (size_t i = 0; i < sizeof(left); i++)
		rig_check(bytes[i] == 0, "no row knows of this byte of the report", (long long)i);
}

int
main(void)
{
	rig_open();
	rig_must(ibv_query_device_ex(rig_context, NULL, &report.ex), "ibv_query_device_ex");
	report.dv.comp_mask = UINT64_MAX;
	rig_must(mlx5dv_query_device(rig_context, &report.dv), "mlx5dv_query_device");
	check_known();
	try_begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		walk(&rows[i]);
	try_end();
	return rig_close();
}
