/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory for rings and doorbell records: DPDK's, which all processes share, on the device's NUMA
 * node.
 */
#ifndef MDV_RING_MEMORY_H
#define MDV_RING_MEMORY_H

#include <stddef.h>

struct ibv_context;

/**
 * Read the device's NUMA node.
 * @param sysfs_path the device's directory below class/infiniband
 * @return the node, or SOCKET_ID_ANY where the machine has no nodes or does not say
 */
int mdv_ring_memory_node(const char *sysfs_path);
/**
 * Allocate zeroed memory on a NUMA node, or elsewhere if the EAL has too little there.
 * @param type as of rte_zmalloc()
 * @param align in bytes, a power of two
 * @param node as mdv_ring_memory_node() returns it
 * @return memory for rte_free(), or NULL
 */
void *mdv_ring_memory_alloc(const char *type, size_t size, unsigned int align, int node);
/**
 * From now on put the rings of objects made on the context into shared memory on that node, for
 * secondary processes.
 * @return 0, or a negative errno: the rings stay private to this process
 */
int mdv_ring_memory_share(struct ibv_context *ctx, int node);

#endif /* MDV_RING_MEMORY_H */
