/* SPDX-License-Identifier: BSD-3-Clause */
/* A port comes, is configured and started; stopped, reset, closed, removed. */
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "sweep.h"

uint16_t sweep_port;
const char *sweep_devargs;
static struct rte_device *device;

static int
probe(void)
{
	struct rte_eth_dev_info info;
	char args[128];
	int ret;

	snprintf(args, sizeof(args), "vdev:" SWEEP_PORT ",%s", sweep_devargs);
	ret = rte_dev_probe(args);
	if (ret != 0)
		return ret;
	sweep_must(rte_eth_dev_get_port_by_name(SWEEP_PORT, &sweep_port) == 0, "no port");
	sweep_must(rte_eth_dev_info_get(sweep_port, &info) == 0, "no information");
	device = info.device;
	return 0;
}

int
sweep_life_end(void)
{
	return rte_dev_remove(device);
}

SWEEP_OPERATION(start, rte_eth_dev_start(sweep_port))
SWEEP_OPERATION(stop, rte_eth_dev_stop(sweep_port))
SWEEP_OPERATION(reset, rte_eth_dev_reset(sweep_port))
SWEEP_OPERATION(close_port, rte_eth_dev_close(sweep_port))

static int
negotiate(void)
{
	uint64_t features = RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;

	return rte_eth_rx_metadata_negotiate(sweep_port, &features);
}

static int
configure(void)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS,
			.mtu = RTE_ETHER_MTU,
			.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER | RTE_ETH_RX_OFFLOAD_RSS_HASH },
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
		.intr_conf.rxq = 1,
	};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(sweep_port, &info);

	if (ret != 0)
		return ret;
	conf.rxmode.offloads &= info.rx_offload_capa;
	return rte_eth_dev_configure(sweep_port, SWEEP_NB_QUEUES, SWEEP_NB_QUEUES, &conf);
}

static int
set_up_queues(void)
{
	int ret = 0;

	for (uint16_t i = 0; i < SWEEP_NB_QUEUES && ret == 0; i++) {
		ret = sweep_queues_set_up_rx(i, SWEEP_NB_DESC);
		if (ret == 0)
			ret = sweep_queues_set_up_tx(i, SWEEP_NB_DESC);
	}
	return ret;
}

static int
run(void)
{
	int ret = configure();

	sweep_rules_forget();
	if (ret == 0)
		ret = set_up_queues();
	return ret != 0 ? ret : start();
}

int
sweep_life_begin(void)
{
	int ret = probe();

	return ret != 0 ? ret : run();
}

static int
remove_and_probe(void)
{
	int ret = sweep_life_end();

	return ret != 0 ? ret : probe();
}

/* clang-format off */
const struct sweep_operation sweep_opening[] = {
	{ "probe", probe, sweep_life_end, SWEEP_QUIET | SWEEP_OPENS },
	{ "rx_metadata_negotiate", negotiate, NULL, SWEEP_QUIET },
	{ "dev_configure", configure, NULL, SWEEP_QUIET | SWEEP_STEPS },
	{ "rx_queue_setup tx_queue_setup", set_up_queues, NULL, SWEEP_QUIET | SWEEP_STEPS },
	{ "configure", sweep_rules_configure, NULL, SWEEP_QUIET },
	{ "dev_start", start, stop, 0 },
	{ NULL },
};

const struct sweep_operation sweep_closing[] = {
	{ "dev_stop", stop, start, SWEEP_QUIET },
	{ "dev_start (with rules)", start, stop, 0 },
	{ "dev_stop (with rules)", stop, start, SWEEP_QUIET },
	{ "dev_reset", reset, NULL, SWEEP_QUIET | SWEEP_OPENS },
	{ "dev_configure rx_queue_setup tx_queue_setup dev_start", run, stop, SWEEP_STEPS },
	{ "remove (while it runs)", sweep_life_end, sweep_life_begin, SWEEP_QUIET | SWEEP_OPENS },
	{ "probe (again)", probe, sweep_life_end, SWEEP_QUIET | SWEEP_OPENS },
	{ "dev_close", close_port, remove_and_probe, SWEEP_QUIET | SWEEP_OPENS },
	{ "remove", sweep_life_end, probe, SWEEP_QUIET | SWEEP_OPENS },
	{ NULL },
};
/* clang-format on */
