/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that packets are split into, as an application describes them: taken, or refused with
 * the reason. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>

#include "base/log.h"
#include "mem/mr.h"
#include "queue/rx/rx_split.h"
#include "queue/rx/rx_strides.h"
#include "queue/rx/rxq.h"
#include "rig.h"

#define SPLIT   RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT
#define SCATTER RTE_ETH_RX_OFFLOAD_SCATTER

static struct rig_port rig;
static void *rx_queues[1];
static struct rte_mempool *heads, *bodies;
static char *logged;
static size_t logged_size;
static FILE *log_stream;

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	heads = rig_pool("heads", 128, 256);
	bodies = rig_pool("bodies", 128, 2048);
	return 0;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	rig.data.rx_queues = rx_queues;
	rig.data.nb_rx_queues = 1;
	rig.data.mtu = rig.port.mtu = 1500;
	rig.port.device.caps =
		(struct mdv_caps){ .max_qp_wr = 4096, .max_cqe = 1 << 20, .max_sge = 7 };
	mdv_queue_list_init(&rig.port.queues);
	log_stream = open_memstream(&logged, &logged_size);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	rte_log_set_level(mdv_log_type, RTE_LOG_ERR);
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	mdv_rxq_release(&rig.dev, 0);
	rte_log_set_level(mdv_log_type, RTE_LOG_EMERG);
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(logged);
	return 0;
}

/** Set up a queue whose packets are split into @p nb of @p segs. */
static int
setup(uint64_t offloads, const struct rte_eth_rxseg_split *segs, uint16_t nb)
{
	union rte_eth_rxseg asked[16];
	struct rte_eth_rxconf conf = { .offloads = offloads, .rx_seg = asked, .rx_nseg = nb };
	int ret;

	for (uint16_t i = 0; i < nb; i++)
		asked[i].split = segs[i];
	rewind(log_stream);
	ret = mdv_rxq_setup(&rig.dev, 0, 128, 0, &conf, NULL);
	fputc('\0', log_stream);
	fflush(log_stream);
	/* As testpmd's, which is on its stack. */
	memset(asked, 0xa5, sizeof(asked));
	return ret;
}

static const struct mdv_rxq *
queue(void)
{
	return rx_queues[0];
}

static void
what_cannot_be_is_refused_by_name(void **state)
{
	/* clang-format off */
	const struct {
		uint64_t offloads;
		uint16_t nb, mtu;
		struct rte_eth_rxseg_split segs[5];
		int result;
		const char *message;
	} cases[] = {
		{ 0, 1, 1500, { { .mp = bodies } }, -EINVAL, "segments without RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT" },
		{ SPLIT, 5, 1500, { { .mp = bodies }, { .mp = bodies }, { .mp = bodies }, { .mp = bodies },
			{ .mp = bodies } }, -EINVAL, "packets can be split into 1 to 4" },
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 }, { .length = 1500 } }, -EINVAL,
			"segment 1 has no mempool" },
		{ SPLIT, 2, 1500, { { .mp = heads, .proto_hdr = RTE_PTYPE_L2_ETHER }, { .mp = bodies } },
			-ENOTSUP, "segment 0 ends with protocol headers (proto_hdr 0x1), the device splits by lengths only" },
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 }, { .mp = bodies, .proto_hdr = 0x10 } },
			-ENOTSUP, "segment 1 ends with protocol headers (proto_hdr 0x10)" },
		/* Headroom is the first segment's alone. */
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 129 }, { .mp = bodies } }, -EINVAL,
			"segment 0: 129 bytes at 128, the buffers of mempool heads have 256" },
		{ SPLIT, 2, 1500, { { .mp = heads, .offset = 128 }, { .mp = bodies } }, -EINVAL,
			"segment 0: 0 bytes at 256, the buffers of mempool heads have 256" },
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 }, { .mp = bodies, .length = 2049 } }, -EINVAL,
			"segment 1: 2049 bytes at 0, the buffers of mempool bodies have 2048" },
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 }, { .mp = bodies, .offset = 2048 } }, -EINVAL,
			"segment 1: 0 bytes at 2048" },
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 },
			{ .mp = bodies, .offset = 65535, .length = 65535 } }, -EINVAL,
			"segment 1: 65535 bytes at 65535" },
		/* 64 + 1453 are one byte less than 1518. */
		{ SPLIT, 2, 1500, { { .mp = heads, .length = 64 }, { .mp = bodies, .length = 1453 } }, -EINVAL,
			"frames of MTU 1500 need 1518 bytes, the 2 segments described take 1517: enable RTE_ETH_RX_OFFLOAD_SCATTER or describe more" },
		/* 64 + 3 * 256 are one byte less: that takes a fifth. */
		{ SPLIT | SCATTER, 1, 815, { { .mp = heads, .length = 64 } }, -EINVAL,
			"frames of MTU 815 need 5 segments as described, at most 4 are possible" },
		{ SPLIT | SCATTER, 1, 9000, { { .mp = heads, .length = 64 } }, -EINVAL,
			"frames of MTU 9000 need 36 segments as described" },
	};
	/* clang-format on */

	(void)state;
	assert_int_equal(mdv_rx_split_max(&rig.port.device.caps), 4);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.data.mtu = cases[i].mtu;
		assert_int_equal(
			setup(cases[i].offloads, cases[i].segs, cases[i].nb), cases[i].result);
		if (strstr(logged, cases[i].message) == NULL)
			fail_msg("%s\nis not in\n%s", cases[i].message, logged);
		assert_null(rx_queues[0]);
	}
}

static void
one_source_of_buffers_is_wanted(void **state)
{
	union rte_eth_rxseg seg = { .split = { .mp = bodies } };
	struct rte_mempool *pools[] = { heads, bodies };
	const struct rte_eth_rxconf split = { .offloads = SPLIT, .rx_seg = &seg, .rx_nseg = 1 };
	const struct rte_eth_rxconf none = { .offloads = SPLIT, .rx_nseg = 1 };
	const struct rte_eth_rxconf several = { .rx_mempools = pools, .rx_nmempool = 2 };
	const struct rte_eth_rxconf plain = { .offloads = SPLIT };

	(void)state;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &split, bodies), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &plain, NULL), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &none, NULL), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &several, NULL), -EINVAL);
	fflush(log_stream);
	assert_non_null(strstr(logged, "one mempool is wanted, or segments with one each"));
	assert_non_null(strstr(logged, "1 segments at (nil), packets can be split into 1 to 4"));
	assert_non_null(strstr(logged, "2 mempools to choose from by packet length (rx_mempools)"));
	/* The offload alone splits nothing. */
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 128, 0, &plain, bodies), 0);
	assert_null(queue()->split);
}

static void
segments_are_as_described_and_the_last_pool_goes_on(void **state)
{
	const struct rte_eth_rxseg_split segs[] = {
		{ .mp = heads, .length = 64, .offset = 8 },
		{ .mp = bodies, .offset = 100 },
		{ .mp = heads, .length = 20, .offset = 4 },
	};
	const struct mdv_rx_split *split;
	struct rte_eth_rxq_info info;
	struct rte_mbuf *mbuf;

	(void)state;
	assert_int_equal(setup(SPLIT, segs, 3), 0);
	split = queue()->split;
	assert_int_equal(split->nb, 3);
	assert_int_equal(mdv_rx_split_bytes(split), 64 + 1948 + 20);
	for (unsigned int i = 0; i < MDV_RX_SEGS_MAX; i++) {
		const struct mdv_rx_seg *seg = &split->segs[i];

		assert_ptr_equal(seg->pool, i == 1 ? bodies : heads);
		assert_int_equal(seg->data_off, i == 0 ? 136 : i == 1 ? 100 : i == 2 ? 4 : 0);
		assert_int_equal(seg->length, i == 0 ? 64 : i == 1 ? 1948 : i == 2 ? 20 : 256);
		mbuf = rte_pktmbuf_alloc(seg->pool);
		assert_ptr_equal(
			(char *)mbuf + seg->buf_offset, (char *)mbuf->buf_addr + seg->data_off);
		rte_pktmbuf_free(mbuf);
	}
	/* What ethdev tells: the first pool, its bytes, and the driver's own copy of the array. */
	mdv_rxq_info_get(&rig.dev, 0, &info);
	assert_ptr_equal(info.mp, heads);
	assert_int_equal(info.rx_buf_size, 64);
	assert_int_equal(info.conf.rx_nseg, 3);
	assert_int_equal(info.conf.offloads, SPLIT);
	for (unsigned int i = 0; i < 3; i++)
		assert_memory_equal(&info.conf.rx_seg[i].split, &segs[i], sizeof(segs[i]));
}

static void
frames_take_the_segments_that_they_need(void **state)
{
	static const struct {
		uint32_t bytes, nb;
	} cases[] = {
		{ 1, 1 },
		{ 64, 1 },
		{ 65, 2 },
		{ 164, 2 },
		{ 165, 3 },
		{ 420, 3 },
		{ 421, 4 },
		{ 676, 4 },
		{ 677, 5 },
		{ 164 + 30 * 256, 32 },
		{ 165 + 30 * 256, 33 },
		{ 164 + 40 * 256, 42 },
	};
	const struct rte_eth_rxseg_split segs[] = {
		{ .mp = heads, .length = 64 },
		{ .mp = heads, .length = 100 },
	};

	(void)state;
	rig.data.mtu = 400;
	assert_int_equal(setup(SPLIT | SCATTER, segs, 2), 0);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(mdv_rx_split_nb_segs(queue()->split, cases[i].bytes), cases[i].nb);
}

static void
the_mtu_must_fit(void **state)
{
	const struct rte_eth_rxseg_split segs[] = {
		{ .mp = heads, .length = 64 },
		{ .mp = bodies, .length = 1454 },
	};
	struct mdv_rxq *rxq;

	(void)state;
	assert_int_equal(setup(SPLIT, segs, 2), 0);
	assert_int_equal(queue()->ring.log2_segs, 1);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1500), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1501), -EINVAL);
	rxq = rx_queues[0];
	rxq->conf.offloads |= SCATTER;
	/* Two more of the last pool. */
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1500 + 2 * 2048), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1501 + 2 * 2048), -EINVAL);
	/* Not on a queue that has two. */
	rxq->objs.wq = rig.wq;
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1501), -EBUSY);
	rxq->objs.wq = NULL;
}

static void
a_running_port_splits_if_it_began_so(void **state)
{
	const struct rte_eth_rxseg_split segs[] = { { .mp = bodies, .length = 1518 } };

	(void)state;
	mdv_rx_split_choose(&rig.port);
	assert_false(rig.port.split);
	rig.port.started = true;
	assert_int_equal(setup(SPLIT, segs, 1), -EBUSY);
	assert_non_null(strstr(
		logged, "splits packets, which the running port's burst function does not do"));
	rig.port.started = false;
	assert_int_equal(setup(SPLIT, segs, 1), 0);
	mdv_rx_split_choose(&rig.port);
	assert_true(rig.port.split);
	mdv_rxq_release(&rig.dev, 0);
	mdv_rx_split_choose(&rig.port);
	assert_false(rig.port.split);
}

static void
striding_queues_do_not_split(void **state)
{
	const struct rte_eth_rxseg_split segs[] = { { .mp = bodies, .length = 1518 } };
	char why[128];

	(void)state;
	assert_int_equal(setup(SPLIT, segs, 1), 0);
	assert_int_equal(
		mdv_rx_strides_shape(rx_queues[0], 1500, true, why, sizeof(why)), -ENOTSUP);
	assert_string_equal(why, "it splits packets into segments");
	assert_int_equal(mdv_rx_strides_shape(rx_queues[0], 1500, false, why, sizeof(why)), 0);
}

/** All pools are registered or none. */
static void
mempools_are_registered_together(void **state)
{
	const struct rte_eth_rxseg_split segs[] = {
		{ .mp = heads, .length = 64 },
		{ .mp = bodies, .length = 100 },
		{ .mp = heads, .length = 64 },
		{ .mp = bodies },
	};
	struct mdv_rx_split *split;

	(void)state;
	rig.port.mr = mdv_mr_create(&rig.port.device, 3);
	assert_non_null(rig.port.mr);
	assert_int_equal(setup(SPLIT, segs, 4), 0);
	split = queue()->split;
	assert_int_equal(mdv_rx_split_register(rx_queues[0]), 0);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	assert_int_not_equal(split->segs[0].lkey_be, split->segs[1].lkey_be);
	for (unsigned int i = 0; i < MDV_RX_SEGS_MAX; i++)
		assert_int_equal(split->segs[i].lkey_be,
			split->segs[split->segs[i].pool == heads ? 0 : 1].lkey_be);
	mdv_rx_split_unregister(rx_queues[0]);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	/* The second pool's registration fails: of the first nothing stays. */
	assert_int_equal(mdv_mr_pool_get(rig.port.mr, heads), 0);
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_rx_split_register(rx_queues[0]), -ENOMEM);
	rig_verbs.reg_result = 0;
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_pool_put(rig.port.mr, heads);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	mdv_mr_destroy(rig.port.mr);
	rig.port.mr = NULL;
}

/* clang-format off */
#define TEST(function) cmocka_unit_test_setup_teardown(function, port_make, port_free)
/* clang-format on */

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_is_refused_by_name),
		TEST(one_source_of_buffers_is_wanted),
		TEST(segments_are_as_described_and_the_last_pool_goes_on),
		TEST(frames_take_the_segments_that_they_need),
		TEST(the_mtu_must_fit),
		TEST(a_running_port_splits_if_it_began_so),
		TEST(striding_queues_do_not_split),
		TEST(mempools_are_registered_together),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
