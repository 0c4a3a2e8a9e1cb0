/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=ibv: verbs reports completions, and this file copies them into a ring of our own in the
 * device's format. All code that reads a CQ finds them as if the device had written them.
 *
 *     verbs ── mdv_cq_look() ──> cqes[pi & mask] ── bursts, counts, states as in mode=dv ──> ci
 */
#ifndef MDV_CQ_IBV_H
#define MDV_CQ_IBV_H

#include <stdint.h>

#include "cq.h"

struct ibv_comp_channel;
struct mdv_device;

/**
 * Make a CQ of @p nb_cqes entries, a power of two.
 * @param wc_flags enum ibv_create_cq_wc_flags of receive completions, byte_len among them; 0: for
 * send completions
 * @param channel gets its events; NULL: no events
 * @return 0 or a negative errno, logged.
 */
int mdv_cq_ibv_create(const struct mdv_device *device, uint32_t nb_cqes, uint64_t wc_flags,
	struct ibv_comp_channel *channel, struct mdv_cq *cq);
/** Fetch completions until the ring has @p want of them from @p ci on, or verbs has no more. */
void mdv_cq_ibv_take(struct mdv_cq *cq, uint32_t ci, uint32_t want);

/** In mode=dv the device has written the CQEs; in mode=ibv they are fetched here. */
static inline void
mdv_cq_look(struct mdv_cq *cq, uint32_t ci, uint32_t want)
{
	if (cq->ex != NULL)
		mdv_cq_ibv_take(cq, ci, want);
}

#endif /* MDV_CQ_IBV_H */
