/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has all of DPDK inside, and libibverbs and libmlx5 as shared libraries: sends
 * frames on a port whose cable ends in itself, and checks that each comes back as it was.
 *
 *     static-loop EAL-ARGUMENT...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

enum {
	PORT = 0,
	NB_FRAMES = 1000,
	BURST = 32,
	FRAME_BYTES = 200,
	TYPE = 0x88b5, /* for experiments: IEEE 802 */
	PATIENCE = 60, /* seconds */
};

static void
must(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, rte_strerror(-ret));
	exit(EXIT_FAILURE);
}

static struct rte_mempool *
start_port(void)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_NONE };
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"mbufs", 4095, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());

	if (pool == NULL)
		must(-rte_errno, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, 1, 1, &conf), "rte_eth_dev_configure");
	must(rte_eth_rx_queue_setup(PORT, 0, 512, rte_socket_id(), NULL, pool),
		"rte_eth_rx_queue_setup");
	must(rte_eth_tx_queue_setup(PORT, 0, 512, rte_socket_id(), NULL), "rte_eth_tx_queue_setup");
	must(rte_eth_dev_start(PORT), "rte_eth_dev_start");
	must(rte_eth_promiscuous_enable(PORT), "rte_eth_promiscuous_enable");
	return pool;
}

/** Each has its number in its first bytes behind the header, and all others follow from it. */
static void
fill(uint8_t *frame, uint32_t number)
{
	static const uint8_t header[RTE_ETHER_HDR_LEN] = { 0x02, 0, 0, 0, 0, 0x77, 0x02, 0, 0, 0, 0,
		0x99, TYPE >> 8, TYPE & 0xff };

	memcpy(frame, header, sizeof(header));
	memcpy(frame + sizeof(header), &number, sizeof(number));
	for (unsigned int i = sizeof(header) + sizeof(number); i < FRAME_BYTES; i++)
		frame[i] = (uint8_t)(number * 7 + i);
}

/** @return how many of @p wanted could be sent */
static uint32_t
send_some(struct rte_mempool *pool, uint32_t first, uint32_t wanted)
{
	struct rte_mbuf *burst[BURST];
	uint16_t nb = 0, sent;

	while (nb < BURST && nb < wanted) {
		burst[nb] = rte_pktmbuf_alloc(pool);
		if (burst[nb] == NULL)
			break;
		fill((uint8_t *)rte_pktmbuf_append(burst[nb], FRAME_BYTES), first + nb);
		nb++;
	}
	sent = rte_eth_tx_burst(PORT, 0, burst, nb);
	for (uint16_t i = sent; i < nb; i++)
		rte_pktmbuf_free(burst[i]);
	return sent;
}

/** @return how many of ours came, in order and as they were; others are Linux's own. */
static uint32_t
receive_some(uint32_t first)
{
	struct rte_mbuf *burst[BURST];
	uint8_t expected[FRAME_BYTES];
	uint16_t nb = rte_eth_rx_burst(PORT, 0, burst, BURST);
	uint32_t nb_ours = 0;

	for (uint16_t i = 0; i < nb; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(burst[i], const uint8_t *);

		if (frame[12] == TYPE >> 8 && frame[13] == (TYPE & 0xff)) {
			fill(expected, first + nb_ours);
			if (burst[i]->pkt_len != FRAME_BYTES ||
				memcmp(frame, expected, FRAME_BYTES) != 0) {
				fprintf(stderr, "frame %u is not as it was\n", first + nb_ours);
				exit(EXIT_FAILURE);
			}
			nb_ours++;
		}
		rte_pktmbuf_free(burst[i]);
	}
	return nb_ours;
}

int
main(int argc, char **argv)
{
	struct rte_eth_dev_info info;
	struct rte_mempool *pool;
	uint32_t sent = 0, received = 0;
	uint64_t end;

	must(rte_eal_init(argc, argv), "rte_eal_init");
	must(rte_eth_dev_info_get(PORT, &info), "rte_eth_dev_info_get");
	pool = start_port();
	end = rte_get_timer_cycles() + PATIENCE * rte_get_timer_hz();
	while (received < NB_FRAMES && rte_get_timer_cycles() < end) {
		/* No more on the way than there are receive buffers. */
		if (sent < NB_FRAMES && sent - received < 256)
			sent += send_some(pool, sent, NB_FRAMES - sent);
		received += receive_some(received);
	}
	printf("%s: sent %u, received %u\n", info.driver_name, sent, received);
	must(rte_eth_dev_stop(PORT), "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT), "rte_eth_dev_close");
	must(rte_eal_cleanup(), "rte_eal_cleanup");
	return received == NB_FRAMES ? EXIT_SUCCESS : EXIT_FAILURE;
}
