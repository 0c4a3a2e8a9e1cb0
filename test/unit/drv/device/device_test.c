/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that cannot be opened: the message and the errno, on a sysfs tree made here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_log.h>

#include "base/log.h"
#include "device/device.h"
#include "rig.h"

/** No machine has this node. */
#define UVERBS "uverbs7777"

static char root[] = "/tmp/drv_device_XXXXXX";
static char *logged;
static size_t logged_size;
static FILE *log_stream;

static void
tree_add(const char *path, const char *text)
{
	char command[512], full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\"", full);
	assert_int_equal(system(command), 0);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/** The sysfs of a device whose node udev has not made, or the container does not have. */
static int
tree_make(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	tree_add("class/infiniband_verbs/abi_version", "6\n");
	tree_add("class/infiniband_verbs/" UVERBS "/ibdev", "mlx5_77\n");
	tree_add("class/infiniband_verbs/" UVERBS "/abi_version", "1\n");
	tree_add("class/infiniband_verbs/" UVERBS "/dev", "231:9000\n");
	tree_add("class/infiniband/mlx5_77/node_type", "1: CA\n");
	tree_add("class/infiniband/mlx5_77/device/net/eth77/dev_port", "0\n");
	setenv("SYSFS_PATH", root, 1);
	log_stream = open_memstream(&logged, &logged_size);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	return 0;
}

static int
tree_remove(void **state)
{
	char command[64];

	(void)state;
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(logged);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* clang-format off */
static const struct {
	struct mdv_config config;
	int result;
	const char *says;
} cases[] = {
	{ { .ibdev = "mlx5_77" }, -EACCES, "/dev/infiniband/" UVERBS " is missing" },
	{ { .iface = "eth77" }, -EACCES, "/dev/infiniband/" UVERBS " is missing" },
	{ { .ibdev = "mlx5_78" }, -ENODEV, "mlx5_78: no such verbs device; present: " },
	{ { .iface = "eth78" }, -ENODEV, "iface=eth78: no such netdev" },
	{ { .iface = "lo" }, -ENODEV, "iface=lo: this netdev has no RDMA device" },
};
/* clang-format on */

static void
refusals_name_the_culprit(void **state)
{
	struct mdv_device device;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		memset(&device, 0x5a, sizeof(device));
		rewind(log_stream);
		assert_int_equal(mdv_device_open(&cases[i].config, &device), cases[i].result);
		fflush(log_stream);
		assert_non_null(strstr(logged, cases[i].says));
		assert_int_equal(device.name[0], 0x5a);
	}
}

/** libibverbs takes SYSFS_PATH up to 127 bytes, and /sys in place of a longer one. */
static void
a_long_root_is_not_taken(void **state)
{
	const struct mdv_config config = { .iface = "eth77" };
	struct mdv_device device;
	char longer[129];

	(void)state;
	for (size_t length = 127; length <= 128; length++) {
		memset(longer, '/', length);
		memcpy(longer + length - strlen(root), root, strlen(root));
		longer[length] = '\0';
		setenv("SYSFS_PATH", longer, 1);
		assert_int_equal(
			mdv_device_open(&config, &device), length == 127 ? -EACCES : -ENODEV);
	}
	setenv("SYSFS_PATH", root, 1);
}

static void
closing_what_was_never_opened(void **state)
{
	struct mdv_device device = { 0 };

	(void)state;
	mdv_device_close(&device);
}

static void
the_drop_counter_is_read_where_it_is(void **state)
{
	struct mdv_device device = { .port_num = 1 };
	uint64_t count = 5;

	(void)state;
	snprintf(device.sysfs_path, sizeof(device.sysfs_path), "%s/class/infiniband/mlx5_77", root);
	assert_int_equal(mdv_device_read_counter(&device, "out_of_buffer", &count), -ENOENT);
	assert_int_equal(count, 5);
	tree_add("class/infiniband/mlx5_77/hw_counters/out_of_buffer", "12\n");
	assert_int_equal(mdv_device_read_counter(&device, "out_of_buffer", &count), 0);
	assert_int_equal(count, 12);
	tree_add("class/infiniband/mlx5_77/ports/1/hw_counters/out_of_buffer", "4294967295\n");
	assert_int_equal(mdv_device_read_counter(&device, "out_of_buffer", &count), 0);
	assert_int_equal(count, UINT32_MAX);
	tree_add("class/infiniband/mlx5_77/ports/1/hw_counters/out_of_buffer", "none\n");
	tree_add("class/infiniband/mlx5_77/hw_counters/out_of_buffer", "\n");
	assert_int_equal(mdv_device_read_counter(&device, "out_of_buffer", &count), -ENOENT);
}

/** libibverbs looks at it once, so that it must be there when the driver is loaded. */
static void
what_a_removed_device_keeps_is_freed(void **state)
{
	(void)state;
	assert_string_equal(getenv("RDMAV_ALLOW_DISASSOC_DESTROY"), "1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_removed_device_keeps_is_freed),
		cmocka_unit_test(refusals_name_the_culprit),
		cmocka_unit_test(a_long_root_is_not_taken),
		cmocka_unit_test(closing_what_was_never_opened),
		cmocka_unit_test(the_drop_counter_is_read_where_it_is),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
