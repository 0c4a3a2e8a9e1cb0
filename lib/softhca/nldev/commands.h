/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands of RDMA_NL_NLDEV, one row each. */
#ifndef SHCA_NLDEV_COMMANDS_H
#define SHCA_NLDEV_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_netlink.h>

struct shca_nldev_call;

struct shca_nldev_command {
	/** The command that the answer names, which is not always its own. */
	uint16_t doit_answers_as, dump_answers_as;
	/** Write the one message of the answer. NULL: the command only dumps. @return 0 or a
	 * negative errno. */
	int (*doit)(struct shca_nldev_call *call);
	/** Write message @p index of a dump. NULL: the command does not dump. @return 1, 0: there
	 * are no more, or a negative errno. */
	int (*dump)(struct shca_nldev_call *call, unsigned int index);
	bool is_privileged; /**< needs CAP_NET_ADMIN (RDMA_NL_ADMIN_PERM) */
};

/** By RDMA_NLDEV_CMD_*. */
extern const struct shca_nldev_command shca_nldev_commands[RDMA_NLDEV_NUM_OPS];

#endif /* SHCA_NLDEV_COMMANDS_H */
