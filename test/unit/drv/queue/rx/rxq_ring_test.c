/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a receive queue through their lives, each step failing; verbs is a fake that
 * counts. */
#include "wq_rig.h"

static void
rings_are_as_large_as_asked(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	rxq->ring.log2_segs = 2;
	fake.wqe_cnt = NB_DESC / 4;
	fake.stride *= 4;
	rxq->vlan_strip = true;
	fake.port.port.marks_in_use = true;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(rxq->ring.mask, NB_DESC / 4 - 1);
	assert_int_equal(rxq->ring.log2_wqes, 4);
	assert_int_equal(rxq->ring.refill_min, 4);
	assert_int_equal(rxq->ring.runtime_opts, MDV_RX_RUNTIME_VLAN | MDV_RX_RUNTIME_MARK);
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	assert_ptr_equal(rxq->ring.wqes, newest()->wqes);
	assert_ptr_equal(rxq->ring.wq_dbrec, newest()->wq_dbrec);
	/* Until the queue is ready, a burst has nothing to take and nothing to fill. */
	assert_int_equal(rxq->pos.wqe_pi - rxq->pos.wqe_ci, NB_DESC / 4);
	assert_false(rxq->ready);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	check_ready();
}

#define LOG2_STRIDES  3
#define STRIDES_WQES  (NB_DESC >> LOG2_STRIDES)
#define STRIDES_BYTES (512u << LOG2_STRIDES)

/** The WQEs have a buffer each, in memory of one region, and nothing overlaps. */
static void
check_buffers(void)
{
	for (unsigned int i = 0; i < STRIDES_WQES; i++) {
		const struct mlx5_wqe_data_seg *seg = &newest()->wqes[2 * i + 1];

		assert_int_equal(rte_be_to_cpu_32(seg->byte_count), STRIDES_BYTES);
		assert_int_equal(rte_be_to_cpu_32(seg->lkey), 0x101);
		for (unsigned int k = 0; k < i; k++) {
			const uint64_t a = rte_be_to_cpu_64(seg->addr);
			const uint64_t b = rte_be_to_cpu_64(newest()->wqes[2 * k + 1].addr);

			assert_true(
				(a > b ? a - b : b - a) >= STRIDES_BYTES + RTE_PKTMBUF_HEADROOM);
		}
	}
}

static void
a_striding_queue_has_buffers_while_it_is_ready(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	rxq->strides.log2_strides = LOG2_STRIDES;
	rxq->strides.log2_bytes = 9;
	rxq->strides.len_max = 256;
	fake.wqe_cnt = STRIDES_WQES;
	fake.stride *= 2;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(rxq->ring.mask, NB_DESC - 1);
	assert_int_equal(rxq->ring.log2_wqes, 6);
	for (unsigned int i = 0; i < 2; i++) {
		assert_null(rxq->strides.pool);
		assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
		assert_int_equal(rig_verbs.nb_mrs, 2);
		assert_int_equal(nb_in_ring(), NB_DESC);
		assert_int_equal(rte_be_to_cpu_32(newest()->wq_dbrec[0]), STRIDES_WQES);
		check_buffers();
		assert_int_equal(mdv_rxq_ring_reset(rxq), 0);
		assert_int_equal(rig_verbs.nb_mrs, 0);
		assert_int_equal(nb_in_ring(), 0);
	}
	fake.state_errors[IBV_WQS_RDY] = EIO;
	assert_int_equal(mdv_rxq_ring_ready(rxq), -EIO);
	assert_null(rxq->strides.pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

static void
a_ring_that_cannot_be_made_leaves_nothing(void **state)
{
	/* clang-format off */
	static const struct {
		int cq_error, wq_error, init_error;
		uint32_t wqe_cnt, strides;
		int result;
	} cases[] = {
		{ ENOMEM, 0, 0, NB_DESC, 1, -ENOMEM }, { 0, EPERM, 0, NB_DESC, 1, -EPERM },
		{ 0, 0, EINVAL, NB_DESC, 1, -EINVAL }, { 0, 0, 0, 2 * NB_DESC, 1, -ENOTSUP },
		{ 0, 0, 0, NB_DESC, 2, -ENOTSUP },
	};
	/* clang-format on */
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		fake.nb_made = 0;
		fake.cq_error = cases[i].cq_error;
		fake.wq_error = cases[i].wq_error;
		fake.init_error = cases[i].init_error;
		fake.wqe_cnt = cases[i].wqe_cnt;
		fake.stride = cases[i].strides * sizeof(struct mlx5_wqe_data_seg);
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), cases[i].result);
		check_nothing();
		free(fake.wqs[0].cqes);
		fake.wqs[0].cqes = NULL;
	}
}

static void
a_queue_gets_ready_and_gives_all_back(void **state)
{
	unsigned int round;

	(void)state;
	/* There are no objects to reset or destroy. */
	assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	for (round = 0; round < 3; round++) {
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		check_ready();
		/* Frames that no burst has taken. */
		complete(0, MLX5_CQE_RESP_SEND);
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_int_equal(newest()->state, IBV_WQS_RESET);
		assert_int_equal(nb_in_ring(), 0);
		assert_int_equal(rig_verbs.nb_mrs, 0);
		assert_false(fake.rxq.ready);
		assert_int_equal(fake.rxq.pos.wqe_pi - fake.rxq.pos.wqe_ci, NB_DESC);
		assert_int_equal(
			newest()->cqes[0].op_own >> MDV_HW_CQE_OPCODE_SHIFT, MLX5_CQE_INVALID);
	}
	/* One that has failed without anybody's knowledge is stopped, too. */
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	/* Destroyed in the state ready. */
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
}

/** CQEs left VALID would be taken for those of the next round. */
static void
a_full_cq_is_drained_to_its_last_completion(void **state)
{
	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	for (unsigned int i = 0; i < NB_DESC; i++)
		complete(i, MLX5_CQE_RESP_SEND);
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(&fake.rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	assert_int_equal(fake.rxq.count.errors, NB_DESC);
	assert_int_equal(fake.rxq.pos.cq_ci, NB_DESC);
	for (unsigned int i = 0; i < NB_DESC; i++)
		assert_int_equal(
			newest()->cqes[i].op_own >> MDV_HW_CQE_OPCODE_SHIFT, MLX5_CQE_INVALID);
}

/** CQEs that its burst made INVALID and had not counted yet are not to be told from unwritten ones.
 */
static void
a_queue_whose_process_was_killed_in_a_burst_is_recreated(void **state)
{
	(void)state;
	for (unsigned int compressed = 0; compressed < 2; compressed++) {
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
		fake.rxq.objs.cq.compressed = compressed;
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_false(mdv_rxq_is_broken(&fake.rxq));
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		fake.rxq.in_burst = true;
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_is_broken(&fake.rxq), compressed);
		assert_false(fake.rxq.in_burst);
		/* Still so when it is started, until a burst asks for other rings. */
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_is_broken(&fake.rxq), compressed);
		fake.rxq.in_burst = true;
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
		assert_false(mdv_rxq_is_broken(&fake.rxq) || fake.rxq.in_burst);
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	}
}

static void
a_queue_that_cannot_get_ready_is_as_before(void **state)
{
	struct rte_mbuf *kept[POOL_SIZE];

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -ENOMEM);
	assert_int_equal(fake.nb_ops, 0);
	rig_verbs.reg_result = 0;
	fake.state_errors[IBV_WQS_RDY] = EIO;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -EIO);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_false(fake.rxq.ready);
	fake.state_errors[IBV_WQS_RDY] = 0;
	/* Tags have been turned on since, which the device refuses. */
	fake.rxq.vlan_strip = true;
	fake.flags_error = EINVAL;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -EINVAL);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	fake.flags_error = 0;
	/* One buffer is missing. */
	assert_int_equal(rte_pktmbuf_alloc_bulk(fake.pool, kept, POOL_SIZE - NB_DESC + 1), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -ENOMEM);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	rte_pktmbuf_free_bulk(kept, POOL_SIZE - NB_DESC + 1);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	check_ready();
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	/* The device keeps its mbufs. */
	fake.state_errors[IBV_WQS_RESET] = EIO;
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), -EIO);
	check_ready();
}

static void
stripping_changes_when_the_device_agrees(void **state)
{
	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, false), 0);
	fake.rxq.vlan_strip = true;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, false), -EINVAL);
	assert_false(fake.rxq.objs.wq_strips);
	newest()->state = IBV_WQS_RDY;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_true(fake.rxq.objs.wq_strips);
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	fake.rxq.vlan_strip = false;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_int_equal(newest()->flags, 0);
	assert_int_equal(fake.nb_ops, 4);
}

/** The device may go on writing to the mbufs of a WQ that is not destroyed. */
static void
a_wq_in_use_stays(void **state)
{
	static const int errors[] = { EBUSY, EINVAL, EREMOTEIO };

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	for (unsigned int i = 0; i < RTE_DIM(errors); i++) {
		fake.destroy_error = errors[i];
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), -errors[i]);
		check_ready();
	}
	/* A device that is gone writes no more. */
	fake.destroy_error = EIO;
	assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	assert_int_equal(rte_mempool_in_use_count(fake.pool), 0);
	fake.destroy_error = 0;
}

/** A queue that splits packets: its pools come and go together, and all mbufs are in their own. */
static void
segments_have_mempools_of_their_own(void **state)
{
	struct rte_mempool *second = rig_pool("second", NB_DESC / 2, ROOM);
	union rte_eth_rxseg asked[] = { { .split = { .mp = fake.pool, .length = 64 } },
		{ .split = { .mp = second } } };
	struct mdv_rxq fresh, *rxq = &fake.rxq;

	(void)state;
	fake.port.port.device.caps.max_sge = 4;
	rxq->conf.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	rxq->conf.rx_seg = asked;
	rxq->conf.rx_nseg = 2;
	assert_int_equal(mdv_rx_split_setup(rxq, 0), 0);
	rxq->ring.log2_segs = 1;
	fake.wqe_cnt /= 2;
	fake.stride *= 2;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), 0);
	assert_int_equal(nb_in_ring(), NB_DESC / 2);
	assert_int_equal(rte_mempool_avail_count(second), 0);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	assert_int_not_equal(newest()->wqes[0].lkey, newest()->wqes[1].lkey);
	assert_int_equal(mdv_rxq_ring_destroy(rxq), 0);
	rte_mempool_free(second);
	rte_free(rxq->split);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rings_are_as_large_as_asked),
		TEST(a_striding_queue_has_buffers_while_it_is_ready),
		TEST(a_ring_that_cannot_be_made_leaves_nothing),
		TEST(a_queue_gets_ready_and_gives_all_back),
		TEST(a_full_cq_is_drained_to_its_last_completion),
		TEST(a_queue_whose_process_was_killed_in_a_burst_is_recreated),
		TEST(a_queue_that_cannot_get_ready_is_as_before),
		TEST(stripping_changes_when_the_device_agrees),
		TEST(a_wq_in_use_stays),
		TEST(segments_have_mempools_of_their_own),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
