/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: a WQ and its CQ in the device, and the rings that they use.
 *
 * Set-up checks and allocates software state. Verbs objects (rxq_ring.h) exist while the port is
 * started: mdv_rxq_create() makes them, mdv_rxq_start() fills the rings with mbufs and lets packets
 * in, mdv_rxq_stop() undoes that, so a stopped queue holds no mbuf. The flow engine sees a queue
 * only as a struct ibv_wq. A queue of a running port keeps it while the queue is stopped, started,
 * or set up again in the same size: rules continue to point at it.
 *
 *     CQ   ci ─────> slot cq_ci & mask        one CQE a packet
 *     WQ   wqe_ci ─> slot wqe_ci & mask       its WQE: 2^log2_segs segments, and as many mbufs
 *          wqe_pi ─> first WQE not posted     [wqe_ci, wqe_pi) belong to the device
 *
 * Both rings have the same size and move in step. The difference of cq_ci and wqe_ci only changes
 * when the WQ is reset after an error, which sets the device's WQE counter to 0. A received packet
 * leaves a hole, and a refill fills many holes at once. If the pool is empty, the ring runs down,
 * the device counts the packets that it cannot place, and the next burst tries again.
 *
 * With several segments a slot keeps the mbufs that its packet did not need. NULL marks the missing
 * mbufs; they are the first ones of the slot, as a packet takes segments in order. The segments of
 * a queue that splits packets differ (rx_split.h).
 *
 * The WQEs of a striding queue have many strides each, of which it counts every one as a slot of
 * both rings (rx_strides.h).
 *
 * A block of compressed CQEs is expanded at once into the first mbufs of its packets, and cq_ci
 * moves past it. wqe_ci moves as bursts take the packets, of which nb_ready are left.
 *
 * Owner: the polling thread; other threads read the counters without order.
 */
#ifndef MDV_RXQ_H
#define MDV_RXQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "base/compat.h"
#include "base/hw.h"
#include "mem/mr_cache.h"
#include "queue/cq.h"
#include "queue/recover_ops.h"

struct ibv_wq;
struct mdv_caps;
struct mdv_port;
struct mdv_rx_stride_buf;
struct mdv_rx_split;
struct mdv_rx_stride_pool;

/** Segments of a WQE at most; the device's max_sge may be lower. */
#define MDV_RX_SEGS_MAX 32u
/** Missing WQEs that make a refill worthwhile; the ring has at least four times as many. */
#define MDV_RX_REFILL_MIN 64u

/**
 * CQE contents that may appear while the queue is polled. Each burst reads the set, which changes
 * before the device's behaviour does. Another burst function instead would not reach a thread that
 * is inside of the old one.
 */
enum mdv_rx_runtime_opt {
	MDV_RX_RUNTIME_MARK = 1 << 0,   /**< a rule may tag packets */
	MDV_RX_RUNTIME_VLAN = 1 << 1,   /**< VLAN tags may be stripped */
	MDV_RX_RUNTIME_MINI = 1 << 2,   /**< CQEs may be compressed */
	MDV_RX_RUNTIME_BROKEN = 1 << 3, /**< no CQE will come: the queue has to be recreated */
};

struct mdv_rx_counters {
	uint64_t packets, bytes;
	uint64_t nombuf; /**< buffers that the pool failed to give */
	uint64_t errors; /**< error CQEs */
};

/** The rings. */
struct mdv_rxq_ring {
	struct mdv_hw_cqe *cqes;
	struct rte_mbuf **mbufs; /**< WQE slot << log2_segs + segment */
	struct mlx5_wqe_data_seg *wqes;
	volatile __be32 *cq_dbrec;
	volatile __be32 *wq_dbrec;
	uint32_t mask; /**< of both rings */
	uint8_t log2_wqes;
	uint8_t log2_segs;
	uint8_t refill_min;   /**< missing WQEs that make a refill worthwhile */
	uint8_t runtime_opts; /**< enum mdv_rx_runtime_opt; bits are only added until the queue
				 stops */
};

/** Positions of driver and device in the rings. */
struct mdv_rxq_pos {
	uint32_t cq_ci;
	uint32_t wqe_ci;
	uint32_t wqe_pi;
};

/** The verbs objects behind the rings. */
struct mdv_rxq_objs {
	struct ibv_wq *wq; /**< NULL: the port is not started */
	struct mdv_cq cq;
	bool wq_strips; /**< the WQ strips VLAN tags */
	struct {
		eth_rx_burst_t burst; /**< the burst that reads the rings */
		uint32_t posted;      /**< first WQE that verbs does not have */
	} ibv;                        /**< mode=ibv only: see rx_ibv.h */
};

/** Of a striding queue: see rx_strides.h. */
struct mdv_rxq_strides {
	struct mdv_rx_stride_buf **bufs; /**< by WQE */
	struct mdv_rx_stride_buf *spare; /**< replaces the one that packets are taken from; NULL:
					    these are copied */
	struct mdv_rx_stride_pool *pool; /**< NULL: not ready */
	uint16_t len_max;                /**< longest packet */
	uint16_t copy_max;               /**< longest packet that is copied now */
	uint16_t nb_out;      /**< packets in the present buffer that the application got */
	uint8_t log2_strides; /**< strides of a WQE; 0: no striding queue */
	uint8_t log2_bytes;   /**< of a stride */
};

struct mdv_rxq {
	/* line 0: read by every burst, written by none */
	struct mdv_rxq_ring ring;
	struct rte_mempool *pool;
	uint64_t rearm; /**< rearm_data of a packet's first mbuf */

	/* line 1: written by every burst that receives */
	struct mdv_rxq_pos pos __rte_cache_aligned;
	uint32_t lkey_be; /**< lkey of the pool; MDV_MR_LKEY_NONE: look up each mbuf's */
	struct mdv_rx_counters count;
	uint32_t buf_offset; /**< from an mbuf to its first data byte; 0: read buf_addr */
	uint16_t headroom;   /**< of a packet's first mbuf; the others have none */
	uint16_t room;       /**< bytes of an mbuf's data room, headroom included */
	uint16_t nb_ready;   /**< packets of a block, from wqe_ci on, whose mbufs are written and
				whose CQEs are given back */
	bool in_burst;       /**< a burst reads CQEs, or a process was killed while it did */
	uint32_t ready_bytes;

	/* line 2: timestamps, scattered packets and pools of several regions only */
	uint64_t timestamp_flag __rte_cache_aligned; /**< in ol_flags */
	int32_t timestamp_at;                        /**< dynamic field's offset in the mbuf */
	uint32_t timestamp_gap;                      /**< for mdv_hw_stamp_to_ns() */
	uint32_t nb_empty;                           /**< missing mbufs, with MDV_RX_SCATTER */
	bool ready_alone; /**< each of the nb_ready packets is in one mbuf, with MDV_RX_SCATTER */
	struct mdv_mr_cache mr;

	/* line of its own: queues that are striding, or split packets, only */
	struct mdv_rxq_strides strides __rte_cache_aligned;
	struct mdv_rx_split *split; /**< NULL: one pool for all segments */

	/* control path */
	struct mdv_rx_counters base; /**< count at the last reset of the statistics */
	LIST_ENTRY(mdv_rxq) next;    /**< of port->queues */
	uint32_t logged;             /**< events that were logged, by 1 << ibv_event_type */
	uint64_t logged_syndromes;   /**< see mdv_cq_log_error() */
	struct mdv_recover_wait recover_wait;
	bool asked; /**< a secondary process asks the primary to reset it, MDV_MP_RECOVER_RX */
	struct mdv_port *port;
	struct mdv_rxq *next_parked; /**< released, but rules point at the WQ */
	struct mdv_rxq_objs objs;
	struct rte_eth_rxconf conf;
	uint16_t port_id;
	uint16_t idx;
	uint16_t nb_desc; /**< buffers asked for, a power of two */
	bool ready;       /**< started: the WQ takes packets, and the ring has mbufs */
	bool vlan_strip;
};
static_assert(offsetof(struct mdv_rxq, ring.runtime_opts) < RTE_CACHE_LINE_SIZE, "line 0");
static_assert(offsetof(struct mdv_rxq, pos.cq_ci) == RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_rxq, ready_bytes) < 2 * RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_rxq, timestamp_flag) == 2 * RTE_CACHE_LINE_SIZE, "line 2");
static_assert(offsetof(struct mdv_rxq, mr) + offsetof(struct mdv_mr_cache, table) <=
		3 * RTE_CACHE_LINE_SIZE,
	"line 2");

/** @return whether the device will write no more CQEs until the objects are replaced. */
static inline bool
mdv_rxq_is_broken(const struct mdv_rxq *rxq)
{
	return (__atomic_load_n(&rxq->ring.runtime_opts, __ATOMIC_RELAXED) &
		       MDV_RX_RUNTIME_BROKEN) != 0;
}

/** Fewest buffers of a queue. */
#define MDV_RXQ_DESC_MIN 64

/** ethdev rx_queue_setup / release. */
int mdv_rxq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
void mdv_rxq_release(struct rte_eth_dev *dev, uint16_t idx);
/** Each returns 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_rxq_create(struct mdv_port *port, uint16_t idx);
int mdv_rxq_start(struct mdv_port *port, uint16_t idx);
/** Stop the queue, which no thread may poll until the return. Packets not yet received are lost. */
int mdv_rxq_stop(struct mdv_port *port, uint16_t idx);
/** Free everything that mdv_rxq_create() made; no rule points at the queue any more. */
void mdv_rxq_destroy(struct mdv_port *port, uint16_t idx);
/** Destroy the objects of queues that were released while rules pointed at them. */
void mdv_rxq_destroy_parked(struct mdv_port *port);
/** @return the queue's WQ, also of one that was released: rules of the running port point at it
 * until the next queue of its number has one. NULL: the port is stopped. Under flow.lock. */
struct ibv_wq *mdv_rxq_wq(struct mdv_port *port, uint16_t idx);

/** Make the queues' bursts look at tags until the port is stopped: rules may tag packets from now
 * on. */
void mdv_rxq_enable_marks(struct mdv_port *port);

/** @return the greatest number of a queue's buffers. */
uint16_t mdv_rxq_desc_max(const struct mdv_caps *caps);
/**
 * Check that the queue, as set up, can take frames of this MTU.
 * @return 0, -EINVAL (it needs scattering, which is off or not enough), -EBUSY (it can after a
 * restart); logged.
 */
int mdv_rxq_check_mtu(const struct mdv_port *port, uint16_t idx, uint16_t mtu);
/**
 * Switch VLAN stripping, at once if the queue is started. @return 0 or a negative errno, logged.
 */
int mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on);
/** ethdev rxq_info_get, rx_queue_count, rx_descriptor_status. */
void mdv_rxq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_rxq_info *info);
mdv_compat_rx_count_t mdv_rxq_count(void *rxq);
int mdv_rxq_descriptor_status(void *rxq, uint16_t offset);

#endif /* MDV_RXQ_H */
