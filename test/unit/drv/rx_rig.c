/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of a device, in plain memory. */
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_udp.h>

#include "mem/mr.h"
#include "queue/rx/rx_strides.h"
#include "rx_rig.h"

struct rx_rig rx_rig;

void
rx_rig_start(uint8_t log2_segs, unsigned int pool_size)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	const uint32_t nb_segs = RX_RIG_WQES << log2_segs;
	struct rte_mbuf rearm = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = 3 };
	static uint32_t generation;
	int at;

	memset(&rx_rig, 0, sizeof(rx_rig));
	rig_port_init(&rx_rig.port);
	rx_rig.cqes = rig_cqes(RX_RIG_WQES);
	rx_rig.wqes = rig_alloc(nb_segs * sizeof(*rx_rig.wqes));
	rx_rig.pool = rig_pool("rx", pool_size, RX_RIG_ROOM);
	rx_rig.pool_size = pool_size;
	for (unsigned int i = 0; i < MDV_RX_SEGS_MAX; i++)
		rx_rig.lkeys[i] = rte_cpu_to_be_32(RIG_LKEY);
	rte_mbuf_refcnt_set(&rearm, 1);
	*rxq = (struct mdv_rxq){
		.ring.cqes = rx_rig.cqes,
		.ring.wqes = rx_rig.wqes,
		.ring.mbufs = rig_alloc(nb_segs * sizeof(rxq->ring.mbufs[0])),
		.ring.cq_dbrec = &rx_rig.cq_dbrec[0],
		.ring.wq_dbrec = &rx_rig.wq_dbrec[0],
		.pool = rx_rig.pool,
		.ring.mask = RX_RIG_WQES - 1,
		.ring.log2_wqes = rte_log2_u32(RX_RIG_WQES),
		.ring.log2_segs = log2_segs,
		.ring.refill_min = 8,
		.ring.runtime_opts = MDV_RX_RUNTIME_MARK | MDV_RX_RUNTIME_VLAN,
		.lkey_be = rte_cpu_to_be_32(RIG_LKEY),
		.buf_offset = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM,
		.headroom = RTE_PKTMBUF_HEADROOM,
		.room = RX_RIG_ROOM,
		.port = &rx_rig.port.port,
		.objs.wq = rx_rig.port.wq,
		.ready = true,
	};
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&at, &rxq->timestamp_flag), 0);
	rxq->timestamp_at = at;
	rxq->mr.table_generation = &generation;
	memcpy(&rxq->rearm, &rearm.rearm_data, sizeof(rxq->rearm));
}

void
rx_rig_start_split(uint8_t log2_segs, union rte_eth_rxseg *asked, uint16_t nb)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct rte_mbuf rearm = { .nb_segs = 1, .port = 3 };

	rx_rig_start(log2_segs, 64);
	rx_rig.port.port.device.caps.max_sge = MDV_RX_SEGS_MAX;
	rxq->conf = (struct rte_eth_rxconf){
		.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT,
		.rx_seg = asked,
		.rx_nseg = nb,
	};
	assert_int_equal(mdv_rx_split_setup(rxq, 0), 0);
	rearm.data_off = rxq->headroom;
	rte_mbuf_refcnt_set(&rearm, 1);
	memcpy(&rxq->rearm, &rearm.rearm_data, sizeof(rxq->rearm));
	/* Each mempool has an lkey of its own. */
	for (unsigned int i = 0; i < MDV_RX_SEGS_MAX; i++) {
		const struct rte_mempool *pool = asked[RTE_MIN(i, nb - 1u)].split.mp;
		unsigned int first = 0;

		while (asked[first].split.mp != pool)
			first++;
		rx_rig.lkeys[i] = rte_cpu_to_be_32(RIG_LKEY + first);
		rxq->split->segs[i].lkey_be = rx_rig.lkeys[i];
	}
}

void
rx_rig_start_strides(unsigned int pool_size)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;

	rx_rig_start(0, pool_size);
	rx_rig.port.port.mr = mdv_mr_create(&rx_rig.port.port.device, 3);
	assert_non_null(rx_rig.port.port.mr);
	rxq->strides.log2_strides = rte_log2_u32(RX_RIG_STRIDES);
	rxq->strides.log2_bytes = rte_log2_u32(RX_RIG_STRIDE_BYTES);
	rxq->strides.len_max = RX_RIG_STRIDE_MAX;
	assert_int_equal(mdv_rx_strides_open(rxq), 0);
}

static void
stop_strides(void)
{
	const struct mdv_rx_stride_pool *pool = rx_rig.rxq.strides.pool;

	assert_int_equal(pool->refs, 1);
	assert_true(rte_mempool_full(pool->bufs));
	mdv_rx_strides_close(&rx_rig.rxq);
	mdv_mr_destroy(rx_rig.port.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

void
rx_rig_stop(void)
{
	mdv_rx_drain(&rx_rig.rxq);
	if (rx_rig.rxq.strides.pool != NULL)
		stop_strides();
	assert_int_equal(rte_mempool_avail_count(rx_rig.pool), rx_rig.pool_size);
	rte_mempool_free(rx_rig.pool);
	rte_free(rx_rig.rxq.split);
	free(rx_rig.rxq.ring.mbufs);
	free(rx_rig.wqes);
	free(rx_rig.cqes);
}

uint8_t
rx_rig_content(const struct rx_frame *frame, uint32_t at)
{
	return (uint8_t)(frame->fill + at);
}

static uint8_t
lap_of(uint32_t pi)
{
	return pi / RX_RIG_WQES & 1;
}

/** The slot of @p pi, which the device may write. */
static struct mdv_hw_cqe *
device_slot(uint32_t pi)
{
	struct mdv_hw_cqe *cqe = &rx_rig.cqes[pi % RX_RIG_WQES];

	/* The device does not overrun the ring: the driver has sent its consumer index. */
	assert_true(
		((pi - rte_be_to_cpu_32(rx_rig.cq_dbrec[0])) & MDV_HW_CQ_CI_MASK) < RX_RIG_WQES);
	/* The slot's owner bit must mark it as not written yet. */
	assert_true(cqe->op_own >> MDV_HW_CQE_OPCODE_SHIFT == MLX5_CQE_INVALID ||
		(cqe->op_own & MDV_HW_CQE_OWNER) != lap_of(pi));
	return cqe;
}

static void
device_write(const struct mdv_hw_cqe *cqe)
{
	struct mdv_hw_cqe *slot = device_slot(rx_rig.cq_pi);

	*slot = *cqe;
	slot->op_own |= lap_of(rx_rig.cq_pi);
	rx_rig.cq_pi++;
}

void
rx_rig_flush(void)
{
	struct rx_block *block = &rx_rig.block;
	const uint32_t nb = block->nb;
	uint32_t i;

	block->nb = 0;
	if (nb == 1)
		device_write(&block->first);
	if (nb <= 1)
		return;
	for (i = 0; i < nb; i++)
		device_slot(rx_rig.cq_pi + i);
	for (i = 0; i < nb; i++) {
		const uint32_t pi = rx_rig.cq_pi + (i < 8 ? 1 : i / 8 * 8);
		struct mdv_hw_cqe *slot = &rx_rig.cqes[pi % RX_RIG_WQES];

		/* The worst contents for unused slots: they would be valid on the next lap. */
		if (i % 8 == 0)
			memset(slot, MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT | !lap_of(pi),
				sizeof(*slot));
		((struct mdv_hw_mini_cqe *)slot)[i % 8] = block->mini_cqes[i];
	}
	block->first.byte_cnt = rte_cpu_to_be_32(nb);
	block->first.op_own |= MDV_HW_CQE_FORMAT_MINI;
	device_write(&block->first);
	rx_rig.cq_pi += nb - 1;
	rx_rig.nb_blocks++;
}

/** @return whether both are equal except for the fields of a mini CQE. */
static bool
is_alike(const struct mdv_hw_cqe *a, const struct mdv_hw_cqe *b)
{
	struct mdv_hw_cqe x = *a, y = *b;

	x.rss_hash = y.rss_hash;
	x.byte_cnt = y.byte_cnt;
	x.wqe_counter = y.wqe_counter;
	x.timestamp = y.timestamp;
	return memcmp(&x, &y, sizeof(x)) == 0;
}

/** True one time in 32, without random(), whose sequence belongs to the tests. */
static bool
ends_early(struct rx_block *block)
{
	block->seed = block->seed * 1103515245 + 12345;
	return (block->seed >> 16) % 32 == 0;
}

/** A packet is complete. */
static void
device_complete(const struct mdv_hw_cqe *cqe)
{
	struct rx_block *block = &rx_rig.block;

	if (block->max == 0) {
		device_write(cqe);
		return;
	}
	if (block->nb == block->max || (block->random && ends_early(block)) ||
		(block->nb != 0 && !is_alike(&block->first, cqe)))
		rx_rig_flush();
	if (block->nb == 0)
		block->first = *cqe;
	block->mini_cqes[block->nb++] = (struct mdv_hw_mini_cqe){ cqe->rss_hash, cqe->byte_cnt };
	/* CSUM_STRIDX */
	if (rx_rig.rxq.strides.log2_strides != 0)
		block->mini_cqes[block->nb - 1].rss_hash =
			rte_cpu_to_be_32(0xabcd0000 | rte_be_to_cpu_16(cqe->wqe_counter));
}

static struct mdv_hw_cqe
device_cqe(uint8_t opcode)
{
	return (struct mdv_hw_cqe){
		.wqe_counter = rte_cpu_to_be_16(rx_rig.wq_ci),
		.op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT,
	};
}

/** The packet takes @p nb strides. */
static void
device_take_strides(struct mdv_hw_cqe *cqe, uint32_t nb)
{
	cqe->byte_cnt |= rte_cpu_to_be_32(nb << MDV_HW_CQE_STRIDES_SHIFT);
	cqe->wqe_id = rte_cpu_to_be_16(rx_rig.wq_ci);
	cqe->wqe_counter = rte_cpu_to_be_16(rx_rig.stride);
	rx_rig.stride += nb;
	if (rx_rig.stride != RX_RIG_STRIDES)
		return;
	rx_rig.stride = 0;
	rx_rig.wq_ci++;
}

static void
device_error(uint8_t syndrome)
{
	struct mdv_hw_cqe cqe = device_cqe(MLX5_CQE_RESP_ERR);

	((struct mlx5_err_cqe *)&cqe)->syndrome = syndrome;
	if (rx_rig.rxq.strides.log2_strides != 0) {
		device_take_strides(&cqe, RX_RIG_STRIDES - rx_rig.stride);
		/* The hardware may not say how many it took. */
		if (rx_rig.cq_pi % 2 != 0)
			cqe.byte_cnt = 0;
	}
	rx_rig_flush();
	device_write(&cqe);
}

static bool
device_has_wqe(void)
{
	return (uint16_t)(rte_be_to_cpu_32(rx_rig.wq_dbrec[0]) - rx_rig.wq_ci) != 0;
}

static struct mdv_hw_cqe
cqe_of(const struct rx_frame *frame)
{
	struct mdv_hw_cqe cqe = device_cqe(MLX5_CQE_RESP_SEND);

	cqe.pkt_info = frame->pkt_info;
	cqe.hds_ip_ext = frame->hds;
	cqe.l4_l3_hdr_type = frame->hdr_type;
	cqe.rss_hash_type = frame->hash_type;
	cqe.rss_hash = rte_cpu_to_be_32(frame->hash);
	cqe.vlan_info = rte_cpu_to_be_16(frame->tci);
	cqe.sop_drop_qpn = rte_cpu_to_be_32(frame->tag | 0x5a000000);
	cqe.byte_cnt = rte_cpu_to_be_32(frame->len);
	cqe.timestamp = rte_cpu_to_be_64(frame->timestamp);
	return cqe;
}

static bool
receive_striding(const struct rx_frame *frame)
{
	const uint32_t nb = (frame->len - 1) / RX_RIG_STRIDE_BYTES + 1;
	const uint32_t left = RX_RIG_STRIDES - rx_rig.stride;
	const struct mlx5_wqe_data_seg *seg;
	struct mdv_hw_cqe cqe = device_cqe(MLX5_CQE_RESP_SEND);
	uint8_t *to;

	if (!device_has_wqe())
		return false;
	if (nb > left) {
		cqe.byte_cnt = rte_cpu_to_be_32(MDV_HW_CQE_FILLER);
		device_take_strides(&cqe, left);
		device_complete(&cqe);
		if (!device_has_wqe())
			return false;
	}
	seg = &rx_rig.wqes[2 * (rx_rig.wq_ci % (RX_RIG_WQES / RX_RIG_STRIDES)) + 1];
	assert_int_equal(rte_be_to_cpu_32(seg->byte_count), RX_RIG_STRIDES * RX_RIG_STRIDE_BYTES);
	assert_int_equal(rte_be_to_cpu_32(seg->lkey) >> 8, 1);
	to = (uint8_t *)(uintptr_t)rte_be_to_cpu_64(seg->addr) +
		rx_rig.stride * RX_RIG_STRIDE_BYTES;
	for (uint32_t at = 0; at < frame->len; at++)
		to[at] = rx_rig_content(frame, at);
	cqe = cqe_of(frame);
	device_take_strides(&cqe, nb);
	device_complete(&cqe);
	return true;
}

bool
rx_rig_receive(const struct rx_frame *frame)
{
	const uint32_t nb_segs = 1u << rx_rig.rxq.ring.log2_segs;
	const struct mlx5_wqe_data_seg *wqe =
		&rx_rig.wqes[(uint32_t)(rx_rig.wq_ci % RX_RIG_WQES) << rx_rig.rxq.ring.log2_segs];
	struct mdv_hw_cqe cqe;
	uint32_t seg, at = 0;

	if (rx_rig.rxq.strides.log2_strides != 0)
		return receive_striding(frame);
	if (!device_has_wqe())
		return false;
	for (seg = 0; seg < nb_segs && at < frame->len; seg++) {
		uint8_t *to = (uint8_t *)(uintptr_t)rte_be_to_cpu_64(wqe[seg].addr);
		uint32_t room = rte_be_to_cpu_32(wqe[seg].byte_count), i;

		assert_int_equal(wqe[seg].lkey, rx_rig.lkeys[seg]);
		for (i = 0; i < room && at < frame->len; i++)
			to[i] = rx_rig_content(frame, at++);
	}
	if (at < frame->len) {
		device_error(MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
		rx_rig.wq_ci++;
		return true;
	}
	cqe = cqe_of(frame);
	device_complete(&cqe);
	rx_rig.wq_ci++;
	return true;
}

void
rx_rig_error(uint8_t syndrome)
{
	device_error(syndrome);
	if (rx_rig.rxq.strides.log2_strides == 0)
		rx_rig.wq_ci++;
}

void
rx_rig_fail(uint8_t syndrome, unsigned int nb_flushed)
{
	device_error(syndrome);
	while (nb_flushed-- != 0)
		device_error(MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	rx_rig.wq_ci = 0;
	rx_rig.stride = 0;
}

void
rx_rig_check(const struct rte_mbuf *mbuf, const struct rx_frame *frame)
{
	uint32_t at = 0, i, nb_segs = 0;
	const struct rte_mbuf *seg;

	assert_int_equal(mbuf->port, 3);
	assert_int_equal(mbuf->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(mbuf->pkt_len, frame->len);
	for (seg = mbuf; seg != NULL; seg = seg->next, nb_segs++) {
		const uint8_t *data = rte_pktmbuf_mtod(seg, const uint8_t *);

		assert_true(seg->data_off + seg->data_len <= RX_RIG_ROOM);
		assert_int_equal(rte_mbuf_refcnt_read(seg), 1);
		for (i = 0; i < seg->data_len; i++, at++)
			assert_int_equal(data[i], rx_rig_content(frame, at));
	}
	assert_int_equal(at, frame->len);
	assert_int_equal(nb_segs, mbuf->nb_segs);
}
