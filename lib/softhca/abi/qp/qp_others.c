/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a request for a queue pair names, with the checks of the kernel's handler in their order
 * (Linux core/uverbs_std_types_qp.c UVERBS_METHOD_QP_CREATE). All of it is optional in the frame,
 * so what a type lacks is missing here: -ENOENT, which the write interface makes -EINVAL.
 */
#include "abi/qp/qp_others.h"

#include <errno.h>
#include <linux/capability.h>

#include "abi/core/caps.h"
#include "abi/qp/qp_roce.h"

static int
check_type(uint64_t type)
{
	if (type == IB_UVERBS_QPT_RAW_PACKET)
		return shca_caps_has(CAP_NET_RAW) ? 0 : -EPERM;
	return shca_qp_is_roce(type) || type == IB_UVERBS_QPT_DRIVER ? 0 : -EINVAL;
}

static int
check_target(const struct shca_qp_object *qp)
{
	if (qp->pd != NULL || qp->send_cq != NULL || qp->recv_cq != NULL || qp->rwq_ind != NULL)
		return -EINVAL;
	return qp->xrcd != NULL ? 0 : -ENOENT;
}

/** A hash QP sends where it has asked for that. */
static int
check_hash(struct shca_qp_object *qp)
{
	if (qp->cap.max_recv_wr != 0 || qp->cap.max_recv_sge != 0 || qp->recv_cq != NULL ||
		qp->srq != NULL)
		return -EINVAL;
	if (qp->cap.max_send_wr == 0)
		qp->send_cq = NULL;
	else if (qp->send_cq == NULL)
		return -ENOENT;
	return 0;
}

static int
check_others(struct shca_qp_object *qp)
{
	const bool is_initiator = qp->type == IB_UVERBS_QPT_XRC_INI;

	if (qp->type == IB_UVERBS_QPT_XRC_TGT)
		return check_target(qp);
	if (qp->xrcd != NULL || (qp->srq != NULL && is_initiator))
		return -EINVAL;
	if (qp->pd == NULL)
		return -ENOENT;
	if (qp->rwq_ind != NULL)
		return check_hash(qp);
	if (is_initiator)
		qp->recv_cq = NULL;
	return qp->send_cq != NULL && (qp->recv_cq != NULL || is_initiator) ? 0 : -ENOENT;
}

int
shca_qp_others_take(const struct shca_bundle *bundle, struct shca_qp_object *qp)
{
	const uint64_t type = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_QP_TYPE);
	int ret = shca_user_read_known(
		shca_ioctl_buffer(bundle, UVERBS_ATTR_CREATE_QP_CAP), &qp->cap, sizeof(qp->cap));

	if (ret == 0)
		ret = check_type(type);
	if (ret != 0)
		return ret;
	qp->type = (uint8_t)type;
	qp->pd = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	qp->send_cq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	qp->recv_cq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	qp->rwq_ind = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	qp->srq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	qp->xrcd = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
	return check_others(qp);
}

#define OTHER(member) (qp->member != NULL ? &qp->member->object : NULL)

static void
add_user(const struct shca_qp_object *qp, int nb)
{
	struct shca_object *const others[] = { OTHER(pd), OTHER(xrcd), OTHER(send_cq),
		OTHER(recv_cq), OTHER(rwq_ind), OTHER(srq) };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] != NULL)
			others[i]->nb_users += (uint32_t)nb;
}

void
shca_qp_others_use(struct shca_qp_object *qp)
{
	add_user(qp, 1);
}

void
shca_qp_others_leave(struct shca_qp_object *qp)
{
	add_user(qp, -1);
}
