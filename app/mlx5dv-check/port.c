/* SPDX-License-Identifier: BSD-3-Clause */
/* A port: probed as a vdev, started with all its offloads, and closed. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "check.h"

#define NETDEV     "netdev:"
#define POOL_SIZE  8191
#define POOL_CACHE 256

#define RX_OFFLOADS                                                                                \
	(RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |                               \
		RTE_ETH_RX_OFFLOAD_TIMESTAMP | RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
#define TX_OFFLOADS                                                                                \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO |                        \
		RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_MULTI_SEGS |                   \
		RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO)
#define RSS_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_TCP)

static int
complain(const struct check_port *port, const char *what, int ret)
{
	fprintf(stderr, "mlx5dv-check: %s: %s: %s\n", port->name, what, rte_strerror(-ret));
	return ret;
}

int
check_port_name(struct check_port *port, const char *name)
{
	const char *slash = strchr(name, '/');
	const size_t length = slash == NULL ? strlen(name) : (size_t)(slash - name);
	char rest[2];

	*port = (struct check_port){ .name = name }; /* the option's last says it */
	if (strncmp(name, NETDEV, strlen(NETDEV)) == 0 && slash == NULL)
		return 0;
	if (length == 0 || length >= sizeof(port->ibdev) ||
		(slash != NULL &&
			/* It takes a sign, and cuts a number that is too large. */
			(!isdigit((unsigned char)slash[1]) ||
				sscanf(slash, "/%3u%1s", &port->number, rest) != 1 ||
				port->number == 0))) {
		fprintf(stderr,
			"mlx5dv-check: '%s' is neither IBDEV, IBDEV/PORT nor " NETDEV "NAME\n",
			name);
		return -EINVAL;
	}
	memcpy(port->ibdev, name, length);
	return 0;
}

/** Name and arguments of the vdev. @return its driver */
static const char *
describe(const struct check_port *port, unsigned int side, const char *devargs, char *name,
	char *args, size_t size)
{
	int at;

	if (port->ibdev[0] == '\0') {
		snprintf(name, RTE_ETH_NAME_MAX_LEN, "net_af_packet%u", side);
		snprintf(args, size, "iface=%s", port->name + strlen(NETDEV));
		return "the driver net_af_packet does not take it";
	}
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "net_mlx5dv%u", side);
	at = snprintf(args, size, "ibdev=%s", port->ibdev);
	if (port->number != 0)
		at += snprintf(args + at, size - at, ",port=%u", port->number);
	if (devargs != NULL)
		snprintf(args + at, size - at, ",%s", devargs);
	return "the driver net_mlx5dv does not take it";
}

int
check_port_probe(struct check_port *port, unsigned int side, const char *devargs)
{
	char name[RTE_ETH_NAME_MAX_LEN], args[CHECK_DEVARGS_MAX + 112];
	const bool is_ours = port->ibdev[0] != '\0';
	const char *refused = describe(port, side, devargs, name, args, sizeof(args));
	int ret = rte_eal_hotplug_add("vdev", name, args);

	/* No bus knows the name: that is how the EAL says that no driver has registered it. */
	if (ret == -EFAULT)
		fprintf(stderr, "mlx5dv-check: %s: there is no driver %s: \"-- -d %s\" loads it\n",
			port->name, is_ours ? "net_mlx5dv" : "net_af_packet",
			is_ours ? "librte_net_mlx5dv.so" : "librte_net_af_packet.so");
	if (ret == -EFAULT)
		return ret;
	if (ret != 0)
		return complain(port, refused, ret);
	port->probed = true;
	ret = rte_eth_dev_get_port_by_name(name, &port->id);
	if (ret == 0)
		ret = rte_eth_dev_info_get(port->id, &port->info);
	if (ret == 0)
		ret = rte_eth_macaddr_get(port->id, &port->mac);
	if (ret == 0)
		check_netdev_remember(port);
	port->nb_queues = port->ibdev[0] == '\0' ? 1 : CHECK_QUEUES;
	return ret == 0 ? 0 : complain(port, "no port", ret);
}

static int
queues_setup(struct check_port *port)
{
	struct rte_eth_rxconf rx = port->info.default_rxconf;
	struct rte_eth_txconf tx = port->info.default_txconf;
	struct rte_mempool *rest = port->rx_pool != NULL ? port->rx_pool : port->pool;
	union rte_eth_rxseg segs[] = {
		{ .split = { .mp = port->head_pool, .length = CHECK_HEAD } },
		{ .split = { .mp = rest } },
	};
	int ret = 0;

	if (port->head_pool != NULL) {
		rx.rx_seg = segs;
		rx.rx_nseg = RTE_DIM(segs);
	}
	for (uint16_t q = 0; q < port->nb_queues && ret == 0; q++) {
		rx.rx_deferred_start = port->deferred && q == CHECK_LAST_QUEUE;
		tx.tx_deferred_start = rx.rx_deferred_start;
		ret = rte_eth_rx_queue_setup(port->id, q, CHECK_RING, SOCKET_ID_ANY, &rx,
			port->head_pool != NULL ? NULL : rest);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port->id, q, CHECK_RING, SOCKET_ID_ANY, &tx);
	}
	return ret;
}

static int
configure_and_start(struct check_port *port, const struct rte_eth_conf *conf)
{
	int ret = rte_eth_dev_configure(port->id, port->nb_queues, port->nb_queues, conf);

	if (ret == 0)
		ret = queues_setup(port);
	return ret != 0 ? ret : rte_eth_dev_start(port->id);
}

int
check_port_restart(struct check_port *port, unsigned int side)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	int ret;

	/* Tags are stripped and filtered by the rows that look at it. */
	conf.rxmode.offloads = port->rx_offloads & ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	conf.txmode.offloads = port->tx_offloads;
	conf.rx_adv_conf.rss_conf.rss_hf = RSS_TYPES & port->info.flow_type_rss_offloads;
	if (port->nb_queues == 1)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	conf.intr_conf.lsc = port->events;
	conf.intr_conf.rxq = side == CHECK_PORT;
	ret = configure_and_start(port, &conf);
	port->has_interrupts = ret == 0 && conf.intr_conf.rxq != 0;
	if (ret != 0 && conf.intr_conf.rxq != 0) {
		conf.intr_conf.rxq = 0;
		ret = configure_and_start(port, &conf);
	}
	return ret;
}

int
check_port_again(struct check_port *port)
{
	const int ret = rte_eth_dev_stop(port->id);

	return ret != 0 ? ret : check_port_restart(port, CHECK_PORT);
}

int
check_port_start(struct check_port *port, unsigned int side)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	snprintf(name, sizeof(name), "check_%u", side);
	port->pool = rte_pktmbuf_pool_create(name, POOL_SIZE, POOL_CACHE, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(port->id));
	if (port->pool == NULL)
		return complain(port, "no memory for a mempool", -rte_errno);
	port->rx_offloads = RX_OFFLOADS & port->info.rx_offload_capa;
	port->tx_offloads = TX_OFFLOADS & port->info.tx_offload_capa;
	ret = check_port_restart(port, side);
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
	check_netdev_restore(port);
	rte_mempool_free(port->pool);
	port->pool = NULL;
	port->started = false;
	port->probed = false;
}

bool
check_port_has_link(const struct check_port *port)
{
	struct rte_eth_link link = { 0 };

	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

const char *
check_port_netdev(const struct check_port *port, char *name)
{
	struct ifreq request = { 0 };
	int fd;

	/* A packet socket takes nothing from Linux. */
	if (port->ibdev[0] == '\0' || port->info.if_index == 0 ||
		if_indextoname(port->info.if_index, name) == NULL)
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

/** Resolve what /sys has of the port's PCI device at @p below. @return whether it is there */
static bool
resolve(const struct check_port *port, const char *below, char *resolved)
{
	const char *sys = getenv("SYSFS_PATH");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device%s", sys != NULL ? sys : "/sys",
		port->ibdev, below);
	return port->ibdev[0] != '\0' && realpath(path, resolved) != NULL;
}

void
check_kin_find(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	char device[PATH_MAX], host[PATH_MAX];

	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		check->port[side].is_function = resolve(&check->port[side], "/physfn", host);
	/* A device of more ports has the function's representor among them, where all arrives. */
	port->is_host = port->number <= 1 && check->port[CHECK_PEER].is_function &&
		resolve(port, "", device) && strcmp(device, host) == 0;
}
