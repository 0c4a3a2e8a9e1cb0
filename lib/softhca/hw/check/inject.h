/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Where the faults of a run (fault/faults.h) strike the device's queues. Internal to hw/.
 *
 * A queue learns when it is made whether any fault concerns it; one that is spared does what it
 * does in a run without faults, and looks at nothing more than a flag a burst.
 */
#ifndef SHCA_HW_CHECK_INJECT_H
#define SHCA_HW_CHECK_INJECT_H

#include <stdbool.h>

#include "fault/faults.h"
#include "hw/state/device.h"

struct shca_cq;
struct shca_rq;
struct shca_sq;

/** @return whether any fault of kinds @p first to @p last is for this device. */
static inline bool
shca_inject_concerns(
	const struct shca_device *dev, enum shca_fault_kind first, enum shca_fault_kind last)
{
	return shca_faults_concern(dev->conf.faults, first, last, dev->conf.index);
}

/** The WQE at ci is next, and nothing has been done with it. @return true when the queue is in
 * error now; of what it sent before nothing is lost. */
bool shca_inject_sq(struct shca_sq *sq);
/** @return the fault that strikes the WQE at ci, which is posted; or NULL. A question only. */
const struct shca_fault *shca_inject_rq_due(const struct shca_rq *rq);
/** Log @p fault, which strikes the device. */
void shca_inject_say(const struct shca_device *dev, const struct shca_fault *fault);
/** It has been applied. */
void shca_inject_applied(struct shca_device *dev, const struct shca_fault *fault);
/** @return whether the CQ is full for the completion at hand, whatever room it has. */
bool shca_inject_cq(const struct shca_cq *cq);

#endif /* SHCA_HW_CHECK_INJECT_H */
