/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames on their way to the wire (hw/state/out.h): offers them, completes their WQEs, drops them.
 */
#ifndef SHCA_HW_QUEUE_OUT_H
#define SHCA_HW_QUEUE_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/out.h"

/** @return 0 or -ENOMEM. */
int shca_out_init(struct shca_out *out);
void shca_out_fini(struct shca_out *out);

/** Offer all frames to the wire. @return whether all have left. */
bool shca_out_flush(struct shca_device *dev);
/**
 * Complete a WQE of @p sq when all frames queued so far have left.
 * @return false when there was no room: flush, and try again.
 */
bool shca_out_complete(
	struct shca_device *dev, struct shca_sq *sq, uint16_t counter, uint8_t opcode);
/** Drop the frames of @p sq: none of them is sent or completed any more. */
void shca_out_forget(struct shca_out *out, const struct shca_sq *sq);
/**
 * The wire faulted on a frame: fail the queues whose frames are no longer mapped. If all are
 * mapped, drop all queued frames.
 */
void shca_out_fault(struct shca_device *dev);

#endif /* SHCA_HW_QUEUE_OUT_H */
