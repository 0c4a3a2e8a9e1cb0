/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of Tx queues on softhca, by the timestamps that the device gives the packets when they come
 * back. */
#include <errno.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "port_rig.h"

/** Packets that are handed over at once, and the bytes of each. */
#define NB_PACED  12u
#define PACED_LEN 1000u
/** What a queue with the burst size of the tests sends without a distance. */
#define NB_BURST 4u
/** Tries until one burst was seen together: a busy machine delays some. */
#define NB_TRIES 100

static int timestamp_at;

/** Ticks that @p mbps puts between packets; the clock has 156.25 a microsecond. */
static uint64_t
gap_ticks(uint32_t mbps)
{
	return PACED_LEN * 8 * UINT64_C(15625) / (100 * mbps);
}

/** Hand packets over at once; @p ticks gets the arrival times, and before them the start. */
static void
send_paced(uint16_t port_id, uint64_t ticks[NB_PACED])
{
	struct rte_mbuf *pkts[NB_PACED], *got;
	unsigned int nb_got = 0, polls, i;
	uint64_t start;

	for (i = 0; i < NB_PACED; i++)
		pkts[i] = port_rig_packet(1, PACED_LEN);
	assert_int_equal(rte_eth_read_clock(port_id, &start), 0);
	assert_int_equal(rte_eth_tx_burst(port_id, 0, pkts, NB_PACED), NB_PACED);
	for (polls = 0; nb_got < NB_PACED && polls < NB_POLLS; polls++) {
		if (rte_eth_rx_burst(port_id, 0, &got, 1) == 0)
			continue;
		ticks[nb_got++] =
			*RTE_MBUF_DYNFIELD(got, timestamp_at, rte_mbuf_timestamp_t *) - start;
		rte_pktmbuf_free(got);
	}
	assert_int_equal(nb_got, NB_PACED);
}

/** On a busy machine any packet may be late, which does not delay the next ones. */
static void
check_pace(uint16_t port_id, uint32_t mbps, unsigned int nb_burst)
{
	uint64_t ticks[NB_PACED];
	unsigned int i;

	send_paced(port_id, ticks);
	for (i = nb_burst; i < NB_PACED; i++)
		assert_true(ticks[i] + 1 >= (i - nb_burst) * gap_ticks(mbps));
}

static uint16_t
port_make(const char *args)
{
	struct shape shape = port_rig_shapes[0];
	uint16_t port_id = port_rig_open_with("net_mlx5dv0", args);
	uint64_t flag;

	shape.rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	port_rig_configure(port_id, &shape);
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&timestamp_at, &flag), 0);
	return port_id;
}

static void
port_end(void)
{
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

static void
a_limited_queue_keeps_its_packets_apart(void **state)
{
	uint16_t port_id = port_make("");
	uint64_t ticks[NB_PACED];

	(void)state;
	/* Set before the start, changed while the queue runs, and kept while it is stopped. */
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 0, 5), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	check_pace(port_id, 5, 0);
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 0, 2), 0);
	check_pace(port_id, 2, 0);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port_id, 0), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port_id, 0), 0);
	check_pace(port_id, 2, 0);
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 0, 0), 0);
	send_paced(port_id, ticks);
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 1, 5), -EINVAL);
	port_end();
}

static void
a_burst_goes_together(void **state)
{
	uint16_t port_id = port_make(",tx_max_burst_sz=4000,tx_typical_pkt_sz=1000");
	uint64_t ticks[NB_PACED];
	unsigned int tries;
	bool together = false;

	(void)state;
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 0, 2), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	check_pace(port_id, 2, NB_BURST);
	for (tries = 0; tries < NB_TRIES && !together; tries++) {
		/* The device saves up for the burst while there is nothing to send. */
		rte_delay_us_sleep(2 * NB_BURST * PACED_LEN * 8 / 2);
		send_paced(port_id, ticks);
		together = ticks[NB_BURST - 1] - ticks[0] < gap_ticks(2);
	}
	assert_true(together);
	/* Sizes go with a rate only. */
	assert_int_equal(rte_eth_set_queue_rate_limit(port_id, 0, 0), 0);
	send_paced(port_id, ticks);
	port_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limited_queue_keeps_its_packets_apart),
		cmocka_unit_test(a_burst_goes_together),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
