/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Private memory of the program that becomes memory of a file, at the same addresses, so that the
 * keeper can map it; and what tells such memory from private one: fork(), after which it is each
 * process's own, as it was, and madvise(), after which it may be zero.
 */
#ifndef SHCA_CLIENT_SHARE_H
#define SHCA_CLIENT_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keeper/message.h"

/** Memory that is to move to a file. */
struct shca_share {
	uint64_t start, length; /**< length 0: another thread moves memory, which is waited for */
	int prot;               /**< PROT_* of the memory */
	int fd;                 /**< the file; -1: a new one */
	uint64_t offset;        /**< there */
};

/** Say STOP, SHARE or FORK to the keeper, with a file if @p fd is one. No memory is allocated and
 * no lock taken, as the threads that stand still may have it. @return 0 or a negative errno. */
typedef int (*shca_share_fn)(
	void *arg, enum shca_message_type type, int fd, const struct shca_share *share);

/**
 * Move memory to a file. Thread-safe; the calling thread's own stack may be there.
 * @return 0: it has moved, or another thread has moved some of it; -ENOMEM (the system has no
 * more), or what @p say returns.
 */
int shca_share(const struct shca_share *share, shca_share_fn say, void *arg);
/**
 * Call @p fork_fn, fork() or _Fork() itself; then what was moved is the child's own. As safe in
 * signal handlers as @p fork_fn and @p say.
 * @param say NULL: other threads do not stand still meanwhile
 */
pid_t shca_share_fork(pid_t (*fork_fn)(void), shca_share_fn say, void *arg);
/**
 * In the child: what was moved is its own from here on. Called where the C library's fork() calls
 * the handlers of pthread_atfork(), it is so before libraries whose fork() stands between, as
 * libvma's does, put the child in order. shca_share_fork() calls it if nobody has.
 */
void shca_share_forked(void);
/** @return whether memory has moved, so that shca_share_fork() has something to do. */
bool shca_share_has_moved(void);
/**
 * Call @p madvise_fn, madvise() itself, with MADV_DONTNEED or MADV_FREE: what has moved behaves as
 * private memory does. Takes no lock: allocators call this with theirs, which fork() waits for.
 */
int shca_share_advise(int (*madvise_fn)(void *start, size_t length, int advice), void *start,
	size_t length, int advice);

#endif /* SHCA_CLIENT_SHARE_H */
