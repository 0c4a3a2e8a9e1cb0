/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send queue: a RAW_PACKET QP with nothing but an SQ, its CQ, and the rings they live in.
 *
 * As with a receive queue, verbs objects exist while the port is started, and a stopped queue holds
 * no mbuf. Its QP is in the state RESET then, and its ring looks full: a burst sends nothing.
 *
 *     SQ      ci ──────> first WQEBB not known to be done    WQEBB n is slot n & mask, n of 16 bits
 *             pc ──────> next WQEBB                          [ci, pc) belongs to the device
 *     mbufs   tail ────> first mbuf not known to be sent     mbuf n is in mbufs[n & mask]
 *             head ────> next mbuf                           [tail, head) belong to the device
 *     dones   one for each completion that was asked for, in the order in which they come: where
 *             pc and head were behind the WQE that asked
 *
 * A WQE may carry many packets (tx_vec.h), one packet many WQEBBs, so both are counted. At least a
 * quarter of either ring is never without a requested completion behind it, so a full ring always
 * drains. Each mbuf of a chain is stored: freeing them does not read next, which is in another line
 * and mostly a miss.
 *
 * Owner: the sending thread; counters are read by others without order.
 */
#ifndef MDV_TXQ_H
#define MDV_TXQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/hw.h"
#include "mem/mr.h"
#include "queue/cq.h"
#include "queue/recover_ops.h"
#include "tx_wqe.h"

struct ibv_qp;
struct mdv_caps;
struct mdv_port;

/** 16-byte units of the longest WQE: 15 WQEBBs, as Linux and DPDK keep to. */
#define MDV_TX_DS_MAX 60u
/** Segments of a packet that always fit. */
#define MDV_TX_SEGS_MAX (MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD_INLINE)
/** Shortest frame: the device parses an Ethernet header. */
#define MDV_TX_FRAME_MIN 14u
/** Longest frame: MTU, Ethernet header, one tag. */
#define MDV_TX_FRAME_MAX 9996u
/** WQEBBs or packets after which a burst asks for a completion, in a ring of four times as many at
 * least. */
#define MDV_TX_REQUEST_MIN 32

/** Limits for the offloads that a queue was set up with; 0 where none was requested. */
struct mdv_tx_limits {
	uint64_t ol_flags;    /**< that a packet may have, of RTE_MBUF_F_TX_OFFLOAD_MASK */
	uint32_t tso_max;     /**< bytes of payload the device cuts up at most */
	uint16_t tunnels;     /**< by mdv_tx_tunnel(): inner headers that the device finds */
	uint16_t tso_tunnels; /**< by mdv_tx_tunnel(): TSO was asked for; bit 0: without tunnel */
	uint16_t segs;        /**< of a packet; a WQE may have room for fewer */
	bool multi;
};

struct mdv_tx_counters {
	uint64_t packets, bytes; /**< as on the wire, without inserted tags */
	uint64_t errors; /**< packets that could not be sent, and those lost to a queue error */
};

/** Fields that packets to be segmented share, within a connection and mostly between connections:
 * tx_tso.c. */
struct mdv_tx_tso_template {
	uint64_t tx_offload, ol_flags; /**< of the mbuf; no flags: none yet */
	uint64_t eth[2];               /**< Ethernet segment but for the header */
	uint64_t per_mss;              /**< to divide by mss */
	uint32_t header;               /**< bytes of headers in the packet */
	uint32_t least;                /**< bytes that the first mbuf must have to be copied from */
	uint32_t units; /**< of the WQE, that the headers fill after the first 2 bytes */
	uint16_t mss;
	bool tagged;
};

/** Mbufs that are looked ahead when segments are freed. */
#define MDV_TX_RELEASE_AHEAD 8

/** Where a completion gets the queue. */
struct mdv_tx_done {
	uint16_t pc;
	uint16_t head;
};

/** The rings, and the doorbell of the SQ's. */
struct mdv_txq_ring {
	uint8_t *wqes;
	struct rte_mbuf **mbufs;   /**< mask + 1, and MDV_TX_RELEASE_AHEAD NULLs */
	struct mdv_tx_done *dones; /**< as many as CQEs */
	volatile __be32 *dbrec;    /**< word 1 of the QP's record */
	const struct mdv_hw_cqe *cqes;
	volatile __be32 *cq_dbrec;
	uint32_t sqn;
	uint32_t uar_slot; /**< of the doorbell register: see mdv_uar_regs; by port and number */
	uint16_t mask;     /**< of WQEBBs, and of mbufs */
	uint8_t log2_cqes;
	bool uar_combines; /**< the register's page is write-combining: flush after ringing */
	bool broken;       /**< nothing will complete: the queue has to be recreated */
};

/** How far driver and device are in them. */
struct mdv_txq_pos {
	uint16_t pc;
	uint16_t ci;
	uint16_t head;
	uint16_t tail;
	uint16_t cq_pi; /**< completions asked for */
	uint8_t request_min;
	bool chains; /**< mbufs may be parts of chains; never less until the queue is reset */
	uint32_t cq_ci;
};

/** The verbs objects that they belong to. */
struct mdv_txq_objs {
	struct ibv_qp *qp; /**< NULL: the port is not started */
	struct mdv_cq cq;
	uint64_t uar_offset; /**< to map the page of the doorbell register at; see mdv_uar_map() */
	uint16_t uar_at;     /**< of the register in its page */
	struct {
		eth_tx_burst_t burst; /**< that writes the ring */
		struct ibv_qp_ex *qp;
		struct ibv_mr *mr; /**< of the ring; NULL: no headers are inlined */
		uint16_t posted;   /**< first WQEBB that verbs does not have */
	} ibv;                     /**< mode=ibv only: see tx_ibv.h */
};

struct mdv_txq {
	/* line 0: read by every burst, written by none */
	struct mdv_txq_ring ring;

	/* line 1: written by every burst */
	struct mdv_txq_pos pos __rte_cache_aligned;
	struct mdv_tx_counters count;
	struct mdv_mr_cache mr; /**< its last hit is in this line, the rest is for misses */

	struct mdv_tx_limits limits; /**< read for what is to be segmented, and by tx_prepare */
	struct mdv_tx_tso_template tso_template; /**< of what was segmented last */

	/* control path */
	struct mdv_tx_counters base; /**< count at the last reset of the statistics */
	LIST_ENTRY(mdv_txq) next;    /**< of port->queues */
	uint32_t logged;             /**< events that were logged, by 1 << ibv_event_type */
	uint64_t logged_syndromes;   /**< see mdv_cq_log_error() */
	struct mdv_recover_wait recover_wait;
	struct mdv_port *port;
	struct mdv_txq *next_parked; /**< released, its QP is for the next of this number */
	struct mdv_txq_objs objs;
	bool ready; /**< started: the QP sends */
	bool lost;  /**< what is in flight, to an error, and counted so */
	struct rte_eth_txconf conf;
	uint16_t port_id;
	uint16_t idx;
	uint16_t nb_desc;   /**< WQEBBs, a power of two */
	uint32_t rate_kbps; /**< the device sends no faster; 0: no limit */
	uint32_t nb_stops;  /**< by an error CQE; of the last one: */
	uint16_t stop_wqe;
	uint8_t stop_syndrome;
};
static_assert(offsetof(struct mdv_txq, ring.broken) < RTE_CACHE_LINE_SIZE, "line 0");
static_assert(offsetof(struct mdv_txq, pos.pc) == RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_txq, mr) + offsetof(struct mdv_mr_cache, generation) <=
		2 * RTE_CACHE_LINE_SIZE,
	"line 1");

/** Fewest WQEBBs of a queue: four of the longest WQEs. */
#define MDV_TXQ_DESC_MIN 64

/** @return most descriptors (WQEBBs) of a queue. */
uint16_t mdv_txq_desc_max(const struct mdv_caps *caps);
/** ethdev tx_queue_setup / release. */
int mdv_txq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
void mdv_txq_release(struct rte_eth_dev *dev, uint16_t idx);
/** Each returns 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_txq_create(struct mdv_port *port, uint16_t idx);
int mdv_txq_start(struct mdv_port *port, uint16_t idx);
/** No thread may send on the queue until it returns; packets that the device has not sent are lost.
 */
int mdv_txq_stop(struct mdv_port *port, uint16_t idx);
/** Undo all of it. */
void mdv_txq_destroy(struct mdv_port *port, uint16_t idx);
/** Destroy the objects that released queues have left for their successors. */
void mdv_txq_destroy_parked(struct mdv_port *port);

/** ethdev set_queue_rate_limit, in Mbit/s; it holds until the queue is set up anew. */
int mdv_txq_set_rate(struct rte_eth_dev *dev, uint16_t idx, uint32_t mbps);

/** ethdev txq_info_get. */
void mdv_txq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_txq_info *info);

#endif /* MDV_TXQ_H */
