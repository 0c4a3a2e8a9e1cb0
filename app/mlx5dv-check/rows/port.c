/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what a port is told: groups, MTU, tables, filters, reset; and what it tells of packets.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_errno.h>

#include "check.h"

#define MTU_TRIED  1800 /* in one mbuf */
#define NB_FLOWS   16
#define VLAN_OURS  100
#define VLAN_OTHER 200

/** Exchange frames from the peer. @return whether that went well; otherwise the row has failed. */
static bool
exchange(struct check *check, const struct check_frame *frames, unsigned int nb,
	struct check_gots *gots)
{
	const int ret = check_traffic_exchange(check, CHECK_PEER, frames, nb, gots);

	if (ret != 0)
		(void)check_fail(check, "%s", rte_strerror(-ret));
	return ret == 0;
}

/** Set both ends'. @return 0 or a negative errno */
static int
set_mtus(struct check *check, const uint16_t *mtu)
{
	int ret = 0;

	for (unsigned int side = 0; side < CHECK_NB_SIDES && ret == 0; side++)
		ret = rte_eth_dev_set_mtu(check->port[side].id, mtu[side]);
	return ret;
}

static enum check_result
mtu(struct check *check)
{
	static const uint16_t tried[CHECK_NB_SIDES] = { MTU_TRIED, MTU_TRIED };
	const struct check_frame frame = { .size = MTU_TRIED + RTE_ETHER_HDR_LEN };
	uint16_t before[CHECK_NB_SIDES];
	struct check_gots gots = { .nb = 0 };
	bool good;
	int ret = 0;

	for (unsigned int side = 0; side < CHECK_NB_SIDES && ret == 0; side++)
		ret = rte_eth_dev_get_mtu(check->port[side].id, &before[side]);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	ret = set_mtus(check, tried);
	if (ret != 0) {
		(void)set_mtus(check, before);
		return check_absent(check, "%d bytes: %s", MTU_TRIED, rte_strerror(-ret));
	}
	good = exchange(check, &frame, 1, &gots);
	if (good && (gots.nb != 1 || gots.got[0].mbuf->pkt_len != frame.size)) {
		(void)check_fail(check, "a packet of %u bytes came %u times, or shorter",
			frame.size, gots.nb);
		good = false;
	}
	check_traffic_free(&gots);
	ret = set_mtus(check, before);
	if (ret != 0)
		return check_fail(check, "setting it back: %s", rte_strerror(-ret));
	return good ? CHECK_PASS : CHECK_FAIL;
}

/** All flows to one queue. */
static enum check_result
redirection_table(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	struct rte_eth_rss_reta_entry64 before[CHECK_RETA_GROUPS], one[CHECK_RETA_GROUPS];
	struct check_frame frames[NB_FLOWS] = { 0 };
	enum check_result result = CHECK_PASS;
	struct check_gots gots = { .nb = 0 };
	int ret;

	memset(before, 0xff, sizeof(before));
	if (port->info.reta_size == 0 || port->info.reta_size > RTE_ETH_RSS_RETA_SIZE_512)
		return check_absent(check, "there is none");
	ret = rte_eth_dev_rss_reta_query(port->id, before, port->info.reta_size);
	memcpy(one, before, sizeof(one));
	for (unsigned int i = 0; i < port->info.reta_size; i++)
		one[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = 3;
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		frames[i].sport = 7 * i;
	if (ret == 0)
		ret = rte_eth_dev_rss_reta_update(port->id, one, port->info.reta_size);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	if (!exchange(check, frames, NB_FLOWS, &gots))
		result = CHECK_FAIL;
	else if (gots.nb != NB_FLOWS)
		result = check_fail(check, "of %d packets %u came", NB_FLOWS, gots.nb);
	for (unsigned int i = 0; i < gots.nb && result == CHECK_PASS; i++)
		if (gots.got[i].queue != 3)
			result = check_fail(check, "flow %u came on queue %u, not 3",
				gots.got[i].seq, gots.got[i].queue);
	check_traffic_free(&gots);
	ret = rte_eth_dev_rss_reta_update(port->id, before, port->info.reta_size);
	return ret == 0 ? result : check_fail(check, "setting it back: %s", rte_strerror(-ret));
}

/** Untagged packets are nobody's while there is a filter. */
static enum check_result
filtered(struct check *check)
{
	const struct check_frame frames[] = { { .vlan = VLAN_OURS }, { .vlan = VLAN_OTHER } };
	enum check_result result = CHECK_PASS;
	struct check_gots gots = { .nb = 0 };

	check->last_vlan = VLAN_OURS;
	if (!exchange(check, frames, RTE_DIM(frames), &gots))
		result = CHECK_FAIL;
	else if (check_traffic_count(&gots, 0, UINT16_MAX) != 1)
		result = check_fail(check, "VLAN %d, which was let in, did not come", VLAN_OURS);
	else if (check_traffic_count(&gots, 1, UINT16_MAX) != 0)
		result = check_fail(check, "VLAN %d came, too", VLAN_OTHER);
	check->last_vlan = 0;
	check_traffic_free(&gots);
	return result;
}

static enum check_result
vlan_filter(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	enum check_result result;
	int ret;

	if ((check->port[CHECK_PORT].info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) == 0)
		return check_absent(check, "no such offload");
	ret = rte_eth_dev_set_vlan_offload(id, RTE_ETH_VLAN_FILTER_OFFLOAD);
	if (ret == 0)
		ret = rte_eth_dev_vlan_filter(id, VLAN_OURS, 1);
	result = ret == 0 ? filtered(check) : check_fail(check, "%s", rte_strerror(-ret));
	(void)rte_eth_dev_vlan_filter(id, VLAN_OURS, 0);
	ret = rte_eth_dev_set_vlan_offload(id, 0);
	return ret == 0 ? result : check_fail(check, "disabling it: %s", rte_strerror(-ret));
}

static enum check_result
packet_types(struct check *check)
{
	static const struct {
		struct check_frame frame;
		uint32_t l4;
	} cases[] = {
		{ { .tcp = false }, RTE_PTYPE_L4_UDP },
		{ { .tcp = true }, RTE_PTYPE_L4_TCP },
	};
	uint32_t types[32];
	const int nb = rte_eth_dev_get_supported_ptypes(
		check->port[CHECK_PORT].id, RTE_PTYPE_L4_MASK, types, RTE_DIM(types));

	if (nb <= 0)
		return check_absent(check, "none of layer 4");
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct check_gots gots = { .nb = 0 };
		const bool good = exchange(check, &cases[i].frame, 1, &gots) && gots.nb == 1;
		const uint32_t type = good ? gots.got[0].mbuf->packet_type : 0;

		check_traffic_free(&gots);
		if (!good)
			return check_fail(check, "the packet came %u times", gots.nb);
		if (!RTE_ETH_IS_IPV4_HDR(type) || (type & RTE_PTYPE_L4_MASK) != cases[i].l4)
			return check_fail(check, "%s is 0x%" PRIx32,
				cases[i].frame.tcp ? "TCP" : "UDP", type);
	}
	return CHECK_PASS;
}

/** A rule takes the frame to a queue, which nobody reads until it is seen there. */
static enum check_result
descriptor_status(struct check *check)
{
	const struct check_rule rule = { .queue = 1 };
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	const uint16_t id = check->port[CHECK_PORT].id;
	enum check_result result;
	struct rte_flow *flow;
	struct rte_mbuf *mbuf;
	uint64_t end;
	int status;

	if (rte_eth_rx_descriptor_status(id, 1, 0) == -ENOTSUP)
		return check_absent(check, "the driver does not tell");
	result = check_rules_create(check, &rule, 1, &flow);
	if (result != CHECK_PASS)
		return result;
	status = rte_eth_rx_descriptor_status(id, 1, 0);
	if (status != RTE_ETH_RX_DESC_AVAIL)
		result = check_fail(check, "of an empty queue: %d", status);
	if (result == CHECK_PASS && check_traffic_send(check, CHECK_PEER, &frame) != 0)
		result = check_fail(check, "the peer does not send");
	end = check_wait_end(check);
	while (result == CHECK_PASS && status != RTE_ETH_RX_DESC_DONE) {
		status = rte_eth_rx_descriptor_status(id, 1, 0);
		if (!check_wait_on(end))
			result = check_fail(check, "when a packet had come: %d", status);
	}
	if (rte_eth_rx_burst(id, 1, &mbuf, 1) == 1)
		rte_pktmbuf_free(mbuf);
	return check_rules_destroy(check, &flow, 1, result);
}

/** @return the statistic's value, or UINT64_MAX */
static uint64_t
xstat(uint16_t id, const char *name)
{
	uint64_t number, value;

	if (rte_eth_xstats_get_id_by_name(id, name, &number) != 0 ||
		rte_eth_xstats_get_by_id(id, &number, &value, 1) != 1)
		return UINT64_MAX;
	return value;
}

/** @return the packets of all queues */
static uint64_t
packets_of_queues(const struct check_port *port)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];
	uint64_t sum = 0;

	for (uint16_t q = 0; q < port->nb_queues; q++) {
		snprintf(name, sizeof(name), "rx_q%u_packets", q);
		sum += xstat(port->id, name);
	}
	return sum;
}

static enum check_result
extended_statistics(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	const struct check_frame frames[8] = { { .size = 256 } };
	const uint64_t before = xstat(port->id, "rx_good_packets");
	const uint64_t queues_before = packets_of_queues(port);
	struct check_gots gots = { .nb = 0 };
	uint64_t nb, nb_queues;

	if (before == UINT64_MAX)
		return check_absent(check, "there is no rx_good_packets");
	if (!exchange(check, frames, RTE_DIM(frames), &gots))
		return CHECK_FAIL;
	check_traffic_free(&gots);
	nb = xstat(port->id, "rx_good_packets") - before;
	nb_queues = packets_of_queues(port) - queues_before;
	/* With the last frame of the exchange, and with Linux's. */
	if (nb < RTE_DIM(frames) + 1)
		return check_fail(
			check, "%zu packets were counted as %" PRIu64, RTE_DIM(frames) + 1, nb);
	if (nb_queues != nb)
		return check_fail(
			check, "%" PRIu64 " packets, %" PRIu64 " of all queues", nb, nb_queues);
	return CHECK_PASS;
}

static enum check_result
reset(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	int ret = rte_eth_dev_reset(port->id);

	if (ret == -ENOTSUP)
		return check_absent(check, "the driver has none");
	if (ret == 0)
		ret = check_port_restart(port, CHECK_PORT);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	return check_comes(check, NULL, 1, "after it") ? CHECK_PASS : CHECK_FAIL;
}

const struct check_row check_rows_port[] = {
	{ "MTU", "a packet of 1814 bytes", mtu },
	{ "redirection table", "all flows come on the queue that it names", redirection_table },
	{ "VLAN filter", "tags that were let in, and no others", vlan_filter },
	{ "packet types", "UDP and TCP over IPv4 are told apart", packet_types },
	{ "descriptor status", "a packet that nobody has read is seen", descriptor_status },
	{ "extended statistics", "of the port and of all queues together", extended_statistics },
	{ "reset", "packets come afterwards", reset },
	{ NULL, NULL, NULL },
};
