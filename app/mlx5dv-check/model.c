/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device as a model: what verbs and direct verbs tell of it, one line a key, named as the field
 * that tells. What neither tells is tried (model_trial.c), or not written: who reads the file has
 * defaults.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rte_common.h>

#include "model.h"

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
put_limits(FILE *out, const struct check_device *device)
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
	/* Linux makes all three of log_max_qp_sz (hw/mlx5/main.c mlx5_ib_query_device()). */
	fprintf(out, "max_send_wqebb = %d\nmax_recv_wr = %d\n", attr->max_qp_wr, attr->max_qp_wr);
}

static void
put_offloads(FILE *out, const struct check_device *device)
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
device_open(struct check_device *device, const char *ibdev)
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
device_close(struct check_device *device)
{
	if (device->table != NULL)
		ibv_destroy_rwq_ind_table(device->table);
	if (device->wq != NULL)
		ibv_destroy_wq(device->wq);
	if (device->qp != NULL)
		ibv_destroy_qp(device->qp);
	if (device->cq != NULL)
		ibv_destroy_cq(device->cq);
	if (device->pd != NULL)
		ibv_dealloc_pd(device->pd);
	if (device->ctx != NULL)
		ibv_close_device(device->ctx);
}

/** A queue of a moment tells whether the counter stamps, too. */
static void
put_clock(FILE *out, struct ibv_context *ctx)
{
	static const char *const words[] = {
		[CHECK_CLOCK_COUNTER] = "no",
		[CHECK_CLOCK_EITHER] = "yes",
		[CHECK_CLOCK_REAL_TIME_ALONE] = "only",
	};
	enum check_clock clock;
	const int ret = check_clock_find(ctx, &clock);

	if (ret == 0)
		fprintf(out, "real_time_clock = %s\n", words[clock]);
	else
		fprintf(out, "# real_time_clock: the trial ended with %s\n", strerror(ret));
}

/** Read a line of the device's directory in sysfs. @return whether there is one */
static bool
read_line(const char *ibdev, const char *name, char *line, int size)
{
	char path[256];
	FILE *file;
	bool is_there;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/%s",
		getenv("SYSFS_PATH") != NULL ? getenv("SYSFS_PATH") : "/sys", ibdev, name);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	is_there = fgets(line, size, file) != NULL;
	if (is_there)
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return is_there;
}

bool
check_model_has_file(const char *ibdev, const char *name)
{
	char line[64];

	return read_line(ibdev, name, line, sizeof(line));
}

/** The board's name (PSID), and what PCI calls its virtual functions, if Linux tells. */
static void
put_names(FILE *out, const char *ibdev)
{
	char board[64] = "unknown", part[16];

	(void)read_line(ibdev, "board_id", board, sizeof(board));
	fprintf(out, "# Written by mlx5dv-check.\nname = %.31s\nboard = %s\n", ibdev, board);
	if (read_line(ibdev, "device/sriov_vf_device", part, sizeof(part)))
		fprintf(out, "vf_part_id = 0x%s\n", part);
}

int
check_model_write(const char *ibdev, FILE *out)
{
	struct check_device device = { 0 };
	int ret = device_open(&device, ibdev);

	if (ret == 0) {
		put_names(out, ibdev);
		put_limits(out, &device);
		put_offloads(out, &device);
		put_clock(out, device.ctx);
		check_model_try(out, &device);
	}
	device_close(&device);
	return ret;
}

/** @return 0, or a negative errno after a message */
static int
write_file(const char *path, const char *text, size_t size)
{
	FILE *out = fopen(path, "we");
	bool is_whole;

	if (out == NULL) {
		fprintf(stderr, "mlx5dv-check: cannot write %s: %s\n", path, strerror(errno));
		return -errno;
	}
	is_whole = fwrite(text, 1, size, out) == size;
	if (fclose(out) == 0 && is_whole)
		return 0;
	fprintf(stderr, "mlx5dv-check: %s is not whole: %s\n", path, strerror(errno));
	return -EIO;
}

int
check_model_save(const char *ibdev, const char *path)
{
	char *text = NULL;
	size_t size = 0;
	/* What is there stays until there is a model. */
	FILE *out = check_input_can_write(path) ? open_memstream(&text, &size) : NULL;
	int ret = out == NULL ? -EIO : check_model_write(ibdev, out);

	if (out != NULL && fclose(out) != 0 && ret == 0)
		ret = -ENOMEM;
	if (out != NULL && ret != 0)
		fprintf(stderr, "mlx5dv-check: %s cannot be asked: %s\n", ibdev, strerror(-ret));
	if (ret == 0)
		ret = write_file(path, text, size);
	free(text);
	return ret;
}
