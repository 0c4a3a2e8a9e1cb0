/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send queue: a RAW_PACKET QP that has only an SQ, its CQ, and the rings that they use.
 *
 * As with a receive queue, verbs objects exist while the port is started, and a stopped queue holds
 * no mbuf. Then its QP is in the state RESET and its ring looks full, so a burst sends nothing.
 *
 *     SQ      ci ──────> first WQEBB not known to be done    WQEBB n is slot n & mask, n of 16 bits
 *             pc ──────> next WQEBB                          [ci, pc) belongs to the device
 *     mbufs   tail ────> first mbuf not known to be sent     mbuf n is in mbufs[n & mask]
 *             head ────> next mbuf                           [tail, head) belong to the device
 *     dones   one for each requested completion, in the order in which they come: pc and head
 *             behind the WQE that requested it
 *
 * A WQE may carry many packets (tx_vec.h), and one packet may need many WQEBBs, so both are
 * counted. After each burst less than a quarter of either ring is in use behind the last requested
 * completion, so a full ring always drains. Each mbuf of a chain is stored: freeing the mbufs does
 * not read next, which is in another line and mostly a miss.
 *
 * Owner: the sending thread; other threads read the counters without order.
 */
#ifndef MDV_TXQ_H
#define MDV_TXQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/hw.h"
#include "mem/mr_cache.h"
#include "queue/cq.h"
#include "queue/recover_ops.h"
#include "tx_wqe.h"

struct ibv_qp;
struct mdv_caps;
struct mdv_port;

/** 16-byte units of the longest WQE: 15 WQEBBs, the limit that Linux and DPDK use. */
#define MDV_TX_DS_MAX 60u
/** Segments that a packet may always have. */
#define MDV_TX_SEGS_MAX (MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD_INLINE)
/** Shortest frame: DPDK's mlx5 driver posts none of 18 bytes or less (MLX5_ESEG_MIN_INLINE_SIZE in
 * mlx5_tx.h), Linux none below 18 (en/xdp.c). */
#define MDV_TX_FRAME_MIN 19u
/** Longest frame: MTU, Ethernet header, one tag. */
#define MDV_TX_FRAME_MAX 9996u
/** A burst requests a completion after so many WQEBBs or packets; the ring has at least four times
 * as many. */
#define MDV_TX_REQUEST_MIN 64
/** The most completions that a burst takes. A burst asks for one, so it catches up; what has
 * gathered is freed in portions that a mempool's cache holds, and no burst pays for all of it. */
#define MDV_TX_REAP_MAX 2

/** Limits by the offloads that a queue was set up with; 0: not requested. */
struct mdv_tx_limits {
	uint64_t ol_flags;    /**< those of RTE_MBUF_F_TX_OFFLOAD_MASK that a packet may have */
	uint32_t tso_max;     /**< greatest payload that the device cuts up, in bytes */
	uint16_t tunnels;     /**< by mdv_tx_tunnel(): the device finds inner headers */
	uint16_t tso_tunnels; /**< by mdv_tx_tunnel(): TSO was requested; bit 0: without tunnel */
	uint16_t segs;        /**< of a packet; a WQE may have room for fewer */
	uint8_t l4_csums;     /**< by mdv_tx_l4_csum(): the checksum was requested */
	bool multi;
};

struct mdv_tx_counters {
	uint64_t packets, bytes; /**< as on the wire, but without inserted tags */
};

/** Fields that TSO packets share, within a connection and mostly between connections: tx_tso.c. */
struct mdv_tx_tso_template {
	uint64_t tx_offload, ol_flags; /**< of the mbuf; no flags: no template yet */
	uint64_t eth[2];               /**< the Ethernet segment without the header */
	uint64_t per_mss;              /**< for the division by mss */
	uint32_t header;               /**< bytes of headers in the packet */
	uint32_t least; /**< bytes that the first mbuf needs, to copy headers from it */
	uint32_t units; /**< units of the WQE that the headers fill after their first 2 bytes */
	uint16_t mss;
	bool tagged;
};

/** @return what was counted since a reset; packets that were sent before may have been lost since,
 * and are not counted as sent then (tx_error.c). */
static inline uint64_t
mdv_txq_since(uint64_t count, uint64_t base)
{
	return count > base ? count - base : 0;
}

/**
 * Up to one less than so many mbufs wait for a completion to be requested, and the longest chain
 * must fit beside them: else a queue that waits for room would request none.
 * @return how many WQEBBs or mbufs a completion is requested for at the latest
 */
static inline uint8_t
mdv_txq_request_min(uint16_t nb_desc)
{
	const uint32_t beside = nb_desc + 1 - MDV_TX_SEGS_MAX, most = RTE_MIN(nb_desc / 4u, beside);

	return RTE_MIN(most, (uint32_t)MDV_TX_REQUEST_MIN);
}

/** Distance of the prefetch of mbufs when segments are freed. */
#define MDV_TX_RELEASE_AHEAD 8

/** The queue's positions after a completion. */
struct mdv_tx_done {
	uint16_t pc;
	uint16_t head;
};

/** The rings, and the doorbell of the SQ's. */
struct mdv_txq_ring {
	uint8_t *wqes;
	struct rte_mbuf **mbufs;   /**< mask + 1, and MDV_TX_RELEASE_AHEAD NULLs */
	struct mdv_tx_done *dones; /**< one for each CQE */
	volatile __be32 *dbrec;    /**< word 1 of the QP's record */
	const struct mdv_hw_cqe *cqes;
	volatile __be32 *cq_dbrec;
	uint32_t qpn_ds;           /**< the SQ's number in bits 31:8, as a control segment has it */
	uint32_t uar_slot : 23;    /**< the doorbell register's mdv_uar_slot() */
	uint32_t uar_combines : 1; /**< its page is write-combining: flush after ringing */
	uint32_t request_min : 8;  /**< mdv_txq_request_min() */
	uint16_t mask;             /**< of WQEBBs, and of mbufs */
	uint8_t log2_cqes;
	uint8_t min_inline; /**< of MDV_TX_INLINE_L2: more than that instance inlines; else 0 */
	bool chains;        /**< mbufs may be parts of chains; set once, until the queue is reset */
	bool broken;        /**< no WQE will complete: the queue has to be recreated */
	uint16_t inline_max : 12;     /**< of MDV_TX_INLINE: the longest frame that is inlined */
	uint16_t inline_log2_bbs : 4; /**< mdv_tx_inline_log2_bbs() */
};

/** Positions of driver and device in the rings. */
struct mdv_txq_pos {
	uint16_t pc;
	uint16_t ci;
	uint16_t head;
	uint16_t tail;
	uint16_t cq_pi; /**< number of requested completions */
	uint16_t due;   /**< head at which the next one is requested */
	uint32_t cq_ci;
};

/** The verbs objects behind the rings. */
struct mdv_txq_objs {
	struct ibv_qp *qp; /**< NULL: the port is not started */
	struct mdv_cq cq;
	uint64_t uar_offset; /**< of the doorbell register's page; see mdv_uar_map() */
	uint16_t uar_at;     /**< of the register in its page */
	struct {
		eth_tx_burst_t burst; /**< the burst that writes the ring */
		struct ibv_qp_ex *qp;
		struct ibv_mr *mr; /**< of the ring; NULL: no inlined headers */
		uint16_t posted;   /**< first WQEBB that verbs does not have */
	} ibv;                     /**< mode=ibv only: see tx_ibv.h */
};

struct mdv_txq {
	/* line 0: read by every burst, written by the first with a chain */
	struct mdv_txq_ring ring;

	/* line 1: written by every burst */
	struct mdv_txq_pos pos __rte_cache_aligned;
	struct mdv_tx_counters count;
	struct mdv_mr_cache mr; /**< what bursts read is in this line, the rest is for misses */

	uint64_t errors; /**< packets that could not be sent, and packets lost to a queue error */
	struct mdv_tx_limits limits;             /**< read for TSO packets, and by tx_prepare */
	struct mdv_tx_tso_template tso_template; /**< of the last TSO packet */

	/* control path */
	/** The same at the last reset of the statistics. */
	struct mdv_tx_counters base;
	uint64_t base_errors;
	LIST_ENTRY(mdv_txq) next;  /**< of port->queues */
	uint32_t logged;           /**< events that were logged, by 1 << ibv_event_type */
	uint64_t logged_syndromes; /**< see mdv_cq_log_error() */
	struct mdv_recover_wait recover_wait;
	bool asked; /**< a secondary process asks the primary to reset it, MDV_MP_RECOVER_TX */
	struct mdv_port *port;
	struct mdv_txq *next_parked; /**< released; its QP is for the next queue of this number */
	struct mdv_txq_objs objs;
	bool ready; /**< started: the QP sends */
	bool lost;  /**< the packets in flight are lost to an error, and counted */
	struct rte_eth_txconf conf;
	uint16_t port_id;
	uint16_t idx;
	uint16_t nb_desc;   /**< packets, a power of two; WQEBBs: see mdv_tx_inline_bbs() */
	uint32_t rate_kbps; /**< the device's rate limit; 0: none */
	uint32_t nb_stops;  /**< by an error CQE; of the last one: */
	uint16_t stop_wqe;
	uint8_t stop_syndrome;
};
static_assert(sizeof(struct mdv_txq_ring) <= RTE_CACHE_LINE_SIZE, "line 0");
static_assert(offsetof(struct mdv_txq, pos.pc) == RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_txq, mr) + offsetof(struct mdv_mr_cache, table) <=
		2 * RTE_CACHE_LINE_SIZE,
	"line 1");

/** Fewest WQEBBs of a queue: four of the longest WQEs. */
#define MDV_TXQ_DESC_MIN 64

/** @return the greatest number of descriptors of a queue that inlines frames of up to @p inline_max
 * bytes. */
uint16_t mdv_txq_desc_max(const struct mdv_caps *caps, uint16_t inline_max);
/** ethdev tx_queue_setup / release. */
int mdv_txq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
void mdv_txq_release(struct rte_eth_dev *dev, uint16_t idx);
/** Each returns 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_txq_create(struct mdv_port *port, uint16_t idx);
int mdv_txq_start(struct mdv_port *port, uint16_t idx);
/** Stop the queue, on which no thread may send until the return. Packets that the device has not
 * sent are lost. */
int mdv_txq_stop(struct mdv_port *port, uint16_t idx);
/** Free everything that mdv_txq_create() made. */
void mdv_txq_destroy(struct mdv_port *port, uint16_t idx);
/** Destroy the objects that released queues have left for their successors. */
void mdv_txq_destroy_parked(struct mdv_port *port);

/** ethdev set_queue_rate_limit, in Mbit/s; the limit holds until the queue is set up again. */
int mdv_txq_set_rate(struct rte_eth_dev *dev, uint16_t idx, uint32_t mbps);

/** ethdev txq_info_get. */
void mdv_txq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_txq_info *info);

#endif /* MDV_TXQ_H */
