/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counts of queue pairs with a transport: from the engines, and for sysfs.
 */
#ifndef SHCA_HW_ROCE_COUNT_H
#define SHCA_HW_ROCE_COUNT_H

#include <stdint.h>

#include "hw/state/roce_count.h"

struct shca_device;
struct shca_roce_qp;

extern const char *const shca_roce_count_names[SHCA_NB_ROCE_COUNTS];

/** A message has found no receive WQE. */
void shca_roce_count_out_of_buffer(struct shca_roce_qp *qp);
/** Take what the engines have counted since the last time. */
void shca_roce_count_engines(struct shca_roce_qp *qp);
/** @return the counts of the device since it was made, for SHCA_NB_ROCE_COUNTS. */
const uint64_t *shca_roce_counts(struct shca_device *dev);

#endif /* SHCA_HW_ROCE_COUNT_H */
