/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of a port's netdev: mlx5/core/en_ethtool.c mlx5e_ethtool_get_drvinfo(), and of a
 * representor's en_rep.c mlx5e_rep_get_drvinfo(). */
#include "nldev/drvinfo.h"

#include <linux/ethtool.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "abi/core/user.h"
#include "config/model.h"
#include "config/options.h"
#include "config/options_ports.h"
#include "ethtool/statistics.h"
#include "nldev/netdev.h"
#include "nldev/nldev.h"
#include "sysfs/tree.h"

static bool
is_netdev_of(const struct shca_nldev *nldev, unsigned int device, const char *name)
{
	struct shca_tree_port port;
	char netdev[IF_NAMESIZE];

	for (uint32_t number = 1; shca_tree_get_port(nldev->dir, device, number, &port) == 0;
		number++)
		if (shca_netdev_name(&port.netdev, netdev) && strcmp(netdev, name) == 0)
			return true;
	return false;
}

/** @return the number of the device that has the netdev @p name, of IFNAMSIZ bytes, representors'
 * included, or -1. */
static int
device_of(const struct shca_nldev *nldev, const char *name)
{
	if (memchr(name, '\0', IFNAMSIZ) == NULL)
		return -1;
	for (unsigned int i = 0; i < nldev->options->nb_ports; i++)
		if (is_netdev_of(nldev, i, name))
			return (int)i;
	return -1;
}

bool
shca_drvinfo_find(
	const struct shca_nldev *nldev, unsigned int device, char netdev[static IF_NAMESIZE])
{
	struct shca_tree_port port;
	uint32_t number;

	netdev[0] = '\0';
	if (device >= nldev->options->nb_ports)
		return false;
	number = shca_options_ports_vports(nldev->options, device);
	if (shca_tree_get_port(nldev->dir, device, number != 0 ? number : 1, &port) != 0 ||
		!shca_netdev_name(&port.netdev, netdev))
		netdev[0] = '\0';
	return true;
}

int
shca_drvinfo_own(const struct shca_nldev *nldev, const char *name)
{
	const int device = device_of(nldev, name);
	char netdev[IF_NAMESIZE];

	return device >= 0 && shca_drvinfo_find(nldev, (unsigned int)device, netdev) &&
			strcmp(netdev, name) == 0
		? device
		: -1;
}

/** @param is_rep a representor, which has the TAP's counters: none */
static void
describe(const struct shca_port_options *port, unsigned int device, bool is_rep,
	struct ethtool_drvinfo *info)
{
	struct utsname kernel;
	char firmware[32];

	*info = (struct ethtool_drvinfo){ .cmd = ETHTOOL_GDRVINFO };
	shca_model_print_fw(&port->model, firmware, sizeof(firmware));
	strcpy(info->driver, is_rep ? "mlx5e_rep" : "mlx5_core");
	uname(&kernel);
	snprintf(info->version, sizeof(info->version), "%.31s", kernel.release);
	snprintf(info->fw_version, sizeof(info->fw_version), "%.12s (%.16s)", firmware,
		port->model.board);
	info->n_stats = is_rep ? 0 : shca_statistics_count();
	snprintf(info->bus_info, sizeof(info->bus_info), SHCA_TREE_PCI_ADDRESS, device);
}

void
shca_drvinfo_answer(const struct shca_nldev *nldev, const void *request)
{
	struct ethtool_drvinfo info;
	struct ifreq ifreq;
	uint32_t command;
	int device;

	if (shca_user_copy_in(&ifreq, (uintptr_t)request, sizeof(ifreq)) != 0 ||
		shca_user_copy_in(&command, (uintptr_t)ifreq.ifr_data, sizeof(command)) != 0 ||
		command != ETHTOOL_GDRVINFO)
		return;
	device = device_of(nldev, ifreq.ifr_name);
	if (device < 0)
		return;
	describe(&nldev->options->port[device], (unsigned int)device,
		shca_drvinfo_own(nldev, ifreq.ifr_name) < 0, &info);
	(void)shca_user_copy_out((uintptr_t)ifreq.ifr_data, &info, sizeof(info));
}
