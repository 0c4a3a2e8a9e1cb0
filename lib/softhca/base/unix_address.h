/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Addresses of sockets in the file system: a path may be longer than an address holds. */
#ifndef SHCA_BASE_UNIX_ADDRESS_H
#define SHCA_BASE_UNIX_ADDRESS_H

#include <sys/un.h>

/**
 * Address @p path by its directory's descriptor: an address holds 107 bytes, a path more.
 * @param[out] dir_fd to be closed after the address was used
 * @return 0 or a negative errno
 */
int shca_unix_address(const char *path, struct sockaddr_un *where, int *dir_fd);

#endif /* SHCA_BASE_UNIX_ADDRESS_H */
