/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in the device memory of this process that another one sends: a child, which is a
 * secondary process, takes them from a ring, and frees what is there when the port is closed.
 *
 * Usage: ethdev-dm-shared EAL-ARGUMENTS; the child has --proc-type=secondary among them
 */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pmd_mlx5dv.h>
#include <rte_ring.h>

#include "rig.h"

#define PORT      0
#define NB_DESC   256
#define NB_MBUFS  1023
#define FRAME     200
#define HEAD      34
#define NB_ROUNDS 20

/** Where each packet's data is. */
enum shape {
	WHOLE,
	BEHIND, /**< behind headers of the host's */
	NB_SENT,
	CUT = NB_SENT, /**< whole, and with headers that the burst would have to read */
	CUT_BEHIND,    /**< some of these headers */
	NB_SHAPES,
};

static struct rte_mempool *pool;
static struct rte_ring *ring;

static void
start_port(void)
{
	const struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
			RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
	};

	pool = rte_pktmbuf_pool_create(
		"pool", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	must(pool != NULL, "rte_pktmbuf_pool_create");
	ring = rte_ring_create("ring", 256, SOCKET_ID_ANY, 0);
	must(ring != NULL, "rte_ring_create");
	must(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0, "rte_eth_dev_configure");
	must(rte_eth_rx_queue_setup(PORT, 0, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
}

/** An IPv4 frame with TCP, as far as anybody looks into it. */
static void
fill(uint8_t *frame)
{
	static const uint8_t head[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7, 8, 0,
		0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, 64, 6 };

	for (unsigned int i = 0; i < FRAME; i++)
		frame[i] = i;
	memcpy(frame, head, sizeof(head));
}

static struct rte_mbuf *
attached(struct rte_pmd_mlx5dv_dm *dm, uint16_t skip)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	must(mbuf != NULL, "rte_pktmbuf_alloc");
	must(rte_pmd_mlx5dv_dm_attach(dm, skip, FRAME - skip, mbuf) == 0,
		"rte_pmd_mlx5dv_dm_attach");
	return mbuf;
}

static struct rte_mbuf *
packet(struct rte_pmd_mlx5dv_dm *dm, const uint8_t *frame, enum shape shape)
{
	struct rte_mbuf *mbuf;

	if (shape == WHOLE || shape == CUT) {
		mbuf = attached(dm, 0);
	} else {
		mbuf = rte_pktmbuf_alloc(pool);
		must(mbuf != NULL, "rte_pktmbuf_alloc");
		memcpy(rte_pktmbuf_append(mbuf, HEAD), frame, HEAD);
		must(rte_pktmbuf_chain(mbuf, attached(dm, HEAD)) == 0, "rte_pktmbuf_chain");
	}
	mbuf->l2_len = 14;
	mbuf->l3_len = 20;
	mbuf->l4_len = 20;
	mbuf->tso_segsz = 50;
	mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	if (shape >= CUT)
		mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	return mbuf;
}

static int
run_child(char **argv)
{
	int status;
	pid_t pid;

	must(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0, "posix_spawn");
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	must(WIFEXITED(status), "the child's end");
	return WEXITSTATUS(status);
}

static void
give(struct rte_mbuf *mbuf)
{
	must(rte_ring_enqueue(ring, mbuf) == 0, "rte_ring_enqueue");
}

static void
primary(char **child)
{
	struct rte_pmd_mlx5dv_dm *dm;
	struct rte_eth_stats stats;
	uint8_t frame[FRAME];

	start_port();
	dm = rte_pmd_mlx5dv_dm_alloc(PORT, FRAME, 0);
	must(dm != NULL, "rte_pmd_mlx5dv_dm_alloc");
	fill(frame);
	must(rte_pmd_mlx5dv_dm_write(dm, 0, frame, FRAME) == 0, "rte_pmd_mlx5dv_dm_write");
	for (unsigned int i = 0; i < NB_ROUNDS * NB_SHAPES; i++)
		give(packet(dm, frame, i % NB_SHAPES));
	must(run_child(child) == 0, "the child that sends");
	must(rte_eth_stats_get(PORT, &stats) == 0, "rte_eth_stats_get");
	printf("sent: %" PRIu64 ", errors: %" PRIu64 "\n", stats.opackets, stats.oerrors);
	/* The port goes first, the last mbuf then in the other process. */
	give(attached(dm, 0));
	must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	must(rte_pmd_mlx5dv_dm_free(dm) == -EBUSY, "keeping memory that mbufs have");
	must(run_child(child) == 0, "the child that frees");
	must(rte_pmd_mlx5dv_dm_free(dm) == 0, "rte_pmd_mlx5dv_dm_free");
	must(rte_mempool_avail_count(pool) == NB_MBUFS, "having all mbufs back");
}

static void
send_one(struct rte_mbuf *mbuf)
{
	const bool cut = (mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0;
	const uint16_t taken = rte_eth_tx_prepare(PORT, 0, &mbuf, 1);

	must(taken == !cut && (!cut || rte_errno == ENOTSUP), "rte_eth_tx_prepare");
	/* All the same, as one does who has not asked. */
	must(rte_eth_tx_burst(PORT, 0, &mbuf, 1) == 1, "rte_eth_tx_burst");
}

static void
secondary(void)
{
	const bool is_there = rte_eth_dev_is_valid_port(PORT);
	void *mbuf = NULL;
	size_t max;

	ring = rte_ring_lookup("ring");
	must(ring != NULL, "rte_ring_lookup");
	must(rte_pmd_mlx5dv_dm_max(PORT, &max) == -E_RTE_SECONDARY, "being refused");
	while (rte_ring_dequeue(ring, &mbuf) == 0) {
		if (is_there)
			send_one(mbuf);
		else
			rte_pktmbuf_free(mbuf);
	}
}

int
main(int argc, char **argv)
{
	char *child[argc + 2];

	/* The EAL reorders them. */
	memcpy(child, argv, argc * sizeof(*argv));
	child[argc] = (char[]){ "--proc-type=secondary" };
	child[argc + 1] = NULL;
	must(rte_eal_init(argc, argv) >= 0, "rte_eal_init");
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		primary(child);
	else
		secondary();
	return rte_eal_cleanup();
}
