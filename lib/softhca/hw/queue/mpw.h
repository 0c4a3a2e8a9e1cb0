/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Enhanced multi-packet sends as drivers write them by the million: pointers to frames, nothing to
 * change in any. Their segments are walked where they lie, without a decoded WQE in between.
 * Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_MPW_H
#define SHCA_HW_QUEUE_MPW_H

#include <stdbool.h>
#include <stdint.h>

struct shca_sq;

/**
 * Queue the frames of the WQE at ci, if it is such a one and no rule, rate or checksum concerns
 * them: all of them, or none when there is no room, or those before one that cannot be sent. What
 * is left, and what is wrong with any other WQE, is the caller's to find out; nb_queued says how
 * far this came.
 *
 * @param flat the WQE, whole
 * @return whether all frames are queued
 */
bool shca_mpw_queue(struct shca_sq *sq, const uint8_t *flat);

#endif /* SHCA_HW_QUEUE_MPW_H */
