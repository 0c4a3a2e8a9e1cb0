/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods and commands of the device itself: context, capabilities, port, GIDs. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/ioctl.h"
#include "abi/core/mmap.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "base/clock.h"
#include "base/node.h"
#include "config/model.h"
#include "config/model_speed.h"
#include "hw/queue/loopback.h"
#include "hw/roce/gid.h"
#include "hw/roce/group.h"
#include "hw/roce/roce_wqe.h"

#define OFFSET_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

static_assert(sizeof(struct mlx5_ib_alloc_ucontext_req_v2) == 32, "as rdma-core 44 has it");
static_assert(sizeof(struct mlx5_ib_alloc_ucontext_resp) == 72, "as rdma-core 44 has it");
static_assert(sizeof(struct ib_uverbs_query_device_resp) == 176, "as rdma-core 44 has it");
static_assert(sizeof(struct ib_uverbs_ex_query_device_resp) == 304, "as rdma-core 44 has it");
/* Later ones have reg_c0 behind it, which stays 0: only the e-switch writes metadata there. */
static_assert(sizeof(struct mlx5_ib_query_device_resp) >= 104, "rdma-core 44's or longer");
static_assert(sizeof(struct ib_uverbs_query_port_resp_ex) == 48, "as rdma-core 44 has it");
static_assert(sizeof(struct ib_uverbs_gid_entry) == 32, "as rdma-core 44 has it");
static_assert(sizeof(struct mlx5_ib_uapi_query_port) == 40, "as rdma-core 44 has it");

/** Both methods answer with these, see answer_context(). */
static_assert((int)UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS ==
			(int)UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS &&
		(int)UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT ==
			(int)UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
	"GET_CONTEXT and QUERY_CONTEXT number their attributes alike");

#define VENDOR_ID     0x02c9 /* IEEE OUI of Mellanox */
#define BF_REG_BYTES  512
#define CACHE_LINE    64
#define LOG_UAR_BYTES 12
/* Linux mlx5_query_max_pkeys(): of the device, 128 << pkey_table_size; a RoCE port has one of
 * them. */
#define MAX_PKEYS    128
#define VPORT_UPLINK 0xffff /* PRM, as Linux include/linux/mlx5/vport.h has it */
#define RAW_PACKET   (1u << IBV_QPT_RAW_PACKET)

/** A function has an event queue a CPU. */
static uint32_t
nb_comp_vectors(void)
{
	long nb_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return nb_cpus > 0 ? (uint32_t)nb_cpus : 1;
}

/** @return a number unique among all contexts, which are too few for it to wrap. */
static uint16_t
next_uid(void)
{
	static _Atomic uint16_t last;
	uint16_t uid;

	do {
		uid = ++last;
	} while (uid == 0);
	return uid;
}

/**
 * GET_CONTEXT. Only a port with devx=on offers DevX. After a refusal libmlx5 tries shorter
 * requests, which are refused as well, until it drops the flag. A program that asks for dynamic UAR
 * pages gets no registers with its context, any other does.
 */
static int
take_context_request(struct shca_file *file, const struct shca_user_buffer *buffer,
	struct mlx5_ib_alloc_ucontext_req_v2 *request)
{
	const bool is_first_form = buffer->length == sizeof(struct mlx5_ib_alloc_ucontext_req);
	int ret;

	if (!is_first_form &&
		buffer->length < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	ret = shca_user_read_known(buffer, request, sizeof(*request));
	if (ret != 0)
		return ret;
	if ((request->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX) != 0 || request->comp_mask != 0 ||
		request->reserved0 != 0 || request->reserved1 != 0 || request->reserved2 != 0)
		return -EOPNOTSUPP;
	if ((request->flags & MLX5_IB_ALLOC_UCTX_DEVX) && !shca_device_conf(file->dev)->has_devx)
		return -EINVAL; /* mlx5_ib_devx_create, without general objects in firmware */
	file->bfregs.nb = 0;
	if (request->lib_caps & MLX5_LIB_CAP_DYN_UAR)
		return 0;
	return shca_bfreg_init(&file->bfregs, request->total_num_bfregs,
		request->num_low_latency_bfregs, !is_first_form);
}

/** What libmlx5 is told of a context that it opens or imports (mlx5_ib set_ucontext_resp). */
static struct mlx5_ib_alloc_ucontext_resp
describe_context(const struct shca_file *file)
{
	const struct shca_model *model = file->model;
	struct mlx5_ib_alloc_ucontext_resp response = {
		.qp_tab_size = model->max_qp,
		.bf_reg_size = BF_REG_BYTES,
		.tot_bfregs = file->bfregs.nb,
		.cache_line_size = CACHE_LINE,
		.max_sq_desc_sz = model->max_sq_desc_bytes,
		.max_rq_desc_sz = model->max_rq_desc_bytes,
		.max_send_wqebb = model->max_send_wqebb,
		.max_recv_wr = model->max_recv_wr,
		.max_srq_recv_wr = model->max_recv_wr,
		.num_ports = (uint16_t)shca_conf_nb_ports(shca_device_conf(file->dev)),
		.cmds_supp_uhw =
			MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.cqe_version = file->cqe_version,
		.eth_min_inline = (uint8_t)model->min_inline,
		.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET,
		.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1,
		/* The clock register is at the beginning of its page. */
		.hca_core_clock_offset = 0,
		.log_uar_size = LOG_UAR_BYTES,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = file->bfregs.nb != 0 ? SHCA_BFREGS_DYNAMIC : 0,
	};

	if (shca_device_conf(file->dev)->has_rtc)
		response.comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS;
	return response;
}

/** Answer GET_CONTEXT or QUERY_CONTEXT: their first two attributes have the same numbers. */
static int
answer_context(struct shca_bundle *bundle, const struct shca_user_buffer *out)
{
	const uint64_t core_support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	const uint32_t nb_vectors = nb_comp_vectors();
	struct mlx5_ib_alloc_ucontext_resp response = describe_context(bundle->file);
	int ret;

	response.response_length =
		(uint32_t)(out->length < sizeof(response) ? out->length : sizeof(response));
	ret = shca_ioctl_out(
		bundle, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &nb_vectors, sizeof(nb_vectors));
	if (ret == 0)
		ret = shca_ioctl_out(bundle, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core_support,
			sizeof(core_support));
	return ret != 0 ? ret : shca_user_write(out, &response, sizeof(response));
}

static int
get_context(struct shca_bundle *bundle)
{
	struct shca_file *file = bundle->file;
	struct mlx5_ib_alloc_ucontext_req_v2 request;
	int ret;

	if (file->has_context)
		return -EINVAL;
	ret = take_context_request(file, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN), &request);
	if (ret != 0)
		return ret;
	file->cqe_version = request.max_cqe_version != 0;
	ret = answer_context(bundle, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_OUT));
	if (ret != 0)
		return ret;
	if (request.flags & MLX5_IB_ALLOC_UCTX_DEVX)
		file->uid = next_uid();
	file->nb_comp_vectors = nb_comp_vectors();
	file->has_context = true;
	file->listener.context = &file->context;
	shca_loopback_count_domain(file->dev, 1);
	return 0;
}

/** For ibv_import_device(): a second context of libibverbs on the same file. */
static int
query_context(struct shca_bundle *bundle)
{
	return answer_context(
		bundle, shca_ioctl_buffer(bundle, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX));
}

static void
fill_device(const struct shca_file *file, struct ib_uverbs_query_device_resp *response)
{
	const struct shca_model *model = file->model;
	const uint8_t *mac = shca_device_conf(file->dev)->mac;

	*response = (struct ib_uverbs_query_device_resp){
		.fw_ver = model->fw_ver,
		.node_guid = htobe64(shca_node_guid(mac)),
		.sys_image_guid = htobe64(shca_node_guid(mac)),
		.max_mr_size = model->max_mr_size,
		.page_size_cap = ~(uint64_t)(SHCA_MMAP_PAGE_BYTES - 1),
		.vendor_id = VENDOR_ID,
		.vendor_part_id = shca_device_conf(file->dev)->is_vf ? model->pci_vf_id
								     : model->pci_device_id,
		.hw_ver = model->hw_ver,
		.max_qp = model->max_qp,
		.max_qp_wr = model->max_qp_wr,
		/* The short form has 32 bits; the upper ones are in the extended form. */
		.device_cap_flags = (uint32_t)shca_model_cap_flags(model),
		.max_sge = model->max_sge,
		.max_sge_rd = model->max_sge,
		.max_cq = model->max_cq,
		.max_cqe = model->max_cqe,
		.max_mr = model->max_mr,
		/* Linux mlx5_ib_query_device: keys of either kind. */
		.max_mw = model->max_mr,
		.max_pd = model->max_pd,
		/* Linux mlx5_ib_query_device: a WQE's first segment is the next one's index. */
		.max_srq = model->max_wq_type_rq,
		.max_srq_wr = model->max_recv_wr - 1,
		.max_srq_sge = model->max_rq_desc_bytes / 16u - 1,
		.max_mcast_grp = SHCA_NB_GROUPS,
		.max_mcast_qp_attach = SHCA_GROUP_QPS,
		.max_total_mcast_qp_attach = SHCA_NB_GROUPS * SHCA_GROUP_QPS,
		.max_pkeys = MAX_PKEYS,
		.max_qp_rd_atom = SHCA_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = SHCA_MAX_RD_ATOMIC,
		.max_res_rd_atom = SHCA_MAX_RD_ATOMIC * model->max_qp,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_ah = INT32_MAX, /* Linux mlx5_ib_query_device */
		.local_ca_ack_delay = SHCA_ACK_DELAY,
		.phys_port_cnt = (uint8_t)shca_conf_nb_ports(shca_device_conf(file->dev)),
	};
}

int
shca_device_write_query(struct shca_write *write)
{
	struct ib_uverbs_query_device_resp response;

	fill_device(write->file, &response);
	return shca_user_write(write->out, &response, sizeof(response));
}

static uint32_t
raw_packet_caps(const struct shca_model *model)
{
	return (model->cvlan_strip ? IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING : 0) |
		(model->scatter_fcs ? IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS : 0) |
		(model->checksum ? IB_UVERBS_RAW_PACKET_CAP_IP_CSUM : 0);
}

static void
fill_mlx5(const struct shca_model *model, struct mlx5_ib_query_device_resp *response)
{
	*response = (struct mlx5_ib_query_device_resp){
		.tso_caps = {
			.max_tso = model->max_tso_bytes,
			.supported_qpts = model->max_tso_bytes != 0 ? RAW_PACKET : 0,
		},
		.rss_caps = {
			.rx_hash_fields_mask = model->rx_hash_fields,
			.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
		},
		.mlx5_ib_support_multi_pkt_send_wqes = model->multi_pkt_send,
		.flags = model->cqe_128b_pad ? MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD : 0,
		.tunnel_offloads_caps = model->tunnel_offloads,
	};
	if (model->sw_parsing != 0)
		response->sw_parsing_caps = (struct mlx5_ib_sw_parsing_caps){
			.sw_parsing_offloads = model->sw_parsing,
			.supported_qpts = RAW_PACKET,
		};
	if (model->max_rate_kbps != 0)
		response->packet_pacing_caps = (struct mlx5_packet_pacing_caps){
			.qp_rate_limit_min = SHCA_MIN_RATE_KBPS,
			.qp_rate_limit_max = model->max_rate_kbps,
			.supported_qpts = RAW_PACKET,
			.cap_flags = model->paced_bursts ? MLX5_IB_PP_SUPPORT_BURST : 0,
		};
	if (model->min_log_strides != 0)
		response->striding_rq_caps = (struct mlx5_ib_striding_rq_caps){
			.min_single_stride_log_num_of_bytes = SHCA_MIN_LOG_STRIDE_BYTES,
			.max_single_stride_log_num_of_bytes = SHCA_MAX_LOG_STRIDE_BYTES,
			.min_single_wqe_log_num_of_strides = model->min_log_strides,
			.max_single_wqe_log_num_of_strides = SHCA_MAX_LOG_STRIDES,
			.supported_qpts = RAW_PACKET,
		};
	if (model->cqe_comp_max != 0)
		response->cqe_comp_caps = (struct mlx5_ib_cqe_comp_caps){
			.max_num = model->cqe_comp_max,
			.supported_format = model->cqe_comp_formats,
		};
}

int
shca_device_write_query_ex(struct shca_write *write)
{
	const struct shca_model *model = write->file->model;
	struct ib_uverbs_ex_query_device request;
	struct ib_uverbs_ex_query_device_resp response = {
		.timestamp_mask = INT64_MAX,
		.hca_core_clock = SHCA_CLOCK_KHZ,
		.device_cap_flags_ex = shca_model_cap_flags(model),
		.rss_caps = {
			.supported_qpts = RAW_PACKET,
			.max_rwq_indirection_tables = model->max_rwq_ind_tables,
			.max_rwq_indirection_table_size = model->max_rwq_ind_table_size,
		},
		.max_wq_type_rq = model->max_wq_type_rq,
		.raw_packet_caps = raw_packet_caps(model),
		.cq_moderation_caps = {
			.max_cq_moderation_count = UINT16_MAX,
			.max_cq_moderation_period = SHCA_CQ_PERIOD_MAX_US,
		},
		.max_dm_size = model->max_dm_bytes,
	};
	const size_t known = shca_device_conf(write->file->dev)->kernel_abi < SHCA_KERNEL_6_1
		? offsetof(struct mlx5_ib_query_device_resp, dci_streams_caps) /* Linux 5.14 */
		: sizeof(struct mlx5_ib_query_device_resp);
	struct mlx5_ib_query_device_resp driver_response;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret != 0)
		return ret;
	if (request.comp_mask != 0 || request.reserved != 0)
		return -EINVAL;
	/* mlx5_ib_query_device takes no input and needs at least its own two header words. */
	if (write->driver_out->length != 0 &&
		write->driver_out->length <
			OFFSET_END(struct mlx5_ib_query_device_resp, response_length))
		return -EINVAL;
	fill_device(write->file, &response.base);
	response.response_length =
		(uint32_t)(write->out->length < sizeof(response) ? write->out->length
								 : sizeof(response));
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0)
		return ret;
	fill_mlx5(model, &driver_response);
	driver_response.response_length =
		(uint32_t)(write->driver_out->length < known ? write->driver_out->length : known);
	return shca_user_write(write->driver_out, &driver_response, known);
}

static void
fill_link(const struct shca_file *file, uint32_t port, struct ib_uverbs_query_port_resp *response)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);
	bool is_active = shca_device_is_active(file->dev, port);
	const struct shca_model_speed *speed = shca_model_speed_of(conf->speed_mbps);

	response->active_width = speed->width;
	response->active_speed = speed->code;
	response->state = is_active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	/* IBTA PortPhysicalState: 5 LinkUp, 3 Disabled. */
	response->phys_state = is_active ? 5 : 3;
}

/** mlx5_query_port_roce: a port of an e-switch's manager is for raw packets alone. */
static int
fill_port(const struct shca_file *file, uint64_t port, struct ib_uverbs_query_port_resp *response)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);

	if (port == 0 || port > shca_conf_nb_ports(conf))
		return -EINVAL;
	*response = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS,
		.max_msg_sz = SHCA_ROCE_MESSAGE_MAX,
		.gid_tbl_len = SHCA_NB_GIDS,
		.pkey_tbl_len = 1,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = shca_gid_port_mtu(file->dev),
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.flags = IB_UVERBS_QPF_GRH_REQUIRED,
	};
	if (conf->nb_vports != 0) {
		response->port_cap_flags = 0;
		response->gid_tbl_len = 0;
	}
	fill_link(file, (uint32_t)port, response);
	return 0;
}

static int
query_port(struct shca_bundle *bundle)
{
	struct ib_uverbs_query_port_resp_ex response = { 0 };

	const uint64_t port = shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_PORT_PORT_NUM);
	int ret = fill_port(bundle->file, port, &response.legacy_resp);

	return ret != 0
		? ret
		: shca_ioctl_out(bundle, UVERBS_ATTR_QUERY_PORT_RESP, &response, sizeof(response));
}

int
shca_device_write_query_port(struct shca_write *write)
{
	struct ib_uverbs_query_port_resp response;
	struct ib_uverbs_query_port request;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret == 0)
		ret = fill_port(write->file, request.port_num, &response);
	return ret != 0 ? ret : shca_user_write(write->out, &response, sizeof(response));
}

/** What an e-switch's manager is told of a port's vport (Linux hw/mlx5/std_types.c
 * fill_switchdev_info()). Firmware numbers the functions of a card (vhca_id): here the manager,
 * which is vport 0, and each other by its vport. No rule finds packets of a vport by metadata
 * (reg_c0), and software steering, which needs addresses of device memory, is not there. */
static struct mlx5_ib_uapi_query_port
describe_vport(const struct shca_device_conf *conf, uint64_t port)
{
	const bool is_uplink = port == conf->nb_vports;
	struct mlx5_ib_uapi_query_port info = {
		.flags = MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID,
		.vport = is_uplink ? VPORT_UPLINK : (uint16_t)(port - 1),
	};

	if (!is_uplink) {
		info.flags |= MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID;
		info.vport_vhca_id = info.vport;
	}
	return info;
}

/** mlx5_ib's own QUERY_PORT, for mlx5dv_query_port(). */
static int
query_vport(struct shca_bundle *bundle)
{
	const struct shca_device_conf *conf = shca_device_conf(bundle->file->dev);
	const uint64_t port = shca_ioctl_value(bundle, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	struct mlx5_ib_uapi_query_port info = { 0 };

	if (port == 0 || port > shca_conf_nb_ports(conf))
		return -EINVAL;
	if (!shca_conf_has_rep(conf, (uint32_t)port))
		return -EOPNOTSUPP;
	if (conf->nb_vports != 0)
		info = describe_vport(conf, port);
	return shca_ioctl_out(bundle, MLX5_IB_ATTR_QUERY_PORT, &info, sizeof(info));
}

/** @return false: the entry is empty. */
static bool
fill_gid(const struct shca_file *file, uint32_t index, struct ib_uverbs_gid_entry *entry)
{
	uint8_t gid[SHCA_GID_BYTES];
	bool is_v2;

	if (!shca_gid_get(file->dev, index, gid, &is_v2))
		return false;
	*entry = (struct ib_uverbs_gid_entry){
		.gid_index = index,
		.port_num = 1,
		.gid_type = is_v2 ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_ROCE_V1,
		.netdev_ifindex = shca_device_ifindex(file->dev),
	};
	memcpy(entry->gid, gid, sizeof(gid));
	return true;
}

static int
query_gid_entry(struct shca_bundle *bundle)
{
	uint64_t index = shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	uint64_t port = shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
	struct ib_uverbs_gid_entry entry;

	if (shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) != 0 || port == 0 ||
		port > shca_conf_nb_ports(shca_device_conf(bundle->file->dev)))
		return -EINVAL;
	if (index >= shca_gid_nb(bundle->file->dev))
		return -EINVAL;
	if (!fill_gid(bundle->file, (uint32_t)index, &entry))
		return -ENODATA; /* rdma_get_gid_attr() */
	return shca_ioctl_out(
		bundle, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
}

static int
query_gid_table(struct shca_bundle *bundle)
{
	uint64_t entry_bytes = shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	const struct shca_user_buffer *out =
		shca_ioctl_buffer(bundle, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint8_t table[SHCA_NB_GIDS * 256] = { 0 };
	uint64_t nb_entries = 0;
	int ret;

	if (shca_ioctl_value(bundle, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) != 0)
		return -EINVAL;
	if (entry_bytes == 0 || entry_bytes > sizeof(table) / SHCA_NB_GIDS)
		return -EINVAL;
	/* uverbs_attr_ptr_get_array_size(): room for whole entries, and for one at least. */
	if (out->length == 0 || out->length % entry_bytes != 0)
		return -EINVAL;
	for (uint32_t i = 0; i < SHCA_NB_GIDS; i++) {
		struct ib_uverbs_gid_entry entry;

		if (!fill_gid(bundle->file, i, &entry))
			continue;
		memcpy(table + nb_entries++ * entry_bytes, &entry,
			entry_bytes < sizeof(entry) ? entry_bytes : sizeof(entry));
	}
	/* As rdma_query_gid_table: all entries or none. */
	if (out->length / entry_bytes < nb_entries)
		return -EINVAL;
	ret = shca_user_write(out, table, nb_entries * entry_bytes);
	if (ret == 0)
		ret = shca_ioctl_out(bundle, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
			&nb_entries, sizeof(nb_entries));
	return ret;
}

/* clang-format off */
static const struct shca_attr_row get_context_rows[] = {
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
	SHCA_UHW,
};

static const struct shca_attr_row query_context_rows[] = {
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8),
	SHCA_OUT_LEAST(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, OFFSET_END(struct mlx5_ib_alloc_ucontext_resp, dump_fill_mkey)),
};

static const struct shca_attr_row query_port_rows[] = {
	SHCA_IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8),
	SHCA_OUT_LEAST(UVERBS_ATTR_QUERY_PORT_RESP, OFFSET_END(struct ib_uverbs_query_port_resp_ex, reserved)),
};

static const struct shca_attr_row query_gid_table_rows[] = {
	SHCA_IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8),
	SHCA_FLAGS(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, UINT32_MAX),
	SHCA_OUT_LEAST(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0),
	SHCA_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8),
};

static const struct shca_attr_row query_gid_entry_rows[] = {
	SHCA_IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8),
	SHCA_IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8),
	SHCA_FLAGS_MANDATORY(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, UINT32_MAX),
	SHCA_OUT_LEAST(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(struct ib_uverbs_gid_entry)),
};

static const struct shca_attr_row query_vport_rows[] = {
	SHCA_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 4),
	SHCA_OUT_LEAST(MLX5_IB_ATTR_QUERY_PORT, OFFSET_END(struct mlx5_ib_uapi_query_port, reg_c0)),
};

const struct shca_method shca_device_methods[] = {
	{ UVERBS_METHOD_QUERY_PORT, SHCA_ROWS(query_port_rows), .handler = query_port },
	{ UVERBS_METHOD_GET_CONTEXT, .runs_without_context = true,
		SHCA_ROWS(get_context_rows), .handler = get_context },
	{ UVERBS_METHOD_QUERY_CONTEXT, SHCA_ROWS(query_context_rows), .handler = query_context },
	{ UVERBS_METHOD_QUERY_GID_TABLE, SHCA_ROWS(query_gid_table_rows), .handler = query_gid_table },
	{ UVERBS_METHOD_QUERY_GID_ENTRY, SHCA_ROWS(query_gid_entry_rows), .handler = query_gid_entry },
	{ MLX5_IB_METHOD_QUERY_PORT, .since = SHCA_KERNEL_6_1, /* Linux 5.14 */
		SHCA_ROWS(query_vport_rows), .handler = query_vport },
	{ 0 },
};
/* clang-format on */
