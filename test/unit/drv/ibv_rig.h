/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Verbs as mode=ibv sees it: an extended CQ, a WQ and a QP that record their work requests.
 */
#ifndef DRV_IBV_RIG_H
#define DRV_IBV_RIG_H

#include "rig.h"

#define IBV_RIG_DEPTH 128

/** A completion. */
struct ibv_rig_wc {
	uint64_t wr_id;
	enum ibv_wc_status status;
	uint32_t byte_len, tag;
	uint16_t tci;
	uint64_t timestamp;
};

/** A work request. */
struct ibv_rig_wr {
	uint64_t wr_id;
	unsigned int flags; /**< enum ibv_send_flags */
	uint8_t header[256];
	uint16_t header_len, mss; /**< of TSO, otherwise 0 */
	unsigned int nb_sges;
	struct ibv_sge sges[32];
};

struct ibv_rig {
	struct ibv_cq_ex cq;
	struct ibv_cq_init_attr_ex asked; /**< attributes of the CQ's creation */
	int cq_errno;                     /**< of its creation; -1: none is told, 0: it succeeds */
	struct ibv_rig_wc wcs[IBV_RIG_DEPTH];
	unsigned int nb_wcs, wcs_taken;
	bool polling;
	struct ibv_rig_wr wrs[IBV_RIG_DEPTH]; /**< posted, until ibv_rig_forget() */
	unsigned int nb_wrs;
	unsigned int room; /**< number of work requests that fit; verbs refuses further ones */
	struct ibv_qp_ex qp;
	unsigned int nb_started; /**< of nb_wrs, since ibv_wr_start() */
};
extern struct ibv_rig ibv_rig;

/** Fake the verbs functions that the port's queues use. */
void ibv_rig_init(struct rig_port *port);
/** Add a completion to the CQ. */
void ibv_rig_complete(const struct ibv_rig_wc *wc);
/** Drop the recorded work requests. */
void ibv_rig_forget(void);

#endif /* DRV_IBV_RIG_H */
