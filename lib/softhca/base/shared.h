/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory that the runner and the processes below it share: a file in the runner's directory.
 */
#ifndef SHCA_BASE_SHARED_H
#define SHCA_BASE_SHARED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Map the file @p path; @p create: create it first, @p bytes long, all zero.
 * @return 0 or a negative errno.
 */
int shca_shared_map(const char *path, bool create, size_t bytes, void **memory);
/** NULL is allowed. */
void shca_shared_unmap(void *memory, size_t bytes);

#endif /* SHCA_BASE_SHARED_H */
