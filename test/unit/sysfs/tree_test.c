/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The sysfs tree holds what its readers look for, and goes away whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "config/options.h"
#include "sysfs/tree.h"

static char dir[64];

static int
make_tree(void **state)
{
	struct shca_options options;
	char error[256];

	(void)state;
	strcpy(dir, "/tmp/core-tree-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	shca_options_init(&options);
	if (shca_options_add_port(&options, "", error, sizeof(error)) != 0 ||
		shca_options_add_port(&options,
			"kernel=tap:absent0,model=cx4lx,mac=0e:1d:2c:3b:4a:59,speed=2.5g", error,
			sizeof(error)) != 0 ||
		shca_options_add_port(&options, "wire=null,vf=on,spoof=on", error, sizeof(error)) !=
			0 ||
		shca_options_add_port(
			&options, "wire=null,vf=on,model=cx5,trust=on", error, sizeof(error)) != 0)
		return -1;
	options.port[1].model.hw_ver = 0x1a; /* as a model's file may say */
	return shca_tree_create(&options, dir);
}

static int
remove_tree(void **state)
{
	struct stat status;

	(void)state;
	return shca_tree_remove(dir) == 0 && stat(dir, &status) != 0 ? 0 : -1;
}

static void
read_below(const char *below, const char *path, char *text, size_t size)
{
	char whole[512];
	FILE *file;
	size_t length;

	snprintf(whole, sizeof(whole), "%s/%s", below, path);
	file = fopen(whole, "r");
	if (file == NULL)
		fail_msg("no %s", whole);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
}

static void
read_text(const char *path, char *text, size_t size)
{
	read_below(dir, path, text, size);
}

#define V   "sys/class/infiniband_verbs/"
#define IB  "sys/class/infiniband/mlx5_"
#define PCI "sys/bus/pci/devices/5ca0:00:"
#define BUS "sys/devices/pci5ca0:00/5ca0:00:"

/** Read the way the readers go: also through the links. */
static const struct {
	const char *path;
	const char *text;
} files[] = {
	{ V "abi_version", "6\n" },
	{ V "uverbs0/ibdev", "mlx5_0\n" },
	{ V "uverbs0/dev", "231:192\n" },
	{ V "uverbs0/abi_version", "1\n" },
	{ V "uverbs1/ibdev", "mlx5_1\n" },
	{ V "uverbs1/uevent", "MAJOR=231\nMINOR=193\nDEVNAME=infiniband/uverbs1\nDEVMODE=0666\n" },
	{ V "uverbs1/subsystem/uverbs1/ibdev", "mlx5_1\n" },
	{ IB "1/uevent", "NAME=mlx5_1\n" },
	{ IB "1/subsystem/mlx5_1/node_type", "1: CA\n" },
	{ PCI "01.0/subsystem/devices/5ca0:00:01.0/vendor", "0x15b3\n" },
	{ V "uverbs1/dev", "231:193\n" },
	{ IB "0/node_type", "1: CA\n" },
	{ IB "0/node_guid", "0200:00ff:fe00:0001\n" },
	{ IB "0/fw_ver", "16.35.2000\n" },
	{ IB "0/hca_type", "MT4119\n" },
	{ IB "1/hca_type", "MT4117\n" },
	{ IB "1/node_guid", "0e1d:2cff:fe3b:4a59\n" },
	{ IB "1/sys_image_guid", "0e1d:2cff:fe3b:4a59\n" },
	{ IB "1/ports/1/gids/0", "fe80:0000:0000:0000:0c1d:2cff:fe3b:4a59\n" },
	{ IB "1/ports/1/gids/1", "fe80:0000:0000:0000:0c1d:2cff:fe3b:4a59\n" },
	{ IB "1/ports/1/gid_attrs/types/0", "IB/RoCE v1\n" },
	{ IB "1/ports/1/gid_attrs/types/1", "RoCE v2\n" },
	{ IB "0/ports/1/gid_attrs/ndevs/0", "" },
	{ IB "1/ports/1/gid_attrs/ndevs/0", "absent0\n" },
	{ IB "0/ports/1/rate", "25 Gb/sec (1X EDR)\n" },
	{ IB "1/ports/1/rate", "2.5 Gb/sec (1X SDR)\n" },
	{ IB "0/ports/1/state", "4: ACTIVE\n" },
	{ IB "0/ports/1/phys_state", "5: LinkUp\n" },
	{ IB "0/ports/1/link_layer", "Ethernet\n" },
	/* libibumad and ibstat read no port without these. */
	{ IB "0/ports/1/lid", "0x0\n" },
	{ IB "0/ports/1/lid_mask_count", "0\n" },
	{ IB "0/ports/1/sm_lid", "0x0\n" },
	{ IB "0/ports/1/sm_sl", "0\n" },
	{ IB "0/ports/1/cap_mask", "0x00010000\n" },
	{ IB "0/ports/1/pkeys/0", "0xffff\n" },
	{ IB "0/ports/1/hw_counters/out_of_buffer", "0\n" },
	{ IB "0/ports/1/hw_counters/lifespan", "10\n" },
	/* Of PMA (Linux core/sysfs.c). */
	{ IB "0/ports/1/counters/port_rcv_data", "0\n" },
	{ IB "0/ports/1/counters/multicast_xmit_packets", "0\n" },
	{ IB "0/ports/1/counters/VL15_dropped", "0\n" },
	{ IB "1/device/net/absent0/dev_port", "0\n" },
	{ IB "1/device/net/absent0/address", "0e:1d:2c:3b:4a:59\n" },
	{ IB "1/device/infiniband_verbs/uverbs1/dev", "231:193\n" },
	{ IB "1/device/infiniband/mlx5_1/node_type", "1: CA\n" },
	{ PCI "00.0/vendor", "0x15b3\n" },
	{ PCI "00.0/device", "0x1017\n" },
	{ PCI "01.0/device", "0x1015\n" },
	{ PCI "00.0/class", "0x020000\n" },
	{ PCI "00.0/revision", "0x00\n" },
	{ PCI "01.0/revision", "0x1a\n" },
	{ IB "0/hw_rev", "0\n" },
	{ IB "1/hw_rev", "1a\n" },
	{ PCI "00.0/numa_node", "0\n" },
	{ PCI "00.0/max_vfs", "0\n" },
	{ PCI "00.0/infiniband/mlx5_0/hca_type", "MT4119\n" },
	{ V "uverbs1/device/vendor", "0x15b3\n" },
	{ PCI "02.0/device", "0x1018\n" },
	{ IB "3/hca_type", "MT4120\n" },
	{ IB "3/device/physfn/virtfn0/infiniband/mlx5_2/hca_type", "MT4120\n" },
};

static void
test_content(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char text[1024];

		read_text(files[i].path, text, sizeof(text));
		assert_string_equal(text, files[i].text);
	}
}

/** DPDK looks for "PCI_SLOT_NAME=", libibverbs matches modalias with this pattern. */
static void
test_identity(void **state)
{
	char text[1024];

	(void)state;
	read_text(IB "0/device/uevent", text, sizeof(text));
	assert_non_null(strstr(text, "\nPCI_SLOT_NAME=5ca0:00:00.0\n"));
	assert_non_null(strstr(text, "PCI_ID=15B3:1017\n"));
	read_text(IB "1/device/modalias", text, sizeof(text));
	assert_int_equal(fnmatch("pci:v000015B3d00001015sv*", text, 0), 0);
}

/** A line of the settings that the card shows for its function @p vf. */
static void
assert_setting(unsigned int vf, const char *line)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), IB "2/device/physfn/sriov/%u/config", vf);
	read_text(path, text, sizeof(text));
	assert_non_null(strstr(text, line));
}

static void
test_functions(void **state)
{
	struct stat status;
	char path[512];

	(void)state;
	assert_setting(0, "\nSpoofCheck : ON\nTrust      : OFF\n");
	assert_setting(0, "\nMAC        : 02:00:00:00:00:03\n");
	assert_setting(1, "\nSpoofCheck : OFF\nTrust      : ON\n");
	snprintf(path, sizeof(path), "%s/" PCI "00.0/physfn", dir);
	assert_int_not_equal(lstat(path, &status), 0); /* none */
}

/** VPP reads the identity from it (vlib/linux/pci.c), and fails if it is shorter. */
static void
test_config(void **state)
{
	uint8_t bytes[257];
	char path[512];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/" PCI "01.0/config", dir);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), 256);
	fclose(file);
	assert_memory_equal(bytes, "\xb3\x15\x15\x10", 4);
}

/** DPDK's PCI bus reads at least 6 lines of 3 numbers. */
static void
test_resource(void **state)
{
	unsigned long long begin, end, flags;
	char text[1024];
	int lines = 0;

	(void)state;
	read_text(PCI "00.0/resource", text, sizeof(text));
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++)
		assert_int_equal(sscanf(line, "%llx %llx %llx", &begin, &end, &flags), 3);
	assert_true(lines >= 6);
}

/** As in Linux, where programs learn from it which PCI device a class's entry is (UCX), and from
 * "/pci" in a link's target that it is one (hwloc). */
static void
test_classes_lead_into_the_device(void **state)
{
	static const char *const cases[][2] = {
		{ IB "1", BUS "01.0/infiniband/mlx5_1" },
		{ V "uverbs1", BUS "01.0/infiniband_verbs/uverbs1" },
		{ PCI "01.0", BUS "01.0" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[512], wanted[PATH_MAX], found[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i][0]);
		assert_non_null(realpath(path, found));
		snprintf(path, sizeof(path), "%s/%s", dir, cases[i][1]);
		assert_non_null(realpath(path, wanted));
		assert_string_equal(found, wanted);
		assert_string_equal(found + strlen(found) - strlen(cases[i][1]), cases[i][1]);
	}
}

static void
test_driver_link(void **state)
{
	char path[512], target[256];
	struct stat status;
	ssize_t length;

	(void)state;
	snprintf(path, sizeof(path), "%s/" PCI "00.0/driver", dir);
	length = readlink(path, target, sizeof(target) - 1);
	assert_true(length > 0);
	target[length] = '\0';
	assert_string_equal(strrchr(target, '/'), "/mlx5_core");
	assert_int_equal(stat(path, &status), 0);
	snprintf(path, sizeof(path), "%s/" PCI "00.0/net", dir);
	assert_int_not_equal(stat(path, &status), 0); /* no netdev without a kernel side */
}

static unsigned int nb_links;

/** A link's target exists, and each step to it stays below sys/, as on a real machine. */
static int
follow(const char *path, const struct stat *status, int type, struct FTW *position)
{
	int depth = 0;
	char target[256];
	ssize_t length;

	(void)status;
	(void)position;
	if (type != FTW_SL)
		return 0;
	nb_links++;
	for (const char *at = path + strlen(dir) + 1; (at = strchr(at, '/')) != NULL; at++)
		depth++; /* directories above the link, sys/ among them */
	length = readlink(path, target, sizeof(target) - 1);
	assert_true(length > 0 && target[0] != '/');
	target[length] = '\0';
	for (char *step = strtok(target, "/"); step != NULL; step = strtok(NULL, "/")) {
		depth += strcmp(step, "..") == 0 ? -1 : 1;
		if (depth < 1)
			fail_msg("%s leads out of sys/", path);
	}
	assert_int_equal(access(path, F_OK), 0);
	return 0;
}

static void
test_links(void **state)
{
	(void)state;
	nb_links = 0;
	assert_int_equal(nftw(dir, follow, 16, FTW_PHYS), 0);
	assert_true(nb_links >= 4 * 5);
}

static size_t longest;

static int
measure(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	if (strlen(path) - strlen(dir) > longest)
		longest = strlen(path) - strlen(dir);
	return 0;
}

/** libibverbs builds every path in 256 bytes; what it reads lies below "device", too. */
static void
test_paths_are_short(void **state)
{
	(void)state;
	assert_int_equal(nftw(dir, measure, 16, FTW_PHYS), 0);
	assert_true(longest > 40);
	assert_true(SHCA_TREE_DIR_MAX + longest < 256);
}

static void
test_out_of_buffer(void **state)
{
	static const uint64_t counts[] = { 7, 123456, 0, UINT64_MAX, 5 };
	static const char *const texts[] = { "7\n", "123456\n", "0\n", "18446744073709551615\n",
		"5\n" };
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(shca_tree_set_counter(dir, 1, 1, "out_of_buffer", counts[i]), 0);
		read_text(IB "1/ports/1/hw_counters/out_of_buffer", text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	read_text(IB "0/ports/1/hw_counters/out_of_buffer", text, sizeof(text));
	assert_string_equal(text, "0\n");
	assert_int_equal(shca_tree_set_counter(dir, 4, 1, "out_of_buffer", 1), -ENOENT);
}

/** Traffic is in another directory than what mlx5 counts. */
static void
test_traffic(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(shca_tree_set_counter(dir, 1, 1, "unicast_rcv_packets", 9), 0);
	read_text(IB "1/ports/1/counters/unicast_rcv_packets", text, sizeof(text));
	assert_string_equal(text, "9\n");
}

static void
test_link(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(shca_tree_set_link(dir, 1, 1, false), 0);
	read_text(IB "1/ports/1/state", text, sizeof(text));
	assert_string_equal(text, "1: DOWN\n");
	read_text(IB "1/ports/1/phys_state", text, sizeof(text));
	assert_string_equal(text, "3: Disabled\n");
	assert_int_equal(shca_tree_set_link(dir, 1, 1, true), 0);
	read_text(IB "1/ports/1/state", text, sizeof(text));
	assert_string_equal(text, "4: ACTIVE\n");
	read_text(IB "1/ports/1/phys_state", text, sizeof(text));
	assert_string_equal(text, "5: LinkUp\n");
	assert_int_equal(shca_tree_set_link(dir, 4, 1, true), -ENOENT);
}

static void
test_errors(void **state)
{
	char error[64], longest_dir[300];
	struct shca_options options;

	(void)state;
	shca_options_init(&options);
	shca_options_add_port(&options, "", error, sizeof(error));
	assert_int_equal(shca_tree_create(&options, "/nonexistent/dir"), -ENOENT);
	memset(longest_dir, 'x', sizeof(longest_dir));
	longest_dir[sizeof(longest_dir) - 1] = '\0';
	assert_int_equal(shca_tree_create(&options, longest_dir), -ENAMETOOLONG);
	assert_int_equal(shca_tree_remove("/nonexistent/dir"), -ENOENT);
}

/** An e-switch's manager has a port a vport; their netdevs are below its PCI device. */
static void
test_manager(void **state)
{
	static const struct {
		const char *path, *text;
	} wanted[] = {
		{ IB "0/ports/1/state", "4: ACTIVE\n" },
		{ IB "0/ports/2/state", "1: DOWN\n" },
		{ IB "0/ports/3/hw_counters/out_of_buffer", "0\n" },
		{ IB "0/ports/3/cap_mask", "0x00000000\n" },
		{ IB "1/ports/1/gids/0", "fe80:0000:0000:0000:0000:00ff:fe00:0002\n" },
		{ PCI "00.0/net/rep0/phys_port_name", "pf0vf0\n" },
		{ PCI "00.0/net/rep0/address", "02:80:00:00:00:02\n" },
		{ PCI "00.0/net/up0/phys_port_name", "p0\n" },
		{ PCI "00.0/net/up0/phys_switch_id", "020000fffe000001\n" },
		{ PCI "00.0/net/up0/address", "02:00:00:00:00:01\n" },
		{ "sys/devices/virtual/net/rep0/device/vendor", "0x15b3\n" },
		{ "sys/devices/virtual/net/rep0/phys_port_name", "pf0vf0\n" },
		{ "sys/devices/virtual/net/up0/phys_switch_id", "020000fffe000001\n" },
		{ PCI "01.0/physfn/infiniband/mlx5_0/node_type", "1: CA\n" },
		{ PCI "00.0/virtfn0/infiniband/mlx5_1/node_type", "1: CA\n" },
		{ PCI "00.0/sriov_numvfs", "1\n" },
	};
	static const char *const absent[] = { IB "0/ports/4", IB "0/ports/1/gids", IB "1/ports/2",
		PCI "01.0/net", "sys/devices/card0", "sys/devices/card1" };
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x77 };
	struct shca_options options;
	struct shca_tree_port port;
	char dir_of_card[] = "/tmp/tree-manager-XXXXXX", error[256], text[256];

	(void)state;
	shca_options_init(&options);
	assert_int_equal(shca_options_add_port(
				 &options, "switchdev=on,kernel=tap:up0", error, sizeof(error)),
		0);
	assert_int_equal(shca_options_add_port(
				 &options, "vf=on,switchdev=on,rep=tap:rep0", error, sizeof(error)),
		0);
	assert_non_null(mkdtemp(dir_of_card));
	assert_int_equal(shca_tree_create(&options, dir_of_card), 0);
	assert_int_equal(shca_tree_set_link(dir_of_card, 0, 2, false), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		read_below(dir_of_card, wanted[i].path, text, sizeof(text));
		assert_string_equal(text, wanted[i].text);
	}
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		snprintf(text, sizeof(text), "%s/%s", dir_of_card, absent[i]);
		assert_int_equal(access(text, F_OK), -1);
	}
	assert_int_equal(shca_tree_get_port(dir_of_card, 0, 2, &port), 0);
	assert_string_equal(port.netdev.name, "rep0");
	assert_int_equal(port.state, 1);
	assert_int_equal(shca_tree_get_port(dir_of_card, 0, 1, &port), 0);
	assert_string_equal(port.netdev.name, "");
	/* A new name of the one leaves the other. */
	assert_int_equal(shca_tree_set_netdev(dir_of_card, 0, 2,
				 &(struct shca_tree_netdev){ "new0", 7, UINT64_MAX }),
		0);
	assert_int_equal(shca_tree_get_port(dir_of_card, 0, 2, &port), 0);
	assert_int_equal(port.netdev.ifindex, 7);
	assert_true(port.netdev.netns == UINT64_MAX);
	assert_string_equal(port.netdev.name, "new0");
	assert_int_equal(shca_tree_get_port(dir_of_card, 0, 3, &port), 0);
	assert_string_equal(port.netdev.name, "up0");
	read_below(dir_of_card, PCI "00.0/net/new0/phys_port_name", text, sizeof(text));
	assert_string_equal(text, "pf0vf0\n");
	assert_int_equal(shca_tree_set_mac(dir_of_card, 0, 2, mac), 0);
	read_below(dir_of_card, PCI "00.0/net/new0/address", text, sizeof(text));
	assert_string_equal(text, "02:00:00:00:00:77\n");
	assert_int_equal(shca_tree_get_port(dir_of_card, 0, 4, &port), -ENOENT);
	assert_int_equal(shca_tree_remove(dir_of_card), 0);
}

/** The physical function leads to its functions, and tells how many there are. */
static void
test_physical_function(void **state)
{
	static const struct {
		const char *path, *text;
	} wanted[] = {
		{ PCI "00.0/device", "0x1017\n" },
		{ PCI "00.0/sriov_numvfs", "2\n" },
		{ PCI "00.0/sriov_totalvfs", "2\n" },
		{ PCI "00.0/sriov_drivers_autoprobe", "1\n" },
		{ PCI "00.0/sriov_vf_device", "1018\n" },
		{ PCI "00.0/virtfn0/infiniband/mlx5_1/hca_type", "MT4120\n" },
		{ PCI "00.0/virtfn1/infiniband/mlx5_3/hca_type", "MT4120\n" },
		{ PCI "01.0/physfn/infiniband/mlx5_0/hca_type", "MT4119\n" },
		{ PCI "03.0/physfn/net/pf0/address", "02:00:00:00:00:01\n" },
	};
	static const char *const absent[] = { PCI "00.0/physfn", PCI "00.0/virtfn2",
		PCI "00.0/net/pf0/phys_port_name", PCI "00.0/net/pf0/phys_switch_id",
		IB "0/ports/2", PCI "01.0/sriov_numvfs", PCI "02.0/sriov_numvfs",
		"sys/devices/card0", "sys/devices/card1" };
	static const char *const ports[] = { "wire=null,pf=on,kernel=tap:pf0", "wire=null,vf=on",
		"wire=null", "wire=null,vf=on,trust=on" };
	char dir_of_card[] = "/tmp/tree-pf-XXXXXX", error[256], text[512];
	struct shca_options options;

	(void)state;
	shca_options_init(&options);
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		assert_int_equal(
			shca_options_add_port(&options, ports[i], error, sizeof(error)), 0);
	assert_non_null(mkdtemp(dir_of_card));
	assert_int_equal(shca_tree_create(&options, dir_of_card), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		read_below(dir_of_card, wanted[i].path, text, sizeof(text));
		assert_string_equal(text, wanted[i].text);
	}
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		snprintf(text, sizeof(text), "%s/%s", dir_of_card, absent[i]);
		assert_int_equal(access(text, F_OK), -1);
	}
	read_below(dir_of_card, PCI "03.0/physfn/sriov/1/config", text, sizeof(text));
	assert_non_null(strstr(text, "\nSpoofCheck : OFF\nTrust      : ON\n"));
	assert_int_equal(shca_tree_remove(dir_of_card), 0);
}

/** Lanes and their speed are those of a query (abi/object/device.c link_modes). */
static void
test_rates(void **state)
{
	static const char *const rates[][2] = {
		{ "1g", "2.5 Gb/sec (1X SDR)\n" },
		{ "5g", "5 Gb/sec (1X DDR)\n" },
		{ "10g", "10 Gb/sec (1X QDR)\n" },
		{ "40g", "40 Gb/sec (4X QDR)\n" },
		{ "50g", "50 Gb/sec (2X EDR)\n" },
		{ "100g", "100 Gb/sec (4X EDR)\n" },
		{ "200g", "200 Gb/sec (4X HDR)\n" },
		{ "400g", "400 Gb/sec (4X NDR)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char dir_of_port[] = "/tmp/tree-rate-XXXXXX", error[256], text[64];
		struct shca_options options;

		shca_options_init(&options);
		snprintf(text, sizeof(text), "speed=%s", rates[i][0]);
		assert_int_equal(shca_options_add_port(&options, text, error, sizeof(error)), 0);
		assert_non_null(mkdtemp(dir_of_port));
		assert_int_equal(shca_tree_create(&options, dir_of_port), 0);
		read_below(dir_of_port, IB "0/ports/1/rate", text, sizeof(text));
		assert_string_equal(text, rates[i][1]);
		assert_int_equal(shca_tree_remove(dir_of_port), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_resource),
		cmocka_unit_test(test_classes_lead_into_the_device),
		cmocka_unit_test(test_driver_link),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_paths_are_short),
		cmocka_unit_test(test_out_of_buffer),
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_manager),
		cmocka_unit_test(test_physical_function),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
