/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what a port tells of itself; and how fast it is. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rte_cycles.h>
#include <rte_dev_info.h>
#include <rte_errno.h>

#include "check.h"

#define BENCH_MS 300
#define NB_SENT  256

static enum check_result
firmware_version(struct check *check)
{
	struct ibv_context *ctx = check_verbs_open(check->port[CHECK_PORT].ibdev);
	struct ibv_device_attr attr = { .fw_ver = "" };
	char text[64] = "";
	int ret = rte_eth_dev_fw_version_get(check->port[CHECK_PORT].id, text, sizeof(text));

	if (ctx != NULL) {
		(void)ibv_query_device(ctx, &attr);
		ibv_close_device(ctx);
	}
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(ret < 0 ? -ret : ENOSPC));
	return strcmp(text, attr.fw_ver) == 0
		? CHECK_PASS
		: check_fail(check, "'%s', by verbs '%s'", text, attr.fw_ver);
}

/** The link's speed is one that the port claims. */
static enum check_result
speed(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	struct rte_eth_link link = { 0 };
	const int ret = rte_eth_link_get_nowait(port->id, &link);
	uint32_t bit;

	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	if (link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return check_absent(check, "Linux does not know it");
	bit = rte_eth_speed_bitflag(link.link_speed, link.link_duplex);
	/* As 22.11 has none for 400 Gb/s. */
	if (bit == 0 && link.link_speed != RTE_ETH_SPEED_NUM_NONE)
		return check_absent(
			check, "this DPDK has no bit for %u Mbit/s to claim", link.link_speed);
	if (bit == 0 || (port->info.speed_capa & bit) == 0)
		return check_fail(check, "%u Mbit/s, claimed 0x%" PRIx32, link.link_speed,
			port->info.speed_capa);
	return CHECK_PASS;
}

static enum check_result
burst_modes(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_eth_burst_mode rx = { .info = "" }, tx = { .info = "" };
	int ret = rte_eth_rx_burst_mode_get(id, 0, &rx);

	if (ret == 0)
		ret = rte_eth_tx_burst_mode_get(id, 0, &tx);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	return check_seen(check, "Rx %s; Tx %s", rx.info, tx.info);
}

static enum check_result
flow_control(struct check *check)
{
	struct rte_eth_fc_conf conf = { 0 };
	const int ret = rte_eth_dev_flow_ctrl_get(check->port[CHECK_PORT].id, &conf);

	return ret == 0 ? CHECK_PASS : check_absent(check, "%s", rte_strerror(-ret));
}

static enum check_result
module_eeprom(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_eth_dev_module_info info = { 0 };
	uint8_t bytes[RTE_ETH_MODULE_SFF_8636_MAX_LEN] = { 0 };
	struct rte_dev_eeprom_info eeprom = { .data = bytes };
	int ret = rte_eth_dev_get_module_info(id, &info);

	if (ret != 0 || info.eeprom_len == 0)
		return check_absent(check, "%s", rte_strerror(-ret));
	eeprom.length = RTE_MIN(info.eeprom_len, (uint32_t)sizeof(bytes));
	ret = rte_eth_dev_get_module_eeprom(id, &eeprom);
	return ret == 0 ? CHECK_PASS : check_fail(check, "%s", rte_strerror(-ret));
}

static enum check_result
sent_mbufs(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	const uint64_t end = check_wait_end(check);
	const unsigned int before = rte_mempool_in_use_count(port->pool);
	int freed = rte_eth_tx_done_cleanup(port->id, 0, 0);

	if (freed == -ENOTSUP)
		return check_absent(check, "it cannot be asked for them");
	if (check_traffic_flood_some(check, CHECK_PORT, 60, NB_SENT) != 0)
		return CHECK_FAIL;
	/* Drivers let the device tell of some only: the last may wait for those behind them. */
	do {
		freed = rte_eth_tx_done_cleanup(port->id, 0, 0);
	} while (freed >= 0 && rte_mempool_in_use_count(port->pool) > before + NB_SENT / 2 &&
		check_wait_on(end));
	if (freed < 0)
		return check_fail(check, "%s", rte_strerror(-freed));
	return rte_mempool_in_use_count(port->pool) <= before + NB_SENT / 2
		? CHECK_PASS
		: check_fail(check, "%u mbufs more are held than before",
			  rte_mempool_in_use_count(port->pool) - before);
}

static enum check_result
monitor_address(struct check *check)
{
	struct rte_power_monitor_cond condition = { .addr = NULL };
	const int ret = rte_eth_get_monitor_addr(check->port[CHECK_PORT].id, 0, &condition);

	if (ret != 0)
		return check_absent(check, "%s", rte_strerror(-ret));
	return condition.addr != NULL && condition.fn != NULL
		? CHECK_PASS
		: check_fail(check, "no address, or no condition");
}

/** Both ends on one lcore, so neither figure is the port's limit. */
static enum check_result
burst_rate(struct check *check)
{
	const struct check_frame frame = { .size = 60 };
	const uint64_t start = rte_get_timer_cycles();
	const uint64_t end = start + BENCH_MS * rte_get_timer_hz() / 1000;
	const struct check_port *port = &check->port[CHECK_PORT], *peer = &check->port[CHECK_PEER];
	uint64_t sent = 0, received = 0, now;
	struct rte_mbuf *mbufs[CHECK_BENCH_BURST];

	do {
		uint16_t nb = 0, done;

		while (nb < CHECK_BENCH_BURST &&
			(mbufs[nb] = check_traffic_frame(check, CHECK_PORT, &frame, nb)) != NULL)
			nb++;
		done = rte_eth_tx_burst(port->id, 0, mbufs, nb);
		rte_pktmbuf_free_bulk(mbufs + done, nb - done);
		sent += done;
		for (uint16_t q = 0; q < peer->nb_queues; q++) {
			nb = rte_eth_rx_burst(peer->id, q, mbufs, CHECK_BENCH_BURST);
			rte_pktmbuf_free_bulk(mbufs, nb);
			received += nb;
		}
		now = rte_get_timer_cycles();
	} while (now < end);
	return check_seen(check,
		"%" PRIu64 " packets sent and %" PRIu64 " received in %d ms, by one lcore", sent,
		received, BENCH_MS);
}

const struct check_row check_rows_info[] = {
	{ "firmware version", "the one that verbs tells", firmware_version },
	{ "speed", "the link's is one that the port claims", speed },
	{ "pauses", "what Linux says of flow control", flow_control },
	{ "module EEPROM", "the cable's bytes are read", module_eeprom },
	{ "sent mbufs", "they are given back when they are asked for", sent_mbufs },
	{ "monitor address", "where a CPU can wait for a packet", monitor_address },
	{ "burst modes", "which burst functions the port has", burst_modes },
	{ "burst rate", "what one lcore makes and moves", burst_rate },
	{ NULL, NULL, NULL },
};
