/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * softhca run --sys: the ports' files in /sys itself, for the command alone. Directories that Linux
 * has are overlaid, as nothing can be made in them; what changes while the devices run is a mount
 * of the private directory's own, as overlays do not look at changes below them.
 */
#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sysfs/tree.h"

static int
complain(const char *what, const char *path)
{
	int error = errno;

	fprintf(stderr, "softhca: --sys: %s %s: %s\n", what, path, strerror(error));
	return -error;
}

/** @return 0 or a negative errno after a message. */
static int
write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return complain("cannot open", path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = complain("cannot write", path);
	close(fd);
	return ret;
}

/** A namespace of mounts; for others than root in one of users, where each keeps his name. */
static int
enter_namespace(void)
{
	const unsigned int uid = geteuid(), gid = getegid();
	char map[64];
	int ret;

	if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
		return complain("cannot make a namespace of", uid == 0 ? "mounts" : "users");
	if (uid != 0) {
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		ret = write_text("/proc/self/uid_map", map);
		if (ret == 0)
			ret = write_text("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		if (ret == 0)
			ret = write_text("/proc/self/gid_map", map);
		if (ret != 0)
			return ret;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return complain("cannot keep mounts apart below", "/");
	return 0;
}

/** Show a directory of the tree with what Linux has there. */
static int
merge(const char *dir, const char *name)
{
	char ours[PATH_MAX], place[PATH_MAX], options[3 * PATH_MAX];

	snprintf(ours, sizeof(ours), "%s/" SHCA_TREE_SYS "/%s", dir, name);
	snprintf(place, sizeof(place), "/sys/%s", name);
	if (access(ours, F_OK) != 0)
		return 0;
	snprintf(options, sizeof(options), "lowerdir=%s:%s", ours, place);
	if (mount("overlay", place, "overlay", MS_RDONLY, options) != 0)
		return complain("cannot overlay", place);
	return 0;
}

/** Show a directory of the tree in the place of the same name. */
static int
show(const char *dir, const char *name)
{
	char ours[PATH_MAX], place[PATH_MAX];

	snprintf(ours, sizeof(ours), "%s/" SHCA_TREE_SYS "/%s", dir, name);
	snprintf(place, sizeof(place), "/sys/%s", name);
	if (mount(ours, place, NULL, MS_BIND, NULL) != 0)
		return complain("cannot mount", place);
	return 0;
}

int
app_sys_show(const char *dir)
{
	int ret = enter_namespace();

	if (ret == 0)
		ret = merge(dir, "class");
	if (ret == 0)
		ret = merge(dir, "bus");
	if (ret == 0)
		ret = merge(dir, "devices");
	if (ret == 0)
		ret = show(dir, "class/infiniband");
	if (ret == 0)
		ret = show(dir, "class/infiniband_verbs");
	return ret != 0 ? ret : show(dir, SHCA_TREE_BUS);
}
