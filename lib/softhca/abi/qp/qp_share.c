/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XRC targets that are open more than once, by files that have their domain in common: each has an
 * object of its own, and the queue pair goes when the last of them does (Linux core/verbs.c
 * ib_open_qp(), __ib_destroy_shared_qp()). One of the objects has the queue pair and its states.
 */
#include "abi/qp/qp_share.h"

void
shca_qp_share_join(struct shca_qp_object *qp, struct shca_qp_object *owner)
{
	qp->roce = owner->roce;
	qp->next_open = owner->next_open != NULL ? owner->next_open : owner;
	owner->next_open = qp;
}

/** The next one has the queue pair now, and all that is known of it. */
static void
hand_over(const struct shca_qp_object *from, struct shca_qp_object *to)
{
	to->roce_conf = from->roce_conf;
	to->dest = from->dest;
	to->state = from->state;
	to->port = from->port;
	to->serial = from->serial;
	to->init_serial = from->init_serial;
	to->init_counts = from->init_counts;
	shca_roce_qp_give(from->roce, &to->object.file->context, to);
}

void
shca_qp_share_leave(struct shca_qp_object *qp)
{
	struct shca_qp_object *next = qp->next_open, *last = qp;

	if (next == NULL)
		return;
	if (shca_qp_share_owner(qp) == qp)
		hand_over(qp, next);
	while (last->next_open != qp)
		last = last->next_open;
	last->next_open = last != next ? next : NULL;
	qp->next_open = NULL;
	qp->roce = NULL;
}
