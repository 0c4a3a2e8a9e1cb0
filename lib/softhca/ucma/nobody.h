/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Who answers datagrams of connection management before anybody has opened rdma_cm. */
#ifndef SHCA_UCMA_NOBODY_H
#define SHCA_UCMA_NOBODY_H

struct shca_device;

/** Have the device say that nobody listens there, as Linux' ib_cm does for every port, until a
 * manager (ucma/rdma.h) takes the datagrams. The device lock is held. */
void shca_nobody_listen(struct shca_device *dev);

#endif /* SHCA_UCMA_NOBODY_H */
