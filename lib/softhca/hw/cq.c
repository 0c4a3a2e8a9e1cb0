/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queue: write, overrun, arm, resize. */
#include "hw/cq.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/port.h"

/* Bits 27:25 of an arm word are zero (command 0 or 1 in bits 27:24). */
#define ARM_WORD_NONE 0x0e000000

#define DBREC_BYTES 8

static bool
is_geometry_valid(uint32_t nb_cqes, uint32_t cqe_bytes)
{
	return nb_cqes != 0 && (nb_cqes & (nb_cqes - 1)) == 0 && nb_cqes <= 1u << 23 &&
		(cqe_bytes == SHCA_CQE_BYTES || cqe_bytes == 2 * SHCA_CQE_BYTES);
}

static void
use_ring(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	cq->attr.ring = ring;
	cq->attr.nb_cqes = nb_cqes;
	cq->attr.cqe_bytes = cqe_bytes;
	cq->body = ring + cqe_bytes - SHCA_CQE_BYTES;
	cq->nb_cqes_log2 = (uint8_t)__builtin_ctz(nb_cqes);
}

int
shca_cq_create(struct shca_device *dev, const struct shca_cq_attr *attr, struct shca_cq **out)
{
	struct shca_cq *cq;
	int ret;

	if (!is_geometry_valid(attr->nb_cqes, attr->cqe_bytes) ||
		(uintptr_t)attr->dbrec % DBREC_BYTES != 0)
		return -EINVAL;
	if (!shca_mem_is_mapped(attr->ring, (uint64_t)attr->nb_cqes * attr->cqe_bytes, true) ||
		!shca_mem_is_mapped(attr->dbrec, DBREC_BYTES, true))
		return -EFAULT;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->cq_numbers, cq, &cq->number);
	if (ret != 0) {
		free(cq);
		return ret;
	}
	cq->dev = dev;
	cq->attr = *attr;
	use_ring(cq, attr->ring, attr->nb_cqes, attr->cqe_bytes);
	cq->arm_word = htobe32(ARM_WORD_NONE);
	cq->attr.dbrec[SHCA_CQ_DBR_ARM] = cq->arm_word;
	LIST_INSERT_HEAD(&dev->cqs, cq, link);
	*out = cq;
	return 0;
}

void
shca_cq_destroy(struct shca_cq *cq)
{
	if (cq == NULL)
		return;
	LIST_REMOVE(cq, link);
	shca_idtable_del(&cq->dev->cq_numbers, cq->number);
	free(cq);
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
	shca_tell(cq->attr.event, cq->attr.owner, SHCA_EVENT_CQ_ERR);
}

/*
 * DPDK and VPP write 16 bits of their consumer index for send CQs, others 24: compare what all
 * write as long as that tells a full ring from an empty one.
 */
static uint32_t
nb_unread(const struct shca_cq *cq)
{
	uint32_t mask = cq->attr.nb_cqes <= UINT16_MAX ? UINT16_MAX : SHCA_CQ_ARM_CI_MASK;

	return (cq->pi - cq->ci_seen) & mask;
}

static bool
is_full(struct shca_cq *cq)
{
	/* The record's cache line is the application's: read it only when the ring seems full. */
	if (nb_unread(cq) < cq->attr.nb_cqes)
		return false;
	cq->ci_seen = be32toh(__atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_CI], __ATOMIC_ACQUIRE));
	return nb_unread(cq) >= cq->attr.nb_cqes;
}

static void
write_cqe(struct shca_cq *cq, struct shca_cqe *cqe)
{
	uint32_t slot = cq->pi & (cq->attr.nb_cqes - 1);
	uint8_t *to = cq->body + (size_t)slot * cq->attr.cqe_bytes;
	uint8_t op_own = cqe->op_own | (cq->pi >> cq->nb_cqes_log2 & MLX5_CQE_OWNER_MASK);

	/* All but op_own, which the application polls; then op_own, after all the rest and after
	 * the packet, for the thread that acquires it. */
	memcpy(to, cqe, offsetof(struct shca_cqe, op_own));
	__atomic_store_n(to + offsetof(struct shca_cqe, op_own), op_own, __ATOMIC_RELEASE);
	cq->pi++;
}

void
shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited)
{
	if (cq->failed)
		return;
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	if (!cq->attr.ignore_overrun && is_full(cq)) {
		SHCA_WARN("CQ 0x%x overrun: %u CQEs unread", cq->number, cq->attr.nb_cqes);
		shca_cq_fail(cq);
		return;
	}
	write_cqe(cq, cqe);
	if (solicited)
		cq->solicited_pi = cq->pi;
}

/* Is @p pi beyond the consumer index that the arm names? Both 24 bits wide. */
static bool
is_beyond(uint32_t pi, uint32_t arm)
{
	uint32_t distance = (pi - arm) & SHCA_CQ_ARM_CI_MASK;

	return distance != 0 && distance <= SHCA_CQ_ARM_CI_MASK / 2;
}

void
shca_cq_poll_arm(struct shca_cq *cq)
{
	__be32 word;
	uint32_t arm;
	uint8_t sn;

	if (cq->failed)
		return;
	shca_touch(cq->dev, SHCA_TOUCH_CQ, cq);
	word = __atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_ARM], __ATOMIC_ACQUIRE);
	arm = be32toh(word);
	sn = (uint8_t)(arm >> SHCA_CQ_ARM_SN_SHIFT);
	if (word != cq->arm_word) {
		cq->arm_word = word;
		/* An arm with the number of one that fired is late: its event is on its way. */
		cq->armed = !cq->has_fired || sn != cq->fired_sn;
	}
	if (!cq->armed || !is_beyond(arm & SHCA_CQ_ARM_SOLICITED ? cq->solicited_pi : cq->pi, arm))
		return;
	cq->armed = false;
	cq->has_fired = true;
	cq->fired_sn = sn;
	shca_tell(cq->attr.event, cq->attr.owner, SHCA_EVENT_COMPLETION);
}

/*
 * The RESIZE CQE takes a consumer index of its own; libmlx5 copies what precedes it to the new ring
 * one place further, so that the index goes on.
 */
int
shca_cq_resize(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	struct shca_cqe resize = {
		.op_own = MLX5_CQE_RESIZE_CQ << SHCA_CQE_OPCODE_SHIFT,
	};

	if (!is_geometry_valid(nb_cqes, cqe_bytes))
		return -EINVAL;
	if (!shca_mem_is_mapped(ring, (uint64_t)nb_cqes * cqe_bytes, true))
		return -EFAULT;
	if (!shca_mem_is_mapped(
		    cq->attr.ring, (uint64_t)cq->attr.nb_cqes * cq->attr.cqe_bytes, true))
		return -EFAULT;
	cq->ci_seen = be32toh(__atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_CI], __ATOMIC_ACQUIRE));
	if (nb_unread(cq) + 1 > nb_cqes)
		return -EINVAL;
	if (!cq->failed)
		write_cqe(cq, &resize);
	use_ring(cq, ring, nb_cqes, cqe_bytes);
	return 0;
}
