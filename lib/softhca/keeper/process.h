/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The programs that have sessions: what all sessions of one share. Thread-safe. */
#ifndef SHCA_KEEPER_PROCESS_H
#define SHCA_KEEPER_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "keeper/memory.h"

struct shca_process {
	LIST_ENTRY(shca_process) link;
	pid_t pid;
	int pidfd;
	unsigned int nb_sessions;
	bool is_awaited;      /**< by a session, in shca_process_await_end() */
	pthread_mutex_t lock; /**< of the following */
	struct shca_memory memory;
	const void *mover; /**< the session with which some of it is moving, or NULL */
	bool forks;        /**< threads of it stand still for one that has forked, or will */
	pthread_cond_t forked;
	pthread_rwlock_t calls; /**< read by requests that write to its memory */
};

/** @return the process, for shca_process_put(), or NULL after a message. */
struct shca_process *shca_process_get(pid_t pid);
/**
 * Before the end of a session: wait until its process ends, if that has moved memory and no other
 * session waits. A program that has closed its connection, as some close what they do not know, may
 * make another one; only the privileged would find the files of its memory again.
 */
void shca_process_await_end(struct shca_process *process);
/** Wait until no thread stands still for one that forks, which goes on before the others do: nobody
 * else can stop them meanwhile. The lock is held. */
void shca_process_await_fork(struct shca_process *process);
/** NULL is allowed. */
void shca_process_put(struct shca_process *process);

#endif /* SHCA_KEEPER_PROCESS_H */
