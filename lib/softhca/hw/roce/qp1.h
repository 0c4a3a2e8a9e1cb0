/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pair 1: datagrams of management, over the wire or back into the device. */
#ifndef SHCA_HW_ROCE_QP1_H
#define SHCA_HW_ROCE_QP1_H

#include "hw/state/qp1.h"

struct shca_bth;
struct shca_device;
struct shca_roce_path;

void shca_qp1_init(struct shca_qp1 *qp1);
/** Forget what waits. */
void shca_qp1_fini(struct shca_qp1 *qp1);
/** Have datagrams received by a function; NULL: by nobody. The lock is held. */
void shca_qp1_listen(struct shca_device *dev, shca_qp1_fn receive, void *arg);
/** Have a copy of a datagram sent in the next step. The lock is held. @return 0, -EADDRNOTAVAIL:
 * the port has no such GID, -ENOBUFS: too many wait, -ENOMEM. */
int shca_qp1_send(struct shca_device *dev, const struct shca_qp1_datagram *datagram);

/** @{ For the device. */
void shca_qp1_run(struct shca_device *dev);
/** @param nb queue pairs of @p nb_pairs that have run on a wire with room, which is full now */
void shca_qp1_count_turns(struct shca_qp1 *qp1, uint32_t nb, uint32_t nb_pairs);
/** A datagram has come for queue pair 1. */
void shca_qp1_receive(
	struct shca_device *dev, const struct shca_roce_path *path, const struct shca_bth *bth);
/** @} */

#endif /* SHCA_HW_ROCE_QP1_H */
