/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Threads of a program that stand still, by the means of debuggers: whatever signals they block,
 * and without a handler of theirs. They go on when the thread that stopped them ends, too.
 */
#ifndef SHCA_KEEPER_STOP_H
#define SHCA_KEEPER_STOP_H

#include <sys/types.h>

struct shca_stop {
	struct shca_stop_thread {
		pid_t tid;
		int signal; /**< that arrived meanwhile, or 0 */
	} * threads;
	unsigned int nb;
};

/**
 * Stop the threads of @p pid but the one that itself knows as @p tid. What cannot be stopped (a
 * debugger has it) goes on, after a message.
 * @return 0 or -ENOMEM: all go on.
 */
int shca_stop_others(struct shca_stop *stop, pid_t pid, pid_t tid);
/** By the thread that stopped them. All-zero is allowed. */
void shca_stop_end(struct shca_stop *stop);

#endif /* SHCA_KEEPER_STOP_H */
