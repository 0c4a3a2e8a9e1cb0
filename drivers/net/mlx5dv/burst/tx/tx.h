/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The send queue as the burst functions see it; the burst itself is in tx_burst.h.
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
 * drains. The mbufs of a chain are there one by one: whoever frees them need not follow next, which
 * is in a line of its own and mostly a miss.
 *
 * Owner: the sending thread; counters are read by others without order.
 */
#ifndef MDV_TX_H
#define MDV_TX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "base/hw.h"
#include "device/uar.h"
#include "mem/mr.h"
#include "port/revive.h"
#include "queue/cq.h"
#include "queue/tx_wqe.h"

struct ibv_qp;
struct mdv_caps;
struct mdv_port;

/** What a burst function does beyond sending one segment: constant in each instance. */
enum mdv_tx_opt {
	MDV_TX_MULTI = 1 << 0, /**< several segments a packet */
	MDV_TX_CSUM = 1 << 1,
	MDV_TX_VLAN = 1 << 2,
	MDV_TX_FAST_FREE = 1 << 3, /**< all mbufs of one pool, not shared */
	MDV_TX_TSO = 1 << 4,       /**< goes with MDV_TX_CSUM only */
	MDV_TX_INLINE_L2 =
		1 << 5,      /**< the device wants the L2 header in the WQE: not with vectors */
	MDV_TX_SWP = 1 << 6, /**< headers are pointed out: see MDV_TX_SWP_OPTS */
	MDV_TX_NB_OPTS = 1 << 7,
};

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

/** What a queue was set up for, and its device takes; 0 where nothing was asked for. */
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

/** What packets of one connection, and of many connections, have in common that the device is to
 * cut up: tx_tso.c. */
struct mdv_tx_shape {
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

struct mdv_txq {
	/* line 0: read by every burst, written by none */
	uint8_t *wqes;
	struct rte_mbuf **mbufs;   /**< mask + 1, and MDV_TX_RELEASE_AHEAD NULLs */
	struct mdv_tx_done *dones; /**< as many as CQEs */
	volatile __be32 *dbrec;    /**< word 1 of the QP's record */
	const struct mdv_hw_cqe *cqes;
	volatile __be32 *cq_dbrec;
	uint32_t sqn;
	uint32_t uar_slot; /**< of the doorbell register: see mdv_uar_regs */
	uint16_t mask;     /**< of WQEBBs, and of mbufs */
	uint8_t log2_cqes;
	bool uar_combines; /**< the register's page is write-combining: flush after ringing */
	bool broken;       /**< nothing will complete: the queue has to be made anew */

	/* line 1: written by every burst */
	uint16_t pc __rte_cache_aligned;
	uint16_t ci;
	uint16_t head;
	uint16_t tail;
	uint16_t cq_pi; /**< completions asked for */
	uint8_t request_min;
	bool chains; /**< mbufs may be parts of chains; never less until the queue is reset */
	uint32_t cq_ci;
	struct mdv_tx_counters count;
	struct mdv_mr_cache mr; /**< its last hit is in this line, the rest is for misses */

	struct mdv_tx_limits limits; /**< read for what is to be segmented, and by tx_prepare */
	struct mdv_tx_shape shape;   /**< of what was segmented last */

	/* control path */
	struct mdv_tx_counters base; /**< count at the last reset of the statistics */
	LIST_ENTRY(mdv_txq) next;    /**< of port->queues */
	uint32_t told;               /**< events that were logged, by 1 << ibv_event_type */
	uint64_t told_syndromes;     /**< see mdv_cq_tell_stop() */
	struct mdv_revive_wait revive_wait;
	struct mdv_port *port;
	struct mdv_txq *next_parked; /**< released, its QP is for the next of this number */
	struct ibv_qp *qp;           /**< NULL: the port is not started */
	bool ready;                  /**< started: the QP sends */
	bool lost;                   /**< what is in flight, to an error, and counted so */
	struct mdv_cq cq;
	struct rte_eth_txconf conf;
	uint16_t port_id;
	uint16_t idx;
	uint64_t uar_offset; /**< to map the page of the doorbell register at; see mdv_uar_map() */
	uint16_t uar_at;     /**< of the register in its page */
	uint16_t nb_desc;    /**< WQEBBs, a power of two */
	uint32_t rate_kbps;  /**< the device sends no faster; 0: no limit */
	uint32_t nb_stops;   /**< by an error CQE; of the last one: */
	uint16_t stop_wqe;
	uint8_t stop_syndrome;
	struct {
		eth_tx_burst_t burst; /**< that writes the ring */
		struct ibv_qp_ex *qp;
		struct ibv_mr *mr; /**< of the ring; NULL: no headers are inlined */
		uint16_t posted;   /**< first WQEBB that verbs does not have */
	} ibv;                     /**< mode=ibv only: see tx_ibv.h */
};
static_assert(offsetof(struct mdv_txq, broken) < RTE_CACHE_LINE_SIZE, "line 0");
static_assert(offsetof(struct mdv_txq, pc) == RTE_CACHE_LINE_SIZE, "line 1");
static_assert(offsetof(struct mdv_txq, mr) + offsetof(struct mdv_mr_cache, generation) <=
		2 * RTE_CACHE_LINE_SIZE,
	"line 1");

/** cs_flags by mdv_tx_csum_index(). */
extern const uint8_t mdv_tx_csums[32];

/** The packet cannot be sent: free and count it. */
void mdv_tx_drop(struct mdv_txq *txq, struct rte_mbuf *mbuf);
/** mdv_tx_put() for memory that is not the last hit's. */
bool mdv_tx_put_far(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg);
/** A CQE reports an error: start the queue anew. cq_ci has not moved past it. */
void mdv_tx_error(struct mdv_txq *txq);
/** ethdev tx_done_cleanup. */
int mdv_tx_done_cleanup(void *txq, uint32_t free_cnt);
/** Print the queue's state. */
void mdv_tx_dump(const struct mdv_txq *txq, FILE *file);
/** Print @p num of the WQEs that the device has, from number @p offset on, the oldest first.
 * @return 0, -EINVAL: stopped */
int mdv_tx_dump_wqes(const struct mdv_txq *txq, uint16_t offset, uint16_t num, FILE *file);
/** Free the mbufs [tail, to), whatever they are. */
void mdv_tx_release(struct mdv_txq *txq, uint16_t to);
/** Nothing is in flight, nothing asked for. */
void mdv_tx_reset(struct mdv_txq *txq);
/** No WQEBB is free: bursts send nothing. Until mdv_tx_reset(). */
void mdv_tx_look_full(struct mdv_txq *txq);

/** Instances by enum mdv_tx_opt, with vectors of 128 and 256 bits; NULL with MDV_TX_INLINE_L2. */
extern const eth_tx_burst_t mdv_tx_vec128[MDV_TX_NB_OPTS];
extern const eth_tx_burst_t mdv_tx_vec256[MDV_TX_NB_OPTS];

/** @return most segments of a packet that is sent as it is. */
uint16_t mdv_tx_prepare_segs(const struct mdv_caps *caps);
/** Offloads of ethdev by which the device cuts packets up. */
uint64_t mdv_tx_prepare_tso_offloads(const struct mdv_caps *caps);
/** @return the limits of a queue with these offloads. */
struct mdv_tx_limits mdv_tx_prepare_limits(const struct mdv_caps *caps, uint64_t offloads);
/** ethdev tx_pkt_prepare. */
uint16_t mdv_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/**
 * @return the instance for the set of enum mdv_tx_opt that makes the best of vectors of at most
 * @p simd_bits bits, on this CPU; 0 where the device does not take many packets a WQE.
 */
eth_tx_burst_t mdv_tx_select(unsigned int opts, unsigned int simd_bits);
/** @return what kept mdv_tx_select() from wider vectors; NULL: it has the widest there are. */
const char *mdv_tx_select_handicap(unsigned int opts, unsigned int simd_bits);
/** @return whether @p burst is one of ours, and what ethdev tx_burst_mode_get says of it. */
bool mdv_tx_select_describe(eth_tx_burst_t burst, struct rte_eth_burst_mode *mode);

/** How far a burst has come. */
struct mdv_tx_pos {
	uint16_t pc, head;
	uint16_t nb;   /**< packets taken so far, those dropped included */
	uint8_t *last; /**< WQE, NULL: none yet */
	uint64_t bytes;
	uint64_t more; /**< frames beyond one an mbuf; may be below 0 */
};

/** Bits of ol_flags that decide about checksums, packed. */
static __rte_always_inline uint32_t
mdv_tx_csum_index(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_L4_MASK == 3ULL << 52, "bits 1:0 of the index");
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == 1ULL << 54, "bit 2 of the index");
	static_assert(RTE_MBUF_F_TX_OUTER_IP_CKSUM == 1ULL << 58, "bit 3 of the index");

	return (ol_flags >> 52 & 7) | (ol_flags >> 55 & 8) |
		((ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) != 0 ? 16 : 0);
}

/** Type of the tunnel that a packet says it is in, below 16; 0: none. */
static __rte_always_inline uint32_t
mdv_tx_tunnel(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_TUNNEL_MASK == 0xfULL << 45, "a type of 4 bits");

	return (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) >> 45;
}

/** The data segment of the mbuf's bytes but for the first @p skip. @return false: their memory is
 * unknown */
static __rte_always_inline bool
mdv_tx_put(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg)
{
	const uintptr_t addr = rte_pktmbuf_mtod_offset(mbuf, uintptr_t, skip);

	if (unlikely(addr - txq->mr.last.start >= txq->mr.last.size))
		return mdv_tx_put_far(txq, mbuf, skip, seg);
	mdv_tx_wqe_data(seg, addr, mbuf->data_len - skip, txq->mr.last.lkey_be);
	return true;
}

/** Ring: the device may fetch WQEs before pc; @p last is the control segment of the last one. */
static __rte_always_inline void
mdv_tx_doorbell(struct mdv_txq *txq, const void *last)
{
	/* Orders the stores of the WQEs before the record, for the device that reads both. */
	rte_io_wmb();
	*txq->dbrec = rte_cpu_to_be_32(txq->pc);
	/* Orders the record before the register: a write-combining store could overtake it. */
	if (unlikely(txq->uar_combines))
		rte_wmb();
	else
		rte_io_wmb();
	*mdv_uar_regs[txq->uar_slot] = *(const volatile uint64_t *)last;
	if (unlikely(txq->uar_combines))
		rte_wmb();
}

#endif /* MDV_TX_H */
