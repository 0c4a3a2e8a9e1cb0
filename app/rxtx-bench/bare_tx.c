/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache lines that sending has to touch, in a bare loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_atomic.h>

#include "bench.h"

#define UNITS_LINE (RTE_CACHE_LINE_SIZE / BENCH_UNIT)
/** Control and Ethernet segment. */
#define UNITS_HEAD 2u
/** A frame of 64 bytes without its FCS, behind its length. */
#define UNITS_FRAME 4u
/** Ethernet, IPv4 and TCP, of which two bytes are in the Ethernet segment. */
#define UNITS_HEADERS 4u
#define SEGS_MAX      (3u * BENCH_BATCH)
#define CACHE_MAX     512u

/** The mbufs of a round's packets, in their order. */
struct segs {
	struct rte_mbuf *at[SEGS_MAX];
	unsigned int nb, done;
};

/** A send queue. */
struct queue {
	bench_unit *ring;
	struct rte_mbuf **mbufs; /**< what is being sent: whoever frees does not follow chains */
	unsigned int unit, slot;
};

/** What a packet needs of whoever sends it. */
struct needs {
	unsigned int nb_segs;
	unsigned int units;       /**< of WQEs */
	unsigned int units_burst; /**< of a burst, whose packets share them; 0: they do not */
	bool line_1;              /**< next, or lengths of headers */
	bool headers;             /**< they are in the WQE */
	bool frame;               /**< all of it is in the WQE */
	bool look;                /**< mbufs may be shared: a look before they are freed */
};

static struct {
	const struct kind *kind;
	unsigned int nb_slots; /**< of a queue, a power of two */
	struct segs now, before;
	struct queue queues[BENCH_QUEUES_MAX];
	struct rte_mbuf *cache[CACHE_MAX];
	unsigned int nb_cached;
} state;

/** What is read of a mbuf is written again, so that nothing changes. @return what was read */
static __rte_always_inline uint64_t
give_back(struct rte_mbuf *mbuf, const struct needs *needs)
{
	/* refcnt and nb_segs; pool and ol_flags are in the same line. */
	volatile uint64_t *rearm = (volatile uint64_t *)&mbuf->rearm_data;
	struct rte_mbuf *volatile *next = &mbuf->next;
	uint64_t word = 0;

	if (needs->look)
		word = *rearm;
	if (needs->look && needs->nb_segs > 1) {
		*rearm = word;
		*next = *next;
	}
	state.cache[state.nb_cached++ % CACHE_MAX] = mbuf;
	return word;
}

static __rte_always_inline void
write_units(struct queue *queue, unsigned int nb, uint64_t sum)
{
	const unsigned int mask = state.nb_slots * UNITS_LINE - 1;

	for (unsigned int i = 0; i < nb; i++)
		*(volatile bench_unit *)&queue->ring[queue->unit++ & mask] =
			(bench_unit){ sum, sum };
}

/** The frame is read as it is, and written as it lies in a WQE. */
static __rte_always_inline void
copy_units(struct queue *queue, const struct rte_mbuf *mbuf)
{
	const unsigned int mask = state.nb_slots * UNITS_LINE - 1;
	const volatile bench_unit *from = rte_pktmbuf_mtod(mbuf, const volatile bench_unit *);

	for (unsigned int i = 0; i < UNITS_FRAME; i++)
		*(volatile bench_unit *)&queue->ring[queue->unit++ & mask] = from[i];
}

/** A WQE begins with a line. */
static __rte_always_inline void
end_wqe(struct queue *queue)
{
	queue->unit = RTE_ALIGN(queue->unit, UNITS_LINE);
}

static __rte_always_inline void
send_packet(struct queue *queue, struct rte_mbuf *const *segs, const struct needs *needs)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < needs->nb_segs; i++) {
		const volatile struct rte_mbuf *seg = segs[i];

		/* data_off and data_len are in the same line. */
		sum += (uintptr_t)seg->buf_addr;
		if (needs->line_1)
			sum += seg->tx_offload;
		queue->mbufs[queue->slot++ & (state.nb_slots - 1)] = segs[i];
	}
	if (needs->headers)
		sum += *rte_pktmbuf_mtod(segs[0], volatile uint32_t *);
	if (needs->frame)
		copy_units(queue, segs[0]);
	write_units(queue, needs->units, sum);
	if (needs->units_burst == 0)
		end_wqe(queue);
}

static __rte_always_inline void
send_burst(uint16_t q, uint16_t nb, const struct needs needs)
{
	struct queue queue = state.queues[q];
	struct segs *now = &state.now, *before = &state.before;
	const unsigned int nb_back = RTE_MIN(nb * needs.nb_segs, before->nb - before->done);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nb_back; i++)
		sum += give_back(before->at[before->done + i], &needs);
	before->done += nb_back;
	write_units(&queue, needs.units_burst, sum);
	for (uint16_t i = 0; i < nb; i++)
		send_packet(&queue, &now->at[now->done + i * needs.nb_segs], &needs);
	now->done += nb * needs.nb_segs;
	end_wqe(&queue);
	state.queues[q] = queue;
	/* As before a doorbell. */
	rte_wmb();
}

#define BURST(name, ...)                                                                           \
	static void name(uint16_t q, uint16_t nb)                                                  \
	{                                                                                          \
		send_burst(q, nb, (struct needs){ __VA_ARGS__ });                                  \
	}
#define SHARED .nb_segs = 1, .units = 1, .units_burst = UNITS_HEAD
#define CUT    .line_1 = true, .headers = true, .look = true

BURST(send_free, SHARED)
BURST(send_plain, SHARED, .look = true)
BURST(send_copied, .nb_segs = 1, .units_burst = UNITS_HEAD, .look = true, .frame = true)
BURST(send_tagged, .nb_segs = 1, .units = UNITS_HEAD + 1)
BURST(send_chains, .nb_segs = 3, .units = UNITS_HEAD + 3, .line_1 = true, .look = true)
BURST(send_cut, CUT, .nb_segs = 1, .units = UNITS_HEAD + UNITS_HEADERS + 1)
BURST(send_cut_chains, CUT, .nb_segs = 3, .units = UNITS_HEAD + UNITS_HEADERS + 3)

/** Packets of a case; the first that fits. Packets share a WQE unless they differ (a tag, headers)
 * or have several mbufs. */
static const struct kind {
	uint64_t ol_flags; /**< that it has */
	uint64_t offloads; /**< that it has */
	unsigned int nb_segs;
	bool inlined;
	void (*send)(uint16_t q, uint16_t nb);
} kinds[] = {
	{ RTE_MBUF_F_TX_TCP_SEG, 0, 3, false, send_cut_chains },
	{ RTE_MBUF_F_TX_TCP_SEG, 0, 1, false, send_cut },
	{ RTE_MBUF_F_TX_VLAN, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 1, false, send_tagged },
	{ 0, 0, 3, false, send_chains },
	{ 0, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 1, false, send_free },
	{ 0, 0, 1, false, send_plain },
	{ 0, 0, 1, true, send_copied },
};

static bool
is_of(const struct kind *kind, const struct bench_case *how, bool inlined)
{
	return kind->inlined == inlined && (how->ol_flags & kind->ol_flags) == kind->ol_flags &&
		(how->offloads & kind->offloads) == kind->offloads && how->nb_segs == kind->nb_segs;
}

int
bench_bare_tx_start(struct bench_port *port, const struct bench_case *how, bool inlined)
{
	const unsigned int nb_slots = bench_port_is_large(how) ? 2 * BENCH_RING : BENCH_RING;

	memset(&state, 0, sizeof(state));
	state.nb_slots = nb_slots;
	state.kind = kinds;
	while (state.kind < &kinds[RTE_DIM(kinds)] && !is_of(state.kind, how, inlined))
		state.kind++;
	if (state.kind == &kinds[RTE_DIM(kinds)])
		return -ENOTSUP;
	port->tx_pool = bench_pool_create(port, "tx", BENCH_ROOM_MAX);
	if (port->tx_pool == NULL)
		return -ENOMEM;
	for (unsigned int q = 0; q < how->nb_queues; q++) {
		struct queue *queue = &state.queues[q];

		queue->ring = aligned_alloc(RTE_CACHE_LINE_SIZE, nb_slots * RTE_CACHE_LINE_SIZE);
		queue->mbufs = calloc(nb_slots, sizeof(queue->mbufs[0]));
		if (queue->ring == NULL || queue->mbufs == NULL)
			return -ENOMEM;
		memset(queue->ring, 0, nb_slots * RTE_CACHE_LINE_SIZE);
	}
	return 0;
}

void
bench_bare_tx_stop(void)
{
	for (unsigned int q = 0; q < BENCH_QUEUES_MAX; q++) {
		free(state.queues[q].ring);
		free(state.queues[q].mbufs);
		state.queues[q] = (struct queue){ 0 };
	}
}

void
bench_bare_tx_take(struct rte_mbuf *const *pkts, unsigned int nb)
{
	state.before = state.now;
	state.before.done = 0;
	state.now.nb = state.now.done = 0;
	for (unsigned int i = 0; i < nb; i++)
		for (struct rte_mbuf *seg = pkts[i]; seg != NULL; seg = seg->next)
			if (state.now.nb < SEGS_MAX)
				state.now.at[state.now.nb++] = seg;
}

uint16_t
bench_bare_send(uint16_t q, uint16_t nb)
{
	state.kind->send(q, nb);
	return nb;
}

void
bench_bare_tx_free(void)
{
	for (unsigned int i = 0; i < state.before.nb; i++)
		rte_pktmbuf_free_seg(state.before.at[i]);
	state.before.nb = 0;
}
