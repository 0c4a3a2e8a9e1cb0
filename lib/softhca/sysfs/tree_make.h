/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Directories and files of the tree. Internal to sysfs/. All return 0 or a negative errno.
 */
#ifndef SHCA_SYSFS_TREE_MAKE_H
#define SHCA_SYSFS_TREE_MAKE_H

#include <stddef.h>

/** Make a directory, if it is not there. */
int shca_tree_make_directory(const char *path);
/** Make the parent directories of @p path below its first @p base_length bytes. */
int shca_tree_make_parents(char *path, size_t base_length);
int shca_tree_make_file(const char *path, const void *bytes, size_t nb);

#endif /* SHCA_SYSFS_TREE_MAKE_H */
