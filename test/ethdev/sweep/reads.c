/* SPDX-License-Identifier: BSD-3-Clause */
/* What a running port tells; a secondary process, which may not ask all, is refused the rest. */
#include <errno.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "sweep.h"

#define MOST 256

static struct rte_eth_xstat xstats[MOST];
static struct rte_eth_xstat_name names[MOST];
static uint64_t values[MOST];
static uint8_t eeprom[64];

/** The device sees a moment later that its netdev is up again. */
static int
await_link(void)
{
	const time_t end = time(NULL) + SWEEP_PATIENCE_S;
	struct rte_eth_link link;
	int ret;

	do {
		sweep_must(time(NULL) < end, "the link stays down");
		ret = rte_eth_link_get_nowait(sweep_port, &link);
	} while (ret == 0 && link.link_status != RTE_ETH_LINK_UP);
	return ret;
}

static int
get_link(void)
{
	struct rte_eth_link link;
	int ret = rte_eth_link_get_nowait(sweep_port, &link);

	sweep_must(link.link_status == RTE_ETH_LINK_UP, "the link is down");
	return ret;
}

/** Statistics by number: the last, which the driver itself has. */
static int
get_by_id(void)
{
	const int nb = rte_eth_xstats_get_names(sweep_port, NULL, 0);
	uint64_t id = nb - 1;
	int ret = nb < 0 ? nb : rte_eth_xstats_get_by_id(sweep_port, &id, values, 1);

	if (ret >= 0)
		ret = rte_eth_xstats_get_names_by_id(sweep_port, names, 1, &id);
	return RTE_MIN(ret, 0);
}

static int
dump(void)
{
	FILE *sink = fopen("/dev/null", "w");
	int ret = rte_eth_dev_priv_dump(sweep_port, sink);

	if (ret == 0)
		ret = rte_eth_rx_descriptor_dump(sweep_port, 0, 0, 1, sink);
	if (ret == 0)
		ret = rte_eth_tx_descriptor_dump(sweep_port, 0, 0, 1, sink);
	fclose(sink);
	return ret;
}

static int
get_reta(void)
{
	struct rte_eth_rss_reta_entry64 reta[8] = { { .mask = UINT64_MAX } };
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(sweep_port, &info);

	return ret != 0 ? ret : rte_eth_dev_rss_reta_query(sweep_port, reta, info.reta_size);
}

static int
read_module(void)
{
	struct rte_dev_eeprom_info info = { .data = eeprom, .length = sizeof(eeprom) };

	return rte_eth_dev_get_module_eeprom(sweep_port, &info);
}

#define INTO(type) (&(type){ 0 })
SWEEP_OPERATION(get_stats, rte_eth_stats_get(sweep_port, INTO(struct rte_eth_stats)))
SWEEP_OPERATION(reset_stats, rte_eth_stats_reset(sweep_port))
SWEEP_OPERATION(get_xstats, RTE_MIN(rte_eth_xstats_get(sweep_port, xstats, MOST), 0))
SWEEP_OPERATION(get_names, RTE_MIN(rte_eth_xstats_get_names(sweep_port, names, MOST), 0))
SWEEP_OPERATION(reset_xstats, rte_eth_xstats_reset(sweep_port))
SWEEP_OPERATION(get_info, rte_eth_dev_info_get(sweep_port, INTO(struct rte_eth_dev_info)))
SWEEP_OPERATION(get_rxq, rte_eth_rx_queue_info_get(sweep_port, 0, INTO(struct rte_eth_rxq_info)))
SWEEP_OPERATION(get_txq, rte_eth_tx_queue_info_get(sweep_port, 0, INTO(struct rte_eth_txq_info)))
SWEEP_OPERATION(
	get_rx_burst, rte_eth_rx_burst_mode_get(sweep_port, 0, INTO(struct rte_eth_burst_mode)))
SWEEP_OPERATION(
	get_tx_burst, rte_eth_tx_burst_mode_get(sweep_port, 0, INTO(struct rte_eth_burst_mode)))
SWEEP_OPERATION(get_version, rte_eth_dev_fw_version_get(sweep_port, (char *)eeprom, 64))
SWEEP_OPERATION(get_ptypes,
	RTE_MIN(rte_eth_dev_get_supported_ptypes(sweep_port, RTE_PTYPE_ALL_MASK, NULL, 0), 0))
SWEEP_OPERATION(clean, RTE_MIN(rte_eth_tx_done_cleanup(sweep_port, 0, 0), 0))
SWEEP_OPERATION(get_hash, rte_eth_dev_rss_hash_conf_get(sweep_port, INTO(struct rte_eth_rss_conf)))
SWEEP_OPERATION(get_clock, rte_eth_read_clock(sweep_port, values))
SWEEP_OPERATION(get_pause, rte_eth_dev_flow_ctrl_get(sweep_port, INTO(struct rte_eth_fc_conf)))
SWEEP_OPERATION(
	get_module, rte_eth_dev_get_module_info(sweep_port, INTO(struct rte_eth_dev_module_info)))
SWEEP_OPERATION(
	get_monitor, rte_eth_get_monitor_addr(sweep_port, 0, INTO(struct rte_power_monitor_cond)))
SWEEP_OPERATION(is_removed, rte_eth_dev_is_removed(sweep_port))

/* clang-format off */
const struct sweep_operation sweep_reads[] = {
	{ "link_update (until it is up)", await_link, NULL, 0 },
	{ "link_update", get_link, NULL, 0 },
	{ "is_removed", is_removed, NULL, 0 },
	{ "stats_get", get_stats, NULL, 0 },
	{ "stats_reset", reset_stats, NULL, 0 },
	{ "xstats_get", get_xstats, NULL, 0 },
	{ "xstats_get_names", get_names, NULL, 0 },
	{ "xstats_get_by_id xstats_get_names_by_id", get_by_id, NULL, 0 },
	{ "xstats_reset", reset_xstats, NULL, 0 },
	{ "dev_infos_get", get_info, NULL, 0 },
	{ "rxq_info_get", get_rxq, NULL, 0 },
	{ "txq_info_get", get_txq, NULL, 0 },
	{ "rx_burst_mode_get", get_rx_burst, NULL, 0 },
	{ "tx_burst_mode_get", get_tx_burst, NULL, 0 },
	{ "fw_version_get", get_version, NULL, 0 },
	{ "dev_supported_ptypes_get", get_ptypes, NULL, 0 },
	{ "tx_done_cleanup", clean, NULL, 0 },
	{ "reta_query", get_reta, NULL, 0 },
	{ "rss_hash_conf_get", get_hash, NULL, 0 },
	{ "read_clock", get_clock, NULL, 0 },
	{ "flow_ctrl_get", get_pause, NULL, 0 },
	{ "get_module_info", get_module, NULL, 0 },
	{ "get_module_eeprom", read_module, NULL, 0 },
	{ "get_monitor_addr", get_monitor, NULL, 0 },
	{ "eth_dev_priv_dump eth_rx_descriptor_dump eth_tx_descriptor_dump", dump, NULL, 0 },
	{ NULL },
};
/* clang-format on */
