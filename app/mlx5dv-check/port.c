/* SPDX-License-Identifier: BSD-3-Clause */
/* A port: probed as a vdev, started with all its offloads, and closed. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "check.h"

#define RING       512
#define POOL_SIZE  8191
#define POOL_CACHE 256

#define RX_OFFLOADS                                                                                \
	(RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |                               \
		RTE_ETH_RX_OFFLOAD_TIMESTAMP | RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
#define TX_OFFLOADS                                                                                \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO |                        \
		RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
#define RSS_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_TCP)

static int
complain(const struct check_port *port, const char *what, int ret)
{
	fprintf(stderr, "mlx5dv-check: %s: %s: %s\n", port->ibdev, what, rte_strerror(-ret));
	return ret;
}

static void
vdev_name(unsigned int side, char *name, size_t size)
{
	snprintf(name, size, "net_mlx5dv%u", side);
}

int
check_port_probe(struct check_port *port, unsigned int side, const char *devargs)
{
	char name[RTE_ETH_NAME_MAX_LEN], args[512];
	int ret;

	vdev_name(side, name, sizeof(name));
	snprintf(args, sizeof(args), "ibdev=%s%s%s", port->ibdev, devargs != NULL ? "," : "",
		devargs != NULL ? devargs : "");
	ret = rte_eal_hotplug_add("vdev", name, args);
	if (ret != 0)
		return complain(port, "the driver net_mlx5dv does not take it", ret);
	port->probed = true;
	ret = rte_eth_dev_get_port_by_name(name, &port->id);
	if (ret == 0)
		ret = rte_eth_dev_info_get(port->id, &port->info);
	if (ret == 0)
		ret = rte_eth_macaddr_get(port->id, &port->mac);
	return ret == 0 ? 0 : complain(port, "no port", ret);
}

static int
queues_setup(struct check_port *port)
{
	int ret = 0;

	for (uint16_t q = 0; q < CHECK_QUEUES && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(port->id, q, RING, SOCKET_ID_ANY, NULL, port->pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port->id, q, RING, SOCKET_ID_ANY, NULL);
	}
	return ret;
}

int
check_port_start(struct check_port *port, unsigned int side)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	snprintf(name, sizeof(name), "check_%u", side);
	port->pool = rte_pktmbuf_pool_create(name, POOL_SIZE, POOL_CACHE, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(port->id));
	if (port->pool == NULL)
		return complain(port, "no memory for a mempool", -rte_errno);
	port->rx_offloads = RX_OFFLOADS & port->info.rx_offload_capa;
	port->tx_offloads = TX_OFFLOADS & port->info.tx_offload_capa;
	/* Tags are stripped by the row that looks at it. */
	conf.rxmode.offloads = port->rx_offloads & ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	conf.txmode.offloads = port->tx_offloads;
	conf.rx_adv_conf.rss_conf.rss_hf = RSS_TYPES & port->info.flow_type_rss_offloads;
	ret = rte_eth_dev_configure(port->id, CHECK_QUEUES, CHECK_QUEUES, &conf);
	if (ret == 0)
		ret = queues_setup(port);
	if (ret == 0)
		ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return complain(port, "cannot start it", ret);
	port->started = true;
	return 0;
}

void
check_port_close(struct check_port *port)
{
	if (port->started)
		(void)rte_eth_dev_stop(port->id);
	if (port->probed)
		(void)rte_eth_dev_close(port->id);
	rte_mempool_free(port->pool);
	port->pool = NULL;
	port->started = false;
	port->probed = false;
}

const char *
check_port_netdev(const struct check_port *port, char *name)
{
	struct ifreq request = { 0 };
	int fd;

	if (port->info.if_index == 0 || if_indextoname(port->info.if_index, name) == NULL)
		return NULL;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return name;
	memcpy(request.ifr_name, name, IF_NAMESIZE);
	if (ioctl(fd, SIOCGIFFLAGS, &request) == 0 && !(request.ifr_flags & IFF_UP))
		name = NULL;
	close(fd);
	return name;
}
