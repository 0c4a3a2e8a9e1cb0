/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that can be opened: what of verbs' answers becomes which capability, and what is undone
 * when a step fails. Verbs and the kernel's files are made here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/mode.h"
#include "device/ring_memory.h"
#include "rig.h"

#define DOORBELL_ENV "MLX5_SHUT_UP_BF"
#define RAW          (1u << IBV_QPT_RAW_PACKET)

static char root[] = "/tmp/drv_open_XXXXXX";
static struct verbs_context context;
static struct ibv_pd pd;
static struct ibv_device devices[3];

/** What verbs answers. */
static struct {
	bool supported; /**< by libmlx5 */
	bool has_list;  /**< of devices */
	int open_error; /**< errno */
	int query_result, port_result, dv_result, mode_result, share_result, pd_error;
	int dealloc_result, close_result, real_time_result;
	bool real_time_only;
	enum mdv_mode mode;
	unsigned int port_num;
	struct ibv_device_attr_ex attr;
	struct mlx5dv_context dv;
	struct ibv_port_attr port;
	unsigned int nb_lists, nb_open, nb_pds, nb_shares;
	enum mdv_sq_db_nc sq_db_nc; /**< wanted */
	char doorbell[8];           /**< the variable while the device was opened */
} verbs;

struct ibv_device **
ibv_get_device_list(int *nb)
{
	struct ibv_device **list;

	*nb = 0;
	if (!verbs.has_list)
		return NULL;
	list = calloc(RTE_DIM(devices) + 1, sizeof(*list));
	assert_non_null(list);
	for (unsigned int i = 0; i < RTE_DIM(devices); i++)
		list[i] = &devices[i];
	*nb = RTE_DIM(devices);
	verbs.nb_lists++;
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	verbs.nb_lists--;
	free(list);
}

const char *
ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	const char *env = getenv(DOORBELL_ENV);

	assert_ptr_equal(device, &devices[1]);
	snprintf(verbs.doorbell, sizeof(verbs.doorbell), "%s", env == NULL ? "none" : env);
	if (verbs.open_error != 0) {
		errno = verbs.open_error;
		return NULL;
	}
	verbs.nb_open++;
	context.context.device = device;
	return &context.context;
}

int
ibv_close_device(struct ibv_context *ctx)
{
	assert_ptr_equal(ctx, &context.context);
	verbs.nb_open--;
	return verbs.close_result;
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *ctx)
{
	assert_ptr_equal(ctx, &context.context);
	errno = RTE_MAX(verbs.pd_error, 0);
	if (verbs.pd_error != 0)
		return NULL;
	verbs.nb_pds++;
	return &pd;
}

int
ibv_dealloc_pd(struct ibv_pd *gone)
{
	assert_ptr_equal(gone, &pd);
	verbs.nb_pds--;
	return verbs.dealloc_result;
}

bool
mlx5dv_is_supported(struct ibv_device *device)
{
	assert_ptr_equal(device, &devices[1]);
	return verbs.supported;
}

int
mlx5dv_query_device(struct ibv_context *ctx, struct mlx5dv_context *dv)
{
	const uint64_t asked = dv->comp_mask;

	assert_ptr_equal(ctx, &context.context);
	*dv = verbs.dv;
	dv->comp_mask &= asked;
	return verbs.dv_result;
}

static int
query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t size)
{
	assert_ptr_equal(ctx, &context.context);
	assert_null(input);
	assert_int_equal(size, sizeof(*attr));
	*attr = verbs.attr;
	return verbs.query_result;
}

static int
query_port(struct ibv_context *ctx, uint8_t port_num, struct ibv_port_attr *attr, size_t size)
{
	assert_ptr_equal(ctx, &context.context);
	assert_int_equal(port_num, verbs.port_num);
	assert_int_equal(size, sizeof(*attr));
	*attr = verbs.port;
	return verbs.port_result;
}

/* In place of the driver's, by the linker's --wrap. */
int __wrap_mdv_mode_choose(
	enum mdv_mode wanted, struct ibv_context *ctx, const char *name, enum mdv_mode *mode);
int __wrap_mdv_ring_memory_share(struct ibv_context *ctx, int node);
int __wrap_mdv_real_time_try(struct ibv_context *ctx, struct ibv_pd *queue_pd, bool *is_only);

int
__wrap_mdv_mode_choose(
	enum mdv_mode wanted, struct ibv_context *ctx, const char *name, enum mdv_mode *mode)
{
	assert_int_equal(wanted, MDV_MODE_AUTO);
	assert_ptr_equal(ctx, &context.context);
	assert_string_equal(name, "mlx5_1");
	*mode = verbs.mode;
	return verbs.mode_result;
}

int
__wrap_mdv_ring_memory_share(struct ibv_context *ctx, int node)
{
	assert_true(node == SOCKET_ID_ANY && ctx == &context.context);
	verbs.nb_shares++;
	return verbs.share_result;
}

int
__wrap_mdv_real_time_try(struct ibv_context *ctx, struct ibv_pd *queue_pd, bool *is_only)
{
	assert_true(ctx == &context.context && queue_pd == &pd && verbs.supported);
	*is_only = verbs.real_time_only;
	return verbs.real_time_result;
}

static void
tree_add(const char *path, const char *text)
{
	char command[600];

	snprintf(command, sizeof(command), "cd %s && mkdir -p \"$(dirname %s)\" && printf '%s' >%s",
		root, path, text, path);
	assert_int_equal(system(command), 0);
}

/** The second port of the device has the loopback device as its netdev, and others that there are
 * not. */
static int
tree_make(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	tree_add("class/infiniband/.hidden/device/net/lo/dev_port", "3");
	tree_add("class/infiniband/mlx5_0/device/net/no_such_1/dev_port", "0");
	tree_add("class/infiniband/mlx5_1/device/net/no_such_2/dev_port", "1");
	tree_add("class/infiniband/mlx5_1/device/net/lo/dev_port", "1");
	tree_add("class/infiniband/mlx5_1/device/net/no_such_3/dev_port", "0");
	tree_add("class/infiniband/mlx5_2/device/net/no_such_4/dev_port", "0");
	setenv("SYSFS_PATH", root, 1);
	return 0;
}

static int
tree_remove(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static int
verbs_make(void **state)
{
	(void)state;
	memset(&verbs, 0, sizeof(verbs));
	context.sz = sizeof(context);
	context.query_device_ex = query_device_ex;
	context.query_port = query_port;
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	for (unsigned int i = 0; i < RTE_DIM(devices); i++) {
		snprintf(devices[i].name, sizeof(devices[i].name), "mlx5_%u", i);
		snprintf(devices[i].dev_name, sizeof(devices[i].dev_name), "uverbs777%u", i);
		snprintf(devices[i].ibdev_path, sizeof(devices[i].ibdev_path),
			"%s/class/infiniband/mlx5_%u", root, i);
	}
	verbs.has_list = verbs.supported = true;
	verbs.mode = MDV_MODE_DV;
	verbs.port_num = 2;
	verbs.port.link_layer = IBV_LINK_LAYER_ETHERNET;
	verbs.attr.orig_attr.device_cap_flags = IBV_DEVICE_MANAGED_FLOW_STEERING;
	verbs.attr.max_wq_type_rq = 7;
	unsetenv(DOORBELL_ENV);
	return 0;
}

static struct mdv_caps
open_caps(void)
{
	const struct mdv_config config = { .iface = "lo", .sq_db_nc = verbs.sq_db_nc };
	struct mdv_device device;

	assert_int_equal(mdv_device_open(&config, &device), 0);
	mdv_device_close(&device);
	return device.caps;
}

static void
a_device_is_found_by_its_netdev(void **state)
{
	const struct mdv_config config = { .iface = "lo", .mode = MDV_MODE_AUTO };
	struct mdv_device device;

	(void)state;
	assert_int_equal(mdv_device_open(&config, &device), 0);
	assert_string_equal(device.name, "mlx5_1");
	assert_string_equal(device.ifname, "lo");
	assert_int_equal(device.ifindex, 1);
	assert_int_equal(device.port_num, 2);
	assert_string_equal(device.sysfs_path, devices[1].ibdev_path);
	assert_ptr_equal(device.ctx, &context.context);
	assert_ptr_equal(device.pd, &pd);
	assert_int_equal(verbs.nb_lists, 0);
	mdv_device_close(&device);
	assert_null(device.ctx);
	assert_null(device.pd);
	assert_int_equal(verbs.nb_open, 0);
	assert_int_equal(verbs.nb_pds, 0);
	mdv_device_close(&device);
	assert_int_equal(verbs.nb_open, 0);
}

/** The variable is set for libmlx5, and as before for everybody else. */
static void
doorbell_pages_are_asked_for(void **state)
{
	(void)state;
	setenv(DOORBELL_ENV, "given", 1);
	verbs.sq_db_nc = MDV_SQ_DB_NC_OFF;
	open_caps();
	assert_string_equal(verbs.doorbell, "0");
	assert_string_equal(getenv(DOORBELL_ENV), "given");
}

static void
striding_queues_are_asked_for(void **state)
{
	const struct mdv_config config = { .iface = "lo", .mprq = MDV_MPRQ_ON };
	struct mdv_device device;

	(void)state;
	assert_int_equal(mdv_device_open(&config, &device), -ENOTSUP);
	verbs.dv.striding_rq_caps = (struct mlx5dv_striding_rq_caps){ 6, 13, 9, 16, RAW };
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ;
	verbs.mode = MDV_MODE_IBV;
	assert_int_equal(mdv_device_open(&config, &device), -ENOTSUP);
	verbs.mode = MDV_MODE_DV;
	assert_int_equal(mdv_device_open(&config, &device), 0);
	mdv_device_close(&device);
	assert_int_equal(verbs.nb_open, 0);
}

static void
capabilities_are_what_verbs_says(void **state)
{
	struct ibv_device_attr *attr = &verbs.attr.orig_attr;
	struct mdv_caps caps = open_caps();

	(void)state;
	assert_true(caps.flow_steering && !caps.foreign && caps.max_wq == 7);
	assert_false(caps.rx_checksum || caps.tx_checksum || caps.cvlan_strip || caps.scatter_fcs);
	attr->max_qp = 11;
	attr->max_qp_wr = 12;
	attr->max_sge = 13;
	attr->max_cqe = 14;
	attr->max_mr_size = 15;
	attr->device_cap_flags |= IBV_DEVICE_RAW_IP_CSUM;
	strcpy(attr->fw_ver, "16.35");
	verbs.attr.rss_caps.max_rwq_indirection_table_size = 16;
	verbs.attr.rss_caps.rx_hash_fields_mask = 17;
	verbs.attr.raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM;
	verbs.attr.completion_timestamp_mask = 18;
	verbs.attr.hca_core_clock = 19;
	verbs.attr.max_dm_size = 20;
	caps = open_caps();
	assert_int_equal(caps.max_qp, 11);
	assert_int_equal(caps.max_qp_wr, 12);
	assert_int_equal(caps.max_sge, 13);
	assert_int_equal(caps.max_cqe, 14);
	assert_int_equal(caps.max_mr_size, 15);
	assert_int_equal(caps.max_rwq_ind_table_size, 16);
	assert_int_equal(caps.rx_hash_fields, 17);
	assert_int_equal(caps.timestamp_mask, 18);
	assert_int_equal(caps.clock_khz, 19);
	assert_int_equal(caps.max_dm_bytes, 20);
	assert_string_equal(caps.fw_version, "16.35");
	assert_true(caps.rx_checksum && caps.tx_checksum);
	assert_false(caps.cvlan_strip || caps.scatter_fcs);
	verbs.attr.raw_packet_caps = IBV_RAW_PACKET_CAP_CVLAN_STRIPPING;
	caps = open_caps();
	assert_true(caps.cvlan_strip && !caps.scatter_fcs && !caps.rx_checksum);
	verbs.attr.raw_packet_caps = IBV_RAW_PACKET_CAP_SCATTER_FCS;
	caps = open_caps();
	assert_true(!caps.cvlan_strip && caps.scatter_fcs && !caps.rx_checksum);
}

/** Stamps of the real-time clock are seconds and nanoseconds, which verbs does not convert. */
static void
timestamps_are_of_one_clock(void **state)
{
	static const struct {
		bool has_none, foreign, only;
		enum mdv_mode mode;
		int result;
		bool offered, real_time;
	} cases[] = {
		{ .mode = MDV_MODE_DV, .offered = true },
		{ .mode = MDV_MODE_IBV, .offered = true },
		{ .mode = MDV_MODE_DV, .only = true, .offered = true, .real_time = true },
		{ .mode = MDV_MODE_IBV, .only = true, .real_time = true },
		{ .mode = MDV_MODE_DV, .result = -ENOMEM },
		{ .mode = MDV_MODE_IBV, .foreign = true, .only = true, .offered = true },
		{ .mode = MDV_MODE_DV, .has_none = true, .only = true },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_caps caps;

		verbs.attr.completion_timestamp_mask = cases[i].has_none ? 0 : UINT64_MAX;
		verbs.supported = !cases[i].foreign;
		verbs.mode = cases[i].mode;
		verbs.real_time_only = cases[i].only;
		verbs.real_time_result = cases[i].result;
		caps = open_caps();
		assert_int_equal(caps.timestamp_mask != 0, cases[i].offered);
		assert_int_equal(caps.real_time, cases[i].real_time);
	}
}

/** Limits of other kinds of queues are none of raw packet QPs. */
static void
capabilities_are_those_of_raw_packets(void **state)
{
	struct mdv_caps caps;

	(void)state;
	verbs.attr.tso_caps.max_tso = 1000;
	verbs.attr.packet_pacing_caps.qp_rate_limit_min = 1;
	verbs.attr.packet_pacing_caps.qp_rate_limit_max = 2;
	verbs.attr.tso_caps.supported_qpts = verbs.attr.packet_pacing_caps.supported_qpts = ~RAW;
	caps = open_caps();
	assert_true(caps.max_tso_bytes == 0 && caps.rate_min_kbps == 0 && caps.rate_max_kbps == 0);
	verbs.attr.tso_caps.supported_qpts = RAW;
	caps = open_caps();
	assert_true(caps.max_tso_bytes == 1000 && caps.rate_max_kbps == 0);
	verbs.attr.packet_pacing_caps.supported_qpts = RAW;
	caps = open_caps();
	assert_true(caps.rate_min_kbps == 1 && caps.rate_max_kbps == 2);
}

/** What verbs does not have comes from libmlx5, in mode=dv. */
static void
capabilities_of_the_device_itself(void **state)
{
	const uint32_t swp = MLX5DV_SW_PARSING | MLX5DV_SW_PARSING_CSUM | MLX5DV_SW_PARSING_LSO;
	struct mdv_caps caps;

	(void)state;
	verbs.dv.tunnel_offloads_caps = 5;
	verbs.dv.cqe_comp_caps.supported_format = 3;
	verbs.dv.cqe_comp_caps.max_num = 2;
	verbs.dv.sw_parsing_caps.supported_qpts = RAW;
	verbs.dv.sw_parsing_caps.sw_parsing_offloads = swp;
	/* It has not said that it fills them. */
	caps = open_caps();
	assert_true(caps.tunnel_offloads == 0 && caps.cqe_comp_formats == 0 && !caps.sw_parsing);
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS;
	caps = open_caps();
	assert_true(caps.tunnel_offloads == 5 && caps.cqe_comp_formats == 0 && !caps.sw_parsing);
	/* Alone these are nothing that a QP may ask for. */
	verbs.dv.tunnel_offloads_caps = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE |
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP;
	assert_int_equal(open_caps().tunnel_offloads, 0);
	verbs.dv.tunnel_offloads_caps = 5;
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION;
	caps = open_caps();
	assert_true(caps.tunnel_offloads == 0 && caps.cqe_comp_formats == 3 && !caps.sw_parsing);
	verbs.dv.cqe_comp_caps.max_num = 1;
	assert_int_equal(open_caps().cqe_comp_formats, 0);
	verbs.dv.striding_rq_caps = (struct mlx5dv_striding_rq_caps){ 6, 13, 9, 16, RAW };
	assert_int_equal(open_caps().log2_striding.strides_max, 0);
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ;
	caps = open_caps();
	assert_true(caps.log2_striding.bytes_min == 6 && caps.log2_striding.bytes_max == 13);
	assert_true(caps.log2_striding.strides_min == 9 && caps.log2_striding.strides_max == 16);
	verbs.dv.striding_rq_caps.supported_qpts = ~RAW;
	assert_int_equal(open_caps().log2_striding.strides_max, 0);
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_SWP;
	caps = open_caps();
	assert_true(caps.tunnel_offloads == 0 && caps.cqe_comp_formats == 0 && caps.sw_parsing);
	verbs.dv.sw_parsing_caps.supported_qpts = ~RAW;
	assert_false(open_caps().sw_parsing);
	verbs.dv.sw_parsing_caps.supported_qpts = RAW;
	for (uint32_t bit = 1; bit <= swp; bit <<= 1) {
		verbs.dv.sw_parsing_caps.sw_parsing_offloads = swp & ~bit;
		assert_int_equal(open_caps().sw_parsing, (swp & bit) == 0);
	}
}

static void
small_parts_want_headers_inlined(void **state)
{
	static const struct {
		uint32_t id;
		bool inline_l2;
	} parts[] = {
		{ 0x1012, false },
		{ 0x1013, true },
		{ 0x1014, true },
		{ 0x1015, true },
		{ 0x1016, true },
		{ 0x1017, false },
		{ 0x1018, false },
		{ 0xa2d2, false },
	};
	const uint64_t mpw = MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW;
	struct mdv_caps caps;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(parts); i++) {
		verbs.attr.orig_attr.vendor_part_id = parts[i].id;
		verbs.dv.flags = mpw | MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED;
		caps = open_caps();
		assert_int_equal(caps.tx_min_inline, parts[i].inline_l2 ? MDV_HW_ETH_INLINE_L2 : 0);
		assert_int_equal(caps.tx_multi_packet, !parts[i].inline_l2);
		verbs.dv.flags = i % 2 ? mpw : ~mpw;
		assert_false(open_caps().tx_multi_packet);
	}
}

static void
other_modes_and_devices_have_less(void **state)
{
	struct mdv_caps caps;

	(void)state;
	verbs.attr.raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM;
	verbs.attr.max_dm_size = 20;
	verbs.dv.comp_mask = MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS;
	verbs.dv.tunnel_offloads_caps = 5;
	verbs.mode = MDV_MODE_IBV;
	verbs.dv_result = EIO;
	caps = open_caps();
	assert_true(caps.mode == MDV_MODE_IBV && !caps.foreign && !caps.rx_checksum);
	assert_true(caps.tunnel_offloads == 0 && caps.max_dm_bytes == 20);
	assert_int_equal(verbs.nb_shares, 0);
	verbs.supported = false;
	caps = open_caps();
	assert_true(caps.foreign && caps.max_dm_bytes == 0);
}

static void
rings_are_shared_where_they_can_be(void **state)
{
	static const struct {
		enum mdv_mode mode;
		int result;
		bool shared;
	} cases[] = {
		{ MDV_MODE_DV, 0, true },
		{ MDV_MODE_DV, -ENOMEM, false },
		{ MDV_MODE_IBV, 0, false },
	};
	const struct mdv_config config = { .iface = "lo", .mode = MDV_MODE_AUTO };
	struct mdv_device device;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		verbs.mode = cases[i].mode;
		verbs.share_result = cases[i].result;
		assert_int_equal(mdv_device_open(&config, &device), 0);
		assert_int_equal(device.shares_rings, cases[i].shared);
		mdv_device_close(&device);
	}
	assert_int_equal(verbs.nb_shares, 2);
}

static void
what_fails_is_closed(void **state)
{
	const struct mdv_config config = { .iface = "lo", .mode = MDV_MODE_AUTO };
	const struct {
		int *what, value, result;
	} cases[] = {
		{ &verbs.open_error, EACCES, -EACCES },
		{ &verbs.open_error, EPERM, -EACCES },
		{ &verbs.open_error, ENOENT, -EACCES }, /* there is no such node */
		{ &verbs.open_error, ENOMEM, -ENOMEM },
		{ &verbs.open_error, -1, -EIO },
		{ &verbs.query_result, EIO, -EIO },
		{ &verbs.port_result, ENXIO, -ENXIO },
		{ &verbs.dv_result, EIO, -EIO },
		{ &verbs.mode_result, -ENOTSUP, -ENOTSUP },
		{ &verbs.pd_error, ENOSPC, -ENOSPC },
		{ &verbs.pd_error, -1, -ENOMEM },
	};
	struct mdv_device device = { .port_num = 99 };

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		verbs_make(state);
		*cases[i].what = cases[i].value;
		assert_int_equal(mdv_device_open(&config, &device), cases[i].result);
		assert_int_equal(verbs.nb_open, 0);
		assert_int_equal(verbs.nb_lists, 0);
		assert_int_equal(device.port_num, 99);
	}
	verbs_make(state);
	verbs.has_list = false;
	assert_int_equal(mdv_device_open(&config, &device), -ENODEV);
	verbs_make(state);
	verbs.port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	assert_int_equal(mdv_device_open(&config, &device), -ENOTSUP);
	verbs_make(state);
	verbs.attr.max_wq_type_rq = 0;
	assert_int_equal(mdv_device_open(&config, &device), -ENOTSUP);
	verbs_make(state);
	verbs.attr.orig_attr.device_cap_flags = (unsigned int)~IBV_DEVICE_MANAGED_FLOW_STEERING;
	assert_int_equal(mdv_device_open(&config, &device), -ENOTSUP);
	assert_int_equal(verbs.nb_open, 0);
}

static void
a_device_that_does_not_close_is_gone(void **state)
{
	const struct mdv_config config = { .iface = "lo", .mode = MDV_MODE_AUTO };
	struct mdv_device device;

	(void)state;
	verbs.dealloc_result = EBUSY;
	verbs.close_result = EIO;
	assert_int_equal(mdv_device_open(&config, &device), 0);
	mdv_device_close(&device);
	assert_null(device.ctx);
	assert_null(device.pd);
	assert_int_equal(verbs.nb_open, 0);
}

/** One more than the netdev's dev_port, where that is a number of a port. */
static void
ports_are_told_by_dev_port(void **state)
{
	static const struct {
		const char *dev_port;
		unsigned int port_num;
	} cases[] = {
		{ "1", 2 },
		{ "1\\n", 2 },
		{ "0", 1 },
		{ "253", 254 },
		{ "254", 255 },
		{ "255", 1 },
		{ "256", 1 },
		{ "x", 1 },
		{ "", 1 },
		{ "99999999999999999999999", 1 },
	};
	struct mdv_config config = { .iface = "lo", .mode = MDV_MODE_AUTO };
	struct mdv_device device;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		tree_add("class/infiniband/mlx5_1/device/net/lo/dev_port", cases[i].dev_port);
		verbs.port_num = cases[i].port_num;
		assert_int_equal(mdv_device_open(&config, &device), 0);
		assert_int_equal(device.port_num, cases[i].port_num);
		assert_string_equal(device.ifname, "lo");
		mdv_device_close(&device);
	}
	/* By its own name it is the first port, and the netdev that of the second. */
	strcpy(config.ibdev, "mlx5_1");
	config.iface[0] = '\0';
	tree_add("class/infiniband/mlx5_1/device/net/lo/dev_port", "1");
	verbs.port_num = 1;
	assert_int_equal(mdv_device_open(&config, &device), 0);
	assert_int_equal(device.ifindex, 0);
	assert_string_equal(device.ifname, "");
	mdv_device_close(&device);
}

static void
lanes_make_a_speed(void **state)
{
	static const struct {
		uint8_t speed;
		uint32_t mbps;
	} speeds[] = { { 1, 2500 }, { 2, 5000 }, { 4, 10000 }, { 8, 10000 }, { 16, 14000 },
		{ 32, 25000 }, { 64, 50000 }, { 128, 100000 }, { 0, 0 }, { 3, 0 } };
	static const struct {
		uint8_t width;
		uint32_t lanes;
	} widths[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 }, { 0, 0 }, { 3, 0 } };
	const struct mdv_device device = { .ctx = &context.context, .port_num = 2 };
	uint32_t speed = 1;
	bool up = false;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(speeds); i++)
		for (unsigned int k = 0; k < RTE_DIM(widths); k++) {
			verbs.port.active_speed = speeds[i].speed;
			verbs.port.active_width = widths[k].width;
			verbs.port.state = i % 2 == 0 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
			assert_int_equal(mdv_device_query_link(&device, &up, &speed), 0);
			assert_int_equal(speed, speeds[i].mbps * widths[k].lanes);
			assert_int_equal(up, i % 2 == 0);
		}
	verbs.port_result = ENODEV;
	assert_int_equal(mdv_device_query_link(&device, &up, &speed), -ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_device_is_found_by_its_netdev, verbs_make),
		cmocka_unit_test_setup(doorbell_pages_are_asked_for, verbs_make),
		cmocka_unit_test_setup(capabilities_are_what_verbs_says, verbs_make),
		cmocka_unit_test_setup(striding_queues_are_asked_for, verbs_make),
		cmocka_unit_test_setup(timestamps_are_of_one_clock, verbs_make),
		cmocka_unit_test_setup(capabilities_are_those_of_raw_packets, verbs_make),
		cmocka_unit_test_setup(capabilities_of_the_device_itself, verbs_make),
		cmocka_unit_test_setup(small_parts_want_headers_inlined, verbs_make),
		cmocka_unit_test_setup(other_modes_and_devices_have_less, verbs_make),
		cmocka_unit_test_setup(rings_are_shared_where_they_can_be, verbs_make),
		cmocka_unit_test_setup(what_fails_is_closed, verbs_make),
		cmocka_unit_test_setup(a_device_that_does_not_close_is_gone, verbs_make),
		cmocka_unit_test_setup(ports_are_told_by_dev_port, verbs_make),
		cmocka_unit_test_setup(lanes_make_a_speed, verbs_make),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
