/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A fast path for the usual enhanced multi-packet sends: pointers to frames that leave unchanged.
 * It walks the segments in the WQE itself and does not decode it. Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_MPW_H
#define SHCA_HW_QUEUE_MPW_H

#include <stdint.h>

struct shca_sq;

/** What became of a WQE. */
enum shca_mpw {
	SHCA_MPW_QUEUED, /**< all frames are queued */
	SHCA_MPW_BUSY,   /**< there is no room: try again */
	SHCA_MPW_OTHER,  /**< the caller handles the frames that are not queued, if any, or the WQE
			  */
};

/**
 * Queue the frames of the WQE at ci, if it is of this form and no rule, rate limit or checksum
 * applies to them: all of them, or those in front of one that cannot be sent; nb_queued has their
 * number.
 *
 * @param flat the WQE, whole
 */
enum shca_mpw shca_mpw_queue(struct shca_sq *sq, const uint8_t *flat);

#endif /* SHCA_HW_QUEUE_MPW_H */
