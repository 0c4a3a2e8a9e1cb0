/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The kernel's netlink, asked on a socket of our own. */
#ifndef SHCA_PRELOAD_KERNEL_H
#define SHCA_PRELOAD_KERNEL_H

#include <stdbool.h>

struct nlmsghdr;

/** How the kernel answers: options of a socket. */
struct shca_kernel_options {
	bool has_extack; /**< NETLINK_EXT_ACK */
	bool caps_acks;  /**< NETLINK_CAP_ACK */
};

/** @return those of the application's socket. */
struct shca_kernel_options shca_kernel_options(int fd);
/**
 * Ask, and wait for the whole answer.
 * @param request for a dump or an acknowledgement
 * @param visit gets each message, with our socket's port; the last is of NLMSG_ERROR or
 * NLMSG_DONE. @return 0, or what ends it
 * @return 0, what @p visit returned, or a negative errno.
 */
int shca_kernel_ask(int protocol, const struct shca_kernel_options *options,
	const struct nlmsghdr *request, int (*visit)(void *arg, const struct nlmsghdr *message),
	void *arg);

#endif /* SHCA_PRELOAD_KERNEL_H */
