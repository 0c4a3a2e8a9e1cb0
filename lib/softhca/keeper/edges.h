/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What of moved pages is none that the device writes to: in front of what is wanted in the first
 * page of a mapping, and behind it in the last one. There the C library has an arena's state and a
 * thread's. A child of fork() writes to both before it has memory of its own (glibc malloc/arena.c
 * __malloc_fork_unlock_child(), nptl/nptl-stack.c __nptl_reclaim_stacks()), and so to its parent's,
 * to whom they are given back as they were.
 */
#ifndef SHCA_KEEPER_EDGES_H
#define SHCA_KEEPER_EDGES_H

#include <stdint.h>
#include <sys/types.h>

struct shca_edges {
	struct shca_edge {
		uint64_t page; /**< that it is in */
		uint64_t start, length;
	} * edge;
	unsigned int nb;
};

/** All-zero is allowed. */
void shca_edges_fini(struct shca_edges *edges);
/** A page moves, and these bytes of it are not wanted. */
void shca_edges_note(struct shca_edges *edges, uint64_t page, uint64_t start, uint64_t length);
/** These bytes are wanted. */
void shca_edges_want(struct shca_edges *edges, uint64_t address, uint64_t length);

/** Bytes of a process. */
struct shca_edges_kept;

/** @return the bytes of all edges in process @p pid, or NULL: there are none. */
struct shca_edges_kept *shca_edges_keep(const struct shca_edges *edges, pid_t pid);
/** Write them back, and free them. NULL is allowed. */
void shca_edges_put_back(struct shca_edges_kept *kept, pid_t pid);

#endif /* SHCA_KEEPER_EDGES_H */
