/* SPDX-License-Identifier: BSD-3-Clause */
/* Striding receive queues: which queues are, and the life of their buffers. */
#include <errno.h>
#include <stdio.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "mem/mr_span.h"
#include "rx_comp.h"
#include "rx_strides.h"
#include "state/port.h"

/** Strides of a WQE, unless the device wants more: as the in-tree driver's mprq_log_stride_num. */
#define LOG2_STRIDES_BEST 6u
/** Fewest bytes of a WQE. Firmware tells DevX alone how many it wants (log_min_stride_wqe_sz);
 * DPDK's mlx5 driver takes this where it cannot ask (mlx5_prm.h MLX5_MPRQ_LOG_MIN_STRIDE_WQE_SIZE).
 */
#define LOG2_WQE_BYTES_MIN 14u
/** More the reference count cannot tell. */
#define LOG2_STRIDES_MAX 12u
/** Fewest WQEs of a queue: the device fills one while others come back. */
#define LOG2_WQES_MIN 2u
/** mprq=auto: a smaller queue saves too few fetches of WQEs. */
#define DESC_MIN_AUTO 512u
/** mprq=auto: longer strides fill the CPU's cache with what packets leave of them. */
#define LOG2_BYTES_MAX_AUTO 11u
/** Buffers by WQEs of the ring: the others are with the application. */
#define BUFS_PER_WQE 4u

static bool
has_secondaries(const struct mdv_port *port)
{
	return port->primary.nb_attached != 0;
}

static bool
is_not_dv(const struct mdv_port *port)
{
	return port->device.caps.mode != MDV_MODE_DV;
}

static bool
lacks_them(const struct mdv_port *port)
{
	return port->device.caps.log2_striding.strides_max == 0;
}

/** Their mini CQEs have a stride in place of the hash. */
static bool
would_lose_compression(const struct mdv_port *port)
{
	const uint64_t offloads = port->dev->data->dev_conf.rxmode.offloads;

	return (offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0 &&
		!(offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) &&
		port->config.rx_cqe_comp != MDV_CQE_COMP_OFF &&
		(port->device.caps.cqe_comp_formats & MLX5DV_CQE_RES_FORMAT_HASH) != 0;
}

/* clang-format off */
/** What is in the way of striding queues; of queues see mdv_rx_strides_shape(). */
static const struct {
	bool (*applies)(const struct mdv_port *port);
	bool auto_only; /**< they would work, but not pay */
	const char *text;
} hindrances[] = {
	{ is_not_dv, false, "they need mode=dv" },
	{ lacks_them, false, "the device has none" },
	{ has_secondaries, false, "secondary processes could not free their packets" },
	{ would_lose_compression, true, "completions with the RSS hash would not be compressed" },
};
/* clang-format on */

/** @return the longest packet that can be copied: in whole units, into one mbuf. */
static uint32_t
copy_room(const struct mdv_rxq *rxq)
{
	return RTE_ALIGN_FLOOR(rxq->room - rxq->headroom, MDV_RX_STRIDES_UNIT);
}

uint16_t
mdv_rx_strides_len_max(const struct mdv_rxq *rxq)
{
	if (rxq->strides.log2_strides == 0)
		return 0;
	return RTE_MIN(copy_room(rxq), (1u << rxq->strides.log2_bytes) - rxq->headroom);
}

int
mdv_rx_strides_shape(struct mdv_rxq *rxq, uint16_t mtu, bool wanted, char *why, size_t why_size)
{
	const struct mdv_caps *caps = &rxq->port->device.caps;
	const uint32_t frame = mtu + MDV_FRAME_OVERHEAD, room = copy_room(rxq);
	const uint32_t log2_desc = rte_log2_u32(rxq->nb_desc);
	uint32_t log2_bytes = rte_log2_u32(frame + rxq->headroom), log2_strides;

	rxq->strides = (struct mdv_rxq_strides){ 0 };
	if (!wanted)
		return 0;
	log2_bytes = RTE_MAX(log2_bytes, caps->log2_striding.bytes_min);
	log2_strides = log2_desc > LOG2_WQES_MIN ? log2_desc - LOG2_WQES_MIN : 0;
	log2_strides = RTE_MIN(log2_strides, LOG2_STRIDES_BEST);
	log2_strides = RTE_MAX(log2_strides, caps->log2_striding.strides_min);
	log2_strides = RTE_MAX(log2_strides, 1u);
	if (log2_strides + log2_bytes < LOG2_WQE_BYTES_MIN)
		log2_strides = LOG2_WQE_BYTES_MIN - log2_bytes;
	if (rxq->split != NULL)
		snprintf(why, why_size, "it splits packets into segments");
	else if (mdv_mr_span_is_pinned(rxq->pool))
		snprintf(why, why_size, "its buffers are in external memory already");
	else if (frame > room)
		snprintf(why, why_size, "frames of %u bytes, its buffers have %u", frame, room);
	else if (log2_bytes > caps->log2_striding.bytes_max)
		snprintf(why, why_size,
			"frames of %u bytes, strides have %u at most, headroom is %u", frame,
			1u << caps->log2_striding.bytes_max, rxq->headroom);
	else if (log2_strides > RTE_MIN(caps->log2_striding.strides_max, LOG2_STRIDES_MAX) ||
		log2_strides + LOG2_WQES_MIN > log2_desc)
		snprintf(why, why_size, "%u descriptors, the device wants %u", rxq->nb_desc,
			1u << (log2_strides + LOG2_WQES_MIN));
	else {
		rxq->strides.log2_bytes = log2_bytes;
		rxq->strides.log2_strides = log2_strides;
		rxq->strides.len_max = mdv_rx_strides_len_max(rxq);
		return 0;
	}
	return -ENOTSUP;
}

/** @return whether all queues of the port can be striding, and with mprq=auto pay. */
static bool
suits_queues(const struct mdv_port *port, char *why, size_t size)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	const bool automatic = port->config.mprq == MDV_MPRQ_AUTO;
	char what[96];
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		struct mdv_rxq tried;

		/* Starting it fails. */
		if (data->rx_queues[i] == NULL)
			continue;
		/* A copy: a WQ that firmware did not destroy when the port stopped has its buffers
		 * still, which go with it when the queue is created. */
		tried = *(const struct mdv_rxq *)data->rx_queues[i];
		if (mdv_rx_strides_shape(&tried, port->mtu, true, what, sizeof(what)) != 0)
			snprintf(why, size, "queue %u: %s", i, what);
		else if (automatic && tried.nb_desc < DESC_MIN_AUTO)
			snprintf(
				why, size, "queue %u: fewer than %u descriptors", i, DESC_MIN_AUTO);
		else if (automatic && tried.strides.log2_bytes > LOG2_BYTES_MAX_AUTO)
			snprintf(why, size, "queue %u: frames of MTU %u would take %u bytes each",
				i, port->mtu, 1u << tried.strides.log2_bytes);
		else
			continue;
		return false;
	}
	return true;
}

static bool
suits_port(const struct mdv_port *port, char *why, size_t size)
{
	const bool automatic = port->config.mprq == MDV_MPRQ_AUTO;

	for (unsigned int i = 0; i < RTE_DIM(hindrances); i++) {
		if (!hindrances[i].applies(port) || (hindrances[i].auto_only && !automatic))
			continue;
		snprintf(why, size, "%s", hindrances[i].text);
		return false;
	}
	return true;
}

int
mdv_rx_strides_choose(struct mdv_port *port)
{
	const uint16_t port_id = port->dev->data->port_id;
	char why[128] = "";

	port->strides = port->config.mprq != MDV_MPRQ_OFF && suits_port(port, why, sizeof(why)) &&
		suits_queues(port, why, sizeof(why));
	if (port->strides || port->config.mprq == MDV_MPRQ_OFF)
		return 0;
	if (port->config.mprq == MDV_MPRQ_AUTO) {
		MDV_LOG(INFO, "port %u: Rx queues are not striding: %s", port_id, why);
		return 0;
	}
	MDV_LOG(ERR, "port %u: mprq=on, but Rx queues cannot be striding: %s", port_id, why);
	return -ENOTSUP;
}

static void
pool_unref(struct mdv_rx_stride_pool *pool)
{
	if (__atomic_sub_fetch(&pool->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	rte_mempool_free(pool->bufs);
	rte_free(pool);
}

/** Called by the thread that frees the last packet of a buffer that only the application had. */
static void
buf_free(__rte_unused void *addr, void *opaque)
{
	struct mdv_rx_stride_buf *buf = opaque;
	struct mdv_rx_stride_pool *pool = buf->pool;

	rte_mempool_put(pool->bufs, buf);
	pool_unref(pool);
}

static void
buf_init(__rte_unused struct rte_mempool *bufs, void *pool, void *object,
	__rte_unused unsigned int idx)
{
	struct mdv_rx_stride_buf *buf = object;

	*buf = (struct mdv_rx_stride_buf){
		.shinfo = { .free_cb = buf_free, .fcb_opaque = buf },
		.pool = pool,
		.iova = rte_mempool_virt2iova(buf) + offsetof(struct mdv_rx_stride_buf, strides),
	};
}

static struct rte_mempool *
bufs_create(const char *name, uint32_t nb, size_t size, struct mdv_rx_stride_pool *pool, int node)
{
	return rte_mempool_create(
		name, nb, size, 0, 0, NULL, NULL, buf_init, pool, node, RTE_MEMPOOL_F_SC_GET);
}

static struct mdv_rx_stride_pool *
pool_create(const struct mdv_rxq *rxq)
{
	static uint32_t nb_made;
	const int node = rxq->port->device.numa_node;
	const uint32_t nb_wqes = (rxq->ring.mask + 1) >> rxq->strides.log2_strides;
	const size_t size = sizeof(struct mdv_rx_stride_buf) +
		((size_t)1 << (rxq->strides.log2_strides + rxq->strides.log2_bytes));
	struct mdv_rx_stride_pool *pool;
	char name[RTE_MEMPOOL_NAMESIZE];

	/* Zero: each process has names of its own for what it makes. */
	snprintf(name, sizeof(name), "mdv_strides_%u",
		__atomic_fetch_add(&nb_made, 1, __ATOMIC_RELAXED));
	pool = mdv_ring_memory_alloc("mdv_rx_strides", sizeof(*pool), RTE_CACHE_LINE_SIZE, node);
	if (pool == NULL)
		return NULL;
	pool->refs = 1;
	pool->bufs = bufs_create(name, nb_wqes * BUFS_PER_WQE, size, pool, node);
	/* As rings: elsewhere is better than nowhere. */
	if (pool->bufs == NULL && node != SOCKET_ID_ANY)
		pool->bufs = bufs_create(name, nb_wqes * BUFS_PER_WQE, size, pool, SOCKET_ID_ANY);
	if (pool->bufs != NULL)
		return pool;
	rte_free(pool);
	return NULL;
}

static struct mdv_rx_stride_buf *
buf_take(struct mdv_rxq *rxq)
{
	struct mdv_rx_stride_buf *buf;

	if (rte_mempool_get(rxq->strides.pool->bufs, (void **)&buf) != 0)
		return NULL;
	rte_mbuf_ext_refcnt_set(&buf->shinfo, (1u << rxq->strides.log2_strides) + 1);
	return buf;
}

/**
 * End the driver's share in a buffer of which @p nb_out packets went to the application.
 * @return whether the application has none of them any more; else the last one returns the buffer
 */
static bool
buf_settle(struct mdv_rxq *rxq, struct mdv_rx_stride_buf *buf, uint32_t nb_out)
{
	const int32_t share = (1 << rxq->strides.log2_strides) + 1 - (int32_t)nb_out;

	if (nb_out == 0)
		return true;
	__atomic_add_fetch(&buf->pool->refs, 1, __ATOMIC_RELAXED);
	if (rte_mbuf_ext_refcnt_update(&buf->shinfo, (int16_t)-share) != 0)
		return false;
	pool_unref(buf->pool);
	rte_mbuf_ext_refcnt_set(&buf->shinfo, (1u << rxq->strides.log2_strides) + 1);
	return true;
}

/** Take a spare buffer; there may be none. */
static void
spare_take(struct mdv_rxq *rxq)
{
	rxq->strides.spare = buf_take(rxq);
	rxq->strides.copy_max = rxq->strides.spare != NULL
		? RTE_MIN(MDV_RX_STRIDES_COPY_MAX, rxq->strides.len_max)
		: rxq->strides.len_max;
}

/** Point a WQE at a buffer: a next segment, which this kind of ring has no use for, then the data.
 */
static void
wqe_write(struct mdv_rxq *rxq, uint32_t wqe, struct mdv_rx_stride_buf *buf)
{
	rxq->strides.bufs[wqe] = buf;
	rxq->ring.wqes[2 * wqe + 1].lkey = buf->lkey_be;
	rxq->ring.wqes[2 * wqe + 1].addr = rte_cpu_to_be_64((uintptr_t)buf->strides);
}

void
mdv_rx_strides_leave(struct mdv_rxq *rxq, uint32_t ci)
{
	const uint32_t wqe = (ci & rxq->ring.mask) >> rxq->strides.log2_strides;
	const uint32_t nb_out = rxq->strides.nb_out;

	rxq->strides.nb_out = 0;
	if (!buf_settle(rxq, rxq->strides.bufs[wqe], nb_out)) {
		wqe_write(rxq, wqe, rxq->strides.spare);
		rxq->strides.spare = NULL;
	}
	if (rxq->strides.spare == NULL)
		spare_take(rxq);
}

void
mdv_rx_strides_skip(struct mdv_rxq *rxq, uint32_t nb)
{
	const uint32_t last = (1u << rxq->strides.log2_strides) - 1;

	for (; nb != 0; nb--) {
		const uint32_t ci = rxq->pos.wqe_ci++;
		struct rte_mbuf **mbuf = &rxq->ring.mbufs[ci & rxq->ring.mask];

		rte_mbuf_raw_free(*mbuf);
		*mbuf = NULL;
		if ((ci & last) == last)
			mdv_rx_strides_leave(rxq, ci);
	}
}

/** Find the lkey of each buffer: the pool may have several regions. */
static void
buf_register(__rte_unused struct rte_mempool *bufs, void *arg, void *object,
	__rte_unused unsigned int idx)
{
	struct mdv_mr_table *table = arg;
	struct mdv_rx_stride_buf *buf = object;
	struct mdv_mr_range range;

	buf->lkey_be = mdv_mr_find(table, (uintptr_t)buf->strides, NULL, &range) ? range.lkey_be
										 : MDV_MR_LKEY_NONE;
}

int
mdv_rx_strides_open(struct mdv_rxq *rxq)
{
	const uint32_t nb_wqes = (rxq->ring.mask + 1) >> rxq->strides.log2_strides;
	struct mdv_mr_table *table = rxq->port->mr;
	int ret = -ENOMEM;

	rxq->strides.bufs =
		mdv_ring_memory_alloc("mdv_rx_stride_bufs", nb_wqes * sizeof(rxq->strides.bufs[0]),
			RTE_CACHE_LINE_SIZE, rxq->port->device.numa_node);
	if (rxq->strides.bufs == NULL)
		goto log;
	rxq->strides.pool = pool_create(rxq);
	if (rxq->strides.pool == NULL)
		goto free_bufs;
	ret = mdv_mr_pool_get(table, rxq->strides.pool->bufs);
	if (ret != 0)
		goto free_pool;
	rte_mempool_obj_iter(rxq->strides.pool->bufs, buf_register, table);
	return 0;

free_pool:
	pool_unref(rxq->strides.pool);
	rxq->strides.pool = NULL;
free_bufs:
	rte_free(rxq->strides.bufs);
	rxq->strides.bufs = NULL;
log:
	MDV_LOG(ERR, "port %u Rx queue %u: no memory of %u strides of %u bytes, %u times: %s",
		rxq->port->dev->data->port_id, rxq->idx, rxq->ring.mask + 1,
		1u << rxq->strides.log2_bytes, BUFS_PER_WQE, rte_strerror(-ret));
	return ret;
}

void
mdv_rx_strides_return(struct mdv_rxq *rxq)
{
	const uint32_t nb_wqes = (rxq->ring.mask + 1) >> rxq->strides.log2_strides;
	const uint32_t present = (rxq->pos.wqe_ci & rxq->ring.mask) >> rxq->strides.log2_strides;
	struct rte_mempool *bufs = rxq->strides.pool->bufs;

	for (uint32_t wqe = 0; wqe < nb_wqes; wqe++) {
		struct mdv_rx_stride_buf *buf = rxq->strides.bufs[wqe];

		if (buf != NULL && (wqe != present || buf_settle(rxq, buf, rxq->strides.nb_out)))
			rte_mempool_put(bufs, buf);
		rxq->strides.bufs[wqe] = NULL;
	}
	if (rxq->strides.spare != NULL)
		rte_mempool_put(bufs, rxq->strides.spare);
	rxq->strides.spare = NULL;
	rxq->strides.nb_out = 0;
}

void
mdv_rx_strides_close(struct mdv_rxq *rxq)
{
	mdv_mr_pool_put(rxq->port->mr, rxq->strides.pool->bufs);
	pool_unref(rxq->strides.pool);
	rxq->strides.pool = NULL;
	rte_free(rxq->strides.bufs);
	rxq->strides.bufs = NULL;
}

int
mdv_rx_strides_fill(struct mdv_rxq *rxq)
{
	const uint32_t nb_wqes = (rxq->ring.mask + 1) >> rxq->strides.log2_strides;
	const uint32_t bytes = 1u << (rxq->strides.log2_strides + rxq->strides.log2_bytes);

	for (uint32_t wqe = 0; wqe < nb_wqes; wqe++) {
		struct mdv_rx_stride_buf *buf = buf_take(rxq);

		if (buf == NULL)
			return -ENOMEM;
		rxq->ring.wqes[2 * wqe] = (struct mlx5_wqe_data_seg){ 0 };
		rxq->ring.wqes[2 * wqe + 1].byte_count = rte_cpu_to_be_32(bytes);
		wqe_write(rxq, wqe, buf);
	}
	spare_take(rxq);
	return 0;
}
