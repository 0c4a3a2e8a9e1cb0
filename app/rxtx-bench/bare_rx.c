/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache lines that receiving has to touch, in a bare loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_prefetch.h>

#include "bench.h"

#define MASK (BENCH_RING - 1)
/** WQEs that are filled at once. */
#define REFILL 64u
/** Data segments of a WQE whose packets may be scattered: room for the largest frame. */
#define SEGS        4u
#define FRAME_BYTES 60u
/** Of striding queues: the distance of frames, and the longest that are copied. */
#define STRIDE_BYTES 2048u
#define COPY_BYTES   128u

/** A receive queue, whose device is another lcore. */
struct queue {
	uint8_t *cqes;
	bench_unit *wqes;
	uint8_t *strides; /**< NULL: each frame goes to its mbuf */
	struct rte_mbuf *mbufs[BENCH_RING];
	unsigned int head, missing, nb_ready; /**< packets */
};

/** What a packet needs of whoever receives it. */
struct needs {
	unsigned int cqe_bytes; /**< that tell of it */
	unsigned int units;     /**< of its WQE, the first of which is written */
	bool line_1;            /**< timestamp, or where a frame is that stays in its stride */
	bool copies;            /**< from its stride to its mbuf */
};

static struct {
	struct queue queues[BENCH_QUEUES_MAX];
	struct rte_mempool *pool;
	struct needs needs;
	unsigned int nb_queues;
} state;

int
bench_bare_rx_start(
	struct bench_port *port, const struct bench_case *how, const struct bench_bare *bare)
{
	const bool stamped = (how->offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	const bool copies = bare->copies && how->size <= COPY_BYTES;

	memset(&state, 0, sizeof(state));
	/* Several mbufs a frame have completions of another kind, or chains. */
	if (rte_lcore_count() < 2 || (how->room != 0 && how->size > how->room))
		return -ENOTSUP;
	port->pool = bench_pool_create(port, "rx", how->room != 0 ? how->room : BENCH_ROOM_MAX);
	if (port->pool == NULL)
		return -ENOMEM;
	state.pool = port->pool;
	state.nb_queues = how->nb_queues;
	state.needs.line_1 = stamped || (bare->copies && !copies);
	state.needs.copies = copies;
	state.needs.units = how->room != 0 ? SEGS : 1;
	/* A block of compressed completions has neither a timestamp nor several mbufs. */
	state.needs.cqe_bytes = stamped || how->room != 0 ? RTE_CACHE_LINE_SIZE : bare->cqe_bytes;
	for (unsigned int q = 0; q < state.nb_queues; q++) {
		struct queue *queue = &state.queues[q];

		queue->cqes = aligned_alloc(RTE_CACHE_LINE_SIZE, BENCH_RING * RTE_CACHE_LINE_SIZE);
		if (bare->copies)
			queue->strides =
				aligned_alloc(RTE_CACHE_LINE_SIZE, BENCH_RING * STRIDE_BYTES);
		queue->wqes = aligned_alloc(RTE_CACHE_LINE_SIZE, BENCH_RING * SEGS * BENCH_UNIT);
		if (queue->cqes == NULL || queue->wqes == NULL ||
			(bare->copies && queue->strides == NULL) ||
			rte_pktmbuf_alloc_bulk(state.pool, queue->mbufs, BENCH_RING) != 0)
			return -ENOMEM;
		memset(queue->wqes, 0, BENCH_RING * SEGS * BENCH_UNIT);
	}
	return 0;
}

void
bench_bare_rx_stop(void)
{
	for (unsigned int q = 0; q < BENCH_QUEUES_MAX; q++) {
		free(state.queues[q].cqes);
		free(state.queues[q].wqes);
		free(state.queues[q].strides);
		state.queues[q] = (struct queue){ 0 };
	}
}

static __rte_always_inline void *
frame_of(const struct queue *queue, unsigned int at)
{
	return queue->strides != NULL ? queue->strides + at * STRIDE_BYTES + RTE_PKTMBUF_HEADROOM
				      : rte_pktmbuf_mtod(queue->mbufs[at], void *);
}

/** Complete @p nb packets a queue, as a device does: bytes of them and of their completions. */
static int
complete(void *nb)
{
	for (unsigned int q = 0; q < state.nb_queues; q++) {
		struct queue *queue = &state.queues[q];

		for (unsigned int i = queue->head; i < queue->head + *(unsigned int *)nb; i++) {
			uint8_t *cqe = queue->cqes + (i & MASK) * state.needs.cqe_bytes;

			memset(frame_of(queue, i & MASK), 0, FRAME_BYTES);
			memset(cqe, 0, state.needs.cqe_bytes);
			*(volatile uint64_t *)cqe = FRAME_BYTES;
		}
		queue->nb_ready = *(unsigned int *)nb;
	}
	return 0;
}

int
bench_bare_rx_complete(unsigned int nb)
{
	const unsigned int lcore = rte_get_next_lcore(rte_lcore_id(), true, true);
	int ret = rte_eal_remote_launch(complete, &nb, lcore);

	return ret == 0 ? rte_eal_wait_lcore(lcore) : ret;
}

/** New mbufs for the oldest WQEs, as they come from the pool. @return whether it had any */
static __rte_always_inline bool
refill(struct queue *queue, const struct needs *needs)
{
	struct rte_mbuf *fresh[REFILL];
	const unsigned int from = queue->head - queue->missing;

	if (rte_mempool_get_bulk(state.pool, (void **)fresh, REFILL) != 0)
		return false;
	for (unsigned int i = 0; i < REFILL; i++) {
		const unsigned int at = (from + i) & MASK;

		queue->mbufs[at] = fresh[i];
		/* Strides go back to the device many at once. */
		if (queue->strides == NULL)
			*(volatile bench_unit *)&queue->wqes[at * needs->units] =
				(bench_unit){ 0, (uintptr_t)fresh[i] };
	}
	queue->missing -= REFILL;
	return true;
}

static __rte_always_inline void
copy_frame(const struct queue *queue, unsigned int at)
{
	const volatile bench_unit *from = frame_of(queue, at);
	volatile bench_unit *to = rte_pktmbuf_mtod(queue->mbufs[at], volatile bench_unit *);

	for (unsigned int i = 0; i < RTE_CACHE_LINE_SIZE / BENCH_UNIT; i++)
		to[i] = from[i];
}

uint16_t
bench_bare_receive(uint16_t q, struct rte_mbuf **pkts, uint16_t nb)
{
	struct queue *queue = &state.queues[q];
	const struct needs needs = state.needs;
	const struct rte_mbuf fresh = {
		.data_off = RTE_PKTMBUF_HEADROOM, .refcnt = 1, .nb_segs = 1
	};
	uint64_t rearm;

	memcpy(&rearm, &fresh.rearm_data, sizeof(rearm));
	nb = RTE_MIN(nb, queue->nb_ready);
	for (uint16_t i = 0; i < nb; i++) {
		const unsigned int at = (queue->head + i) & MASK;
		const uint64_t len = *(volatile uint64_t *)(queue->cqes + at * needs.cqe_bytes);
		struct rte_mbuf *mbuf = queue->mbufs[at];

		/* refcnt and ol_flags; packet_type and the lengths. */
		*(volatile bench_unit *)&mbuf->rearm_data = (bench_unit){ rearm, 0 };
		*(volatile bench_unit *)&mbuf->rx_descriptor_fields1 =
			(bench_unit){ len << 32, len };
		if (needs.line_1)
			*(volatile uint32_t *)mbuf->dynfield1 = (uint32_t)len;
		if (needs.copies)
			copy_frame(queue, at);
		pkts[i] = mbuf;
	}
	queue->head += nb;
	queue->nb_ready -= nb;
	queue->missing += nb;
	while (queue->missing >= REFILL && refill(queue, &needs))
		;
	/* For the next burst, while the application works. */
	for (uint16_t i = 0; i < nb; i++) {
		const struct rte_mbuf *mbuf = queue->mbufs[(queue->head + i) & MASK];

		rte_prefetch0(mbuf);
		if (needs.line_1)
			rte_prefetch0(RTE_PTR_ADD(mbuf, RTE_CACHE_LINE_MIN_SIZE));
		if (needs.copies)
			rte_prefetch0(frame_of(queue, (queue->head + i) & MASK));
	}
	return nb;
}
