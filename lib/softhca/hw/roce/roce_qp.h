/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs with a transport, for their owner and for the device. */
#ifndef SHCA_HW_ROCE_ROCE_QP_H
#define SHCA_HW_ROCE_ROCE_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/roce/gid.h"
#include "hw/roce/srq.h"
#include "hw/state/attr.h"
#include "hw/state/roce_count.h"

struct shca_device;
struct shca_frame;
struct shca_roce_qp;

/** Reads and atomics that a queue pair may have under way (Linux mlx5_core max_rd_atomic: log
 * 4). */
#define SHCA_MAX_RD_ATOMIC 16

enum shca_roce_type {
	SHCA_ROCE_RC,
	SHCA_ROCE_UC,
	SHCA_ROCE_UD,
	SHCA_ROCE_XRC_INI, /**< sends only, to any SRQ of the target's domain */
	SHCA_ROCE_XRC_TGT, /**< receives only, and has neither rings nor CQs nor a PD */
};

/** What an owner makes it with; rings are application memory. */
struct shca_roce_qp_attr {
	enum shca_roce_type type;
	uint8_t *sq_ring, *rq_ring; /**< NULL: none */
	__be32 *dbrec;
	uint32_t nb_wqebbs;             /**< power of two, or 0 */
	uint32_t nb_wqes, stride_bytes; /**< powers of two, or 0 */
	bool has_signature, signal_all;
	bool blocks_own; /**< no datagrams to groups from itself */
	uint32_t pdn, user_index;
	uint32_t max_send_wr; /**< as the owner asked for; 0: unknown */
	uint32_t xrcdn;       /**< of a target */
	struct shca_cq *send_cq, *recv_cq;
	struct shca_srq *srq;               /**< NULL: it receives by its own ring */
	const struct shca_context *context; /**< whose it is; borrowed */
	shca_event_fn event;
	void *owner;
};

/** What transitions of its state set. */
struct shca_roce_qp_conf {
	struct shca_roce_path path;
	uint32_t dest_qpn, qkey;
	uint32_t mtu;
	uint32_t sq_psn, rq_psn;
	uint32_t access; /**< IB_UVERBS_ACCESS_REMOTE_* */
	uint32_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t timeout, retries, rnr_retries, min_rnr_timer;
};

enum shca_roce_state {
	SHCA_ROCE_RESET,
	SHCA_ROCE_INIT,
	SHCA_ROCE_RTR,
	SHCA_ROCE_RTS,
	SHCA_ROCE_SQE, /**< UC, UD: a send has failed; it receives (IBTA 10.3.1.7) */
	SHCA_ROCE_ERROR,
};

/** Starts in RESET. @return 0, -EFAULT, -EOPNOTSUPP, -ENOMEM, -ENOSPC. */
int shca_roce_qp_create(
	struct shca_device *dev, const struct shca_roce_qp_attr *attr, struct shca_roce_qp **qp);
void shca_roce_qp_destroy(struct shca_roce_qp *qp);
uint32_t shca_roce_qp_number(const struct shca_roce_qp *qp);
/** @return whom events go to. */
void *shca_roce_qp_owner(const struct shca_roce_qp *qp);
/** @return the owner of the target of this number and domain, or NULL. */
void *shca_roce_qp_find_target(struct shca_device *dev, uint32_t number, uint32_t xrcdn);
/** Give it to another owner. */
void shca_roce_qp_give(struct shca_roce_qp *qp, const struct shca_context *context, void *owner);
/** @return the state, which errors change, too. */
enum shca_roce_state shca_roce_qp_state(const struct shca_roce_qp *qp);
/** Take what @p conf says, and get to @p state. */
void shca_roce_qp_modify(
	struct shca_roce_qp *qp, enum shca_roce_state state, const struct shca_roce_qp_conf *conf);
/** @return PSNs that are next to send and to receive. */
void shca_roce_qp_psns(const struct shca_roce_qp *qp, uint32_t *sq_psn, uint32_t *rq_psn);

/** Get what the queue pair has counted. */
void shca_roce_qp_counts(struct shca_roce_qp *qp, struct shca_qp_counts *counts);

/** @{ For the device. */
/** Send what is due, of all queue pairs. */
void shca_roce_run(struct shca_device *dev);
/** Take a received frame. @return false: it is not for the port's own GIDs. */
bool shca_roce_take(struct shca_device *dev, const struct shca_frame *frame);
/** @return whether it would be taken. */
bool shca_roce_wants(const struct shca_device *dev, const struct shca_frame *frame);
/** A guarded access of the queue pair's memory faulted. */
void shca_roce_qp_fault(struct shca_roce_qp *qp);
/** @} */

#endif /* SHCA_HW_ROCE_ROCE_QP_H */
