/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Commands on the node of connections: to this process's devices, or to the keeper. */
#ifndef SHCA_PRELOAD_CONNECTIONS_H
#define SHCA_PRELOAD_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

/** One command. Waits for an event if it asks for one and there is none, unless @p fd has
 * O_NONBLOCK.
 * @return 0 or a negative errno. */
int shca_connections_write(int fd, bool is_kept, const void *bytes, size_t length);

#endif /* SHCA_PRELOAD_CONNECTIONS_H */
