/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for packets on softhca: interrupts through epoll, and the byte that a CPU may watch. */
#include <errno.h>

#include <rte_bus_vdev.h>
#include <rte_interrupts.h>
#include <rte_power_intrinsics.h>

#include "port_rig.h"

/** How long a wake-up may take on a busy machine. */
#define WAKE_UP_MS 60000
#define NB_AT_ONCE 32

static void
send_one(uint16_t port_id)
{
	struct rte_mbuf *pkt = port_rig_packet(1, 100);

	assert_int_equal(rte_eth_tx_burst(port_id, 0, &pkt, 1), 1);
}

/** Poll until a packet has come. */
static void
receive_one(uint16_t port_id)
{
	unsigned int polls, nb = 0;
	struct rte_mbuf *pkt;

	for (polls = 0; nb == 0 && polls < NB_POLLS; polls++)
		nb = rte_eth_rx_burst(port_id, 0, &pkt, 1);
	assert_int_equal(nb, 1);
	rte_pktmbuf_free(pkt);
}

/** Check that the queue is quiet: an event would have to be of an earlier arm. */
static void
wait_for_wake_up(uint16_t port_id, void *data)
{
	struct rte_epoll_event event;

	assert_int_equal(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, WAKE_UP_MS), 1);
	assert_ptr_equal(event.epdata.data, data);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port_id, 0), 0);
}

static void
configure_interrupts(uint16_t port_id)
{
	const struct rte_eth_conf conf = { .intr_conf.rxq = 1 };

	assert_int_equal(rte_eth_dev_configure(port_id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 0, 256, 0, NULL, port_rig_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port_id, 0, 256, 0, NULL), 0);
}

/** Packets that the application has not taken wake it, too: those of a block, and in mode=ibv those
 * that are still verbs'. @param count whether the application counts them first */
static void
half_a_burst_wakes_again(bool count)
{
	uint16_t port_id = port_rig_open("net_mlx5dv0"), nb = 0;
	struct rte_mbuf *pkts[NB_AT_ONCE];
	unsigned int polls, i;

	configure_interrupts(port_id);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_int_equal(rte_eth_dev_rx_intr_ctl_q(port_id, 0, RTE_EPOLL_PER_THREAD,
				 RTE_INTR_EVENT_ADD, &port_rig_pool),
		0);
	for (i = 0; i < NB_AT_ONCE; i++)
		pkts[i] = port_rig_packet(1, 100);
	assert_int_equal(rte_eth_tx_burst(port_id, 0, pkts, NB_AT_ONCE), NB_AT_ONCE);
	for (polls = 0; count && rte_eth_rx_queue_count(port_id, 0) < NB_AT_ONCE; polls++)
		assert_true(polls < NB_POLLS);
	while (nb < NB_AT_ONCE) {
		assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
		wait_for_wake_up(port_id, &port_rig_pool);
		nb += rte_eth_rx_burst(port_id, 0, &pkts[nb], 1);
	}
	rte_pktmbuf_free_bulk(pkts, nb);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

static void
half_a_counted_burst_wakes_again(void **state)
{
	(void)state;
	half_a_burst_wakes_again(true);
}

static void
half_an_uncounted_burst_wakes_again(void **state)
{
	(void)state;
	half_a_burst_wakes_again(false);
}

static bool
may_sleep(uint16_t port_id)
{
	struct rte_power_monitor_cond cond;

	assert_int_equal(rte_eth_get_monitor_addr(port_id, 0, &cond), 0);
	assert_int_equal(cond.size, 1);
	return cond.fn(*(volatile uint8_t *)cond.addr, cond.opaque) == 0;
}

/** More packets than the ring has, so that both values of the owner bit come up. */
static void
the_monitored_byte_tells_of_a_packet(void **state)
{
	uint16_t port_id = port_rig_open("net_mlx5dv0");
	/* In mode=ibv the device's ring belongs to verbs; a stopped port has none. */
	const int error = port_rig_is_ibv() ? -ENOTSUP : -EINVAL;
	struct rte_power_monitor_cond cond;
	unsigned int i, polls;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[0]);
	assert_int_equal(rte_eth_get_monitor_addr(port_id, 0, &cond), error);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	if (port_rig_is_ibv())
		assert_int_equal(rte_eth_get_monitor_addr(port_id, 0, &cond), error);
	for (i = 0; i < 600 && !port_rig_is_ibv(); i++) {
		assert_true(may_sleep(port_id));
		send_one(port_id);
		for (polls = 0; may_sleep(port_id); polls++)
			assert_true(polls < NB_POLLS);
		receive_one(port_id);
	}
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_int_equal(rte_eth_get_monitor_addr(port_id, 0, &cond), error);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

/** The packet is there before the arm, or comes after it. */
static void
interrupts_wake_who_waits(void **state)
{
	uint16_t port_id = port_rig_open("net_mlx5dv0");
	unsigned int start, i, polls;

	(void)state;
	configure_interrupts(port_id);
	for (start = 0; start < 2; start++) {
		assert_int_equal(rte_eth_dev_start(port_id), 0);
		assert_true(rte_eth_dev_rx_intr_ctl_q_get_fd(port_id, 0) >= 0);
		assert_int_equal(rte_eth_dev_rx_intr_ctl_q(port_id, 0, RTE_EPOLL_PER_THREAD,
					 RTE_INTR_EVENT_ADD, &port_rig_pool),
			0);
		for (i = 0; i < 20; i++) {
			assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
			send_one(port_id);
			wait_for_wake_up(port_id, &port_rig_pool);
			receive_one(port_id);
			send_one(port_id);
			for (polls = 0; rte_eth_rx_queue_count(port_id, 0) == 0; polls++)
				assert_true(polls < NB_POLLS);
			assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
			wait_for_wake_up(port_id, &port_rig_pool);
			receive_one(port_id);
			/* The event comes while the thread polls, so the arm was not needed. */
			assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
			assert_int_equal(rte_eth_dev_rx_intr_disable(port_id, 0), 0);
			send_one(port_id);
			receive_one(port_id);
		}
		if (start == 0) {
			assert_int_equal(rte_eth_dev_rx_queue_stop(port_id, 0), 0);
			assert_int_equal(rte_eth_dev_rx_queue_start(port_id, 0), 0);
			assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
			send_one(port_id);
			wait_for_wake_up(port_id, &port_rig_pool);
			receive_one(port_id);
		}
		assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), 0);
		assert_int_equal(rte_eth_dev_stop(port_id), 0);
		assert_int_equal(rte_eth_dev_rx_intr_ctl_q_get_fd(port_id, 0), -1);
	}
	port_rig_configure(port_id, &port_rig_shapes[0]);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port_id, 0), -ENOTSUP);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_wake_who_waits),
		cmocka_unit_test(half_a_counted_burst_wakes_again),
		cmocka_unit_test(half_an_uncounted_burst_wakes_again),
		cmocka_unit_test(the_monitored_byte_tells_of_a_packet),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
