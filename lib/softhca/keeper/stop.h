/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Threads of a program that stand still, by the means of debuggers: whatever signals they block,
 * and without a handler of theirs. They go on when the thread that stopped them ends, too.
 */
#ifndef SHCA_KEEPER_STOP_H
#define SHCA_KEEPER_STOP_H

#include <stdbool.h>
#include <sys/types.h>

struct shca_stop {
	struct shca_stop_thread {
		pid_t tid;
		int signal;   /**< that arrived meanwhile, or 0 */
		bool is_late; /**< it did not stand still in time, and may do so any moment */
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

/** @return the letter that proc(5) has for the state of a process or thread; 0: there is none. */
char shca_stop_state(pid_t tid);

/** A thread that is about to fork. */
struct shca_stop_fork {
	pid_t pid, inner; /**< the process, and the thread as that knows it */
	pid_t tid;        /**< 0: none */
	/** Called when all stand still, and when the child is done; NULL: nothing is to be done. */
	void (*stands)(void *arg), (*goes_on)(void *arg);
	void *arg;
};

/** Wait for the fork of the thread that @p pid itself knows as @p tid, which blocks all signals:
 * one that comes first counts as "no fork". @return 0; -ESRCH: it has no other threads; or why it
 * cannot be traced. */
int shca_stop_before_fork(struct shca_stop_fork *fork, pid_t pid, pid_t tid);
/**
 * When the thread has forked, which holds its locks still (those of malloc() among them), stop it
 * and the others until the child is done. By the thread that called shca_stop_before_fork().
 * @param said readable when the program has something to say: there is no child
 * @param done readable when the child is done
 */
void shca_stop_at_fork(struct shca_stop_fork *fork, int said, int done);

#endif /* SHCA_KEEPER_STOP_H */
