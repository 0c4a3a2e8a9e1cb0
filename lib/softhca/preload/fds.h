/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The table of descriptors of nodes and of netlink in this process. Every ioctl and close of
 * the application looks here first, so two loads without a lock find that a descriptor is not ours.
 *
 * Copies of a descriptor (dup) share one entry. After fork the child has the table, but not the
 * device: an entry works only in the process that created it, unless the device has a keeper.
 */
#ifndef SHCA_PRELOAD_FDS_H
#define SHCA_PRELOAD_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct shca_bell;
struct shca_file;
struct shca_fd;
struct shca_netlink;

/**
 * Enter @p fd.
 * @return 0, or, with @p file still the caller's, -ENOMEM, -EMFILE (a number beyond the table).
 */
int shca_fds_add(int fd, struct shca_file *file, unsigned int port);
/** The same for a node of a card that has a keeper. */
int shca_fds_add_kept(int fd, unsigned int port);
/** The same for a descriptor of events. @param is_kept a keeper sends them, whose end is a removal
 */
int shca_fds_add_events(int fd, bool is_kept);
/** What to say on @p fd, where nothing more comes to be read. */
enum shca_fds_end {
	SHCA_FDS_END,     /**< that: it has no events */
	SHCA_FDS_REMOVED, /**< once: the keeper has gone */
	SHCA_FDS_ERROR,   /**< EIO */
};
/**
 * Find whether reading @p size bytes would cut an event; waits for one if it has to, as read()
 * does.
 * @param peek how long the next one is, as recv() with MSG_PEEK and MSG_TRUNC
 * @return 1: it would, 0: it would not, or -1 and errno.
 */
int shca_fds_cuts(int fd, size_t size, ssize_t (*peek)(int fd));
/** Before the last close() of @p fd, which shca_fds_take() gave @p entry of: the device counts the
 * events that were not read by what lies there, so keep a copy until it has. */
void shca_fds_keep_unread(int fd, struct shca_fd *entry);
/** @return whether @p fd is a descriptor of events. */
bool shca_fds_has_events(int fd);
/** @param is_async an event of a device is asked for */
enum shca_fds_end shca_fds_end(int fd, bool is_async);
/** The same for a socket of RDMA netlink, which has no file. */
int shca_fds_add_netlink(
	int fd, struct shca_netlink *netlink, void (*destroy)(struct shca_netlink *netlink));
/** @return the state of such a socket, with a reference to @p entry, or NULL with none. */
struct shca_netlink *shca_fds_netlink(int fd, struct shca_fd **entry);
/** The same for a socket of the kernel's on which we answer, too. */
int shca_fds_add_bell(int fd, struct shca_bell *bell);
/** @return the state of such a socket, with a reference to @p entry, or NULL with none. */
struct shca_bell *shca_fds_bell(int fd, struct shca_fd **entry);
/** @return whether @p fd may be ours; lock-free. */
bool shca_fds_has(int fd);
/** @return the entry with one reference more, or NULL. */
struct shca_fd *shca_fds_get(int fd);
/** Closes the file, or destroys the state, with the last reference. NULL is allowed. */
void shca_fds_put(struct shca_fd *entry);
/** @return the file, or NULL when it belongs to another process or was closed at exit. */
struct shca_file *shca_fds_file(const struct shca_fd *entry);
/** @return whether the entry is a node's, and neither of events nor of a socket. */
bool shca_fds_is_node(const struct shca_fd *entry);
/** @return whether the node is that of connections (SHCA_NODE_RDMA_CM), and no device's. */
bool shca_fds_is_rdma_cm(const struct shca_fd *entry);
/** @return whether the node is one of a card that has a keeper, which knows it in any process. */
bool shca_fds_is_kept(const struct shca_fd *entry);
/** @return the port that @p fd stands for, or -1: it is no node, or no longer. */
int shca_fds_port(int fd);
/** Remove @p fd before close(). @return its entry, for shca_fds_put() after close(), or NULL. */
struct shca_fd *shca_fds_take(int fd);
/** Note that @p to has become a copy of @p from; either may be any descriptor. */
void shca_fds_copy(int from, int to);
/** At exit: close all files without other users. @return whether all are closed. */
bool shca_fds_close_all(void);

/** For pthread_atfork(). */
void shca_fds_lock(void);
void shca_fds_unlock(void);
/** In the child, instead of shca_fds_unlock(). */
void shca_fds_forked(void);

#endif /* SHCA_PRELOAD_FDS_H */
