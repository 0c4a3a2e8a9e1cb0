/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what queues move over PCI. */
#include "hw/check/bus.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "hw/format/wqe.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"
#include "pci/pci.h"

#define DOORBELL_BYTES 8
#define RECORD_BYTES   4 /* a word of a doorbell record */
#define EQE_BYTES      64
#define MSIX_BYTES     4
#define BLOCK_BYTES    64

/** As the configuration space says (sysfs/pci_config.c), with the completion boundary of all root
 * complexes that do not say 128. */
static const struct shca_pci_limits limits = { 256, 512, 64 };

static uint64_t
address_of(const void *bytes)
{
	return (uintptr_t)bytes;
}

/** Read @p nb blocks of a ring of @p nb_ring from block @p first on. */
static void
fetch(struct shca_pci *pci, enum shca_pci_cause cause, const uint8_t *ring, uint32_t first,
	uint32_t nb, uint32_t nb_ring)
{
	while (nb != 0) {
		const uint32_t slot = first % nb_ring;
		uint32_t part = nb < SHCA_BUS_WQE_BLOCKS ? nb : SHCA_BUS_WQE_BLOCKS;

		if (part > nb_ring - slot)
			part = nb_ring - slot;
		shca_pci_read(pci, cause, address_of(ring) + (uint64_t)slot * BLOCK_BYTES,
			(uint64_t)part * BLOCK_BYTES);
		first += part;
		nb -= part;
	}
}

void
shca_bus_sq_begin(struct shca_sq *sq)
{
	sq->fetched = sq->ci;
}

void
shca_bus_sq_posted(struct shca_sq *sq, uint16_t pi)
{
	struct shca_pci *pci = sq->dev->pci;
	const uint16_t nb = (uint16_t)(pi - sq->fetched);

	if (nb == 0)
		return;
	shca_pci_register(pci, SHCA_PCI_TX_DOORBELL, DOORBELL_BYTES);
	shca_pci_read(
		pci, SHCA_PCI_TX_RECORD, address_of(&sq->attr.dbrec[MLX5_SND_DBR]), RECORD_BYTES);
	fetch(pci, SHCA_PCI_TX_WQE, sq->attr.ring, sq->fetched, nb, sq->attr.nb_wqebbs);
	sq->fetched = pi;
}

bool
shca_bus_sq_look(struct shca_sq *sq, struct shca_wqe *wqe)
{
	uint8_t flat[SHCA_WQE_MAX_BYTES + SHCA_WQEBB_BYTES];
	uint8_t nb_wqebbs;

	/* The WQE before may have completed, and the CQ have been noted. */
	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	shca_sq_fetch(sq, sq->ci, 1, flat);
	nb_wqebbs = shca_wqe_nb_wqebbs(shca_wqe_ds(flat));
	shca_sq_fetch(sq, sq->ci, nb_wqebbs, flat);
	return shca_wqe_decode(flat, (size_t)nb_wqebbs * SHCA_WQEBB_BYTES, wqe) == 0;
}

void
shca_bus_sq_done(struct shca_sq *sq, const struct shca_wqe *wqe)
{
	for (unsigned int i = 0; i < wqe->nb_segments; i++)
		if (wqe->segment[i].inlined == NULL)
			shca_pci_read(sq->dev->pci, SHCA_PCI_TX_DATA, wqe->segment[i].address,
				wqe->segment[i].length);
}

void
shca_bus_rq_begin(struct shca_rq *rq)
{
	rq->fetched = rq->ci;
	rq->known = rq->ci;
	rq->pi_seen = rq->ci;
}

/** @return whether ci has reached @p end, or passed it: a queue in error flushes its WQEs. */
static bool
is_none_left(const struct shca_rq *rq, uint16_t end)
{
	const uint16_t nb = (uint16_t)(end - rq->ci);

	return nb == 0 || nb > rq->attr.nb_wqes;
}

/** Have the WQE at ci, and what comes with it. */
static void
fetch_receive_wqes(struct shca_rq *rq, uint16_t pi)
{
	struct shca_pci *pci = rq->dev->pci;
	const uint32_t bytes = rq->attr.stride_bytes, ring_bytes = rq->attr.nb_wqes * bytes;
	uint32_t start, end, nb;

	if (is_none_left(rq, rq->known)) {
		shca_pci_read(pci, SHCA_PCI_RX_RECORD, address_of(&rq->attr.dbrec[MLX5_RCV_DBR]),
			RECORD_BYTES);
		rq->known = pi;
	}
	/* In bytes of the ring, from the block's begin on, to the end of the blocks. */
	start = (rq->ci & (rq->attr.nb_wqes - 1)) * bytes;
	end = start - start % BLOCK_BYTES + SHCA_BUS_WQE_BLOCKS * BLOCK_BYTES;
	if (end < start + bytes)
		end = start + bytes;
	if (end > ring_bytes)
		end = ring_bytes;
	nb = (end - start) / bytes;
	if (nb > (uint16_t)(rq->known - rq->ci))
		nb = (uint16_t)(rq->known - rq->ci);
	end = start + nb * bytes;
	start -= start % BLOCK_BYTES;
	end += (BLOCK_BYTES - end % BLOCK_BYTES) % BLOCK_BYTES;
	shca_pci_read(pci, SHCA_PCI_RX_WQE, address_of(rq->attr.ring) + start, end - start);
	rq->fetched = (uint16_t)(rq->ci + nb);
}

/** Write @p length bytes to the segments of the WQE at ci, from byte @p skip on. */
static void
scatter(struct shca_rq *rq, uint32_t length, uint32_t skip)
{
	const struct mlx5_wqe_data_seg *segment = shca_rq_segments(rq, rq->ci);

	for (unsigned int i = 0; i < rq->nb_segments && length != 0; i++) {
		const uint32_t room = be32toh(segment[i].byte_count);
		uint32_t part;

		if (room == 0 && be32toh(segment[i].lkey) == MLX5_INVALID_LKEY)
			break; /* as the queue's own walk ends */
		if (room <= skip) {
			skip -= room;
			continue;
		}
		part = room - skip < length ? room - skip : length;
		shca_pci_write(
			rq->dev->pci, SHCA_PCI_RX_DATA, be64toh(segment[i].addr) + skip, part);
		skip = 0;
		length -= part;
	}
}

void
shca_bus_rq_receive(struct shca_rq *rq, uint32_t length, uint16_t pi)
{
	const struct shca_rq_attr *attr = &rq->attr;
	const uint32_t all = 1u << (attr->log_strides + attr->log_stride_bytes);
	const uint32_t skip =
		(rq->stride << attr->log_stride_bytes) + (attr->two_byte_shift ? 2u : 0u);

	/* It will be asked again, for the next WQE. */
	if (attr->log_strides != 0 && rq->stride != 0 && skip + length > all)
		return;
	if (is_none_left(rq, rq->fetched))
		fetch_receive_wqes(rq, pi);
	scatter(rq, length, attr->log_strides != 0 ? skip : 0);
}

void
shca_bus_cq_begin(struct shca_cq *cq)
{
	cq->ci_known = cq->ci_seen;
	cq->arm_known = cq->arm_word;
	cq->fired_known = cq->has_fired ? cq->fired_sn : UINT8_MAX;
}

/** There must be room for completions up to @p next. */
static void
need_room(struct shca_cq *cq, uint32_t next)
{
	const uint32_t mask = cq->attr.nb_cqes <= UINT16_MAX ? UINT16_MAX : SHCA_CQ_ARM_CI_MASK;

	if (cq->attr.ignore_overrun || ((next - cq->ci_known) & mask) <= cq->attr.nb_cqes)
		return;
	shca_pci_read(cq->dev->pci, SHCA_PCI_CQ_RECORD, address_of(&cq->attr.dbrec[SHCA_CQ_DBR_CI]),
		RECORD_BYTES);
	cq->ci_known = cq->ci_seen;
}

static enum shca_pci_cause
cause_of(const struct shca_cqe *cqe)
{
	const uint8_t opcode = cqe->op_own >> SHCA_CQE_OPCODE_SHIFT;

	return opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR ? SHCA_PCI_TX_CQE
								    : SHCA_PCI_RX_CQE;
}

static void
write_slot(struct shca_cq *cq, enum shca_pci_cause cause, uint32_t index, uint32_t nb_bytes)
{
	shca_pci_write(cq->dev->pci, cause, address_of(shca_cq_body(cq, index)), nb_bytes);
}

void
shca_bus_cqe(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	const enum shca_pci_cause cause = cause_of(cqe);
	const bool is_padded = cq->attr.pad && cq->attr.cqe_bytes > SHCA_CQE_BYTES;

	need_room(cq, cq->pi + 1);
	if (is_padded)
		shca_pci_write(cq->dev->pci, cause,
			address_of(shca_cq_body(cq, cq->pi)) - SHCA_CQE_BYTES, 2 * SHCA_CQE_BYTES);
	else
		write_slot(cq, cause, cq->pi, SHCA_CQE_BYTES);
}

void
shca_bus_block(struct shca_cq *cq)
{
	const struct shca_minicqe_block *block = cq->block;
	const enum shca_pci_cause cause = block != NULL ? cause_of(&block->first) : 0;
	const bool is_adjacent = cq->attr.cqe_bytes == SHCA_CQE_BYTES;

	if (block == NULL || block->nb == 0)
		return;
	if (block->nb == 1) {
		shca_bus_cqe(cq, &block->first);
		return;
	}
	need_room(cq, cq->pi + block->nb);
	/* The first array follows the title. */
	write_slot(cq, cause, cq->pi, SHCA_CQE_BYTES * (is_adjacent ? 2 : 1));
	for (unsigned int i = is_adjacent; i * SHCA_MINI_PER_ARRAY < block->nb; i++)
		write_slot(cq, cause, cq->pi + shca_minicqe_slot(i), SHCA_CQE_BYTES);
}

void
shca_bus_cq_poll(struct shca_cq *cq)
{
	struct shca_pci *pci = cq->dev->pci;
	const __be32 word = __atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_ARM], __ATOMIC_ACQUIRE);

	if (word != cq->arm_known) {
		cq->arm_known = word;
		shca_pci_register(pci, SHCA_PCI_CQ_ARM, DOORBELL_BYTES);
	}
	/* Of the last round; the next arm has another number. */
	if (cq->has_fired && cq->fired_sn != cq->fired_known) {
		cq->fired_known = cq->fired_sn;
		shca_pci_write(pci, SHCA_PCI_INTERRUPT, 0, EQE_BYTES);
		shca_pci_write(pci, SHCA_PCI_INTERRUPT, 0, MSIX_BYTES);
	}
}

int
shca_bus_count(struct shca_device *dev, bool on)
{
	struct shca_pci *pci = NULL;
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct shca_cq *cq;

	if (on) {
		pci = calloc(1, sizeof(*pci));
		if (pci == NULL)
			return -ENOMEM;
		pci->limits = limits;
	}
	free(dev->pci);
	dev->pci = pci;
	dev->is_watched = shca_is_strict(dev) || on;
	LIST_FOREACH (sq, &dev->sqs, link) {
		shca_bus_sq_begin(sq);
		sq->is_watched = sq->is_faulty || on;
	}
	LIST_FOREACH (rq, &dev->rqs, link) {
		shca_bus_rq_begin(rq);
		rq->is_watched = rq->is_faulty || on;
	}
	LIST_FOREACH (cq, &dev->cqs, link) {
		shca_bus_cq_begin(cq);
		cq->is_watched = cq->is_faulty || on;
		cq->limit = cq->is_watched ? 0 : cq->attr.nb_cqes;
		cq->checks_room = !cq->attr.ignore_overrun || cq->is_watched;
	}
	return 0;
}
