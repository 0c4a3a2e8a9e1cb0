/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Memory for rings and doorbell records: DPDK's, which all processes share. */
#ifndef MDV_RING_MEMORY_H
#define MDV_RING_MEMORY_H

struct ibv_context;

/**
 * From now on put the rings of objects made on the context into shared memory, for secondary
 * processes.
 * @return 0, or a negative errno: the rings stay private to this process
 */
int mdv_ring_memory_share(struct ibv_context *ctx);

#endif /* MDV_RING_MEMORY_H */
