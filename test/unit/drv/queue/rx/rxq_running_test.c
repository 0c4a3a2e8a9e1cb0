/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive queue's life beside its objects: set-up and release on a port that runs, tags and marks
 * switched on, and what descriptors say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "queue/rx/rxq.h"
#include "queue/rx/rxq_ring.h"
#include "trace.h"

#define NB_QUEUES 3

static struct rig_port rig;
static void *rx_queues[NB_QUEUES];
static struct ibv_wq wqs[2];
static struct rte_mempool *pool, *odd_pool;
static int timestamp_errno;
/** What another thread does: it recreates this queue before the objects' lock is taken; it installs
 * a rule that tags packets while objects are taken over, or hears then that their CQ has failed. */
static struct mdv_rxq *recreated;
static bool marks_come, cq_fails;

/* clang-format off */
#define FAKE_OF_RXQ(name, word) \
	TRACE_FAKE(int, name, struct mdv_rxq *rxq) \
	{ \
		return trace_call(word " %u", rxq->idx); \
	}
FAKE_OF_RXQ(mdv_rxq_ring_ready, "ready")
FAKE_OF_RXQ(mdv_rxq_ring_reset, "reset")
/* clang-format on */

TRACE_FAKE(int, mdv_rxq_ring_create, struct mdv_rxq *rxq)
{
	int ret = trace_call("create %u %u", rxq->idx, 1u << rxq->ring.log2_segs);

	if (ret == 0)
		rxq->objs.wq = &wqs[0];
	return ret;
}

TRACE_FAKE(int, mdv_rxq_ring_destroy, struct mdv_rxq *rxq)
{
	const int ret = trace_call("destroy %u", rxq->idx);

	if (ret == 0)
		rxq->objs.wq = NULL;
	return ret;
}

TRACE_FAKE(void, mdv_rxq_ring_adopt, struct mdv_rxq *rxq, const struct mdv_rxq *from)
{
	rxq->objs = from->objs;
	rxq->ring = from->ring;
	rxq->strides = from->strides; /* as the real one */
	trace_call("adopt %u %u", rxq->idx, from->idx);
	if (marks_come)
		mdv_rxq_enable_marks(&rig.port);
	/* As handle_rxq() of port/event.c, which looks for the CQ in both lists. */
	if (cq_fails && rig.port.parked != NULL)
		mdv_rxq_ring_break(rig.port.parked);
}

TRACE_FAKE(int, mdv_rxq_ring_strip, struct mdv_rxq *rxq, bool may_have_failed)
{
	assert_true(may_have_failed);
	return trace_call("strip %u %u", rxq->idx, rxq->vlan_strip);
}

void __real_mdv_queue_list_lock_objects(struct mdv_queue_list *list);

TRACE_FAKE(void, mdv_queue_list_lock_objects, struct mdv_queue_list *list)
{
	if (recreated != NULL)
		recreated->ring.runtime_opts = 0;
	__real_mdv_queue_list_lock_objects(list);
}

TRACE_FAKE(int, rte_mbuf_dyn_rx_timestamp_register, int *at, uint64_t *flag)
{
	*at = 72;
	*flag = 1ull << 40;
	rte_errno = timestamp_errno;
	return timestamp_errno == 0 ? 0 : -1;
}

static void
move_buffer(struct rte_mempool *mempool, void *arg, void *object, unsigned int idx)
{
	struct rte_mbuf *mbuf = object;

	(void)mempool;
	(void)arg;
	if (idx == 5)
		mbuf->buf_addr = (char *)mbuf->buf_addr + 8;
}

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	pool = rig_pool("running", 32, RTE_PKTMBUF_HEADROOM + 2048);
	odd_pool = rig_pool("odd", 32, RTE_PKTMBUF_HEADROOM + 2048);
	rte_mempool_obj_iter(odd_pool, move_buffer, NULL);
	return 0;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	timestamp_errno = 0;
	recreated = NULL;
	marks_come = cq_fails = false;
	memset(rx_queues, 0, sizeof(rx_queues));
	rig.data.rx_queues = rx_queues;
	rig.data.nb_rx_queues = NB_QUEUES;
	rig.data.mtu = rig.port.mtu = 1500;
	rig.port.device.caps =
		(struct mdv_caps){ .max_qp_wr = 4096, .max_cqe = 1 << 20, .max_sge = 8 };
	mdv_queue_list_init(&rig.port.queues);
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	trace_clear();
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		mdv_rxq_release(&rig.dev, i);
	mdv_rxq_destroy_parked(&rig.port);
	assert_true(LIST_EMPTY(&rig.port.queues.rx));
	return 0;
}

static struct mdv_rxq *
setup(uint16_t idx, uint16_t nb_desc, uint64_t offloads)
{
	const struct rte_eth_rxconf conf = { .offloads = offloads, .rx_free_thresh = 7 };

	assert_int_equal(mdv_rxq_setup(&rig.dev, idx, nb_desc, 0, &conf, pool), 0);
	return rx_queues[idx];
}

static void
the_device_limits_descriptors(void **state)
{
	static const struct {
		uint32_t wr, cqe;
		uint16_t max;
	} cases[] = { { 4096, 1 << 20, 4096 }, { 4095, 1 << 20, 2048 }, { 32768, 8191, 4096 },
		{ 32768, 32768, 32768 }, { 1 << 20, 1 << 20, 32768 } };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct mdv_caps caps = { .max_qp_wr = cases[i].wr, .max_cqe = cases[i].cqe };

		assert_int_equal(mdv_rxq_desc_max(&caps), cases[i].max);
	}
}

static void
a_queue_is_set_up(void **state)
{
	struct rte_eth_rxq_info info;
	struct rte_mbuf *mbuf, want;
	struct mdv_rxq *rxq;

	(void)state;
	rig.data.scattered_rx = 1;
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	rxq = setup(2, 100, RTE_ETH_RX_OFFLOAD_TIMESTAMP | RTE_ETH_RX_OFFLOAD_VLAN_STRIP);
	assert_ptr_equal(rxq->port, &rig.port);
	assert_int_equal(rxq->port_id, 3);
	assert_int_equal(rxq->idx, 2);
	assert_int_equal(rxq->nb_desc, 128);
	assert_int_equal(rxq->headroom, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(rxq->room, RTE_PKTMBUF_HEADROOM + 2048);
	assert_int_equal(rxq->timestamp_at, 72);
	assert_int_equal(rxq->timestamp_flag, 1ull << 40);
	assert_true(rxq->vlan_strip);
	assert_ptr_equal(LIST_FIRST(&rig.port.queues.rx), rxq);
	/* Where a packet's first byte is, and what its mbuf is rearmed with. */
	mbuf = rte_pktmbuf_alloc(pool);
	assert_ptr_equal((char *)mbuf + rxq->buf_offset, rte_pktmbuf_mtod(mbuf, char *));
	memset(&want, 0, sizeof(want));
	want.data_off = RTE_PKTMBUF_HEADROOM;
	want.refcnt = want.nb_segs = 1;
	want.port = 3;
	assert_memory_equal(&rxq->rearm, &want.rearm_data, sizeof(rxq->rearm));
	rte_pktmbuf_free(mbuf);
	mdv_rxq_info_get(&rig.dev, 2, &info);
	assert_ptr_equal(info.mp, pool);
	assert_int_equal(info.nb_desc, 128);
	assert_int_equal(info.rx_buf_size, 2048);
	assert_int_equal(info.scattered_rx, 1);
	assert_int_equal(info.conf.rx_free_thresh, 7);
	assert_int_equal(info.conf.offloads,
		RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_TIMESTAMP |
			RTE_ETH_RX_OFFLOAD_VLAN_STRIP);
	trace_check("");
	rxq = setup(1, 64, 0);
	assert_false(rxq->vlan_strip);
	assert_int_equal(rxq->timestamp_flag, 0);
}

/** A pool whose buffers lie differently: each mbuf is asked. */
static void
odd_pools_are_noticed(void **state)
{
	const struct rte_eth_rxconf conf = { .offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP };

	(void)state;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, odd_pool), 0);
	assert_int_equal(((struct mdv_rxq *)rx_queues[0])->buf_offset, 0);
	timestamp_errno = ENOENT;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 1, 64, 0, &conf, pool), -ENOENT);
	assert_null(rx_queues[1]);
}

static void
what_is_split_is_refused(void **state)
{
	struct rte_mempool *pools[] = { pool };
	const struct rte_eth_rxconf split = { .rx_nseg = 1 };
	const struct rte_eth_rxconf several = { .rx_mempools = pools, .rx_nmempool = 1 };

	(void)state;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &split, pool), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &several, pool), -EINVAL);
	assert_null(rx_queues[0]);
}

static void
a_running_port_makes_objects_at_once(void **state)
{
	const struct rte_eth_rxconf conf = { .offloads = RTE_ETH_RX_OFFLOAD_SCATTER };

	(void)state;
	rig.port.started = true;
	trace.fails = "create 1 1";
	trace.result = -ENOMEM;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 1, 128, 0, &conf, pool), -ENOMEM);
	assert_null(rx_queues[1]);
	assert_true(LIST_EMPTY(&rig.port.queues.rx));
	trace_clear();
	setup(1, 128, 0);
	trace_check("create 1 1; ");
	/* Several buffers a frame: the running burst must do that. */
	rig.data.mtu = 4000;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &conf, pool), -EBUSY);
	trace_check("");
	rig.data.scattered_rx = 1;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &conf, pool), 0);
	trace_check("create 0 2; ");
}

/** The next queue of a number has the objects of the last one, if they fit. */
static void
a_released_queues_objects_wait(void **state)
{
	static const struct {
		uint16_t nb_desc, mtu;
		bool in_use, strips;
		int result;
		const char *calls;
		bool adopts;
	} cases[] = {
		{ 128, 4000, false, false, 0, "adopt 1 1; ", true },
		{ 128, 1500, false, false, 0, "adopt 1 1; ", true }, /* two buffers do for one */
		{ 128, 1500, false, true, 0, "adopt 1 1; ", true },
		{ 256, 4000, false, false, 0, "destroy 1; create 1 2; ", false },
		{ 128, 8000, false, false, 0, "destroy 1; create 1 4; ", false },
		{ 256, 4000, true, false, -EBUSY, "destroy 1; ", false },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_eth_rxconf conf = { .offloads = RTE_ETH_RX_OFFLOAD_SCATTER |
				(cases[i].strips ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0) };
		unsigned int nb = 0;

		port_free(state);
		port_make(state);
		rig.port.started = true;
		rig.data.scattered_rx = 1;
		rig.data.mtu = 4000;
		for (uint16_t k = 0; k < NB_QUEUES; k++)
			setup(k, 128, RTE_ETH_RX_OFFLOAD_SCATTER);
		/* That which is wanted lies between others. */
		for (uint16_t k = 0; k < NB_QUEUES; k++)
			mdv_rxq_release(&rig.dev, k);
		trace_clear();
		trace.fails = cases[i].in_use ? "destroy 1" : NULL;
		trace.result = -EBUSY;
		rig.data.mtu = cases[i].mtu;
		assert_int_equal(mdv_rxq_setup(&rig.dev, 1, cases[i].nb_desc, 0, &conf, pool),
			cases[i].result);
		trace_check(cases[i].calls);
		assert_int_equal(rx_queues[1] != NULL, cases[i].result == 0);
		if (cases[i].adopts)
			assert_int_equal(((struct mdv_rxq *)rx_queues[1])->ring.runtime_opts,
				cases[i].strips ? MDV_RX_RUNTIME_VLAN : 0);
		for (struct mdv_rxq *rxq = rig.port.parked; rxq != NULL; rxq = rxq->next_parked) {
			assert_true(cases[i].in_use || rxq->idx != 1);
			nb++;
		}
		assert_int_equal(nb, cases[i].in_use ? 3 : 2);
	}
}

/** Until the next queue of its number has one, and if that one is refused. */
static void
rules_find_the_wq_of_a_released_queue(void **state)
{
	const struct rte_eth_rxconf conf = { 0 };

	(void)state;
	rig.port.started = true;
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		setup(i, 128, 0)->objs.wq = i == 1 ? &wqs[1] : &wqs[0];
	mdv_rxq_release(&rig.dev, 1);
	mdv_rxq_release(&rig.dev, 2);
	assert_ptr_equal(mdv_rxq_wq(&rig.port, 1), &wqs[1]);
	trace.fails = "destroy 1";
	trace.result = -EBUSY;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 1, 256, 0, &conf, pool), -EBUSY);
	assert_ptr_equal(mdv_rxq_wq(&rig.port, 1), &wqs[1]);
	trace.fails = NULL;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 1, 256, 0, &conf, pool), 0);
	assert_ptr_equal(mdv_rxq_wq(&rig.port, 1), &wqs[0]);
	/* One that the port has no longer is none, whatever is left of it. */
	assert_ptr_equal(mdv_rxq_wq(&rig.port, 2), &wqs[0]);
	rig.data.nb_rx_queues = 2;
	assert_null(mdv_rxq_wq(&rig.port, 2));
	rig.data.nb_rx_queues = NB_QUEUES;
}

/** With the objects of before, or with others. */
static void
a_queue_that_is_set_up_again_goes_on_counting(void **state)
{
	(void)state;
	rig.port.started = true;
	for (uint16_t nb_desc = 128; nb_desc <= 256; nb_desc *= 2) {
		struct mdv_rxq *rxq = setup(1, 128, 0);

		rxq->count = (struct mdv_rx_counters){ 10, 1000, 3, 4 };
		rxq->base = (struct mdv_rx_counters){ 1, 60, 1, 2 };
		mdv_rxq_release(&rig.dev, 1);
		rxq = setup(1, nb_desc, 0);
		assert_int_equal(rxq->count.packets - rxq->base.packets, 9);
		assert_int_equal(rxq->count.bytes - rxq->base.bytes, 940);
		assert_int_equal(rxq->count.nombuf - rxq->base.nombuf, 2);
		assert_int_equal(rxq->count.errors - rxq->base.errors, 2);
		mdv_rxq_release(&rig.dev, 1);
	}
}

static void
objects_follow_the_port(void **state)
{
	struct mdv_rxq *rxq;

	(void)state;
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	rxq = setup(1, 128, 0);
	rig.port.mtu = 4000;
	assert_int_equal(mdv_rxq_create(&rig.port, 1), 0);
	trace_check("create 1 2; ");
	assert_ptr_equal(mdv_rxq_wq(&rig.port, 1), &wqs[0]);
	assert_null(mdv_rxq_wq(&rig.port, NB_QUEUES));
	rig.port.mtu = 1500;
	trace.fails = "create 1 1";
	trace.result = -EIO;
	assert_int_equal(mdv_rxq_create(&rig.port, 1), -EIO);
	trace.fails = "ready 1";
	assert_int_equal(mdv_rxq_start(&rig.port, 1), -EIO);
	trace.fails = "reset 1";
	assert_int_equal(mdv_rxq_stop(&rig.port, 1), -EIO);
	trace.fails = "destroy 1";
	mdv_rxq_destroy(&rig.port, 1);
	trace_check("destroy 1; create 1 1; ready 1; reset 1; destroy 1; ");
	mdv_rxq_destroy(&rig.port, 0);
	mdv_rxq_destroy(&rig.port, NB_QUEUES);
	trace_check("");
	/* The port was configured again since, and the queue stayed. */
	rig.data.dev_conf.rxmode.offloads = 0;
	rig.port.mtu = 4000;
	assert_int_equal(mdv_rxq_create(&rig.port, 1), -EINVAL);
	assert_int_equal(rxq->conf.offloads, 0);
	trace_check("");
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	assert_int_equal(mdv_rxq_create(&rig.port, 1), 0);
	mdv_rxq_destroy(&rig.port, 1);
	trace_check("create 1 2; destroy 1; ");
}

static void
tags_are_stripped_at_once_where_it_runs(void **state)
{
	struct mdv_rxq *rxq = setup(1, 128, 0);

	(void)state;
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, false), 0);
	assert_int_equal(rxq->ring.runtime_opts, 0);
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, true), 0);
	assert_true(rxq->vlan_strip);
	assert_int_equal(rxq->ring.runtime_opts, MDV_RX_RUNTIME_VLAN);
	trace_check("");
	/* A WQ that firmware did not destroy when the port stopped: the start makes a new one. */
	rxq->ready = true;
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, false), 0);
	assert_false(rxq->vlan_strip);
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, true), 0);
	trace_check("");
	rig.port.started = true;
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, false), 0);
	assert_false(rxq->vlan_strip);
	/* Packets with a tag may still be there. */
	assert_int_equal(rxq->ring.runtime_opts, MDV_RX_RUNTIME_VLAN);
	trace_check("strip 1 0; ");
	trace.fails = "strip 1 1";
	trace.result = -EIO;
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, true), -EIO);
	assert_false(rxq->vlan_strip);
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, NB_QUEUES, true), 0);
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 0, true), 0);
}

static void
a_queue_tells_what_it_strips_now(void **state)
{
	struct rte_eth_rxq_info info;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const bool was = i % 2 != 0, is = i / 2 != 0;

		setup(1, 128, was ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0);
		assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, is), 0);
		mdv_rxq_info_get(&rig.dev, 1, &info);
		assert_int_equal(info.conf.offloads, is ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0);
		mdv_rxq_release(&rig.dev, 1);
	}
}

/** The ring that bursts read the option from may be replaced before it is set. */
static void
tags_are_looked_for_on_a_ring_that_comes_meanwhile(void **state)
{
	struct mdv_rxq *rxq = setup(1, 128, 0);

	(void)state;
	rig.port.started = true;
	rxq->ready = true;
	recreated = rxq;
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, true), 0);
	trace_check("strip 1 1; ");
	assert_int_equal(rxq->ring.runtime_opts, MDV_RX_RUNTIME_VLAN);
}

/** The queue that takes objects over is in no list yet. */
static void
marks_are_looked_for_on_objects_that_are_taken_over(void **state)
{
	(void)state;
	rig.port.started = true;
	setup(1, 128, 0);
	mdv_rxq_release(&rig.dev, 1);
	trace_clear();
	marks_come = true;
	assert_int_equal(setup(1, 128, 0)->ring.runtime_opts, MDV_RX_RUNTIME_MARK);
	trace_check("adopt 1 1; ");
}

static void
a_cq_that_fails_while_it_is_taken_over_is_noticed(void **state)
{
	(void)state;
	rig.port.started = true;
	setup(1, 128, 0);
	mdv_rxq_release(&rig.dev, 1);
	trace_clear();
	cq_fails = true;
	assert_true(mdv_rxq_is_broken(setup(1, 128, 0)));
	trace_check("adopt 1 1; ");
	assert_null(rig.port.parked);
}

static void
marks_are_looked_for_everywhere(void **state)
{
	struct mdv_rxq *first, *parked;

	(void)state;
	rig.port.started = true;
	first = setup(0, 128, 0);
	parked = setup(2, 128, 0);
	mdv_rxq_release(&rig.dev, 2);
	mdv_rxq_enable_marks(&rig.port);
	assert_true(rig.port.marks_in_use);
	assert_int_equal(first->ring.runtime_opts, MDV_RX_RUNTIME_MARK);
	assert_int_equal(parked->ring.runtime_opts, MDV_RX_RUNTIME_MARK);
}

/** The CQE of @p ci: of this lap, a block of @p nb or a packet. */
static void
write_cqe(struct mdv_rxq *rxq, uint32_t ci, uint32_t nb)
{
	struct mdv_hw_cqe *cqe = &rxq->ring.cqes[ci & rxq->ring.mask];

	cqe->op_own = MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT |
		(nb > 1 ? MDV_HW_CQE_FORMAT_MINI : 0) | (ci >> rxq->ring.log2_wqes & 1);
	cqe->byte_cnt = rte_cpu_to_be_32(nb);
}

/** At any place of the ring, and over its end: three packets, then a block of four, then one. */
static void
descriptors_tell_what_waits(void **state)
{
	struct mdv_rxq *rxq = setup(1, 64, 0);

	(void)state;
	rxq->ring.mask = 63;
	rxq->ring.log2_wqes = 6;
	for (uint32_t start = 50; start < 200; start += 7) {
		rxq->ring.cqes = rig_cqes(64);
		rxq->ring.runtime_opts = 0;
		rxq->pos = (struct mdv_rxq_pos){ .cq_ci = start, .wqe_ci = 10, .wqe_pi = 10 + 60 };
		for (uint32_t i = 0; i < 3; i++)
			write_cqe(rxq, start + i, 100);
		for (uint32_t i = 0; i < 3; i++)
			rxq->ring.cqes[(start + i) & 63].op_own &= ~MDV_HW_CQE_FORMAT_MINI;
		assert_int_equal(mdv_rxq_count(rxq), 3);
		for (uint16_t i = 0; i < 60; i++)
			assert_int_equal(mdv_rxq_descriptor_status(rxq, i),
				i < 3 ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL);
		for (uint16_t i = 60; i < 64; i++)
			assert_int_equal(
				mdv_rxq_descriptor_status(rxq, i), RTE_ETH_RX_DESC_UNAVAIL);
		assert_int_equal(mdv_rxq_descriptor_status(rxq, 64), -EINVAL);
		/* A block, of which only the first CQE is to be believed. */
		rxq->ring.runtime_opts = MDV_RX_RUNTIME_MINI;
		write_cqe(rxq, start + 3, 4);
		write_cqe(rxq, start + 7, 1);
		assert_int_equal(mdv_rxq_count(rxq), 8);
		for (uint16_t i = 0; i < 60; i++)
			assert_int_equal(mdv_rxq_descriptor_status(rxq, i),
				i < 8 ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL);
		/* Those of a block that are not handed out come before. */
		rxq->nb_ready = 2;
		assert_int_equal(mdv_rxq_count(rxq), 10);
		/* No more than the ring has. */
		write_cqe(rxq, start, 64);
		assert_int_equal(mdv_rxq_count(rxq), 64);
		rxq->nb_ready = 0;
		free(rxq->ring.cqes);
	}
}

static void
make_striding(void)
{
	rig.port.device.caps.log2_striding.bytes_min = 6;
	rig.port.device.caps.log2_striding.bytes_max = 13;
	rig.port.device.caps.log2_striding.strides_min = 3;
	rig.port.device.caps.log2_striding.strides_max = 16;
	rig.port.strides = true;
	rig.port.started = true;
}

/** Packets that are copied fit the mbufs of the new pool, whose frames may still be as long. */
static void
a_smaller_pool_takes_shorter_packets_from_strides(void **state)
{
	const struct rte_eth_rxconf conf = { 0 };
	struct rte_mempool *small = rig_pool("small", 32, RTE_PKTMBUF_HEADROOM + 1536);
	struct mdv_rxq *rxq;

	(void)state;
	make_striding();
	rxq = setup(1, 1024, 0);
	assert_int_equal(rxq->strides.len_max, 1920);
	mdv_rxq_release(&rig.dev, 1);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 1, 1024, 0, &conf, small), 0);
	rxq = rx_queues[1];
	assert_int_equal(rxq->strides.len_max, 1536);
	/* And longer ones of the larger pool again, up to the strides' length. */
	mdv_rxq_release(&rig.dev, 1);
	trace_clear();
	rxq = setup(1, 1024, 0);
	trace_check("adopt 1 1; ");
	assert_int_equal(rxq->strides.len_max, 1920);
	rte_mempool_free(small);
}

/** The strides are as long as before, so the port may return to the MTU of before. */
static void
a_shorter_mtu_leaves_strides_as_long_as_they_are(void **state)
{
	struct mdv_rxq *rxq;

	(void)state;
	make_striding();
	setup(1, 1024, 0);
	mdv_rxq_release(&rig.dev, 1);
	rig.data.mtu = rig.port.mtu = 500;
	trace_clear();
	rxq = setup(1, 1024, 0);
	trace_check("adopt 1 1; ");
	assert_int_equal(rxq->strides.log2_bytes, 11);
	assert_int_equal(rxq->strides.len_max, 1920);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 1, 1500), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, port_make, port_free)
	const struct CMUnitTest tests[] = {
		TEST(the_device_limits_descriptors),
		TEST(a_queue_is_set_up),
		TEST(odd_pools_are_noticed),
		TEST(what_is_split_is_refused),
		TEST(a_running_port_makes_objects_at_once),
		TEST(a_released_queues_objects_wait),
		TEST(rules_find_the_wq_of_a_released_queue),
		TEST(a_queue_that_is_set_up_again_goes_on_counting),
		TEST(objects_follow_the_port),
		TEST(tags_are_stripped_at_once_where_it_runs),
		TEST(a_queue_tells_what_it_strips_now),
		TEST(tags_are_looked_for_on_a_ring_that_comes_meanwhile),
		TEST(marks_are_looked_for_on_objects_that_are_taken_over),
		TEST(a_cq_that_fails_while_it_is_taken_over_is_noticed),
		TEST(marks_are_looked_for_everywhere),
		TEST(descriptors_tell_what_waits),
		TEST(a_smaller_pool_takes_shorter_packets_from_strides),
		TEST(a_shorter_mtu_leaves_strides_as_long_as_they_are),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
