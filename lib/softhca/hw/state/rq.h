/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: takes a WQE for a frame, scatters, completes. Internal to hw/.
 *
 * ci and the producer counter run over 16 bits (hardware: the doorbell record's low half); WQE n is
 * at slot n & (nb_wqes - 1).
 */
#ifndef SHCA_HW_STATE_RQ_H
#define SHCA_HW_STATE_RQ_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "hw/format/cqe.h"
#include "hw/format/hw.h"
#include "hw/state/attr.h"
#include "hw/state/prefetch.h"

struct shca_packet;

struct shca_rq {
	LIST_ENTRY(shca_rq) link;
	struct shca_device *dev;
	struct shca_rq_attr attr;
	uint32_t number;
	struct shca_queue_count count;
	enum shca_queue_state state;
	bool dead;              /**< the ring is gone: the device never accesses it again */
	bool is_faulty;         /**< faults may strike some of its WQEs (hw/check/inject.h) */
	bool is_watched;        /**< is_faulty, or what crosses PCI is counted (hw/check/bus.h) */
	uint8_t first_syndrome; /**< ERROR: of the WQE that failed; 0: already reported */
	uint8_t nb_segments;    /**< that a WQE has room for */
	uint8_t header_bytes;   /**< of a WQE before its segments */
	uint16_t ci;
	bool has_begun;          /**< strict: its first producer counter has been checked */
	uint64_t serial;         /**< strict: of its creation */
	uint32_t ordinal;        /**< number among the device's RQs in order of creation, from 1 */
	uint64_t nb_wqes;        /**< faulty: taken since its creation */
	uint16_t fetched, known; /**< counted: earlier WQEs have crossed PCI, are known as posted */
	uint16_t pi_seen;        /**< the producer counter at the last read */
	uint32_t stride;         /**< striding: the next free stride of WQE ci */
};

/** @return the producer counter of the doorbell record. */
static inline uint16_t
shca_rq_read_pi(const struct shca_rq *rq)
{
	return (uint16_t)be32toh(__atomic_load_n(&rq->attr.dbrec[MLX5_RCV_DBR], __ATOMIC_ACQUIRE));
}

/** Prefetch the next WQEs: the program has written them and may have read their buffers. */
#define SHCA_RQ_PREFETCH_WQES    16
#define SHCA_RQ_PREFETCH_BUFFERS 4

/** Where the segments of a queue's WQEs are. A copy of a frame might change any memory; in a
 * variable of the function that copies, this stays in registers. */
struct shca_rq_ring {
	const uint8_t *first; /**< those of WQE 0 */
	uint32_t mask, stride_bytes;
};

static inline struct shca_rq_ring
shca_rq_ring_of(const struct shca_rq *rq)
{
	return (struct shca_rq_ring){
		.first = rq->attr.ring + rq->header_bytes,
		.mask = rq->attr.nb_wqes - 1,
		.stride_bytes = rq->attr.stride_bytes,
	};
}

/** @return the segments of WQE @p index. */
static inline const struct mlx5_wqe_data_seg *
shca_rq_ring_segments(struct shca_rq_ring ring, uint16_t index)
{
	return (const void *)(ring.first + (size_t)(index & ring.mask) * ring.stride_bytes);
}

/** The same, of a queue. */
static inline const struct mlx5_wqe_data_seg *
shca_rq_segments(const struct shca_rq *rq, uint16_t index)
{
	return shca_rq_ring_segments(shca_rq_ring_of(rq), index);
}

/** Prefetch the lines of the ring that the frames from that of WQE @p ci on need; no more than
 * there are WQEs. */
static inline void
shca_rq_prefetch_ring(struct shca_rq_ring ring, uint16_t ci, unsigned int nb)
{
	const size_t bytes = (ring.mask + (size_t)1) * ring.stride_bytes;

	shca_prefetch_ring(ring.first, ring.first + bytes,
		(const void *)shca_rq_ring_segments(ring, ci), (size_t)nb * ring.stride_bytes);
}

/** Prefetch the parts of ring and buffers that the frames behind that of WQE @p ci need. */
static inline void
shca_rq_prefetch(struct shca_rq_ring ring, uint16_t ci)
{
	const struct mlx5_wqe_data_seg *soon =
		shca_rq_ring_segments(ring, ci + SHCA_RQ_PREFETCH_BUFFERS);

	/* Short WQEs share lines. */
	if (ci % SHCA_RQ_PREFETCH_BUFFERS == 0)
		shca_prefetch_read(shca_rq_ring_segments(ring, ci + SHCA_RQ_PREFETCH_WQES));
	/* Most regions begin at the address that they name; a prefetch of another line does no
	 * harm. */
	shca_prefetch_write((const void *)(uintptr_t)be64toh(soon->addr));
}

#endif /* SHCA_HW_STATE_RQ_H */
