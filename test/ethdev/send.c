/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends packets that are in a file, one a line, each with what it asks of the port:
 *
 *     OL_FLAGS OUTER_L2 OUTER_L3 L2 L3 L4 TSO_SEGSZ VLAN_TCI FIRST BYTES
 *
 * the flags and bytes in hexadecimal, lengths in decimal; the first mbuf has FIRST of the bytes, 0:
 * all. What rte_eth_tx_prepare() does not take is told by its line's number and the reason.
 *
 * Usage: ethdev-send EAL-ARGUMENTS -- TX_OFFLOADS FILE; ends when a line is read
 */
#include <inttypes.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "rig.h"

#define PORT     0
#define NB_DESC  512
#define NB_MBUFS 2047
#define ROOM     (RTE_PKTMBUF_HEADROOM + 16384)

static struct rte_mempool *pool;

static void
start_port(uint64_t offloads)
{
	const struct rte_eth_conf conf = { .txmode.offloads = offloads };

	pool = rte_pktmbuf_pool_create("send", NB_MBUFS, 0, 0, ROOM, SOCKET_ID_ANY);
	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0, "rte_eth_dev_configure");
	must(rte_eth_rx_queue_setup(PORT, 0, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
}

/** Bytes in hexadecimal. @return how many, appended to the mbuf, @p most at most */
static const char *
append(struct rte_mbuf *mbuf, const char *text, unsigned int most)
{
	unsigned int byte, nb;

	for (nb = 0; nb < most && sscanf(text, "%2x", &byte) == 1; nb++, text += 2) {
		uint8_t *end = (uint8_t *)rte_pktmbuf_append(mbuf, 1);

		must(end != NULL, "room for the bytes");
		*end = byte;
	}
	return text;
}

static struct rte_mbuf *
parse(const char *line)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), *rest;
	unsigned int outer_l2, outer_l3, l2, l3, l4, segsz, tci, first;
	int at = 0;

	must(mbuf != NULL, "rte_pktmbuf_alloc");
	must(sscanf(line, "%" SCNx64 " %u %u %u %u %u %u %u %u %n", &mbuf->ol_flags, &outer_l2,
		     &outer_l3, &l2, &l3, &l4, &segsz, &tci, &first, &at) == 9,
		"parsing a line");
	mbuf->outer_l2_len = outer_l2;
	mbuf->outer_l3_len = outer_l3;
	mbuf->l2_len = l2;
	mbuf->l3_len = l3;
	mbuf->l4_len = l4;
	mbuf->tso_segsz = segsz;
	mbuf->vlan_tci = tci;
	line = append(mbuf, line + at, first == 0 ? UINT32_MAX : first);
	if (first != 0) {
		rest = rte_pktmbuf_alloc(pool);
		must(rest != NULL, "rte_pktmbuf_alloc");
		append(rest, line, UINT32_MAX);
		must(rte_pktmbuf_chain(mbuf, rest) == 0, "rte_pktmbuf_chain");
	}
	return mbuf;
}

static void
send_line(unsigned int number, const char *line)
{
	struct rte_mbuf *mbuf = parse(line);

	if (rte_eth_tx_prepare(PORT, 0, &mbuf, 1) == 1) {
		while (rte_eth_tx_burst(PORT, 0, &mbuf, 1) == 0)
			;
		return;
	}
	printf("%u: %s\n", number, rte_strerror(rte_errno));
	rte_pktmbuf_free(mbuf);
}

int
main(int argc, char *argv[])
{
	const int nb = rte_eal_init(argc, argv);
	unsigned int number;
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	must(nb >= 0 && argc - nb == 3, "rte_eal_init");
	file = fopen(argv[nb + 2], "r");
	must(file != NULL, argv[nb + 2]);
	start_port(strtoull(argv[nb + 1], NULL, 16));
	for (number = 0; getline(&line, &size, file) > 0; number++)
		send_line(number, line);
	free(line);
	fclose(file);
	/* Whoever looks at the wire says when all is there. */
	say("sent");
	await_line();
	return 0;
}
