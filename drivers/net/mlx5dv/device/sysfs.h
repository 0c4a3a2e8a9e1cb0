/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Files of sysfs, below the root that libibverbs uses. */
#ifndef MDV_SYSFS_H
#define MDV_SYSFS_H

#include <stdint.h>

#include <infiniband/verbs.h>

/** Room for a path below sysfs: root, class, device, and three more names. */
#define MDV_SYSFS_PATH_BYTES (IBV_SYSFS_PATH_MAX + 3 * IBV_SYSFS_NAME_MAX)

/** @return "/sys", or what SYSFS_PATH says; shorter than 128 bytes. */
const char *mdv_sysfs_root(void);
/**
 * Read the first line of the file into @p line, without its newline.
 * @return 0 or a negative errno
 */
int mdv_sysfs_read_line(const char *path, char *line, int size);
/** Read a decimal number. @return 0 or a negative errno. */
int mdv_sysfs_read_u64(const char *path, uint64_t *value);

#endif /* MDV_SYSFS_H */
