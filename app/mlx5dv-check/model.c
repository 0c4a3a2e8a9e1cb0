/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device as a model: what verbs and direct verbs tell of it, one line a key, named as the field
 * that tells. What neither tells is tried where a trial changes nothing for Linux, and otherwise
 * not written: who reads the file has defaults.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rte_common.h>

#include "check.h"

#define ACTIONS_MOST 64
#define HEADER_MOST  512
#define HEADER_LEAST 14 /* of Ethernet */

struct device {
	struct ibv_context *ctx;
	struct ibv_device_attr_ex attr;
	struct mlx5dv_context dv;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /**< in INIT: nothing is ever received */
};

static void
put_flag(FILE *out, const char *key, bool flag)
{
	fprintf(out, "%s = %s\n", key, flag ? "yes" : "no");
}

struct bit {
	const char *name;
	uint64_t bit;
};

static void
put_set(FILE *out, const char *key, uint64_t bits, const struct bit *names, unsigned int nb)
{
	bool is_empty = true;

	fprintf(out, "%s =", key);
	for (unsigned int i = 0; i < nb; i++) {
		if ((bits & names[i].bit) == 0)
			continue;
		fprintf(out, " %s", names[i].name);
		is_empty = false;
	}
	fputs(is_empty ? " none\n" : "\n", out);
}
#define PUT_SET(out, key, bits, names) put_set(out, key, bits, names, RTE_DIM(names))

static const struct bit hash_fields[] = {
	{ "src_ipv4", IBV_RX_HASH_SRC_IPV4 },
	{ "dst_ipv4", IBV_RX_HASH_DST_IPV4 },
	{ "src_ipv6", IBV_RX_HASH_SRC_IPV6 },
	{ "dst_ipv6", IBV_RX_HASH_DST_IPV6 },
	{ "src_port_tcp", IBV_RX_HASH_SRC_PORT_TCP },
	{ "dst_port_tcp", IBV_RX_HASH_DST_PORT_TCP },
	{ "src_port_udp", IBV_RX_HASH_SRC_PORT_UDP },
	{ "dst_port_udp", IBV_RX_HASH_DST_PORT_UDP },
	{ "ipsec_spi", IBV_RX_HASH_IPSEC_SPI },
	{ "inner", IBV_RX_HASH_INNER },
};

static const struct bit multi_packet_forms[] = {
	{ "mpw", MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED },
	{ "enhanced", MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW },
};

static const struct bit tunnels[] = {
	{ "vxlan", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN },
	{ "gre", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
	{ "geneve", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE },
	{ "cw_mpls_over_gre", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE },
	{ "cw_mpls_over_udp", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP },
};

static const struct bit sw_parsing[] = {
	{ "sw_parsing", MLX5DV_SW_PARSING },
	{ "csum", MLX5DV_SW_PARSING_CSUM },
	{ "lso", MLX5DV_SW_PARSING_LSO },
};

static const struct bit mini_formats[] = {
	{ "hash", MLX5DV_CQE_RES_FORMAT_HASH },
	{ "csum", MLX5DV_CQE_RES_FORMAT_CSUM },
	{ "csum_stridx", MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX },
};

/** Their hosts may demand headers in send WQEs, those of layer 2 unless told otherwise. */
static const char *
min_inline(uint32_t part)
{
	return part >= 0x1013 && part <= 0x1016 ? "l2" : "none";
}

static void
put_limits(FILE *out, const struct device *device)
{
	const struct ibv_device_attr *attr = &device->attr.orig_attr;
	const struct ibv_rss_caps *rss = &device->attr.rss_caps;

	fprintf(out, "vendor_part_id = 0x%04" PRIx32 "\nhw_ver = %" PRIu32 "\nfw_ver = %s\n",
		attr->vendor_part_id, attr->hw_ver, attr->fw_ver);
	fprintf(out, "max_qp = %d\nmax_qp_wr = %d\nmax_sge = %d\n", attr->max_qp, attr->max_qp_wr,
		attr->max_sge);
	fprintf(out, "max_cq = %d\nmax_cqe = %d\nmax_mr = %d\n", attr->max_cq, attr->max_cqe,
		attr->max_mr);
	fprintf(out, "max_mr_size = 0x%" PRIx64 "\nmax_pd = %d\n", attr->max_mr_size, attr->max_pd);
	fprintf(out, "max_wq_type_rq = %" PRIu32 "\n", device->attr.max_wq_type_rq);
	fprintf(out, "max_rwq_indirection_tables = %" PRIu32 "\n", rss->max_rwq_indirection_tables);
	fprintf(out, "max_rwq_indirection_table_size = %" PRIu32 "\n",
		rss->max_rwq_indirection_table_size);
}

static void
put_offloads(FILE *out, const struct device *device)
{
	const struct ibv_device_attr_ex *attr = &device->attr;
	const struct mlx5dv_context *dv = &device->dv;
	const uint32_t raw = attr->raw_packet_caps;

	put_flag(out, "cvlan_stripping", (raw & IBV_RAW_PACKET_CAP_CVLAN_STRIPPING) != 0);
	put_flag(out, "scatter_fcs", (raw & IBV_RAW_PACKET_CAP_SCATTER_FCS) != 0);
	put_flag(out, "ip_csum", (raw & IBV_RAW_PACKET_CAP_IP_CSUM) != 0);
	fprintf(out, "min_inline = %s\n", min_inline(attr->orig_attr.vendor_part_id));
	PUT_SET(out, "rx_hash_fields", attr->rss_caps.rx_hash_fields_mask, hash_fields);
	fprintf(out, "max_tso = %" PRIu32 "\n", attr->tso_caps.max_tso);
	PUT_SET(out, "multi_pkt_send", dv->flags, multi_packet_forms);
	PUT_SET(out, "tunnel_offloads", dv->tunnel_offloads_caps, tunnels);
	PUT_SET(out, "sw_parsing", dv->sw_parsing_caps.sw_parsing_offloads, sw_parsing);
	fprintf(out, "cqe_comp_max = %" PRIu32 "\n", dv->cqe_comp_caps.max_num);
	PUT_SET(out, "cqe_comp_formats", dv->cqe_comp_caps.supported_format, mini_formats);
	put_flag(out, "cqe_128b_pad", (dv->flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD) != 0);
	fprintf(out, "min_wqe_log_strides = %" PRIu32 "\n",
		dv->striding_rq_caps.min_single_wqe_log_num_of_strides);
	fprintf(out, "rate_limit_max_kbps = %" PRIu32 "\n",
		attr->packet_pacing_caps.qp_rate_limit_max);
	fprintf(out, "max_dm_size = %" PRIu64 "\n", attr->max_dm_size);
}

/** Write what a trial told: errno of the refusal, or 0. */
static void
put_trial(FILE *out, const char *key, int error)
{
	if (error == 0 || error == EOPNOTSUPP || error == EINVAL)
		put_flag(out, key, error == 0);
	else
		fprintf(out, "# %s: the trial ended with %s\n", key, strerror(error));
}

/** A rule that gives nothing to a QP which receives nothing. */
static int
try_rule(const struct device *device, enum ibv_flow_attr_type type, uint32_t flags)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = type, .size = sizeof(rule.attr), .port = 1, .flags = flags },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = { 0x02, 0x6d, 0x6c, 0x78, 0x35, 0x63 },
			.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	struct ibv_flow *flow;

	if (type == IBV_FLOW_ATTR_NORMAL) {
		rule.attr.num_of_specs = 1;
		rule.attr.size += sizeof(rule.eth);
	}
	errno = 0;
	flow = ibv_create_flow(device->qp, &rule.attr);
	if (flow == NULL)
		return errno != 0 ? errno : EIO;
	ibv_destroy_flow(flow);
	return 0;
}

/** @return whether the device makes the action, which nobody uses */
static bool
try_action(struct ibv_flow_action *action)
{
	if (action == NULL)
		return false;
	ibv_destroy_flow_action(action);
	return true;
}

static void
put_actions(FILE *out, const struct device *device)
{
	uint64_t actions[ACTIONS_MOST];
	uint8_t header[HEADER_MOST] = { 0 };
	size_t nb = ACTIONS_MOST, bytes = HEADER_MOST;

	/* Set 16 bits of the source address (PRM, SET of OUT_SMAC_15_0). */
	for (unsigned int i = 0; i < RTE_DIM(actions); i++)
		actions[i] = rte_cpu_to_be_64(1ull << 60 | 2ull << 48 | 16ull << 32);
	while (nb != 0 &&
		!try_action(mlx5dv_create_flow_action_modify_header(device->ctx,
			nb * sizeof(actions[0]), actions, MLX5DV_FLOW_TABLE_TYPE_NIC_RX)))
		nb--;
	while (bytes >= HEADER_LEAST &&
		!try_action(mlx5dv_create_flow_action_packet_reformat(device->ctx, bytes, header,
			MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
			MLX5DV_FLOW_TABLE_TYPE_NIC_TX)))
		bytes -= 2;
	fprintf(out, "modify_header_actions = %zu\n", nb);
	fprintf(out, "packet_reformat_bytes = %zu\n", bytes < HEADER_LEAST ? 0 : bytes);
}

static int
open_queue(struct device *device)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	device->pd = ibv_alloc_pd(device->ctx);
	device->cq = ibv_create_cq(device->ctx, 2, NULL, NULL, 0);
	if (device->pd == NULL || device->cq == NULL)
		return -errno;
	init.send_cq = device->cq;
	init.recv_cq = device->cq;
	device->qp = ibv_create_qp(device->pd, &init);
	if (device->qp == NULL)
		return -errno;
	return -ibv_modify_qp(device->qp, &attr, IBV_QP_STATE | IBV_QP_PORT);
}

static void
put_steering(FILE *out, struct device *device)
{
	int ret = open_queue(device);

	if (ret != 0) {
		fprintf(out, "# no QP of raw packets to try rules with: %s\n", strerror(-ret));
		return;
	}
	put_trial(out, "dont_trap",
		try_rule(device, IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_FLAGS_DONT_TRAP));
	put_trial(out, "sniffer", try_rule(device, IBV_FLOW_ATTR_SNIFFER, 0));
	put_actions(out, device);
}

struct ibv_context *
check_verbs_open(const char *ibdev)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	errno = ENODEV;
	for (unsigned int i = 0; list != NULL && list[i] != NULL && ctx == NULL; i++)
		if (strcmp(ibv_get_device_name(list[i]), ibdev) == 0)
			ctx = ibv_open_device(list[i]);
	if (list != NULL)
		ibv_free_device_list(list);
	return ctx;
}

static int
device_open(struct device *device, const char *ibdev)
{
	int ret;

	device->ctx = check_verbs_open(ibdev);
	if (device->ctx == NULL)
		return -errno;
	ret = -ibv_query_device_ex(device->ctx, NULL, &device->attr);
	/* comp_mask asks. */
	device->dv.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION | MLX5DV_CONTEXT_MASK_SWP |
		MLX5DV_CONTEXT_MASK_STRIDING_RQ | MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS;
	return ret != 0 ? ret : -mlx5dv_query_device(device->ctx, &device->dv);
}

static void
device_close(struct device *device)
{
	if (device->qp != NULL)
		ibv_destroy_qp(device->qp);
	if (device->cq != NULL)
		ibv_destroy_cq(device->cq);
	if (device->pd != NULL)
		ibv_dealloc_pd(device->pd);
	if (device->ctx != NULL)
		ibv_close_device(device->ctx);
}

/** The board's name (PSID), if the kernel has one. */
static void
put_names(FILE *out, const char *ibdev)
{
	char path[256], board[64] = "unknown";
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/board_id",
		getenv("SYSFS_PATH") != NULL ? getenv("SYSFS_PATH") : "/sys", ibdev);
	file = fopen(path, "re");
	if (file != NULL) {
		if (fgets(board, sizeof(board), file) != NULL)
			board[strcspn(board, "\n")] = '\0';
		fclose(file);
	}
	fprintf(out, "# Written by mlx5dv-check.\nname = %.31s\nboard = %s\n", ibdev, board);
}

int
check_model_write(const char *ibdev, FILE *out)
{
	struct device device = { 0 };
	int ret = device_open(&device, ibdev);

	if (ret == 0) {
		put_names(out, ibdev);
		put_limits(out, &device);
		put_offloads(out, &device);
		put_steering(out, &device);
	}
	device_close(&device);
	return ret;
}

int
check_model_save(const char *ibdev, const char *path)
{
	FILE *out = fopen(path, "we");
	int ret;

	if (out == NULL) {
		fprintf(stderr, "mlx5dv-check: cannot write %s: %s\n", path, strerror(errno));
		return -errno;
	}
	ret = check_model_write(ibdev, out);
	if (ret != 0)
		fprintf(stderr, "mlx5dv-check: %s cannot be asked: %s\n", ibdev, strerror(-ret));
	if (fclose(out) != 0 && ret == 0) {
		fprintf(stderr, "mlx5dv-check: %s is not whole: %s\n", path, strerror(errno));
		ret = -EIO;
	}
	if (ret != 0)
		remove(path);
	return ret;
}
