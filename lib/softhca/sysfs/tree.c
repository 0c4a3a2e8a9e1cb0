/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The sysfs files, one row each; {name} in a path or text stands for a value of the port. */
#include "sysfs/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/node.h"
#include "config/model.h"
#include "config/options.h"
#include "config/options_ports.h"
#include "sysfs/pci_config.h"
#include "wire/wire.h"

#define TREE_PATH_MAX 256
#define TEXT_MAX      512

#define UVERBS SHCA_TREE_SYS "/class/infiniband_verbs/uverbs{i}"
#define IBDEV  SHCA_TREE_SYS "/class/infiniband/mlx5_{i}"
#define PCI    SHCA_TREE_PCI "/{pci}"
#define NETDEV PCI "/net/{netdev}"
#define CARD   SHCA_TREE_SYS "/devices/card{card}"
#define PORT   "/class/infiniband/mlx5_%u/ports/1"

/** In a PCI domain that no machine has, so no real device has the address. */
#define PCI_ADDRESS "5ca0:00:%02x.0"

enum row_kind {
	ROW_FILE,
	ROW_LINK,
	ROW_DIR,
	ROW_NETDEV_FILE, /**< only for a port with a netdev */
	ROW_VF_FILE,     /**< only for a virtual function */
	ROW_VF_LINK,
	ROW_PCI_CONFIG, /**< not text */
};

struct row {
	enum row_kind kind;
	const char *path;
	const char *text; /**< of a file; target of a link */
};

/* clang-format off */
static const struct row tree_rows[] = {
	/* Versions of the uverbs ABI (libibverbs takes 3 to 6) and mlx5's (libmlx5 takes 1). */
	{ ROW_FILE, SHCA_TREE_SYS "/class/infiniband_verbs/abi_version", "6\n" },
	{ ROW_FILE, UVERBS "/ibdev", "mlx5_{i}\n" },
	{ ROW_FILE, UVERBS "/dev", "231:{minor}\n" },
	{ ROW_FILE, UVERBS "/abi_version", "1\n" },
	{ ROW_LINK, UVERBS "/device", "../../../bus/pci/devices/{pci}" },

	{ ROW_FILE, IBDEV "/node_type", "1: CA\n" },
	{ ROW_FILE, IBDEV "/node_guid", "{guid}\n" },
	{ ROW_FILE, IBDEV "/sys_image_guid", "{guid}\n" },
	{ ROW_FILE, IBDEV "/node_desc", "softhca mlx5_{i}\n" },
	{ ROW_FILE, IBDEV "/fw_ver", "{fw}\n" },
	{ ROW_FILE, IBDEV "/hca_type", "{type}\n" },
	{ ROW_FILE, IBDEV "/hw_rev", "0\n" },
	{ ROW_FILE, IBDEV "/board_id", "{board}\n" },
	{ ROW_FILE, IBDEV "/ports/1/state", "4: ACTIVE\n" },
	{ ROW_FILE, IBDEV "/ports/1/phys_state", "5: LinkUp\n" },
	{ ROW_FILE, IBDEV "/ports/1/rate", "{gbps} Gb/sec\n" },
	{ ROW_FILE, IBDEV "/ports/1/link_layer", "Ethernet\n" },
	{ ROW_FILE, IBDEV "/ports/1/lid", "0x0\n" },
	{ ROW_FILE, IBDEV "/ports/1/pkeys/0", "0xffff\n" },
	/* The GID of the MAC, as RoCE v1 and v2; the ndevs of a port without netdev are empty. */
	{ ROW_FILE, IBDEV "/ports/1/gids/0", "{gid}\n" },
	{ ROW_FILE, IBDEV "/ports/1/gids/1", "{gid}\n" },
	{ ROW_FILE, IBDEV "/ports/1/gid_attrs/types/0", "IB/RoCE v1\n" },
	{ ROW_FILE, IBDEV "/ports/1/gid_attrs/types/1", "RoCE v2\n" },
	{ ROW_FILE, IBDEV "/ports/1/gid_attrs/ndevs/0", "{netdev-line}" },
	{ ROW_FILE, IBDEV "/ports/1/gid_attrs/ndevs/1", "{netdev-line}" },
	{ ROW_FILE, IBDEV "/ports/1/hw_counters/out_of_buffer", "0\n" },
	/* In milliseconds: the device thread reports at this interval. */
	{ ROW_FILE, IBDEV "/ports/1/hw_counters/lifespan", "10\n" },
	{ ROW_LINK, IBDEV "/device", "../../../bus/pci/devices/{pci}" },

	{ ROW_DIR, SHCA_TREE_SYS "/bus/pci/drivers/mlx5_core", NULL },
	{ ROW_FILE, PCI "/vendor", "0x15b3\n" },
	{ ROW_FILE, PCI "/device", "0x{id}\n" },
	{ ROW_FILE, PCI "/subsystem_vendor", "0x15b3\n" },
	{ ROW_FILE, PCI "/subsystem_device", "0x0001\n" },
	{ ROW_FILE, PCI "/class", "0x020000\n" },
	{ ROW_FILE, PCI "/revision", "0x00\n" },
	{ ROW_FILE, PCI "/max_vfs", "0\n" },
	{ ROW_FILE, PCI "/numa_node", "0\n" },
	{ ROW_FILE, PCI "/resource", "{bars}" },
	{ ROW_FILE, PCI "/irq", "0\n" },
	{ ROW_FILE, PCI "/enable", "1\n" },
	{ ROW_PCI_CONFIG, PCI "/config", NULL },
	{ ROW_FILE, PCI "/modalias", "{modalias}\n" },
	{ ROW_FILE, PCI "/uevent",
		"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:{ID}\nPCI_SUBSYS_ID=15B3:0001\n"
		"PCI_SLOT_NAME={pci}\nMODALIAS={modalias}\n" },
	{ ROW_LINK, PCI "/driver", "../../drivers/mlx5_core" },
	{ ROW_LINK, PCI "/infiniband/mlx5_{i}", "../../../../../class/infiniband/mlx5_{i}" },
	{ ROW_LINK, PCI "/infiniband_verbs/uverbs{i}", "../../../../../class/infiniband_verbs/uverbs{i}" },
	{ ROW_NETDEV_FILE, NETDEV "/dev_port", "0\n" },
	{ ROW_NETDEV_FILE, NETDEV "/dev_id", "0x0\n" },
	{ ROW_NETDEV_FILE, NETDEV "/address", "{mac}\n" },
	{ ROW_NETDEV_FILE, NETDEV "/ifindex", "{ifindex}\n" },

	/* A card has only its functions' settings, as MLNX_OFED shows them (mlx5_core sriov_sysfs.c,
	 * config_show). It is not among the PCI devices, so no program takes it for one. */
	{ ROW_VF_LINK, PCI "/physfn", "../../../../devices/card{card}" },
	{ ROW_VF_LINK, CARD "/virtfn{vf}", "../../bus/pci/devices/{pci}" },
	{ ROW_VF_FILE, CARD "/sriov/{vf}/config",
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
	VALUE_BOARD,
	VALUE_FW,
	VALUE_GBPS,
	VALUE_MAC,
	VALUE_GUID,
	VALUE_GID,
	VALUE_BARS,
	VALUE_MODALIAS,
	VALUE_NETDEV,
	VALUE_NETDEV_LINE,
	VALUE_IFINDEX,
	VALUE_CARD,
	VALUE_VF,
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
	[VALUE_BOARD] = "board",
	[VALUE_FW] = "fw",
	[VALUE_GBPS] = "gbps",
	[VALUE_MAC] = "mac",
	[VALUE_GUID] = "guid",
	[VALUE_GID] = "gid",
	[VALUE_BARS] = "bars",
	[VALUE_MODALIAS] = "modalias",
	[VALUE_NETDEV] = "netdev",
	[VALUE_NETDEV_LINE] = "netdev-line",
	[VALUE_IFINDEX] = "ifindex",
	[VALUE_CARD] = "card",
	[VALUE_VF] = "vf",
	[VALUE_SPOOF] = "spoof",
	[VALUE_TRUST] = "trust",
};

struct values {
	char text[NB_VALUES][TEXT_MAX];
	uint8_t pci_config[SHCA_PCI_CONFIG_BYTES];
};

#define SET(value, ...) snprintf(values->text[value], TEXT_MAX, __VA_ARGS__)

static void
set_addresses(struct values *values, const uint8_t *mac)
{
	SET(VALUE_MAC, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	/* The EUI-64 of the MAC, as in device queries (abi/object/device.c). */
	SET(VALUE_GUID, "%02x%02x:%02xff:fe%02x:%02x%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	/* Link-local from the modified EUI-64, RFC 4291 appendix A. */
	SET(VALUE_GID, "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x", mac[0] ^ 2, mac[1],
		mac[2], mac[3], mac[4], mac[5]);
}

static void
set_vf(struct values *values, const struct shca_options *options, unsigned int index)
{
	const struct shca_port_options *port = &options->port[index];

	values->text[VALUE_CARD][0] = '\0';
	if (port->is_vf)
		SET(VALUE_CARD, "%u", shca_options_ports_card(options, index));
	SET(VALUE_VF, "%u", shca_options_ports_vf(options, index));
	SET(VALUE_SPOOF, "%s", port->checks_source ? "ON" : "OFF");
	SET(VALUE_TRUST, "%s", port->is_trusted ? "ON" : "OFF");
}

static void
set_values(struct values *values, const struct shca_port_options *port, unsigned int index)
{
	const struct shca_model *model = port->model;
	unsigned int id = port->is_vf ? model->pci_vf_id : model->pci_device_id;
	bool has_netdev = port->kernel.kind != NULL && strcmp(port->kernel.kind->name, "tap") == 0;
	const char *netdev = has_netdev ? port->kernel.arg : "";

	shca_pci_config(model, port->is_vf, values->pci_config);
	SET(VALUE_I, "%u", index);
	SET(VALUE_MINOR, "%u", SHCA_NODE_MINOR + index);
	SET(VALUE_PCI, PCI_ADDRESS, index);
	SET(VALUE_ID_LOWER, "%04x", id);
	SET(VALUE_ID_UPPER, "%04X", id);
	SET(VALUE_TYPE, "MT%u", id);
	SET(VALUE_BOARD, "%s", model->board);
	shca_model_print_fw(model, values->text[VALUE_FW], TEXT_MAX);
	SET(VALUE_GBPS, "%g", port->speed_mbps / 1000.0);
	set_addresses(values, port->mac);
	values->text[VALUE_BARS][0] = '\0';
	/* 6 BARs and the ROM, none mapped: address, end, flags. */
	for (unsigned int i = 0; i < 7; i++)
		strcat(values->text[VALUE_BARS],
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
	SET(VALUE_MODALIAS, "pci:v000015B3d%08Xsv000015B3sd00000001bc02sc00i00", id);
	SET(VALUE_NETDEV, "%s", netdev);
	SET(VALUE_NETDEV_LINE, "%s%s", netdev, has_netdev ? "\n" : "");
	SET(VALUE_IFINDEX, "%u", has_netdev ? if_nametoindex(netdev) : 0);
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
make_directory(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
}

/** Create the parent directories of @p path below its first @p base_length bytes. */
static int
make_parents(char *path, size_t base_length)
{
	int ret = 0;

	for (char *slash = strchr(path + base_length + 1, '/'); slash != NULL && ret == 0;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = make_directory(path);
		*slash = '/';
	}
	return ret;
}

static int
write_file(const char *path, const void *bytes, size_t nb)
{
	FILE *file = fopen(path, "we");
	int ret = 0;

	if (file == NULL)
		return -errno;
	if (fwrite(bytes, 1, nb, file) != nb)
		ret = -EIO;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

static int
make_link(const char *path, const char *target)
{
	return symlink(target, path) == 0 ? 0 : -errno;
}

static int
make_row(const struct row *row, const struct values *values, const char *dir)
{
	char path[TREE_PATH_MAX], text[2 * TEXT_MAX] = "";
	size_t length = strlen(dir);
	int ret;

	if (row->kind == ROW_NETDEV_FILE && values->text[VALUE_NETDEV][0] == '\0')
		return 0;
	if ((row->kind == ROW_VF_FILE || row->kind == ROW_VF_LINK) &&
		values->text[VALUE_CARD][0] == '\0')
		return 0;
	if (length + 1 >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, length);
	path[length] = '/';
	if (!expand(row->path, values, path + length + 1, sizeof(path) - length - 1) ||
		(row->text != NULL && !expand(row->text, values, text, sizeof(text))))
		return -ENAMETOOLONG;
	ret = make_parents(path, length);
	if (ret != 0)
		return ret;
	if (row->kind == ROW_DIR)
		return make_directory(path);
	if (row->kind == ROW_LINK || row->kind == ROW_VF_LINK)
		return make_link(path, text);
	if (row->kind == ROW_PCI_CONFIG)
		return write_file(path, values->pci_config, sizeof(values->pci_config));
	return write_file(path, text, strlen(text));
}

int
shca_tree_create(const struct shca_options *options, const char *dir)
{
	struct values *values = malloc(sizeof(*values));
	int ret = values == NULL ? -ENOMEM : 0;

	for (unsigned int i = 0; i < options->nb_ports && ret == 0; i++) {
		set_values(values, &options->port[i], i);
		set_vf(values, options, i);
		for (unsigned int r = 0; r < sizeof(tree_rows) / sizeof(tree_rows[0]) && ret == 0;
			r++) {
			ret = make_row(&tree_rows[r], values, dir);
			if (ret != 0)
				SHCA_ERR("cannot write %s/%s: %s", dir, tree_rows[r].path,
					strerror(-ret));
		}
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

/** Change a file of a port's directory. */
static int
rewrite(const char *dir, unsigned int index, const char *name, const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	char path[TREE_PATH_MAX];
	int fd, ret = 0;

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_SYS PORT "/%s", dir, index, name) >=
		(int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Write the new line, then cut the file: a reader in between sees a whole first line. */
	if (pwrite(fd, text, length, 0) != length || ftruncate(fd, length) != 0)
		ret = -EIO;
	close(fd);
	return ret;
}

int
shca_tree_set_out_of_buffer(const char *dir, unsigned int index, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", count);
	return rewrite(dir, index, "hw_counters/out_of_buffer", text);
}

/** Find the netdev's name: the only entry of a port's net/. */
static int
find_netdev(const char *net, char *name, size_t size)
{
	DIR *entries = opendir(net);
	struct dirent *entry;
	int ret = -ENOENT;

	if (entries == NULL)
		return -errno;
	while (ret != 0 && (entry = readdir(entries)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= size)
			continue;
		strcpy(name, entry->d_name);
		ret = 0;
	}
	closedir(entries);
	return ret;
}

int
shca_tree_set_netdev(const char *dir, unsigned int index, const char *name)
{
	char net[TREE_PATH_MAX], from[2 * TREE_PATH_MAX], to[2 * TREE_PATH_MAX];
	char line[IF_NAMESIZE + 1], old[IF_NAMESIZE];
	int ret;

	snprintf(net, sizeof(net), "%s/" SHCA_TREE_PCI "/" PCI_ADDRESS "/net", dir, index);
	ret = find_netdev(net, old, sizeof(old));
	if (ret != 0 || strcmp(old, name) == 0)
		return ret;
	snprintf(from, sizeof(from), "%s/%s", net, old);
	snprintf(to, sizeof(to), "%s/%s", net, name);
	snprintf(line, sizeof(line), "%s\n", name);
	if (rename(from, to) != 0)
		return -errno;
	ret = rewrite(dir, index, "gid_attrs/ndevs/0", line);
	return ret != 0 ? ret : rewrite(dir, index, "gid_attrs/ndevs/1", line);
}

int
shca_tree_set_link(const char *dir, unsigned int index, bool up)
{
	int ret = rewrite(dir, index, "state", up ? "4: ACTIVE\n" : "1: DOWN\n");

	return ret != 0 ? ret
			: rewrite(dir, index, "phys_state", up ? "5: LinkUp\n" : "3: Disabled\n");
}

/** @return 0 or a negative errno. */
static int
read_line(const char *path, char *line, size_t size)
{
	ssize_t length;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	length = read(fd, line, size - 1);
	close(fd);
	if (length <= 0)
		return -EIO;
	line[length] = '\0';
	return 0;
}

/** The number before the colon, as in "4: ACTIVE". */
static int
read_state(const char *dir, unsigned int index, const char *name, uint8_t *state)
{
	char path[TREE_PATH_MAX], line[32];
	int ret;

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_SYS PORT "/%s", dir, index, name) >=
		(int)sizeof(path))
		return -ENAMETOOLONG;
	ret = read_line(path, line, sizeof(line));
	if (ret == 0)
		*state = (uint8_t)strtoul(line, NULL, 10);
	return ret;
}

int
shca_tree_get_port(const char *dir, unsigned int index, struct shca_tree_port *port)
{
	char net[TREE_PATH_MAX], path[2 * TREE_PATH_MAX], line[32];
	int ret;

	memset(port, 0, sizeof(*port));
	ret = read_state(dir, index, "state", &port->state);
	if (ret == 0)
		ret = read_state(dir, index, "phys_state", &port->phys_state);
	if (ret != 0)
		return ret;
	snprintf(net, sizeof(net), "%s/" SHCA_TREE_PCI "/" PCI_ADDRESS "/net", dir, index);
	if (find_netdev(net, port->netdev, sizeof(port->netdev)) != 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s/ifindex", net, port->netdev);
	ret = read_line(path, line, sizeof(line));
	if (ret == 0)
		port->ifindex = (unsigned int)strtoul(line, NULL, 10);
	return ret;
}
