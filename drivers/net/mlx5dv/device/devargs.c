/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver arguments: one row a key. An error names the unknown key, the doubled key or the bad
 * value. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_kvargs.h>

#include "base/log.h"
#include "devargs.h"

struct devarg {
	const char *key;
	const char *value;        /**< what the help calls its value */
	const char *const *names; /**< of a choice: by enum, and NULL at the end */
	/** Check @p value and store it in the field at offset. */
	int (*parse)(const char *vdev_name, const struct devarg *arg, const char *value, void *dst);
	size_t offset; /**< of the field in struct mdv_config */
	size_t size;
};

static int name_parse(
	const char *vdev_name, const struct devarg *arg, const char *value, void *dst);
static int choice_parse(
	const char *vdev_name, const struct devarg *arg, const char *value, void *dst);
static int bytes_parse(
	const char *vdev_name, const struct devarg *arg, const char *value, void *dst);
static int port_parse(
	const char *vdev_name, const struct devarg *arg, const char *value, void *dst);
static int inline_parse(
	const char *vdev_name, const struct devarg *arg, const char *value, void *dst);

/* clang-format off */
static const char *const sniff_names[] = {
	[MDV_SNIFF_NONE] = "none",
	[MDV_SNIFF_RX] = "rx",
	[MDV_SNIFF_ALL] = "all",
	NULL,
};
static const char *const cqe_comp_names[] = {
	[MDV_CQE_COMP_AUTO] = "auto",
	[MDV_CQE_COMP_OFF] = "off",
	[MDV_CQE_COMP_HASH] = "hash",
	[MDV_CQE_COMP_CSUM] = "csum",
	NULL,
};
static const char *const passthru_move_names[] = {
	[MDV_PASSTHRU_MOVE_OFF] = "off",
	[MDV_PASSTHRU_MOVE_ON] = "on",
	NULL,
};
static const char *const mode_names[] = {
	[MDV_MODE_AUTO] = "auto",
	[MDV_MODE_DV] = "dv",
	[MDV_MODE_IBV] = "ibv",
	NULL,
};
static const char *const relaxed_names[] = {
	[MDV_RELAXED_AUTO] = "auto",
	[MDV_RELAXED_ON] = "on",
	[MDV_RELAXED_OFF] = "off",
	NULL,
};
static const char *const sq_db_nc_names[] = {
	[MDV_SQ_DB_NC_AUTO] = "auto",
	[MDV_SQ_DB_NC_OFF] = "0",
	[MDV_SQ_DB_NC_ON] = "1",
	NULL,
};
static const char *const mprq_names[] = {
	[MDV_MPRQ_OFF] = "off",
	[MDV_MPRQ_AUTO] = "auto",
	[MDV_MPRQ_ON] = "on",
	NULL,
};
static const char *const mempool_reg_names[] = {
	[MDV_MEMPOOL_REG_ON] = "1",
	[MDV_MEMPOOL_REG_OFF] = "0",
	NULL,
};

/** MLX5_INLINE_HSIZE_* of the in-tree driver, which takes any number. */
static const char *const inline_min_names[] = {
	[MDV_INLINE_MIN_AUTO] = "auto",
	[MDV_INLINE_MIN_L2] = "18",
	[MDV_INLINE_MIN_NETWORK] = "58",
	[MDV_INLINE_MIN_TRANSPORT] = "78",
	NULL,
};

#define ROW(key, value, names, parse, field) \
	{ key, value, names, parse, offsetof(struct mdv_config, field), \
	  sizeof(((struct mdv_config *)0)->field) }
#define NAME(key, value, field) ROW(key, value, NULL, name_parse, field)
#define CHOICE(key, value, names, field) ROW(key, value, names, choice_parse, field)
#define BYTES(key, value, field) ROW(key, value, NULL, bytes_parse, field)
#define PORT(key, value, field) ROW(key, value, NULL, port_parse, field)
#define INLINE(key, value, field) ROW(key, value, NULL, inline_parse, field)
static const struct devarg devargs[] = {
	NAME("ibdev", "verbs device name such as mlx5_0", ibdev),
	NAME("iface", "netdev name such as ens1f0", iface),
	PORT("port", "port number from 1 to 255", port),
	CHOICE("sniff", "none, rx or all", sniff_names, sniff),
	CHOICE("rx_cqe_comp", "auto, off, hash or csum", cqe_comp_names, rx_cqe_comp),
	CHOICE("passthru_move", "off or on", passthru_move_names, passthru_move),
	BYTES("tx_max_burst_sz", "number of bytes up to 4294967295", tx_max_burst_sz),
	BYTES("tx_typical_pkt_sz", "number of bytes up to 65535", tx_typical_pkt_sz),
	CHOICE("mode", "auto, dv or ibv", mode_names, mode),
	CHOICE("relaxed_ordering", "auto, on or off", relaxed_names, relaxed_ordering),
	CHOICE("sq_db_nc", "auto, 0 or 1", sq_db_nc_names, sq_db_nc),
	CHOICE("txq_inline_min", "auto, 18, 58 or 78", inline_min_names, txq_inline_min),
	CHOICE("mprq", "off, auto or on", mprq_names, mprq),
	CHOICE("mr_mempool_reg_en", "0 or 1", mempool_reg_names, mr_mempool_reg_en),
	INLINE("tx_inline", "number of bytes up to 924 or auto", tx_inline),
};
/* clang-format on */

static int
name_parse(const char *vdev_name, const struct devarg *arg, const char *value, void *dst)
{
	size_t len = strlen(value);

	if (len >= arg->size) {
		MDV_LOG(ERR, "%s: %s=%s is longer than the %zu characters of a %s", vdev_name,
			arg->key, value, arg->size - 1, arg->value);
		return -EINVAL;
	}
	/* The name becomes part of a sysfs path. */
	if (strchr(value, '/') != NULL || strcmp(value, ".") == 0 || strcmp(value, "..") == 0) {
		MDV_LOG(ERR, "%s: %s=%s is no %s", vdev_name, arg->key, value, arg->value);
		return -EINVAL;
	}
	memcpy(dst, value, len + 1);
	return 0;
}

static_assert(sizeof(enum mdv_sniff) == sizeof(unsigned int), "all enums of struct mdv_config");

/** Parse a name of an enum. */
static int
choice_parse(const char *vdev_name, const struct devarg *arg, const char *value, void *dst)
{
	for (unsigned int i = 0; arg->names[i] != NULL; i++) {
		if (strcmp(value, arg->names[i]) != 0)
			continue;
		memcpy(dst, &i, sizeof(i));
		return 0;
	}
	MDV_LOG(ERR, "%s: %s=%s is not %s", vdev_name, arg->key, value, arg->value);
	return -EINVAL;
}

static int
number_parse(const char *vdev_name, const struct devarg *arg, const char *value, uint64_t least,
	uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 0);
	/* strtoull() would also take signs and blanks. */
	if (isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0 && *number >= least &&
		*number <= most)
		return 0;
	MDV_LOG(ERR, "%s: %s=%s is no %s", vdev_name, arg->key, value, arg->value);
	return -EINVAL;
}

/** Parse a number that the field can hold. */
static int
bytes_parse(const char *vdev_name, const struct devarg *arg, const char *value, void *dst)
{
	const uint64_t most = arg->size == sizeof(uint16_t) ? UINT16_MAX : UINT32_MAX;
	uint64_t number;
	int ret = number_parse(vdev_name, arg, value, 0, most, &number);

	if (ret != 0)
		return ret;
	if (arg->size == sizeof(uint16_t))
		*(uint16_t *)dst = number;
	else
		*(uint32_t *)dst = number;
	return 0;
}

static int
port_parse(const char *vdev_name, const struct devarg *arg, const char *value, void *dst)
{
	uint64_t number;
	int ret = number_parse(vdev_name, arg, value, 1, UINT8_MAX, &number);

	if (ret == 0)
		*(uint8_t *)dst = number;
	return ret;
}

/** Parse "auto", 0, or the length of a frame. */
static int
inline_parse(const char *vdev_name, const struct devarg *arg, const char *value, void *dst)
{
	uint64_t number = MDV_TX_INLINE_AUTO;
	int ret = 0;

	if (strcmp(value, "auto") != 0)
		ret = number_parse(vdev_name, arg, value, 0, MDV_TX_INLINE_MAX, &number);
	if (ret == 0)
		*(uint16_t *)dst = number;
	return ret;
}

static void
log_unknown(const char *vdev_name, const char *key)
{
	char keys[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < RTE_DIM(devargs) && len < sizeof(keys); i++)
		len += snprintf(
			keys + len, sizeof(keys) - len, "%s%s", i == 0 ? "" : ", ", devargs[i].key);
	MDV_LOG(ERR, "%s: unknown argument %s; there are %s", vdev_name, key, keys);
}

/** @param given a bit for each row whose key has appeared */
static int
pair_parse(const char *vdev_name, const struct rte_kvargs_pair *pair, uint32_t *given,
	struct mdv_config *config)
{
	for (unsigned int i = 0; i < RTE_DIM(devargs); i++) {
		const struct devarg *arg = &devargs[i];

		if (strcmp(pair->key, arg->key) != 0)
			continue;
		if (pair->value == NULL || pair->value[0] == '\0') {
			MDV_LOG(ERR, "%s: %s= needs %s%s", vdev_name, arg->key,
				arg->names != NULL ? "" : "a ", arg->value);
			return -EINVAL;
		}
		if ((*given & UINT32_C(1) << i) != 0) {
			MDV_LOG(ERR, "%s: %s= is given twice", vdev_name, arg->key);
			return -EINVAL;
		}
		*given |= UINT32_C(1) << i;
		return arg->parse(vdev_name, arg, pair->value, (char *)config + arg->offset);
	}
	log_unknown(vdev_name, pair->key);
	return -EINVAL;
}

int
mdv_devargs_parse(const char *vdev_name, const char *args, struct mdv_config *config)
{
	struct mdv_config parsed = { 0 };
	struct rte_kvargs *kvlist;
	uint32_t given = 0;
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
		ret = pair_parse(vdev_name, &kvlist->pairs[i], &given, &parsed);
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
	if (parsed.port != 0 && parsed.iface[0] != '\0') {
		MDV_LOG(ERR, "%s: iface=%s names a port already: give port= with ibdev= only",
			vdev_name, parsed.iface);
		return -EINVAL;
	}
	*config = parsed;
	return 0;
}
