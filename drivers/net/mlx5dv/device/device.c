/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and queries the verbs device; an error says what is wrong with it. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "base/hw.h"
#include "base/log.h"
#include "devargs.h"
#include "device.h"
#include "mode.h"
#include "real_time.h"
#include "relaxed.h"
#include "resolve.h"
#include "ring_memory.h"
#include "sysfs.h"
#include "uar.h"

/** libmlx5 maps its doorbell pages non-cached if this is "1" at ibv_open_device(). */
#define DOORBELL_ENV "MLX5_SHUT_UP_BF"

/** libibverbs then frees its part of an object that the kernel does not destroy because the device
 * is gone (EIO). It reads this once, at the first list of devices. */
#define DISASSOC_ENV "RDMAV_ALLOW_DISASSOC_DESTROY"

/** Find by sysfs the uverbs node of an RDMA device that libibverbs did not list. */
static int
uverbs_of_ibdev(const char *ibdev, char *name, size_t size)
{
	char root[IBV_SYSFS_PATH_MAX], path[MDV_SYSFS_PATH_BYTES], line[IBV_SYSFS_NAME_MAX];
	struct dirent *entry;
	DIR *dir;
	int ret = -ENODEV;

	snprintf(root, sizeof(root), "%s/class/infiniband_verbs", mdv_sysfs_root());
	dir = opendir(root);
	if (dir == NULL)
		return -ENODEV;
	while (ret != 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= size)
			continue;
		snprintf(path, sizeof(path), "%s/%.*s/ibdev", root, IBV_SYSFS_NAME_MAX - 1,
			entry->d_name);
		if (mdv_sysfs_read_line(path, line, sizeof(line)) != 0 || strcmp(line, ibdev) != 0)
			continue;
		rte_strscpy(name, entry->d_name, size);
		ret = 0;
	}
	closedir(dir);
	return ret;
}

/** libibverbs does not list the device: log whether the device or only its node is missing. */
static int
report_missing(const char *ibdev, struct ibv_device **list, int nb_devices)
{
	char uverbs[IBV_SYSFS_NAME_MAX], present[256] = "none";
	size_t len = 0;
	int i;

	if (uverbs_of_ibdev(ibdev, uverbs, sizeof(uverbs)) == 0) {
		MDV_LOG(ERR,
			"%s: its node /dev/infiniband/%s is missing or cannot be reached: it must exist and be readable and writable (is ib_uverbs loaded, the node in the container?)",
			ibdev, uverbs);
		return -EACCES;
	}
	for (i = 0; i < nb_devices && len < sizeof(present); i++)
		len += snprintf(present + len, sizeof(present) - len, "%s%s", i == 0 ? "" : ", ",
			ibv_get_device_name(list[i]));
	MDV_LOG(ERR, "%s: no such verbs device; present: %s", ibdev, present);
	return -ENODEV;
}

static int
report_open_failure(struct ibv_device *ibdev, int err)
{
	char node[PATH_MAX];

	snprintf(node, sizeof(node), "/dev/infiniband/%s", ibdev->dev_name);
	/* After a refusal libibverbs waits for the node to appear elsewhere, and reports the
	 * result of the wait (util/open_cdev.c). */
	if (err == ENOENT && access(node, R_OK | W_OK) != 0)
		err = errno;
	if (err == EACCES || err == EPERM || err == ENOENT) {
		MDV_LOG(ERR,
			"%s: cannot open %s (%s): it needs read and write permission on that node, and CAP_NET_RAW for queues and flows",
			ibv_get_device_name(ibdev), node, strerror(err));
		return -EACCES;
	}
	MDV_LOG(ERR, "%s: cannot open %s: %s", ibv_get_device_name(ibdev), node, strerror(err));
	return err > 0 ? -err : -EIO;
}

/**
 * Open the device with its doorbell pages mapped as wanted, which libmlx5 takes from the
 * environment. That is restored. Which kind a page is of is asked when a queue gets it
 * (queue/tx/txq_ring.c).
 */
static struct ibv_context *
open_context(struct ibv_device *ibdev, enum mdv_sq_db_nc wanted)
{
	const char *env = getenv(DOORBELL_ENV);
	char *saved = env == NULL ? NULL : strdup(env);
	struct ibv_context *ctx;
	int err;

	setenv(DOORBELL_ENV, mdv_uar_wants_non_cached(wanted) ? "1" : "0", 1);
	errno = 0;
	ctx = ibv_open_device(ibdev);
	err = errno;
	if (saved != NULL)
		setenv(DOORBELL_ENV, saved, 1);
	else
		unsetenv(DOORBELL_ENV);
	free(saved);
	errno = err;
	return ctx;
}

/* clang-format off */
/** PCI ids whose send queues need the L2 header inlined; verbs does not report it (Linux
 * eth_min_inline). */
static const uint32_t inline_l2_parts[] = {
	0x1013, /* ConnectX-4 */
	0x1014, /* ConnectX-4 VF */
	0x1015, /* ConnectX-4 Lx */
	0x1016, /* ConnectX-4 Lx VF */
};
/* clang-format on */

static bool
needs_inline_l2(uint32_t vendor_part_id)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(inline_l2_parts); i++) {
		if (inline_l2_parts[i] == vendor_part_id)
			return true;
	}
	return false;
}

/** What a host demands of its functions is known to the kernel and DevX alone. libmlx5 inlines 18
 * bytes at most (providers/mlx5/mlx5.c, eth_min_inline_size). */
static int
take_inline_min(struct mdv_device *device, enum mdv_inline_min wanted)
{
	static const uint8_t bytes[] = {
		[MDV_INLINE_MIN_AUTO] = 0,
		[MDV_INLINE_MIN_L2] = MDV_HW_ETH_INLINE_L2,
		[MDV_INLINE_MIN_NETWORK] = MDV_HW_ETH_INLINE_NETWORK,
		[MDV_INLINE_MIN_TRANSPORT] = MDV_HW_ETH_INLINE_TRANSPORT,
	};

	device->caps.tx_min_inline = bytes[wanted];
	if (wanted <= MDV_INLINE_MIN_L2 || device->caps.mode == MDV_MODE_DV)
		return 0;
	MDV_LOG(ERR, "%s: txq_inline_min=%u needs mode=dv: verbs inlines %u bytes at most",
		device->name, bytes[wanted], MDV_HW_ETH_INLINE_L2);
	return -ENOTSUP;
}

/** Otherwise the port would not start. */
static int
check_striding(const struct mdv_device *device, enum mdv_mprq wanted)
{
	if (wanted != MDV_MPRQ_ON || device->caps.log2_striding.strides_max != 0)
		return 0;
	MDV_LOG(ERR, "%s: mprq=on: %s", device->name,
		device->caps.mode == MDV_MODE_DV ? "the device has no striding receive queues"
						 : "striding receive queues need mode=dv");
	return -ENOTSUP;
}

/** Verbs copies what a work request inlines as well, but says nothing of when that pays. */
static int
check_inline(const struct mdv_device *device, uint16_t wanted)
{
	if (wanted == 0 || wanted == MDV_TX_INLINE_AUTO || device->caps.mode == MDV_MODE_DV)
		return 0;
	MDV_LOG(ERR, "%s: tx_inline=%u: inlining packets needs mode=dv", device->name, wanted);
	return -ENOTSUP;
}

/** Linux reports striding receive queues as a capability of raw packet QPs, which hash QPs are
 * (hw/mlx5/main.c mlx5_ib_query_device()). */
static void
take_striding_caps(const struct mlx5dv_striding_rq_caps *dv, struct mdv_caps *caps)
{
	if (!(dv->supported_qpts & (1u << IBV_QPT_RAW_PACKET)))
		return;
	caps->log2_striding.bytes_min = dv->min_single_stride_log_num_of_bytes;
	caps->log2_striding.bytes_max = dv->max_single_stride_log_num_of_bytes;
	caps->log2_striding.strides_min = dv->min_single_wqe_log_num_of_strides;
	caps->log2_striding.strides_max = dv->max_single_wqe_log_num_of_strides;
}

/** Fill in the capabilities that only direct verbs report. In mode=ibv they stay 0. */
static int
fill_dv_caps(struct mdv_device *device, uint32_t vendor_part_id)
{
	struct mlx5dv_context dv = { .comp_mask = MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS |
			MLX5DV_CONTEXT_MASK_CQE_COMPRESION | MLX5DV_CONTEXT_MASK_SWP |
			MLX5DV_CONTEXT_MASK_STRIDING_RQ };
	/* The device has the form, and the kernel allows it to a queue (hw/mlx5/qp.c
	 * create_raw_packet_qp_sq()). */
	const uint64_t mpw = MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW | MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED;
	const uint32_t swp = MLX5DV_SW_PARSING | MLX5DV_SW_PARSING_CSUM | MLX5DV_SW_PARSING_LSO;
	struct mdv_caps *caps = &device->caps;
	int ret = mlx5dv_query_device(device->ctx, &dv);

	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot query direct verbs: %s", device->name, strerror(ret));
		return -ret;
	}
	if (needs_inline_l2(vendor_part_id))
		caps->tx_min_inline = RTE_MAX(caps->tx_min_inline, MDV_HW_ETH_INLINE_L2);
	caps->tx_multi_packet = (dv.flags & mpw) == mpw && caps->tx_min_inline == 0;
	/* Of a device with none of these no QP may ask for offloads in tunnels (Linux hw/mlx5/qp.c
	 * tunnel_offload_supported()). */
	if ((dv.comp_mask & MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS) &&
		(dv.tunnel_offloads_caps &
			(MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |
				MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |
				MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE)) != 0)
		caps->tunnel_offloads = dv.tunnel_offloads_caps;
	if ((dv.comp_mask & MLX5DV_CONTEXT_MASK_SWP) &&
		dv.sw_parsing_caps.supported_qpts & (1u << IBV_QPT_RAW_PACKET))
		caps->sw_parsing = (swp & ~dv.sw_parsing_caps.sw_parsing_offloads) == 0;
	/* Blocks of one packet would save nothing. */
	if ((dv.comp_mask & MLX5DV_CONTEXT_MASK_CQE_COMPRESION) && dv.cqe_comp_caps.max_num > 1)
		caps->cqe_comp_formats = dv.cqe_comp_caps.supported_format;
	if (dv.comp_mask & MLX5DV_CONTEXT_MASK_STRIDING_RQ)
		take_striding_caps(&dv.striding_rq_caps, caps);
	return 0;
}

static int
fill_caps(struct mdv_device *device)
{
	struct mdv_caps *caps = &device->caps;
	struct ibv_device_attr_ex attr;
	int ret;

	ret = ibv_query_device_ex(device->ctx, NULL, &attr);
	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot query the device: %s", device->name, strerror(ret));
		return -ret;
	}
	device->nb_ports = attr.orig_attr.phys_port_cnt;
	caps->max_qp = attr.orig_attr.max_qp;
	caps->max_qp_wr = attr.orig_attr.max_qp_wr;
	caps->max_sge = attr.orig_attr.max_sge;
	caps->max_cqe = attr.orig_attr.max_cqe;
	caps->max_rwq_ind_table_size = attr.rss_caps.max_rwq_indirection_table_size;
	caps->max_wq = attr.max_wq_type_rq;
	caps->max_mr_size = attr.orig_attr.max_mr_size;
	caps->rx_hash_fields = attr.rss_caps.rx_hash_fields_mask;
	if (attr.tso_caps.supported_qpts & (1u << IBV_QPT_RAW_PACKET))
		caps->max_tso_bytes = attr.tso_caps.max_tso;
	caps->rx_checksum = (attr.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM) != 0;
	caps->tx_checksum = (attr.orig_attr.device_cap_flags & IBV_DEVICE_RAW_IP_CSUM) != 0;
	caps->cvlan_strip = (attr.raw_packet_caps & IBV_RAW_PACKET_CAP_CVLAN_STRIPPING) != 0;
	caps->scatter_fcs = (attr.raw_packet_caps & IBV_RAW_PACKET_CAP_SCATTER_FCS) != 0;
	if (attr.packet_pacing_caps.supported_qpts & (1u << IBV_QPT_RAW_PACKET)) {
		caps->rate_min_kbps = attr.packet_pacing_caps.qp_rate_limit_min;
		caps->rate_max_kbps = attr.packet_pacing_caps.qp_rate_limit_max;
	}
	caps->timestamp_mask = attr.completion_timestamp_mask;
	caps->clock_khz = attr.hca_core_clock;
	/* Only libmlx5 can report where device memory is mapped. */
	caps->max_dm_bytes = caps->foreign ? 0 : attr.max_dm_size;
	caps->flow_steering =
		(attr.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING) != 0;
	snprintf(caps->fw_version, sizeof(caps->fw_version), "%s", attr.orig_attr.fw_ver);
	if (caps->mode == MDV_MODE_DV)
		return fill_dv_caps(device, attr.orig_attr.vendor_part_id);
	/* libmlx5 reports checksums for QPs, but not for WQs (its handle_responder()). */
	caps->rx_checksum = false;
	return 0;
}

static int
check_port(const struct mdv_device *device)
{
	struct ibv_port_attr port;
	int ret;

	ret = ibv_query_port(device->ctx, device->port_num, &port);
	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot query port %u: %s", device->name, device->port_num,
			strerror(ret));
		return -ret;
	}
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		MDV_LOG(ERR, "%s: port %u is not an Ethernet port", device->name, device->port_num);
		return -ENOTSUP;
	}
	return 0;
}

static int
open_named(struct mdv_device *device, enum mdv_sq_db_nc doorbells)
{
	struct ibv_device **list, *ibdev = NULL;
	int nb_devices = 0, i, ret = 0;

	list = ibv_get_device_list(&nb_devices);
	for (i = 0; list != NULL && i < nb_devices && ibdev == NULL; i++) {
		if (strcmp(ibv_get_device_name(list[i]), device->name) == 0)
			ibdev = list[i];
	}
	if (ibdev == NULL) {
		ret = report_missing(device->name, list, nb_devices);
	} else {
		device->ctx = open_context(ibdev, doorbells);
		if (device->ctx == NULL)
			ret = report_open_failure(ibdev, errno);
		else
			memcpy(device->sysfs_path, ibdev->ibdev_path, sizeof(device->sysfs_path));
	}
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}

/** Timestamps that nobody can tell the meaning of are not offered. */
static void
find_clock(struct mdv_device *device)
{
	struct mdv_caps *caps = &device->caps;
	int ret;

	if (caps->foreign || caps->timestamp_mask == 0)
		return;
	ret = mdv_real_time_try(device->ctx, device->pd, &caps->real_time);
	if (ret == 0 && (!caps->real_time || caps->mode == MDV_MODE_DV))
		return;
	if (ret != 0)
		MDV_LOG(WARNING, "%s: no timestamps: cannot find out which clock they are of: %s",
			device->name, strerror(-ret));
	else /* libmlx5 gives them out unconverted, as if they were nanoseconds. */
		MDV_LOG(INFO, "%s: no timestamps: its clock needs direct verbs", device->name);
	caps->timestamp_mask = 0;
}

int
mdv_device_open(const struct mdv_config *config, struct mdv_device *device)
{
	struct mdv_device opened = { 0 };
	const char *why;
	int ret;

	ret = mdv_resolve(config, &opened);
	if (ret == 0)
		ret = open_named(&opened, config->sq_db_nc);
	if (ret != 0)
		return ret;
	opened.numa_node = mdv_ring_memory_node(opened.sysfs_path);
	opened.caps.foreign = !mlx5dv_is_supported(opened.ctx->device);
	ret = check_port(&opened);
	if (ret == 0)
		ret = mdv_mode_choose(config->mode, opened.ctx, opened.name, &opened.caps.mode);
	if (ret == 0)
		ret = take_inline_min(&opened, config->txq_inline_min);
	if (ret == 0)
		ret = fill_caps(&opened);
	if (ret == 0)
		ret = check_striding(&opened, config->mprq);
	if (ret == 0)
		ret = check_inline(&opened, config->tx_inline);
	if (ret != 0)
		goto close_context;
	if (!opened.caps.flow_steering || opened.caps.max_wq == 0) {
		MDV_LOG(ERR, "%s: the device offers no flow steering or no work queues to verbs",
			opened.name);
		ret = -ENOTSUP;
		goto close_context;
	}
	/* Verbs drives its queues by state in the memory of this process alone. */
	if (opened.caps.mode == MDV_MODE_DV)
		ret = mdv_ring_memory_share(opened.ctx, opened.numa_node);
	opened.shares_rings = opened.caps.mode == MDV_MODE_DV && ret == 0;
	if (ret != 0)
		MDV_LOG(WARNING, "%s: secondary processes cannot have its queues: %s", opened.name,
			strerror(-ret));
	opened.pd = ibv_alloc_pd(opened.ctx);
	if (opened.pd == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "%s: cannot allocate a protection domain: %s", opened.name,
			strerror(-ret));
		goto close_context;
	}
	find_clock(&opened);
	opened.relaxed = mdv_relaxed_choose(config->relaxed_ordering, mdv_relaxed_cpu(), &why);
	MDV_LOG(INFO, "%s: packet memory %s relaxed ordering: %s", opened.name,
		opened.relaxed ? "with" : "without", why);
	*device = opened;
	return 0;

close_context:
	ibv_close_device(opened.ctx);
	return ret;
}

void
mdv_device_close(struct mdv_device *device)
{
	int ret;

	if (device->ctx == NULL)
		return;
	ret = ibv_dealloc_pd(device->pd);
	if (ret != 0)
		MDV_LOG(ERR, "%s: cannot free the protection domain: %s", device->name,
			strerror(ret));
	ret = ibv_close_device(device->ctx);
	if (ret != 0)
		MDV_LOG(ERR, "%s: cannot close the device: %s", device->name, strerror(ret));
	device->pd = NULL;
	device->ctx = NULL;
}

/* clang-format off */
/** The codes of struct ibv_port_attr (IBTA PortInfo LinkSpeedActive, LinkWidthActive). */
static const struct {
	uint32_t code;
	uint32_t mbps;
} lane_speeds[] = {
	{ 1, 2500 }, { 2, 5000 }, { 4, 10000 }, { 8, 10000 },
	{ 16, 14000 }, { 32, 25000 }, { 64, 50000 }, { 128, 100000 },
};
static const struct {
	uint32_t code;
	uint32_t lanes;
} lane_counts[] = {
	{ 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 },
};
/* clang-format on */

int
mdv_device_query_link(const struct mdv_device *device, bool *up, uint32_t *speed_mbps)
{
	uint32_t lanes = 0, mbps = 0;
	struct ibv_port_attr port;
	unsigned int i;
	int ret;

	ret = ibv_query_port(device->ctx, device->port_num, &port);
	if (ret != 0)
		return -ret;
	for (i = 0; i < RTE_DIM(lane_counts); i++) {
		if (lane_counts[i].code == port.active_width)
			lanes = lane_counts[i].lanes;
	}
	for (i = 0; i < RTE_DIM(lane_speeds); i++) {
		if (lane_speeds[i].code == port.active_speed)
			mbps = lane_speeds[i].mbps;
	}
	*up = port.state == IBV_PORT_ACTIVE;
	*speed_mbps = lanes * mbps;
	return 0;
}

int
mdv_device_read_clock(const struct mdv_device *device, uint64_t *ticks)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int ret =
		device->caps.real_time ? EOPNOTSUPP : ibv_query_rt_values_ex(device->ctx, &values);

	if (ret != 0)
		return ret == EOPNOTSUPP ? -ENOTSUP : -ret;
	if (!(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return -ENOTSUP;
	/* libmlx5 stores the whole counter in this field. */
	*ticks = (uint64_t)values.raw_clock.tv_nsec;
	return 0;
}

int
mdv_device_ticks_to_ns(const struct mdv_device *device, uint64_t ticks, uint64_t *ns)
{
	struct mlx5dv_clock_info info;
	int ret;

	if (device->caps.foreign)
		return -ENOTSUP;
	if (device->caps.real_time) {
		*ns = ticks;
		return 0;
	}
	/* EBUSY: Linux has been updating the page for longer than libmlx5 waits. */
	do {
		ret = mlx5dv_get_clock_info(device->ctx, &info);
	} while (ret == EBUSY);
	if (ret != 0)
		return ret == EINVAL || ret == EOPNOTSUPP ? -ENOTSUP : -ret;
	*ns = mlx5dv_ts_to_ns(&info, ticks);
	return 0;
}

int
mdv_device_read_counter(const struct mdv_device *device, const char *name, uint64_t *count)
{
	char path[MDV_SYSFS_PATH_BYTES];
	int ret;

	snprintf(path, sizeof(path), "%s/ports/%u/hw_counters/%s", device->sysfs_path,
		device->port_num, name);
	ret = mdv_sysfs_read_u64(path, count);
	if (ret == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/hw_counters/%s", device->sysfs_path, name);
	ret = mdv_sysfs_read_u64(path, count);
	return ret == 0 ? 0 : -ENOENT;
}

/** When the driver is loaded: another driver's probe may come first. A user's choice stays. */
RTE_INIT(allow_disassociated_destroy)
{
	setenv(DISASSOC_ENV, "1", 0);
}
