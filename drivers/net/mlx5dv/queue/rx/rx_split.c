/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of packets that are split: checked, registered, filled with mbufs of their mempools. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "base/pool.h"
#include "rx_refill.h"
#include "rx_split.h"
#include "state/port.h"

uint16_t
mdv_rx_split_max(const struct mdv_caps *caps)
{
	/* The segments of a WQE are a power of two. */
	return rte_align32prevpow2(RTE_MIN(caps->max_sge, MDV_RX_SEGS_MAX));
}

/** Check what is not of one segment. */
static int
check_whole(const struct mdv_rxq *rxq)
{
	const struct rte_eth_rxconf *conf = &rxq->conf;
	const uint16_t port_id = rxq->port_id, max = mdv_rx_split_max(&rxq->port->device.caps);

	if (!(conf->offloads & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: segments without RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT: enable it or give one mempool",
			port_id, rxq->idx);
		return -EINVAL;
	}
	if (conf->rx_seg == NULL || conf->rx_nseg > max) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: %u segments at %p, packets can be split into 1 to %u",
			port_id, rxq->idx, conf->rx_nseg, (void *)conf->rx_seg, max);
		return -EINVAL;
	}
	return 0;
}

/** Fill @p seg by what is asked. @param nth its number */
static int
seg_setup(const struct mdv_rxq *rxq, uint16_t nth, const struct rte_eth_rxseg_split *asked,
	struct mdv_rx_seg *seg)
{
	const uint32_t data_off = asked->offset + (nth == 0 ? rxq->headroom : 0);
	uint32_t room;

	if (asked->proto_hdr != 0) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: segment %u ends with protocol headers (proto_hdr %#x), the device splits by lengths only",
			rxq->port_id, rxq->idx, nth, asked->proto_hdr);
		return -ENOTSUP;
	}
	if (asked->mp == NULL) {
		MDV_LOG(ERR, "port %u Rx queue %u: segment %u has no mempool", rxq->port_id,
			rxq->idx, nth);
		return -EINVAL;
	}
	room = rte_pktmbuf_data_room_size(asked->mp);
	if (data_off + RTE_MAX(asked->length, 1u) > room) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: segment %u: %u bytes at %u, the buffers of mempool %s have %u",
			rxq->port_id, rxq->idx, nth, asked->length, data_off, asked->mp->name,
			room);
		return -EINVAL;
	}
	*seg = (struct mdv_rx_seg){
		.pool = asked->mp,
		.buf_offset = mdv_rx_refill_offset(asked->mp, data_off),
		.data_off = data_off,
		.length = asked->length != 0 ? asked->length : room - data_off,
	};
	return 0;
}

/** Describe all segments that a WQE may have. */
static int
segs_setup(const struct mdv_rxq *rxq, struct mdv_rx_split *split)
{
	struct rte_eth_rxseg_split rest = { 0 };
	int ret = 0;

	for (uint16_t i = 0; i < split->nb && ret == 0; i++)
		ret = seg_setup(rxq, i, &split->asked[i].split, &split->segs[i]);
	if (ret != 0 || split->nb == MDV_RX_SEGS_MAX)
		return ret;
	rest.mp = split->asked[split->nb - 1].split.mp;
	ret = seg_setup(rxq, split->nb, &rest, &split->segs[split->nb]);
	for (uint16_t i = split->nb + 1; i < MDV_RX_SEGS_MAX; i++)
		split->segs[i] = split->segs[split->nb];
	return ret;
}

int
mdv_rx_split_setup(struct mdv_rxq *rxq, unsigned int socket)
{
	const size_t nb = rxq->conf.rx_nseg;
	struct mdv_rx_split *split;
	int ret = check_whole(rxq);

	if (ret != 0)
		return ret;
	split = rte_zmalloc_socket("mdv_rx_split", sizeof(*split) + nb * sizeof(split->asked[0]),
		RTE_CACHE_LINE_SIZE, socket);
	if (split == NULL) {
		MDV_LOG(ERR, "port %u Rx queue %u: no memory", rxq->port_id, rxq->idx);
		return -ENOMEM;
	}
	split->nb = nb;
	memcpy(split->asked, rxq->conf.rx_seg, nb * sizeof(split->asked[0]));
	ret = segs_setup(rxq, split);
	if (ret != 0) {
		rte_free(split);
		return ret;
	}
	/* The application's array need not outlive its call. */
	rxq->conf.rx_seg = split->asked;
	rxq->split = split;
	rxq->pool = split->segs[0].pool;
	rxq->headroom = split->segs[0].data_off;
	rxq->room = split->segs[0].data_off + split->segs[0].length;
	rxq->buf_offset = split->segs[0].buf_offset;
	return 0;
}

uint32_t
mdv_rx_split_nb_segs(const struct mdv_rx_split *split, uint32_t bytes)
{
	const uint32_t last = split->segs[MDV_RX_SEGS_MAX - 1].length;
	uint32_t i;

	for (i = 0; i < MDV_RX_SEGS_MAX && bytes > split->segs[i].length; i++)
		bytes -= split->segs[i].length;
	return i < MDV_RX_SEGS_MAX ? i + 1 : i + (bytes + last - 1) / last;
}

uint32_t
mdv_rx_split_bytes(const struct mdv_rx_split *split)
{
	uint32_t bytes = 0;

	for (uint16_t i = 0; i < split->nb; i++)
		bytes += split->segs[i].length;
	return bytes;
}

void
mdv_rx_split_choose(struct mdv_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	port->split = false;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct mdv_rxq *rxq = data->rx_queues[i];

		port->split |= rxq != NULL && rxq->split != NULL;
	}
}

/** Give back the registrations of the first @p nb segments. */
static void
unregister(const struct mdv_rxq *rxq, uint16_t nb)
{
	while (nb-- != 0)
		mdv_mr_pool_put(rxq->port->mr, rxq->split->segs[nb].pool);
}

int
mdv_rx_split_register(struct mdv_rxq *rxq)
{
	struct mdv_rx_split *split = rxq->split;
	uint16_t i;
	int ret;

	/* Segments of one mempool hold a reference each. */
	for (i = 0; i < split->nb; i++) {
		ret = mdv_mr_pool_get(rxq->port->mr, split->segs[i].pool);
		if (ret != 0) {
			unregister(rxq, i);
			return ret;
		}
	}
	for (i = 0; i < MDV_RX_SEGS_MAX; i++)
		split->segs[i].lkey_be = mdv_mr_pool_lkey(rxq->port->mr, split->segs[i].pool);
	return 0;
}

void
mdv_rx_split_unregister(const struct mdv_rxq *rxq)
{
	unregister(rxq, rxq->split->nb);
}

/** Point the segment at @p at of the ring at a buffer. */
static void
segment_fill(struct mdv_rxq *rxq, const struct mdv_rx_seg *seg, uint32_t at, struct rte_mbuf *mbuf)
{
	struct mlx5_wqe_data_seg *dseg = &rxq->ring.wqes[at];
	uintptr_t addr = likely(seg->buf_offset != 0) ? (uintptr_t)mbuf + seg->buf_offset
						      : (uintptr_t)mbuf->buf_addr + seg->data_off;

	rxq->ring.mbufs[at] = mbuf;
	if (unlikely(seg->lkey_be == MDV_MR_LKEY_NONE))
		dseg->lkey = mdv_mr_lkey(&rxq->mr, addr, mbuf);
	dseg->addr = rte_cpu_to_be_64(addr);
}

/**
 * Put mbufs where those of the segment @p nth are missing, from wqe_pi up to @p end.
 * @return the first WQE that still lacks one, or @p end
 */
static uint32_t
column_fill(struct mdv_rxq *rxq, uint32_t nth, uint32_t end)
{
	const struct mdv_rx_seg *seg = &rxq->split->segs[nth];
	struct rte_mbuf *fresh[MDV_RX_REFILL_MIN];
	uint32_t holes[MDV_RX_REFILL_MIN], pi = rxq->pos.wqe_pi, nb, got, i;

	while (pi != end) {
		for (nb = 0; pi != end && nb < RTE_DIM(holes); pi++) {
			const uint32_t slot = pi & rxq->ring.mask;

			if (rxq->ring.mbufs[(slot << rxq->ring.log2_segs) + nth] == NULL)
				holes[nb++] = pi;
		}
		got = nb;
		if (nb != 0 && unlikely(mdv_pool_get(seg->pool, fresh, nb) != 0))
			got = mdv_rx_refill_short_of(rxq, seg->pool, fresh, nb);
		for (i = 0; i < got; i++)
			segment_fill(rxq, seg,
				((holes[i] & rxq->ring.mask) << rxq->ring.log2_segs) + nth,
				fresh[i]);
		rxq->nb_empty -= got;
		if (unlikely(got < nb))
			return holes[got];
	}
	return end;
}

void
mdv_rx_split_refill(struct mdv_rxq *rxq)
{
	const uint32_t start = rxq->pos.wqe_pi, end = rxq->pos.wqe_ci + rxq->ring.mask + 1;
	uint32_t nb = end - start, nth;

	if (nb < rxq->ring.refill_min)
		return;
	for (nth = 0; nth < 1u << rxq->ring.log2_segs; nth++)
		nb = RTE_MIN(nb, column_fill(rxq, nth, end) - start);
	rxq->pos.wqe_pi = start + nb;
	mdv_rx_doorbell(rxq);
}

int
mdv_rx_split_fill(struct mdv_rxq *rxq)
{
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	const uint32_t nb_mbufs = (rxq->ring.mask + 1) << rxq->ring.log2_segs;

	for (uint32_t i = 0; i < nb_mbufs; i++) {
		const struct mdv_rx_seg *seg = &rxq->split->segs[i % nb_segs];

		rxq->ring.mbufs[i] = NULL;
		rxq->ring.wqes[i] = (struct mlx5_wqe_data_seg){
			.byte_count = rte_cpu_to_be_32(seg->length),
			.lkey = seg->lkey_be,
		};
	}
	rxq->pos.wqe_ci = 0;
	rxq->pos.wqe_pi = 0;
	rxq->nb_empty = nb_mbufs;
	rxq->objs.ibv.posted = 0;
	mdv_rx_split_refill(rxq);
	return rxq->pos.wqe_pi == rxq->ring.mask + 1 ? 0 : -ENOMEM;
}

const struct rte_mempool *
mdv_rx_split_lacks(const struct mdv_rxq *rxq, uint32_t *nb)
{
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	const struct mdv_rx_seg *segs = rxq->split->segs;
	uint32_t i, nth;

	for (i = 0; i < (rxq->ring.mask + 1) << rxq->ring.log2_segs; i++) {
		if (rxq->ring.mbufs[i] != NULL)
			continue;
		for (*nb = 0, nth = 0; nth < nb_segs; nth++)
			*nb += segs[nth].pool == segs[i % nb_segs].pool ? rxq->ring.mask + 1 : 0;
		return segs[i % nb_segs].pool;
	}
	return NULL;
}
