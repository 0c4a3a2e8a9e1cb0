/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Answers of ours on a socket of the kernel's netlink, which stays what it is: the kernel answers
 * on it, too, and whatever the application does to it (poll(), addresses, groups, options) is the
 * kernel's.
 *
 * An answer waits here. For each the kernel is asked for nothing (NLMSG_NOOP) with an
 * acknowledgement, which it puts into the socket's queue in the order of all that it sends: that is
 * the bell. Who would receive the bell gets the answer. So a socket can be read from exactly when
 * there is something, and nobody needs the privilege that a datagram to oneself needs on these
 * protocols (af_netlink.c netlink_sendmsg(), NL_CFG_F_NONROOT_SEND).
 */
#ifndef SHCA_PRELOAD_BELL_H
#define SHCA_PRELOAD_BELL_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

struct shca_bell;

/** @return the state of a new socket, or NULL: no memory. */
struct shca_bell *shca_bell_create(int protocol);
/** What waits is lost, as with the socket. NULL is allowed. */
void shca_bell_destroy(struct shca_bell *bell);
/** @return the socket's protocol, NETLINK_*. */
int shca_bell_protocol(const struct shca_bell *bell);
/** Answer a request that the application sent on @p fd by one datagram. Thread-safe.
 * @return 0 or a negative errno: there is no room in the socket's queue. */
int shca_bell_ring(struct shca_bell *bell, int fd, const void *bytes, size_t length);
/** recvmsg(2) of what the kernel or we have sent. */
ssize_t shca_bell_receive(struct shca_bell *bell, int fd, struct msghdr *message, int flags);

#endif /* SHCA_PRELOAD_BELL_H */
