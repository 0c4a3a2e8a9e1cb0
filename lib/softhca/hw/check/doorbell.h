/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The doorbell registers of UAR pages, as a strict device watches them.
 *
 * The engines read doorbell records and ignore registers; hardware reads a record only after a
 * write to the register. So a program that forgets the register works here and hangs on hardware,
 * and a program that writes the record too late may hang there. A page has four places for send
 * doorbells: two registers of two halves. A doorbell is the first 8 bytes of a control segment
 * (PRM, "Posting a work request").
 *
 * The device reads the registers once a round: it sees several doorbells within a round as one, and
 * may miss a record that is late by less than a round. Its reports are always true.
 */
#ifndef SHCA_HW_CHECK_DOORBELL_H
#define SHCA_HW_CHECK_DOORBELL_H

#include <stdint.h>
#include <sys/queue.h>

struct shca_device;
struct shca_sq;

#define SHCA_DOORBELL_PLACES 4

/** A watched page. */
struct shca_doorbell_page {
	LIST_ENTRY(shca_doorbell_page) link;
	uint8_t *bytes;
	uint64_t seen[SHCA_DOORBELL_PLACES];
};

/** Start to watch @p page, whose @p bytes stay mapped. The device lock is held here and below. */
void shca_doorbell_watch(struct shca_device *dev, struct shca_doorbell_page *page, uint8_t *bytes);
/** Stop to watch @p page. */
void shca_doorbell_unwatch(struct shca_doorbell_page *page);

/** Once a round, before send queues run: find doorbells that were written, and those that are
 * overdue. */
void shca_doorbell_round(struct shca_device *dev);
/** The queue has new WQEs; the last one is at @p last. */
void shca_doorbell_posted(struct shca_sq *sq, uint16_t last);
/** The queue is reset or destroyed: doorbells written so far do not count for its next WQEs. */
void shca_doorbell_forget(struct shca_sq *sq);

#endif /* SHCA_HW_CHECK_DOORBELL_H */
