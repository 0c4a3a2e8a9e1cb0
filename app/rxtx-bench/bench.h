/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the CPU spends in rte_eth_rx_burst() and rte_eth_tx_burst(), of two ports side by side.
 *
 *     cases ──> for each round, for each port:  fill ── freeze ── drain, timed ── thaw
 *                                                        │
 *     report <── medians ────────────────────────────────┘
 *
 * Public ethdev functions only, so a port can be of any driver. Frames come back to the port that
 * sends them (a loop), as softhca's wire=loop does.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

/** Descriptors of a queue, and of these how many a round uses. */
#define BENCH_RING       1024u
#define BENCH_BATCH      512u
#define BENCH_QUEUES_MAX 4
#define BENCH_PORTS      2

/** Sizes 64, 256 and 1518 in the proportion 7:4:1 are an IMIX. */
#define BENCH_IMIX 0

/** What is measured. */
enum bench_what {
	BENCH_RX,
	BENCH_TX,
	/** What mbufs cost apart from the driver that takes and frees them: */
	BENCH_POOL_GET,
	BENCH_POOL_PUT,
};

struct bench_case {
	const char *kind; /**< what distinguishes it from others of the same shape */
	char name[64];
	enum bench_what what;
	bool marked;   /**< a rule marks all packets */
	bool touch;    /**< read the first bytes of each packet received */
	bool cold;     /**< caches emptied before each round */
	uint16_t size; /**< of a frame, without FCS, or BENCH_IMIX */
	uint16_t burst;
	uint16_t nb_queues;
	uint16_t nb_lcores; /**< that share the queues; 0: the main one */
	uint16_t nb_segs;   /**< mbufs a frame, of those sent */
	uint16_t room; /**< of a received mbuf, without headroom; 0: as large as a frame can be */
	uint64_t offloads; /**< of the direction measured */
	uint64_t ol_flags; /**< of each mbuf sent */
};

/**
 * @file cases.c: what is measured.
 * @param all every combination, not only those that differ from a kind's first in one respect
 * @return number of @p cases
 */
unsigned int bench_cases(bool all, const struct bench_case **cases);

struct bench_port {
	uint16_t id;
	uint16_t nb_queues;
	const char *driver;
	struct rte_mempool *pool;    /**< received into */
	struct rte_mempool *tx_pool; /**< sent from */
	uint64_t sent, received;     /**< since start: what is left is on its way */
};

/** @file port.c: a port as a case wants it. All return 0 or a negative errno, told on stderr. */
int bench_port_start(struct bench_port *port, const struct bench_case *how);
void bench_port_stop(struct bench_port *port);
/** mbufs of frames as the case wants them, chains included. */
int bench_port_frames(struct bench_port *port, const struct bench_case *how,
	struct rte_mbuf **mbufs, unsigned int nb);

/** @file round.c: ticks (or, with --instructions, what callgrind is told to count) of one round. */
struct bench_round {
	uint64_t ticks;
	uint64_t packets;
};
/** Shell commands that stop and start the device; NULL: it goes on. */
extern const char *bench_freeze, *bench_thaw;
/** Count instructions (step.c) where ticks would be. */
extern bool bench_steps;
int bench_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round);
/** @file step.c: instructions of this thread between begin and end. */
int bench_step_init(void);
void bench_step_begin(void);
uint64_t bench_step_end(void);
/**
 * @file share.c: drain the queues, or send @p nb packets, by all lcores of the case at once.
 * @return 0, -ENOTSUP: there are fewer lcores
 */
int bench_share_run(struct bench_port *port, const struct bench_case *how, struct rte_mbuf **pkts,
	unsigned int nb, struct bench_round *round);
/** Ticks, or instructions, of a measurement of nothing. */
uint64_t bench_round_overhead(void);

#endif /* BENCH_H */
