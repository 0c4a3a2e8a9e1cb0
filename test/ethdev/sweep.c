/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each control operation with its first call of the kernel's verbs failing, then its second, and so
 * on until it has no more: each time it must say ENOMEM and leave the port as it was, and in the
 * end succeed; then the port sends and receives.
 *
 * Usage: ethdev-sweep EAL-ARGUMENTS
 *
 * The port is net_mlx5dv0 on mlx5_0, looped to itself. What is left behind the device tells
 * (SOFTHCA_LOG=info).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>

#define NB_QUEUES  2
#define NB_DESC    128
#define NB_MBUFS   2047
#define MOST_CALLS 1000
#define PATIENCE_S 60
#define NAME       "net_mlx5dv0"
#define PROBE      "vdev:" NAME ",ibdev=mlx5_0"

static uint16_t port;
static struct rte_mempool *pool;
static struct rte_flow *flow;
static const char *at = "set-up";

/** Of the verbs that a thread calls. */
static __thread struct {
	unsigned int nb_left; /**< until one fails; 0: none will */
	bool fired;
} fault;

static __rte_format_printf(2, 3) void must(bool ok, const char *format, ...)
{
	va_list args;

	if (ok)
		return;
	printf("ethdev-sweep: %s: ", at);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	abort();
}

/* @{ The kernel's verbs: all of them are ioctls, of which those that destroy never fail. */
static bool
is_destroy(const struct ib_uverbs_ioctl_hdr *hdr)
{
	static const struct {
		uint16_t object, method;
	} rows[] = {
		{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY },
		{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY },
		{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY },
		{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY },
		{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY },
		{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY },
		{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (rows[i].object == hdr->object_id && rows[i].method == hdr->method_id)
			return true;
	}
	return false;
}

/* Stands before the C library's for the verbs libraries. */
int
ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = (__typeof__(next))dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && fault.nb_left != 0 && !is_destroy(arg) &&
		--fault.nb_left == 0) {
		fault.fired = true;
		errno = ENOMEM;
		return -1;
	}
	return next(fd, request, arg);
}
/* @} */

/* @{ The port, as an application sees it. */
struct view {
	uint16_t mtu;
	int promiscuous, allmulticast, vlan;
	struct rte_ether_addr macs[8];
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_rss_conf rss;
	uint8_t key[64];
	struct rte_eth_rxq_info rxqs[NB_QUEUES];
	struct rte_eth_txq_info txqs[NB_QUEUES];
};

static void
look(struct view *view)
{
	struct rte_eth_dev_info info;

	memset(view, 0, sizeof(*view));
	must(rte_eth_dev_info_get(port, &info) == 0, "rte_eth_dev_info_get");
	rte_eth_dev_get_mtu(port, &view->mtu);
	view->promiscuous = rte_eth_promiscuous_get(port);
	view->allmulticast = rte_eth_allmulticast_get(port);
	view->vlan = rte_eth_dev_get_vlan_offload(port);
	rte_eth_macaddrs_get(port, view->macs, RTE_DIM(view->macs));
	for (unsigned int i = 0; i < RTE_DIM(view->reta); i++)
		view->reta[i].mask = UINT64_MAX;
	rte_eth_dev_rss_reta_query(port, view->reta, info.reta_size);
	view->rss.rss_key = view->key;
	view->rss.rss_key_len = sizeof(view->key);
	rte_eth_dev_rss_hash_conf_get(port, &view->rss);
	for (uint16_t i = 0; i < NB_QUEUES; i++) {
		rte_eth_rx_queue_info_get(port, i, &view->rxqs[i]);
		rte_eth_tx_queue_info_get(port, i, &view->txqs[i]);
	}
	view->rss.rss_key = NULL;
}

/** One packet from each Tx queue arrives; each is sent until it does. */
static void
exchange(void)
{
	static const uint8_t head[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7, 0x88,
		0xb5 };
	const time_t end = time(NULL) + PATIENCE_S;
	struct rte_mbuf *pkt, *pkts[32];
	unsigned int missing = (1u << NB_QUEUES) - 1;

	while (missing != 0) {
		must(time(NULL) < end, "nothing arrives of the Tx queues %#x", missing);
		for (uint16_t i = 0; i < NB_QUEUES; i++) {
			pkt = rte_pktmbuf_alloc(pool);
			must(pkt != NULL, "no mbufs");
			memset(rte_pktmbuf_append(pkt, 60), i, 60);
			memcpy(rte_pktmbuf_mtod(pkt, void *), head, sizeof(head));
			if (rte_eth_tx_burst(port, i, &pkt, 1) == 0)
				rte_pktmbuf_free(pkt);
		}
		for (uint16_t i = 0; i < 64; i++) {
			uint16_t nb = rte_eth_rx_burst(port, i % NB_QUEUES, pkts, RTE_DIM(pkts));

			for (uint16_t k = 0; k < nb; k++)
				missing &=
					~(1u << *rte_pktmbuf_mtod_offset(pkts[k], uint8_t *, 40));
			rte_pktmbuf_free_bulk(pkts, nb);
		}
	}
}
/* @} */

/* @{ Operations. */
static int
probe(void)
{
	int ret = rte_dev_probe(PROBE);

	if (ret == 0)
		must(rte_eth_dev_get_port_by_name(NAME, &port) == 0, "no port");
	return ret;
}

static int
configure(void)
{
	const struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS,
			.mtu = RTE_ETHER_MTU,
			.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER | RTE_ETH_RX_OFFLOAD_RSS_HASH },
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
		.intr_conf.rxq = 1,
	};
	int ret = rte_eth_dev_configure(port, NB_QUEUES, NB_QUEUES, &conf);

	for (uint16_t i = 0; i < NB_QUEUES && ret == 0; i++) {
		ret = rte_eth_rx_queue_setup(port, i, NB_DESC, 0, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, i, NB_DESC, 0, NULL);
	}
	return ret;
}

static int
start(void)
{
	return rte_eth_dev_start(port);
}

static int
stop(void)
{
	return rte_eth_dev_stop(port);
}

static int
reset(void)
{
	return rte_eth_dev_reset(port);
}

static int
configure_and_start(void)
{
	int ret = configure();

	flow = NULL;
	return ret != 0 ? ret : start();
}

static int
stop_rx(void)
{
	return rte_eth_dev_rx_queue_stop(port, 1);
}

static int
start_rx(void)
{
	return rte_eth_dev_rx_queue_start(port, 1);
}

static int
stop_tx(void)
{
	return rte_eth_dev_tx_queue_stop(port, 1);
}

static int
start_tx(void)
{
	return rte_eth_dev_tx_queue_start(port, 1);
}

static int
promiscuous_on(void)
{
	return rte_eth_promiscuous_enable(port);
}

static int
promiscuous_off(void)
{
	return rte_eth_promiscuous_disable(port);
}

static int
allmulticast_on(void)
{
	return rte_eth_allmulticast_enable(port);
}

static int
allmulticast_off(void)
{
	return rte_eth_allmulticast_disable(port);
}

static int
add_mac(void)
{
	struct rte_ether_addr addr = { { 2, 0, 0, 0, 0xca, 1 } };

	return rte_eth_dev_mac_addr_add(port, &addr, 0);
}

static int
remove_mac(void)
{
	struct rte_ether_addr addr = { { 2, 0, 0, 0, 0xca, 1 } };

	return rte_eth_dev_mac_addr_remove(port, &addr);
}

static int
set_mac(void)
{
	struct rte_ether_addr addr;

	rte_eth_macaddr_get(port, &addr);
	addr.addr_bytes[5] ^= 0x80;
	return rte_eth_dev_default_mac_addr_set(port, &addr);
}

static int
set_multicast(void)
{
	struct rte_ether_addr list[] = { { { 1, 0, 0x5e, 0, 0, 1 } }, { { 1, 0, 0x5e, 0, 0, 2 } } };

	return rte_eth_dev_set_mc_addr_list(port, list, RTE_DIM(list));
}

static int
clear_multicast(void)
{
	return rte_eth_dev_set_mc_addr_list(port, NULL, 0);
}

static int
add_vlan(void)
{
	return rte_eth_dev_vlan_filter(port, 7, 1);
}

static int
remove_vlan(void)
{
	return rte_eth_dev_vlan_filter(port, 7, 0);
}

static int
flip_strip(void)
{
	return rte_eth_dev_set_vlan_offload(
		port, rte_eth_dev_get_vlan_offload(port) ^ RTE_ETH_VLAN_STRIP_OFFLOAD);
}

static int
flip_reta(void)
{
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_dev_info info;

	rte_eth_dev_info_get(port, &info);
	for (unsigned int i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	rte_eth_dev_rss_reta_query(port, reta, info.reta_size);
	for (unsigned int i = 0; i < info.reta_size; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] ^= 1;
	return rte_eth_dev_rss_reta_update(port, reta, info.reta_size);
}

static int
rss_by_ip(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP };

	return rte_eth_dev_rss_hash_update(port, &conf);
}

static int
rss_by_udp(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };

	return rte_eth_dev_rss_hash_update(port, &conf);
}

static int
create_flow(void)
{
	static const uint16_t queues[] = { 0, 1 };
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(9) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(UINT16_MAX) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_mark mark = { .id = 3 };
	const struct rte_flow_action_rss rss = {
		.queue_num = RTE_DIM(queues),
		.queue = queues,
		.types = RTE_ETH_RSS_IP,
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark },
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };

	flow = rte_flow_create(port, &attr, pattern, actions, &error);
	must(flow != NULL || error.message != NULL, "refused without a message");
	return flow != NULL ? 0 : -rte_errno;
}

static int
query_flow(void)
{
	const struct rte_flow_action count[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_count result = { 0 };
	struct rte_flow_error error;

	return rte_flow_query(port, flow, count, &result, &error);
}

static int
destroy_flow(void)
{
	struct rte_flow_error error;
	int ret = rte_flow_destroy(port, flow, &error);

	flow = ret == 0 ? NULL : flow;
	return ret;
}

static int
isolate(void)
{
	struct rte_flow_error error;

	return rte_flow_isolate(port, 1, &error);
}

static int
join(void)
{
	struct rte_flow_error error;

	return rte_flow_isolate(port, 0, &error);
}

static int
limit_rate(void)
{
	return rte_eth_set_queue_rate_limit(port, 0, 5000);
}

static int
lift_rate(void)
{
	return rte_eth_set_queue_rate_limit(port, 0, 0);
}

static int
remove_port(void)
{
	struct rte_eth_dev_info info;

	rte_eth_dev_info_get(port, &info);
	return rte_dev_remove(info.device);
}
/* @} */

/** What is to be seen in the end of an operation. */
enum after {
	QUIET = 1 << 0, /**< nothing to be received now */
	OPENS = 1 << 1, /**< a device: errno is the library's, and what there was is no more */
};

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(void);
	int (*undo)(void); /**< NULL: it can be done again */
	unsigned int after;
} operations[] = {
	{ "probe", probe, remove_port, QUIET | OPENS },
	{ "configure", configure, NULL, QUIET },
	{ "start", start, stop, 0 },
	{ "flow create", create_flow, destroy_flow, 0 },
	{ "flow query", query_flow, NULL, 0 },
	{ "stop a Rx queue", stop_rx, start_rx, QUIET },
	{ "start a Rx queue", start_rx, stop_rx, 0 },
	{ "stop a Tx queue", stop_tx, start_tx, QUIET },
	{ "start a Tx queue", start_tx, stop_tx, 0 },
	{ "promiscuous on", promiscuous_on, promiscuous_off, 0 },
	{ "promiscuous off", promiscuous_off, promiscuous_on, 0 },
	{ "allmulticast on", allmulticast_on, allmulticast_off, 0 },
	{ "allmulticast off", allmulticast_off, allmulticast_on, 0 },
	{ "MAC add", add_mac, remove_mac, 0 },
	{ "MAC remove", remove_mac, add_mac, 0 },
	{ "MAC set", set_mac, set_mac, 0 },
	{ "multicast list", set_multicast, clear_multicast, 0 },
	{ "no multicast list", clear_multicast, set_multicast, 0 },
	{ "VLAN filter", add_vlan, remove_vlan, QUIET },
	{ "no VLAN filter", remove_vlan, add_vlan, 0 },
	{ "VLAN stripping on", flip_strip, flip_strip, 0 },
	{ "VLAN stripping off", flip_strip, flip_strip, 0 },
	{ "RETA", flip_reta, flip_reta, 0 },
	{ "RSS by IP", rss_by_ip, rss_by_udp, 0 },
	{ "RSS by UDP", rss_by_udp, rss_by_ip, 0 },
	{ "rate", limit_rate, lift_rate, 0 },
	{ "no rate", lift_rate, limit_rate, 0 },
	{ "isolate", isolate, join, QUIET },
	{ "join", join, isolate, 0 },
	{ "stop", stop, start, QUIET },
	{ "start again", start, stop, 0 },
	{ "flow destroy", destroy_flow, create_flow, 0 },
	{ "stop to reset", stop, start, QUIET },
	{ "reset", reset, NULL, QUIET | OPENS },
	{ "configure and start", configure_and_start, stop, 0 },
	{ "remove", remove_port, probe, QUIET | OPENS },
};
/* clang-format on */

/** The nth call fails. @return whether there was one */
static bool
fail(unsigned int i, unsigned int nth)
{
	struct view before = { 0 }, now = { 0 };
	int ret;

	if (!(operations[i].after & OPENS))
		look(&before);
	fault.nb_left = nth;
	fault.fired = false;
	ret = operations[i].run();
	fault.nb_left = 0;
	if (ret == 0) {
		/* It can do without. */
		if (fault.fired && operations[i].undo != NULL)
			must(operations[i].undo() == 0, "cannot be undone");
		return fault.fired;
	}
	must(fault.fired, "%s", rte_strerror(-ret));
	must(ret == -ENOMEM || operations[i].after & OPENS, "call %u fails: %s", nth,
		rte_strerror(-ret));
	if (operations[i].after & OPENS)
		return true;
	look(&now);
	must(memcmp(&before, &now, sizeof(now)) == 0, "call %u fails: the port has changed", nth);
	return true;
}

static void
sweep(unsigned int i)
{
	unsigned int nth = 1;

	at = operations[i].name;
	while (fail(i, nth)) {
		nth++;
		must(nth < MOST_CALLS, "fails again and again");
	}
	printf("%s: %u calls\n", at, nth - 1);
	if (!(operations[i].after & QUIET))
		exchange();
}

int
main(int argc, char **argv)
{
	must(rte_eal_init(argc, argv) >= 0, "rte_eal_init");
	setvbuf(stdout, NULL, _IOLBF, 0);
	pool = rte_pktmbuf_pool_create(
		"sweep", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	must(pool != NULL, "rte_pktmbuf_pool_create");
	for (unsigned int i = 0; i < RTE_DIM(operations); i++)
		sweep(i);
	at = "in the end";
	must(rte_mempool_in_use_count(pool) == 0, "%u mbufs are missing",
		rte_mempool_in_use_count(pool));
	printf("%zu operations\n", RTE_DIM(operations));
	return EXIT_SUCCESS;
}
