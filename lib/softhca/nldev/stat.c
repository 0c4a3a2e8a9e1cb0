/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of ports, and those that queue pairs are bound to: nldev.c
 * stat_get_doit_default_counter(), fill_res_counter_entry(), nldev_stat_set_mode_doit(),
 * nldev_stat_del_doit(). */
#include "nldev/stat.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "config/options.h"
#include "nldev/call.h"
#include "nldev/counter.h"
#include "nldev/res.h"
#include "sysfs/paths.h"
#include "sysfs/tree.h"

/** A counter of most queue pairs is the largest message: nobody looks for room in it. What ports
 * alone count is not in it (is_of_port()), but has room. */
#define ATTR_BYTES(length) (MNL_ATTR_HDRLEN + MNL_ALIGN(length))
#define VALUE_BYTES(name)  ATTR_BYTES(ATTR_BYTES(sizeof(name)) + ATTR_BYTES(sizeof(uint64_t)))
#define ADD_VALUE(name)    +VALUE_BYTES(name)
#define NUMBERS_BYTES(nb)  ((nb)*ATTR_BYTES(sizeof(uint32_t)))
#define DEVICE_NAME_BYTES  ATTR_BYTES(sizeof("mlx5_4294967295"))
static_assert(MNL_NLMSG_HDRLEN + NUMBERS_BYTES(1) + DEVICE_NAME_BYTES + 2 * ATTR_BYTES(0) +
			NUMBERS_BYTES(5) +
			ATTR_BYTES(SHCA_COUNTER_QPS_MAX * ATTR_BYTES(NUMBERS_BYTES(1))) +
			ATTR_BYTES(
				VALUE_BYTES("out_of_buffer") SHCA_TREE_ROCE_COUNTERS(ADD_VALUE)) <=
		SHCA_NLDEV_MESSAGE_MAX,
	"a message of a counter has all its queue pairs");

static void
put_value(struct nlmsghdr *message, const char *name, uint64_t value)
{
	struct nlattr *entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	mnl_attr_nest_end(message, entry);
}

/** The counters of a port, as sysfs has them. */
static int
put_port_counters(const struct shca_nldev_call *call, unsigned int device, uint32_t number)
{
	struct nlattr *table;
	uint64_t value;
	int ret = 0;

	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; shca_tree_counters[i] != NULL && ret == 0; i++) {
		ret = shca_tree_get_counter(
			call->nldev->dir, device, number, shca_tree_counters[i], &value);
		if (ret == 0)
			put_value(call->message, shca_tree_counters[i], value);
	}
	mnl_attr_nest_end(call->message, table);
	return ret;
}

/** Congestion and encapsulation are counted by port alone (mlx5_ib counters.c
 * mlx5_ib_counter_alloc_stats). */
static bool
is_of_port(const char *name)
{
	return strncmp(name, "rp_", 3) == 0 || strncmp(name, "np_", 3) == 0 ||
		strncmp(name, "rx_icrc", 7) == 0;
}

/** As nldev.c fill_stat_counter_mode(). */
static void
put_mode(struct nlmsghdr *message, const struct shca_counter *counter)
{
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_MODE,
		counter->auto_mask != 0 ? RDMA_COUNTER_MODE_AUTO : RDMA_COUNTER_MODE_MANUAL);
	if (counter->auto_mask & RDMA_COUNTER_MASK_QP_TYPE)
		mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_TYPE, counter->qp_type);
	if (counter->auto_mask & RDMA_COUNTER_MASK_PID)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)counter->pid);
}

static void
put_counter(struct nlmsghdr *message, const struct shca_counter *counter)
{
	struct nlattr *table, *entry;

	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, counter->port);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter->id);
	put_mode(message, counter);
	table = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_RES_QP);
	for (unsigned int i = 0; i < counter->nb_qps; i++) {
		entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, counter->qpn[i]);
		mnl_attr_nest_end(message, entry);
	}
	mnl_attr_nest_end(message, table);
	table = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; shca_tree_counters[i] != NULL; i++)
		if (!is_of_port(shca_tree_counters[i]))
			put_value(message, shca_tree_counters[i],
				shca_restrack_count(&counter->counts, shca_tree_counters[i]));
	mnl_attr_nest_end(message, table);
}

/** @return whether the request is about the counters of objects of a type. */
static bool
is_of(const struct shca_nldev_call *call, uint32_t wanted)
{
	const struct nlattr *type = call->attrs[RDMA_NLDEV_ATTR_STAT_RES];

	return type != NULL && mnl_attr_get_u32(type) == wanted;
}

static bool
is_of_qps(const struct shca_nldev_call *call)
{
	return is_of(call, RDMA_NLDEV_ATTR_RES_QP);
}

/** What all commands name. @return 0 or -EINVAL */
static int
find_port(const struct shca_nldev_call *call, unsigned int *device, uint32_t *port)
{
	const struct nlattr *attr = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	int ret = shca_nldev_find_device(call, device);

	if (ret != 0 || attr == NULL)
		return -EINVAL;
	*port = mnl_attr_get_u32(attr);
	return shca_nldev_check_port(call, *device);
}

static struct shca_counter_port
counters_of(const struct shca_nldev_call *call, unsigned int device, uint32_t port)
{
	return (struct shca_counter_port){ call->nldev->device(call->nldev->arg, device), device,
		port };
}

/** The queue pairs of a port: one counter, or how they are counted. */
static int
answer_of_qps(const struct shca_nldev_call *call, const struct shca_counter_port *of)
{
	const struct nlattr *id = call->attrs[RDMA_NLDEV_ATTR_STAT_COUNTER_ID];
	struct shca_counter counter;
	uint32_t mode, mask;

	if (id == NULL && call->attrs[RDMA_NLDEV_ATTR_STAT_MODE] == NULL)
		return -EINVAL;
	if (id == NULL) {
		mode = shca_counter_get_mode(of, &mask);
		mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, of->port);
		mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_STAT_MODE, mode);
		if (mode == RDMA_COUNTER_MODE_AUTO)
			mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
		return 0;
	}
	if (!shca_counter_find(of, mnl_attr_get_u32(id), &counter))
		return -ENOENT;
	if (counter.port != of->port)
		return -EAGAIN; /* fill_res_counter_entry() */
	put_counter(call->message, &counter);
	return 0;
}

int
shca_nldev_stat_get_doit(struct shca_nldev_call *call)
{
	struct shca_counter_port of;
	unsigned int device;
	uint32_t port;
	int ret;

	if (is_of(call, RDMA_NLDEV_ATTR_RES_MR))
		return shca_nldev_res_doit(call);
	ret = find_port(call, &device, &port);
	if (ret != 0)
		return ret;
	of = counters_of(call, device, port);
	if (call->attrs[RDMA_NLDEV_ATTR_STAT_RES] != NULL && !is_of_qps(call))
		return -EINVAL;
	shca_nldev_put_handle(call->message, device);
	if (is_of_qps(call))
		return answer_of_qps(call, &of);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return put_port_counters(call, device, port);
}

/** As nldev.c nldev_stat_get_counter_status_doit(), since Linux 5.16; no counter of ours is
 * optional. */
int
shca_nldev_stat_status_doit(struct shca_nldev_call *call)
{
	struct nlattr *table, *entry;
	unsigned int device;
	uint32_t port;
	int ret = find_port(call, &device, &port);

	if (ret != 0 || call->nldev->options->port[device].kernel_abi < SHCA_KERNEL_6_1)
		return -EINVAL;
	shca_nldev_put_handle(call->message, device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (uint32_t i = 0; shca_tree_counters[i] != NULL; i++) {
		entry = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		mnl_attr_put_strz(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			shca_tree_counters[i]);
		mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i);
		mnl_attr_nest_end(call->message, entry);
	}
	mnl_attr_nest_end(call->message, table);
	return 0;
}

/** Of the counters that queue pairs are bound to, one a message; of a port, if one is named. */
int
shca_nldev_stat_get_dump(struct shca_nldev_call *call, unsigned int index)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	struct nlattr *table, *entry;
	struct shca_counter_port of;
	struct shca_counter counter;
	unsigned int device;
	uint32_t id = 0;
	int ret;

	if (is_of(call, RDMA_NLDEV_ATTR_RES_MR))
		return shca_nldev_res_dump(call, index);
	ret = shca_nldev_find_device(call, &device);
	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	if (ret != 0 || !is_of_qps(call))
		return -EINVAL;
	of = counters_of(call, device, port != NULL ? mnl_attr_get_u32(port) : 0);
	for (unsigned int i = 0; i <= index; i++) {
		id = shca_counter_next(&of, id);
		if (id == 0)
			return 0;
	}
	if (!shca_counter_find(&of, id, &counter))
		return 0;
	shca_nldev_put_handle(call->message, device);
	table = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_COUNTER);
	entry = mnl_attr_nest_start(call->message, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY);
	put_counter(call->message, &counter);
	mnl_attr_nest_end(call->message, entry);
	mnl_attr_nest_end(call->message, table);
	return 1;
}

static void
put_binding(const struct shca_nldev_call *call, unsigned int device, uint32_t port, uint32_t id,
	uint32_t qpn)
{
	shca_nldev_put_handle(call->message, device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
}

/** As nldev.c nldev_stat_set_counter_dynamic_doit(), since Linux 5.16: which optional counters are
 * on. There are none, so none can be named. */
static int
set_optional(const struct shca_nldev_call *call, unsigned int device, uint32_t port)
{
	const struct nlattr *named = call->attrs[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];

	if (call->nldev->options->port[device].kernel_abi < SHCA_KERNEL_6_1 ||
		mnl_attr_get_payload_len(named) != 0)
		return -EINVAL;
	shca_nldev_put_handle(call->message, device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return 0;
}

int
shca_nldev_stat_set_doit(struct shca_nldev_call *call)
{
	const struct nlattr *mode = call->attrs[RDMA_NLDEV_ATTR_STAT_MODE];
	const struct nlattr *qpn = call->attrs[RDMA_NLDEV_ATTR_RES_LQPN];
	const struct nlattr *wanted = call->attrs[RDMA_NLDEV_ATTR_STAT_COUNTER_ID];
	uint32_t port, id;
	const struct nlattr *mask = call->attrs[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK];
	struct shca_counter_port of;
	unsigned int device;
	int ret;

	ret = find_port(call, &device, &port);
	if (ret == 0 && mode == NULL && call->attrs[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] != NULL)
		return set_optional(call, device, port);
	if (ret != 0 || mode == NULL || !is_of_qps(call))
		return -EINVAL;
	of = counters_of(call, device, port);
	if (mnl_attr_get_u32(mode) == RDMA_COUNTER_MODE_AUTO) {
		shca_nldev_put_handle(call->message, device);
		mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
		return shca_counter_set_auto(&of, mask != NULL ? mnl_attr_get_u32(mask) : 0);
	}
	if (qpn == NULL)
		return -EINVAL;
	if (wanted != NULL) {
		id = mnl_attr_get_u32(wanted);
		ret = shca_counter_bind(&of, mnl_attr_get_u32(qpn), id);
	} else {
		ret = shca_counter_bind_alloc(&of, mnl_attr_get_u32(qpn), &id);
	}
	if (ret == 0)
		put_binding(call, device, port, id, mnl_attr_get_u32(qpn));
	return ret;
}

int
shca_nldev_stat_del_doit(struct shca_nldev_call *call)
{
	const struct nlattr *qpn = call->attrs[RDMA_NLDEV_ATTR_RES_LQPN];
	const struct nlattr *id = call->attrs[RDMA_NLDEV_ATTR_STAT_COUNTER_ID];
	struct shca_counter_port of;
	unsigned int device;
	uint32_t port;
	int ret;

	ret = find_port(call, &device, &port);
	if (ret != 0 || !is_of_qps(call) || qpn == NULL || id == NULL)
		return -EINVAL;
	of = counters_of(call, device, port);
	ret = shca_counter_unbind(&of, mnl_attr_get_u32(id), mnl_attr_get_u32(qpn));
	if (ret == 0)
		put_binding(call, device, port, mnl_attr_get_u32(id), mnl_attr_get_u32(qpn));
	return ret;
}
