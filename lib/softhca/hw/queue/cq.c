/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queue: write, overrun, arm, resize. */
#include "hw/queue/cq.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "hw/check/bus.h"
#include "hw/check/inject.h"
#include "hw/check/strict.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"

/** Bits 27:25 of an arm word are zero (command 0 or 1 in bits 27:24). */
#define ARM_WORD_NONE 0x0e000000

static bool
is_geometry_valid(const uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	return (uintptr_t)ring % SHCA_CQE_BYTES == 0 && nb_cqes != 0 &&
		(nb_cqes & (nb_cqes - 1)) == 0 && nb_cqes <= 1u << 23 &&
		(cqe_bytes == SHCA_CQE_BYTES || cqe_bytes == 2 * SHCA_CQE_BYTES);
}

static void
use_ring(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	cq->attr.ring = ring;
	cq->attr.nb_cqes = nb_cqes;
	cq->attr.cqe_bytes = cqe_bytes;
	cq->limit = cq->is_watched ? 0 : nb_cqes;
	cq->unread_mask = nb_cqes <= UINT16_MAX ? UINT16_MAX : SHCA_CQ_ARM_CI_MASK;
	cq->checks_room = !cq->attr.ignore_overrun || cq->is_watched;
	cq->body = ring + cqe_bytes - SHCA_CQE_BYTES;
	cq->nb_cqes_log2 = (uint8_t)__builtin_ctz(nb_cqes);
}

static bool
is_real_time_only(const struct shca_device *dev)
{
	return dev->conf.model->clocks == SHCA_CLOCKS_REAL_ONLY;
}

int
shca_cq_create(struct shca_device *dev, const struct shca_cq_attr *attr, struct shca_cq **out)
{
	struct shca_cq *cq;
	int ret;

	if (!is_geometry_valid(attr->ring, attr->nb_cqes, attr->cqe_bytes) ||
		(uintptr_t)attr->dbrec % SHCA_DBREC_BYTES != 0)
		return -EINVAL;
	if (!shca_mem_can_pin(attr->ring, (uint64_t)attr->nb_cqes * attr->cqe_bytes, true) ||
		!shca_mem_can_pin(attr->dbrec, SHCA_DBREC_BYTES, true))
		return -EFAULT;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	ret = -ENOMEM;
	if (attr->mini_format != SHCA_MINI_NONE) {
		cq->block = calloc(1, sizeof(*cq->block));
		if (cq->block == NULL)
			goto free_cq;
	}
	ret = shca_idtable_add(&dev->cq_numbers, cq, &cq->number);
	if (ret != 0)
		goto free_cq;
	cq->dev = dev;
	cq->attr = *attr;
	cq->ordinal = ++dev->nb_made.cqs;
	/* What is not asked for a format gets the firmware's default one. */
	cq->stamps_real_time = attr->real_time || is_real_time_only(dev);
	cq->is_faulty = shca_inject_concerns(dev, SHCA_FAULT_CQ_OVERRUN, SHCA_FAULT_CQ_OVERRUN);
	cq->is_watched = cq->is_faulty || dev->pci != NULL;
	use_ring(cq, attr->ring, attr->nb_cqes, attr->cqe_bytes);
	cq->arm_word = htobe32(ARM_WORD_NONE);
	shca_bus_cq_begin(cq);
	cq->attr.dbrec[SHCA_CQ_DBR_ARM] = cq->arm_word;
	LIST_INSERT_HEAD(&dev->cqs, cq, link);
	*out = cq;
	return 0;

free_cq:
	free(cq->block);
	free(cq);
	return ret;
}

void
shca_cq_destroy(struct shca_cq *cq)
{
	if (cq == NULL)
		return;
	LIST_REMOVE(cq, link);
	shca_idtable_del(&cq->dev->cq_numbers, cq->number);
	free(cq->block);
	free(cq);
}

const uint8_t *
shca_cq_ring(const struct shca_cq *cq)
{
	return cq->attr.ring;
}

uint32_t
shca_cq_number(const struct shca_cq *cq)
{
	return cq->number;
}

void
shca_cq_fail(struct shca_cq *cq)
{
	if (cq->failed)
		return;
	cq->failed = true;
	shca_notify(cq->attr.event, cq->attr.owner, SHCA_EVENT_CQ_ERR);
}

/**
 * A card takes a ring for full where the index of 24 bits says exactly that: VPP's indices in the
 * wrong byte order and DPDK's of 16 bits stop no CQ there. A strict device takes any index for full
 * that leaves no room.
 */
static bool
is_full(const struct shca_cq *cq)
{
	if (shca_is_strict(cq->dev))
		return shca_cq_nb_unread(cq) >= cq->attr.nb_cqes;
	return ((shca_cq_next(cq) - cq->ci_seen) & SHCA_CQ_ARM_CI_MASK) == cq->attr.nb_cqes;
}

/** The application writes the record's cache line: call it only when the ring seems full. */
static bool
has_room(struct shca_cq *cq)
{
	cq->ci_seen = be32toh(__atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_CI], __ATOMIC_ACQUIRE));
	if (cq->attr.ignore_overrun)
		return true;
	return !is_full(cq) && !(cq->is_faulty && shca_inject_cq(cq));
}

static void
write_cqe(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	enum {
		LAST = SHCA_CQE_BYTES / sizeof(uint64_t) - 1
	};
	uint8_t *body = shca_cq_body(cq, cq->pi);
	uint64_t *to = (uint64_t *)(void *)body;
	uint8_t owner = cq->pi >> cq->nb_cqes_log2 & MLX5_CQE_OWNER_MASK;

	if (cq->attr.pad && cq->attr.cqe_bytes > SHCA_CQE_BYTES)
		memset(body - SHCA_CQE_BYTES, 0, SHCA_CQE_BYTES);
	/* First all words but the last. The last has op_own, which the application polls: store it
	 * after the rest and after the packet, for the thread that acquires it. Word by word, as
	 * the CQE was made (base/pack.h), with no wider access. */
	static_assert(offsetof(struct shca_cqe, op_own) / sizeof(uint64_t) == LAST, "op_own");
	for (unsigned int i = 0; i < LAST; i++)
		__atomic_store_n(&to[i], shca_pack_load(cqe, i), __ATOMIC_RELAXED);
	__atomic_store_n(&to[LAST],
		shca_pack_load(cqe, LAST) |
			shca_pack8(offsetof(struct shca_cqe, op_own) % sizeof(uint64_t), owner),
		__ATOMIC_RELEASE);
	cq->pi++;
}

/** The minis first, then the title: its owner bit announces the whole block. */
static void
close_block(struct shca_cq *cq)
{
	struct shca_minicqe_block *block = cq->block;
	uint8_t *const body = shca_cq_body(cq, cq->pi);
	struct shca_cqe title;

	if (block == NULL || block->nb == 0)
		return;
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	if (block->nb == 1) {
		write_cqe(cq, &block->first);
	} else {
		/* A block does not go beyond the ring's end. */
		for (unsigned int i = 0; i * SHCA_MINI_PER_ARRAY < block->nb; i++)
			shca_minicqe_array(
				block, i, body + shca_minicqe_slot(i) * (size_t)cq->attr.cqe_bytes);
		shca_minicqe_title(block, &title);
		write_cqe(cq, &title);
		cq->pi += block->nb - 1u;
	}
	block->nb = 0;
}

/** The same, outside of what is never slower than it must be. */
static void
end_block(struct shca_cq *cq)
{
	if (cq->dev->pci != NULL)
		shca_bus_block(cq);
	close_block(cq);
}

/**
 * Append @p cqe to the block or to a new one. A block ends at the ring's end: DPDK's vectorised
 * receive (rxq_cq_decompress_v) reads a block and fills its packets straight on, with room for no
 * more than 4 behind the end, and hardware has not hurt it.
 *
 * @return false when @p cqe is of a kind that is never compressed; there is no block then
 */
static bool
compress(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	const uint32_t max = cq->dev->conf.model->cqe_comp_max;
	uint32_t to_end;

	if (cq->block->nb != 0) {
		if (shca_minicqe_add(cq->block, cqe))
			return true;
		close_block(cq);
	}
	to_end = cq->attr.nb_cqes - (cq->pi & (cq->attr.nb_cqes - 1));
	shca_minicqe_init(cq->block, cq->attr.mini_format, max < to_end ? max : to_end);
	return shca_minicqe_add(cq->block, cqe);
}

bool
shca_cq_has_clock(const struct shca_cq *cq)
{
	/* Linux hw/mlx5/qp.c get_ts_format. */
	if (cq->attr.real_time)
		return cq->dev->conf.has_rtc;
	return !cq->attr.timestamps || !is_real_time_only(cq->dev);
}

bool
shca_cq_have_one_clock(const struct shca_cq *send_cq, const struct shca_cq *recv_cq)
{
	const struct shca_cq *one = send_cq != NULL ? send_cq : recv_cq;
	const bool send = send_cq != NULL && send_cq->attr.real_time;
	const bool recv = recv_cq != NULL && recv_cq->attr.real_time;

	/* Linux hw/mlx5/qp.c get_qp_ts_format: what asks for no clock gets the free-running one,
	 * or if there is none whichever the other one has. */
	return send == recv || is_real_time_only(one->dev);
}

/** There is no room, or a fault says so. */
static __attribute__((noinline)) void
overrun(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	if (is_full(cq)) /* else: an injected fault */
		SHCA_WARN("CQ 0x%x overrun: %u CQEs unread", cq->number, cq->attr.nb_cqes);
	if (shca_is_strict(cq->dev) && is_full(cq))
		shca_strict_cq_overrun(cq, cqe);
	end_block(cq);
	/* A card has told of earlier completions when it wrote them, or does so when their time
	 * has come: this CQ's would not be looked at any more. */
	cq->moderation = (struct shca_cq_moderation){ 0 };
	shca_cq_poll_arm(cq);
	shca_cq_fail(cq);
}

/** What crosses PCI is counted: end the block if the completion does not fit, and say so before
 * anything is written. @return whether the completion is in the block now */
static bool
join_counted(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	if (cq->block == NULL || cq->block->nb == 0)
		return false;
	if (shca_minicqe_add(cq->block, cqe))
		return true;
	end_block(cq);
	return false;
}

/** Of a watched CQ. @return whether the completion is in its block now */
static __attribute__((noinline)) bool
watch_push(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	if (cq->dev->pci == NULL)
		return false;
	if (join_counted(cq, cqe))
		return true;
	if (cq->block == NULL || !shca_minicqe_takes(cqe))
		shca_bus_cqe(cq, cqe);
	return false;
}

/** Write @p cqe, or add it to the block. */
static inline void
append(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	if (cq->block == NULL || !compress(cq, cqe))
		write_cqe(cq, cqe);
}

/** Where others have the end of their stamp, the completion of an error has its syndrome (libmlx5
 * mlx5dv.h struct mlx5_err_cqe). */
static void
stamp(struct shca_cqe *cqe, uint64_t time)
{
	const uint8_t opcode = cqe->op_own >> SHCA_CQE_OPCODE_SHIFT;

	if (opcode != MLX5_CQE_REQ_ERR && opcode != MLX5_CQE_RESP_ERR)
		cqe->timestamp = htobe64(time);
}

void
shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited)
{
	bool is_in = false;

	if (cq->failed)
		return;
	if (cq->stamps_real_time)
		stamp(cqe, cq->dev->real_time);
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	if (cq->checks_room && shca_cq_nb_unread(cq) >= cq->limit) {
		if (!has_room(cq)) {
			overrun(cq, cqe);
			return;
		}
		is_in = __builtin_expect(cq->is_watched, false) && watch_push(cq, cqe);
	}
	cq->count.packets++;
	if (!is_in)
		append(cq, cqe);
	if (solicited)
		cq->solicited_pi = shca_cq_next(cq);
}

/** Is @p pi beyond the consumer index that the arm names? Both 24 bits wide. */
static bool
is_beyond(uint32_t pi, uint32_t arm)
{
	uint32_t distance = (pi - arm) & SHCA_CQ_ARM_CI_MASK;

	return distance != 0 && distance <= SHCA_CQ_ARM_CI_MASK / 2;
}

/** @return whether there is a completion that the program has not read, and that no event has told
 * of: one that arms before it reads what it was woken for is not woken for the same again. */
static bool
is_due(const struct shca_cq *cq, uint32_t arm)
{
	if (arm & SHCA_CQ_ARM_SOLICITED)
		return cq->solicited_pi != cq->notified_solicited_pi &&
			is_beyond(cq->solicited_pi, arm);
	return cq->pi != cq->notified_pi && is_beyond(cq->pi, arm);
}

/** @return whether the event has to wait: for more completions, or for its time. */
static bool
is_held_back(const struct shca_cq *cq)
{
	const struct shca_cq_moderation *moderation = &cq->moderation;
	uint64_t due;

	if (moderation->count == 0 || moderation->period_us == 0 ||
		cq->pi - cq->notified_pi >= moderation->count)
		return false;
	due = cq->notified_ticks + (uint64_t)moderation->period_us * SHCA_CLOCK_KHZ / 1000;
	if (cq->dev->ticks >= due)
		return false;
	if (due < cq->dev->paced_ticks)
		__atomic_store_n(&cq->dev->paced_ticks, due, __ATOMIC_RELAXED);
	return true;
}

void
shca_cq_moderate(struct shca_cq *cq, const struct shca_cq_moderation *moderation)
{
	cq->moderation = *moderation;
}

static __attribute__((noinline)) void
watch(struct shca_cq *cq)
{
	end_block(cq);
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	if (cq->dev->pci != NULL)
		shca_bus_cq_poll(cq);
	if (shca_is_strict(cq->dev))
		shca_strict_cq(cq);
}

void
shca_cq_poll_arm(struct shca_cq *cq)
{
	__be32 word;
	uint32_t arm;
	uint8_t sn;

	if (cq->failed)
		return;
	if (shca_is_watched(cq->dev))
		watch(cq);
	close_block(cq);
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	word = __atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_ARM], __ATOMIC_ACQUIRE);
	arm = be32toh(word);
	sn = (uint8_t)(arm >> SHCA_CQ_ARM_SN_SHIFT);
	if (word != cq->arm_word) {
		cq->arm_word = word;
		/* An arm with the number of one that fired is late: the program gets its event
		 * anyway. */
		cq->armed = !cq->has_fired || sn != cq->fired_sn;
	}
	if (!cq->armed || !is_due(cq, arm) || is_held_back(cq))
		return;
	cq->armed = false;
	cq->notified_ticks = cq->dev->ticks;
	cq->notified_pi = cq->pi;
	cq->notified_solicited_pi = cq->solicited_pi;
	cq->has_fired = true;
	cq->fired_sn = sn;
	shca_notify(cq->attr.event, cq->attr.owner, SHCA_EVENT_COMPLETION);
}

void
shca_cq_poll_all(void *arg)
{
	struct shca_device *dev = arg;
	struct shca_cq *cq;

	LIST_FOREACH (cq, &dev->cqs, link)
		shca_cq_poll_arm(cq);
}

/**
 * The RESIZE CQE takes a consumer index of its own; libmlx5 copies what precedes it to the new ring
 * one place further, so that the index goes on.
 */
int
shca_cq_resize(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	struct shca_cqe resize = {
		.op_own = MLX5_CQE_RESIZE_CQ << SHCA_CQE_OPCODE_SHIFT,
	};

	if (!is_geometry_valid(ring, nb_cqes, cqe_bytes))
		return -EINVAL;
	if (!shca_mem_can_pin(ring, (uint64_t)nb_cqes * cqe_bytes, true))
		return -EFAULT;
	if (!shca_mem_is_mapped(
		    cq->attr.ring, (uint64_t)cq->attr.nb_cqes * cq->attr.cqe_bytes, true))
		return -EFAULT;
	cq->ci_seen = be32toh(__atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_CI], __ATOMIC_ACQUIRE));
	/* Policy: no completion is lost in either ring. The old ring needs a place for RESIZE. */
	if (shca_cq_nb_unread(cq) + 1 > nb_cqes || (!cq->failed && is_full(cq)))
		return -EINVAL;
	if (!cq->failed) {
		end_block(cq);
		write_cqe(cq, &resize);
	}
	use_ring(cq, ring, nb_cqes, cqe_bytes);
	return 0;
}
