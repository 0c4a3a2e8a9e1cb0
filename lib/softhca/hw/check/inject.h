/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Applies the faults of a run (fault/faults.h) to the device's queues. Internal to hw/.
 *
 * A queue learns at creation whether any fault applies to it. A queue without faults behaves as in
 * a run without faults, and only tests a flag in each burst.
 */
#ifndef SHCA_HW_CHECK_INJECT_H
#define SHCA_HW_CHECK_INJECT_H

#include <stdbool.h>

#include "fault/faults.h"
#include "hw/state/device.h"

struct shca_cq;
struct shca_rq;
struct shca_sq;

/** @return whether any fault of the kinds @p first to @p last applies to this device. */
static inline bool
shca_inject_concerns(
	const struct shca_device *dev, enum shca_fault_kind first, enum shca_fault_kind last)
{
	return shca_faults_concern(dev->conf.faults, first, last, dev->conf.index);
}

/** Call before the WQE at ci is executed. @return whether the queue is in error now; its earlier
 * frames still leave. */
bool shca_inject_sq(struct shca_sq *sq);
/** @return the fault that strikes the posted WQE at ci, or NULL; changes no state. */
const struct shca_fault *shca_inject_rq_due(const struct shca_rq *rq);
/** Log @p fault, which strikes the device. */
void shca_inject_say(const struct shca_device *dev, const struct shca_fault *fault);
/** Note that the fault has been applied. */
void shca_inject_applied(struct shca_device *dev, const struct shca_fault *fault);
/** @return whether the CQ counts as full for this completion, regardless of its room. */
bool shca_inject_cq(const struct shca_cq *cq);

#endif /* SHCA_HW_CHECK_INJECT_H */
