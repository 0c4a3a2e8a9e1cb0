/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A connection of a program to the keeper, which a thread of the keeper serves. A program has as
 * many as it has threads that ask at the same time.
 */
#ifndef SHCA_KEEPER_SESSION_H
#define SHCA_KEEPER_SESSION_H

#include <pthread.h>

struct shca_keeper_conf;
struct shca_nodes;

/** What all sessions share. */
struct shca_session_shared {
	const struct shca_keeper_conf *conf;
	struct shca_nodes *nodes;
	pthread_rwlock_t running; /**< read by requests; who writes it has the card for itself */
};

/** Serve @p fd, which is closed in any case, by a thread of its own. */
void shca_session_start(struct shca_session_shared *shared, int fd);

#endif /* SHCA_KEEPER_SESSION_H */
