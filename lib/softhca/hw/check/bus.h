/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counts what the device's send and receive queues would move over PCI (pci/pci.h). Internal to
 * hw/.
 *
 * A device counts when its owner says so; queues are watched then, which takes them the way that
 * queues with faults go. A queue that is not watched executes not one instruction more.
 *
 * What a ConnectX does, and where nothing is published, what this model assumes of it:
 *
 *     doorbell   A register of 8 bytes is written (PRM, "Posting a Work Request to Work Queue");
 *                counted where the device finds a new producer counter, so doorbells in quick
 *                succession may count as one. The device then reads the record (assumed).
 *     WQEs       are read in blocks of 64 bytes, none twice: when one is needed, the posted ones
 *                behind it come with it, SHCA_BUS_WQE_BLOCKS at most (assumed, as descriptors of
 *                pcie-bench's NIC come in batches). A receive queue's record is read when all WQEs
 *                that the device knows of are taken.
 *     CQEs       are written as they are; of a compressed block the title, and each array whole.
 *                The CQ's record is read when by the last index known the ring may be full.
 *     events     One EQE of 64 bytes, and 4 bytes of MSI-X. An arm writes a register of 8 bytes.
 *
 * Queue pairs with a transport are not counted.
 */
#ifndef SHCA_HW_CHECK_BUS_H
#define SHCA_HW_CHECK_BUS_H

#include <stdbool.h>
#include <stdint.h>

struct shca_cq;
struct shca_cqe;
struct shca_device;
struct shca_rq;
struct shca_sq;
struct shca_wqe;

/** Blocks of WQEs that one read takes. */
#define SHCA_BUS_WQE_BLOCKS 4

/** Begin to count, from zero, or end. @return 0 or -ENOMEM. */
int shca_bus_count(struct shca_device *dev, bool on);

/** @{ A queue begins to be watched, or its counters begin anew: the device knows nothing. */
void shca_bus_sq_begin(struct shca_sq *sq);
void shca_bus_rq_begin(struct shca_rq *rq);
void shca_bus_cq_begin(struct shca_cq *cq);
/** @} */

/** WQEs up to @p pi are posted. */
void shca_bus_sq_posted(struct shca_sq *sq, uint16_t pi);
/** Decode the WQE at ci, which is about to be executed. @return whether it is well-formed. */
bool shca_bus_sq_look(struct shca_sq *sq, struct shca_wqe *wqe);
/** The WQE is done: the device has read what it points to. */
void shca_bus_sq_done(struct shca_sq *sq, const struct shca_wqe *wqe);
/** The WQE at ci, or the rest of a striding queue's, takes @p length bytes; WQEs up to @p pi are
 * posted. */
void shca_bus_rq_receive(struct shca_rq *rq, uint32_t length, uint16_t pi);
/** The CQE is about to be written, by itself. */
void shca_bus_cqe(struct shca_cq *cq, const struct shca_cqe *cqe);
/** The completions in the CQ's block are about to be written. */
void shca_bus_block(struct shca_cq *cq);
/** Once a round: look for arms and events. */
void shca_bus_cq_poll(struct shca_cq *cq);

#endif /* SHCA_HW_CHECK_BUS_H */
