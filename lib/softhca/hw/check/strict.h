/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The checks of a strict device (strict/findings.h): errors of programs in their use of queues,
 * which hardware would punish. Internal to hw/.
 *
 * A check reads and reports; the engines behave the same with and without checks. The device checks
 * WQEs when it reads their producer counter, before it executes them, so a send queue's engine has
 * one call for each batch. The device lock is held, and faults on the application's memory end the
 * step as everywhere.
 */
#ifndef SHCA_HW_CHECK_STRICT_H
#define SHCA_HW_CHECK_STRICT_H

#include <stdint.h>

#include "strict/findings.h"

struct shca_cq;
struct shca_cqe;
struct shca_device;
struct shca_rq;
struct shca_sq;

/** Once a round: check the records of queues that have nothing new for the engines. */
void shca_strict_round(struct shca_device *dev);
/** Check the attributes of a new queue. */
void shca_strict_sq_created(struct shca_sq *sq);
void shca_strict_rq_created(struct shca_rq *rq);
/** Check a READY queue's WQEs up to @p pi, each once. */
void shca_strict_sq(struct shca_sq *sq, uint16_t pi);
/** Report a producer counter beyond the ring. */
void shca_strict_sq_overrun(struct shca_sq *sq);
void shca_strict_rq_overrun(struct shca_rq *rq);
/** Report that the WQE at ci did not take a frame of @p length. */
void shca_strict_rq(struct shca_rq *rq, uint8_t syndrome, uint32_t length);
/** Check the consumer index in the doorbell record, if it has changed. */
void shca_strict_cq(struct shca_cq *cq);
/** Report that there is no room for @p cqe. */
void shca_strict_cq_overrun(struct shca_cq *cq, const struct shca_cqe *cqe);

/**
 * Check a consumer index.
 *
 * @param word as it lies in the record, read as big-endian
 * @param[in,out] ci the last plausible index; moved to the new one if that is plausible
 * @param pi completions written so far, of which some from @p ci on are unread
 * @return SHCA_NB_FINDINGS when the index is correct
 */
enum shca_finding shca_strict_check_ci(uint32_t word, uint32_t *ci, uint32_t pi, uint32_t nb_cqes);

#endif /* SHCA_HW_CHECK_STRICT_H */
