/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA netlink's answers: attributes of devices and ports, what is refused, damaged requests. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libmnl/libmnl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "config/model.h"
#include "config/options.h"
#include "nldev/nldev.h"
#include "sysfs/tree.h"

#include "../capability.h"
#include "../padding.h"

#define PORTID         0x4711u
#define SEQ            77u
#define NLDEV(command) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##command)

static struct shca_options options;
static char dir[] = "/tmp/nldev-XXXXXX";

/** All that was sent, datagram behind datagram. */
static struct {
	_Alignas(8) uint8_t bytes[32 * SHCA_NLDEV_DATAGRAM_MAX];
	size_t length;
	unsigned int nb;
	int error; /* of each, 0: taken */
} sent;

static int
take(void *arg, const void *bytes, size_t length)
{
	assert_ptr_equal(arg, &sent);
	assert_true(length != 0 && length <= SHCA_NLDEV_DATAGRAM_MAX);
	if (sent.error != 0)
		return sent.error;
	assert_true(length <= sizeof(sent.bytes) - sent.length);
	test_padding(bytes, length, 0);
	memcpy(sent.bytes + sent.length, bytes, length);
	sent.length += length;
	sent.nb++;
	return 0;
}

/** This process has opened no node. */
static struct shca_device *
no_device(void *arg, unsigned int index)
{
	assert_ptr_equal(arg, &sent);
	assert_true(index < 2);
	return NULL;
}

static int
set_up(void **state)
{
	char error[256];

	(void)state;
	test_padding_set_up();
	if (mkdtemp(dir) == NULL)
		return -1;
	shca_options_init(&options);
	if (shca_options_add_port(&options, "mac=0e:1d:2c:3b:4a:59", error, sizeof(error)) != 0 ||
		shca_options_add_port(
			&options, "model=cx4lx,kernel=tap:lo", error, sizeof(error)) != 0)
		return -1;
	return shca_tree_create(&options, dir);
}

static int
tear_down(void **state)
{
	(void)state;
	return shca_tree_remove(dir);
}

static _Alignas(8) uint8_t request_bytes[512];

static struct nlmsghdr *
request(uint16_t type, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(request_bytes);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = SEQ;
	return message;
}

static int
ask(const void *bytes, size_t length)
{
	const struct shca_nldev nldev = { .options = &options,
		.dir = dir,
		.portid = PORTID,
		.send = take,
		.device = no_device,
		.arg = &sent };

	sent.length = 0;
	sent.nb = 0;
	return shca_nldev_answer(&nldev, bytes, length);
}

/** @return message @p index of the answer, or NULL. */
static const struct nlmsghdr *
answer_at(unsigned int index)
{
	const struct nlmsghdr *message = (const void *)sent.bytes;
	int left = (int)sent.length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left), index--) {
		assert_int_equal(message->nlmsg_seq, SEQ);
		assert_int_equal(message->nlmsg_pid, PORTID);
		if (index == 0)
			return message;
	}
	assert_int_equal(left, 0);
	return NULL;
}

static const struct nlmsghdr *
ask_one(const struct nlmsghdr *message)
{
	assert_int_equal(ask(message, message->nlmsg_len), 0);
	return answer_at(0);
}

static const struct nlattr *
attr_of(const struct nlmsghdr *message, uint16_t type)
{
	struct nlattr *attr;

	mnl_attr_for_each (attr, message, 0)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static uint64_t
number_of(const struct nlmsghdr *message, uint16_t type)
{
	const struct nlattr *attr = attr_of(message, type);
	uint64_t value = 0;

	if (attr == NULL)
		fail_msg("no attribute %u", type);
	assert_true(mnl_attr_get_payload_len(attr) <= sizeof(value));
	memcpy(&value, mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
	return value;
}

static void
check_text(const struct nlmsghdr *message, uint16_t type, const char *text)
{
	const struct nlattr *attr = attr_of(message, type);

	assert_non_null(attr);
	assert_int_equal(mnl_attr_get_payload_len(attr), strlen(text) + 1);
	assert_string_equal(mnl_attr_get_str(attr), text);
}

static void
check_device(const struct nlmsghdr *message)
{
	check_text(message, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	check_text(message, RDMA_NLDEV_ATTR_FW_VERSION, "16.35.2000");
	check_text(message, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_DEV_INDEX), 0);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_DEV_NODE_TYPE), 1);
	/* As a query of the device says, and as mlx5_ib begins. */
	assert_true(number_of(message, RDMA_NLDEV_ATTR_CAP_FLAGS) ==
		shca_model_cap_flags(shca_model_find("cx5")));
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_DEV_DIM), 1);
	assert_true(number_of(message, RDMA_NLDEV_ATTR_NODE_GUID) == UINT64_C(0x0e1d2cfffe3b4a59));
	assert_true(
		number_of(message, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID) == UINT64_C(0x0e1d2cfffe3b4a59));
}

static void
test_devices(void **state)
{
	const struct nlmsghdr *message;
	struct nlmsghdr *one;

	(void)state;
	message = ask_one(request(NLDEV(GET), NLM_F_DUMP));
	assert_int_equal(message->nlmsg_type, NLDEV(GET));
	assert_int_equal(message->nlmsg_flags, NLM_F_MULTI);
	check_device(message);
	check_text(answer_at(1), RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_1");
	assert_int_equal(answer_at(2)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(const int *)mnl_nlmsg_get_payload(answer_at(2)), 0);
	assert_null(answer_at(3));
	one = request(NLDEV(GET), 0);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	message = ask_one(one);
	assert_int_equal(message->nlmsg_flags, 0);
	check_device(message);
	assert_null(answer_at(1));
}

static void
test_ports(void **state)
{
	const struct nlmsghdr *message;
	struct nlmsghdr *one = request(NLDEV(PORT_GET), NLM_F_DUMP);

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	message = ask_one(one);
	assert_int_equal(message->nlmsg_type, NLDEV(PORT_GET));
	check_text(message, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_1");
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_STATE), 4);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE), 5);
	check_text(message, RDMA_NLDEV_ATTR_NDEV_NAME, "lo");
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_NDEV_INDEX), if_nametoindex("lo"));
	assert_int_equal(answer_at(1)->nlmsg_type, NLMSG_DONE);
	/* The link goes down; a port without a netdev. */
	assert_int_equal(shca_tree_set_link(dir, 0, 1, false), 0);
	one = request(NLDEV(PORT_GET), 0);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	message = ask_one(one);
	assert_int_equal(message->nlmsg_type, NLDEV(GET));
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_STATE), 1);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE), 3);
	assert_null(attr_of(message, RDMA_NLDEV_ATTR_NDEV_INDEX));
	assert_null(answer_at(1));
}

/** The netdev of device 1, whatever the device last saw its name be. */
static void
test_netdev_of_a_port(void **state)
{
	struct shca_tree_netdev netdev = { "was0", if_nametoindex("lo"), 0 };
	struct nlmsghdr *one = request(NLDEV(PORT_GET), NLM_F_DUMP);
	struct stat own;

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(stat("/proc/self/ns/net", &own), 0);
	/* Where nobody knows the namespace, the name must be the index's. */
	assert_int_equal(shca_tree_set_netdev(dir, 1, 1, &netdev), 0);
	assert_null(attr_of(ask_one(one), RDMA_NLDEV_ATTR_NDEV_INDEX));
	netdev.netns = own.st_ino;
	assert_int_equal(shca_tree_set_netdev(dir, 1, 1, &netdev), 0);
	check_text(ask_one(one), RDMA_NLDEV_ATTR_NDEV_NAME, "lo");
	/* Another namespace's: the index is another netdev's here. */
	netdev.netns++;
	assert_int_equal(shca_tree_set_netdev(dir, 1, 1, &netdev), 0);
	assert_null(attr_of(ask_one(one), RDMA_NLDEV_ATTR_NDEV_INDEX));
	netdev = (struct shca_tree_netdev){ "lo", if_nametoindex("lo"), own.st_ino };
	assert_int_equal(shca_tree_set_netdev(dir, 1, 1, &netdev), 0);
}

/** What libibverbs asks before it opens a node, and before it prepares for fork(). */
static void
test_nodes(void **state)
{
	struct nlmsghdr *one = request(NLDEV(GET_CHARDEV), 0);
	const struct nlmsghdr *message;

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	mnl_attr_put_strz(one, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	message = ask_one(one);
	assert_int_equal(message->nlmsg_type, NLDEV(GET_CHARDEV));
	check_text(message, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs1");
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_CHARDEV), 231 << 8 | 193);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_CHARDEV_ABI), 1);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID), RDMA_DRIVER_MLX5);
	/* librdmacm asks for the one that is no device's. */
	one = request(NLDEV(GET_CHARDEV), 0);
	mnl_attr_put_strz(one, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm");
	message = ask_one(one);
	assert_int_equal(message->nlmsg_type, NLDEV(GET_CHARDEV));
	check_text(message, RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm");
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_CHARDEV), 10 << 8 | 122);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_CHARDEV_ABI), 4);
	assert_null(attr_of(message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID));
	message = ask_one(request(NLDEV(SYS_GET), 0));
	assert_int_equal(number_of(message, RDMA_NLDEV_SYS_ATTR_NETNS_MODE), 1);
	assert_int_equal(number_of(message, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK), 1);
}

/** @return a request about a port's counters @param type of objects with counters, 0: not given */
static struct nlmsghdr *
stat_request(uint32_t type, uint32_t counter)
{
	struct nlmsghdr *one = request(NLDEV(STAT_GET), 0);

	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (type != 0)
		mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_RES, type);
	if (counter != 0)
		mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	return one;
}

static int
error_of(struct nlmsghdr *one)
{
	const struct nlmsghdr *message = ask_one(one);
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

	return message->nlmsg_type == NLMSG_ERROR ? error->error : 0;
}

static void
test_counters(void **state)
{
	const struct nlmsghdr *message;
	const struct nlattr *attr, *entry, *table = NULL;
	struct nlmsghdr *one;
	unsigned int nb = 0, nb_set = 0;

	(void)state;
	assert_int_equal(shca_tree_set_counter(dir, 1, 1, "out_of_buffer", 77), 0);
	message = ask_one(stat_request(0, 0));
	assert_int_equal(message->nlmsg_type, NLDEV(STAT_GET));
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	mnl_attr_for_each (attr, message, 0)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			table = attr;
	assert_non_null(table);
	mnl_attr_for_each_nested(entry, table)
	{
		const char *name = NULL;
		uint64_t value = UINT64_MAX;

		mnl_attr_for_each_nested(attr, entry)
		{
			if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
				name = mnl_attr_get_str(attr);
			else
				value = mnl_attr_get_u64(attr);
		}
		assert_string_equal(name, shca_tree_counters[nb]);
		assert_true(value == (strcmp(name, "out_of_buffer") == 0 ? 77 : 0));
		nb_set += value != 0;
		nb++;
	}
	assert_true(nb > 10 && shca_tree_counters[nb] == NULL);
	assert_int_equal(nb_set, 1);
	/* Queue pairs have none of their own. How they are counted is told to who asks for it. */
	one = stat_request(RDMA_NLDEV_ATTR_RES_QP, 0);
	assert_int_equal(error_of(one), -EINVAL);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	message = ask_one(one);
	assert_int_equal(number_of(message, RDMA_NLDEV_ATTR_STAT_MODE), RDMA_COUNTER_MODE_NONE);
	assert_int_equal(error_of(stat_request(RDMA_NLDEV_ATTR_RES_QP, 5)), -ENOENT);
	assert_int_equal(error_of(stat_request(RDMA_NLDEV_ATTR_RES_MR, 0)), -EINVAL);
	one = stat_request(RDMA_NLDEV_ATTR_RES_QP, 0);
	one->nlmsg_flags |= NLM_F_DUMP;
	assert_int_equal(ask_one(one)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(const int *)mnl_nlmsg_get_payload(answer_at(0)), 0);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 2); /* the last one counts */
	assert_int_equal(ask_one(one)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(const int *)mnl_nlmsg_get_payload(answer_at(0)), -EINVAL);
}

/** Which there are and how they are numbered; none of them can be turned off. */
static void
test_status_of_counters(void **state)
{
	struct nlmsghdr *one = request(NLDEV(STAT_GET_STATUS), 0);
	const struct nlattr *entry, *attr, *table;
	unsigned int nb = 0;

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	table = attr_of(ask_one(one), RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	assert_int_equal(answer_at(0)->nlmsg_type, NLDEV(STAT_GET_STATUS));
	assert_int_equal(number_of(answer_at(0), RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	assert_non_null(table);
	mnl_attr_for_each_nested(entry, table)
	{
		attr = mnl_attr_get_payload(entry);
		assert_int_equal(
			mnl_attr_get_type(attr), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
		assert_string_equal(mnl_attr_get_str(attr), shca_tree_counters[nb]);
		attr = mnl_attr_next(attr);
		assert_int_equal(mnl_attr_get_type(attr), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX);
		assert_int_equal(mnl_attr_get_u32(attr), nb++);
		assert_ptr_equal(mnl_attr_next(attr), mnl_attr_next(entry));
	}
	assert_true(nb > 10 && shca_tree_counters[nb] == NULL);
	options.port[1].kernel_abi = SHCA_KERNEL_5_10;
	assert_int_equal(error_of(one), -EINVAL);
	options.port[1].kernel_abi = SHCA_KERNEL_6_1;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	assert_int_equal(error_of(one), -EINVAL);
}

/** A mode is that of queue pairs' counters, which has to be said. */
static void
test_mode_of_nothing(void **state)
{
	struct nlmsghdr *one = request(NLDEV(STAT_SET), 0);

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
	assert_int_equal(error_of(one), -EINVAL);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	assert_int_equal(number_of(ask_one(one), RDMA_NLDEV_ATTR_PORT_INDEX), 1);
}

/** Optional counters, of which there are none, can be all turned off (rdma statistic unset link).
 */
static void
test_optional_counters(void **state)
{
	struct nlmsghdr *one = request(NLDEV(STAT_SET), 0);
	struct nlattr *table;

	(void)state;
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	table = mnl_attr_nest_start(one, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	mnl_attr_nest_end(one, table);
	assert_int_equal(ask_one(one)->nlmsg_type, NLDEV(STAT_SET));
	assert_int_equal(number_of(answer_at(0), RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	options.port[1].kernel_abi = SHCA_KERNEL_5_10;
	assert_int_equal(error_of(one), -EINVAL);
	options.port[1].kernel_abi = SHCA_KERNEL_6_1;
	table = mnl_attr_nest_start(one, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, 0);
	mnl_attr_nest_end(one, table);
	assert_int_equal(error_of(one), -EINVAL);
}

/** @return the attributes that Linux @p kernel tells of the system */
static unsigned int
nb_sys_attrs(enum shca_kernel kernel)
{
	const struct nlmsghdr *message;
	const struct nlattr *attr;
	unsigned int nb = 0;

	options.port[0].kernel_abi = kernel;
	message = ask_one(request(NLDEV(SYS_GET), 0));
	mnl_attr_for_each (attr, message, 0)
		nb++;
	return nb;
}

static void
test_system_by_kernel(void **state)
{
	(void)state;
	assert_int_equal(nb_sys_attrs(SHCA_KERNEL_5_10), 1);
	assert_int_equal(nb_sys_attrs(SHCA_KERNEL_6_12), 4);
	assert_int_equal(nb_sys_attrs(SHCA_KERNEL_6_1), 2);
}

/** The index of a device and a port, -1: not given, and the type of a node, NULL: not given. */
static const struct refusal {
	uint16_t type, flags;
	int device, port;
	const char *node;
	int error;
} refusals[] = {
	{ NLDEV(GET), 0, -1, -1, NULL, -EINVAL },
	{ NLDEV(GET), 0, 2, -1, NULL, -EINVAL },
	{ NLDEV(PORT_GET), 0, 0, -1, NULL, -EINVAL },
	{ NLDEV(PORT_GET), 0, 0, 0, NULL, -EINVAL },
	{ NLDEV(PORT_GET), 0, 0, 2, NULL, -EINVAL },
	{ NLDEV(PORT_GET), 0, -1, 1, NULL, -EINVAL },
	{ NLDEV(SYS_GET), NLM_F_DUMP, -1, -1, NULL, -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, 0, -1, NULL, -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, 2, -1, "uverbs", -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, -1, -1, "uverbs", -ENOENT },
	{ NLDEV(GET_CHARDEV), 0, -1, 1, "rdma_cm", -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, 0, 2, "uverbs", -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, 2, -1, "umad", -EINVAL },
	{ NLDEV(GET_CHARDEV), 0, 0, -1, "umad", -ENOENT },
	{ NLDEV(STAT_GET), 0, 0, -1, NULL, -EINVAL },
	{ NLDEV(STAT_GET), 0, -1, 1, NULL, -EINVAL },
	{ NLDEV(STAT_GET), 0, 0, 2, NULL, -EINVAL },
	{ NLDEV(STAT_SET), 0, 0, -1, NULL, -EINVAL },
	{ NLDEV(STAT_SET), 0, 0, 2, NULL, -EINVAL },
	{ NLDEV(STAT_SET), 0, 0, 1, NULL, -EINVAL },
	{ NLDEV(STAT_DEL), 0, 0, 1, NULL, -EINVAL },
	{ NLDEV(UNSPEC), 0, -1, -1, NULL, -EINVAL },
	{ NLDEV(SET), 0, 0, -1, NULL, -EINVAL },
	{ RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_NUM_OPS), 0, -1, -1, NULL, -EINVAL },
	{ RDMA_NL_GET_TYPE(RDMA_NL_LS, 0), 0, -1, -1, NULL, -EINVAL },
};

static void
test_refusals(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		struct nlmsghdr *one = request(row->type, row->flags);
		const struct nlmsghdr *message;
		const struct nlmsgerr *error;

		if (row->device >= 0)
			mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)row->device);
		if (row->port >= 0)
			mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_PORT_INDEX, (uint32_t)row->port);
		if (row->node != NULL)
			mnl_attr_put_strz(one, RDMA_NLDEV_ATTR_CHARDEV_TYPE, row->node);
		message = ask_one(one);
		assert_int_equal(message->nlmsg_type, NLMSG_ERROR);
		error = mnl_nlmsg_get_payload(message);
		if (error->error != row->error)
			fail_msg("row %u: %d", i, error->error);
		assert_memory_equal(&error->msg, one, one->nlmsg_len);
		assert_null(answer_at(1));
	}
	/* A dump's error is its result. */
	assert_int_equal(ask_one(request(NLDEV(PORT_GET), NLM_F_DUMP))->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(const int *)mnl_nlmsg_get_payload(answer_at(0)), -EINVAL);
}

static void
test_acknowledgements(void **state)
{
	const struct nlmsgerr *error;
	struct nlmsghdr *one;

	(void)state;
	assert_int_equal(ask_one(request(NLDEV(SYS_GET), NLM_F_ACK))->nlmsg_type, NLDEV(SYS_GET));
	assert_int_equal(answer_at(1)->nlmsg_type, NLMSG_ERROR);
	assert_int_equal(answer_at(1)->nlmsg_flags, NLM_F_CAPPED);
	error = mnl_nlmsg_get_payload(answer_at(1));
	assert_int_equal(error->error, 0);
	assert_memory_equal(&error->msg, request_bytes, sizeof(error->msg));
	assert_int_equal(sent.nb, 2);
	/* Not a request, and a control message: nothing to answer but the acknowledgement. */
	one = request(NLDEV(SYS_GET), 0);
	one->nlmsg_flags = 0;
	assert_null(ask_one(one));
	assert_null(ask_one(request(NLMSG_NOOP, 0)));
	assert_int_equal(ask_one(request(NLMSG_NOOP, NLM_F_ACK))->nlmsg_type, NLMSG_ERROR);
	/* The socket takes no more. */
	sent.error = -EAGAIN;
	one = request(NLDEV(GET), NLM_F_DUMP);
	assert_int_equal(ask(one, one->nlmsg_len), -EAGAIN);
	sent.error = 0;
}

/** Two requests in a datagram; cut anywhere, in a copy of exactly that length. */
static void
test_damage(void **state)
{
	struct nlmsghdr *one = request(NLDEV(GET_CHARDEV), 0);
	size_t first, whole;

	(void)state;
	mnl_attr_put_strz(one, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	first = one->nlmsg_len;
	one = mnl_nlmsg_put_header(request_bytes + first);
	one->nlmsg_type = NLDEV(SYS_GET);
	one->nlmsg_flags = NLM_F_REQUEST;
	one->nlmsg_seq = SEQ;
	whole = first + one->nlmsg_len;
	for (size_t length = 0; length <= whole; length++) {
		uint8_t *copy = malloc(length == 0 ? 1 : length);

		memcpy(copy, request_bytes, length);
		assert_int_equal(ask(copy, length), 0);
		assert_int_equal(sent.nb, length < first ? 0 : length < whole ? 1 : 2);
		free(copy);
	}
	/* An attribute that is too short, too long, a name that does not end. */
	for (uint16_t bytes = 0; bytes < 32; bytes++) {
		static const uint8_t zeros[32] = { 0 };
		const struct nlmsgerr *error;

		one = request(NLDEV(GET), 0);
		mnl_attr_put(one, RDMA_NLDEV_ATTR_DEV_INDEX, bytes, zeros);
		assert_int_equal(ask_one(one)->nlmsg_type, bytes == 4 ? NLDEV(GET) : NLMSG_ERROR);
		error = mnl_nlmsg_get_payload(answer_at(0));
		if (bytes != 4)
			assert_int_equal(error->error, -EINVAL);
	}
	one = request(NLDEV(GET_CHARDEV), 0);
	mnl_attr_put(one, RDMA_NLDEV_ATTR_CHARDEV_TYPE, 6, "uverbs");
	assert_int_equal(ask_one(one)->nlmsg_type, NLMSG_ERROR);
	one = request(NLDEV(SYS_GET), 0);
	mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_MAX, 1);
	mnl_attr_put_u32(one, (uint16_t)NLA_TYPE_MASK, 1);
	assert_int_equal(ask_one(one)->nlmsg_type, NLDEV(SYS_GET));
}

/** A message that says to be longer than the datagram ends it, also one whose length is no int or
 * becomes 0 when aligned: libmnl's mnl_nlmsg_ok() takes these. */
static void
test_damaged_lengths(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 15, 17, INT32_MAX, UINT32_C(1) << 31,
		UINT32_MAX - 1024, UINT32_MAX - 2, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct nlmsghdr *one = request(NLDEV(SYS_GET), 0);

		one->nlmsg_len = lengths[i];
		assert_int_equal(ask(one, sizeof(*one)), 0);
		assert_int_equal(sent.nb, 0);
	}
	/* What is behind the message is not of its last attribute, though that is aligned. */
	for (uint32_t cut = 0; cut < 4; cut++) {
		struct nlmsghdr *one = request(NLDEV(GET), 0);

		mnl_attr_put_u32(one, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
		one->nlmsg_len -= cut;
		assert_int_equal(ask_one(one)->nlmsg_type, cut == 0 ? NLDEV(GET) : NLMSG_ERROR);
	}
}

/** Linux asks for the privilege before it looks at the attributes. */
static void
test_privileged(void **state)
{
	static const uint16_t types[] = { NLDEV(STAT_SET), NLDEV(STAT_DEL), NLDEV(RES_QP_GET_RAW),
		NLDEV(RES_CQ_GET_RAW), NLDEV(RES_MR_GET_RAW) };

	(void)state;
	test_capability(CAP_NET_ADMIN, false);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(error_of(request(types[i], 0)), -EPERM);
	assert_int_equal(error_of(request(NLDEV(RES_QP_GET_RAW), NLM_F_DUMP)), -EPERM);
	test_capability(CAP_NET_ADMIN, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_netdev_of_a_port),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_system_by_kernel),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_status_of_counters),
		cmocka_unit_test(test_mode_of_nothing),
		cmocka_unit_test(test_optional_counters),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_privileged),
		cmocka_unit_test(test_acknowledgements),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_lengths),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
