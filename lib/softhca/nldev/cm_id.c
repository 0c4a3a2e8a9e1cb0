/* SPDX-License-Identifier: BSD-3-Clause */
/* nldev.c fill_res_cm_id_entry() */
#include "nldev/cm_id.h"

#include <errno.h>
#include <stdlib.h>

#include "nldev/call.h"
#include "ucma/ucma.h"

/** @param port 0: any */
static int
list(const struct shca_nldev_call *call, unsigned int device, uint32_t port,
	struct shca_ucma_tracked **ids, size_t *nb)
{
	*ids = NULL;
	*nb = 0;
	return call->nldev->ucma != NULL ? shca_ucma_track(call->nldev->ucma, device, port, ids, nb)
					 : 0;
}

size_t
shca_nldev_cm_id_count(const struct shca_nldev_call *call, unsigned int device)
{
	struct shca_ucma_tracked *ids;
	size_t nb;

	if (list(call, device, 0, &ids, &nb) != 0)
		return 0;
	free(ids);
	return nb;
}

static void
put(struct nlmsghdr *message, const struct shca_ucma_tracked *id)
{
	if (id->port != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, id->port);
	if (id->qpn != 0) {
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, id->qpn);
		mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_TYPE, id->qp_type);
	}
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PS, id->space);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_STATE, id->state);
	if (id->src.ss_family != 0)
		mnl_attr_put(message, RDMA_NLDEV_ATTR_RES_SRC_ADDR, sizeof(id->src), &id->src);
	if (id->dst.ss_family != 0)
		mnl_attr_put(message, RDMA_NLDEV_ATTR_RES_DST_ADDR, sizeof(id->dst), &id->dst);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_CM_IDN, id->number);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)id->pid);
}

int
shca_nldev_cm_id_doit(struct shca_nldev_call *call)
{
	const struct nlattr *number = call->attrs[RDMA_NLDEV_ATTR_RES_CM_IDN];
	unsigned int device;
	uint32_t port;
	int ret = shca_nldev_find_place(call, true, &device, &port);

	if (ret != 0 || number == NULL)
		return -EINVAL;
	ret = list(call, device, 0, &call->cm_ids, &call->nb_cm_ids);
	for (size_t i = 0; i < call->nb_cm_ids; i++) {
		if (call->cm_ids[i].number != mnl_attr_get_u32(number))
			continue;
		if (call->cm_ids[i].port != port)
			return -EAGAIN;
		shca_nldev_put_handle(call->message, device);
		put(call->message, &call->cm_ids[i]);
		return 0;
	}
	return ret != 0 ? ret : -ENOENT;
}

int
shca_nldev_cm_id_dump(struct shca_nldev_call *call, unsigned int index)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	struct nlattr *table, *entry;
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	if (ret == 0 && index == 0)
		ret = list(call, device, port != NULL ? mnl_attr_get_u32(port) : 0, &call->cm_ids,
			&call->nb_cm_ids);
	if (ret != 0 || index >= call->nb_cm_ids)
		return ret;
	shca_nldev_put_handle(call->message, device);
	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_RES_CM_ID);
	entry = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	put(call->message, &call->cm_ids[index]);
	mnl_attr_nest_end(call->message, entry);
	mnl_attr_nest_end(call->message, table);
	return 1;
}
