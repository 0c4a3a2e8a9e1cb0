/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers the memory of mempools and, for attached buffers, of the EAL and of the device, and
 * keeps the port's table of regions. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>

#include <rte_byteorder.h>
#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include "base/log.h"
#include "device/device.h"
#include "mp/mp.h"
#include "mr.h"
#include "mr_span.h"
#include "mr_watch.h"

struct region {
	struct mdv_mr_range range;
	struct ibv_mr *mr;
};

/** Regions that come and go together: those of a mempool, or one run of EAL or device memory. */
struct owner {
	LIST_ENTRY(owner) next;
	const struct rte_mempool *pool;  /**< NULL: EAL or device memory, found by address */
	uint64_t hash;                   /**< of the pool's chunks, by mdv_mr_span_hash() */
	char name[RTE_MEMPOOL_NAMESIZE]; /**< of the pool, which may be gone untold */
	unsigned int refs;
	bool met; /**< a queue's cache has it; the caches together hold one reference until the pool
		     is destroyed */
	size_t nb_regions;
	struct region regions[]; /**< by start, disjoint */
};

LIST_HEAD(owner_list, owner);

/** In shared memory, so that other processes see the generation. */
struct mdv_mr_table {
	uint32_t generation;
	uint16_t port_id;
	bool early;           /**< pools are registered before a queue meets them; without order */
	pthread_mutex_t lock; /**< covers both lists; taken in EAL's memory lock, never around it */
	struct owner_list owners;
	/** Found no more, but packets in flight may be of their memory. */
	struct owner_list retired;
	const struct mdv_device *device;
};

static void
owner_destroy(struct mdv_mr_table *table, struct owner *owner)
{
	size_t i;
	int ret;

	for (i = 0; i < owner->nb_regions; i++) {
		ret = ibv_dereg_mr(owner->regions[i].mr);
		if (ret != 0)
			MDV_LOG(ERR, "%s: cannot deregister memory: %s", table->device->name,
				strerror(ret));
	}
	free(owner);
}

/** Log the usual reason of ENOMEM by name and number: registered memory counts as locked memory. */
static void
log_refusal(const struct mdv_mr_table *table, const struct mdv_mr_span *span, int error)
{
	struct rlimit limit;

	if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
		limit.rlim_cur != RLIM_INFINITY)
		MDV_LOG(ERR,
			"%s: cannot register %zu bytes at %#zx: %s; RLIMIT_MEMLOCK is %zu kB, which all that is registered must fit in: raise it (ulimit -l) or give CAP_IPC_LOCK",
			table->device->name, (size_t)span->size, (size_t)span->start,
			strerror(error), (size_t)(limit.rlim_cur >> 10));
	else
		MDV_LOG(ERR, "%s: cannot register %zu bytes at %#zx: %s", table->device->name,
			(size_t)span->size, (size_t)span->start, strerror(error));
}

static struct owner *
owner_create(struct mdv_mr_table *table, const struct mdv_mr_span *spans, size_t nb_spans)
{
	/* The device only writes packets there and reads them: no remote access. libibverbs leaves
	 * out relaxed ordering if the kernel does not know it. */
	const int access =
		IBV_ACCESS_LOCAL_WRITE | (table->device->relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);
	struct owner *owner;
	size_t i;

	owner = calloc(1, sizeof(*owner) + nb_spans * sizeof(owner->regions[0]));
	if (owner == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	for (i = 0; i < nb_spans; i++) {
		struct region *region = &owner->regions[i];

		region->mr = ibv_reg_mr(
			table->device->pd, (void *)spans[i].start, spans[i].size, access);
		if (region->mr == NULL) {
			rte_errno = errno != 0 ? errno : ENOMEM;
			log_refusal(table, &spans[i], rte_errno);
			owner_destroy(table, owner);
			return NULL;
		}
		region->range = (struct mdv_mr_range){
			.start = spans[i].start,
			.size = spans[i].size,
			.lkey_be = rte_cpu_to_be_32(region->mr->lkey),
		};
		owner->nb_regions++;
	}
	return owner;
}

/** Register device memory as one region. LOCAL_WRITE would only serve received packets. */
static struct owner *
owner_create_dm(struct mdv_mr_table *table, struct ibv_dm *dm, const void *start, size_t size)
{
	struct owner *owner = calloc(1, sizeof(*owner) + sizeof(owner->regions[0]));

	if (owner == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	owner->regions[0].mr = ibv_reg_dm_mr(table->device->pd, dm, 0, size, IBV_ACCESS_ZERO_BASED);
	if (owner->regions[0].mr == NULL) {
		rte_errno = errno != 0 ? errno : ENOMEM;
		free(owner);
		return NULL;
	}
	owner->regions[0].range = (struct mdv_mr_range){
		.start = (uintptr_t)start,
		.size = size,
		.lkey_be = rte_cpu_to_be_32(owner->regions[0].mr->lkey),
		.zero_based = true,
	};
	owner->nb_regions = 1;
	return owner;
}

/** Unlink under the lock; caches must forget the owner before the memory has another use. */
static void
owner_remove(struct mdv_mr_table *table, struct owner *owner)
{
	LIST_REMOVE(owner, next);
	__atomic_add_fetch(&table->generation, 1, __ATOMIC_RELEASE);
	owner_destroy(table, owner);
}

/** The same for a run of EAL memory of which a part has gone, or a pool that is registered anew:
 * packets in the rest of it, of pools among others, may be on their way. */
static void
owner_retire(struct mdv_mr_table *table, struct owner *owner)
{
	LIST_REMOVE(owner, next);
	__atomic_add_fetch(&table->generation, 1, __ATOMIC_RELEASE);
	LIST_INSERT_HEAD(&table->retired, owner, next);
}

static void
owners_free_retired(struct mdv_mr_table *table)
{
	struct owner *owner;

	while ((owner = LIST_FIRST(&table->retired)) != NULL) {
		LIST_REMOVE(owner, next);
		owner_destroy(table, owner);
	}
}

static struct owner *
owner_of_pool(const struct mdv_mr_table *table, const struct rte_mempool *pool)
{
	struct owner *owner;

	LIST_FOREACH (owner, &table->owners, next) {
		if (owner->pool == pool)
			return owner;
	}
	return NULL;
}

static const struct region *
owner_find(const struct owner *owner, uintptr_t addr)
{
	size_t low = 0, high = owner->nb_regions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct region *region = &owner->regions[middle];

		if (addr - region->range.start < region->range.size)
			return region;
		if (addr < region->range.start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/**
 * Find the region for a queue's cache, which keeps it, so the table holds the pool: the Rx queue
 * that registered the pool may stop while packets of the pool wait to be sent. A pool's own region
 * comes before that of a run of EAL memory around it, which goes with any page of the run.
 */
static bool
table_find(struct mdv_mr_table *table, uintptr_t addr, struct mdv_mr_range *range)
{
	bool found = false;
	struct owner *owner;

	pthread_mutex_lock(&table->lock);
	LIST_FOREACH (owner, &table->owners, next) {
		const struct region *region = owner_find(owner, addr);

		if (region == NULL)
			continue;
		*range = region->range;
		found = true;
		if (owner->pool == NULL)
			continue;
		owner->refs += owner->met ? 0 : 1;
		owner->met = true;
		break;
	}
	pthread_mutex_unlock(&table->lock);
	return found;
}

void
mdv_mr_each(struct mdv_mr_table *table, mdv_mr_each_t each, void *arg)
{
	const struct owner *owner;
	size_t i;

	pthread_mutex_lock(&table->lock);
	LIST_FOREACH (owner, &table->owners, next) {
		for (i = 0; i < owner->nb_regions; i++)
			each(&owner->regions[i].range, owner->pool == NULL ? NULL : owner->name,
				arg);
	}
	pthread_mutex_unlock(&table->lock);
}

/** Register the pool or add a reference; the references of all caches together count once. */
static int
pool_get(struct mdv_mr_table *table, struct rte_mempool *pool, bool met)
{
	struct owner *owner, *before;
	struct mdv_mr_span *spans;
	size_t nb_spans;
	int ret = 0;

	pthread_mutex_lock(&table->lock);
	owner = before = owner_of_pool(table, pool);
	/* A walk saw the pool while it was made, or it is another pool at the address of one that
	 * a process destroyed untold. */
	if (owner == NULL || owner->hash != mdv_mr_span_hash(pool)) {
		ret = mdv_mr_span_of_pool(pool, &spans, &nb_spans);
		if (ret == 0) {
			owner = owner_create(table, spans, nb_spans);
			ret = owner == NULL ? -rte_errno : 0;
			free(spans);
		}
		if (ret != 0)
			goto unlock;
		owner->pool = pool;
		owner->hash = mdv_mr_span_hash(pool);
		rte_strscpy(owner->name, pool->name, sizeof(owner->name));
		LIST_INSERT_HEAD(&table->owners, owner, next);
		if (before != NULL) {
			owner->refs = before->refs;
			owner->met = before->met;
			owner_retire(table, before);
		}
	}
	if (!met || !owner->met)
		owner->refs++;
	owner->met |= met;
unlock:
	pthread_mutex_unlock(&table->lock);
	if (ret != 0)
		MDV_LOG(ERR, "%s: cannot register mempool %s: %s", table->device->name, pool->name,
			strerror(-ret));
	return ret;
}

int
mdv_mr_pool_get(struct mdv_mr_table *table, struct rte_mempool *pool)
{
	return pool_get(table, pool, false);
}

void
mdv_mr_pool_put(struct mdv_mr_table *table, struct rte_mempool *pool)
{
	struct owner *owner;

	pthread_mutex_lock(&table->lock);
	owner = owner_of_pool(table, pool);
	if (owner != NULL && --owner->refs == 0)
		owner_remove(table, owner);
	pthread_mutex_unlock(&table->lock);
}

void
mdv_mr_caches_gone(struct mdv_mr_table *table)
{
	struct owner *owner, *next;

	__atomic_store_n(&table->early, false, __ATOMIC_RELAXED);
	pthread_mutex_lock(&table->lock);
	for (owner = LIST_FIRST(&table->owners); owner != NULL; owner = next) {
		next = LIST_NEXT(owner, next);
		if (!owner->met)
			continue;
		owner->met = false;
		if (--owner->refs == 0)
			owner_remove(table, owner);
	}
	owners_free_retired(table);
	pthread_mutex_unlock(&table->lock);
}

uint32_t
mdv_mr_pool_lkey(struct mdv_mr_table *table, const struct rte_mempool *pool)
{
	uint32_t lkey_be = MDV_MR_LKEY_NONE;
	const struct owner *owner;

	pthread_mutex_lock(&table->lock);
	owner = owner_of_pool(table, pool);
	if (owner != NULL && owner->nb_regions == 1)
		lkey_be = owner->regions[0].range.lkey_be;
	pthread_mutex_unlock(&table->lock);
	return lkey_be;
}

int
mdv_mr_dm_add(struct mdv_mr_table *table, struct ibv_dm *dm, const void *start, size_t size)
{
	struct owner *owner = owner_create_dm(table, dm, start, size);

	if (owner == NULL) {
		MDV_LOG(ERR, "%s: cannot register %zu bytes of device memory: %s",
			table->device->name, size, strerror(rte_errno));
		return -rte_errno;
	}
	pthread_mutex_lock(&table->lock);
	LIST_INSERT_HEAD(&table->owners, owner, next);
	pthread_mutex_unlock(&table->lock);
	return 0;
}

void
mdv_mr_dm_del(struct mdv_mr_table *table, const void *start)
{
	struct owner *owner, *next;

	pthread_mutex_lock(&table->lock);
	for (owner = LIST_FIRST(&table->owners); owner != NULL; owner = next) {
		next = LIST_NEXT(owner, next);
		if (owner_find(owner, (uintptr_t)start) != NULL)
			owner_remove(table, owner);
	}
	pthread_mutex_unlock(&table->lock);
}

/** Register the run of used EAL (or application-registered external) pages around the address. */
static void
eal_memory_get(struct mdv_mr_table *table, uintptr_t addr)
{
	struct rte_memseg_list *list;
	struct rte_memseg *seg;
	struct owner *owner;
	struct mdv_mr_span span;
	int idx, before, after;

	/* Hold the lock until the owner is in the table, so that the event of its removal comes
	 * later. */
	rte_mcfg_mem_read_lock();
	list = rte_mem_virt2memseg_list((void *)addr);
	seg = list == NULL ? NULL : rte_mem_virt2memseg((void *)addr, list);
	if (seg == NULL)
		goto unlock_memory;
	idx = rte_fbarray_find_idx(&list->memseg_arr, seg);
	before = rte_fbarray_find_rev_contig_used(&list->memseg_arr, idx);
	after = rte_fbarray_find_contig_used(&list->memseg_arr, idx);
	if (idx < 0 || before < 1 || after < 1)
		goto unlock_memory;
	span.start = (uintptr_t)seg->addr - (uintptr_t)(before - 1) * list->page_sz;
	span.size = (uintptr_t)(before - 1 + after) * list->page_sz;
	pthread_mutex_lock(&table->lock);
	owner = owner_create(table, &span, 1);
	if (owner != NULL) {
		owner->refs = 1;
		LIST_INSERT_HEAD(&table->owners, owner, next);
	}
	pthread_mutex_unlock(&table->lock);
unlock_memory:
	rte_mcfg_mem_read_unlock();
}

/** Register the memory of an mbuf's buffer: its pool, the pool of the mbuf it is attached to, or
 * EAL memory. */
static void
table_learn(struct mdv_mr_table *table, uintptr_t addr, const struct rte_mbuf *mbuf)
{
	struct rte_mempool *pool = mbuf->pool;

	if (RTE_MBUF_CLONED(mbuf))
		pool = rte_mbuf_from_indirect((struct rte_mbuf *)(uintptr_t)mbuf)->pool;
	else if (RTE_MBUF_HAS_EXTBUF(mbuf) && (pool == NULL || !mdv_mr_span_is_pinned(pool)))
		pool = NULL;
	if (pool != NULL)
		pool_get(table, pool, true);
	else
		eal_memory_get(table, addr);
}

/** Ask the primary process: this one cannot register memory. */
static bool
ask(const struct mdv_mr_table *table, uintptr_t addr, const struct rte_mbuf *mbuf,
	struct mdv_mr_range *range)
{
	struct mdv_mp_message message = {
		.kind = MDV_MP_MEMORY,
		.port_id = table->port_id,
		.memory = { .addr = addr, .mbuf = mbuf },
	};

	if (mdv_mp_ask(&message, NULL) != 0)
		return false;
	*range = message.memory.range;
	return true;
}

bool
mdv_mr_find(struct mdv_mr_table *table, uintptr_t addr, const struct rte_mbuf *mbuf,
	struct mdv_mr_range *range)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return ask(table, addr, mbuf, range);
	if (table_find(table, addr, range))
		return true;
	if (mdv_mr_span_is_elsewhere((void *)addr))
		return false;
	table_learn(table, addr, mbuf);
	return table_find(table, addr, range);
}

const uint32_t *
mdv_mr_generation(const struct mdv_mr_table *table)
{
	return &table->generation;
}

static bool
overlaps(const struct owner *owner, uintptr_t start, size_t size)
{
	size_t i;

	for (i = 0; i < owner->nb_regions; i++) {
		const struct mdv_mr_range *range = &owner->regions[i].range;

		if (range->start < start + size && start < range->start + range->size)
			return true;
	}
	return false;
}

/** @return whether all of the owner's memory is there. */
static bool
is_within(const struct owner *owner, uintptr_t start, size_t size)
{
	const struct mdv_mr_range *range = &owner->regions[0].range;

	return owner->nb_regions == 1 && range->start >= start &&
		range->start + range->size <= start + size;
}

/* mr_watch.c has removed a destroyed pool before, unless the process that destroyed it could not
 * report that. */
void
mdv_mr_memory_event(enum rte_mem_event event, const void *addr, size_t len, void *arg)
{
	struct mdv_mr_table *table = arg;
	struct owner *owner, *next;

	if (event != RTE_MEM_EVENT_FREE)
		return;
	pthread_mutex_lock(&table->lock);
	for (owner = LIST_FIRST(&table->owners); owner != NULL; owner = next) {
		next = LIST_NEXT(owner, next);
		if (!overlaps(owner, (uintptr_t)addr, len))
			continue;
		if (owner->pool == NULL && !is_within(owner, (uintptr_t)addr, len))
			owner_retire(table, owner);
		else
			owner_remove(table, owner);
	}
	pthread_mutex_unlock(&table->lock);
}

void
mdv_mr_pool_gone(struct mdv_mr_table *table, const struct rte_mempool *pool)
{
	struct owner *owner;

	pthread_mutex_lock(&table->lock);
	owner = owner_of_pool(table, pool);
	if (owner != NULL)
		owner_remove(table, owner);
	pthread_mutex_unlock(&table->lock);
}

/** Hold a pool as if a queue had met it. */
static void
pool_come(struct rte_mempool *pool, void *arg)
{
	if (mdv_mr_span_has_packets(pool))
		(void)pool_get(arg, pool, true);
}

void
mdv_mr_pools_register(struct mdv_mr_table *table)
{
	/* First, so that a pool is not missed which is made meanwhile. */
	__atomic_store_n(&table->early, true, __ATOMIC_RELAXED);
	mdv_mr_watch_walk(pool_come, table);
}

static void
pool_made(struct mdv_mr_table *table, struct rte_mempool *pool)
{
	if (__atomic_load_n(&table->early, __ATOMIC_RELAXED))
		pool_come(pool, table);
}

static const struct mdv_mr_watcher watcher = {
	.pool_made = pool_made,
	.pool_gone = mdv_mr_pool_gone,
	.memory = mdv_mr_memory_event,
};

struct mdv_mr_table *
mdv_mr_create(const struct mdv_device *device, uint16_t port_id)
{
	struct mdv_mr_table *table = rte_zmalloc("mdv_mr_table", sizeof(*table), 0);
	int error;

	if (table == NULL) {
		MDV_LOG(ERR, "%s: no memory for the table of memory regions", device->name);
		return NULL;
	}
	pthread_mutex_init(&table->lock, NULL);
	LIST_INIT(&table->owners);
	LIST_INIT(&table->retired);
	table->device = device;
	table->port_id = port_id;
	error = mdv_mr_watch_begin(table, &watcher);
	if (error == 0)
		return table;
	MDV_LOG(ERR, "%s: cannot watch memory: %s", device->name, rte_strerror(error));
	pthread_mutex_destroy(&table->lock);
	rte_free(table);
	return NULL;
}

void
mdv_mr_destroy(struct mdv_mr_table *table)
{
	struct owner *owner;

	if (table == NULL)
		return;
	mdv_mr_watch_end(table);
	while ((owner = LIST_FIRST(&table->owners)) != NULL)
		owner_remove(table, owner);
	owners_free_retired(table);
	pthread_mutex_destroy(&table->lock);
	rte_free(table);
}
