/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a type: the class of its objects, and what is told of one. */
#include "abi/entry/restrack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "abi/core/object.h"
#include "abi/memory/classes.h"
#include "abi/entry/file.h"
#include "abi/object/commands.h"
#include "abi/qp/qp_roce.h"
#include "base/mem.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/roce/count.h"
#include "hw/roce/srq.h"

/** @return whether the object is tracked. */
typedef bool (*describe_fn)(const struct shca_object *object, struct shca_restrack *out);

static bool
describe_pd(const struct shca_object *object, struct shca_restrack *out)
{
	out->id = ((const struct shca_pd_object *)object)->pdn;
	return true;
}

static bool
describe_cq(const struct shca_object *object, struct shca_restrack *out)
{
	const struct shca_cq_object *cq = (const struct shca_cq_object *)object;

	out->id = shca_cq_number(cq->cq);
	/* ib_cq.cqe, which mlx5_ib sets to one less than the ring has (hw/mlx5/cq.c). */
	out->cqe = cq->nb_cqes - 1;
	return true;
}

static void
describe_roce(const struct shca_qp_object *qp, struct shca_restrack *out)
{
	struct ib_uverbs_query_qp_resp response = { 0 };

	shca_qp_query_roce(qp, &response);
	out->id = shca_roce_qp_number(qp->roce);
	out->qp_type = qp->type;
	out->qp_state = response.qp_state;
	out->rqpn = response.dest_qp_num;
	out->sq_psn = response.sq_psn;
	out->rq_psn = response.rq_psn;
	out->path_mig_state = response.path_mig_state;
}

/** A hash QP has the number 0, of which the kernel tracks none but the first. */
static bool
describe_qp(const struct shca_object *object, struct shca_restrack *out)
{
	const struct shca_qp_object *qp = (const struct shca_qp_object *)object;

	if (qp->sq == NULL && qp->rq == NULL && qp->roce == NULL)
		return false;
	/* An XRC target is tracked once, whoever has it open. */
	if (qp->roce != NULL && shca_roce_qp_owner(qp->roce) != qp)
		return false;
	/* An XRC target has no domain. */
	out->pdn = qp->pd != NULL ? qp->pd->pdn : 0;
	out->srqn = qp->srq != NULL ? shca_srq_number(qp->srq->srq) : 0;
	out->port = qp->port;
	out->serial = qp->serial;
	out->init_serial = qp->init_serial;
	out->init_counts = qp->init_counts;
	shca_qp_counts(qp, &out->counts);
	if (qp->roce != NULL) {
		describe_roce(qp, out);
		return true;
	}
	out->id = qp->sq != NULL ? shca_sq_number(qp->sq) : shca_rq_number(qp->rq);
	out->qp_type = IBV_QPT_RAW_PACKET;
	out->qp_state = qp->state;
	return true;
}

static bool
describe_mr(const struct shca_object *object, struct shca_restrack *out)
{
	const struct shca_mr_object *mr = (const struct shca_mr_object *)object;

	out->id = mr->mr->lkey >> SHCA_MEM_LKEY_INDEX_SHIFT;
	out->pdn = mr->pd->pdn;
	out->key = mr->mr->lkey;
	out->length = mr->mr->length;
	return true;
}

static bool
describe_srq(const struct shca_object *object, struct shca_restrack *out)
{
	const struct shca_srq_object *srq = (const struct shca_srq_object *)object;

	out->id = shca_srq_number(srq->srq);
	out->pdn = srq->pd->pdn;
	out->cqn = srq->cq != NULL ? shca_cq_number(srq->cq->cq) : 0;
	return true;
}

static const struct {
	const struct shca_object_class *class;
	describe_fn describe;
} restrack_rows[SHCA_RESTRACK_CTX] = {
	[SHCA_RESTRACK_PD] = { &shca_pd_class, describe_pd },
	[SHCA_RESTRACK_CQ] = { &shca_cq_class, describe_cq },
	[SHCA_RESTRACK_QP] = { &shca_qp_class, describe_qp },
	[SHCA_RESTRACK_MR] = { &shca_mr_class, describe_mr },
	[SHCA_RESTRACK_SRQ] = { &shca_srq_class, describe_srq },
};

struct list {
	enum shca_restrack_type type;
	struct shca_restrack *object;
	size_t nb;
	bool is_short; /* of memory */
};

/** The room doubles when it is full. */
static void
add(struct list *list, const struct shca_restrack *object)
{
	struct shca_restrack *more;

	if ((list->nb & (list->nb - 1)) == 0) {
		more = reallocarray(
			list->object, list->nb == 0 ? 1 : 2 * list->nb, sizeof(*list->object));
		if (more == NULL) {
			list->is_short = true;
			return;
		}
		list->object = more;
	}
	list->object[list->nb++] = *object;
}

static void
list_file(struct shca_file *file, void *arg)
{
	struct list *list = arg;
	struct shca_restrack one = { .id = file->context.ctxn, .pid = file->context.pid };
	const struct shca_object *object;

	if (!file->has_context || list->is_short)
		return;
	if (list->type == SHCA_RESTRACK_CTX) {
		add(list, &one);
		return;
	}
	TAILQ_FOREACH_REVERSE(object, &file->objects, shca_object_list, link)
	{
		if (object->class != restrack_rows[list->type].class || list->is_short)
			continue;
		one = (struct shca_restrack){
			.ctxn = file->context.ctxn,
			.pid = file->context.pid,
			.nb_users = object->nb_users,
		};
		if (restrack_rows[list->type].describe(object, &one))
			add(list, &one);
	}
}

uint64_t
shca_restrack_init_serial(void)
{
	return shca_qp_last_init();
}

int
shca_restrack_list(struct shca_device *dev, enum shca_restrack_type type,
	struct shca_restrack **objects, size_t *nb)
{
	struct list list = { .type = type };

	*objects = NULL;
	*nb = 0;
	shca_file_each(dev, list_file, &list);
	if (list.is_short) {
		free(list.object);
		return -ENOMEM;
	}
	*objects = list.object;
	*nb = list.nb;
	return 0;
}

uint64_t
shca_restrack_count(const struct shca_qp_counts *counts, const char *name)
{
	if (strcmp(name, "out_of_buffer") == 0)
		return counts->out_of_buffer;
	for (unsigned int i = 0; i < SHCA_NB_ROCE_COUNTS; i++)
		if (strcmp(name, shca_roce_count_names[i]) == 0)
			return counts->roce[i];
	return 0;
}
