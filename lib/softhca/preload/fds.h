/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Which descriptors of this process are ours. Every ioctl and close of the application asks, so a
 * descriptor that is not ours is found out with two loads and no lock.
 *
 * Copies of a descriptor (dup) share one entry. After fork the child has the table, but not the
 * device: an entry belongs to the process that made it, and elsewhere only says whose it is.
 */
#ifndef SHCA_PRELOAD_FDS_H
#define SHCA_PRELOAD_FDS_H

#include <stdbool.h>

struct shca_file;
struct shca_fd;

/**
 * Enter @p fd.
 * @return 0, -ENOMEM, -EMFILE (a number beyond the table); @p file is the caller's still then.
 */
int shca_fds_add(int fd, struct shca_file *file, unsigned int port);
/** @return whether @p fd may be ours; lock-free. */
bool shca_fds_has(int fd);
/** @return the entry with one reference more, or NULL. */
struct shca_fd *shca_fds_get(int fd);
/** Closes the file with the last reference. NULL is allowed. */
void shca_fds_put(struct shca_fd *entry);
/** @return the file, or NULL when it belongs to another process or was closed at exit. */
struct shca_file *shca_fds_file(const struct shca_fd *entry);
/** @return the port @p fd stands for, or -1: it is not, or no longer, ours. */
int shca_fds_port(int fd);
/** @p fd is about to be closed. @return its entry, for shca_fds_put() once it is, or NULL. */
struct shca_fd *shca_fds_take(int fd);
/** @p to has become a copy of @p from, whatever either was. */
void shca_fds_copy(int from, int to);
/** At exit: close all files that nobody is using. @return whether all are closed. */
bool shca_fds_close_all(void);

/** For pthread_atfork(). */
void shca_fds_lock(void);
void shca_fds_unlock(void);

#endif /* SHCA_PRELOAD_FDS_H */
