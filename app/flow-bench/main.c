/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules a second: the same rules through rte_flow, through a flow queue (async.c) and through bare
 * ibv_create_flow, on one device, in turns. devtools/bench-flow starts this program and writes its
 * output down.
 *
 *     flow-bench EAL-ARGUMENTS -- ROUNDS NUMBER-OF-RULES...
 *
 * One line a measurement: "METHOD RULES CREATE-NS CREATE-CPU-NS DESTROY-NS DESTROY-CPU-NS", the
 * times of one rule. The bare side has a verbs context of its own, and its attributes have exactly
 * the specs that the driver makes of the pattern.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "flow-bench.h"

#define PRIORITY     8 /* of verbs, in the middle of 16 */
#define FIRST_ADDR   0x0a000000u
#define RULES_A_PORT 65536u

struct bare {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	struct ibv_flow **flows;
};

struct attr {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4_ext ipv4;
	struct ibv_flow_spec_tcp_udp udp;
} __attribute__((packed, aligned(8)));

void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct instant
now(void)
{
	return (struct instant){ clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID) };
}

void
report(const char *method, unsigned int nb, struct instant start, struct instant made,
	struct instant gone)
{
	printf("%s %u %.1f %.1f %.1f %.1f\n", method, nb, (double)(made.wall - start.wall) / nb,
		(double)(made.cpu - start.cpu) / nb, (double)(gone.wall - made.wall) / nb,
		(double)(gone.cpu - made.cpu) / nb);
	fflush(stdout);
}

uint32_t
rule_address(unsigned int i)
{
	return rte_cpu_to_be_32(FIRST_ADDR + i / RULES_A_PORT);
}

uint16_t
rule_port(unsigned int i)
{
	return rte_cpu_to_be_16(i % RULES_A_PORT);
}

static void
bare_open(struct bare *bare, unsigned int nb_flows)
{
	static uint8_t key[40];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1 };
	struct ibv_rwq_ind_table_init_attr table = { .log_ind_tbl_size = 0 };
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = sizeof(key),
			.rx_hash_key = key },
	};

	if (list == NULL || list[0] == NULL)
		die("there is no verbs device");
	bare->context = ibv_open_device(list[0]);
	bare->pd = bare->context != NULL ? ibv_alloc_pd(bare->context) : NULL;
	bare->cq = bare->pd != NULL ? ibv_create_cq(bare->context, 16, NULL, NULL, 0) : NULL;
	if (bare->cq == NULL)
		die("verbs context: %s", strerror(errno));
	wq.pd = bare->pd;
	wq.cq = bare->cq;
	bare->wq = ibv_create_wq(bare->context, &wq);
	table.ind_tbl = &bare->wq;
	bare->table = bare->wq != NULL ? ibv_create_rwq_ind_table(bare->context, &table) : NULL;
	qp.pd = bare->pd;
	qp.rwq_ind_tbl = bare->table;
	bare->qp = bare->table != NULL ? ibv_create_qp_ex(bare->context, &qp) : NULL;
	bare->flows = calloc(nb_flows, sizeof(bare->flows[0]));
	if (bare->qp == NULL || bare->flows == NULL)
		die("verbs queue: %s", strerror(errno));
	ibv_free_device_list(list);
}

static void
bare_close(struct bare *bare)
{
	free(bare->flows);
	ibv_destroy_qp(bare->qp);
	ibv_destroy_rwq_ind_table(bare->table);
	ibv_destroy_wq(bare->wq);
	ibv_destroy_cq(bare->cq);
	ibv_dealloc_pd(bare->pd);
	ibv_close_device(bare->context);
}

/** @{ Functions of their own: devtools/bench-flow counts what they take, libmlx5 included. */
static __rte_noinline struct ibv_flow *
bare_create(struct bare *bare, struct attr *rule)
{
	return ibv_create_flow(bare->qp, &rule->attr);
}

static __rte_noinline int
bare_destroy(struct ibv_flow *flow)
{
	return ibv_destroy_flow(flow);
}
/** @} */

static void
bare_measure(struct bare *bare, unsigned int nb)
{
	struct attr rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 3,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
		.ipv4 = { .type = IBV_FLOW_SPEC_IPV4_EXT,
			.size = sizeof(rule.ipv4),
			.mask.dst_ip = UINT32_MAX },
		.udp = { .type = IBV_FLOW_SPEC_UDP,
			.size = sizeof(rule.udp),
			.mask.dst_port = UINT16_MAX },
	};
	struct instant start = now(), made;

	for (unsigned int i = 0; i < nb; i++) {
		/* A table of the device holds 65536 entries. */
		rule.attr.priority = PRIORITY + i / 60000;
		rule.ipv4.val.dst_ip = rule_address(i);
		rule.udp.val.dst_port = rule_port(i);
		bare->flows[i] = bare_create(bare, &rule);
		if (bare->flows[i] == NULL)
			die("ibv_create_flow, rule %u: %s", i, strerror(errno));
	}
	made = now();
	for (unsigned int i = 0; i < nb; i++)
		if (bare_destroy(bare->flows[i]) != 0)
			die("ibv_destroy_flow, rule %u", i);
	report("verbs", nb, start, made, now());
}

static void
rte_measure(struct rte_flow **flows, unsigned int nb)
{
	const struct rte_flow_attr attr = { .ingress = 1, .priority = 1 };
	const struct rte_flow_action_queue queue = { .index = 0 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_item_ipv4 ip = { .hdr.dst_addr = 0 };
	struct rte_flow_item_udp udp = { .hdr.dst_port = 0 };
	static const struct rte_flow_item_ipv4 ip_mask = { .hdr.dst_addr = UINT32_MAX };
	static const struct rte_flow_item_udp udp_mask = { .hdr.dst_port = UINT16_MAX };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	struct rte_flow_error error = { .message = NULL };
	struct instant start = now(), made;

	for (unsigned int i = 0; i < nb; i++) {
		ip.hdr.dst_addr = rule_address(i);
		udp.hdr.dst_port = rule_port(i);
		flows[i] = rte_flow_create(PORT, &attr, pattern, actions, &error);
		if (flows[i] == NULL)
			die("rte_flow_create, rule %u: %s", i, error.message);
	}
	made = now();
	for (unsigned int i = 0; i < nb; i++)
		if (rte_flow_destroy(PORT, flows[i], &error) != 0)
			die("rte_flow_destroy, rule %u: %s", i, error.message);
	report("rte_flow", nb, start, made, now());
}

static void
port_start(void)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_NONE };
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"flow-bench", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	if (pool == NULL)
		die("no mempool");
	if (rte_eth_dev_configure(PORT, 1, 1, &conf) != 0)
		die("port %u cannot be configured", PORT);
	async_configure();
	if (rte_eth_rx_queue_setup(PORT, 0, 128, SOCKET_ID_ANY, NULL, pool) != 0 ||
		rte_eth_tx_queue_setup(PORT, 0, 128, SOCKET_ID_ANY, NULL) != 0 ||
		rte_eth_dev_start(PORT) != 0)
		die("port %u does not start", PORT);
}

int
main(int argc, char **argv)
{
	int eal = rte_eal_init(argc, argv);
	struct rte_flow **flows;
	struct bare bare;
	unsigned int most = 0;

	if (eal < 0)
		die("EAL: %s", rte_strerror(rte_errno));
	if (argc - eal < 3)
		die("usage: flow-bench EAL-ARGUMENTS -- ROUNDS NUMBER-OF-RULES...");
	for (int i = eal + 2; i < argc; i++)
		most = RTE_MAX(most, (unsigned int)strtoul(argv[i], NULL, 0));
	flows = calloc(most + 1, sizeof(flows[0]));
	if (flows == NULL)
		die("no memory");
	port_start();
	bare_open(&bare, most + 1);
	for (int i = eal + 2; i < argc; i++) {
		unsigned int nb = strtoul(argv[i], NULL, 0);

		for (unsigned long round = strtoul(argv[eal + 1], NULL, 0); round > 0; round--) {
			bare_measure(&bare, nb);
			rte_measure(flows, nb);
			async_measure(flows, nb);
		}
	}
	bare_close(&bare);
	free(flows);
	rte_eth_dev_stop(PORT);
	rte_eth_dev_close(PORT);
	rte_eal_cleanup();
	return 0;
}
