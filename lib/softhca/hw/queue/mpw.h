/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A fast path for the usual enhanced multi-packet sends: pointers to frames that leave unchanged.
 * It walks the segments in the WQE itself and does not decode it. Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_MPW_H
#define SHCA_HW_QUEUE_MPW_H

#include <stdbool.h>
#include <stdint.h>

struct shca_sq;

/**
 * Queue the frames of the WQE at ci, if it is of this form and no rule, rate limit or checksum
 * applies to them: all of them, or none when there is no room, or those in front of one that cannot
 * be sent. The caller handles the remaining frames and all other WQEs; nb_queued has the number of
 * frames queued.
 *
 * @param flat the WQE, whole
 * @return whether all frames are queued
 */
bool shca_mpw_queue(struct shca_sq *sq, const uint8_t *flat);

#endif /* SHCA_HW_QUEUE_MPW_H */
