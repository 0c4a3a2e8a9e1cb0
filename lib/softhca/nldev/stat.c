/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: nldev.c stat_get_doit_default_counter(), stat_get_doit_qp(). No queue pair has counters
 * of its own here, so all are counted by their port's. */
#include "nldev/stat.h"

#include <errno.h>
#include <stdbool.h>

#include <linux/capability.h>

#include "abi/core/caps.h"
#include "nldev/call.h"
#include "sysfs/tree.h"

static int
put_counters(const struct shca_nldev_call *call, unsigned int device, uint32_t number)
{
	struct nlattr *table, *entry;
	uint64_t value;
	int ret = 0;

	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; shca_tree_counters[i] != NULL && ret == 0; i++) {
		ret = shca_tree_get_counter(
			call->nldev->dir, device, number, shca_tree_counters[i], &value);
		if (ret != 0)
			break;
		entry = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		mnl_attr_put_strz(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			shca_tree_counters[i]);
		mnl_attr_put_u64(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
		mnl_attr_nest_end(call->message, entry);
	}
	mnl_attr_nest_end(call->message, table);
	return ret;
}

/** @return whether the request is about queue pairs: the kernel counts memory regions, too, which
 * have counters with on-demand paging alone. */
static bool
is_of_qps(const struct shca_nldev_call *call)
{
	const struct nlattr *type = call->attrs[RDMA_NLDEV_ATTR_STAT_RES];

	return type != NULL && mnl_attr_get_u32(type) == RDMA_NLDEV_ATTR_RES_QP;
}

int
shca_nldev_stat_get_doit(struct shca_nldev_call *call)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0 && port == NULL)
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	if (ret != 0)
		return ret;
	if (call->attrs[RDMA_NLDEV_ATTR_STAT_RES] != NULL && !is_of_qps(call))
		return -EINVAL;
	/* A counter of a queue pair's own. */
	if (call->attrs[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] != NULL)
		return -ENOENT;
	shca_nldev_put_handle(call->message, device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, mnl_attr_get_u32(port));
	if (!is_of_qps(call))
		return put_counters(call, device, mnl_attr_get_u32(port));
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_NONE);
	return 0;
}

/** Of the counters of queue pairs, of which there are none. */
int
shca_nldev_stat_get_dump(struct shca_nldev_call *call, unsigned int index)
{
	(void)index;
	return is_of_qps(call) ? 0 : -EINVAL;
}

/** Binding queue pairs to counters of their own is for privileged users, and not modelled: as on a
 * device without such counters (core/counters.c rdma_counter_bind_qpn_alloc). */
int
shca_nldev_stat_set_doit(struct shca_nldev_call *call)
{
	unsigned int device;
	int ret;

	if (!shca_caps_has(CAP_NET_ADMIN))
		return -EPERM;
	ret = shca_nldev_find_device(call, &device);
	if (ret == 0 && call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX] == NULL)
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	return ret != 0 ? ret : -EOPNOTSUPP;
}
