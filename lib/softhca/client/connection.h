/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A program's connections to the keeper of a card: made when they are wanted, kept for the next
 * call. Thread-safe.
 */
#ifndef SHCA_CLIENT_CONNECTION_H
#define SHCA_CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A program may close what it has not opened, and have a file of its own at the number then. */
struct shca_connection {
	int fd;
	dev_t device; /**< what was there when it was made */
	ino_t inode;
};

/** Name the keeper's socket in a card's directory. @return 0 or -ENAMETOOLONG */
int shca_connection_path(char *path, size_t size, const char *dir);
/** Say which card's keeper knows the nodes that this process has not opened itself. */
void shca_connection_use(const char *dir);
/** @return the directory of that card, for messages. */
const char *shca_connection_dir(void);
/** Get one that is idle, or make one. @param dir NULL: of the card that was opened before @return 0
 * or a negative errno */
int shca_connection_take(const char *dir, struct shca_connection *connection);
/** Give it back. @param works whether it may be used again */
void shca_connection_put(const struct shca_connection *connection, bool works);
/** Close one; what else has the number stays open. */
void shca_connection_drop(const struct shca_connection *connection);

/** @{ For pthread_atfork(). */
void shca_connection_lock(void);
void shca_connection_unlock(void);
/** In the child, instead of shca_connection_unlock(): forget the parent's connections. */
void shca_connection_forked(void);
/** @} */

#endif /* SHCA_CLIENT_CONNECTION_H */
