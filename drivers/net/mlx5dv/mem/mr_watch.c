/* SPDX-License-Identifier: BSD-3-Clause */
/* The EAL's callbacks: registered, and passed on to the tables that are still there. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_mempool.h>
#include <rte_tailq.h>

#include "mr_span.h"
#include "mr_watch.h"

#define EVENT_NAME "net_mlx5dv_mr"

struct watched {
	LIST_ENTRY(watched) next;
	struct mdv_mr_table *table;
	const struct mdv_mr_watcher *watcher;
};

/** The lock is taken before a table's, and of the EAL's only in that of its lists. */
static struct {
	pthread_mutex_t lock;
	LIST_HEAD(, watched) tables;
} watching = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Lock held. @return NULL: the table is not watched */
static struct watched *
watched_find(const struct mdv_mr_table *table)
{
	struct watched *watched;

	LIST_FOREACH (watched, &watching.tables, next)
		if (watched->table == table)
			break;
	return watched;
}

static void
pool_event(enum rte_mempool_event event, struct rte_mempool *pool, void *arg)
{
	const struct watched *watched;

	pthread_mutex_lock(&watching.lock);
	watched = watched_find(arg);
	if (watched != NULL && event == RTE_MEMPOOL_EVENT_DESTROY)
		watched->watcher->pool_gone(arg, pool);
	else if (watched != NULL)
		watched->watcher->pool_made(arg, pool);
	pthread_mutex_unlock(&watching.lock);
}

TAILQ_HEAD(pool_list, rte_tailq_entry);

void
mdv_mr_watch_walk(void (*each)(struct rte_mempool *pool, void *arg), void *arg)
{
	const struct pool_list *pools = RTE_TAILQ_LOOKUP("RTE_MEMPOOL", pool_list);
	const struct rte_tailq_entry *entry;

	rte_mcfg_tailq_read_lock();
	TAILQ_FOREACH (entry, pools, next)
		each(entry->data, arg);
	rte_mcfg_tailq_read_unlock();
}

/** A pool as another process has told of it. */
struct told {
	struct mdv_mr_table *table;
	const struct rte_mempool *pool;
};

static void
compare(struct rte_mempool *pool, void *arg)
{
	const struct told *told = arg;

	if (pool == told->pool && mdv_mr_span_is_shared(pool))
		pool_event(RTE_MEMPOOL_EVENT_READY, pool, told->table);
}

void
mdv_mr_watch_made_elsewhere(struct mdv_mr_table *table, const struct rte_mempool *pool)
{
	struct told told = { table, pool };

	mdv_mr_watch_walk(compare, &told);
}

static void
watched_remove(const struct mdv_mr_table *table)
{
	struct watched *watched;

	pthread_mutex_lock(&watching.lock);
	watched = watched_find(table);
	LIST_REMOVE(watched, next);
	pthread_mutex_unlock(&watching.lock);
	free(watched);
}

int
mdv_mr_watch_begin(struct mdv_mr_table *table, const struct mdv_mr_watcher *watcher)
{
	struct watched *watched = calloc(1, sizeof(*watched));
	int ret;

	if (watched == NULL)
		return ENOMEM;
	watched->table = table;
	watched->watcher = watcher;
	pthread_mutex_lock(&watching.lock);
	LIST_INSERT_HEAD(&watching.tables, watched, next);
	pthread_mutex_unlock(&watching.lock);
	/* Without dynamic memory (--no-huge, --legacy-mem) memory is never freed, and there are no
	 * events. */
	ret = rte_mem_event_callback_register(EVENT_NAME, watcher->memory, table) == 0 ? 0
										       : rte_errno;
	if (ret == 0 || ret == ENOTSUP) {
		if (rte_mempool_event_callback_register(pool_event, table) == 0)
			return 0;
		/* The call that undoes the first one may set rte_errno, too. */
		ret = rte_errno;
		rte_mem_event_callback_unregister(EVENT_NAME, table);
	}
	watched_remove(table);
	return ret;
}

void
mdv_mr_watch_end(struct mdv_mr_table *table)
{
	rte_mempool_event_callback_unregister(pool_event, table);
	watched_remove(table);
	rte_mem_event_callback_unregister(EVENT_NAME, table);
}
