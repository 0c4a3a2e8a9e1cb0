/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Which attributes a step of a queue pair's state must and may have. */
#ifndef SHCA_ABI_QP_QP_TRANSITION_H
#define SHCA_ABI_QP_QP_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/** As masks of IBV_QP_*; STATE itself is in neither. */
struct shca_qp_transition {
	bool is_allowed;
	uint32_t required, optional;
};

/** @param type IBV_QPT_* of one with a transport @param from, to any number */
struct shca_qp_transition shca_qp_transition_find(uint8_t type, uint32_t from, uint32_t to);
/** @return the mask without what means nothing to one direction of XRC, which Linux passes over
 * (uverbs_cmd.c modify_qp_mask()). */
uint32_t shca_qp_transition_mask(uint8_t type, uint32_t mask);

#endif /* SHCA_ABI_QP_QP_TRANSITION_H */
