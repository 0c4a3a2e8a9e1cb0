/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A send queue on hand-made rings, and a device that gathers the frames back and completes
 * WQEs. */
#ifndef DRV_TX_RIG_H
#define DRV_TX_RIG_H

#include "burst/tx/tx.h"
#include "rig.h"

#define TX_RIG_BBS        64
#define TX_RIG_CQES       16
#define TX_RIG_MBUFS      511
#define TX_RIG_SQN        0x123456u
#define TX_RIG_FRAME_MAX  9996
#define TX_RIG_OTHER_LKEY (RIG_LKEY + 1)

struct tx_rig {
	struct rig_port port;
	struct mdv_txq txq;
	uint8_t *wqes;
	struct mdv_hw_cqe *cqes;
	__be32 dbrec[2], cq_dbrec[2];
	uint64_t uar_reg;
	struct rte_mempool *pool;
	struct mdv_mr_range region; /**< that RIG_LKEY is for */
	/* the device */
	uint16_t pc;
	uint32_t ds; /**< position in a WQE of many packets; 0: at its beginning */
	uint32_t cq_pi;
	uint16_t pending[TX_RIG_BBS]; /**< WQEs whose requested CQE is not written yet */
	unsigned int nb_pending;
	uint64_t nb_together; /**< packets sent in WQEs of many packets */
};
extern struct tx_rig tx_rig;

/** A frame, or a packet to be segmented, as the device gathered it. */
struct tx_sent {
	uint8_t bytes[TX_RIG_FRAME_MAX + 16];
	uint32_t len;
	uint8_t cs_flags;
	bool inserted;
	uint16_t tci;
	uint32_t inlined; /**< bytes that were in the WQE */
	uint16_t mss;     /**< 0: no segmentation */
	uint8_t swp[4];   /**< of the software parser, with types */
	uint8_t swp_types;
};

/** A queue with empty rings. One lkey covers all memory. */
void tx_rig_start(void);
/** Empty the rings; from now on a completion is requested for so many WQEBBs or packets. */
void tx_rig_request_min(uint8_t nb);
/** RIG_LKEY is for this region alone from now on, which was hit last; TX_RIG_OTHER_LKEY is for all
 * memory, and is found by a look into the cache. */
void tx_rig_region(uintptr_t start, size_t size);
/** Free the queue's mbufs and check that the pool is complete. */
void tx_rig_stop(void);
/** Execute the next packet as hardware would. @return whether there was one. */
bool tx_rig_send(struct tx_sent *sent);
/** Write a CQE. */
struct mdv_hw_cqe *tx_rig_cqe(uint8_t opcode, uint16_t wqe_counter);
/** Write all requested CQEs. */
void tx_rig_complete(void);
/** A packet of @p nb_segs segments with random sizes and contents; single ones have @p len bytes.
 */
struct rte_mbuf *tx_rig_packet(unsigned int nb_segs, uint32_t len);
/** Build the frame that this packet must be on the wire, tags included. @return its length */
uint32_t tx_rig_expected(const struct rte_mbuf *mbuf, bool tagged, uint8_t *bytes);
/** Build the frame on the wire, with the tag that the device inserts. */
void tx_rig_check(const struct tx_sent *sent, const uint8_t *want, uint32_t len);

#endif /* DRV_TX_RIG_H */
