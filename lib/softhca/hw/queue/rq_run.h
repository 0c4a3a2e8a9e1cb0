/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: delivers a run of frames. Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_RQ_RUN_H
#define SHCA_HW_QUEUE_RQ_RUN_H

#include "hw/state/flow_cache.h"
#include "hw/state/rq.h"

/**
 * Deliver @p nb_frames that all match @p line to its queue, like shca_rq_receive() for each, but
 * with their common work done once.
 */
void shca_rq_run_receive(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	unsigned int nb_frames);

#endif /* SHCA_HW_QUEUE_RQ_RUN_H */
