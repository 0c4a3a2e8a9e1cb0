/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A queue pair with a transport, as the files of this room see it. */
#ifndef SHCA_HW_ROCE_STATE_H
#define SHCA_HW_ROCE_STATE_H

#include <endian.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "hw/format/hw.h"
#include "hw/roce/roce_qp.h"
#include "hw/roce/roce_wqe.h"
#include "hw/state/device.h"
#include "transport/engine/requester.h"
#include "transport/engine/responder.h"

/** The only partition: the default one, with full membership (Linux mlx5_ib on Ethernet). */
#define SHCA_ROCE_PKEY 0xffff

/** A receive WQE that a message has taken. */
struct shca_roce_rx_wqe {
	bool is_taken;
	const struct shca_srq *srq; /**< whose it is; NULL: of the own ring */
	uint16_t index;             /**< as its completion names it */
	uint32_t pdn;
	const uint8_t *segments;
	uint32_t nb_segments;
	struct shca_cq *cq; /**< where it completes */
	uint32_t user_index;
};

struct shca_srq {
	struct shca_device *dev;
	struct shca_srq_attr attr;
	uint32_t number;
	uint16_t head; /**< index of the WQE that is taken next */
	uint16_t nb_taken;
	uint32_t limit;
	bool is_dead;
};
/** Take the oldest WQE. @return false: there is none. */
bool shca_srq_take(struct shca_srq *srq, struct shca_roce_rx_wqe *wqe);

struct shca_roce_qp {
	LIST_ENTRY(shca_roce_qp) link;
	struct shca_device *dev;
	struct shca_roce_qp_attr attr;
	struct shca_roce_qp_conf conf;
	uint32_t number;
	enum shca_roce_state state;
	bool is_dead;         /**< its memory is gone: nothing is read or written there any more */
	bool cannot_complete; /**< a CQ of its has failed, and FATAL has been reported */
	bool is_established;  /**< COMM_EST has been reported, or is not due */

	uint16_t sq_ci;   /**< the oldest WQEBB that is not done */
	uint16_t sq_next; /**< the first one that the requester does not have */
	uint16_t rq_ci;   /**< the first receive WQE that is not taken */
	struct shca_roce_rx_wqe rx_wqe;
	bool is_last_told; /**< LAST_WQE_REACHED has been reported */
	bool is_halted;    /**< the send WQE at sq_ci was under way when the program chose ERROR */
	uint8_t first_syndrome; /**< of the send WQE at sq_ci, in ERROR; 0: it is flushed */
	uint32_t ud_psn;
	struct shca_qp_counts counts;

	uint16_t looked_at;     /**< strict: earlier WQEBBs to send have been checked */
	uint32_t nb_unsignaled; /**< strict: sends since the last one that asks for a completion */
	uint8_t has_begun; /**< strict: bits by MLX5_*_DBR: its first counter has been checked */
	uint8_t told;      /**< strict: bits by MLX5_*_DBR: of what is posted too early */

	/** The WQE that was decoded last; the next packet is mostly of the same. */
	bool has_wqe;
	struct shca_roce_wqe wqe;
	uint8_t flat[SHCA_WQE_MAX_BYTES + SHCA_WQEBB_BYTES];

	struct shca_requester requester;
	struct shca_responder responder;
};

/** Fetch and decode the WQE at @p index, of which @p nb_posted WQEBBs are there. @return 0 or a
 * syndrome. */
uint8_t shca_roce_fetch(struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted);
/** @return the send doorbell record's counter. */
static inline uint16_t
shca_roce_sq_pi(const struct shca_roce_qp *qp)
{
	return (uint16_t)be32toh(__atomic_load_n(&qp->attr.dbrec[MLX5_SND_DBR], __ATOMIC_ACQUIRE));
}

/** @return WQEBBs that are posted from @p index on; a queue pair without a send ring has none. */
static inline uint16_t
shca_roce_nb_posted(const struct shca_roce_qp *qp, uint16_t index)
{
	return qp->attr.nb_wqebbs != 0 ? (uint16_t)(shca_roce_sq_pi(qp) - index) : 0;
}

/** Bind or invalidate a memory window. */
enum shca_outcome shca_roce_bind(struct shca_roce_qp *qp, const struct shca_roce_umr *umr);
/** Copy a part of the decoded WQE's message. */
enum shca_outcome shca_roce_gather(
	struct shca_roce_qp *qp, uint32_t offset, uint32_t length, uint8_t *to);
/** Take a receive WQE for a message, or keep the one taken before. @return false: there is none. */
bool shca_roce_take_rq(struct shca_roce_qp *qp);
static inline bool
shca_roce_is_xrc(const struct shca_roce_qp *qp)
{
	return qp->attr.type == SHCA_ROCE_XRC_INI || qp->attr.type == SHCA_ROCE_XRC_TGT;
}

/** @return the shared receive queue that the request at hand is for; NULL: none. */
struct shca_srq *shca_roce_srq(const struct shca_roce_qp *qp);
/** Copy to the buffers of the receive WQE that is taken. */
enum shca_outcome shca_roce_scatter_rq(
	struct shca_roce_qp *qp, uint32_t offset, uint32_t length, const uint8_t *from);

/** Facts of a receive completion, which ends the WQE that is taken. */
struct shca_roce_rx {
	uint8_t cqe_opcode; /**< MLX5_CQE_RESP_* */
	bool solicited, has_grh;
	uint8_t l3_type; /**< of a datagram: SHCA_CQE_ROCE_* */
	uint32_t byte_count, imm, src_qpn;
};
void shca_roce_complete_rq(struct shca_roce_qp *qp, const struct shca_roce_rx *rx);
void shca_roce_fail_rq(struct shca_roce_qp *qp, uint8_t syndrome);
/** A send WQE is done. */
void shca_roce_complete_sq(struct shca_roce_qp *qp, const struct shca_wr *wr);
/** A send WQE has failed, and the queue pair with it. */
void shca_roce_fail_sq(struct shca_roce_qp *qp, const struct shca_wr *wr, uint8_t syndrome);
/** In ERROR: end all WQEs that are posted; in SQE those to send. @return how many */
unsigned int shca_roce_flush(struct shca_roce_qp *qp);
/** To ERROR. */
static inline void
shca_roce_break(struct shca_roce_qp *qp)
{
	qp->state = SHCA_ROCE_ERROR;
	qp->requester.has_failed = true;
	qp->responder.has_failed = true;
	qp->has_wqe = false;
}

uint8_t shca_roce_syndrome(enum shca_outcome outcome);

extern const struct shca_requester_host shca_roce_requester_host;
extern const struct shca_responder_host shca_roce_responder_host;

/** Datagrams to a group have this number (IBTA 9.6.1.2.3). */
#define SHCA_ROCE_GROUP_QPN 0xffffff
/** Give a frame to a group to all that are in it. @return false: nobody of this device is. */
bool shca_group_take(struct shca_device *dev, const struct shca_frame *frame);
/** @return whether somebody is. */
bool shca_group_wants(const struct shca_device *dev, const struct shca_frame *frame);

/** @{ Frames. */
/** @return room for the payload of the next frame; NULL: the wire takes no more now. */
uint8_t *shca_roce_room(struct shca_device *dev);
/** Fill in whom a packet of a connection is for. */
void shca_roce_address(const struct shca_roce_qp *qp, struct shca_bth *bth);
/** Send the payload at shca_roce_room() below headers. */
void shca_roce_send(
	struct shca_device *dev, const struct shca_roce_path *path, const struct shca_bth *bth);
/** @} */

/** Send datagrams. @return how many WQEs are done */
unsigned int shca_roce_run_ud(struct shca_roce_qp *qp, unsigned int budget);
void shca_roce_receive_ud(struct shca_roce_qp *qp, const struct shca_roce_path *path,
	const struct shca_bth *bth, const uint8_t *frame);

/** The time of the step, for the engines. */
static inline uint64_t
shca_roce_now_ns(const struct shca_device *dev)
{
	return SHCA_CLOCK_TICKS_TO_NS(dev->ticks);
}

#endif /* SHCA_HW_ROCE_STATE_H */
