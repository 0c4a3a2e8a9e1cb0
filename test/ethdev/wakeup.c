/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rx interrupts without a lost wake-up: a port that is looped to itself, one packet at a time, and
 * a device that stands still while this program does what would be a race otherwise.
 *
 * Usage: ethdev-wakeup EAL-ARGUMENTS -- FREEZE-COMMAND THAW-COMMAND
 *
 * Without commands: on a device whose CQs break all the time each wait ends, too.
 */
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_mbuf.h>

#include "rig.h"

#define PORT        0
#define NB_DESC     256
#define NB_MBUFS    2047
#define NB_ROUNDS   5
#define NB_BROKEN   100
#define PATIENCE_S  60
#define FRAME_BYTES 100

static const char *freeze, *thaw;
static struct rte_mempool *pool;

static void
device(const char *command)
{
	must(system(command) == 0, command);
}

static void
stand(void)
{
	device(freeze);
}

static void
go(void)
{
	device(thaw);
}

static void
send_one(void)
{
	static const uint8_t addresses[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7,
		0x88, 0xb5 };
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool);

	must(pkt != NULL, "rte_pktmbuf_alloc");
	memset(rte_pktmbuf_append(pkt, FRAME_BYTES), 0, FRAME_BYTES);
	memcpy(rte_pktmbuf_mtod(pkt, uint8_t *), addresses, sizeof(addresses));
	must(rte_eth_tx_burst(PORT, 0, &pkt, 1) == 1, "rte_eth_tx_burst");
}

/** Without taking it. */
static void
await_arrival(void)
{
	const time_t end = time(NULL) + PATIENCE_S;

	while (rte_eth_rx_queue_count(PORT, 0) == 0)
		must(time(NULL) < end, "waiting for a packet");
}

static void
receive_one(void)
{
	struct rte_mbuf *pkt;

	await_arrival();
	must(rte_eth_rx_burst(PORT, 0, &pkt, 1) == 1, "rte_eth_rx_burst");
	rte_pktmbuf_free(pkt);
}

static void
enable(void)
{
	must(rte_eth_dev_rx_intr_enable(PORT, 0) == 0, "rte_eth_dev_rx_intr_enable");
}

static void
disable(void)
{
	must(rte_eth_dev_rx_intr_disable(PORT, 0) == 0, "rte_eth_dev_rx_intr_disable");
}

static void
await_wake_up(void)
{
	struct rte_epoll_event event;

	must(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, PATIENCE_S * 1000) == 1,
		"waiting for a wake-up");
}

/** Each ends with the packet taken, and nothing on its way. */
/* clang-format off */
static const struct {
	const char *name;
	void (*steps[12])(void);
} orders[] = {
	{ "armed, then sent", { enable, send_one, await_wake_up, disable, receive_one } },
	{ "arrived, then armed", { send_one, await_arrival, enable, await_wake_up, disable,
		receive_one } },
	{ "sent, and armed before it arrives", { stand, send_one, enable, go, await_wake_up,
		disable, receive_one } },
	{ "arrived, and armed while the device stands", { send_one, await_arrival, stand, enable,
		go, await_wake_up, disable, receive_one } },
	{ "armed twice", { enable, stand, enable, send_one, go, await_wake_up, disable,
		receive_one } },
	{ "armed in vain, then armed", { enable, disable, send_one, receive_one, enable, send_one,
		await_wake_up, disable, receive_one } },
	{ "armed again while the last event is on its way", { enable, send_one, receive_one, stand,
		enable, send_one, go, await_wake_up, disable, receive_one } },
};
/* clang-format on */

static void
run_orders(void)
{
	for (unsigned int i = 0; i < RTE_DIM(orders); i++) {
		for (unsigned int round = 0; round < NB_ROUNDS; round++)
			for (unsigned int k = 0; orders[i].steps[k] != NULL; k++)
				orders[i].steps[k]();
		printf("%s: woken\n", orders[i].name);
		fflush(stdout);
	}
}

/** A packet that breaks the CQ is lost: who sleeps is woken for that. */
static void
wait_on_broken_queues(void)
{
	struct rte_mbuf *pkts[NB_BROKEN];
	unsigned int nb = 0, nb_new;

	while (nb < NB_BROKEN) {
		enable();
		send_one();
		await_wake_up();
		disable();
		nb_new = rte_eth_rx_burst(PORT, 0, pkts, NB_BROKEN - nb);
		rte_pktmbuf_free_bulk(pkts, nb_new);
		nb += nb_new;
	}
	printf("broken queues: woken\n");
}

static void
start_port(void)
{
	const struct rte_eth_conf conf = { .intr_conf.rxq = 1 };

	pool = rte_pktmbuf_pool_create(
		"wakeup", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0, "rte_eth_dev_configure");
	must(rte_eth_rx_queue_setup(PORT, 0, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
	must(rte_eth_dev_rx_intr_ctl_q(PORT, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL) ==
			0,
		"rte_eth_dev_rx_intr_ctl_q");
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);

	must(nb_eal >= 0 && (argc == nb_eal + 1 || argc == nb_eal + 3), "reading the arguments");
	start_port();
	if (argc == nb_eal + 1) {
		wait_on_broken_queues();
	} else {
		freeze = argv[nb_eal + 1];
		thaw = argv[nb_eal + 2];
		run_orders();
	}
	must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	return EXIT_SUCCESS;
}
