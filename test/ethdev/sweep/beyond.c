/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the driver's ports beyond ethdev: memory in the device, and the time of timestamps.
 */
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pmd_mlx5dv.h>

#include "sweep.h"

#define SIZE 64

static struct rte_pmd_mlx5dv_dm *dm;

static int
max(void)
{
	size_t size;

	return rte_pmd_mlx5dv_dm_max(sweep_port, &size);
}

static int
alloc(void)
{
	dm = rte_pmd_mlx5dv_dm_alloc(sweep_port, SIZE, 0);
	return dm != NULL ? 0 : sweep_reason();
}

static int
release(void)
{
	int ret = dm == NULL ? -ENOTSUP : rte_pmd_mlx5dv_dm_free(dm);

	dm = ret == 0 ? NULL : dm;
	return ret;
}

static int
copy(void)
{
	uint8_t bytes[SIZE] = { 0 };
	int ret = dm == NULL ? -ENOTSUP : rte_pmd_mlx5dv_dm_write(dm, 0, bytes, SIZE);

	return ret != 0 ? ret : rte_pmd_mlx5dv_dm_read(dm, 0, bytes, SIZE);
}

static int
attach(void)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(sweep_pool);
	int ret = dm == NULL ? -ENOTSUP : rte_pmd_mlx5dv_dm_attach(dm, 0, SIZE, mbuf);

	rte_pktmbuf_free(mbuf);
	return ret;
}

static int
convert(void)
{
	uint64_t ns;

	return rte_pmd_mlx5dv_timestamp_to_ns(sweep_port, 0, &ns);
}

/* clang-format off */
const struct sweep_operation sweep_beyond[] = {
	{ "dm_max", max, NULL, 0 },
	{ "dm_alloc", alloc, release, 0 },
	{ "dm_write dm_read", copy, NULL, 0 },
	{ "dm_attach", attach, NULL, 0 },
	{ "dm_free", release, alloc, 0 },
	{ "timestamp_to_ns", convert, NULL, 0 },
	{ NULL },
};
/* clang-format on */
