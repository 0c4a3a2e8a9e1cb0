/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbell pages: each is mapped once, whatever the number of queues on it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uar.h"

struct mdv_uar_page {
	SLIST_ENTRY(mdv_uar_page) next;
	uint64_t offset;
	void *start;
};

volatile uint64_t *mdv_uar_regs[RTE_MAX_ETHPORTS * RTE_MAX_QUEUES_PER_PORT];

/**
 * Arm's CPUs write to a write-combining page faster than to a non-cached one, though each doorbell
 * is flushed then; elsewhere it is the other way round. DPDK's mlx5 driver has the same defaults.
 */
bool
mdv_uar_wants_non_cached(enum mdv_sq_db_nc wanted)
{
#ifdef RTE_ARCH_ARM64
	return wanted == MDV_SQ_DB_NC_ON;
#else
	return wanted != MDV_SQ_DB_NC_OFF;
#endif
}

void *
mdv_uar_map(struct mdv_uar_pages *pages, int fd, uint64_t offset)
{
	struct mdv_uar_page *page;

	SLIST_FOREACH(page, pages, next)
	{
		if (page->offset == offset)
			return page->start;
	}
	if (offset == MDV_UAR_NO_OFFSET) {
		errno = ENOTSUP;
		return NULL;
	}
	page = malloc(sizeof(*page));
	if (page == NULL)
		return NULL;
	/* The kernel maps the page for writing only. */
	page->start = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (page->start == MAP_FAILED) {
		free(page);
		return NULL;
	}
	page->offset = offset;
	SLIST_INSERT_HEAD(pages, page, next);
	return page->start;
}

void
mdv_uar_unmap(struct mdv_uar_pages *pages)
{
	struct mdv_uar_page *page;

	while ((page = SLIST_FIRST(pages)) != NULL) {
		SLIST_REMOVE_HEAD(pages, next);
		munmap(page->start, sysconf(_SC_PAGESIZE));
		free(page);
	}
}
