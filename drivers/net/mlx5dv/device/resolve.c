/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the port that the arguments mean. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_string_fns.h>

#include "base/log.h"
#include "ibport.h"
#include "resolve.h"
#include "sysfs.h"

/** Ports of a device in messages. */
#define PORTS_TEXT 512
/** Names of a bond's members: of as many as a card has ports, with blanks. */
#define SLAVES_TEXT 128

static int
report_iface(const char *iface)
{
	if (if_nametoindex(iface) == 0)
		MDV_LOG(ERR, "iface=%s: no such netdev", iface);
	else
		MDV_LOG(ERR, "iface=%s: this netdev has no RDMA device (is mlx5_ib loaded?)",
			iface);
	return -ENODEV;
}

/** @return the netdev's port: dev_port + 1, or 1 if there is no such file. mlx5 sets none. */
static unsigned int
netdev_port(const char *ibdev_path, const char *ifname)
{
	char path[2 * MDV_SYSFS_PATH_BYTES];
	uint64_t dev_port;

	snprintf(path, sizeof(path), "%s/device/net/%s/dev_port", ibdev_path, ifname);
	if (mdv_sysfs_read_u64(path, &dev_port) != 0 || dev_port >= UINT8_MAX)
		return 1;
	return dev_port + 1;
}

/** Find the port's netdev: the only one of this network namespace. */
static void
find_netdev(struct mdv_device *device)
{
	char path[MDV_SYSFS_PATH_BYTES], net[MDV_SYSFS_PATH_BYTES + sizeof("/device/net")];
	struct dirent *entry;
	unsigned int nb = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s", mdv_sysfs_root(), device->name);
	snprintf(net, sizeof(net), "%s/device/net", path);
	dir = opendir(net);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IF_NAMESIZE ||
			if_nametoindex(entry->d_name) == 0 ||
			netdev_port(path, entry->d_name) != device->port_num)
			continue;
		rte_strscpy(device->ifname, entry->d_name, sizeof(device->ifname));
		nb++;
	}
	closedir(dir);
	if (nb > 1) {
		MDV_LOG(WARNING,
			"%s: without RDMA netlink nothing tells which of its %u netdevs is that of port %u: none is used; name it by iface=",
			device->name, nb, device->port_num);
		device->ifname[0] = '\0';
	}
	device->ifindex = if_nametoindex(device->ifname);
}

static int
take_port(const struct mdv_ibport *port, struct mdv_device *device)
{
	/* struct ibv_flow_attr has 8 bits for it. */
	if (port->port_num > UINT8_MAX) {
		MDV_LOG(ERR, "%s: port %u cannot be used: verbs numbers ports up to %u",
			port->ibdev, port->port_num, UINT8_MAX);
		return -ENODEV;
	}
	device->port_num = port->port_num;
	device->ifindex = port->ifindex;
	rte_strscpy(device->name, port->ibdev, sizeof(device->name));
	rte_strscpy(device->ifname, port->ifname, sizeof(device->ifname));
	return 0;
}

static int
take_port_of_iface(const char *iface, const struct mdv_ibport *ports, unsigned int nb,
	struct mdv_device *device)
{
	const unsigned int ifindex = if_nametoindex(iface);

	for (unsigned int i = 0; i < nb && ifindex != 0; i++) {
		if (ports[i].ifindex == ifindex)
			return take_port(&ports[i], device);
	}
	return report_iface(iface);
}

static int
take_port_of_ibdev(const struct mdv_config *config, const struct mdv_ibport *ports, unsigned int nb,
	struct mdv_device *device)
{
	const struct mdv_ibport *found = NULL;
	char text[PORTS_TEXT];
	unsigned int nb_ports;

	nb_ports = mdv_ibports_print(ports, nb, config->ibdev, text, sizeof(text));
	for (unsigned int i = 0; i < nb; i++) {
		if (strcmp(ports[i].ibdev, config->ibdev) == 0 &&
			(ports[i].port_num == config->port || (config->port == 0 && nb_ports == 1)))
			found = &ports[i];
	}
	if (found != NULL)
		return take_port(found, device);
	if (nb_ports == 0) {
		/* Opening the device will tell what is wrong with it, if anything is. */
		find_netdev(device);
		return 0;
	}
	if (config->port != 0) {
		MDV_LOG(ERR, "%s: no port %u; there are: %s", config->ibdev, config->port, text);
		return -ENODEV;
	}
	MDV_LOG(ERR,
		"%s has several ports: %s; give port=<number>, or iface=<netdev> instead of ibdev=",
		config->ibdev, text);
	return -EINVAL;
}

/** Find by sysfs the RDMA device that has the netdev. */
static int
ibdev_of_iface(const char *iface, struct mdv_device *device)
{
	char root[IBV_SYSFS_PATH_MAX], path[MDV_SYSFS_PATH_BYTES];
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int ret = -ENODEV;

	snprintf(root, sizeof(root), "%s/class/infiniband", mdv_sysfs_root());
	dir = opendir(root);
	if (dir == NULL)
		return -ENODEV;
	while (ret != 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(device->name))
			continue;
		snprintf(path, sizeof(path), "%s/%.*s/device/net/%s", root, IBV_SYSFS_NAME_MAX - 1,
			entry->d_name, iface);
		if (stat(path, &st) != 0)
			continue;
		snprintf(
			path, sizeof(path), "%s/%.*s", root, IBV_SYSFS_NAME_MAX - 1, entry->d_name);
		device->port_num = netdev_port(path, iface);
		rte_strscpy(device->name, entry->d_name, sizeof(device->name));
		rte_strscpy(device->ifname, iface, sizeof(device->ifname));
		device->ifindex = if_nametoindex(iface);
		ret = 0;
	}
	closedir(dir);
	return ret;
}

static int
resolve_by_sysfs(const struct mdv_config *config, struct mdv_device *device)
{
	if (config->iface[0] != '\0')
		return ibdev_of_iface(config->iface, device) == 0 ? 0 : report_iface(config->iface);
	find_netdev(device);
	return 0;
}

/** @return whether the netdevs are on functions of one PCI device, as the ports of a card are. */
static bool
are_of_one_card(const char *ifname, const char *other)
{
	char path[MDV_SYSFS_PATH_BYTES], own[PATH_MAX], its[PATH_MAX];
	const char *function;

	snprintf(path, sizeof(path), "%s/class/net/%s/device", mdv_sysfs_root(), ifname);
	if (realpath(path, own) == NULL)
		return false;
	snprintf(path, sizeof(path), "%s/class/net/%s/device", mdv_sysfs_root(), other);
	function = strrchr(own, '.');
	return realpath(path, its) != NULL && function != NULL &&
		strncmp(own, its, function - own + 1) == 0;
}

/**
 * While mlx5 has bonded a card's ports for RDMA, the bond has these members and no other, and one
 * of their functions has the RDMA device of all (lag.c, mlx5_lag_remove_devices()).
 *
 * @param slaves the members' names, with blanks between them
 */
static bool
have_one_ibdev(const char *ifname, char *slaves)
{
	char path[MDV_SYSFS_PATH_BYTES], *rest = slaves;
	unsigned int nb = 0, nb_ibdevs = 0;
	struct stat st;

	for (const char *name; (name = strtok_r(rest, " ", &rest)) != NULL; nb++) {
		if (!are_of_one_card(ifname, name))
			return false;
		snprintf(path, sizeof(path), "%s/class/net/%s/device/infiniband", mdv_sysfs_root(),
			name);
		nb_ibdevs += stat(path, &st) == 0;
	}
	return nb > 1 && nb_ibdevs == 1;
}

/**
 * Find the bond over a bonded device's netdev. mlx5_ib names such a device mlx5_bond_%d (main.c,
 * mlx5_ib_stage_ib_reg_init()); its netdev is one of the bond's members. Users may rename it.
 */
static void
find_bond(struct mdv_device *device)
{
	char path[MDV_SYSFS_PATH_BYTES], slaves[SLAVES_TEXT];
	uint64_t ifindex;

	if (device->ifindex == 0)
		return;
	/* A bridge is a master, too. */
	snprintf(path, sizeof(path), "%s/class/net/%s/master/bonding/slaves", mdv_sysfs_root(),
		device->ifname);
	if (mdv_sysfs_read_line(path, slaves, sizeof(slaves)) != 0 ||
		(strstr(device->name, "bond") == NULL && !have_one_ibdev(device->ifname, slaves)))
		return;
	snprintf(path, sizeof(path), "%s/class/net/%s/master/ifindex", mdv_sysfs_root(),
		device->ifname);
	if (mdv_sysfs_read_u64(path, &ifindex) == 0 && ifindex <= INT32_MAX) {
		device->bond_ifindex = ifindex;
		MDV_LOG(INFO, "%s: MTU and flags of netdev %s are those of its bond", device->name,
			device->ifname);
	}
}

static int
find_port(const struct mdv_config *config, struct mdv_device *device)
{
	struct mdv_ibport *ports;
	int nb = mdv_ibports_list(&ports), ret;

	rte_strscpy(device->name, config->ibdev, sizeof(device->name));
	device->port_num = config->port == 0 ? 1 : config->port;
	if (nb < 0) {
		MDV_LOG(DEBUG, "no RDMA netlink: %s", strerror(-nb));
		return resolve_by_sysfs(config, device);
	}
	if (config->iface[0] != '\0')
		ret = take_port_of_iface(config->iface, ports, (unsigned int)nb, device);
	else
		ret = take_port_of_ibdev(config, ports, (unsigned int)nb, device);
	free(ports);
	return ret;
}

int
mdv_resolve(const struct mdv_config *config, struct mdv_device *device)
{
	int ret = find_port(config, device);

	if (ret == 0)
		find_bond(device);
	return ret;
}
