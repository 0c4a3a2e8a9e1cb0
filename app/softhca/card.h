/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Cards that are up, by name: directories below /run/softhca of root's, and below
 * $XDG_RUNTIME_DIR/softhca or else /tmp/softhca-UID of a user's.
 */
#ifndef SOFTHCA_CARD_H
#define SOFTHCA_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** The name of a card that is given none. */
#define APP_CARD_DEFAULT "card"

/** @return 0 or -EINVAL after a message: a name has letters, digits, '-', '_' and '.'. */
int app_card_check_name(const char *name);
/** Make the directory of a new card of this user; this process has its lock. @return 0 or a
 * negative errno after a message. */
int app_card_make(const char *name, mode_t mode, char *dir, size_t size);
/**
 * Lock a card by a file in its directory: who has made it has it locked, and then its keeper, until
 * both have ended.
 * @return a descriptor that is the lock; -ESTALE: it has gone; another negative errno after a
 * message.
 */
int app_card_lock(const char *name, const char *dir);
/** Find a card: this user's, or else root's. @return 0 or -ENOENT after a message. */
int app_card_find(const char *name, char *dir, size_t size);
/** @return the process that keeps the card of @p dir, or a negative errno: -ECONNREFUSED and
 * -ENOENT: it has none (any more). */
pid_t app_card_keeper(const char *dir);
/** @return what to say of that errno. */
const char *app_card_why(int error);
/** Call a function for each card that this user may see. */
void app_card_each(void (*visit)(const char *name, const char *dir));

#endif /* SOFTHCA_CARD_H */
