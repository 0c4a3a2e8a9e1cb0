/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An open uverbs node: keeper/, or preload/ where there is no keeper, calls these functions for
 * open, ioctl, write and close of /dev/infiniband/uverbs<i>.
 *
 * A file is one verbs context: its own handles, objects and event descriptors on a device that all
 * files share. The answers and their errnos are those of Linux 6.1's ib_uverbs and mlx5_ib
 * (drivers/infiniband/core/uverbs_*.c, hw/mlx5).
 */
#ifndef SHCA_ABI_ENTRY_FILE_H
#define SHCA_ABI_ENTRY_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct shca_device;
struct shca_file;

/** Call a function for each open file of a device, new ones first, with the device lock held. */
void shca_file_each(
	struct shca_device *dev, void (*function)(struct shca_file *file, void *arg), void *arg);

/**
 * Open @p dev.
 *
 * @param fd a new descriptor, which the caller closes: a sparse file that covers all offsets, so
 * that the real mmap works on it.
 * @return 0 or a negative errno.
 */
int shca_file_open(struct shca_device *dev, bool cloexec, struct shca_file **file, int *fd);
/**
 * An ioctl on the file. Thread-safe; takes the device lock.
 * @param arg as the application gave it: not trusted.
 * @return 0 or a negative errno.
 */
int shca_file_ioctl(struct shca_file *file, unsigned long request, void *arg);
/**
 * A write on the file: one command of the write interface. Thread-safe; takes the device lock.
 * @param bytes as the application gave them: not trusted.
 * @return 0 (all bytes are consumed) or a negative errno.
 */
int shca_file_write(struct shca_file *file, const void *bytes, size_t length);
/** Destroy all objects, newest first, then the context. No request may run. NULL is allowed. */
void shca_file_close(struct shca_file *file);
/**
 * As shca_file_close(), in exit(): other threads may still wait for events. Linux closes a file
 * after the last thread has ended, so no thread may see that it is closed.
 */
void shca_file_close_at_exit(struct shca_file *file);

#endif /* SHCA_ABI_ENTRY_FILE_H */
