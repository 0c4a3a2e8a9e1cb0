/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Events of EAL memory and of mempools, for the tables of all ports.
 *
 * The EAL holds no lock while it tells of a mempool (rte_mempool.c
 * mempool_event_callback_invoke()): its callback may begin or go on after it was unregistered. So
 * it looks for the table in a list, whose lock it holds until it has done.
 */
#ifndef MDV_MR_WATCH_H
#define MDV_MR_WATCH_H

#include <rte_memory.h>

struct mdv_mr_table;
struct rte_mempool;

/** What is done with a table at an event. */
struct mdv_mr_watcher {
	void (*pool_made)(struct mdv_mr_table *table, struct rte_mempool *pool);
	void (*pool_gone)(struct mdv_mr_table *table, const struct rte_mempool *pool);
	rte_mem_event_callback_t memory; /**< with the table as its argument */
};

/**
 * Call @p each for every pool of the application. Meanwhile no process destroys one:
 * rte_mempool_free() takes a pool out of the EAL's list under the lock of lists, which
 * rte_mempool_walk() does without; that one may visit a pool that has gone. So @p each waits for
 * nothing of the EAL's.
 */
void mdv_mr_watch_walk(void (*each)(struct rte_mempool *pool, void *arg), void *arg);
/**
 * Tell the table of a pool that another process says it has made. That process may have destroyed
 * the pool meanwhile: then nothing happens, as with one in memory that this process does not share.
 */
void mdv_mr_watch_made_elsewhere(struct mdv_mr_table *table, const struct rte_mempool *pool);
/** Have the table told of events until mdv_mr_watch_end(). @return 0 or an errno. */
int mdv_mr_watch_begin(struct mdv_mr_table *table, const struct mdv_mr_watcher *watcher);
/** When it returns, no thread tells the table of anything any more. */
void mdv_mr_watch_end(struct mdv_mr_table *table);

#endif /* MDV_MR_WATCH_H */
