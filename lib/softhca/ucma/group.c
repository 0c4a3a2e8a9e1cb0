/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups: core/ucma.c ucma_process_join(), core/cma.c cma_iboe_join_multicast(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ucma/ucm_command.h"
#include "ucma/connect.h"

/** Volume 1, 11.4.3.1: packets to a group are for this number. */
#define MULTICAST_QPN 0xffffff
/** Linux's own, which no user header has (include/linux/errno.h). */
#define ENOTSUPP 524

/** cma_iboe_set_mgid(): an IPv6 group's address is the GID; an IPv4 one's is mapped for RoCE v2,
 * and in ff0e::/16 for v1. */
static void
put_mgid(const struct shca_id *id, const struct shca_address *address, uint8_t mgid[16])
{
	shca_address_to_gid(address, mgid);
	if (address->any.sa_family == AF_INET && !id->gid.is_v2) {
		mgid[0] = 0xff;
		mgid[1] = 0x0e;
	}
}

static int
tell(struct shca_id *id, struct shca_ucma_group *group)
{
	struct shca_ucma_event *event = shca_ucm_event_make(id, SHCA_UCM_MULTICAST_JOIN, 0);
	struct rdma_ucm_ud_param *param;
	uint8_t mgid[SHCA_UCMA_GID_BYTES];

	if (event == NULL)
		return -ENOMEM;
	event->group = group;
	event->answer.uid = group->uid;
	event->answer.id = group->number;
	param = &event->answer.param.ud;
	put_mgid(id, &group->address, mgid);
	shca_connect_way(id, mgid, &param->ah_attr);
	/* cma_iboe_join_multicast(): by RoCE v1 no router is passed */
	if (!id->gid.is_v2)
		param->ah_attr.grh.hop_limit = 1;
	param->qp_num = MULTICAST_QPN;
	param->qkey = id->qkey;
	shca_ucm_event_queue(event);
	return 0;
}

/** What both commands have. */
struct wish {
	uint64_t response, uid;
	uint32_t id;
	struct shca_address address;
};

static int
join(struct shca_ucma_call *call, const struct wish *wish)
{
	struct rdma_ucm_create_id_resp answer;
	struct shca_ucma_group *group;
	struct shca_id *id;
	int ret = shca_id_find(call->file, wish->id, &id);

	if (ret != 0)
		return ret;
	/* rdma_join_multicast() */
	if (!id->has_gid || (id->state != SHCA_ID_BOUND && id->state != SHCA_ID_ADDR_RESOLVED) ||
		!shca_id_is_ud(id) || !shca_address_is_multicast(&wish->address))
		return -EINVAL;
	/* cma_iboe_join_multicast() has IGMP for RoCE v2, and nothing for IPv6 */
	if (wish->address.any.sa_family != AF_INET && id->gid.is_v2)
		return -ENOTSUPP;
	group = calloc(1, sizeof(*group));
	if (group == NULL)
		return -ENOMEM;
	group->id = id;
	group->uid = wish->uid;
	group->address = wish->address;
	ret = shca_idtable_add(&call->file->ucma->groups, group, &group->number);
	if (ret != 0)
		goto free_group;
	answer.id = group->number;
	ret = shca_ucm_answer(call, wish->response, &answer, sizeof(answer));
	if (ret != 0)
		goto del_number;
	if (id->qkey == 0)
		id->qkey = SHCA_ADDRESS_QKEY;
	LIST_INSERT_HEAD(&id->groups, group, link);
	ret = tell(id, group);
	if (ret == 0)
		return 0;
	LIST_REMOVE(group, link);
del_number:
	shca_idtable_del(&call->file->ucma->groups, group->number);
free_group:
	free(group);
	return ret;
}

int
shca_group_join_ip(struct shca_ucma_call *call)
{
	const struct rdma_ucm_join_ip_mcast *command = call->in;
	struct wish wish = {
		.response = command->response,
		.uid = command->uid,
		.id = command->id,
	};

	memcpy(&wish.address, &command->addr, sizeof(command->addr));
	if (shca_address_size(&wish.address) == 0 || wish.address.any.sa_family == AF_IB)
		return -EINVAL;
	return join(call, &wish);
}

int
shca_group_join(struct shca_ucma_call *call)
{
	const struct rdma_ucm_join_mcast *command = call->in;
	struct wish wish = {
		.response = command->response,
		.uid = command->uid,
		.id = command->id,
	};

	memcpy(&wish.address, &command->addr, sizeof(command->addr));
	if (command->addr_size == 0 || command->addr_size != shca_address_size(&wish.address) ||
		command->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	return join(call, &wish);
}

int
shca_group_leave(struct shca_ucma_call *call)
{
	const struct rdma_ucm_destroy_id *command = call->in;
	struct rdma_ucm_destroy_id_resp answer;
	struct shca_ucma *ucma = call->file->ucma;
	struct shca_ucma_group *group = shca_idtable_get(&ucma->groups, command->id);

	if (group == NULL)
		return -ENOENT;
	if (group->id->file != call->file)
		return -EINVAL;
	if (group->id->state == SHCA_ID_REMOVED)
		return -ENXIO;
	(void)shca_ucm_event_drop(group->id, group);
	answer.events_reported = group->nb_reported;
	LIST_REMOVE(group, link);
	shca_idtable_del(&ucma->groups, group->number);
	free(group);
	return shca_ucm_answer(call, command->response, &answer, sizeof(answer));
}
