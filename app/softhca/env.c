/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The environment of the command: netdevs, files and environment variables. */
#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "config/options.h"
#include "config/options_ports.h"
#include "sysfs/tree.h"
#include "wire/tap.h"
#include "wire/wire.h"

/** Inherited descriptors get high numbers, out of the way of shells' redirections. */
#define FD_FIRST 100

static bool
is_tap(const struct shca_wire_options *wire)
{
	return wire->kind != NULL && strcmp(wire->kind->name, "tap") == 0;
}

/** Attach to the TAP by a descriptor that the command inherits. */
static int
open_tap(struct shca_wire_options *wire, bool *created)
{
	int fd = shca_tap_attach(wire->arg, created);

	if (fd < 0)
		return fd;
	wire->fd = fcntl(fd, F_DUPFD, FD_FIRST);
	if (wire->fd < 0)
		wire->fd = fcntl(fd, F_DUPFD, 3); /* the limit of open files is low */
	close(fd);
	/* Under Yama only an ancestor may copy it by pidfd_getfd() (wire/tap.h), except with this.
	 * Without Yama this fails with EINVAL. */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return wire->fd < 0 ? -EMFILE : 0;
}

/** Open the netdev of a port's representor; a TAP that existed before keeps its MAC. */
static int
open_rep(struct shca_port_options *port)
{
	uint8_t mac[6];
	bool created;
	int ret = open_tap(&port->rep, &created);

	if (ret != 0 || !created)
		return ret;
	shca_options_ports_rep_mac(port, mac);
	ret = shca_tap_set_mac(port->rep.arg, mac);
	if (ret == 0)
		ret = shca_tap_set_speed(port->rep.arg, port->speed_mbps);
	return ret;
}

/** Open the port's netdev. Both have one MAC: the port's, or that of a TAP that existed before. */
static int
open_netdev(struct shca_port_options *port)
{
	bool created;
	int ret = open_tap(&port->kernel, &created);

	if (ret != 0)
		return ret;
	if (!created)
		return shca_tap_get_mac(port->kernel.arg, port->mac);
	ret = shca_tap_set_mac(port->kernel.arg, port->mac);
	if (ret == 0)
		ret = shca_tap_set_speed(port->kernel.arg, port->speed_mbps);
	return ret;
}

/** Copy @p from to @p to. @return 0 or a negative errno. */
static int
copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "re"), *out = in != NULL ? fopen(to, "we") : NULL;
	int ret = out != NULL ? 0 : -errno;
	char bytes[4096];
	size_t length;

	while (ret == 0 && (length = fread(bytes, 1, sizeof(bytes), in)) != 0)
		if (fwrite(bytes, 1, length, out) != length)
			ret = -errno;
	if (ret == 0 && ferror(in))
		ret = -EIO;
	if (in != NULL)
		fclose(in);
	if (out != NULL && fclose(out) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/** Each process reads the port's model when it starts, by when the user's file may have gone or
 * have become another. The options file has no place for a comma in a name. */
static int
keep_model(struct shca_port_options *port, unsigned int index, const char *dir)
{
	char copy[sizeof(port->model_file)];
	int ret;

	if (port->model_file[0] == '\0' || strpbrk(dir, ",\n") != NULL ||
		snprintf(copy, sizeof(copy), "%s/model.%u", dir, index) >= (int)sizeof(copy))
		return 0;
	ret = copy_file(port->model_file, copy);
	if (ret == 0)
		strcpy(port->model_file, copy);
	else
		fprintf(stderr, "softhca: cannot copy %s: %s\n", port->model_file, strerror(-ret));
	return ret;
}

int
app_env_prepare(struct shca_options *options, const char *dir)
{
	char path[PATH_MAX];
	bool created;
	int ret = 0;

	for (unsigned int i = 0; i < options->nb_ports && ret == 0; i++) {
		/* The functions of a card share one wire. */
		if (is_tap(&options->port[i].wire) && shca_options_ports_card(options, i) == i)
			ret = open_tap(&options->port[i].wire, &created);
		if (ret == 0 && is_tap(&options->port[i].kernel))
			ret = open_netdev(&options->port[i]);
		if (ret == 0 && is_tap(&options->port[i].rep))
			ret = open_rep(&options->port[i]);
		if (ret == 0)
			ret = keep_model(&options->port[i], i, dir);
	}
	if (ret == 0)
		ret = shca_tree_create(options, dir);
	if (ret != 0)
		return ret;
	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, dir);
	ret = shca_options_save(options, path);
	if (ret != 0)
		fprintf(stderr, "softhca: cannot write %s: %s\n", path, strerror(-ret));
	return ret;
}

/** Find the library beside the executable's directory: in the build tree, or as installed. */
static int
find_library(char *path, size_t size)
{
	static const char *const places[] = { "../lib", ("../" SOFTHCA_LIBDIR), SOFTHCA_LIBDIR };
	char exe[PATH_MAX], library[2 * PATH_MAX], resolved[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (length < 0)
		return -errno;
	exe[length] = '\0';
	*strrchr(exe, '/') = '\0';
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* An absolute libdir (the last) is not below the executable's prefix. */
		bool absolute = places[i][0] == '/';

		snprintf(library, sizeof(library), "%s%s%s/libsofthca.so", absolute ? "" : exe,
			absolute ? "" : "/", places[i]);
		if (realpath(library, resolved) == NULL)
			continue;
		if (strpbrk(resolved, " :") != NULL) {
			fprintf(stderr,
				"softhca: %s: LD_PRELOAD takes no path with a space or colon\n",
				resolved);
			return -EINVAL;
		}
		if (strlen(resolved) >= size)
			return -ENAMETOOLONG;
		strcpy(path, resolved);
		return 0;
	}
	fprintf(stderr, "softhca: no libsofthca.so in %s/../lib nor in %s/../" SOFTHCA_LIBDIR "\n",
		exe, exe);
	return -ENOENT;
}

/** Put the library first in LD_PRELOAD, before the present content. */
static int
set_preload(void)
{
	const char *before = getenv("LD_PRELOAD");
	char path[PATH_MAX];
	char *value;
	int ret;

	ret = find_library(path, sizeof(path));
	if (ret != 0)
		return ret;
	if (before == NULL || before[0] == '\0')
		return setenv("LD_PRELOAD", path, 1) == 0 ? 0 : -errno;
	if (asprintf(&value, "%s:%s", path, before) < 0)
		return -ENOMEM;
	ret = setenv("LD_PRELOAD", value, 1) == 0 ? 0 : -errno;
	free(value);
	return ret;
}

int
app_env_set(const char *dir, bool sys)
{
	static const struct {
		const char *name;
		const char *below; /**< the directory */
		bool is_sys;       /**< instead of /sys */
	} variables[] = {
		{ "SYSFS_PATH", "/" SHCA_TREE_SYS, true },
		{ "SYSFS_PCI_DEVICES", "/" SHCA_TREE_PCI, true },
		{ SHCA_ENV_DIR, "", false },
	};
	char value[PATH_MAX];
	int ret = set_preload();

	for (unsigned int i = 0; i < sizeof(variables) / sizeof(variables[0]) && ret == 0; i++) {
		snprintf(value, sizeof(value), "%s%s", dir, variables[i].below);
		if ((sys && variables[i].is_sys ? unsetenv(variables[i].name)
						: setenv(variables[i].name, value, 1)) != 0)
			ret = -errno;
	}
	/* libudev takes devices of sysfs alone, and overlays are none (sd-device.c). */
	if (ret == 0 && sys && setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 1) != 0)
		ret = -errno;
	if (ret == 0) {
		snprintf(value, sizeof(value), "%d", (int)getpid());
		ret = setenv(SHCA_TAP_ENV_RUNNER, value, 1) == 0 ? 0 : -errno;
	}
	return ret;
}
