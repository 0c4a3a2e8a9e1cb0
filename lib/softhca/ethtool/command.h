/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What ethtool(8) asks of a port's netdev by SIOCETHTOOL, as mlx5e answers it: one row a command
 * (commands.c). The asking process and the device's meet here in bytes only: those of the ioctl.
 */
#ifndef SHCA_ETHTOOL_COMMAND_H
#define SHCA_ETHTOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_device;

/** Bytes of a command's data, with all that follows its structure. */
#define SHCA_ETHTOOL_MAX 12288u

/** A command under way. */
struct shca_ethtool_call {
	struct shca_device *dev; /**< locked */
	uint8_t *bytes;          /**< request, then answer: SHCA_ETHTOOL_MAX bytes */
	size_t length;           /**< of the request, then of what is copied out */
};

struct shca_ethtool_command {
	uint32_t command; /**< ETHTOOL_* */
	/** Linux net/ethtool/ioctl.c __dev_ethtool() wants CAP_NET_ADMIN. */
	bool is_privileged;
	uint16_t size; /**< of the structure */
	/** Where the structure has the number of items behind it; 0: there are none. */
	uint16_t count_at;
	uint16_t item_size;
	/** @return 0 or a negative errno; bytes behind the request are zero. */
	int (*run)(struct shca_ethtool_call *call);
};

/** Ended by a row without a function. */
extern const struct shca_ethtool_command shca_ethtool_commands[];

/** @return the row, or NULL. */
const struct shca_ethtool_command *shca_ethtool_find(uint32_t command);
/** @return the request's bytes by its structure, of row.size bytes, or 0: too many. */
size_t shca_ethtool_length(const struct shca_ethtool_command *row, const void *structure);
/**
 * Run a command; takes the device lock.
 * @param bytes SHCA_ETHTOOL_MAX bytes, the first @p length of them the request: not trusted
 * @return 0 with the bytes of the answer in @p length, or a negative errno.
 */
int shca_ethtool_run(struct shca_device *dev, uint8_t *bytes, size_t *length);

#endif /* SHCA_ETHTOOL_COMMAND_H */
