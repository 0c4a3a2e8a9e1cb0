/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, and ports as RDMA netlink lists them; device_open_test.c has sysfs. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/ibport.h"
#include "device/resolve.h"
#include "rig.h"

/* In place of the driver's and of the C library's, by the linker's --wrap. */
int __wrap_mdv_ibports_list(struct mdv_ibport **ports);
unsigned int __wrap_if_nametoindex(const char *ifname);

/** A card with a bare port, and one in switchdev mode, with a VF, whose PF has no representor. */
static const struct mdv_ibport known[] = {
	{ "mlx5_0", 1, 10, "ens1np0" },
	{ "mlx5_1", 1, 0, "" },
	{ "mlx5_1", 2, 11, "ens2npf0vf0" },
	{ "mlx5_1", 3, 12, "ens2np0" },
	{ "mlx5_2", 1, 0, "" },
	{ "mlx5_3", 300, 13, "far" },
	{ "mlx5_bond_0", 1, 14, "ens3f0" },
	{ "mlx5_bond_1", 1, 15, "ens4f0" },
	{ "mlx5_bond_2", 1, 16, "ens5f0" },
	{ "mlx5_4", 1, 17, "ens6f0" },
	{ "rocelag", 1, 18, "ens7f0" },
	{ "backup", 1, 19, "ens8f1" },
	{ "mixed", 1, 20, "ens9f0" },
	{ "alone", 1, 21, "ens10f0" },
	{ "left", 1, 22, "ens11f0" },
};

int
__wrap_mdv_ibports_list(struct mdv_ibport **ports)
{
	*ports = malloc(sizeof(known));
	assert_non_null(*ports);
	memcpy(*ports, known, sizeof(known));
	return RTE_DIM(known);
}

unsigned int
__wrap_if_nametoindex(const char *ifname)
{
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		if (strcmp(known[i].ifname, ifname) == 0)
			return known[i].ifindex;
	}
	return strcmp(ifname, "lo") == 0 ? 1 : 0;
}

static char root[] = "/tmp/drv_resolve_XXXXXX";

static int
run(const char *before, const char *after)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %s%s", before, root, after);
	return system(line);
}

/** Members of bonds, on their functions, of which some have an RDMA device. */
static int
netdevs_make(void)
{
	static const struct {
		const char *ifname, *function;
		bool has_ibdev;
		const char *slaves;
	} netdevs[] = {
		{ "ens3f0", "03:00.0", true, "ens3f0 ens3f1" },
		{ "ens6f0", "06:00.0", true, "ens6f0 ens6f1" },
		{ "ens6f1", "06:00.1", true, "" },
		{ "ens7f0", "07:00.0", true, "ens7f0 ens7f1" },
		{ "ens7f1", "07:00.1", false, "" },
		{ "ens8f0", "08:00.0", true, "" },
		{ "ens8f1", "08:00.1", false, "ens8f0 ens8f1" },
		{ "ens9f0", "09:00.0", true, "ens9f0 eno1" },
		{ "eno1", "01:00.0", false, "" },
		{ "ens10f0", "0a:00.0", true, "ens10f0" },
		{ "ens11f0", "0b:00.0", true, "ens11f0 gone" },
	};
	char line[512];
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < RTE_DIM(netdevs); i++) {
		snprintf(line, sizeof(line),
			"cd %s && mkdir -p pci/%s/%s class/net/%s/master/bonding && "
			"ln -s ../../../pci/%s class/net/%s/device && cd class/net/%s/master && "
			"echo %s >bonding/slaves && echo 24 >ifindex",
			root, netdevs[i].function, netdevs[i].has_ibdev ? "infiniband" : "net",
			netdevs[i].ifname, netdevs[i].function, netdevs[i].ifname,
			netdevs[i].ifname, netdevs[i].slaves);
		ret = system(line);
	}
	return ret;
}

static int
tree_make(void **state)
{
	(void)state;
	if (mkdtemp(root) == NULL || setenv("SYSFS_PATH", root, 1) != 0)
		return -1;
	return run("mkdir -p", "/class/infiniband/mlx5_9/device/net/lo") ||
		run("mkdir -p", "/class/net/ens5f0/master/bridge") ||
		run("echo 26 >", "/class/net/ens5f0/master/ifindex") || netdevs_make();
}

static int
tree_remove(void **state)
{
	(void)state;
	return run("rm -r", "");
}

static void
ports_of_arguments(void **state)
{
	/* clang-format off */
	static const struct {
		const char *ibdev, *iface;
		uint8_t port;
		int result;
		const char *name;
		uint8_t port_num;
		unsigned int ifindex;
		const char *ifname;
	} cases[] = {
		{ "mlx5_0", "", 0, 0, "mlx5_0", 1, 10, "ens1np0" },
		{ "mlx5_0", "", 1, 0, "mlx5_0", 1, 10, "ens1np0" },
		{ "mlx5_0", "", 2, -ENODEV, NULL, 0, 0, NULL },
		{ "mlx5_1", "", 0, -EINVAL, NULL, 0, 0, NULL },
		{ "mlx5_1", "", 1, 0, "mlx5_1", 1, 0, "" },
		{ "mlx5_1", "", 2, 0, "mlx5_1", 2, 11, "ens2npf0vf0" },
		{ "mlx5_1", "", 3, 0, "mlx5_1", 3, 12, "ens2np0" },
		{ "mlx5_1", "", 4, -ENODEV, NULL, 0, 0, NULL },
		{ "mlx5_2", "", 0, 0, "mlx5_2", 1, 0, "" },
		{ "", "ens1np0", 0, 0, "mlx5_0", 1, 10, "ens1np0" },
		{ "", "ens2npf0vf0", 0, 0, "mlx5_1", 2, 11, "ens2npf0vf0" },
		{ "", "ens2np0", 0, 0, "mlx5_1", 3, 12, "ens2np0" },
		{ "", "lo", 0, -ENODEV, NULL, 0, 0, NULL },
		{ "", "ens9", 0, -ENODEV, NULL, 0, 0, NULL },
		/* Verbs has 8 bits for a port's number. */
		{ "mlx5_3", "", 0, -ENODEV, NULL, 0, 0, NULL },
		{ "", "far", 0, -ENODEV, NULL, 0, 0, NULL },
		/* Not known to netlink: sysfs may know a netdev, and opening the device tells why. */
		{ "mlx5_9", "", 0, 0, "mlx5_9", 1, 1, "lo" },
		{ "mlx5_9", "", 3, 0, "mlx5_9", 3, 0, "" },
		{ "mlx5_8", "", 0, 0, "mlx5_8", 1, 0, "" },
	};
	/* clang-format on */

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_config config = { .port = cases[i].port };
		struct mdv_device device = { 0 };

		strcpy(config.ibdev, cases[i].ibdev);
		strcpy(config.iface, cases[i].iface);
		assert_int_equal(mdv_resolve(&config, &device), cases[i].result);
		if (cases[i].result != 0)
			continue;
		assert_string_equal(device.name, cases[i].name);
		assert_int_equal(device.port_num, cases[i].port_num);
		assert_int_equal(device.ifindex, cases[i].ifindex);
		assert_string_equal(device.ifname, cases[i].ifname);
	}
}

/** MTU and flags are the bond's where Linux has bonded the device, and not only its netdev. */
static void
a_bond_is_above_a_bonded_device(void **state)
{
	static const struct {
		const char *ibdev;
		unsigned int ifindex, upper;
	} cases[] = {
		{ "mlx5_0", 10, 10 },
		{ "mlx5_1", 0, 0 },
		{ "mlx5_bond_0", 14, 24 },
		{ "mlx5_bond_1", 15, 15 }, /* the bond is gone */
		{ "mlx5_bond_2", 16, 16 }, /* a member of a bridge */
		{ "mlx5_4", 17, 17 },      /* a bond that Linux does not offload */
		/* Renamed: the card's other port has no device; nor has the active one. */
		{ "rocelag", 18, 24 },
		{ "backup", 19, 24 },
		/* Bonds with another card's port, of one member, and with one that is gone. */
		{ "mixed", 20, 20 },
		{ "alone", 21, 21 },
		{ "left", 22, 22 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_config config = { .port = 1 };
		struct mdv_device device = { 0 };

		strcpy(config.ibdev, cases[i].ibdev);
		assert_int_equal(mdv_resolve(&config, &device), 0);
		assert_int_equal(device.ifindex, cases[i].ifindex);
		assert_int_equal(mdv_device_upper_netdev(&device), cases[i].upper);
		/* The netdev is gone, and its index may be another's. */
		device.ifindex = 0;
		assert_int_equal(mdv_device_upper_netdev(&device), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_of_arguments),
		cmocka_unit_test(a_bond_is_above_a_bonded_device),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
