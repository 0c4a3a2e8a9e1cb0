/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a program asks the keeper of a card (keeper/message.h). Thread-safe: each call takes a
 * connection (client/connection.h).
 *
 * Calls return what the keeper answers, or -EIO when there is no keeper any more, as of a device
 * that was removed, or -EPROTONOSUPPORT, after a message, when it is of another version. Those
 * that return 0 or a descriptor keep errno, as system calls do.
 */
#ifndef SHCA_CLIENT_LINK_H
#define SHCA_CLIENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keeper/message.h"

/** @return whether the card of @p dir has a keeper, or has had one. Keeps errno. */
bool shca_link_is_kept(const char *dir);
/** Open the node of a port. @return a descriptor or a negative errno. */
int shca_link_open(const char *dir, unsigned int port, bool cloexec);
/** Descriptors of events that a call has made; the program has their numbers. */
struct shca_link_fds {
	int fd[SHCA_MESSAGE_FDS_MAX];
	unsigned int nb;
};
/** An ioctl on a node. @return 0 or a negative errno. */
int shca_link_ioctl(int fd, unsigned long request, void *arg, struct shca_link_fds *made);
/** A write on a node, whole or not at all. @return 0 or a negative errno. */
int shca_link_write(int fd, const void *bytes, size_t length, struct shca_link_fds *made);
/** A descriptor of a node was closed: wait until the keeper has seen it. Keeps errno. */
void shca_link_closed(void);
/**
 * Ask RDMA netlink.
 * @param send called with each datagram of the answer; a negative errno ends it
 * @return 0 or a negative errno
 */
int shca_link_netlink(const char *dir, const void *bytes, size_t length, uint32_t portid,
	int (*send)(void *arg, const void *bytes, size_t length), void *arg);

/** Call @p fork_fn, fork() itself, so that moved memory becomes the child's as it is then. */
pid_t shca_link_fork(pid_t (*fork_fn)(void));

#endif /* SHCA_CLIENT_LINK_H */
