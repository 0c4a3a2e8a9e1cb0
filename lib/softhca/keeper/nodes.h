/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Nodes that programs have open. A program has a file of its own, by whose inode the keeper knows
 * the node whichever process asks: the one that opened it, or one that got the descriptor by fork()
 * or a message. The node is closed when nobody has a descriptor or a mapping of it any more, as the
 * kernel's release() is called; inotify(7) tells so.
 */
#ifndef SHCA_KEEPER_NODES_H
#define SHCA_KEEPER_NODES_H

#include <sys/types.h>

struct shca_device;
struct shca_file;
struct shca_nodes;

/** @return a table, or NULL: the system allows no more (inotify(7), max_user_instances). */
struct shca_nodes *shca_nodes_create(void);
/** Close all nodes; no request runs. */
void shca_nodes_destroy(struct shca_nodes *nodes);
/** @return a descriptor that is ready to be read when shca_nodes_reap() has work. */
int shca_nodes_fd(const struct shca_nodes *nodes);
/** Open a node of @p dev for shca_user_current. @return a descriptor for the program, or a negative
 * errno. */
int shca_nodes_open(struct shca_nodes *nodes, struct shca_device *dev);
/** Close the nodes that nobody has any more. Thread-safe, as all here. */
void shca_nodes_reap(struct shca_nodes *nodes);
/**
 * Find the file behind the process's descriptor, until shca_nodes_put().
 * @return 0; -EBADF: a thread of the process has closed it meanwhile; -EIO: it is none of these;
 * -EACCES: the process does not let the keeper look.
 */
int shca_nodes_get(struct shca_nodes *nodes, pid_t pid, int fd, struct shca_file **file);
void shca_nodes_put(struct shca_nodes *nodes, struct shca_file *file);

#endif /* SHCA_KEEPER_NODES_H */
