/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The sysfs files, one row each; {name} in a path or text stands for a value of the device
 * or of one of its ports. */
#include "sysfs/tree.h"

#include <errno.h>
#include <ftw.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/log.h"
#include "base/node.h"
#include "config/model.h"
#include "config/model_speed.h"
#include "config/options.h"
#include "config/options_ports.h"
#include "sysfs/paths.h"
#include "sysfs/pci_config.h"
#include "sysfs/tree_make.h"
#include "wire/wire.h"

#define TEXT_MAX 512

#define CLASS        SHCA_TREE_SYS "/class"
#define PCI          SHCA_TREE_SYS "/" SHCA_TREE_BUS "/{pci}"
#define UVERBS       PCI "/infiniband_verbs/uverbs{i}"
#define IBDEV        PCI "/infiniband/mlx5_{i}"
#define NETDEV       PCI "/net/{netdev}"
#define LINUX_NETDEV SHCA_TREE_SYS "/devices/virtual/net/{netdev}"
#define CARD         SHCA_TREE_SYS "/{card}"
#define PORT         IBDEV "/ports/{port}"

enum row_kind {
	ROW_FILE,
	ROW_LINK,
	ROW_DIR,
	ROW_PCI_CONFIG, /**< not text */
};

/** What a row is there for, once each. */
enum row_of {
	OF_DEVICE,
	OF_VF, /**< of devices, only virtual functions */
	OF_PF, /**< of devices, only those that have virtual functions */
	OF_PORT,
	OF_GIDS,   /**< of ports, all but an e-switch manager's, which are for raw packets alone */
	OF_NETDEV, /**< of ports, only those with a netdev */
	OF_REP,    /**< of those, only an e-switch manager's */
};

struct row {
	enum row_kind kind;
	enum row_of of;
	const char *path;
	const char *text; /**< of a file; target of a link */
};

/* clang-format off */
#define ROW_ROCE_COUNTER(name) { ROW_FILE, OF_PORT, PORT "/hw_counters/" name, "0\n" },
#define ROW_PMA_COUNTER(name) { ROW_FILE, OF_PORT, PORT "/counters/" name, "0\n" },

static const struct row tree_rows[] = {
	/* Versions of the uverbs ABI (libibverbs takes 3 to 6) and mlx5's (libmlx5 takes 1). */
	{ ROW_FILE, OF_DEVICE, CLASS "/infiniband_verbs/abi_version", "6\n" },
	/* librdmacm takes 3 and 4 (cma.c check_abi_version_sysfs); 4 is Linux's. */
	{ ROW_FILE, OF_DEVICE, CLASS "/misc/rdma_cm/abi_version", "4\n" },
	{ ROW_FILE, OF_DEVICE, UVERBS "/ibdev", "mlx5_{i}\n" },
	{ ROW_FILE, OF_DEVICE, UVERBS "/dev", "231:{minor}\n" },
	{ ROW_FILE, OF_DEVICE, UVERBS "/abi_version", "1\n" },
	{ ROW_LINK, OF_DEVICE, UVERBS "/device", "../../../{pci}" },
	/* udev knows no directory as a device that has no uevent. */
	{ ROW_FILE, OF_DEVICE, UVERBS "/uevent",
		"MAJOR=231\nMINOR={minor}\nDEVNAME=infiniband/uverbs{i}\nDEVMODE=0666\n" },
	{ ROW_LINK, OF_DEVICE, UVERBS "/subsystem", "../../../../../class/infiniband_verbs" },
	/* Programs learn the PCI device from where this leads (UCX: realpath()). */
	{ ROW_LINK, OF_DEVICE, CLASS "/infiniband_verbs/uverbs{i}",
		"../../" SHCA_TREE_BUS "/{pci}/infiniband_verbs/uverbs{i}" },

	{ ROW_FILE, OF_DEVICE, IBDEV "/node_type", "1: CA\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/node_guid", "{guid}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/sys_image_guid", "{guid}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/node_desc", "softhca mlx5_{i}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/fw_ver", "{fw}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/hca_type", "{type}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/hw_rev", "{hw-rev}\n" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/board_id", "{board}\n" },
	{ ROW_FILE, OF_PORT, PORT "/state", "4: ACTIVE\n" },
	{ ROW_FILE, OF_PORT, PORT "/phys_state", "5: LinkUp\n" },
	{ ROW_FILE, OF_PORT, PORT "/rate", "{rate}\n" },
	{ ROW_FILE, OF_PORT, PORT "/link_layer", "Ethernet\n" },
	/* Subnet managers are InfiniBand's. libibumad reads no port that lacks one of these. */
	{ ROW_FILE, OF_PORT, PORT "/lid", "0x0\n" },
	{ ROW_FILE, OF_PORT, PORT "/lid_mask_count", "0\n" },
	{ ROW_FILE, OF_PORT, PORT "/sm_lid", "0x0\n" },
	{ ROW_FILE, OF_PORT, PORT "/sm_sl", "0\n" },
	{ ROW_FILE, OF_PORT, PORT "/cap_mask", "{cap-mask}\n" },
	{ ROW_FILE, OF_PORT, PORT "/pkeys/0", "0xffff\n" },
	/* The GID of the MAC, as RoCE v1 and v2; the ndevs of a port without netdev are empty. The other
	 * entries follow (make_gids). */
	{ ROW_FILE, OF_GIDS, PORT "/gids/0", "{gid}\n" },
	{ ROW_FILE, OF_GIDS, PORT "/gids/1", "{gid}\n" },
	{ ROW_FILE, OF_GIDS, PORT "/gid_attrs/types/0", "IB/RoCE v1\n" },
	{ ROW_FILE, OF_GIDS, PORT "/gid_attrs/types/1", "RoCE v2\n" },
	{ ROW_FILE, OF_GIDS, PORT "/gid_attrs/ndevs/0", "{netdev-line}" },
	{ ROW_FILE, OF_GIDS, PORT "/gid_attrs/ndevs/1", "{netdev-line}" },
	{ ROW_FILE, OF_PORT, PORT "/hw_counters/out_of_buffer", "0\n" },
	/* Of RoCE (mlx5_ib counters.c). */
	SHCA_TREE_ROCE_COUNTERS(ROW_ROCE_COUNTER)
	/* In milliseconds: the device thread reports at this interval. */
	{ ROW_FILE, OF_PORT, PORT "/hw_counters/lifespan", "10\n" },
	SHCA_TREE_PMA_COUNTERS(ROW_PMA_COUNTER)
	{ ROW_LINK, OF_DEVICE, IBDEV "/device", "../../../{pci}" },
	{ ROW_FILE, OF_DEVICE, IBDEV "/uevent", "NAME=mlx5_{i}\n" },
	{ ROW_LINK, OF_DEVICE, IBDEV "/subsystem", "../../../../../class/infiniband" },
	{ ROW_LINK, OF_DEVICE, CLASS "/infiniband/mlx5_{i}", "../../" SHCA_TREE_BUS "/{pci}/infiniband/mlx5_{i}" },

	{ ROW_DIR, OF_DEVICE, SHCA_TREE_SYS "/bus/pci/drivers/mlx5_core", NULL },
	{ ROW_FILE, OF_DEVICE, PCI "/vendor", "0x15b3\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/device", "0x{id}\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/subsystem_vendor", "0x15b3\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/subsystem_device", "0x0001\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/class", "0x020000\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/revision", "{revision}\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/max_vfs", "0\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/numa_node", "0\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/resource", "{bars}" },
	{ ROW_FILE, OF_DEVICE, PCI "/irq", "0\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/enable", "1\n" },
	{ ROW_PCI_CONFIG, OF_DEVICE, PCI "/config", NULL },
	{ ROW_FILE, OF_DEVICE, PCI "/modalias", "{modalias}\n" },
	{ ROW_FILE, OF_DEVICE, PCI "/uevent",
		"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:{ID}\nPCI_SUBSYS_ID=15B3:0001\n"
		"PCI_SLOT_NAME={pci}\nMODALIAS={modalias}\n" },
	{ ROW_LINK, OF_DEVICE, PCI "/subsystem", "../../../bus/pci" },
	{ ROW_LINK, OF_DEVICE, PCI "/driver", "../../../bus/pci/drivers/mlx5_core" },
	{ ROW_LINK, OF_DEVICE, SHCA_TREE_PCI "/{pci}", "../../../" SHCA_TREE_BUS "/{pci}" },
	{ ROW_FILE, OF_NETDEV, NETDEV "/dev_port", "0\n" },
	{ ROW_FILE, OF_NETDEV, NETDEV "/dev_id", "0x0\n" },
	{ ROW_FILE, OF_NETDEV, NETDEV "/address", "{mac}\n" },
	{ ROW_FILE, OF_NETDEV, NETDEV "/ifindex", "{ifindex}\n" },
	{ ROW_FILE, OF_REP, NETDEV "/phys_port_name", "{phys}\n" },
	{ ROW_FILE, OF_REP, NETDEV "/phys_switch_id", "{switch}\n" },
	/* In Linux's own place, which run --sys shows. */
	{ ROW_LINK, OF_NETDEV, LINUX_NETDEV "/device", "../../../../" SHCA_TREE_BUS "/{pci}" },
	{ ROW_FILE, OF_REP, LINUX_NETDEV "/phys_port_name", "{phys}\n" },
	{ ROW_FILE, OF_REP, LINUX_NETDEV "/phys_switch_id", "{switch}\n" },
	/* Beside the tree, for this file: the netdev of a port. */
	{ ROW_FILE, OF_NETDEV, SHCA_TREE_NETDEVS "/{i}.{port}", "{netdev} {ifindex}\n" },

	/* A physical function's (Linux drivers/pci/iov.c). */
	{ ROW_FILE, OF_PF, PCI "/sriov_numvfs", "{numvfs}\n" },
	{ ROW_FILE, OF_PF, PCI "/sriov_totalvfs", "{numvfs}\n" },
	{ ROW_FILE, OF_PF, PCI "/sriov_drivers_autoprobe", "1\n" },
	{ ROW_FILE, OF_PF, PCI "/sriov_vf_device", "{vf-id}\n" },
	/* Without a physical function, a card has only its functions' settings, as MLNX_OFED shows them (mlx5_core sriov_sysfs.c,
	 * config_show). It is not among the PCI devices, so no program takes it for one. */
	{ ROW_LINK, OF_VF, PCI "/physfn", "../../../{card}" },
	{ ROW_LINK, OF_VF, CARD "/virtfn{vf}", "{virtfn}" },
	{ ROW_FILE, OF_VF, CARD "/sriov/{vf}/config",
		"VF         : {vf}\nMAC        : {mac}\nVLAN       : 0\nQoS        : 0\n"
		"VLAN Proto : N/A\nSpoofCheck : {spoof}\nTrust      : {trust}\n"
		"LinkState  : Follow\nMinTxRate  : 0\nMaxTxRate  : 0\nVGT+       : OFF\n" },
};
/* clang-format on */

enum value {
	VALUE_I,
	VALUE_MINOR,
	VALUE_PCI,
	VALUE_ID_LOWER,
	VALUE_ID_UPPER,
	VALUE_TYPE,
	VALUE_HW_REV,
	VALUE_REVISION,
	VALUE_BOARD,
	VALUE_FW,
	VALUE_RATE,
	VALUE_MAC,
	VALUE_GUID,
	VALUE_GID,
	VALUE_BARS,
	VALUE_MODALIAS,
	VALUE_NETDEV,
	VALUE_NETDEV_LINE,
	VALUE_IFINDEX,
	VALUE_PORT,
	VALUE_CAP_MASK,
	VALUE_PHYS,
	VALUE_SWITCH,
	VALUE_CARD,
	VALUE_VIRTFN,
	VALUE_VF,
	VALUE_NUM_VFS,
	VALUE_VF_ID,
	VALUE_SPOOF,
	VALUE_TRUST,
	NB_VALUES,
};

static const char *const value_names[NB_VALUES] = {
	[VALUE_I] = "i",
	[VALUE_MINOR] = "minor",
	[VALUE_PCI] = "pci",
	[VALUE_ID_LOWER] = "id",
	[VALUE_ID_UPPER] = "ID",
	[VALUE_TYPE] = "type",
	[VALUE_HW_REV] = "hw-rev",
	[VALUE_REVISION] = "revision",
	[VALUE_BOARD] = "board",
	[VALUE_FW] = "fw",
	[VALUE_RATE] = "rate",
	[VALUE_MAC] = "mac",
	[VALUE_GUID] = "guid",
	[VALUE_GID] = "gid",
	[VALUE_BARS] = "bars",
	[VALUE_MODALIAS] = "modalias",
	[VALUE_NETDEV] = "netdev",
	[VALUE_NETDEV_LINE] = "netdev-line",
	[VALUE_IFINDEX] = "ifindex",
	[VALUE_PORT] = "port",
	[VALUE_CAP_MASK] = "cap-mask",
	[VALUE_PHYS] = "phys",
	[VALUE_SWITCH] = "switch",
	[VALUE_CARD] = "card",
	[VALUE_VIRTFN] = "virtfn",
	[VALUE_VF] = "vf",
	[VALUE_NUM_VFS] = "numvfs",
	[VALUE_VF_ID] = "vf-id",
	[VALUE_SPOOF] = "spoof",
	[VALUE_TRUST] = "trust",
};

struct values {
	char text[NB_VALUES][TEXT_MAX];
	uint8_t pci_config[SHCA_PCI_CONFIG_BYTES];
	bool is_vf, is_pf, is_rep, has_netdev;
};

#define SET(value, ...) snprintf(values->text[value], TEXT_MAX, __VA_ARGS__)

static void
set_mac(struct values *values, const uint8_t *mac)
{
	SET(VALUE_MAC, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
}

static void
set_addresses(struct values *values, const uint8_t *mac)
{
	/* The EUI-64 of the MAC, as in device queries (abi/object/device.c). */
	SET(VALUE_GUID, "%02x%02x:%02xff:fe%02x:%02x%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	/* Link-local from the modified EUI-64, RFC 4291 appendix A. */
	SET(VALUE_GID, "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x", mac[0] ^ 2, mac[1],
		mac[2], mac[3], mac[4], mac[5]);
}

/** Linux core/sysfs.c rate_show(): the rate follows from width and speed, as a query tells them. */
static void
set_rate(struct values *values, uint32_t speed_mbps)
{
	const struct shca_model_speed *speed = shca_model_speed_of(speed_mbps);

	SET(VALUE_RATE, "%g Gb/sec (%uX %s)", speed->mbps / 1000.0, speed->lanes, speed->name);
}

static bool
is_physical(const struct shca_port_options *port)
{
	return port->is_pf || shca_options_ports_manages(port);
}

static void
set_vf(struct values *values, const struct shca_options *options, unsigned int index)
{
	const struct shca_port_options *port = &options->port[index];
	const unsigned int first = shca_options_ports_card(options, index);

	values->is_vf = port->is_vf;
	values->is_pf = is_physical(port);
	SET(VALUE_NUM_VFS, "%u", shca_options_ports_nb_vfs(options, index));
	SET(VALUE_VF_ID, "%x", port->model.pci_vf_id);
	if (is_physical(&options->port[first])) {
		SET(VALUE_CARD, SHCA_TREE_BUS "/" SHCA_TREE_PCI_ADDRESS, first);
		SET(VALUE_VIRTFN, "../" SHCA_TREE_PCI_ADDRESS, index);
	} else {
		SET(VALUE_CARD, "devices/card%u", first);
		SET(VALUE_VIRTFN, "../../" SHCA_TREE_BUS "/" SHCA_TREE_PCI_ADDRESS, index);
	}
	SET(VALUE_VF, "%u", shca_options_ports_vf(options, index));
	SET(VALUE_SPOOF, "%s", port->checks_source ? "ON" : "OFF");
	SET(VALUE_TRUST, "%s", port->is_trusted ? "ON" : "OFF");
}

static void
set_values(struct values *values, const struct shca_port_options *port, unsigned int index)
{
	const struct shca_model *model = &port->model;
	unsigned int id = port->is_vf ? model->pci_vf_id : model->pci_device_id;

	shca_pci_config(model, port->is_vf, values->pci_config);
	SET(VALUE_I, "%u", index);
	SET(VALUE_MINOR, "%u", SHCA_NODE_MINOR + index);
	SET(VALUE_PCI, SHCA_TREE_PCI_ADDRESS, index);
	SET(VALUE_ID_LOWER, "%04x", id);
	SET(VALUE_ID_UPPER, "%04X", id);
	SET(VALUE_TYPE, "MT%u", id);
	/* Both are of one register (Linux hw/mlx5/main.c, hw_rev_show). */
	SET(VALUE_HW_REV, "%x", model->hw_ver);
	SET(VALUE_REVISION, "0x%02x", model->hw_ver);
	SET(VALUE_BOARD, "%s", model->board);
	shca_model_print_fw(model, values->text[VALUE_FW], TEXT_MAX);
	set_rate(values, port->speed_mbps);
	set_addresses(values, port->mac);
	values->text[VALUE_BARS][0] = '\0';
	/* 6 BARs and the ROM, none mapped: address, end, flags. */
	for (unsigned int i = 0; i < 7; i++)
		strcat(values->text[VALUE_BARS],
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
	SET(VALUE_MODALIAS, "pci:v000015B3d%08Xsv000015B3sd00000001bc02sc00i00", id);
}

static void
set_netdev(struct values *values, const struct shca_wire_options *kernel)
{
	const bool has_netdev = kernel->kind != NULL && strcmp(kernel->kind->name, "tap") == 0;
	const char *netdev = has_netdev ? kernel->arg : "";

	values->has_netdev = has_netdev;
	SET(VALUE_NETDEV, "%s", netdev);
	SET(VALUE_NETDEV_LINE, "%s%s", netdev, has_netdev ? "\n" : "");
	SET(VALUE_IFINDEX, "%u", has_netdev ? if_nametoindex(netdev) : 0);
}

/** Ports of an e-switch's manager and their netdevs have names as Linux gives them (Linux
 * en_rep.c/devlink_port.c): the uplink's p0, functions' pf0vf0 and so on. */
static void
set_port(struct values *values, const struct shca_options *options, unsigned int index,
	uint32_t number)
{
	static const struct shca_wire_options none;
	const struct shca_port_options *port = &options->port[index];
	const unsigned int nb_vports = shca_options_ports_vports(options, index);
	const int vf = shca_options_ports_of_rep(options, index, number);
	const uint8_t *mac = port->mac;
	uint8_t rep_mac[6];

	SET(VALUE_PORT, "%u", number);
	values->is_rep = nb_vports != 0;
	/* As a port's query tells it (abi/object/device.c), without what is of uverbs alone. */
	SET(VALUE_CAP_MASK, "0x%08x", nb_vports != 0 ? 0 : IB_UVERBS_PCF_CM_SUP);
	SET(VALUE_PHYS, "p0");
	SET(VALUE_SWITCH, "%02x%02x%02xfffe%02x%02x%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	if (nb_vports == 0 || number == nb_vports) {
		set_mac(values, mac);
		set_netdev(values, &port->kernel);
		return;
	}
	set_netdev(values, vf >= 0 ? &options->port[vf].rep : &none);
	if (vf < 0)
		return;
	SET(VALUE_PHYS, "pf0vf%u", shca_options_ports_vf(options, (unsigned int)vf));
	shca_options_ports_rep_mac(&options->port[vf], rep_mac);
	set_mac(values, rep_mac);
}

static bool
is_wanted(const struct values *values, enum row_of of, uint32_t number)
{
	switch (of) {
	case OF_DEVICE:
		return number == 1;
	case OF_VF:
		return number == 1 && values->is_vf;
	case OF_PF:
		return number == 1 && values->is_pf;
	case OF_PORT:
		return true;
	case OF_GIDS:
		return !values->is_rep;
	case OF_NETDEV:
		return values->has_netdev;
	case OF_REP:
		return values->has_netdev && values->is_rep;
	}
	return false;
}

static const char *
find_value(const struct values *values, const char *name, size_t length)
{
	for (unsigned int i = 0; i < NB_VALUES; i++)
		if (strlen(value_names[i]) == length && strncmp(value_names[i], name, length) == 0)
			return values->text[i];
	return NULL;
}

/** Replace {name} by its value. @return false when the result does not fit. */
static bool
expand(const char *text, const struct values *values, char *out, size_t size)
{
	size_t used = 0;

	while (*text != '\0') {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;
		const char *value =
			end == NULL ? NULL : find_value(values, text + 1, end - text - 1);
		size_t length = value == NULL ? 1 : strlen(value);

		if (used + length >= size)
			return false;
		memcpy(out + used, value == NULL ? text : value, length);
		used += length;
		text = value == NULL ? text + 1 : end + 1;
	}
	out[used] = '\0';
	return true;
}

static int
make_link(const char *path, const char *target)
{
	return symlink(target, path) == 0 ? 0 : -errno;
}

static int
make_row(const struct row *row, const struct values *values, const char *dir)
{
	char path[SHCA_TREE_PATH_MAX], text[2 * TEXT_MAX] = "";
	size_t length = strlen(dir);
	int ret;

	if (length + 1 >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, length);
	path[length] = '/';
	if (!expand(row->path, values, path + length + 1, sizeof(path) - length - 1) ||
		(row->text != NULL && !expand(row->text, values, text, sizeof(text))))
		return -ENAMETOOLONG;
	ret = shca_tree_make_parents(path, length);
	if (ret != 0)
		return ret;
	if (row->kind == ROW_DIR)
		return shca_tree_make_directory(path);
	if (row->kind == ROW_LINK)
		return make_link(path, text);
	if (row->kind == ROW_PCI_CONFIG)
		return shca_tree_make_file(path, values->pci_config, sizeof(values->pci_config));
	return shca_tree_make_file(path, text, strlen(text));
}

static int
make_rows(const struct values *values, uint32_t number, const char *dir)
{
	int ret = 0;

	for (unsigned int r = 0; r < sizeof(tree_rows) / sizeof(tree_rows[0]) && ret == 0; r++) {
		if (!is_wanted(values, tree_rows[r].of, number))
			continue;
		ret = make_row(&tree_rows[r], values, dir);
		if (ret != 0)
			SHCA_ERR("cannot write %s/%s: %s", dir, tree_rows[r].path, strerror(-ret));
	}
	return ret;
}

/** Entries of addresses, until there are any. */
static int
make_gids(const char *dir, unsigned int index)
{
	int ret = 0;

	for (uint32_t pair = 1; pair < SHCA_NODE_NB_GIDS / 2 && ret == 0; pair++)
		ret = shca_tree_set_gid(dir, index, pair, NULL);
	if (ret != 0)
		SHCA_ERR("cannot write the GIDs of mlx5_%u in %s: %s", index, dir, strerror(-ret));
	return ret;
}

int
shca_tree_create(const struct shca_options *options, const char *dir)
{
	struct values *values = malloc(sizeof(*values));
	int ret = values == NULL ? -ENOMEM : 0;

	for (unsigned int i = 0; i < options->nb_ports && ret == 0; i++) {
		const unsigned int nb_vports = shca_options_ports_vports(options, i);

		set_values(values, &options->port[i], i);
		set_vf(values, options, i);
		for (uint32_t number = 1; number <= (nb_vports != 0 ? nb_vports : 1) && ret == 0;
			number++) {
			set_port(values, options, i, number);
			ret = make_rows(values, number, dir);
		}
		if (nb_vports == 0 && ret == 0)
			ret = make_gids(dir, i);
	}
	free(values);
	return ret;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int
shca_tree_remove(const char *dir)
{
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : -errno;
}
