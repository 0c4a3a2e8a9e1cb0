/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the public header: find the port, and refuse calls in a secondary process. */
#include <errno.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "base/compat.h"
#include "mem/dm.h"
#include "state/port.h"
#include "state/port_list.h"

/* Export the functions of this header; all other symbols of the driver are hidden. */
#pragma GCC visibility push(default)
#include "rte_pmd_mlx5dv.h"
#pragma GCC visibility pop

/** @return 0; -E_RTE_SECONDARY in a secondary process, which has no verbs objects. */
static int
check_process(void)
{
	return rte_eal_process_type() == RTE_PROC_PRIMARY ? 0 : -E_RTE_SECONDARY;
}

/** Hold the port until mdv_port_list_release(). @return 0 or a negative error. */
static int
hold(uint16_t port_id, struct mdv_port **port)
{
	int ret = check_process();

	if (ret != 0)
		return ret;
	*port = mdv_port_list_hold(port_id);
	return *port == NULL ? -ENODEV : 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_max, 25.11)
int
rte_pmd_mlx5dv_dm_max(uint16_t port_id, size_t *size)
{
	struct mdv_port *port;
	int ret = hold(port_id, &port);

	if (ret != 0)
		return ret;
	*size = port->device.caps.max_dm_bytes;
	mdv_port_list_release();
	return 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_alloc, 25.11)
struct rte_pmd_mlx5dv_dm *
rte_pmd_mlx5dv_dm_alloc(uint16_t port_id, size_t size, size_t align)
{
	struct rte_pmd_mlx5dv_dm *dm = NULL;
	struct mdv_port *port;
	int ret = hold(port_id, &port);

	if (ret == 0) {
		ret = mdv_dm_alloc(port, size, align, &dm);
		mdv_port_list_release();
	}
	if (ret != 0)
		rte_errno = -ret;
	return dm;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_free, 25.11)
int
rte_pmd_mlx5dv_dm_free(struct rte_pmd_mlx5dv_dm *dm)
{
	int ret = check_process();

	return dm == NULL || ret != 0 ? ret : mdv_dm_free(dm);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_write, 25.11)
int
rte_pmd_mlx5dv_dm_write(struct rte_pmd_mlx5dv_dm *dm, size_t offset, const void *from, size_t len)
{
	int ret = check_process();

	return ret != 0 ? ret : mdv_dm_write(dm, offset, from, len);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_read, 25.11)
int
rte_pmd_mlx5dv_dm_read(const struct rte_pmd_mlx5dv_dm *dm, size_t offset, void *to, size_t len)
{
	int ret = check_process();

	return ret != 0 ? ret : mdv_dm_read(dm, offset, to, len);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_dm_attach, 25.11)
int
rte_pmd_mlx5dv_dm_attach(
	struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len, struct rte_mbuf *mbuf)
{
	return mdv_dm_attach(dm, offset, len, mbuf);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mlx5dv_timestamp_to_ns, 25.11)
int
rte_pmd_mlx5dv_timestamp_to_ns(uint16_t port_id, uint64_t timestamp, uint64_t *ns)
{
	struct mdv_port *port;
	int ret = hold(port_id, &port);

	if (ret != 0)
		return ret;
	ret = mdv_device_ticks_to_ns(&port->device, timestamp, ns);
	mdv_port_list_release();
	return ret;
}
