/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and configures ports for tests on softhca. */
#include "port_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>

struct rte_mempool *port_rig_pool;

const struct shape port_rig_shapes[] = {
	{ 1, 256, 1500, 100, 1, RTE_ETH_RX_OFFLOAD_CHECKSUM },
	{ 2, 256, 1500, 60, 2, 0 },
	{ 3, 2048, 9000, 1500, 3, RTE_ETH_RX_OFFLOAD_SCATTER },
};

struct rte_mempool *
port_rig_pool_make(const char *name, unsigned int nb)
{
	struct rte_mempool *made =
		rte_pktmbuf_pool_create(name, nb, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	assert_non_null(made);
	return made;
}

int
port_rig_group_make(void **state)
{
	static char *argv[] = { (char *)(uintptr_t) "life", (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-pci", (char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "-m128",
		(char *)(uintptr_t) "-l0",
		(char *)(uintptr_t) "--log-level=pmd.net.mlx5dv:emergency" };

	(void)state;
	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		return -1;
	port_rig_pool = port_rig_pool_make("life", NB_MBUFS);
	return 0;
}

static const char *
port_rig_mode(void)
{
	const char *mode = getenv("RIG_MODE");

	return mode != NULL ? mode : "auto";
}

bool
port_rig_is_ibv(void)
{
	return strcmp(port_rig_mode(), "ibv") == 0;
}

uint16_t
port_rig_open_with(const char *name, const char *args)
{
	char all[128];
	uint16_t port_id;

	snprintf(all, sizeof(all), "ibdev=mlx5_0,mode=%s%s", port_rig_mode(), args);
	assert_int_equal(rte_vdev_init(name, all), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(name, &port_id), 0);
	return port_id;
}

uint16_t
port_rig_open(const char *name)
{
	return port_rig_open_with(name, "");
}

void
port_rig_configure(uint16_t port_id, const struct shape *shape)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS,
			.mtu = shape->mtu,
			.offloads = shape->rx_offloads },
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP,
	};
	uint16_t i;

	/* Plain verbs does not report checksums. */
	if (port_rig_is_ibv())
		conf.rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_CHECKSUM;
	assert_int_equal(
		rte_eth_dev_configure(port_id, shape->nb_queues, shape->nb_queues, &conf), 0);
	for (i = 0; i < shape->nb_queues; i++) {
		assert_int_equal(
			rte_eth_rx_queue_setup(port_id, i, shape->nb_desc, 0, NULL, port_rig_pool),
			0);
		assert_int_equal(rte_eth_tx_queue_setup(port_id, i, shape->nb_desc, 0, NULL), 0);
	}
}

struct rte_mbuf *
port_rig_packet(unsigned int nb_segs, uint16_t len)
{
	struct rte_mbuf *head = NULL, *mbuf;
	unsigned int i;

	for (i = 0; i < nb_segs; i++) {
		mbuf = rte_pktmbuf_alloc(port_rig_pool);
		assert_non_null(mbuf);
		memset(rte_pktmbuf_append(mbuf, len), i == 0 ? 0xff : i, len);
		if (head == NULL)
			head = mbuf;
		else
			assert_int_equal(rte_pktmbuf_chain(head, mbuf), 0);
	}
	/* A unicast source address, and the type for local experiments. */
	memcpy(rte_pktmbuf_mtod_offset(head, uint8_t *, 6), "\x02\x00\x00\x00\x00\x07\x88\xb5", 8);
	return head;
}

void
port_rig_check_pool(const struct rte_mempool *mempool, unsigned int nb)
{
	assert_int_equal(rte_mempool_avail_count(mempool), nb);
}
