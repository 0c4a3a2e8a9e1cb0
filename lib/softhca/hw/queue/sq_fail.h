/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send queue: failures found outside of its engine. Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_SQ_FAIL_H
#define SHCA_HW_QUEUE_SQ_FAIL_H

#include <stdint.h>

struct shca_sq;

/** A guarded access to a send buffer of WQE @p wqe_counter faulted: this WQE and all later ones
 * fail. */
void shca_sq_fail_wqe(struct shca_sq *sq, uint16_t wqe_counter);
/** The ring or its record is gone, or its counter is impossible: no CQE can report anything. */
void shca_sq_fail_fatally(struct shca_sq *sq);

#endif /* SHCA_HW_QUEUE_SQ_FAIL_H */
