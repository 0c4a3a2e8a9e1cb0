/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations of device memory, and the mbufs that refer to it. */
#include <errno.h>
#include <string.h>

#include <rte_atomic.h>
#include <rte_malloc.h>

#include "base/dm_mbuf.h"
#include "base/log.h"
#include "dm.h"
#include "mr.h"
#include "state/port.h"
#include "state/port_list.h"

/** The unit of the device's memory (Linux mlx5 MLX5_MEMIC_BASE_SIZE). */
#define UNIT_BYTES 64u
/** The greatest alignment: the mapping starts at a page boundary. */
#define ALIGN_MAX 4096u
/** The CPU reads and writes whole words. */
#define WORD_BYTES sizeof(uint32_t)

struct rte_pmd_mlx5dv_dm {
	LIST_ENTRY(rte_pmd_mlx5dv_dm) next; /**< of port->dms */
	/** One reference for each mbuf, and one, the last, for the application. */
	struct rte_mbuf_ext_shared_info shared;
	struct mdv_port *port; /**< NULL: the memory is gone */
	struct ibv_dm *dm;
	uint8_t *start; /**< address of the mapping */
	size_t size;
	uint16_t port_id;
};

static int
check_request(const struct mdv_port *port, size_t size, size_t align)
{
	const uint16_t port_id = port->dev->data->port_id;
	const size_t max = port->device.caps.max_dm_bytes;

	if (max == 0) {
		MDV_LOG(ERR, "port %u: %s has no memory of its own to give (ConnectX-5 and later)",
			port_id, port->device.name);
		return -ENOTSUP;
	}
	if (size == 0 || size > max) {
		MDV_LOG(ERR, "port %u: %zu bytes of device memory: it is 1 to %zu", port_id, size,
			max);
		return -EINVAL;
	}
	if ((align & (align - 1)) != 0 || align > ALIGN_MAX) {
		MDV_LOG(ERR, "port %u: device memory aligned to %zu: it is a power of two up to %u",
			port_id, align, ALIGN_MAX);
		return -EINVAL;
	}
	return 0;
}

/** @return 0 or an errno. */
static int
map(struct ibv_dm *dm, uint8_t **start)
{
	struct mlx5dv_dm mapped = { 0 };
	struct mlx5dv_obj obj = { .dm = { .in = dm, .out = &mapped } };
	int ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM);

	if (ret == 0)
		*start = mapped.buf;
	return ret;
}

static void
free_memory(const struct mdv_port *port, struct ibv_dm *dm)
{
	int ret = ibv_free_dm(dm);

	if (ret != 0)
		MDV_LOG(ERR, "port %u: cannot free device memory: %s", port->dev->data->port_id,
			strerror(ret));
}

/** Make the verbs objects. @return 0 or a negative errno, logged */
static int
acquire(struct mdv_port *port, size_t align, struct rte_pmd_mlx5dv_dm *dm)
{
	struct ibv_alloc_dm_attr attr = {
		.length = dm->size,
		.log_align_req = align == 0 ? 0 : rte_log2_u32(align),
	};
	int ret;

	errno = 0;
	dm->dm = ibv_alloc_dm(port->device.ctx, &attr);
	if (dm->dm == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "port %u: cannot allocate %zu bytes of device memory: %s", dm->port_id,
			dm->size, strerror(-ret));
		return ret;
	}
	ret = -map(dm->dm, &dm->start);
	if (ret != 0)
		MDV_LOG(ERR, "port %u: cannot find where device memory is mapped: %s", dm->port_id,
			strerror(-ret));
	else
		ret = mdv_mr_dm_add(port->mr, dm->dm, dm->start, dm->size);
	if (ret != 0)
		free_memory(port, dm->dm);
	return ret;
}

/** Destroy the verbs objects. */
static void
release(struct rte_pmd_mlx5dv_dm *dm)
{
	LIST_REMOVE(dm, next);
	mdv_mr_dm_del(dm->port->mr, dm->start);
	free_memory(dm->port, dm->dm);
	dm->port = NULL;
}

/** An external buffer needs a free callback. It is never called, as its address may differ in the
 * process that frees an mbuf: mbufs never hold the last reference. */
static void
mbuf_freed(__rte_unused void *start, __rte_unused void *shared)
{
}

int
mdv_dm_alloc(struct mdv_port *port, size_t size, size_t align, struct rte_pmd_mlx5dv_dm **dm)
{
	struct rte_pmd_mlx5dv_dm *made;
	int ret = check_request(port, size, align);

	if (ret != 0)
		return ret;
	made = rte_zmalloc("mdv_dm", sizeof(*made), 0);
	if (made == NULL)
		return -ENOMEM;
	made->port_id = port->dev->data->port_id;
	made->size = RTE_ALIGN_CEIL(size, UNIT_BYTES);
	ret = acquire(port, align, made);
	if (ret != 0) {
		rte_free(made);
		return ret;
	}
	made->port = port;
	made->shared = (struct rte_mbuf_ext_shared_info){
		.free_cb = mbuf_freed,
		.fcb_opaque = mdv_dm_mbuf_opaque(&made->shared),
		.refcnt = 1,
	};
	LIST_INSERT_HEAD(&port->dms, made, next);
	*dm = made;
	return 0;
}

int
mdv_dm_free(struct rte_pmd_mlx5dv_dm *dm)
{
	const bool held = mdv_port_list_hold(dm->port_id) != NULL;
	uint16_t only = 1;
	int ret = 0;

	if (__atomic_compare_exchange_n(
		    &dm->shared.refcnt, &only, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		/* NULL: mdv_dm_close() */
		if (dm->port != NULL)
			release(dm);
		rte_free(dm);
	} else {
		ret = -EBUSY;
	}
	if (held)
		mdv_port_list_release();
	return ret;
}

void
mdv_dm_close(struct mdv_port *port)
{
	struct rte_pmd_mlx5dv_dm *dm;

	while ((dm = LIST_FIRST(&port->dms)) != NULL)
		release(dm);
}

static int
check_range(const struct rte_pmd_mlx5dv_dm *dm, size_t offset, size_t len)
{
	if (dm->port == NULL)
		return -ENODEV;
	return offset > dm->size || len > dm->size - offset ? -EINVAL : 0;
}

int
mdv_dm_read(const struct rte_pmd_mlx5dv_dm *dm, size_t offset, void *to, size_t len)
{
	const size_t whole = RTE_ALIGN_FLOOR(len, WORD_BYTES);
	uint32_t word;
	int ret = check_range(dm, offset, len);

	if (ret == 0)
		ret = -ibv_memcpy_from_dm(to, dm->dm, offset, whole);
	if (ret != 0 || whole == len)
		return ret;
	ret = -ibv_memcpy_from_dm(&word, dm->dm, offset + whole, WORD_BYTES);
	memcpy((uint8_t *)to + whole, &word, len - whole);
	return ret;
}

int
mdv_dm_write(struct rte_pmd_mlx5dv_dm *dm, size_t offset, const void *from, size_t len)
{
	const size_t whole = RTE_ALIGN_FLOOR(len, WORD_BYTES);
	uint32_t word;
	int ret = check_range(dm, offset, len);

	if (ret == 0)
		ret = -ibv_memcpy_to_dm(dm->dm, offset, from, whole);
	if (ret == 0 && whole != len) {
		/* Keep the bytes behind the data in the last word. */
		ret = -ibv_memcpy_from_dm(&word, dm->dm, offset + whole, WORD_BYTES);
		memcpy(&word, (const uint8_t *)from + whole, len - whole);
		if (ret == 0)
			ret = -ibv_memcpy_to_dm(dm->dm, offset + whole, &word, WORD_BYTES);
	}
	/* The mapping is write-combining (Linux mlx5_ib mmap): these writes go before the next
	 * doorbell. */
	rte_wmb();
	return ret;
}

int
mdv_dm_attach(struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len, struct rte_mbuf *mbuf)
{
	uint16_t refcnt = __atomic_load_n(&dm->shared.refcnt, __ATOMIC_RELAXED);
	int ret = check_range(dm, offset, len);

	if (ret != 0)
		return ret;
	if (!RTE_MBUF_DIRECT(mbuf))
		return -EINVAL;
	/* rte_mbuf_ext_refcnt_update() is not usable: if the count is 1 it adds without an atomic
	 * operation, as if no other thread could take a reference. */
	do {
		if (refcnt == UINT16_MAX)
			return -EAGAIN;
	} while (!__atomic_compare_exchange_n(
		&dm->shared.refcnt, &refcnt, refcnt + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	rte_pktmbuf_attach_extbuf(mbuf, dm->start + offset, RTE_BAD_IOVA, len, &dm->shared);
	mbuf->data_len = len;
	mbuf->pkt_len = len;
	return 0;
}
