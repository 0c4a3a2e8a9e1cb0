/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The doorbell registers of UAR pages, as a strict device watches them.
 *
 * The engines run on doorbell records and never look here; hardware does not look at a record
 * before the register is written. So a program that forgets the register works on the one and hangs
 * on the other, and one that writes the record too late may. A page has four places where a send
 * doorbell may be written: two registers of two halves. What is written is the first 8 bytes of a
 * control segment (PRM, "Posting a work request").
 *
 * The device sees what is there when it looks, once a round: doorbells that follow each other
 * faster are seen as one, and a record that is late by less than a round may go unnoticed. What is
 * reported is true in any case.
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

/** Watch @p page, whose @p bytes stay mapped, from now on. Device lock held, as for all here. */
void shca_doorbell_watch(struct shca_device *dev, struct shca_doorbell_page *page, uint8_t *bytes);
/** @p page: watched. */
void shca_doorbell_unwatch(struct shca_device *dev, struct shca_doorbell_page *page);

/** Once a round, before send queues run: what has been written, and what has not for too long. */
void shca_doorbell_round(struct shca_device *dev);
/** The queue has new WQEs, of which the last is at @p last. */
void shca_doorbell_posted(struct shca_sq *sq, uint16_t last);
/** The queue is reset, or goes: what has been written to registers so far is not for what follows.
 */
void shca_doorbell_forget(struct shca_sq *sq);

#endif /* SHCA_HW_CHECK_DOORBELL_H */
