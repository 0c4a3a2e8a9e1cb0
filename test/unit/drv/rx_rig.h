/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A receive queue on hand-made rings, and a device of thirty lines that writes packets and
 * CQEs. */
#ifndef DRV_RX_RIG_H
#define DRV_RX_RIG_H

#include "burst/rx/rx.h"
#include "rig.h"

#define RX_RIG_WQES 64
#define RX_RIG_ROOM (RTE_PKTMBUF_HEADROOM + 256)

#define RX_RIG_STRIDES      8 /* a WQE */
#define RX_RIG_STRIDE_BYTES 512
#define RX_RIG_STRIDE_MAX   256

/** A frame from the wire, and the device's findings about it. */
struct rx_frame {
	uint32_t len;
	uint8_t fill;
	uint8_t pkt_info, hds, hdr_type, hash_type;
	uint16_t tci;
	uint32_t hash, tag;
	uint64_t timestamp;
};

/** Completions for the next block of compressed CQEs; byte orders as in the ring. */
struct rx_block {
	uint32_t max; /**< packets a block; 0: never compress */
	bool random;  /**< end blocks now and then, up to max */
	uint32_t seed;
	uint32_t nb;
	struct mdv_hw_cqe first;
	struct mdv_hw_mini_cqe mini_cqes[RX_RIG_WQES];
};

struct rx_rig {
	struct rig_port port;
	struct mdv_rxq rxq;
	struct mdv_hw_cqe *cqes;
	struct mlx5_wqe_data_seg *wqes;
	__be32 cq_dbrec[2], wq_dbrec[2];
	struct rte_mempool *pool;
	unsigned int pool_size;
	__be32 lkeys[MDV_RX_SEGS_MAX]; /**< of a WQE's segments */
	/* the device */
	uint32_t cq_pi;
	uint16_t wq_ci;
	uint32_t stride; /**< of a striding queue: the next free one of WQE wq_ci */
	struct rx_block block;
	unsigned int nb_blocks; /**< written so far */
};
extern struct rx_rig rx_rig;

/** A queue with empty rings and a pool of @p pool_size mbufs; the test calls mdv_rx_fill(). */
void rx_rig_start(uint8_t log2_segs, unsigned int pool_size);
/** The same for a striding queue of RX_RIG_WQES strides; frames of up to RX_RIG_STRIDE_MAX bytes
 * fit one. */
void rx_rig_start_strides(unsigned int pool_size);
/** The same for a queue that splits packets as @p asked, @p nb segments; the test has the pools. */
void rx_rig_start_split(uint8_t log2_segs, union rte_eth_rxseg *asked, uint16_t nb);
/** @return byte @p at of a frame's contents. */
uint8_t rx_rig_content(const struct rx_frame *frame, uint32_t at);
/** Free the queue's mbufs and check that the pools are complete. */
void rx_rig_stop(void);
/** The device places a frame. @return whether there was a WQE for it. */
bool rx_rig_receive(const struct rx_frame *frame);
/** The device writes the block that it holds back, if there is one. */
void rx_rig_flush(void);
/** The device completes a WQE with an error, and goes on; of a striding queue the rest of the WQE.
 */
void rx_rig_error(uint8_t syndrome);
/** The device stops the WQ: an error CQE, and flushed WQEs behind it. */
void rx_rig_fail(uint8_t syndrome, unsigned int nb_flushed);
/** Check that the mbuf has the frame, in buffers as the driver fills them. */
void rx_rig_check(const struct rte_mbuf *mbuf, const struct rx_frame *frame);

#endif /* DRV_RX_RIG_H */
