/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Where rings and doorbell records lie: in DPDK's memory, which all its processes share. */
#ifndef MDV_RING_MEMORY_H
#define MDV_RING_MEMORY_H

struct ibv_context;

/**
 * Rings of objects that are made on the context from now on are for secondary processes, too.
 * @return 0 or a negative errno: they are this process's own
 */
int mdv_ring_memory_share(struct ibv_context *ctx);

#endif /* MDV_RING_MEMORY_H */
