/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Doorbell registers of send queues, as mapped in this process.
 *
 * All processes have a send queue at the same address, but each process maps the page of the
 * queue's register at an address of its own. So the queue holds an index into a table that is
 * private to each process.
 */
#ifndef MDV_UAR_H
#define MDV_UAR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_config.h>

#include "devargs.h"

/** Another process cannot map the queue's page. */
#define MDV_UAR_NO_OFFSET UINT64_MAX

/** Indexed by mdv_uar_slot(). */
extern volatile uint64_t *mdv_uar_regs[RTE_MAX_ETHPORTS * RTE_MAX_QUEUES_PER_PORT];

static inline uint32_t
mdv_uar_slot(uint16_t port_id, uint16_t queue)
{
	return (uint32_t)port_id * RTE_MAX_QUEUES_PER_PORT + queue;
}

/** @return whether doorbell pages are to be mapped non-cached, rather than write-combining. */
bool mdv_uar_wants_non_cached(enum mdv_sq_db_nc wanted);

struct mdv_uar_page;
SLIST_HEAD(mdv_uar_pages, mdv_uar_page);

/**
 * Map a doorbell page of a device that another process opened, unless @p pages has it already.
 * @param fd the device's
 * @return the page's address, or NULL and errno
 */
void *mdv_uar_map(struct mdv_uar_pages *pages, int fd, uint64_t offset);
/** Unmap all of @p pages; after that no queue may ring. */
void mdv_uar_unmap(struct mdv_uar_pages *pages);

#endif /* MDV_UAR_H */
