/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands of RDMA_NL_NLDEV, one row each, and the answer that their functions write. */
#ifndef SHCA_NLDEV_COMMANDS_H
#define SHCA_NLDEV_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "nldev/nldev.h"

/** Bytes that one message of an answer may have. */
#define SHCA_NLDEV_MESSAGE_MAX 2048

/** A request, and the answer in the making. */
struct shca_nldev_call {
	const struct shca_nldev *nldev;
	const struct nlmsghdr *request;
	const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX]; /**< of the request; NULL: not there */
	struct nlmsghdr *message; /**< room for SHCA_NLDEV_MESSAGE_MAX bytes; begun */
};

struct shca_nldev_command {
	/** The command that the answer names, which is not always its own. */
	uint16_t doit_answers_as, dump_answers_as;
	/** Write the one message of the answer. NULL: the command only dumps. @return 0 or a
	 * negative errno. */
	int (*doit)(struct shca_nldev_call *call);
	/** Write message @p index of a dump. NULL: the command does not dump. @return 1, 0: there
	 * are no more, or a negative errno. */
	int (*dump)(struct shca_nldev_call *call, unsigned int index);
};

/** By RDMA_NLDEV_CMD_*. */
extern const struct shca_nldev_command shca_nldev_commands[RDMA_NLDEV_NUM_OPS];

#endif /* SHCA_NLDEV_COMMANDS_H */
