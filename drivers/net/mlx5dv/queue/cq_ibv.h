/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=ibv: completions come by verbs, and are copied into a ring of our own in the device's
 * format. There all that reads a CQ finds them as if the device had written them.
 *
 *     verbs ── mdv_cq_look() ──> cqes[pi & mask] ── bursts, counts and states, as ever ──> ci
 */
#ifndef MDV_CQ_IBV_H
#define MDV_CQ_IBV_H

#include <stdint.h>

#include "cq.h"

struct ibv_comp_channel;
struct mdv_device;

/**
 * Make a CQ of @p nb_cqes entries, a power of two.
 * @param wc_flags enum ibv_create_cq_wc_flags that receive completions are to have, byte_len among
 * them; 0: for send completions
 * @param channel gets its events; NULL: there are none
 * @return 0 or a negative errno, logged.
 */
int mdv_cq_ibv_create(const struct mdv_device *device, uint32_t nb_cqes, uint64_t wc_flags,
	struct ibv_comp_channel *channel, struct mdv_cq *cq);
/** See to it that the ring has @p want completions from @p ci on, if verbs has so many. */
void mdv_cq_ibv_take(struct mdv_cq *cq, uint32_t ci, uint32_t want);

/** In mode=dv the device has written the CQEs; in mode=ibv they are fetched here. */
static inline void
mdv_cq_look(struct mdv_cq *cq, uint32_t ci, uint32_t want)
{
	if (cq->ex != NULL)
		mdv_cq_ibv_take(cq, ci, want);
}

#endif /* MDV_CQ_IBV_H */
