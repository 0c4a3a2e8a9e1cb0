/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The port's link. Internal to hw/.
 *
 * It is up when the wire has a carrier and nobody took the link down. While it is down nothing
 * arrives, and what is sent leaves the queues, completes, and is lost: the MAC drops what it cannot
 * put on the cable, or a queue would hang with its link.
 */
#ifndef SHCA_HW_LINK_H
#define SHCA_HW_LINK_H

struct shca_device;

/** Once a round: look at the wire now and then, and tell of changes. */
void shca_link_run(struct shca_device *dev);

#endif /* SHCA_HW_LINK_H */
