/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What of moved memory requests have named: there the device may write, and nowhere else. A child
 * of fork() writes to what lies between before it has memory of its own: to arenas' states and
 * threads', and to the locks of streams (glibc malloc/arena.c __malloc_fork_unlock_child(),
 * nptl/nptl-stack.c __nptl_reclaim_stacks(), sysdeps/nptl/fork.h, libio's locks). That is its
 * parent's memory still, to whom it is given back as it was.
 */
#ifndef SHCA_KEEPER_WANTED_H
#define SHCA_KEEPER_WANTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct shca_wanted {
	struct shca_wanted_range {
		uint64_t from, to;
	} * range;       /**< in order; they do not touch */
	unsigned int nb; /**< of them */
	bool is_unknown; /**< there was no memory to note one */
};

/** All-zero is allowed. */
void shca_wanted_fini(struct shca_wanted *wanted);
void shca_wanted_add(struct shca_wanted *wanted, uint64_t from, uint64_t to);
/** What is there has just moved: what was wanted of the memory before is elsewhere now. */
void shca_wanted_remove(struct shca_wanted *wanted, uint64_t from, uint64_t to);

/** Bytes of a process. */
struct shca_wanted_kept;

/** @return what has moved in process @p pid and is not wanted, or NULL: there is no such thing. */
struct shca_wanted_kept *shca_wanted_keep(const struct shca_wanted *wanted, pid_t pid);
/** Write back what differs, and free it. NULL is allowed. */
void shca_wanted_put_back(struct shca_wanted_kept *kept, pid_t pid);

#endif /* SHCA_KEEPER_WANTED_H */
