/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates rings, and gives libmlx5 an allocator; without one it takes them from the process's
 * heap. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <rte_malloc.h>

#include "ring_memory.h"

int
mdv_ring_memory_node(const char *sysfs_path)
{
	char path[PATH_MAX];
	int node = SOCKET_ID_ANY;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/numa_node", sysfs_path);
	file = fopen(path, "re");
	if (file == NULL)
		return SOCKET_ID_ANY;
	/* Linux writes -1 for none. */
	if (fscanf(file, "%d", &node) != 1 || node < 0 || node >= RTE_MAX_NUMA_NODES)
		node = SOCKET_ID_ANY;
	fclose(file);
	return node;
}

void *
mdv_ring_memory_alloc(const char *type, size_t size, unsigned int align, int node)
{
	void *memory = rte_zmalloc_socket(type, size, align, node);

	return memory == NULL && node != SOCKET_ID_ANY
		? rte_zmalloc_socket(type, size, align, SOCKET_ID_ANY)
		: memory;
}

/** @param data the node itself */
static void *
ring_alloc(size_t size, void *data)
{
	/* A ring begins at a page boundary: the device gets page addresses. */
	void *ring = mdv_ring_memory_alloc(
		"mlx5dv_ring", size, sysconf(_SC_PAGESIZE), (int)(intptr_t)data);

	/* libmlx5 reports the errno that it finds, and DPDK's allocator does not set one. */
	if (ring == NULL)
		errno = ENOMEM;
	return ring;
}

static void
ring_free(void *ring, __rte_unused void *data)
{
	rte_free(ring);
}

int
mdv_ring_memory_share(struct ibv_context *ctx, int node)
{
	/* libmlx5 copies them. */
	struct mlx5dv_ctx_allocators allocators = {
		.alloc = ring_alloc,
		.free = ring_free,
		.data = (void *)(intptr_t)node,
	};

	return -mlx5dv_set_context_attr(ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &allocators);
}
