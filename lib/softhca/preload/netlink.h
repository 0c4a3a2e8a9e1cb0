/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A socket of RDMA netlink: a socket between processes stands in for the kernel's, and sends itself
 * the answers. What its buffer has no room for waits until the application reads, as a dump of the
 * kernel's does.
 */
#ifndef SHCA_PRELOAD_NETLINK_H
#define SHCA_PRELOAD_NETLINK_H

#include <stddef.h>

struct shca_netlink;
struct sockaddr_nl;

/** Get a socket's address, which it has at the latest with its first request. @return 0 or a
 * negative errno. */
int shca_netlink_address(int fd, struct sockaddr_nl *address);
/** @return the state of a new socket, or NULL: no memory. */
struct shca_netlink *shca_netlink_create(void);
/** What waits is lost, as with the socket. */
void shca_netlink_destroy(struct shca_netlink *netlink);
/**
 * Answer a datagram that the application sends to the kernel on @p fd. Thread-safe.
 * @param bytes aligned to 4 bytes; not trusted.
 * @return 0 or a negative errno.
 */
int shca_netlink_request(struct shca_netlink *netlink, int fd, const void *bytes, size_t length);
/** Send what waits, as far as there is room: the application has read. Keeps errno. */
void shca_netlink_flush(struct shca_netlink *netlink, int fd);

#endif /* SHCA_PRELOAD_NETLINK_H */
