/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs with a transport: creation. */
#include <errno.h>

#include "abi/qp/qp_roce.h"

#define WQEBB_BYTES 64

static const struct {
	uint8_t type;
	enum shca_roce_type roce;
} types[] = {
	{ IBV_QPT_RC, SHCA_ROCE_RC },
	{ IBV_QPT_UC, SHCA_ROCE_UC },
	{ IBV_QPT_UD, SHCA_ROCE_UD },
	{ IBV_QPT_XRC_SEND, SHCA_ROCE_XRC_INI },
	{ IBV_QPT_XRC_RECV, SHCA_ROCE_XRC_TGT },
};
#define NB_TYPES (sizeof(types) / sizeof(types[0]))

bool
shca_qp_is_roce(uint64_t type)
{
	for (size_t i = 0; i < NB_TYPES; i++)
		if (types[i].type == type)
			return true;
	return false;
}

static enum shca_roce_type
roce_type(uint8_t type)
{
	size_t i = 0;

	while (types[i].type != type)
		i++;
	return types[i].roce;
}

static void
on_event(void *owner, enum shca_event event)
{
	struct shca_qp_object *qp = owner;

	/* All that have it open are told (Linux core/verbs.c __ib_shared_qp_event_handler()). */
	do {
		if (shca_eventq_send_async(qp->async, qp->object.user_handle, event))
			qp->nb_async_events++;
		qp = qp->next_open;
	} while (qp != NULL && qp != owner);
}

int
shca_qp_create_target(struct shca_file *file, struct shca_qp_object *qp)
{
	const struct shca_roce_qp_attr attr = {
		.type = SHCA_ROCE_XRC_TGT,
		.xrcdn = qp->xrcd->xrcdn,
		.context = &file->context,
		.event = on_event,
		.owner = qp,
	};

	if (shca_gid_nb(file->dev) == 0)
		return -EOPNOTSUPP;
	qp->cap = (struct ib_uverbs_qp_cap){ 0 };
	return shca_roce_qp_create(file->dev, &attr, &qp->roce);
}

int
shca_qp_create_roce(
	struct shca_file *file, struct shca_qp_object *qp, const struct mlx5_ib_create_qp *request)
{
	const uint32_t nb_wqes = request->rq_wqe_count, shift = request->rq_wqe_shift;
	struct shca_roce_qp_attr attr;
	uint8_t *dbrec, *ring = NULL;
	uint64_t rq_bytes, sq_bytes;
	int ret;

	if (shca_gid_nb(file->dev) == 0)
		return -EOPNOTSUPP;
	if (nb_wqes == 0)
		qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
	/* One buffer: receive queue, then send queue (Linux hw/mlx5/qp.c _create_user_qp). */
	rq_bytes = (uint64_t)nb_wqes << shift;
	sq_bytes = (uint64_t)request->sq_wqe_count * WQEBB_BYTES;
	if ((nb_wqes & (nb_wqes - 1)) != 0)
		return -EINVAL;
	ret = shca_object_pin(&qp->object, request->db_addr, SHCA_DBREC_BYTES, false, &dbrec);
	if (ret == 0)
		ret = shca_object_pin(
			&qp->object, request->buf_addr, rq_bytes + sq_bytes, false, &ring);
	if (ret != 0)
		return ret;
	attr = (struct shca_roce_qp_attr){
		.type = roce_type(qp->type),
		.rq_ring = ring,
		.sq_ring = ring + rq_bytes,
		.dbrec = (__be32 *)(void *)dbrec,
		.nb_wqebbs = request->sq_wqe_count,
		.nb_wqes = nb_wqes,
		.stride_bytes = 1u << shift,
		.has_signature = (request->flags & MLX5_QP_FLAG_SIGNATURE) != 0,
		.signal_all = qp->signal_all,
		.blocks_own = qp->blocks_own,
		.pdn = qp->pd->pdn,
		.user_index = request->uidx,
		.max_send_wr = qp->cap.max_send_wr,
		.context = &file->context,
		.send_cq = qp->send_cq != NULL ? qp->send_cq->cq : NULL,
		.recv_cq = qp->recv_cq != NULL ? qp->recv_cq->cq : NULL,
		.srq = qp->srq != NULL ? qp->srq->srq : NULL,
		.event = on_event,
		.owner = qp,
	};
	ret = shca_roce_qp_create(file->dev, &attr, &qp->roce);
	if (ret == 0 &&
		(request->flags & (MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX)) == 0)
		qp->bfreg = shca_bfreg_get(&file->bfregs);
	return ret;
}
