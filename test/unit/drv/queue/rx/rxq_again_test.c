/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queues that have failed, or whose objects firmware has kept: they start again. */
#include "queue/rx/rx_strides.h"
#include "wq_rig.h"

static void
a_queue_in_error_starts_again(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	complete(0, MLX5_CQE_RESP_SEND);
	complete(1, MLX5_CQE_RESP_SEND);
	complete(2, MLX5_CQE_RESP_ERR);
	fake.nb_ops = 0;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	/* The two lost packets; the burst itself counts the error. */
	assert_int_equal(rxq->count.errors, 2);
	assert_int_equal(rxq->pos.cq_ci, 3);
	assert_int_equal(rte_be_to_cpu_32(newest()->cq_dbrec[0]), 3);
	assert_int_equal(fake.nb_ops, 2);
	assert_false(mdv_rxq_is_broken(rxq));
	check_ready();
	/* The WQ does not start: a burst has it recreated. */
	fake.state_errors[IBV_WQS_RDY] = EIO;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	assert_true(mdv_rxq_is_broken(rxq));
	assert_int_equal(nb_in_ring(), NB_DESC);
	/* The WQ does not even stop: nothing is touched. */
	fake.state_errors[IBV_WQS_RESET] = EIO;
	fake.nb_ops = 0;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), -EIO);
	assert_int_equal(fake.nb_ops, 1);
	assert_int_equal(nb_in_ring(), NB_DESC);
	fake.state_errors[IBV_WQS_RESET] = fake.state_errors[IBV_WQS_RDY] = 0;
}

static void
other_rings_take_the_place_of_broken_ones(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq, fresh;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	rxq->count.packets = 9;
	rxq->nb_ready = 5;
	mdv_rxq_ring_break(rxq);
	assert_true(mdv_rxq_is_broken(rxq));
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), 0);
	check_ready();
	assert_false(mdv_rxq_is_broken(rxq));
	assert_false(fake.wqs[0].has_wq || fake.wqs[0].has_cq);
	assert_ptr_equal(rxq->ring.wqes, fake.wqs[1].wqes);
	assert_ptr_equal(rxq->ring.cqes, fake.wqs[1].cqes);
	assert_ptr_equal(rxq->ring.wq_dbrec, fake.wqs[1].wq_dbrec);
	assert_ptr_equal(rxq->ring.cq_dbrec, fake.wqs[1].cq_dbrec);
	assert_int_equal(rxq->nb_ready, 0);
	assert_int_equal(rxq->count.packets, 9);
	/* The WQ does not start: the rings exist, and the queue waits for the next try. */
	fake.state_errors[IBV_WQS_RDY] = EIO;
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), -EIO);
	assert_false(rxq->ready);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	fake.state_errors[IBV_WQS_RDY] = 0;
	/* The pool cannot be registered: the old rings stay. */
	fresh = make_fresh();
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), -ENOMEM);
	assert_ptr_equal(rxq->objs.wq, &fake.wqs[2].wq);
	assert_false(fake.wqs[3].has_wq || fake.wqs[3].has_cq);
	rig_verbs.reg_result = 0;
}

/** Later bursts fill in the buffers that are missing then. */
static void
a_recovery_is_content_with_some_buffers(void **state)
{
	struct rte_mbuf *kept[POOL_SIZE];
	const unsigned int nb = POOL_SIZE - NB_DESC - 10;
	struct mdv_rxq fresh;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	fresh = make_fresh();
	assert_int_equal(rte_pktmbuf_alloc_bulk(fake.pool, kept, nb + 20), 0);
	assert_int_equal(mdv_rxq_ring_replace(&fake.rxq, &fresh), 0);
	assert_true(fake.rxq.ready);
	assert_true(fake.rxq.pos.wqe_pi - fake.rxq.pos.wqe_ci < NB_DESC);
	rte_pktmbuf_free_bulk(kept, nb + 20);
}

/** Tags are turned on while the WQ has failed, and nobody has noticed. */
static void
stripping_survives_a_recovery(void **state)
{
	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	newest()->state = IBV_WQS_ERR;
	complete(0, MLX5_CQE_RESP_ERR);
	fake.rxq.vlan_strip = true;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_int_equal(newest()->flags, 0);
	assert_int_equal(mdv_rxq_ring_recover(&fake.rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	check_ready();
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
}

/** Firmware refuses to destroy the WQ when the port stops, and not when it starts again. */
static void
a_restart_destroys_what_was_left(void **state)
{
	void *queues[3] = { NULL, NULL, &fake.rxq };

	(void)state;
	fake.port.data.rx_queues = queues;
	fake.port.data.nb_rx_queues = RTE_DIM(queues);
	fake.port.port.mtu = 400;
	fake.port.port.device.caps.max_sge = 8;
	assert_int_equal(mdv_rxq_create(&fake.port.port, 2), 0);
	assert_int_equal(mdv_rxq_start(&fake.port.port, 2), 0);
	fake.destroy_error = EREMOTEIO;
	mdv_rxq_destroy(&fake.port.port, 2);
	assert_int_equal(mdv_rxq_create(&fake.port.port, 2), -EREMOTEIO);
	assert_int_equal(nb_in_ring(), NB_DESC);
	fake.destroy_error = 0;
	assert_int_equal(mdv_rxq_create(&fake.port.port, 2), 0);
	assert_int_equal(mdv_rxq_start(&fake.port.port, 2), 0);
	assert_int_equal(nb_in_ring(), NB_DESC);
	assert_false(fake.wqs[0].has_wq);
	mdv_rxq_destroy(&fake.port.port, 2);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

/** The same for a striding queue: buffers of strides are there as long as the WQ is. */
static void
a_restart_frees_the_strides_that_were_left(void **state)
{
	struct mdv_port *port = &fake.port.port;
	void *queues[3] = { NULL, NULL, &fake.rxq };

	(void)state;
	fake.port.data.rx_queues = queues;
	fake.port.data.nb_rx_queues = RTE_DIM(queues);
	port->mtu = 400;
	port->config.mprq = MDV_MPRQ_ON;
	port->device.caps.max_sge = 8;
	port->device.caps.log2_striding.bytes_max = 13;
	port->device.caps.log2_striding.strides_max = 16;
	fake.wqe_cnt = 4;
	fake.stride = 2 * sizeof(struct mlx5_wqe_data_seg);
	assert_int_equal(mdv_rx_strides_choose(port), 0);
	assert_int_equal(mdv_rxq_create(port, 2), 0);
	assert_int_equal(mdv_rxq_start(port, 2), 0);
	fake.destroy_error = EREMOTEIO;
	mdv_rxq_destroy(port, 2);
	fake.destroy_error = 0;
	assert_int_equal(mdv_rx_strides_choose(port), 0);
	assert_int_equal(mdv_rxq_create(port, 2), 0);
	/* Nothing is left of the queue that was. */
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_equal(mdv_rxq_start(port, 2), 0);
	assert_int_equal(nb_in_ring(), NB_DESC);
	mdv_rxq_destroy(port, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_queue_in_error_starts_again),
		TEST(other_rings_take_the_place_of_broken_ones),
		TEST(a_recovery_is_content_with_some_buffers),
		TEST(stripping_survives_a_recovery),
		TEST(a_restart_destroys_what_was_left),
		TEST(a_restart_frees_the_strides_that_were_left),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
