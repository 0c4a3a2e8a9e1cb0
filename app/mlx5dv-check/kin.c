/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ports are to each other: functions of one card do not hear all of each other. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/** Resolve what /sys has of the port's PCI device at @p below. @return whether it is there */
static bool
resolve(const struct check_port *port, const char *below, char *resolved)
{
	const char *sys = getenv("SYSFS_PATH");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device%s", sys != NULL ? sys : "/sys",
		port->ibdev, below);
	return port->ibdev[0] != '\0' && realpath(path, resolved) != NULL;
}

void
check_kin_find(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	char device[PATH_MAX], host[PATH_MAX];

	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		check->port[side].is_function = resolve(&check->port[side], "/physfn", host);
	/* A device of more ports has the function's representor among them, where all arrives. */
	port->is_host = port->number <= 1 && check->port[CHECK_PEER].is_function &&
		resolve(port, "", device) && strcmp(device, host) == 0;
}
