/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files say of a port: shown while the devices run, and read for RDMA netlink. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/node.h"
#include "sysfs/paths.h"
#include "sysfs/tree.h"

/** Write the new line, then cut the file: a reader in between sees a whole first line. */
static int
rewrite(const char *path, const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	errno = EIO;
	if (pwrite(fd, text, length, 0) != length || ftruncate(fd, length) != 0)
		ret = -errno;
	close(fd);
	return ret;
}

/** Change a file of a port's directory. */
static int
rewrite_of_port(
	const char *dir, unsigned int index, uint32_t number, const char *name, const char *text)
{
	char path[SHCA_TREE_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_PORT_FORMAT "/%s", dir, index, number,
		    name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return rewrite(path, text);
}

#define COUNTER_NAME(name) name,

/** @return the directory of a counter: no name is in both. */
static const char *
folder_of(const char *name)
{
	static const char *const names[] = { SHCA_TREE_PMA_COUNTERS(COUNTER_NAME) };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return "counters";
	return "hw_counters";
}

int
shca_tree_set_counter(
	const char *dir, unsigned int index, uint32_t number, const char *name, uint64_t count)
{
	char text[32], path[64];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", count);
	if (snprintf(path, sizeof(path), "%s/%s", folder_of(name), name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return rewrite_of_port(dir, index, number, path, text);
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

/** Find a port's netdev. @param path of the file that has it: its name, and the rest when the
 * device has looked */
static int
find_netdev(const char *dir, unsigned int index, uint32_t number, char path[SHCA_TREE_PATH_MAX],
	struct shca_tree_netdev *netdev)
{
	char line[64], name[IF_NAMESIZE + 1];
	int ret;

	if (snprintf(path, SHCA_TREE_PATH_MAX, "%s/" SHCA_TREE_NETDEVS "/%u.%u", dir, index,
		    number) >= SHCA_TREE_PATH_MAX)
		return -ENAMETOOLONG;
	ret = read_line(path, line, sizeof(line));
	if (ret != 0)
		return ret;
	*netdev = (struct shca_tree_netdev){ 0 };
	if (sscanf(line, "%16s %u %" SCNu64, name, &netdev->ifindex, &netdev->netns) < 1)
		return -EIO;
	if (strlen(name) >= IF_NAMESIZE)
		return -ENAMETOOLONG;
	strcpy(netdev->name, name);
	return 0;
}

/** Ports without GIDs and empty entries do not tell of their netdevs there. */
static int
set_ndevs(const char *dir, unsigned int index, uint32_t number, const char *line)
{
	char name[sizeof("gid_attrs/ndevs/99")];
	int ret = 0;

	for (unsigned int i = 0; i < SHCA_NODE_NB_GIDS && (ret == 0 || ret == -ENOENT); i++) {
		snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", i);
		ret = rewrite_of_port(dir, index, number, name, line);
	}
	return ret == -ENOENT ? 0 : ret;
}

/** Rename the netdev's directory. */
static int
rename_netdev(const char *dir, unsigned int index, const char *old, const char *name)
{
	char from[2 * SHCA_TREE_PATH_MAX], to[2 * SHCA_TREE_PATH_MAX];

	snprintf(from, sizeof(from), "%s/" SHCA_TREE_PCI "/" SHCA_TREE_PCI_ADDRESS "/net/%s", dir,
		index, old);
	snprintf(to, sizeof(to), "%s/" SHCA_TREE_PCI "/" SHCA_TREE_PCI_ADDRESS "/net/%s", dir,
		index, name);
	return rename(from, to) == 0 ? 0 : -errno;
}

int
shca_tree_set_netdev(
	const char *dir, unsigned int index, uint32_t number, const struct shca_tree_netdev *netdev)
{
	struct shca_tree_netdev old;
	char path[SHCA_TREE_PATH_MAX], line[64], name[IF_NAMESIZE + 1];
	int ret = find_netdev(dir, index, number, path, &old);
	bool is_renamed;

	if (ret != 0)
		return ret;
	is_renamed = strcmp(old.name, netdev->name) != 0;
	if (is_renamed)
		ret = rename_netdev(dir, index, old.name, netdev->name);
	snprintf(line, sizeof(line), "%s %u %" PRIu64 "\n", netdev->name, netdev->ifindex,
		netdev->netns);
	if (ret == 0)
		ret = rewrite(path, line);
	snprintf(name, sizeof(name), "%s\n", netdev->name);
	return ret != 0 || !is_renamed ? ret : set_ndevs(dir, index, number, name);
}

int
shca_tree_set_mac(const char *dir, unsigned int index, uint32_t number, const uint8_t mac[6])
{
	struct shca_tree_netdev netdev;
	char path[2 * SHCA_TREE_PATH_MAX], line[24];
	int ret = find_netdev(dir, index, number, path, &netdev);

	if (ret != 0)
		return ret;
	snprintf(path, sizeof(path),
		"%s/" SHCA_TREE_PCI "/" SHCA_TREE_PCI_ADDRESS "/net/%s/address", dir, index,
		netdev.name);
	snprintf(line, sizeof(line), "%02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5]);
	return rewrite(path, line);
}

/** Make a file of a port's directory, or remove it where there is no text for it. */
static int
set_file(
	const char *dir, unsigned int index, const char *name, unsigned int entry, const char *text)
{
	char path[SHCA_TREE_PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_PORT_FORMAT "/%s/%u", dir, index, 1, name,
		    entry) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (text == NULL)
		return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	return rewrite(path, text);
}

/** As Linux core/sysfs.c: an empty entry has a GID of zeros, and neither type nor netdev. */
int
shca_tree_set_gid(const char *dir, unsigned int index, uint32_t pair, const uint8_t *gid)
{
	static const uint8_t none[SHCA_NODE_GID_BYTES];
	static const char *const types[] = { "IB/RoCE v1\n", "RoCE v2\n" };
	const uint8_t *bytes = gid != NULL ? gid : none;
	char path[SHCA_TREE_PATH_MAX], line[IF_NAMESIZE + 1] = "", text[64] = "";
	struct shca_tree_netdev netdev;
	int ret = 0;

	for (unsigned int i = 0; i < SHCA_NODE_GID_BYTES; i += 2)
		sprintf(text + strlen(text), "%02x%02x%c", bytes[i], bytes[i + 1],
			i + 2 < SHCA_NODE_GID_BYTES ? ':' : '\n');
	if (find_netdev(dir, index, 1, path, &netdev) == 0)
		snprintf(line, sizeof(line), "%s\n", netdev.name);
	for (unsigned int v2 = 0; v2 < 2 && ret == 0; v2++) {
		const unsigned int entry = 2 * pair + v2;

		ret = set_file(dir, index, "gids", entry, text);
		if (ret == 0)
			ret = set_file(dir, index, "gid_attrs/types", entry,
				gid != NULL ? types[v2] : NULL);
		if (ret == 0)
			ret = set_file(
				dir, index, "gid_attrs/ndevs", entry, gid != NULL ? line : NULL);
	}
	return ret;
}

int
shca_tree_set_link(const char *dir, unsigned int index, uint32_t number, bool up)
{
	int ret = rewrite_of_port(dir, index, number, "state", up ? "4: ACTIVE\n" : "1: DOWN\n");

	return ret != 0 ? ret
			: rewrite_of_port(dir, index, number, "phys_state",
				  up ? "5: LinkUp\n" : "3: Disabled\n");
}

/** The number before the colon, as in "4: ACTIVE". */
static int
read_state(const char *dir, unsigned int index, uint32_t number, const char *name, uint8_t *state)
{
	char path[SHCA_TREE_PATH_MAX], line[32];
	int ret;

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_PORT_FORMAT "/%s", dir, index, number,
		    name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = read_line(path, line, sizeof(line));
	if (ret == 0)
		*state = (uint8_t)strtoul(line, NULL, 10);
	return ret;
}

const char *const shca_tree_counters[] = { "out_of_buffer",
	SHCA_TREE_ROCE_COUNTERS(COUNTER_NAME) NULL };

int
shca_tree_get_counter(
	const char *dir, unsigned int index, uint32_t number, const char *name, uint64_t *value)
{
	char path[SHCA_TREE_PATH_MAX], line[32];
	int ret;

	if (snprintf(path, sizeof(path), "%s/" SHCA_TREE_PORT_FORMAT "/hw_counters/%s", dir, index,
		    number, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = read_line(path, line, sizeof(line));
	if (ret == 0)
		*value = strtoull(line, NULL, 10);
	return ret;
}

int
shca_tree_get_port(
	const char *dir, unsigned int index, uint32_t number, struct shca_tree_port *port)
{
	char path[SHCA_TREE_PATH_MAX];
	int ret;

	memset(port, 0, sizeof(*port));
	ret = read_state(dir, index, number, "state", &port->state);
	if (ret == 0)
		ret = read_state(dir, index, number, "phys_state", &port->phys_state);
	if (ret != 0)
		return ret;
	(void)find_netdev(dir, index, number, path, &port->netdev);
	return 0;
}
