/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole lives of a port on softhca, run by "softhca run": configured, started, used, stopped,
 * closed, removed while running, failing on the way. Each time the pool must be complete at the
 * end, and the sanitizers of the build find other leaks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/verbs.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "port_rig.h"

#define NB_PACKETS 200
/**
 * Packets in flight: fewer than any shape has receive WQEs, as a device that lay idle drops some.
 */
#define WINDOW 16
/**
 * Length of packets that may or may not arrive; any ring has room for these and for an exchange.
 */
#define STRAY_LEN 77
#define NB_STRAYS 32

/** Regions of the pool deregistered so far, and the number when the last QP that sends was
 * destroyed. */
static unsigned int nb_mrs_gone, nb_mrs_gone_before_sender;

/** The driver, which is linked in, calls these two before the library's. */
int
ibv_dereg_mr(struct ibv_mr *mr)
{
	int (*next)(struct ibv_mr *) = (__typeof__(next))dlsym(RTLD_NEXT, "ibv_dereg_mr");

	nb_mrs_gone +=
		(uintptr_t)STAILQ_FIRST(&port_rig_pool->mem_list)->addr - (uintptr_t)mr->addr <
		mr->length;
	return next(mr);
}

int
ibv_destroy_qp(struct ibv_qp *qp)
{
	int (*next)(struct ibv_qp *) = (__typeof__(next))dlsym(RTLD_NEXT, "ibv_destroy_qp");

	if (qp->send_cq != NULL)
		nb_mrs_gone_before_sender = nb_mrs_gone;
	return next(qp);
}

/** Send over the looped wire and get everything back. */
static void
exchange(uint16_t port_id, const struct shape *shape)
{
	unsigned int nb_sent = 0, nb_got = 0, polls;
	struct rte_mbuf *pkts[32], *pkt;
	uint16_t i, k, nb;

	for (polls = 0; nb_got < NB_PACKETS && polls < NB_POLLS; polls++) {
		if (nb_sent < NB_PACKETS && nb_sent - nb_got < WINDOW) {
			pkt = port_rig_packet(shape->nb_segs, shape->len);
			if (rte_eth_tx_burst(port_id, nb_sent % shape->nb_queues, &pkt, 1) == 1)
				nb_sent++;
			else
				rte_pktmbuf_free(pkt);
		}
		for (i = 0; i < shape->nb_queues; i++) {
			nb = rte_eth_rx_burst(port_id, i, pkts, RTE_DIM(pkts));
			for (k = 0; k < nb; k++) {
				if (pkts[k]->pkt_len == STRAY_LEN)
					continue;
				assert_int_equal(pkts[k]->pkt_len, shape->nb_segs * shape->len);
				nb_got++;
			}
			rte_pktmbuf_free_bulk(pkts, nb);
		}
	}
	assert_int_equal(nb_got, NB_PACKETS);
}

static void
stop_both(uint16_t port_id, uint16_t idx)
{
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;

	assert_int_equal(rte_eth_dev_rx_queue_stop(port_id, idx), 0);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port_id, idx), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(port_id, idx, &rx), 0);
	assert_int_equal(rte_eth_tx_queue_info_get(port_id, idx, &tx), 0);
	assert_int_equal(rx.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(tx.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
}

static void
start_both(uint16_t port_id, uint16_t idx)
{
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;

	assert_int_equal(rte_eth_dev_rx_queue_start(port_id, idx), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port_id, idx), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(port_id, idx, &rx), 0);
	assert_int_equal(rte_eth_tx_queue_info_get(port_id, idx, &tx), 0);
	assert_int_equal(rx.queue_state, RTE_ETH_QUEUE_STATE_STARTED);
	assert_int_equal(tx.queue_state, RTE_ETH_QUEUE_STATE_STARTED);
}

/** A stopped queue neither sends nor receives. */
static void
poll_stopped(uint16_t port_id, uint16_t idx)
{
	struct rte_mbuf *pkts[32], *pkt = port_rig_packet(1, 100);
	unsigned int i;

	for (i = 0; i < 100; i++) {
		assert_int_equal(rte_eth_tx_burst(port_id, idx, &pkt, 1), 0);
		assert_int_equal(rte_eth_rx_burst(port_id, idx, pkts, RTE_DIM(pkts)), 0);
	}
	assert_int_equal(rte_eth_tx_done_cleanup(port_id, idx, 0), 0);
	rte_pktmbuf_free(pkt);
}

/** Each control operation once, on the running port. */
static void
turn_knobs(uint16_t port_id, uint16_t mtu)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 }, { .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_action_queue queue = { 0 };
	const struct rte_flow_action actions[] = { { .type = RTE_FLOW_ACTION_TYPE_QUEUE,
							   .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END } };
	struct rte_ether_addr mac = { { 2, 0, 0, 0, 0, 9 } }, group = { { 1, 0, 0x5e, 0, 0, 5 } };
	struct rte_eth_rss_conf rss = { .rss_hf = RTE_ETH_RSS_UDP };
	struct rte_eth_rss_reta_entry64 reta[8] = { { .mask = 1 } };
	struct rte_flow_error error;

	assert_int_equal(rte_eth_promiscuous_enable(port_id), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port_id), 0);
	assert_int_equal(rte_eth_promiscuous_disable(port_id), 0);
	assert_int_equal(rte_eth_allmulticast_disable(port_id), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port_id, &mac, 0), 0);
	assert_int_equal(rte_eth_dev_mac_addr_remove(port_id, &mac), 0);
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port_id, &group, 1), 0);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port_id, RTE_ETH_VLAN_STRIP_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port_id, 0), 0);
	assert_int_equal(rte_eth_dev_rss_hash_update(port_id, &rss), 0);
	assert_int_equal(rte_eth_dev_rss_reta_update(port_id, reta, 512), 0);
	assert_int_equal(rte_eth_dev_set_mtu(port_id, mtu), 0);
	/* The rule stays: stop, start and close have to deal with it. */
	assert_non_null(rte_flow_create(port_id, &attr, pattern, actions, &error));
}

static void
a_port_lives_and_leaves_nothing(void **state)
{
	struct rte_eth_stats stats;
	unsigned int life, start, i;
	uint16_t port_id;

	(void)state;
	for (life = 0; life < 2; life++) {
		port_id = port_rig_open("net_mlx5dv0");
		for (i = 0; i < RTE_DIM(port_rig_shapes); i++) {
			port_rig_configure(port_id, &port_rig_shapes[i]);
			for (start = 0; start < 2; start++) {
				assert_int_equal(rte_eth_dev_start(port_id), 0);
				assert_int_equal(rte_eth_stats_reset(port_id), 0);
				exchange(port_id, &port_rig_shapes[i]);
				turn_knobs(port_id, port_rig_shapes[i].mtu);
				exchange(port_id, &port_rig_shapes[i]);
				assert_int_equal(rte_eth_stats_get(port_id, &stats), 0);
				assert_int_equal(stats.ipackets, 2 * NB_PACKETS);
				assert_int_equal(stats.opackets, 2 * NB_PACKETS);
				assert_int_equal(stats.ierrors + stats.oerrors + stats.imissed, 0);
				assert_int_equal(rte_eth_dev_stop(port_id), 0);
				port_rig_check_pool(port_rig_pool, NB_MBUFS);
			}
			/* Without queues until it is configured again. */
			assert_int_equal(rte_eth_dev_reset(port_id), 0);
			assert_int_equal(rte_eth_dev_start(port_id), -EINVAL);
		}
		/* Closed by the application, or unplugged while it runs. */
		if (life == 0)
			assert_int_equal(rte_eth_dev_close(port_id), 0);
		else {
			port_rig_configure(port_id, &port_rig_shapes[0]);
			assert_int_equal(rte_eth_dev_start(port_id), 0);
		}
		assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
		assert_false(rte_eth_dev_is_valid_port(port_id));
		port_rig_check_pool(port_rig_pool, NB_MBUFS);
	}
}

/** The same with packets of the port in flight. */
static void
queues_stop_and_start_one_by_one(void **state)
{
	uint16_t port_id = port_rig_open("net_mlx5dv0"), i;
	struct rte_mbuf *pkts[NB_STRAYS];
	unsigned int shape;

	(void)state;
	for (shape = 1; shape < RTE_DIM(port_rig_shapes); shape++) {
		port_rig_configure(port_id, &port_rig_shapes[shape]);
		assert_int_equal(rte_eth_dev_start(port_id), 0);
		for (i = 0; i < port_rig_shapes[shape].nb_queues; i++) {
			uint16_t nb, k;

			exchange(port_id, &port_rig_shapes[shape]);
			for (k = 0; k < RTE_DIM(pkts); k++)
				pkts[k] = port_rig_packet(1, STRAY_LEN);
			nb = rte_eth_tx_burst(port_id, i, pkts, RTE_DIM(pkts));
			rte_pktmbuf_free_bulk(pkts + nb, RTE_DIM(pkts) - nb);
			stop_both(port_id, i);
			poll_stopped(port_id, i);
			start_both(port_id, i);
		}
		/* The port stops with a queue stopped, and starts with all of them. */
		stop_both(port_id, 0);
		assert_int_equal(rte_eth_dev_stop(port_id), 0);
		port_rig_check_pool(port_rig_pool, NB_MBUFS);
		assert_int_equal(rte_eth_dev_start(port_id), 0);
		exchange(port_id, &port_rig_shapes[shape]);
		assert_int_equal(rte_eth_dev_stop(port_id), 0);
		port_rig_check_pool(port_rig_pool, NB_MBUFS);
	}
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
}

static void
deferred_queues_wait(void **state)
{
	const struct rte_eth_rxconf rx_conf = { .rx_deferred_start = 1 };
	const struct rte_eth_txconf tx_conf = { .tx_deferred_start = 1 };
	uint16_t port_id = port_rig_open("net_mlx5dv0");
	struct rte_eth_rxq_info info;
	unsigned int start;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, &rx_conf, port_rig_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port_id, 1, 256, 0, &tx_conf), 0);
	for (start = 0; start < 2; start++) {
		assert_int_equal(rte_eth_dev_start(port_id), 0);
		assert_int_equal(rte_eth_rx_queue_info_get(port_id, 1, &info), 0);
		assert_int_equal(info.conf.rx_deferred_start, 1);
		assert_int_equal(info.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
		poll_stopped(port_id, 1);
		start_both(port_id, 1);
		exchange(port_id, &port_rig_shapes[1]);
		assert_int_equal(rte_eth_dev_stop(port_id), 0);
		port_rig_check_pool(port_rig_pool, NB_MBUFS);
	}
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
}

/** RSS points at all queues from the start on. */
static void
queues_of_a_running_port_are_set_up_again(void **state)
{
	struct rte_mempool *other = port_rig_pool_make("life_other", 1023);
	struct rte_eth_rss_reta_entry64 reta[8] = { { 0 } };
	uint16_t port_id = port_rig_open("net_mlx5dv0"), i;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, NULL, other), -EBUSY);
	exchange(port_id, &port_rig_shapes[1]);
	stop_both(port_id, 1);
	/* A ring of the same size takes another pool; another ring would need other rules. */
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 512, 0, NULL, other), -EBUSY);
	assert_int_equal(rte_eth_dev_rx_queue_start(port_id, 1), -EINVAL);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, NULL, other), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port_id, 1, 1024, 0, NULL), 0);
	poll_stopped(port_id, 1);
	start_both(port_id, 1);
	assert_int_equal(rte_mempool_avail_count(other), 1023 - 256);
	exchange(port_id, &port_rig_shapes[1]);
	stop_both(port_id, 1);
	port_rig_check_pool(other, 1023);
	/* No rule points at the queue any more. */
	for (i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	assert_int_equal(rte_eth_dev_rss_reta_update(port_id, reta, 512), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 512, 0, NULL, other), 0);
	for (i = 0; i < 64; i++)
		reta[0].reta[i] = i % 2;
	assert_int_equal(rte_eth_dev_rss_reta_update(port_id, reta, 512), 0);
	start_both(port_id, 1);
	assert_int_equal(rte_mempool_avail_count(other), 1023 - 512);
	exchange(port_id, &port_rig_shapes[1]);
	/* Released for good: the rest of the queue goes with the port. */
	stop_both(port_id, 1);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, NULL, other), -EBUSY);
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_int_equal(rte_eth_dev_start(port_id), -EINVAL);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
	port_rig_check_pool(other, 1023);
	rte_mempool_free(other);
}

/** As by the counter that rte_eth_read_clock() shows, and in order. */
static void
packets_are_stamped_when_they_arrive(void **state)
{
	struct shape shape = port_rig_shapes[1];
	uint16_t port_id = port_rig_open("net_mlx5dv0");
	unsigned int nb_got = 0, polls;
	struct rte_mbuf *pkt, *got;
	uint64_t before, after, flag;
	struct rte_eth_dev_info info;
	int at;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port_id, &info), 0);
	assert_true(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	shape.rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	port_rig_configure(port_id, &shape);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&at, &flag), 0);
	assert_int_equal(rte_eth_read_clock(port_id, &before), 0);
	for (polls = 0; nb_got < 20 && polls < NB_POLLS; polls++) {
		if (polls == 0) {
			pkt = port_rig_packet(1, 100);
			assert_int_equal(rte_eth_tx_burst(port_id, 0, &pkt, 1), 1);
		}
		if (rte_eth_rx_burst(port_id, 0, &got, 1) == 0)
			continue;
		assert_true(got->ol_flags & flag);
		assert_int_equal(rte_eth_read_clock(port_id, &after), 0);
		assert_uint_in_range(
			*RTE_MBUF_DYNFIELD(got, at, rte_mbuf_timestamp_t *), before, after);
		before = *RTE_MBUF_DYNFIELD(got, at, rte_mbuf_timestamp_t *);
		nb_got++;
		assert_int_equal(rte_eth_tx_burst(port_id, 0, &got, 1), 1);
	}
	assert_int_equal(nb_got, 20);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

static void
memory_goes_after_the_queues_that_send_from_it(void **state)
{
	uint16_t port_id = port_rig_open("net_mlx5dv0");
	unsigned int nb;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	exchange(port_id, &port_rig_shapes[1]);
	nb = nb_mrs_gone;
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_true(nb_mrs_gone > nb);
	assert_int_equal(nb_mrs_gone_before_sender, nb);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

static void
a_failing_start_undoes_itself(void **state)
{
	struct rte_mempool *tiny = port_rig_pool_make("life_tiny", 100);
	uint16_t port_id = port_rig_open("net_mlx5dv0");

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, NULL, tiny), 0);
	assert_int_equal(rte_eth_dev_start(port_id), -ENOMEM);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
	port_rig_check_pool(tiny, 100);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 1, 256, 0, NULL, port_rig_pool), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	exchange(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	/* A second queue that is not set up. */
	port_rig_configure(port_id, &port_rig_shapes[0]);
	assert_int_equal(rte_eth_dev_configure(port_id, 2, 2, &(struct rte_eth_conf){ 0 }), 0);
	assert_int_equal(rte_eth_dev_start(port_id), -EINVAL);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
	rte_mempool_free(tiny);
}

static void
names_and_devices_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	assert_int_equal(rte_vdev_init("net_mlx5dv0", "ibdev=mlx5_99"), -ENODEV);
	assert_int_equal(rte_vdev_init("net_mlx5dv0", "ibdev=mlx5_0,x=y"), -EINVAL);
	port_rig_open("net_mlx5dv0");
	assert_int_equal(rte_vdev_init("net_mlx5dv0", "ibdev=mlx5_0"), -EEXIST);
	/* Two ports may share a device. */
	port_rig_open("net_mlx5dv1");
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv1"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_lives_and_leaves_nothing),
		cmocka_unit_test(packets_are_stamped_when_they_arrive),
		cmocka_unit_test(memory_goes_after_the_queues_that_send_from_it),
		cmocka_unit_test(queues_stop_and_start_one_by_one),
		cmocka_unit_test(deferred_queues_wait),
		cmocka_unit_test(queues_of_a_running_port_are_set_up_again),
		cmocka_unit_test(a_failing_start_undoes_itself),
		cmocka_unit_test(names_and_devices_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
