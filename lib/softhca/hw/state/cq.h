/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Completion queue: the ring, its owner bits, overrun, arming. Internal to hw/.
 *
 * pi runs over 32 bits; slot is pi & (nb_cqes - 1), the owner bit the parity of the lap. The CQE's
 * body is in the second half of a 128-byte slot.
 *
 * The device polls the arm word of the doorbell record. libmlx5 initialises the word to 0, and its
 * first arm is 0 as well; creation writes a word that cannot be an arm, so that the device sees the
 * first one.
 */
#ifndef SHCA_HW_STATE_CQ_H
#define SHCA_HW_STATE_CQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "hw/format/hw.h"
#include "hw/format/minicqe.h"
#include "hw/state/attr.h"
#include "hw/state/prefetch.h"

struct shca_cq {
	LIST_ENTRY(shca_cq) link;
	struct shca_device *dev;
	struct shca_cq_attr attr;
	uint32_t number;
	struct shca_queue_count count;

	uint8_t *body; /**< of slot 0's CQE */
	uint32_t pi;
	struct shca_minicqe_block *block; /**< completions since pi; NULL: no compression */
	uint32_t ci_seen;                 /**< the consumer index when it was last read */
	bool checks_room;                 /**< it can overrun, or it is watched */
	uint32_t limit;       /**< fewer unread CQEs than that: the ring cannot be full */
	uint32_t unread_mask; /**< of a difference of consumer indices */
	uint8_t nb_cqes_log2;
	bool is_faulty;        /**< faults may strike it (hw/check/inject.h) */
	bool is_watched;       /**< is_faulty, or what crosses PCI is counted (hw/check/bus.h) */
	bool stamps_real_time; /**< its completions have the real-time clock's stamps */
	uint32_t ordinal;      /**< number among the device's CQs in order of creation, from 1 */
	bool failed;           /**< overrun or unmapped: the device writes nothing any more */

	__be32 ci_word;    /**< strict: consumer index of the record at the last check */
	uint32_t ci_valid; /**< strict: the last plausible one, in units of pi */

	uint32_t ci_known;   /**< counted: consumer index when it last crossed PCI */
	__be32 arm_known;    /**< counted: arm word at the last look */
	uint8_t fired_known; /**< counted: fired_sn at the last look; UINT8_MAX: nothing fired */

	__be32 arm_word; /**< at the last poll */
	bool armed, has_fired;
	uint8_t fired_sn;      /**< sequence number of the arm that fired last */
	uint32_t solicited_pi; /**< pi after the last completion that counts as solicited */
	/** @{ pi and solicited_pi when an event was made last (Linux mlx5_ifc.h cqc:
	 * last_notified_index, last_solicit_index). */
	uint32_t notified_pi, notified_solicited_pi;
	/** @} */
	uint64_t notified_ticks; /**< moderated: the time of that event */
	struct shca_cq_moderation moderation;
};

#define SHCA_CQ_PREFETCH 8 /**< CQEs ahead */

/** @return the CQE of index @p pi; in a slot of 128 bytes the second half. */
static inline uint8_t *
shca_cq_body(const struct shca_cq *cq, uint32_t pi)
{
	return cq->body + (size_t)(pi & (cq->attr.nb_cqes - 1)) * cq->attr.cqe_bytes;
}

/** Prefetch the CQE, which will be written soon. */
static inline void
shca_cq_prefetch(const struct shca_cq *cq)
{
	shca_prefetch_write(shca_cq_body(cq, cq->pi + SHCA_CQ_PREFETCH));
}

/** @return the index of the next completion, behind those that have a slot but are not in it. */
static inline uint32_t
shca_cq_next(const struct shca_cq *cq)
{
	return cq->pi + (cq->block != NULL ? cq->block->nb : 0);
}

/**
 * @return an upper bound of unread completions.
 *
 * DPDK and VPP write 16 bits of their consumer index for send CQs, others 24: compare 16 bits as
 * long as they distinguish a full ring from an empty one.
 */
static inline uint32_t
shca_cq_nb_unread(const struct shca_cq *cq)
{
	return (shca_cq_next(cq) - cq->ci_seen) & cq->unread_mask;
}

/** Prefetch the lines of a block that has just begun. */
static inline void
shca_cq_prefetch_title(const struct shca_cq *cq)
{
	shca_prefetch_write(shca_cq_body(cq, cq->pi));
	shca_prefetch_write(shca_cq_body(cq, cq->pi + 1));
}

/** @return how many completions like the latest, which shca_cq_push() has put into @p cq now, its
 * block can take. */
static inline uint32_t
shca_cq_room_like(const struct shca_cq *cq)
{
	uint32_t unread, room;

	if (cq->failed || cq->block == NULL)
		return 0;
	unread = shca_cq_nb_unread(cq);
	room = unread < cq->limit ? cq->limit - unread : 0;
	return room < shca_minicqe_room(cq->block) ? room : shca_minicqe_room(cq->block);
}

/** Append completions whose mini CQEs are in the block (shca_minicqe_add_alike()), and prefetch the
 * lines of the arrays that they begin, but for the first one; there is room. */
static inline void
shca_cq_push_alike(struct shca_cq *cq, unsigned int nb)
{
	const unsigned int end = cq->block->nb + nb, per_array = SHCA_MINI_PER_ARRAY;
	const size_t array_bytes = per_array * (size_t)cq->attr.cqe_bytes;
	const uint8_t *const title = shca_cq_body(cq, cq->pi);
	unsigned int i = cq->block->nb / per_array + 1;

	/* A block does not go beyond the ring's end; a prefetch behind it does no harm. */
	for (const uint8_t *at = title + i * array_bytes; i * per_array <= end;
		i++, at += array_bytes)
		shca_prefetch_write(at);
	shca_minicqe_add_alike(cq->block, nb);
	cq->count.packets += nb;
}

#endif /* SHCA_HW_STATE_CQ_H */
