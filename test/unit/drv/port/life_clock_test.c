/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of packets and of the device's clock, beside those of this machine. */
#include <errno.h>
#include <time.h>

#include <rte_bus_vdev.h>
#include <rte_mbuf_dyn.h>

#include "port_rig.h"
#include "rte_pmd_mlx5dv.h"

/** Allowed difference of the two, in ns: the relation of the clocks is written once in a while,
 * and the device's ticks stand still while its thread sleeps. */
#define NEAR_NS UINT64_C(10000000000)
/** A tick is 6.4 ns: 156.25 MHz. */
#define TICK_NUMERATOR   64
#define TICK_DENOMINATOR 10

static int timestamp_at;

static uint64_t
now_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t
to_ns(uint16_t port_id, uint64_t ticks)
{
	uint64_t ns;

	assert_int_equal(rte_pmd_mlx5dv_timestamp_to_ns(port_id, ticks, &ns), 0);
	return ns;
}

static void
assert_near(uint64_t ns, uint64_t before, uint64_t after)
{
	assert_true(ns + NEAR_NS > before && ns < after + NEAR_NS);
}

static uint64_t
stamp_of_packet(uint16_t port_id)
{
	struct rte_mbuf *pkt = port_rig_packet(1, 100), *got = NULL;
	uint64_t ticks;
	unsigned int polls;

	assert_int_equal(rte_eth_tx_burst(port_id, 0, &pkt, 1), 1);
	for (polls = 0; got == NULL && polls < NB_POLLS; polls++)
		rte_eth_rx_burst(port_id, 0, &got, 1);
	assert_non_null(got);
	ticks = *RTE_MBUF_DYNFIELD(got, timestamp_at, rte_mbuf_timestamp_t *);
	rte_pktmbuf_free(got);
	return ticks;
}

static void
timestamps_are_times_of_day(void **state)
{
	struct shape shape = port_rig_shapes[0];
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	uint64_t flag, before = now_ns(), first, second, clock, ns;

	(void)state;
	shape.rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	port_rig_configure(port_id, &shape);
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&timestamp_at, &flag), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	first = stamp_of_packet(port_id);
	assert_int_equal(rte_eth_read_clock(port_id, &clock), 0);
	second = stamp_of_packet(port_id);
	assert_true(first <= clock && clock <= second);
	assert_near(to_ns(port_id, first), before, now_ns());
	assert_near(to_ns(port_id, clock), before, now_ns());
	/* Both conversions agree to the ns, in either order; the relation may be written in
	 * between. */
	do {
		ns = to_ns(port_id, first);
		clock = to_ns(port_id, first + 1000000) - ns;
	} while (ns != to_ns(port_id, first));
	assert_true(clock - 1000000 * TICK_NUMERATOR / TICK_DENOMINATOR + 1 <= 2);
	assert_int_equal(rte_pmd_mlx5dv_timestamp_to_ns(port_id + 1, first, &ns), -ENODEV);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

/** Its queues stay as they were set up when a port is configured again with as many. */
static void
queues_that_stay_stamp_as_the_port_is_configured(void **state)
{
	const struct rte_eth_conf conf = { .rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP };
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	uint64_t flag, before = now_ns();

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[0]);
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&timestamp_at, &flag), 0);
	assert_int_equal(rte_eth_dev_configure(port_id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_near(to_ns(port_id, stamp_of_packet(port_id)), before, now_ns());
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timestamps_are_times_of_day),
		cmocka_unit_test(queues_that_stay_stamp_as_the_port_is_configured),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
