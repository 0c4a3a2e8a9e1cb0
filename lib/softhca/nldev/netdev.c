/* SPDX-License-Identifier: BSD-3-Clause */
#include "nldev/netdev.h"

#include <string.h>
#include <sys/stat.h>

#include "sysfs/tree.h"

bool
shca_netdev_name(const struct shca_tree_netdev *netdev, char name[static IF_NAMESIZE])
{
	struct stat own;

	if (netdev->name[0] == '\0')
		return false;
	if (netdev->ifindex != 0 && netdev->netns != 0 &&
		stat("/proc/thread-self/ns/net", &own) == 0)
		return own.st_ino == netdev->netns && if_indextoname(netdev->ifindex, name) != NULL;
	strcpy(name, netdev->name);
	return true;
}
