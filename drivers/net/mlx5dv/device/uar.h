/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Doorbell registers of send queues, as this process has them mapped.
 *
 * A send queue lies in memory that processes share at one address; the page of its register is
 * mapped by each of them where there was room. So a queue has the number of a place in a table that
 * is each process's own.
 */
#ifndef MDV_UAR_H
#define MDV_UAR_H

#include <stdint.h>
#include <sys/queue.h>

#include <rte_config.h>

/** A queue's page cannot be mapped by another process. */
#define MDV_UAR_NO_OFFSET UINT64_MAX

/** By mdv_uar_slot(). */
extern volatile uint64_t *mdv_uar_regs[RTE_MAX_ETHPORTS * RTE_MAX_QUEUES_PER_PORT];

static inline uint32_t
mdv_uar_slot(uint16_t port_id, uint16_t queue)
{
	return (uint32_t)port_id * RTE_MAX_QUEUES_PER_PORT + queue;
}

struct mdv_uar_page;
SLIST_HEAD(mdv_uar_pages, mdv_uar_page);

/**
 * Map a doorbell page of a device that another process has open, if it is not among @p pages.
 * @param fd the device's
 * @return where it is, NULL and errno
 */
void *mdv_uar_map(struct mdv_uar_pages *pages, int fd, uint64_t offset);
/** Unmap them all; nobody rings any more. */
void mdv_uar_unmap(struct mdv_uar_pages *pages);

#endif /* MDV_UAR_H */
