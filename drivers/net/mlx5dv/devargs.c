/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver arguments: a row a key; unknown keys, doubled keys and bad values are refused by name. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_kvargs.h>

#include "devargs.h"
#include "log.h"

/** A key whose value is a name stored in struct mdv_config. */
struct devarg {
	const char *key;
	const char *value; /**< what the help calls the value */
	size_t offset;     /**< of the char array in struct mdv_config */
	size_t size;
};

/* clang-format off */
#define NAME(key, value, field) \
	{ key, value, offsetof(struct mdv_config, field), sizeof(((struct mdv_config *)0)->field) }
static const struct devarg devargs[] = {
	NAME("ibdev", "verbs device name such as mlx5_0", ibdev),
	NAME("iface", "netdev name such as ens1f0", iface),
};
/* clang-format on */

static int
name_parse(const char *vdev_name, const struct devarg *arg, const char *value, char *dst)
{
	size_t len = value == NULL ? 0 : strlen(value);

	if (len == 0) {
		MDV_LOG(ERR, "%s: %s= needs a %s", vdev_name, arg->key, arg->value);
		return -EINVAL;
	}
	if (len >= arg->size) {
		MDV_LOG(ERR, "%s: %s=%s is longer than the %zu characters of a %s", vdev_name,
			arg->key, value, arg->size - 1, arg->value);
		return -EINVAL;
	}
	/* Names become parts of sysfs paths. */
	if (strchr(value, '/') != NULL || strcmp(value, ".") == 0 || strcmp(value, "..") == 0) {
		MDV_LOG(ERR, "%s: %s=%s is no %s", vdev_name, arg->key, value, arg->value);
		return -EINVAL;
	}
	if (dst[0] != '\0') {
		MDV_LOG(ERR, "%s: %s= is given twice (%s, %s)", vdev_name, arg->key, dst, value);
		return -EINVAL;
	}
	memcpy(dst, value, len + 1);
	return 0;
}

static int
pair_parse(const char *vdev_name, const struct rte_kvargs_pair *pair, struct mdv_config *config)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(devargs); i++) {
		if (strcmp(pair->key, devargs[i].key) == 0)
			return name_parse(vdev_name, &devargs[i], pair->value,
				(char *)config + devargs[i].offset);
	}
	MDV_LOG(ERR, "%s: unknown argument %s; there are ibdev=<device> and iface=<netdev>",
		vdev_name, pair->key);
	return -EINVAL;
}

int
mdv_devargs_parse(const char *vdev_name, const char *args, struct mdv_config *config)
{
	struct mdv_config parsed = { 0 };
	struct rte_kvargs *kvlist;
	unsigned int i;
	int ret = 0;

	kvlist = rte_kvargs_parse(args == NULL ? "" : args, NULL);
	if (kvlist == NULL) {
		MDV_LOG(ERR,
			"%s: cannot read the arguments \"%s\": key=value[,key=value] is wanted",
			vdev_name, args);
		return -EINVAL;
	}
	for (i = 0; i < kvlist->count && ret == 0; i++)
		ret = pair_parse(vdev_name, &kvlist->pairs[i], &parsed);
	rte_kvargs_free(kvlist);
	if (ret != 0)
		return ret;
	if (parsed.ibdev[0] != '\0' && parsed.iface[0] != '\0') {
		MDV_LOG(ERR, "%s: ibdev=%s and iface=%s both name the device: give one of them",
			vdev_name, parsed.ibdev, parsed.iface);
		return -EINVAL;
	}
	if (parsed.ibdev[0] == '\0' && parsed.iface[0] == '\0') {
		MDV_LOG(ERR, "%s: no device named: give ibdev=<verbs device> or iface=<netdev>",
			vdev_name);
		return -EINVAL;
	}
	*config = parsed;
	return 0;
}
