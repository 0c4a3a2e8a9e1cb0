/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Striding receive queues: the memory that their packets arrive in.
 *
 * A WQE is one buffer of 2^n strides, which the device fills one after the other: each packet
 * begins a stride. The driver makes a stride longer than any frame, so a packet takes exactly one,
 * and counts strides where other queues count WQEs: CQEs, mbufs and positions (rxq.h) are the same.
 * Only the doorbell record and WQEs know of buffers:
 *
 *     wqe_ci ─> stride of the next packet     WQE (wqe_ci >> log2_strides), mbuf (wqe_ci & mask)
 *     wqe_pi ─> first stride without mbuf     posted are WQEs whose strides all have one
 *
 * A short packet is copied into its mbuf. A longer one stays where it is: its mbuf is attached to
 * the stride, behind the headroom that the stride before leaves free.
 *
 *     buffer   header | headroom | stride 0 ........ | stride 1 ........ | ...
 *                                  packet    [headroom] packet   [headroom]
 *
 * All packets of a buffer share one reference count. It starts at one more than they can be, and
 * when the last stride is taken, the driver subtracts what they are not. If that leaves any, a
 * spare buffer takes the place in the ring, and the last packet that the application frees returns
 * the old one to the queue's pool. Without a spare the packets of a buffer are all copied.
 *
 * The application may free packets long after the queue is gone, so the pool goes with the last of
 * both.
 *
 * Owner: the polling thread, or the control path while nobody polls; any thread frees packets.
 */
#ifndef MDV_RX_STRIDES_H
#define MDV_RX_STRIDES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "rxq.h"

/** Longest packet that is copied, unless there is no spare buffer: as the in-tree driver's
 * mprq_max_memcpy_len. */
#define MDV_RX_STRIDES_COPY_MAX 128u
/** Copies are made in units of so many bytes. */
#define MDV_RX_STRIDES_UNIT 64u

struct mdv_port;

/** The buffers of a queue. */
struct mdv_rx_stride_pool {
	struct rte_mempool *bufs;
	uint32_t refs; /**< the queue, and each buffer that only the application has */
};

/** The memory of one WQE; followed by its strides. */
struct mdv_rx_stride_buf {
	struct rte_mbuf_ext_shared_info shinfo;
	struct mdv_rx_stride_pool *pool;
	rte_iova_t iova;  /**< of the first stride */
	uint32_t lkey_be; /**< MDV_MR_LKEY_NONE: not registered */
	uint8_t headroom[RTE_PKTMBUF_HEADROOM] __rte_cache_aligned;
	uint8_t strides[] __rte_cache_aligned;
};

/**
 * Decide for all queues of the port, which is about to start, whether they are striding: sets
 * port->strides.
 * @return 0, or -ENOTSUP, logged: mprq=on, and a queue or the port cannot
 */
int mdv_rx_strides_choose(struct mdv_port *port);
/**
 * Set the strides' number and length for frames of @p mtu; 0 of both if the port has no striding
 * queues.
 * @return 0 or -ENOTSUP; @p why says what is in the way
 */
int mdv_rx_strides_shape(
	struct mdv_rxq *rxq, uint16_t mtu, bool wanted, char *why, size_t why_size);
/** @return the longest packet of a queue by its strides and mbufs; 0: it is not striding */
uint16_t mdv_rx_strides_len_max(const struct mdv_rxq *rxq);
/** Make the buffers, and register them. @return 0 or a negative errno, logged. */
int mdv_rx_strides_open(struct mdv_rxq *rxq);
/** Give all buffers, which the device no longer has, back to the pool; wqe_ci is where it was. The
 * one that packets are taken from may stay out. */
void mdv_rx_strides_return(struct mdv_rxq *rxq);
/** Undo mdv_rx_strides_open(), with the buffers returned; those that packets are in stay until
 * these are freed. */
void mdv_rx_strides_close(struct mdv_rxq *rxq);
/** Give each WQE a buffer; all strides are free again. @return 0, or -ENOMEM if the application has
 * too many. */
int mdv_rx_strides_fill(struct mdv_rxq *rxq);
/** All strides of the WQE that has the stride @p ci are taken: get it ready to be posted again. */
void mdv_rx_strides_leave(struct mdv_rxq *rxq, uint32_t ci);
/** Pass over @p nb strides from wqe_ci on, which have no packet to deliver. */
void mdv_rx_strides_skip(struct mdv_rxq *rxq, uint32_t nb);

/** Tell the device how far CQEs are read, and which WQEs are posted. */
static __rte_always_inline void
mdv_rx_strides_doorbell(struct mdv_rxq *rxq)
{
	/* Orders as in mdv_rx_doorbell(). */
	rte_io_wmb();
	mdv_cq_update_ci(rxq->ring.cq_dbrec, rxq->pos.cq_ci);
	rte_io_wmb();
	*rxq->ring.wq_dbrec =
		rte_cpu_to_be_32(rxq->pos.wqe_pi >> rxq->strides.log2_strides & UINT16_MAX);
}

/** @return the first byte of the stride @p ci. */
static __rte_always_inline uint8_t *
mdv_rx_strides_at(const struct mdv_rxq *rxq, uint32_t ci)
{
	const uint32_t slot = ci & rxq->ring.mask;
	const uint32_t nth = slot & ((1u << rxq->strides.log2_strides) - 1);
	struct mdv_rx_stride_buf *buf = rxq->strides.bufs[slot >> rxq->strides.log2_strides];

	return buf->strides + ((size_t)nth << rxq->strides.log2_bytes);
}

#endif /* MDV_RX_STRIDES_H */
