/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Generic netlink: messages of the family "ethtool" about ports' netdevs are answered here.
 */
#ifndef SHCA_PRELOAD_GENL_H
#define SHCA_PRELOAD_GENL_H

#include <stddef.h>
#include <sys/socket.h>

struct shca_bell;

/**
 * Answer a datagram that the application sends to the kernel on @p fd.
 * @param bytes aligned to 4 bytes; not trusted.
 * @return 0; SHCA_NLDEV_KERNEL: it is for the kernel, as it is; or a negative errno.
 */
int shca_genl_request(struct shca_bell *bell, int fd, const void *bytes, size_t length);

#endif /* SHCA_PRELOAD_GENL_H */
