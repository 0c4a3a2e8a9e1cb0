/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: creation of raw packet and hash QPs. Their states are in qp_state.c. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/object/methods.h"
#include "abi/object/mlx5.h"
#include "abi/qp/qp_others.h"
#include "abi/qp/qp_roce.h"
#include "abi/qp/qp_share.h"
#include "config/model.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/queue/tir.h"
#include "hw/roce/group.h"

static_assert(sizeof(struct mlx5_ib_create_qp) == 56, "as rdma-core 44 has it");
static_assert(sizeof(struct mlx5_ib_create_qp_rss) == 152, "as rdma-core 44 has it");
static_assert(sizeof(struct mlx5_ib_create_qp_resp) == 40, "as rdma-core 44 has it");
static_assert(sizeof(struct ib_uverbs_qp_cap) == 20, "as rdma-core 44 has it");

#define KNOWN_FLAGS                                                                                \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_SCATTER_FCS |          \
		IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |  \
		IB_UVERBS_QP_CREATE_SQ_SIG_ALL)

#define SELF_LOOPBACK_FLAGS (MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC)
/** Flags that libmlx5 may set on a raw packet QP, where the hints to scatter to CQEs do nothing. */
#define RAW_DRIVER_FLAGS                                                                           \
	(MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |      \
		MLX5_QP_FLAG_TUNNEL_OFFLOADS | MLX5_QP_FLAG_BFREG_INDEX |                          \
		MLX5_QP_FLAG_UAR_PAGE_INDEX | SELF_LOOPBACK_FLAGS)
#define HASH_DRIVER_FLAGS (MLX5_QP_FLAG_TUNNEL_OFFLOADS | SELF_LOOPBACK_FLAGS)

/** As tunnel_offload_supported (hw/mlx5/qp.c): MPLS alone is not enough. */
#define ASKED_TUNNELS                                                                              \
	(MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |                                            \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |                                       \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE)

#define WQEBB_BYTES    64
#define WQE_UNIT_BYTES 16
#define UIDX_DEFAULT   0xffffff /* MLX5_IB_DEFAULT_UIDX: stands for none */
#define TOEPLITZ_BYTES 40

/** An RQ may belong to a WQ or a QP; events of this one are events of the QP. */
static void
on_event(void *owner, enum shca_event event)
{
	struct shca_qp_object *qp = owner;

	(void)event;
	if (shca_eventq_send_async(qp->async, qp->object.user_handle, SHCA_EVENT_QP_FATAL))
		qp->nb_async_events++;
}

static void
destroy_queues(struct shca_qp_object *qp)
{
	shca_tir_destroy(qp->tir);
	shca_rq_destroy(qp->rq);
	shca_sq_destroy(qp->sq);
	shca_roce_qp_destroy(qp->roce);
}

static void
destroy(struct shca_object *object)
{
	struct shca_qp_object *qp = (struct shca_qp_object *)object;

	if (qp->sq != NULL || qp->roce != NULL)
		shca_device_catch_up(object->file->dev);
	shca_qp_share_leave(qp);
	destroy_queues(qp);
	shca_bfreg_put(&object->file->bfregs, qp->bfreg);
	qp->nb_async_events -=
		shca_eventq_drop(qp->async, object->user_handle, qp->nb_async_events);
	shca_eventq_put(qp->async);
	shca_qp_others_leave(qp);
}

/** Each group is a user. */
static void
leave(struct shca_object *object)
{
	struct shca_qp_object *qp = (struct shca_qp_object *)object;

	if (qp->roce != NULL)
		object->nb_users -= shca_group_detach_all(qp->roce);
}

const struct shca_object_class shca_qp_class = {
	.type = UVERBS_OBJECT_QP,
	.name = "QP",
	.bytes = sizeof(struct shca_qp_object),
	.limit = SHCA_LIMIT_QP,
	.leave = leave,
	.destroy = destroy,
};

/** As check_creation_flags (uverbs_std_types_qp.c), then process_create_flags (mlx5/qp.c). */
static int
check_flags(const struct shca_model *model, uint64_t type, uint64_t flags)
{
	const uint64_t raw_flags =
		IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;
	const bool is_raw = type == IB_UVERBS_QPT_RAW_PACKET;

	/* Types of the driver's own (mlx5/qp.c check_qp_type) need what no model has. */
	if (type == IB_UVERBS_QPT_DRIVER)
		return -EOPNOTSUPP;
	flags &= ~(uint64_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	if (flags != 0 && !is_raw && type != IB_UVERBS_QPT_UD)
		return -EINVAL;
	if ((flags & raw_flags) != 0 && !is_raw)
		return -EINVAL;
	if ((flags & IB_UVERBS_QP_CREATE_CVLAN_STRIPPING) && !model->cvlan_strip)
		return -EOPNOTSUPP;
	if ((flags & IB_UVERBS_QP_CREATE_SCATTER_FCS) && !model->scatter_fcs)
		return -EOPNOTSUPP;
	return 0;
}

/** Only a port of InfiniBand lets a queue pair send as another (process_create_flags()), and hash
 * QPs take no flags, of which this is one to the kernel. */
static int
check_source(const struct shca_bundle *bundle, const struct shca_qp_object *qp)
{
	if (shca_ioctl_attr(bundle, UVERBS_ATTR_CREATE_QP_SOURCE_QPN) == NULL)
		return 0;
	return qp->rwq_ind != NULL ? -EINVAL : -EOPNOTSUPP;
}

static int
check_driver_flags(const struct shca_model *model, uint32_t flags, uint32_t known)
{
	if (flags & ~known)
		return -EINVAL;
	if ((flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) && (model->tunnel_offloads & ASKED_TUNNELS) == 0)
		return -EOPNOTSUPP;
	return 0;
}

/** The receive queue must fit the requested capabilities: no ring without receive requests
 * (mlx5/qp.c set_rq_size(), create_user_qp()). */
static int
check_rq(const struct shca_model *model, const struct shca_qp_object *qp,
	const struct mlx5_ib_create_qp *request)
{
	uint32_t unit =
		request->flags & MLX5_QP_FLAG_SIGNATURE ? 2 * WQE_UNIT_BYTES : WQE_UNIT_BYTES;

	if (qp->cap.max_recv_wr > model->max_qp_wr)
		return -EINVAL;
	if (!shca_qp_has_rq(qp) || qp->cap.max_recv_wr == 0)
		return request->rq_wqe_count == 0 && request->rq_wqe_shift == 0 ? 0 : -EINVAL;
	if (request->rq_wqe_count == 0 || request->rq_wqe_shift >= 32)
		return -EINVAL;
	return 1u << request->rq_wqe_shift >= unit ? 0 : -EINVAL;
}

static int
check_sq(const struct shca_model *model, const struct mlx5_ib_create_qp *request)
{
	if (request->sq_wqe_count & (request->sq_wqe_count - 1))
		return -EINVAL;
	return request->sq_wqe_count <= model->max_send_wqebb ? 0 : -EINVAL;
}

/** Check the program's UAR page or the thread domain's register; without either the kernel chooses
 * a register. */
static int
check_uar(const struct shca_file *file, const struct mlx5_ib_create_qp *request)
{
	switch (request->flags & (MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX)) {
	case MLX5_QP_FLAG_UAR_PAGE_INDEX:
		return shca_mlx5_has_uar_page(file, request->bfreg_index) ? 0 : -EINVAL;
	case MLX5_QP_FLAG_BFREG_INDEX:
		return file->bfregs.nb != 0 && request->bfreg_index < SHCA_BFREGS_DYNAMIC ? 0
											  : -EINVAL;
	case 0:
		return file->bfregs.nb != 0 ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static int
check_request(const struct shca_file *file, const struct shca_qp_object *qp,
	const struct shca_user_buffer *buffer, uint32_t flags, struct mlx5_ib_create_qp *request)
{
	int ret;

	if (buffer->length < offsetof(struct mlx5_ib_create_qp, ece_options))
		return -EINVAL;
	ret = shca_user_read_known(buffer, request, sizeof(*request));
	if (ret != 0)
		return ret == -EOPNOTSUPP ? -EINVAL : ret;
	ret = check_driver_flags(file->model, request->flags, flags);
	if (ret == 0)
		ret = check_rq(file->model, qp, request);
	if (ret == 0)
		ret = check_sq(file->model, request);
	if (ret == 0)
		ret = check_uar(file, request);
	if (ret != 0)
		return ret;
	/* Completions name raw queues by user index; the kernel refuses a QP without one. */
	if (file->cqe_version == 0 || request->uidx >= UIDX_DEFAULT)
		return -EINVAL;
	if (request->sq_wqe_count == 0 && request->rq_wqe_count == 0 && shca_qp_has_rq(qp))
		return -EINVAL;
	return 0;
}

/** The memory of a raw QP's queues. */
struct memory {
	uint8_t *sq_ring, *rq_ring;
	__be32 *dbrec;
};

static int
pin_queues(
	struct shca_object *object, const struct mlx5_ib_create_qp *request, struct memory *memory)
{
	uint8_t *dbrec;
	int ret = shca_object_pin(object, request->db_addr, SHCA_DBREC_BYTES, false, &dbrec);

	if (ret == 0 && request->sq_wqe_count != 0)
		ret = shca_object_pin(object, request->sq_buf_addr,
			(uint64_t)request->sq_wqe_count * WQEBB_BYTES, false, &memory->sq_ring);
	if (ret == 0 && request->rq_wqe_count != 0)
		ret = shca_object_pin(object, request->buf_addr,
			(uint64_t)request->rq_wqe_count << request->rq_wqe_shift, false,
			&memory->rq_ring);
	if (ret == 0)
		memory->dbrec = (__be32 *)(void *)dbrec;
	return ret;
}

static int
create_sq(struct shca_file *file, struct shca_qp_object *qp,
	const struct mlx5_ib_create_qp *request, const struct memory *memory)
{
	const struct shca_sq_attr attr = {
		.ring = memory->sq_ring,
		.dbrec = memory->dbrec,
		.nb_wqebbs = request->sq_wqe_count,
		.pdn = qp->pd->pdn,
		.user_index = request->uidx,
		.tdn = file->context.ctxn,
		.context = &file->context,
		.signal_all = qp->signal_all,
		.cq = qp->send_cq->cq,
		.event = on_event,
		.owner = qp,
	};

	return shca_sq_create(file->dev, &attr, &qp->sq);
}

static int
create_rq(struct shca_file *file, struct shca_qp_object *qp,
	const struct mlx5_ib_create_qp *request, const struct memory *memory, uint64_t flags)
{
	const struct shca_rq_attr attr = {
		.ring = memory->rq_ring,
		.dbrec = memory->dbrec,
		.nb_wqes = request->rq_wqe_count,
		.stride_bytes = 1u << request->rq_wqe_shift,
		.pdn = qp->pd->pdn,
		.user_index = request->uidx,
		.cvlan_strip = (flags & IB_UVERBS_QP_CREATE_CVLAN_STRIPPING) != 0,
		.scatter_fcs = (flags & IB_UVERBS_QP_CREATE_SCATTER_FCS) != 0,
		.has_signature = (request->flags & MLX5_QP_FLAG_SIGNATURE) != 0,
		.cq = qp->recv_cq->cq,
		.context = &file->context,
		.event = on_event,
		.owner = qp,
	};
	struct shca_tir_attr tir_attr = {
		.tdn = file->context.ctxn,
		.context = &file->context,
		.tunneled_offload = (request->flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) != 0,
		.takes_own_unicast = (request->flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC) != 0,
		.takes_own_multicast = (request->flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC) != 0,
	};
	int ret;

	ret = shca_rq_create(file->dev, &attr, &qp->rq);
	if (ret != 0)
		return ret;
	tir_attr.rq = qp->rq;
	return shca_tir_create(file->dev, &tir_attr, &qp->tir);
}

static int
create_raw(const struct shca_bundle *bundle, struct shca_qp_object *qp, uint64_t flags)
{
	struct mlx5_ib_create_qp request;
	struct memory memory = { 0 };
	int ret;

	ret = check_request(bundle->file, qp, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN),
		RAW_DRIVER_FLAGS, &request);
	if (ret == 0)
		ret = pin_queues(&qp->object, &request, &memory);
	if (ret != 0)
		return ret;
	shca_qp_note_rq(qp, &request);
	if (request.rq_wqe_count == 0)
		qp->cap.max_recv_sge = 0;
	if (request.sq_wqe_count != 0)
		ret = create_sq(bundle->file, qp, &request, &memory);
	if (ret == 0 && request.rq_wqe_count != 0)
		ret = create_rq(bundle->file, qp, &request, &memory, flags);
	if (ret == 0 &&
		(request.flags & (MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX)) == 0)
		qp->bfreg = shca_bfreg_get(&bundle->file->bfregs);
	return ret;
}

/** As create_rss_raw_qp_tir (hw/mlx5/qp.c): one IP version, one L4 protocol. */
static int
check_hash(const struct shca_model *model, const struct mlx5_ib_create_qp_rss *request,
	const struct shca_rwq_ind_object *table)
{
	static const uint64_t exclusive[][2] = {
		{ MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4,
			MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6 },
		{ MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP,
			MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP |
				MLX5_RX_HASH_IPSEC_SPI },
		{ MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP, MLX5_RX_HASH_IPSEC_SPI },
	};
	uint64_t fields = request->rx_hash_fields_mask;

	if (request->rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ)
		return -EOPNOTSUPP;
	if (request->rx_key_len != TOEPLITZ_BYTES)
		return -EINVAL;
	if (fields == 0)
		return table->nb_wqs == 1 ? 0 : -EINVAL;
	for (size_t i = 0; i < sizeof(exclusive) / sizeof(exclusive[0]); i++)
		if ((fields & exclusive[i][0]) && (fields & exclusive[i][1]))
			return -EINVAL;
	return (fields & ~(model->rx_hash_fields | MLX5_RX_HASH_INNER)) == 0 ? 0 : -EOPNOTSUPP;
}

static int
check_hash_request(const struct shca_file *file, const struct shca_qp_object *qp,
	const struct shca_user_buffer *buffer, struct mlx5_ib_create_qp_rss *request)
{
	int ret;

	if (buffer->length < sizeof(*request))
		return -EINVAL;
	ret = shca_user_read_known(buffer, request, sizeof(*request));
	if (ret != 0)
		return ret == -EOPNOTSUPP ? -EINVAL : ret;
	if (request->comp_mask != 0)
		return -EOPNOTSUPP;
	ret = check_driver_flags(file->model, request->flags, HASH_DRIVER_FLAGS);
	if (ret != 0)
		return ret;
	if ((request->rx_hash_fields_mask & MLX5_RX_HASH_INNER) &&
		(request->flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) == 0)
		return -EOPNOTSUPP;
	return check_hash(file->model, request, qp->rwq_ind);
}

static int
create_hash(const struct shca_bundle *bundle, struct shca_qp_object *qp, uint64_t flags)
{
	struct mlx5_ib_create_qp_rss request;
	struct shca_tir_attr attr;
	int ret;

	if (flags != 0 || qp->send_cq != NULL)
		return -EINVAL;
	ret = check_hash_request(
		bundle->file, qp, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN), &request);
	if (ret != 0)
		return ret;
	attr = (struct shca_tir_attr){
		.rqt = qp->rwq_ind->rqt,
		.hash_fields = request.rx_hash_fields_mask,
		.tdn = bundle->file->context.ctxn,
		.context = &bundle->file->context,
		.tunneled_offload = (request.flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) != 0,
		.takes_own_unicast = (request.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC) != 0,
		.takes_own_multicast = (request.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC) != 0,
	};
	memcpy(attr.key, request.rx_hash_key, sizeof(attr.key));
	return shca_tir_create(bundle->file->dev, &attr, &qp->tir);
}

/** An SRQ is of the queue pair's kind (core/uverbs_std_types_qp.c); raw packets have none (Linux
 * hw/mlx5/qp.c create_qp). */
static bool
has_right_srq(const struct shca_qp_object *qp)
{
	return qp->srq == NULL ||
		(qp->type != IB_UVERBS_QPT_RAW_PACKET &&
			(qp->srq->xrcd != NULL) == (qp->type == IB_UVERBS_QPT_XRC_TGT));
}

static int
create_roce(const struct shca_bundle *bundle, struct shca_qp_object *qp)
{
	struct mlx5_ib_create_qp request;
	int ret;

	if (qp->rwq_ind != NULL) /* mlx5/qp.c check_valid_flow() */
		return -EINVAL;
	/* The kernel makes it by itself, without rings. */
	if (qp->xrcd != NULL)
		return shca_qp_create_target(bundle->file, qp);
	if (qp->type == IB_UVERBS_QPT_XRC_INI)
		qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
	ret = check_request(bundle->file, qp, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN),
		qp->type == IB_UVERBS_QPT_RC ? SHCA_QP_RC_DRIVER_FLAGS : SHCA_QP_ROCE_DRIVER_FLAGS,
		&request);
	if (ret != 0)
		return ret;
	shca_qp_note_rq(qp, &request);
	return shca_qp_create_roce(bundle->file, qp, &request);
}

static int
answer_create(const struct shca_bundle *bundle, const struct shca_qp_object *qp)
{
	/* The response's other numbers are for DevX contexts; their mask bits stay clear. */
	const struct mlx5_ib_create_qp_resp driver_response = {
		.bfreg_index = qp->bfreg != SHCA_BFREG_NONE ? shca_bfreg_index(qp->bfreg) : 0,
	};
	uint32_t number = 0;
	int ret;

	if (qp->roce != NULL)
		number = shca_roce_qp_number(qp->roce);
	else if (qp->sq != NULL)
		number = shca_sq_number(qp->sq);
	else if (qp->rq != NULL)
		number = shca_rq_number(qp->rq);
	ret = shca_ioctl_out(bundle, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &number, sizeof(number));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_UHW_OUT, &driver_response, sizeof(driver_response));
	return ret;
}

static void
use_others(const struct shca_bundle *bundle, struct shca_qp_object *qp)
{
	static uint64_t last_serial;

	qp->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	shca_qp_others_use(qp);
	qp->async = shca_eventq_get_async(
		bundle->file, shca_ioctl_eventq(bundle, UVERBS_ATTR_CREATE_QP_EVENT_FD));
}

/** @return whether there is room for the driver's answer to a hash QP, of which the first number
 * must have some; other QPs' answers are cut (mlx5/qp.c process_udata_size()). */
static bool
has_room(const struct shca_bundle *bundle, const struct shca_qp_object *qp)
{
	return qp->rwq_ind == NULL ||
		shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_OUT)->length >=
		offsetof(struct mlx5_ib_create_qp_resp, bfreg_index) + sizeof(__u32);
}

static int
create(struct shca_bundle *bundle)
{
	struct shca_qp_object *qp = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_HANDLE);
	const uint64_t flags = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_QP_FLAGS);
	int ret = shca_qp_others_take(bundle, qp);

	if (ret == 0)
		ret = check_flags(bundle->file->model, qp->type, flags);
	if (ret == 0)
		ret = check_source(bundle, qp);
	if (ret == 0 && (!has_right_srq(qp) || !has_room(bundle, qp)))
		ret = -EINVAL;
	if (ret != 0)
		return ret;
	qp->object.user_handle = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	qp->bfreg = SHCA_BFREG_NONE;
	qp->signal_all = (flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0;
	qp->blocks_own = (flags & IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK) != 0;
	qp->state = IBV_QPS_RESET;
	if (shca_qp_is_roce(qp->type))
		ret = create_roce(bundle, qp);
	else if (qp->rwq_ind != NULL)
		ret = create_hash(bundle, qp, flags);
	else
		ret = create_raw(bundle, qp, flags);
	if (ret == 0)
		ret = answer_create(bundle, qp);
	if (ret != 0) {
		destroy_queues(qp);
		shca_bfreg_put(&bundle->file->bfregs, qp->bfreg);
		return ret;
	}
	use_others(bundle, qp);
	return 0;
}

static int
answer_destroy(struct shca_bundle *bundle)
{
	const struct shca_qp_object *qp = shca_ioctl_object(bundle, UVERBS_ATTR_DESTROY_QP_HANDLE);

	return shca_ioctl_out(bundle, UVERBS_ATTR_DESTROY_QP_RESP, &qp->nb_async_events,
		sizeof(qp->nb_async_events));
}

/* clang-format off */
static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(UVERBS_ATTR_CREATE_QP_HANDLE, &shca_qp_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_PD_HANDLE, &shca_pd_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, &shca_cq_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, &shca_cq_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, &shca_rwq_ind_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, &shca_srq_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &shca_xrcd_class),
	SHCA_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8),
	SHCA_IN_MANDATORY(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap), SHCA_ANY_BYTES),
	SHCA_IN(UVERBS_ATTR_CREATE_QP_TYPE, 8),
	SHCA_FLAGS(UVERBS_ATTR_CREATE_QP_FLAGS, KNOWN_FLAGS),
	SHCA_IN_OPTIONAL(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, 4),
	SHCA_FD_OPTIONAL(UVERBS_ATTR_CREATE_QP_EVENT_FD, SHCA_EVENTQ_ASYNC),
	SHCA_OUT_LEAST(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
	SHCA_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
	SHCA_UHW,
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_QP_HANDLE, &shca_qp_class),
	SHCA_OUT(UVERBS_ATTR_DESTROY_QP_RESP, 4),
};

const struct shca_method shca_qp_methods[] = {
	{ UVERBS_METHOD_QP_CREATE, SHCA_ROWS(create_rows), .handler = create },
	{ UVERBS_METHOD_QP_DESTROY, SHCA_ROWS(destroy_rows), .handler = answer_destroy },
	{ 0 },
};
/* clang-format on */
