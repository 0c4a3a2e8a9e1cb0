/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The checks of a strict device (strict/findings.h): what programs do to queues that hardware would
 * punish. Internal to hw/.
 *
 * A check looks and reports; it changes nothing of what the engines do, and they do the same with
 * and without. WQEs are looked at when their producer counter is seen, before they are executed, so
 * that one call a batch is all there is in a send queue's engine. The device lock is held, and
 * faults on the application's memory end the step as everywhere.
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

/** Once a round: records that the engines see nothing in. */
void shca_strict_round(struct shca_device *dev);
/** What a queue should not be made with. */
void shca_strict_sq_created(struct shca_sq *sq);
void shca_strict_rq_created(struct shca_rq *rq);
/** A READY queue's WQEs up to @p pi, each once. */
void shca_strict_sq(struct shca_sq *sq, uint16_t pi);
/** The producer counter is beyond the ring. */
void shca_strict_sq_overrun(struct shca_sq *sq);
void shca_strict_rq_overrun(struct shca_rq *rq);
/** The WQE at ci did not take a frame of @p length. */
void shca_strict_rq(struct shca_rq *rq, uint8_t syndrome, uint32_t length);
/** The consumer index in the doorbell record, when it has changed. */
void shca_strict_cq(struct shca_cq *cq);
/** There is no room for @p cqe. */
void shca_strict_cq_overrun(struct shca_cq *cq, const struct shca_cqe *cqe);

/**
 * Judge a consumer index.
 *
 * @param word as it lies in the record, read as big-endian
 * @param[in,out] ci the last that could be; moved when the word can be understood
 * @param pi completions written so far, of which some from @p ci on are unread
 * @return SHCA_NB_FINDINGS when there is nothing to find
 */
enum shca_finding shca_strict_check_ci(uint32_t word, uint32_t *ci, uint32_t pi, uint32_t nb_cqes);

#endif /* SHCA_HW_CHECK_STRICT_H */
