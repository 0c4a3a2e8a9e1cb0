/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps template frames in the device's own memory and sends them in turn, so that the device reads
 * none of their bytes over PCI. With "numbered" the headers come from an mbuf in front, with
 * another number in each, and only the rest is in the device.
 *
 *     dm-templates --vdev net_mlx5dv0,ibdev=mlx5_0 -- 02:00:00:00:00:02 100 numbered
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_pmd_mlx5dv.h>
#include <rte_udp.h>

#define PORT    0
#define BURST   8u
#define NB_DESC 256u
/** For both queues, and a burst of two mbufs a packet. */
#define NB_MBUFS (2 * NB_DESC + 2 * BURST)

/** Of the templates, without FCS. */
static const uint16_t lengths[] = { 60, 124, 252, 508, 1020, 1514 };
#define NB_TEMPLATES RTE_DIM(lengths)

struct headers {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};
static_assert(sizeof(struct headers) == 42, "as on the wire");

static struct rte_pmd_mlx5dv_dm *memory;
static size_t starts[NB_TEMPLATES];
static struct rte_ether_addr destination;
static struct rte_mempool *pool;

static void
check(int result, const char *what)
{
	if (result < 0)
		rte_exit(EXIT_FAILURE, "%s: %s\n", what, rte_strerror(-result));
}

/** Write the number as IP identification, and into the checksum. */
static void
build_headers(struct headers *headers, uint16_t length, uint16_t number)
{
	const uint16_t in_ip = length - sizeof(headers->ether);

	*headers = (struct headers){
		.ether = { .dst_addr = destination, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = { .version_ihl = RTE_IPV4_VHL_DEF,
			.total_length = rte_cpu_to_be_16(in_ip),
			.packet_id = rte_cpu_to_be_16(number),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_UDP,
			.src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 2)),
			.dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1)) },
		.udp = { .src_port = RTE_BE16(1024),
			.dst_port = RTE_BE16(9),
			/* No checksum: UDP over IPv4 may do without. */
			.dgram_len = rte_cpu_to_be_16(in_ip - sizeof(headers->ip)) },
	};
	rte_eth_macaddr_get(PORT, &headers->ether.src_addr);
	headers->ip.hdr_checksum = rte_ipv4_cksum(&headers->ip);
}

/** All templates are in one allocation; each starts at a multiple of 64 bytes. */
static void
keep_templates(void)
{
	uint8_t frame[RTE_ETHER_MAX_LEN] __rte_aligned(2);
	size_t size = 0, i, k;

	for (i = 0; i < NB_TEMPLATES; i++) {
		starts[i] = size;
		size += RTE_ALIGN_CEIL(lengths[i], 64);
	}
	memory = rte_pmd_mlx5dv_dm_alloc(PORT, size, 64);
	check(memory == NULL ? -rte_errno : 0, "rte_pmd_mlx5dv_dm_alloc");
	for (i = 0; i < NB_TEMPLATES; i++) {
		build_headers((struct headers *)frame, lengths[i], 0);
		for (k = sizeof(struct headers); k < lengths[i]; k++)
			frame[k] = (uint8_t)(k + i);
		check(rte_pmd_mlx5dv_dm_write(memory, starts[i], frame, lengths[i]),
			"rte_pmd_mlx5dv_dm_write");
	}
	printf("%zu templates in %zu bytes of device memory\n", NB_TEMPLATES, size);
}

static struct rte_mbuf *
take_mbuf(void)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	/* The queues have fewer: see NB_MBUFS. */
	check(mbuf == NULL ? -ENOMEM : 0, "rte_pktmbuf_alloc");
	return mbuf;
}

static struct rte_mbuf *
make_packet(unsigned int number, bool numbered)
{
	const unsigned int i = number % NB_TEMPLATES;
	const uint16_t skip = numbered ? sizeof(struct headers) : 0;
	struct rte_mbuf *body = take_mbuf(), *head;

	check(rte_pmd_mlx5dv_dm_attach(memory, starts[i] + skip, lengths[i] - skip, body),
		"rte_pmd_mlx5dv_dm_attach");
	if (!numbered)
		return body;
	head = take_mbuf();
	build_headers((struct headers *)rte_pktmbuf_append(head, skip), lengths[i], number);
	check(rte_pktmbuf_chain(head, body), "rte_pktmbuf_chain");
	return head;
}

static void
send_all(unsigned int count, bool numbered)
{
	struct rte_mbuf *burst[BURST];
	unsigned int number = 0, nb, nb_sent;

	while (number < count) {
		nb = RTE_MIN(BURST, count - number);
		for (unsigned int i = 0; i < nb; i++)
			burst[i] = make_packet(number + i, numbered);
		for (nb_sent = 0; nb_sent < nb;)
			nb_sent += rte_eth_tx_burst(PORT, 0, burst + nb_sent, nb - nb_sent);
		number += nb;
	}
}

static void
start_port(void)
{
	const struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };

	pool = rte_pktmbuf_pool_create(
		"mbufs", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	check(pool == NULL ? -rte_errno : 0, "rte_pktmbuf_pool_create");
	check(rte_eth_dev_configure(PORT, 1, 1, &conf), "rte_eth_dev_configure");
	check(rte_eth_rx_queue_setup(PORT, 0, NB_DESC, 0, NULL, pool), "rte_eth_rx_queue_setup");
	check(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL), "rte_eth_tx_queue_setup");
	check(rte_eth_dev_start(PORT), "rte_eth_dev_start");
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);
	bool numbered;
	struct rte_eth_stats stats;

	check(nb_eal < 0 ? -rte_errno : 0, "rte_eal_init");
	argc -= nb_eal;
	argv += nb_eal;
	numbered = argc == 4 && strcmp(argv[3], "numbered") == 0;
	if ((argc != 3 && !numbered) || rte_ether_unformat_addr(argv[1], &destination) != 0)
		rte_exit(EXIT_FAILURE,
			"usage: dm-templates [EAL options] -- DESTINATION_MAC COUNT [numbered]\n");
	start_port();
	keep_templates();
	send_all(strtoul(argv[2], NULL, 10), numbered);
	check(rte_eth_stats_get(PORT, &stats), "rte_eth_stats_get");
	printf("sent: %" PRIu64 ", errors: %" PRIu64 "\n", stats.opackets, stats.oerrors);
	/* The queue frees its last mbufs, and then the memory can be freed. */
	check(rte_eth_dev_stop(PORT), "rte_eth_dev_stop");
	check(rte_pmd_mlx5dv_dm_free(memory), "rte_pmd_mlx5dv_dm_free");
	check(rte_eth_dev_close(PORT), "rte_eth_dev_close");
	rte_eal_cleanup();
	return 0;
}
