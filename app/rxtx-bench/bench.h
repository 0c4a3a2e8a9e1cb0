/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Measures the CPU's time in rte_eth_rx_burst() and rte_eth_tx_burst(), for two ports side by side.
 *
 *     cases ──> for each round, for each port:  fill ── freeze ── drain, timed ── thaw
 *                                                        │
 *     report <── medians ────────────────────────────────┘
 *
 * It uses public ethdev functions only, so a port may be of any driver. Frames come back to the
 * port that sends them (a loop), as with softhca's wire=loop.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

/** Descriptors of a queue, and the number that a round uses. */
#define BENCH_RING       1024u
#define BENCH_BATCH      512u
#define BENCH_QUEUES_MAX 4
#define BENCH_PORTS      2
/** Bytes of a mbuf for frames of any length. */
#define BENCH_ROOM_MAX 2048

/** Sizes 64, 256 and 1518 in the proportion 7:4:1 are an IMIX. */
#define BENCH_IMIX 0

/** The measured work. */
enum bench_what {
	BENCH_RX,
	BENCH_TX,
	/** Costs of mbufs apart from the driver that takes and frees them: */
	BENCH_POOL_GET,
	BENCH_POOL_PUT,
};

struct bench_case {
	const char *kind; /**< distinguishes it from others of the same shape */
	char name[64];
	enum bench_what what;
	bool marked;   /**< a rule marks all packets */
	bool touch;    /**< read the first bytes of each packet received */
	bool cold;     /**< caches emptied before each round; else all is at hand, as in a loop */
	uint16_t size; /**< of a frame, without FCS, or BENCH_IMIX */
	uint16_t burst;
	uint16_t nb_queues;
	uint16_t nb_lcores; /**< lcores that share the queues; 0: the main one */
	uint16_t nb_segs;   /**< mbufs a frame, of sent frames */
	uint16_t room; /**< of a received mbuf, without headroom; 0: room for the largest frame */
	uint64_t offloads; /**< of the direction measured */
	uint64_t ol_flags; /**< of each mbuf sent */
};

/**
 * @file cases.c: the measured cases.
 * @param all every combination, not only those that differ from a kind's first in one respect
 * @return number of @p cases
 */
unsigned int bench_cases(bool all, const struct bench_case **cases);

struct bench_port {
	uint16_t id;
	unsigned int nth; /**< among the measured ports */
	uint16_t nb_queues;
	const char *driver;
	struct rte_mempool *pool;    /**< for received packets */
	struct rte_mempool *tx_pool; /**< for sent packets */
	uint64_t sent, received;     /**< since the start: the difference is in flight */
	unsigned int nb_behind; /**< packets that the next round sends behind the measured ones */
	unsigned int nb_before; /**< packets that the last round sent */
	bool is_bare;           /**< bare.c is in a driver's place */
};

/** @return whether a packet sent takes several places of the ring: a chain, or headers in it. A
 * round has fewer, and the ring more places: those of the round before are still in it. */
bool bench_port_is_large(const struct bench_case *how);

/**
 * @file port.c: a port as a case needs it. All return 0 or a negative errno, reported on stderr.
 */
int bench_port_start(struct bench_port *port, const struct bench_case *how);
void bench_port_stop(struct bench_port *port);
/** @param use of the mempool, for its name @param room of a mbuf @return NULL: no memory */
struct rte_mempool *bench_pool_create(
	const struct bench_port *port, const char *use, uint16_t room);
/** Make mbufs of frames as the case needs them, chains included. */
int bench_port_frames(struct bench_port *port, const struct bench_case *how,
	struct rte_mbuf **mbufs, unsigned int nb);

/** @file round.c: ticks of one round; with --instructions callgrind counts instead. */
struct bench_round {
	uint64_t ticks;
	uint64_t packets;
};
/** Shell commands that stop and start the device; NULL: it is not stopped. */
extern const char *bench_freeze, *bench_thaw;
/** A directory: instead of timing bursts, have the device count (bench_begin begins that), and
 * write what bench_device says at the end into a file of each case and port. Bursts are sent one by
 * one, each when the device is done with the one before; or received after all were sent at once.
 * NULL: no counting. */
extern const char *bench_count, *bench_begin;
/** Count instructions (step.c) in place of ticks. */
extern bool bench_steps;
int bench_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round);
/** What WQEs are made of, in bytes (PRM, "Send WQE Construction"). */
#define BENCH_UNIT 16u
typedef uint64_t bench_unit __attribute__((vector_size(BENCH_UNIT), may_alias));
/** What the loop is like: how the drivers beside it were told to work. */
struct bench_bare {
	/** That complete a packet, if it has neither a timestamp nor room for several mbufs. */
	unsigned int cqe_bytes;
	/** Received frames lie in strides, and short ones are copied from there; sent ones, of 64
	 * bytes, are copied into WQEs. */
	bool copies;
};

/**
 * @file bare.c, bare_rx.c, bare_tx.c: a port without a driver. A bare loop touches the cache lines
 * that no driver can do without, looks ahead by a burst on receive, and decides nothing. A driver
 * that takes no longer hides all that it does behind the memory's time, and is as slow as memory.
 * Left out are chains that have to be followed, completions of sends, doorbells, and that a device
 * reads WQEs.
 * @return 0, -ENOMEM, -ENOTSUP: there is no such loop for the case
 */
int bench_bare_start(
	struct bench_port *port, const struct bench_case *how, const struct bench_bare *bare);
void bench_bare_stop(struct bench_port *port);
int bench_bare_rx_start(
	struct bench_port *port, const struct bench_case *how, const struct bench_bare *bare);
void bench_bare_rx_stop(void);
/** Have another lcore, as a device, complete @p nb packets of each queue. @return 0 or a negative
 * errno */
int bench_bare_rx_complete(unsigned int nb);
uint16_t bench_bare_receive(uint16_t queue, struct rte_mbuf **pkts, uint16_t nb);
int bench_bare_tx_start(struct bench_port *port, const struct bench_case *how, bool inlined);
void bench_bare_tx_stop(void);
/** Packets of a round. Those of the round before are given back meanwhile. */
void bench_bare_tx_take(struct rte_mbuf *const *pkts, unsigned int nb);
/** Send the next @p nb of them. @return nb */
uint16_t bench_bare_send(uint16_t queue, uint16_t nb);
/** Free the packets of the round before. */
void bench_bare_tx_free(void);
/** @file step.c: instructions of this thread between begin and end. */
int bench_step_init(void);
void bench_step_begin(void);
uint64_t bench_step_end(void);
/** An instruction about to be executed. */
struct bench_step {
	uint64_t regs[17]; /**< r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	uint8_t code[16];  /**< at rip: no instruction is longer than 15 */
};
/** The directory for files of steps; NULL: steps are counted only. */
extern const char *bench_trace;
/** Shell command whose output goes into these files, too: what the device knows of its rings. */
extern const char *bench_device;
/** @file trace.c: the steps of a round, in a file of each case and port. */
void bench_trace_clear(void);
/** A burst begins. */
void bench_trace_burst(void);
/** @return the place of the next step, or NULL. In a handler of signals. */
struct bench_step *bench_trace_step(void);
int bench_trace_write(
	const struct bench_port *port, const struct bench_case *how, uint64_t nb_packets);
/** The same for bench_count: no steps. */
int bench_trace_count(
	const struct bench_port *port, const struct bench_case *how, uint64_t nb_packets);
/**
 * @file share.c: drain the queues, or send @p nb packets, by all lcores of the case at once.
 * @return 0, -ENOTSUP: there are fewer lcores
 */
int bench_share_run(struct bench_port *port, const struct bench_case *how, struct rte_mbuf **pkts,
	unsigned int nb, struct bench_round *round);
/** Ticks, or instructions, of an empty measurement. */
uint64_t bench_round_overhead(void);

#endif /* BENCH_H */
