/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN_QP (Linux core/uverbs_cmd.c ib_uverbs_open_qp()): an XRC target once more. */
#include <errno.h>

#include "abi/memory/classes.h"
#include "abi/object/commands.h"
#include "abi/qp/qp_share.h"

/** @return the one that has the queue pair, or NULL: no target of this domain has the number. */
static struct shca_qp_object *
find_target(const struct shca_file *file, const struct shca_xrcd_object *xrcd,
	const struct ib_uverbs_open_qp *request)
{
	if (request->qp_type != IB_UVERBS_QPT_XRC_TGT)
		return NULL;
	return shca_roce_qp_find_target(file->dev, request->qpn, xrcd->xrcdn);
}

int
shca_qp_write_open(struct shca_write *write)
{
	struct ib_uverbs_create_qp_resp response = { 0 };
	struct shca_object *object, *domain;
	struct ib_uverbs_open_qp request;
	struct shca_qp_object *qp, *owner;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret == 0)
		ret = shca_object_find(write->file, &shca_xrcd_class, request.pd_handle, &domain);
	if (ret != 0)
		return ret;
	owner = find_target(write->file, (struct shca_xrcd_object *)domain, &request);
	if (owner == NULL)
		return -EINVAL;
	ret = shca_object_reserve(write->file, &shca_qp_class, &object);
	if (ret != 0)
		return ret;
	response.qp_handle = object->handle;
	response.qpn = request.qpn;
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		shca_object_abort(write->file, object);
		return ret;
	}
	object->user_handle = request.user_handle;
	qp = (struct shca_qp_object *)object;
	qp->type = request.qp_type;
	qp->bfreg = SHCA_BFREG_NONE;
	qp->xrcd = (struct shca_xrcd_object *)domain;
	domain->nb_users++;
	qp->async = shca_eventq_get_async(write->file, NULL);
	shca_qp_share_join(qp, owner);
	shca_object_commit(write->file, object);
	return 0;
}
