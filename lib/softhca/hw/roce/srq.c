/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: WQEs in a list by index, whose oldest one is taken (libmlx5 srq.c). */
#include "hw/roce/srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/roce/roce_strict.h"
#include "hw/roce/state.h"

int
shca_srq_create(struct shca_device *dev, const struct shca_srq_attr *attr, struct shca_srq **out)
{
	struct shca_srq *srq;
	int ret;

	if (!shca_mem_can_pin(attr->dbrec, SHCA_DBREC_BYTES, false) ||
		!shca_mem_can_pin(attr->ring, (uint64_t)attr->nb_wqes * attr->stride_bytes, false))
		return -EFAULT;
	srq = calloc(1, sizeof(*srq));
	if (srq == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->srq_numbers, srq, &srq->number);
	if (ret != 0) {
		free(srq);
		return ret;
	}
	srq->dev = dev;
	srq->attr = *attr;
	*out = srq;
	return 0;
}

/**
 * Queue pairs that receive a message into a WQE of it fail: the WQE's memory, and the CQ where it
 * would complete, may go next. Only targets of XRC are concerned, which are no users of the SRQs
 * that their requests name; a basic SRQ stays as long as its queue pairs. No source
 * tells what a device does with the message; one that cannot go on ends its queue pair.
 */
static void
break_receivers(const struct shca_srq *srq)
{
	struct shca_roce_qp *qp;

	LIST_FOREACH (qp, &srq->dev->roce_qps, link) {
		if (!qp->rx_wqe.is_taken || qp->rx_wqe.srq != srq)
			continue;
		SHCA_WARN("QP 0x%x: its message was for SRQ 0x%x, which has been destroyed",
			qp->number, srq->number);
		qp->rx_wqe.is_taken = false;
		shca_roce_break(qp);
		shca_notify(qp->attr.event, qp->attr.owner, SHCA_EVENT_QP_FATAL);
	}
}

void
shca_srq_destroy(struct shca_srq *srq)
{
	if (srq == NULL)
		return;
	break_receivers(srq);
	shca_idtable_del(&srq->dev->srq_numbers, srq->number);
	free(srq);
}

uint32_t
shca_srq_number(const struct shca_srq *srq)
{
	return srq->number;
}

void
shca_srq_arm(struct shca_srq *srq, uint32_t limit)
{
	srq->limit = limit;
}

uint32_t
shca_srq_limit(const struct shca_srq *srq)
{
	return srq->limit;
}

static uint16_t
nb_posted(const struct shca_srq *srq)
{
	const uint16_t pi = (uint16_t)be32toh(
		__atomic_load_n(&srq->attr.dbrec[MLX5_RCV_DBR], __ATOMIC_ACQUIRE));

	return (uint16_t)(pi - srq->nb_taken);
}

/** The list leads out of the ring: nothing can be taken any more. */
static void
fail(struct shca_srq *srq, uint16_t next)
{
	SHCA_WARN("SRQ 0x%x: WQE %u is followed by %u, of %u", srq->number, srq->head, next,
		srq->attr.nb_wqes);
	srq->is_dead = true;
	shca_notify(srq->attr.event, srq->attr.owner, SHCA_EVENT_SRQ_ERR);
}

/** A counter beyond the ring: no WQE is valid. */
static void
fail_overrun(struct shca_srq *srq, uint16_t nb)
{
	SHCA_WARN("SRQ 0x%x: %u WQEs in a ring of %u", srq->number, nb, srq->attr.nb_wqes);
	if (shca_is_strict(srq->dev))
		shca_roce_strict_srq_overrun(srq);
	srq->is_dead = true;
	shca_notify(srq->attr.event, srq->attr.owner, SHCA_EVENT_SRQ_ERR);
}

bool
shca_srq_take(struct shca_srq *srq, struct shca_roce_rx_wqe *wqe)
{
	const uint8_t *at = srq->attr.ring + (size_t)srq->head * srq->attr.stride_bytes;
	struct mlx5_wqe_srq_next_seg next_seg;
	uint16_t nb, next;

	if (srq->is_dead)
		return false;
	nb = nb_posted(srq);
	if (nb > srq->attr.nb_wqes) {
		fail_overrun(srq, nb);
		return false;
	}
	if (nb == 0)
		return false;
	memcpy(&next_seg, at, sizeof(next_seg));
	next = be16toh(next_seg.next_wqe_index);
	if (next >= srq->attr.nb_wqes) {
		fail(srq, next);
		return false;
	}
	*wqe = (struct shca_roce_rx_wqe){
		.is_taken = true,
		.srq = srq,
		.index = srq->head,
		.pdn = srq->attr.pdn,
		.segments = at + sizeof(next_seg),
		.nb_segments = (uint32_t)((srq->attr.stride_bytes - sizeof(next_seg)) /
			sizeof(struct mlx5_wqe_data_seg)),
	};
	srq->head = next;
	srq->nb_taken++;
	/* IBTA 11.6.3.1, SRQ limit reached: once, until it is armed again. */
	if (nb - 1u < srq->limit) {
		srq->limit = 0;
		shca_notify(srq->attr.event, srq->attr.owner, SHCA_EVENT_SRQ_LIMIT_REACHED);
	}
	return true;
}
