/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: nldev.c fill_res_info(), fill_res_*_entry(). A process sees its own, of which alone its
 * device knows. */
#include "nldev/res.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "abi/core/caps.h"
#include "abi/entry/restrack.h"
#include "config/options.h"
#include "nldev/call.h"
#include "nldev/cm_id.h"

/** For the last entry of a list, and what follows it. */
#define ROOM_BEHIND 64

/** Put the members of one object. */
typedef void (*put_fn)(struct shca_nldev_call *call, const struct shca_restrack *object);

static void
put_pd(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	struct nlmsghdr *message = call->message;

	/* The kernel has a key for its own domains; of a program's it tells 0. */
	if (shca_caps_has(CAP_NET_ADMIN))
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, 0);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_RES_USECNT, object->nb_users);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_CTXN, object->ctxn);
}

static void
put_cq(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	struct nlmsghdr *message = call->message;

	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_CQE, object->cqe);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_RES_USECNT, object->nb_users);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_CTXN, object->ctxn);
}

/** fill_res_qp_entry(), fill_res_qp_entry_query() */
static void
put_qp(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	struct nlmsghdr *message = call->message;
	const bool is_connected = object->qp_type == IBV_QPT_RC || object->qp_type == IBV_QPT_UC;
	const bool is_xrc =
		object->qp_type == IBV_QPT_XRC_SEND || object->qp_type == IBV_QPT_XRC_RECV;

	if (object->port != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, object->port);
	if (object->pdn != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PDN, object->pdn);
	if (is_connected) {
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_RQPN, object->rqpn);
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_RQ_PSN, object->rq_psn);
	}
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_SQ_PSN, object->sq_psn);
	if (is_connected || is_xrc)
		mnl_attr_put_u8(
			message, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, object->path_mig_state);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_TYPE, object->qp_type);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_STATE, object->qp_state);
}

static void
put_mr(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	struct nlmsghdr *message = call->message;

	if (shca_caps_has(CAP_NET_ADMIN)) {
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_RKEY, object->key);
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LKEY, object->key);
	}
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_RES_MRLEN, object->length);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PDN, object->pdn);
}

static void
put_ctx(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	(void)call;
	(void)object;
}

/** Numbers from @p first to @p last. */
static void
put_range(struct nlmsghdr *message, uint32_t first, uint32_t last)
{
	struct nlattr *entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (first == last) {
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, first);
	} else {
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_MIN_RANGE, first);
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	}
	mnl_attr_nest_end(message, entry);
}

/** fill_res_srq_qps(), as far as the message has room. */
static void
put_users(struct shca_nldev_call *call, uint32_t srqn)
{
	struct nlattr *table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_RES_QP);
	uint32_t first = 0, last = 0; /* 0 is no queue pair's */

	for (size_t i = 0;
		i < call->nb_qps && call->message->nlmsg_len < SHCA_NLDEV_MESSAGE_MAX - ROOM_BEHIND;
		i++) {
		const uint32_t qpn = call->qps[i].id;

		if (call->qps[i].srqn != srqn)
			continue;
		if (first != 0 && qpn != last + 1)
			put_range(call->message, first, last);
		first = first != 0 && qpn == last + 1 ? first : qpn;
		last = qpn;
	}
	if (first != 0)
		put_range(call->message, first, last);
	mnl_attr_nest_end(call->message, table);
}

/** fill_res_srq_entry() */
static void
put_srq(struct shca_nldev_call *call, const struct shca_restrack *object)
{
	mnl_attr_put_u8(call->message, RDMA_NLDEV_ATTR_RES_TYPE,
		object->cqn != 0 ? IB_UVERBS_SRQT_XRC : IB_UVERBS_SRQT_BASIC);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_RES_PDN, object->pdn);
	if (object->cqn != 0)
		mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_RES_CQN, object->cqn);
	put_users(call, object->id);
}

/* clang-format off */
static const struct res_row {
	uint16_t command;
	enum shca_restrack_type type; /**< SHCA_RESTRACK_NB: cm_id.c's */
	const char *name;
	uint16_t table, entry, id; /**< attributes; 0: there are none */
	put_fn put; /**< NULL: there is nothing but the number */
} res_rows[] = {
	/* In the order of enum rdma_restrack_type. */
	{ RDMA_NLDEV_CMD_RES_PD_GET, SHCA_RESTRACK_PD, "pd", RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
		RDMA_NLDEV_ATTR_RES_PDN, put_pd },
	{ RDMA_NLDEV_CMD_RES_CQ_GET, SHCA_RESTRACK_CQ, "cq", RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
		RDMA_NLDEV_ATTR_RES_CQN, put_cq },
	{ RDMA_NLDEV_CMD_RES_QP_GET, SHCA_RESTRACK_QP, "qp", RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
		RDMA_NLDEV_ATTR_RES_LQPN, put_qp },
	{ RDMA_NLDEV_CMD_RES_CM_ID_GET, SHCA_RESTRACK_NB, "cm_id", 0, 0, 0, NULL },
	{ RDMA_NLDEV_CMD_RES_MR_GET, SHCA_RESTRACK_MR, "mr", RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
		RDMA_NLDEV_ATTR_RES_MRN, put_mr },
	{ RDMA_NLDEV_CMD_RES_CTX_GET, SHCA_RESTRACK_CTX, "ctx", RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
		RDMA_NLDEV_ATTR_RES_CTXN, put_ctx },
	{ RDMA_NLDEV_CMD_RES_SRQ_GET, SHCA_RESTRACK_SRQ, "srq", RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
		RDMA_NLDEV_ATTR_RES_SRQN, put_srq },
};
/** What has counters of its own besides queue pairs, which are not listed one by one: of a region without on-demand
 * paging fill_stat_mr_entry() tells that it is there. */
static const struct res_row counted_row = { RDMA_NLDEV_CMD_STAT_GET, SHCA_RESTRACK_MR, NULL, RDMA_NLDEV_ATTR_RES_MR,
	RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRN, NULL };
/* clang-format on */
#define NB_ROWS (sizeof(res_rows) / sizeof(res_rows[0]))

/** @return the command that lists the objects of one of raw content. */
static unsigned int
listing_of(unsigned int command)
{
	switch (command) {
	case RDMA_NLDEV_CMD_RES_CQ_GET_RAW:
		return RDMA_NLDEV_CMD_RES_CQ_GET;
	case RDMA_NLDEV_CMD_RES_QP_GET_RAW:
		return RDMA_NLDEV_CMD_RES_QP_GET;
	case RDMA_NLDEV_CMD_RES_MR_GET_RAW:
		return RDMA_NLDEV_CMD_RES_MR_GET;
	default:
		return command;
	}
}

static const struct res_row *
row_of(const struct shca_nldev_call *call)
{
	const unsigned int command = listing_of(RDMA_NL_GET_OP(call->request->nlmsg_type));

	for (unsigned int i = 0; i < NB_ROWS; i++)
		if (res_rows[i].command == command)
			return &res_rows[i];
	return command == counted_row.command ? &counted_row : NULL;
}

/** List the objects. @param[out] objects to be freed @return 0 or -ENOMEM */
static int
list(const struct shca_nldev_call *call, unsigned int device, enum shca_restrack_type type,
	struct shca_restrack **objects, size_t *nb)
{
	struct shca_device *dev = call->nldev->device(call->nldev->arg, device);

	/* A process that has opened no node has no device. */
	if (dev != NULL)
		return shca_restrack_list(dev, type, objects, nb);
	*objects = NULL;
	*nb = 0;
	return 0;
}

static uint64_t
count(const struct shca_nldev_call *call, unsigned int device, enum shca_restrack_type type)
{
	struct shca_restrack *objects;
	size_t nb;

	if (type == SHCA_RESTRACK_NB)
		return shca_nldev_cm_id_count(call, device);
	if (list(call, device, type, &objects, &nb) != 0)
		return 0;
	free(objects);
	return nb;
}

static void
put_counts(const struct shca_nldev_call *call, unsigned int device)
{
	struct nlattr *table, *entry;

	shca_nldev_put_handle(call->message, device);
	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (unsigned int i = 0; i < NB_ROWS; i++) {
		entry = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		mnl_attr_put_strz(
			call->message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, res_rows[i].name);
		mnl_attr_put_u64(call->message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR,
			count(call, device, res_rows[i].type));
		mnl_attr_nest_end(call->message, entry);
	}
	mnl_attr_nest_end(call->message, table);
}

int
shca_nldev_res_count_doit(struct shca_nldev_call *call)
{
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0)
		put_counts(call, device);
	return ret;
}

int
shca_nldev_res_count_dump(struct shca_nldev_call *call, unsigned int index)
{
	if (index >= call->nldev->options->nb_ports)
		return 0;
	put_counts(call, index);
	return 1;
}

static void
put_object(
	struct shca_nldev_call *call, const struct res_row *row, const struct shca_restrack *object)
{
	mnl_attr_put_u32(call->message, row->id, object->id);
	if (row->put == NULL)
		return;
	row->put(call, object);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)object->pid);
}

static int
compare(const void *left, const void *right)
{
	const struct shca_restrack *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/** List what the answer is about. @return 0 or -ENOMEM */
static int
prepare(struct shca_nldev_call *call, unsigned int device, const struct res_row *row)
{
	int ret = list(call, device, row->type, &call->objects, &call->nb_objects);

	if (ret != 0 || row->type != SHCA_RESTRACK_SRQ)
		return ret;
	ret = list(call, device, SHCA_RESTRACK_QP, &call->qps, &call->nb_qps);
	if (call->nb_qps != 0)
		qsort(call->qps, call->nb_qps, sizeof(call->qps[0]), compare);
	return ret;
}

/** fill_res_qp_entry(): a queue pair that is at no port yet is not at the one asked for. */
static void
keep_port(struct shca_nldev_call *call)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	size_t nb = 0;

	if (port == NULL)
		return;
	for (size_t i = 0; i < call->nb_objects; i++)
		if (call->objects[i].port == mnl_attr_get_u32(port))
			call->objects[nb++] = call->objects[i];
	call->nb_objects = nb;
}

int
shca_nldev_res_doit(struct shca_nldev_call *call)
{
	const struct res_row *row = row_of(call);
	unsigned int device;
	uint32_t id, port;
	int ret = shca_nldev_find_place(call, row->type == SHCA_RESTRACK_QP, &device, &port);

	if (ret != 0 || call->attrs[row->id] == NULL)
		return -EINVAL;
	ret = prepare(call, device, row);
	if (ret != 0)
		return ret;
	id = mnl_attr_get_u32(call->attrs[row->id]);
	for (size_t i = 0; i < call->nb_objects; i++) {
		if (call->objects[i].id != id)
			continue;
		if (port != 0 && call->objects[i].port != port)
			return -EAGAIN;
		shca_nldev_put_handle(call->message, device);
		put_object(call, row, &call->objects[i]);
		return 0;
	}
	return -ENOENT;
}

int
shca_nldev_res_dump(struct shca_nldev_call *call, unsigned int index)
{
	const struct res_row *row = row_of(call);
	struct nlattr *table, *entry;
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	if (ret == 0 && index == 0) {
		ret = prepare(call, device, row);
		if (row->type == SHCA_RESTRACK_QP)
			keep_port(call);
	}
	if (ret != 0 || index >= call->nb_objects)
		return ret;
	shca_nldev_put_handle(call->message, device);
	table = mnl_attr_nest_start(call->message, row->table);
	entry = mnl_attr_nest_start(call->message, row->entry);
	put_object(call, row, &call->objects[index]);
	mnl_attr_nest_end(call->message, entry);
	mnl_attr_nest_end(call->message, table);
	return 1;
}

/** fill_res_*_raw_entry(): mlx5 has the firmware dump the object, or fails where that cannot
 * (mlx5_rsc_dump_cmd_create()). */
int
shca_nldev_res_raw_doit(struct shca_nldev_call *call)
{
	const int ret = shca_nldev_res_doit(call);

	return ret != 0 ? ret : -EOPNOTSUPP;
}

int
shca_nldev_res_raw_dump(struct shca_nldev_call *call, unsigned int index)
{
	const int ret = shca_nldev_res_dump(call, index);

	return ret <= 0 ? ret : -EOPNOTSUPP;
}
