/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Receive queue: take a WQE, scatter, complete. */
#ifndef SHCA_HW_QUEUE_RQ_H
#define SHCA_HW_QUEUE_RQ_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/format/cqe.h"
#include "hw/state/attr.h"

struct shca_device;
struct shca_packet;

/** @{ For the owner. */
/** Starts in RESET. @return as shca_cq_create. */
int shca_rq_create(struct shca_device *dev, const struct shca_rq_attr *attr, struct shca_rq **rq);
void shca_rq_destroy(struct shca_rq *rq);
uint32_t shca_rq_number(const struct shca_rq *rq);
enum shca_queue_state shca_rq_state(const struct shca_rq *rq);
/** RESET drops all posted WQEs; ERROR flushes them as completions with syndrome 5. */
void shca_rq_modify(struct shca_rq *rq, enum shca_queue_state state);
void shca_rq_set_cvlan_strip(struct shca_rq *rq, bool on);
/** @return the packets that found no WQE so far. The lock is held. */
uint64_t shca_rq_out_of_buffer(const struct shca_rq *rq);
/** @} */

/** A frame to deliver, with the values that all its copies share. */
struct shca_rx {
	const struct shca_packet *packet;
	struct shca_cqe described; /**< by shca_cqe_describe(), as @ref sees_tunnels has it */
	uint32_t fcs;
	bool sees_tunnels; /**< of the TIR that takes this copy */
	bool is_described, has_fcs;
};

/**
 * Deliver a copy. @p cqe_rx has hash, hash type and flow tag; the rest is filled here. Without a
 * WQE, or outside of READY, the queue loses the frame.
 */
void shca_rq_receive(struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx);
/**
 * @return how many more frames the queue can take, each of one WQE or of the greatest length;
 * UINT32_MAX for a queue that takes no frames: outside of READY, or never posted to
 */
uint32_t shca_rq_room(struct shca_rq *rq);
/** In ERROR: complete the posted WQEs with the syndrome. */
void shca_rq_flush(struct shca_rq *rq);
/** A guarded access faulted, on the ring or, if @p on_buffer, on a receive buffer. */
void shca_rq_fault(struct shca_rq *rq, bool on_buffer);

#endif /* SHCA_HW_QUEUE_RQ_H */
