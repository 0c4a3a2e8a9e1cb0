/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Netlink messages of a program, which are not trusted. */
#ifndef SHCA_NLDEV_NLMSG_H
#define SHCA_NLDEV_NLMSG_H

#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/** @return whether a whole message begins the @p left bytes. libmnl compares lengths as int, and so
 * finds room for those above INT_MAX. */
static inline bool
shca_nlmsg_ok(const struct nlmsghdr *message, int left)
{
	return mnl_nlmsg_ok(message, left) && message->nlmsg_len <= (uint32_t)left;
}

#endif /* SHCA_NLDEV_NLMSG_H */
