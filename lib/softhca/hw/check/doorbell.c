/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches the doorbell registers. */
#include "hw/check/doorbell.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hw/format/hw.h"
#include "hw/state/device.h"
#include "hw/state/sq.h"
#include "strict/findings.h"

/** Half a register: libmlx5 alternates between the halves (RC qp.c post_send_db). */
#define FIRST_PLACE 0x800
#define PLACE_BYTES 0x100

/**
 * The time after which a late record, or a late doorbell, counts as missing. It is measured in
 * rounds of the device as well: while the process is stopped, time passes and rounds do not.
 */
#define RECORD_TICKS    ((uint64_t)SHCA_CLOCK_KHZ * 100)
#define RECORD_ROUNDS   100
#define DOORBELL_TICKS  ((uint64_t)SHCA_CLOCK_KHZ * 2000)
#define DOORBELL_ROUNDS 1000

void
shca_doorbell_watch(struct shca_device *dev, struct shca_doorbell_page *page, uint8_t *bytes)
{
	*page = (struct shca_doorbell_page){ .bytes = bytes };
	LIST_INSERT_HEAD(&dev->doorbell_pages, page, link);
}

void
shca_doorbell_unwatch(struct shca_doorbell_page *page)
{
	LIST_REMOVE(page, link);
}

static void
report(struct shca_sq *sq, enum shca_finding finding, uint16_t index)
{
	uint16_t pi = (uint16_t)be32toh(sq->attr.dbrec[MLX5_SND_DBR]);
	char text[128];
	struct shca_finding_site site = {
		.device = sq->dev->conf.index,
		.queue = "SQ",
		.number = sq->number,
		.context = sq->attr.context,
		.index = index,
		.decoded = text,
	};

	snprintf(text, sizeof(text), "doorbell of WQE %u%s, record %u, WQEs executed up to %u",
		sq->bell.rung, sq->bell.has_rung ? "" : " (none yet)", pi, sq->ci);
	shca_findings_report(sq->dev->conf.findings, finding, &site);
}

/** @return whether @p index is before @p pi; both are 16 bits of a counter. */
static bool
is_before(uint16_t index, uint16_t pi)
{
	return (int16_t)(index - pi) < 0;
}

static bool
is_in_record(const struct shca_sq *sq, uint16_t index)
{
	const __be32 *record = &sq->attr.dbrec[MLX5_SND_DBR];

	return is_before(index, (uint16_t)be32toh(__atomic_load_n(record, __ATOMIC_ACQUIRE)));
}

/** The program has written a register. */
static void
ring(struct shca_device *dev, uint64_t value)
{
	uint32_t index_word = (uint32_t)(value >> 32), number_word = (uint32_t)value;
	struct shca_sq *sq;

	LIST_FOREACH (sq, &dev->sqs, link)
		if (sq->number == number_word >> SHCA_CTRL_QPN_SHIFT)
			break;
	if (sq == NULL || sq->state != SHCA_QUEUE_READY)
		return;
	sq->bell.rung = (uint16_t)(index_word >> SHCA_CTRL_INDEX_SHIFT);
	sq->bell.has_rung = true;
	sq->bell.is_owed = false;
	shca_touch(dev, SHCA_TOUCH_SQ_RING, sq);
	if (is_in_record(sq, sq->bell.rung) || sq->bell.is_early)
		return;
	sq->bell.is_early = true;
	sq->bell.early_ticks = dev->ticks;
	sq->bell.nb_early_rounds = 0;
}

static uint64_t *
place_of(const struct shca_doorbell_page *page, unsigned int i)
{
	return (void *)(page->bytes + FIRST_PLACE + (size_t)i * PLACE_BYTES);
}

static void
look(struct shca_device *dev, struct shca_doorbell_page *page)
{
	for (unsigned int i = 0; i < SHCA_DOORBELL_PLACES; i++) {
		/* Acquire: the program wrote the record before the register, so read it after the
		 * register. */
		uint64_t value = __atomic_load_n(place_of(page, i), __ATOMIC_ACQUIRE);

		if (value == page->seen[i])
			continue;
		page->seen[i] = value;
		dev->nb_doorbells++;
		ring(dev, be64toh(value));
	}
}

/** A doorbell came before its record: @return whether the record covers it now. */
static void
check_early(struct shca_sq *sq)
{
	struct shca_doorbell *bell = &sq->bell;

	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	if (is_in_record(sq, bell->rung)) {
		report(sq, SHCA_FINDING_RECORD_AFTER_DOORBELL, bell->rung);
		bell->is_early = false;
	} else if (++bell->nb_early_rounds > RECORD_ROUNDS &&
		sq->dev->ticks - bell->early_ticks > RECORD_TICKS) {
		report(sq, SHCA_FINDING_DOORBELL_WITHOUT_RECORD, bell->rung);
		bell->is_early = false;
	}
}

/**
 * The device has executed WQEs that no doorbell has announced. If no register was written since the
 * record was last seen without them, no doorbell was overwritten before the device saw it, so it is
 * really missing.
 */
static void
check_owed(struct shca_sq *sq)
{
	struct shca_doorbell *bell = &sq->bell;

	if (bell->base != sq->dev->nb_doorbells) {
		bell->is_owed = false;
	} else if (++bell->nb_owed_rounds > DOORBELL_ROUNDS &&
		sq->dev->ticks - bell->owed_ticks > DOORBELL_TICKS) {
		report(sq, SHCA_FINDING_RECORD_WITHOUT_DOORBELL, bell->last);
		bell->is_owed = false;
	}
}

/** The record had no new WQE: a later doorbell will announce the next ones. */
static void
look_at_record(struct shca_sq *sq)
{
	const __be32 *record = &sq->attr.dbrec[MLX5_SND_DBR];

	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	if ((uint16_t)be32toh(__atomic_load_n(record, __ATOMIC_ACQUIRE)) == sq->looked_at)
		sq->bell.base = sq->dev->nb_doorbells;
}

void
shca_doorbell_round(struct shca_device *dev)
{
	struct shca_doorbell_page *page;
	struct shca_sq *sq;

	LIST_FOREACH (sq, &dev->sqs, link)
		if (sq->state == SHCA_QUEUE_READY && !sq->bell.is_owed)
			look_at_record(sq);
	LIST_FOREACH (page, &dev->doorbell_pages, link)
		look(dev, page);
	LIST_FOREACH (sq, &dev->sqs, link) {
		if (sq->state != SHCA_QUEUE_READY)
			continue;
		if (sq->bell.is_early)
			check_early(sq);
		if (sq->bell.is_owed)
			check_owed(sq);
	}
}

void
shca_doorbell_posted(struct shca_sq *sq, uint16_t last)
{
	struct shca_device *dev = sq->dev;
	struct shca_doorbell *bell = &sq->bell;

	if (LIST_EMPTY(&dev->doorbell_pages) || bell->is_owed || bell->base != dev->nb_doorbells ||
		(bell->has_rung && !is_before(bell->rung, last)))
		return;
	bell->last = last;
	bell->is_owed = true;
	bell->owed_ticks = dev->ticks;
	bell->nb_owed_rounds = 0;
}

/**
 * A queue that was reset may write the same doorbell value again, and the change would be
 * invisible. So clear the old value; programs cannot read the register and do not notice.
 */
static void
wipe(struct shca_doorbell_page *page, uint32_t number)
{
	for (unsigned int i = 0; i < SHCA_DOORBELL_PLACES; i++) {
		uint64_t *place = place_of(page, i);
		uint64_t value = page->seen[i];

		/* Unless another queue has just written there. */
		if ((uint32_t)be64toh(value) >> SHCA_CTRL_QPN_SHIFT == number &&
			__atomic_compare_exchange_n(
				place, &value, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			page->seen[i] = 0;
	}
}

/** Look for the last time, and report what is missing. */
static void
look_last(void *arg)
{
	struct shca_sq *sq = arg;
	struct shca_device *dev = sq->dev;
	/* A doorbell first seen now may belong to a record that was cleared for the reset. */
	bool was_early = sq->bell.is_early;
	struct shca_doorbell_page *page;

	LIST_FOREACH (page, &dev->doorbell_pages, link)
		look(dev, page);
	/* The owner has posted its last WQE and rung its last doorbell. */
	if (sq->bell.is_owed && sq->state == SHCA_QUEUE_READY && sq->bell.base == dev->nb_doorbells)
		report(sq, SHCA_FINDING_RECORD_WITHOUT_DOORBELL, sq->bell.last);
	if (was_early && sq->state == SHCA_QUEUE_READY)
		report(sq, SHCA_FINDING_DOORBELL_WITHOUT_RECORD, sq->bell.rung);
}

void
shca_doorbell_forget(struct shca_sq *sq)
{
	struct shca_doorbell_page *page;

	/* The program may have unmapped a record, of this queue or another one. */
	(void)shca_mem_guard_run(look_last, sq);
	sq->bell = (struct shca_doorbell){ 0 };
	LIST_FOREACH (page, &sq->dev->doorbell_pages, link)
		wipe(page, sq->number);
}
