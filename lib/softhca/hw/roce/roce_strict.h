/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a strict device says of queue pairs with a transport (strict/findings.h): what IBTA forbids
 * and the engines take on trust. Checks read and report. Internal to hw/roce/.
 */
#ifndef SHCA_HW_ROCE_ROCE_STRICT_H
#define SHCA_HW_ROCE_ROCE_STRICT_H

#include "hw/roce/state.h"

/** Check the send WQE that was fetched at @p index, once. @param syndrome of what is no WQE */
void shca_roce_strict_wqe(
	struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted, uint8_t syndrome);
/** Check a step to @p state, before it is taken: the attributes, and what was posted too early. */
void shca_roce_strict_modify(
	struct shca_roce_qp *qp, enum shca_roce_state state, const struct shca_roce_qp_conf *conf);
/** Check a request that has come. */
void shca_roce_strict_request(struct shca_roce_qp *qp, const struct shca_bth *bth);
/** Once a round: find what is posted where nothing may be. */
void shca_roce_strict_round(struct shca_device *dev);
/** A counter of the doorbell record, @p which of MLX5_*_DBR, is beyond a ring of @p nb. */
void shca_roce_strict_overrun(
	struct shca_roce_qp *qp, unsigned int which, uint16_t ci, uint32_t nb);
void shca_roce_strict_srq_overrun(const struct shca_srq *srq);
/** The receive WQE that is taken did not take a message of @p length bytes and more. */
void shca_roce_strict_receive(struct shca_roce_qp *qp, enum shca_outcome outcome, uint32_t length);

#endif /* SHCA_HW_ROCE_ROCE_STRICT_H */
