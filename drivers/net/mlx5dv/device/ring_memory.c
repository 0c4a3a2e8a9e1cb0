/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives libmlx5 an allocator; without one it takes rings from the heap of the process. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <rte_malloc.h>

#include "ring_memory.h"

static void *
ring_alloc(size_t size, __rte_unused void *data)
{
	/* A ring begins at a page boundary: the device gets page addresses. */
	void *ring = rte_zmalloc_socket("mlx5dv_ring", size, sysconf(_SC_PAGESIZE), SOCKET_ID_ANY);

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
mdv_ring_memory_share(struct ibv_context *ctx)
{
	static const struct mlx5dv_ctx_allocators allocators = {
		.alloc = ring_alloc,
		.free = ring_free,
	};

	return -mlx5dv_set_context_attr(
		ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, (void *)(uintptr_t)&allocators);
}
