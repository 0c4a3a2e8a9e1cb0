/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of devices, ports and the system: nldev.c fill_dev_info(), fill_port_info(). */
#include "nldev/commands.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "base/node.h"
#include "config/model.h"
#include "config/options.h"
#include "nldev/call.h"
#include "nldev/cm_id.h"
#include "nldev/netdev.h"
#include "nldev/res.h"
#include "nldev/stat.h"
#include "sysfs/tree.h"

#define NODE_TYPE_CA 1  /* enum rdma_node_type, RDMA_NODE_IB_CA */
#define UVERBS_ABI   1u /* mlx5_ib's, as in sysfs */
#define RDMA_CM_NODE "rdma_cm"

/* Of newer headers' enum rdma_nldev_attr. */
#define SYS_ATTR_PRIVILEGED_QKEY_MODE 96
#define SYS_ATTR_MONITOR_MODE         103

static void
put_device(const struct shca_nldev_call *call, unsigned int device)
{
	const struct shca_port_options *port = &call->nldev->options->port[device];
	const uint64_t guid = shca_node_guid(port->mac);
	struct nlmsghdr *message = call->message;
	char version[32];

	shca_model_print_fw(&port->model, version, sizeof(version));
	shca_nldev_put_handle(message, device);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, shca_nldev_nb_ports(call, device));
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_CAP_FLAGS, shca_model_cap_flags(&port->model));
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_FW_VERSION, version);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_NODE_GUID, guid);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_TYPE_CA);
	/* Of the kernel's own CQs, of which there are none: mlx5_ib begins with it on. */
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DEV_DIM, 1);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

static int
get_doit(struct shca_nldev_call *call)
{
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0)
		put_device(call, device);
	return ret;
}

static int
get_dump(struct shca_nldev_call *call, unsigned int index)
{
	if (index >= call->nldev->options->nb_ports)
		return 0;
	put_device(call, index);
	return 1;
}

static int
put_port(const struct shca_nldev_call *call, unsigned int device, uint32_t number)
{
	struct shca_tree_port port;
	char name[IF_NAMESIZE];
	int ret = shca_tree_get_port(call->nldev->dir, device, number, &port);

	if (ret != 0)
		return ret;
	shca_nldev_put_handle(call->message, device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	mnl_attr_put_u8(call->message, RDMA_NLDEV_ATTR_PORT_STATE, port.state);
	mnl_attr_put_u8(call->message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port.phys_state);
	/* Only one of the asker's network namespace is shown. */
	if (port.netdev.ifindex == 0 || !shca_netdev_name(&port.netdev, name) ||
		if_nametoindex(name) != port.netdev.ifindex)
		return 0;
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_NDEV_INDEX, port.netdev.ifindex);
	mnl_attr_put_strz(call->message, RDMA_NLDEV_ATTR_NDEV_NAME, name);
	return 0;
}

static int
port_get_doit(struct shca_nldev_call *call)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret == 0)
		ret = port != NULL ? shca_nldev_check_port(call, device) : -EINVAL;
	return ret != 0 ? ret : put_port(call, device, mnl_attr_get_u32(port));
}

static int
port_get_dump(struct shca_nldev_call *call, unsigned int index)
{
	unsigned int device;
	int ret = shca_nldev_find_device(call, &device);

	if (ret != 0 || index >= shca_nldev_nb_ports(call, device))
		return ret;
	ret = put_port(call, device, index + 1);
	return ret != 0 ? ret : 1;
}

/** What nldev_sys_get_doit() tells, and the first kernel that does: devices are seen in all network
 * namespaces; pages that the device may write are copied for a child (Linux 5.12); privileged
 * Q_Keys need privileges (6.7); changes are told of (6.12). */
static const struct {
	uint16_t type;
	uint8_t value;
	enum shca_kernel since;
} sys_attrs[] = {
	{ RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1, SHCA_KERNEL_5_10 },
	{ RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1, SHCA_KERNEL_6_1 },
	{ SYS_ATTR_PRIVILEGED_QKEY_MODE, 0, SHCA_KERNEL_6_12 },
	{ SYS_ATTR_MONITOR_MODE, 1, SHCA_KERNEL_6_12 },
};

static int
sys_get_doit(struct shca_nldev_call *call)
{
	const enum shca_kernel kernel = call->nldev->options->port[0].kernel_abi;

	for (size_t i = 0; i < sizeof(sys_attrs) / sizeof(sys_attrs[0]); i++)
		if (sys_attrs[i].since <= kernel)
			mnl_attr_put_u8(call->message, sys_attrs[i].type, sys_attrs[i].value);
	return 0;
}

/** include/linux/kdev_t.h huge_encode_dev() */
static uint64_t
encode_node(unsigned int major, unsigned int minor)
{
	return (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}

static void
put_node(struct nlmsghdr *message, uint64_t numbers, uint64_t abi, const char *name)
{
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_CHARDEV, numbers);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_CHARDEV_ABI, abi);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
}

/** What a request without a device asks for: core/ucma.c ucma_get_global_nl_info(). */
static int
put_global_node(struct shca_nldev_call *call, const char *type)
{
	if (call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX] != NULL)
		return -EINVAL;
	if (strcmp(type, RDMA_CM_NODE) != 0)
		return -ENOENT;
	put_node(call->message, encode_node(SHCA_NODE_RDMA_CM_MAJOR, SHCA_NODE_RDMA_CM_MINOR),
		RDMA_USER_CM_ABI_VERSION, RDMA_CM_NODE);
	return 0;
}

static int
get_chardev_doit(struct shca_nldev_call *call)
{
	const struct nlattr *type = call->attrs[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	unsigned int device;
	char name[24];
	int ret;

	if (type == NULL)
		return -EINVAL;
	if (call->attrs[RDMA_NLDEV_ATTR_DEV_INDEX] == NULL)
		return put_global_node(call, mnl_attr_get_str(type));
	ret = shca_nldev_find_device(call, &device);
	if (ret == 0)
		ret = shca_nldev_check_port(call, device);
	if (ret != 0)
		return ret;
	/* The others are those of management datagrams. */
	if (strcmp(mnl_attr_get_str(type), "uverbs") != 0)
		return -ENOENT;
	snprintf(name, sizeof(name), "uverbs%u", device);
	mnl_attr_put_u32(call->message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	put_node(call->message, encode_node(SHCA_NODE_MAJOR, SHCA_NODE_MINOR + device), UVERBS_ABI,
		name);
	return 0;
}

/* clang-format off */
#define RES(type) \
	[RDMA_NLDEV_CMD_RES_##type##_GET] = { RDMA_NLDEV_CMD_RES_##type##_GET, RDMA_NLDEV_CMD_RES_##type##_GET, \
		shca_nldev_res_doit, shca_nldev_res_dump, false }
#define RES_RAW(type) \
	[RDMA_NLDEV_CMD_RES_##type##_GET_RAW] = { RDMA_NLDEV_CMD_RES_##type##_GET_RAW, RDMA_NLDEV_CMD_RES_##type##_GET_RAW, \
		shca_nldev_res_raw_doit, shca_nldev_res_raw_dump, true }

const struct shca_nldev_command shca_nldev_commands[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = { RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_GET, get_doit, get_dump },
	/* The kernel's answer to one port names the other command. */
	[RDMA_NLDEV_CMD_PORT_GET] = { RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_PORT_GET, port_get_doit, port_get_dump },
	[RDMA_NLDEV_CMD_SYS_GET] = { .doit_answers_as = RDMA_NLDEV_CMD_SYS_GET, .doit = sys_get_doit },
	[RDMA_NLDEV_CMD_RES_GET] = { RDMA_NLDEV_CMD_RES_GET, RDMA_NLDEV_CMD_RES_GET,
		shca_nldev_res_count_doit, shca_nldev_res_count_dump },
	RES(PD), RES(CQ), RES(QP), RES(MR), RES(CTX), RES(SRQ),
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = { RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_RES_CM_ID_GET,
		shca_nldev_cm_id_doit, shca_nldev_cm_id_dump },
	RES_RAW(CQ), RES_RAW(QP), RES_RAW(MR),
	[RDMA_NLDEV_CMD_STAT_GET] = { RDMA_NLDEV_CMD_STAT_GET, RDMA_NLDEV_CMD_STAT_GET,
		shca_nldev_stat_get_doit, shca_nldev_stat_get_dump },
	[RDMA_NLDEV_CMD_STAT_SET] = { .doit_answers_as = RDMA_NLDEV_CMD_STAT_SET, .doit = shca_nldev_stat_set_doit,
		.is_privileged = true },
	/* As the kernel, whose answer names what binds. */
	[RDMA_NLDEV_CMD_STAT_DEL] = { .doit_answers_as = RDMA_NLDEV_CMD_STAT_SET, .doit = shca_nldev_stat_del_doit,
		.is_privileged = true },
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = { .doit_answers_as = RDMA_NLDEV_CMD_STAT_GET_STATUS,
		.doit = shca_nldev_stat_status_doit },
	[RDMA_NLDEV_CMD_GET_CHARDEV] = { .doit_answers_as = RDMA_NLDEV_CMD_GET_CHARDEV, .doit = get_chardev_doit },
};
/* clang-format on */
