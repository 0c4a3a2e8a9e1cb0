/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Acknowledgements of queue pairs that are gone. A card sends one when the packet comes, before any
 * program sees the message; here they wait for the next round, and a program may have destroyed its
 * queue pair, reset it, or got it to ERROR, by then.
 */
#ifndef SHCA_HW_ROCE_LATE_H
#define SHCA_HW_ROCE_LATE_H

struct shca_device;
struct shca_roce_qp;

/** Keep what the queue pair owes, but for bytes of memory that the program may take back. */
void shca_late_keep(struct shca_roce_qp *qp);
/** Send what was kept, as far as the wire takes it. */
void shca_late_send(struct shca_device *dev);
void shca_late_fini(struct shca_device *dev);

#endif /* SHCA_HW_ROCE_LATE_H */
