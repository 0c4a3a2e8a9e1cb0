/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's settings of a virtual function: below the physical function's directory in sysfs, as
 * MLNX_OFED shows them, or with the physical function's netdev, as Linux does. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <ethdev_driver.h>
#include <rte_common.h>
#include <rte_ether.h>

#include "base/log.h"
#include "netdev.h"
#include "state/port.h"
#include "vf.h"
#include "vf_link.h"

#define PATH_BYTES (2 * IBV_SYSFS_PATH_MAX)

/** PCI ids of virtual functions (rdma-core's libmlx5, hca_table): a guest, which does not see the
 * physical function, recognises a VF by its id only. */
static const unsigned int vf_parts[] = { 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3 };

static bool
has_vf_id(const struct mdv_device *device)
{
	char path[PATH_BYTES];
	unsigned int id = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/device", device->sysfs_path);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fscanf(file, "%x", &id) == 1)
		for (unsigned int i = 0; i < RTE_DIM(vf_parts); i++)
			found |= vf_parts[i] == id;
	fclose(file);
	return found;
}

/** Find the VF's number: the link physfn/virtfn<number> leads back to the device. */
static bool
find_number(const struct mdv_device *device, unsigned int *number)
{
	char path[PATH_BYTES], link[PATH_BYTES + NAME_MAX + 2];
	struct stat own, other;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/", device->sysfs_path);
	if (stat(path, &own) != 0)
		return false;
	snprintf(path, sizeof(path), "%s/device/physfn", device->sysfs_path);
	dir = opendir(path);
	while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
		if (sscanf(entry->d_name, "virtfn%u", number) != 1)
			continue;
		snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
		found = stat(link, &other) == 0 && other.st_dev == own.st_dev &&
			other.st_ino == own.st_ino;
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

/** Read MLNX_OFED's file: lines of "Name : value" (mlx5_core sriov_sysfs.c, config_show). */
static bool
read_config(const struct mdv_device *device, struct mdv_vf *vf)
{
	char path[PATH_BYTES], line[128], name[32], value[32];
	unsigned int nb_found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/physfn/sriov/%u/config", device->sysfs_path,
		vf->number);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%31s : %31s", name, value) != 2)
			continue;
		if (strcmp(name, "Trust") == 0) {
			vf->is_trusted = strcmp(value, "ON") == 0;
			nb_found++;
		} else if (strcmp(name, "SpoofCheck") == 0) {
			vf->checks_source = strcmp(value, "ON") == 0;
			nb_found++;
		}
	}
	fclose(file);
	return nb_found == 2;
}

/** Ask upstream Linux by the physical function's netdev, if that is in this namespace. */
static bool
ask_netdev(const struct mdv_device *device, struct mdv_vf *vf)
{
	struct dirent *entry;
	char path[PATH_BYTES];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/physfn/net", device->sysfs_path);
	dir = opendir(path);
	while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
		found = entry->d_name[0] != '.' &&
			mdv_vf_link_ask(mdv_netdev_index(entry->d_name), vf) == 0;
	if (dir != NULL)
		closedir(dir);
	return found;
}

/** @return whether it is a physical function with virtual ones on a switch in legacy mode. In
 * switchdev mode, where the device has a port for each vport, the switch goes by rules. */
static bool
has_vfs(const struct mdv_device *device)
{
	char path[PATH_BYTES];
	unsigned int nb = 0;
	bool found;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/sriov_numvfs", device->sysfs_path);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	found = fscanf(file, "%u", &nb) == 1 && nb != 0;
	fclose(file);
	return found && device->nb_ports <= 1;
}

void
mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf)
{
	*vf = (struct mdv_vf){ .is_vf = true };
	if (find_number(device, &vf->number))
		vf->is_known = read_config(device, vf) || ask_netdev(device, vf);
	else
		vf->is_vf = has_vf_id(device);
	vf->has_vfs = !vf->is_vf && has_vfs(device);
}

void
mdv_vf_tell(const char *name, const struct mdv_device *device)
{
	struct mdv_vf vf;

	mdv_vf_query(device, &vf);
	if (!vf.is_vf || !vf.is_known)
		return;
	MDV_LOG(INFO, "%s: virtual function %u, %strusted", name, vf.number,
		vf.is_trusted ? "" : "not ");
	if (vf.checks_source)
		MDV_LOG(NOTICE,
			"%s: virtual function %u: what it sends from another address than its own is dropped without a word (spoof checking); the host can change that: ip link set dev <PF> vf %u spoofchk off",
			name, vf.number, vf.number);
}

void
mdv_vf_check_mode(const struct rte_eth_dev *dev, const char *mode)
{
	const struct mdv_device *device = &mdv_port(dev)->device;
	struct mdv_vf vf;

	mdv_vf_query(device, &vf);
	if (!vf.is_vf || (vf.is_known && vf.is_trusted))
		return;
	if (!vf.is_known)
		MDV_LOG(NOTICE,
			"port %u: %s is a virtual function, and whether it is trusted cannot be seen here: if it is not, %s mode changes nothing",
			dev->data->port_id, device->name, mode);
	else
		MDV_LOG(WARNING,
			"port %u: %s mode may change nothing: %s is virtual function %u of its card and not trusted. In legacy mode the card then gives it nothing that is for others; the host can change that: ip link set dev <PF> vf %u trust on. In switchdev mode the host's rules decide",
			dev->data->port_id, mode, device->name, vf.number, vf.number);
}

void
mdv_vf_check_groups(const struct rte_eth_dev *dev)
{
	const struct mdv_device *device = &mdv_port(dev)->device;

	if (device->ifindex == 0)
		MDV_LOG(WARNING,
			"port %u: %s is a virtual function without a netdev here to list groups for its card: frames for them may not get here",
			dev->data->port_id, device->name);
}

void
mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac)
{
	const struct mdv_device *device = &mdv_port(dev)->device;

	if (rte_is_same_ether_addr(mac, known))
		return;
	if (device->ifindex == 0)
		MDV_LOG(WARNING,
			"port %u: %s is a virtual function, whose card knows it by " RTE_ETHER_ADDR_PRT_FMT
			", without a netdev here to list other addresses: frames for " RTE_ETHER_ADDR_PRT_FMT
			" may not get here",
			dev->data->port_id, device->name, RTE_ETHER_ADDR_BYTES(known),
			RTE_ETHER_ADDR_BYTES(mac));
	if (vf->is_known && vf->checks_source)
		MDV_LOG(WARNING,
			"port %u: %s is a virtual function, whose card knows it by " RTE_ETHER_ADDR_PRT_FMT
			": frames from " RTE_ETHER_ADDR_PRT_FMT " are dropped",
			dev->data->port_id, device->name, RTE_ETHER_ADDR_BYTES(known),
			RTE_ETHER_ADDR_BYTES(mac));
}
