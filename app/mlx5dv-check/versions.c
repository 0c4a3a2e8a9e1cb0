/* SPDX-License-Identifier: BSD-3-Clause */
/* Which code was run: libraries and drivers, as the machine has them. */
#include <dlfcn.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <rte_string_fns.h>

#include "check.h"

/** Write the path of the file that has @p code, or its name alone. */
static void
name_file(const void *code, bool with_path, char *text, size_t size)
{
	char resolved[PATH_MAX];
	Dl_info info;
	const char *slash;

	if (dladdr(code, &info) == 0 || realpath(info.dli_fname, resolved) == NULL) {
		rte_strscpy(text, "unknown", size);
		return;
	}
	slash = strrchr(resolved, '/');
	rte_strscpy(text, with_path || slash == NULL ? resolved : slash + 1, size);
}

/** What Linux's own driver of the port's netdev says (ETHTOOL_GDRVINFO). */
static void
name_netdev_driver(const struct check_port *port, char *text, size_t size)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&info };
	int fd;

	snprintf(text, size, "no netdev");
	if (port->info.if_index == 0 ||
		if_indextoname(port->info.if_index, request.ifr_name) == NULL)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) != 0)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "%.32s %.32s", info.driver, info.version);
	if (fd >= 0)
		close(fd);
}

void
check_versions_rdma_core(char *text, size_t size)
{
	char ibverbs[NAME_MAX], mlx5[NAME_MAX];

	/* Neither library tells, but rdma-core's files end with its version (versioned by
	 * CMakeLists.txt, PACKAGE_VERSION): libibverbs.so.1.14.44.0 is of rdma-core 44.0. */
	name_file((const void *)(uintptr_t)ibv_get_device_list, false, ibverbs, sizeof(ibverbs));
	name_file((const void *)(uintptr_t)mlx5dv_init_obj, false, mlx5, sizeof(mlx5));
	snprintf(text, size, "%s %s", ibverbs, mlx5);
}

void
check_versions_port(const struct check_port *port, struct check_versions *versions)
{
	/* The burst function is the driver's own, wherever it was loaded from. */
	name_file((const void *)(uintptr_t)rte_eth_fp_ops[port->id].rx_pkt_burst, true,
		versions->driver_file, sizeof(versions->driver_file));
	name_netdev_driver(port, versions->netdev_driver, sizeof(versions->netdev_driver));
}
