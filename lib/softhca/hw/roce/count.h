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
struct shca_frame;
struct shca_roce_qp;

extern const char *const shca_roce_count_names[SHCA_NB_ROCE_COUNTS];

/** Traffic of a port as the performance management agent tells it. */
#define SHCA_NB_ROCE_TRAFFIC 8
extern const char *const shca_roce_traffic_names[SHCA_NB_ROCE_TRAFFIC];

/** A message has found no receive WQE. */
void shca_roce_count_out_of_buffer(struct shca_roce_qp *qp);
/** One more, of the queue pair and of its device. */
void shca_roce_count(struct shca_roce_qp *qp, enum shca_roce_count which);
/** Take what the engines have counted since the last time. */
void shca_roce_count_engines(struct shca_roce_qp *qp);
/** @return the counts of the device since it was made, for SHCA_NB_ROCE_COUNTS. */
const uint64_t *shca_roce_counts(struct shca_device *dev);
/** Count a frame that leaves. */
void shca_roce_count_sent(struct shca_device *dev, const struct shca_frame *frame);
/** Count a frame that is for the port's GIDs or groups. */
void shca_roce_count_received(struct shca_device *dev, const struct shca_frame *frame);
/** Get the traffic of the device since it was made. */
void shca_roce_traffic(const struct shca_device *dev, uint64_t count[SHCA_NB_ROCE_TRAFFIC]);

#endif /* SHCA_HW_ROCE_COUNT_H */
