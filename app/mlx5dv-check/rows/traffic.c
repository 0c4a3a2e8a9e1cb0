/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of plain frames: both ways, whose addresses, what is counted. */
#include <inttypes.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "check.h"

/** What a function's host may take to hear of an address. */
#define HOST_MS      500
#define HOST_STEP_MS 20

/** Of nobody: locally administered, of the range that frames' sources have. */
static const struct rte_ether_addr other_mac = { { 0x02, 0, 0, 0, 2, 1 } };
static const struct rte_ether_addr group_mac = { { 0x03, 0, 0x5e, 0, 2, 1 } };
static const struct rte_ether_addr broadcast_mac = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

/** Send one frame from the peer to @p dst. @return how often it came, or a negative errno */
static int
nb_received(struct check *check, const struct rte_ether_addr *dst)
{
	const struct check_frame frame = { .dst = dst };
	struct check_gots gots;
	int ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, &gots);

	if (ret == 0)
		ret = check_traffic_count(&gots, 0, UINT16_MAX);
	check_traffic_free(&gots);
	return ret;
}

bool
check_comes(struct check *check, const struct rte_ether_addr *dst, int want, const char *when)
{
	int nb = nb_received(check, dst);

	/* Linux tells a function's host of addresses later (mlx5e, set_rx_mode_work). */
	for (unsigned int ms = 0; nb >= 0 && nb != want && check->port[CHECK_PORT].is_function &&
		ms < HOST_MS && check_stop_signal() == 0;
		ms += HOST_STEP_MS) {
		rte_delay_us_sleep(HOST_STEP_MS * 1000);
		nb = nb_received(check, dst);
	}
	check->lost = nb == 0 && want != 0;
	if (nb == want)
		return true;
	if (nb < 0)
		(void)check_fail(check, "%s: %s", when, rte_strerror(-nb));
	else
		(void)check_fail(check, "%s a frame came %d times, not %d", when, nb, want);
	return false;
}

enum check_result
check_conclude(struct check *check, bool good, bool lost)
{
	if (good)
		return CHECK_PASS;
	if (lost && check->port[CHECK_PORT].is_function)
		return check_absent(check, "nothing came: a virtual function's host decides");
	/* Linux e44d46170d2a, "Add SR-IOV (FDB) support": what no entry of the FDB is for goes to
	 * the uplink, if it does not come from there; netdevs' lists are the entries. */
	if (lost && check->port[CHECK_PORT].is_host)
		return check_absent(check,
			"nothing came: what the peer, a virtual function of this port, sends to addresses that the port's netdev does not list goes onto the wire");
	return CHECK_FAIL;
}

enum check_result
check_links(struct check *check)
{
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++) {
		const uint64_t end = check_wait_end(check);
		struct rte_eth_link link = { 0 };
		int ret;

		do {
			ret = rte_eth_link_get_nowait(check->port[side].id, &link);
		} while (ret == 0 && link.link_status != RTE_ETH_LINK_UP && check_wait_on(end));
		if (ret != 0)
			return check_fail(
				check, "%s: %s", check->port[side].name, rte_strerror(-ret));
		if (link.link_status != RTE_ETH_LINK_UP)
			return check_fail(check, "%s has none", check->port[side].name);
	}
	return CHECK_PASS;
}

static enum check_result
flood(struct check *check, enum check_side from, uint16_t size)
{
	struct check_losses losses;

	check_losses_begin(check, &losses);
	if (check_traffic_flood(check, from, size) == 0)
		return CHECK_PASS;
	check_losses_explain(check, from, &losses);
	return CHECK_FAIL;
}

static enum check_result
receive_short(struct check *check)
{
	return flood(check, CHECK_PEER, 60);
}

static enum check_result
receive_long(struct check *check)
{
	return flood(check, CHECK_PEER, 1514);
}

static enum check_result
send_short(struct check *check)
{
	return flood(check, CHECK_PORT, 60);
}

static enum check_result
send_long(struct check *check)
{
	return flood(check, CHECK_PORT, 1514);
}

static enum check_result
own_addresses(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	bool good, lost;
	int ret;

	if (!check_comes(check, &broadcast_mac, 1, "by broadcast") ||
		!check_comes(check, &other_mac, 0, "to another's address"))
		return CHECK_FAIL;
	ret = rte_eth_dev_mac_addr_add(id, (struct rte_ether_addr *)(uintptr_t)&other_mac, 0);
	if (ret == -ENOTSUP || ret == -EPERM)
		return check_absent(check, "a second address: %s", rte_strerror(-ret));
	if (ret != 0)
		return check_fail(check, "a second address: %s", rte_strerror(-ret));
	good = check_comes(check, &other_mac, 1, "to a second address");
	lost = check->lost;
	ret = rte_eth_dev_mac_addr_remove(id, (struct rte_ether_addr *)(uintptr_t)&other_mac);
	if (ret != 0)
		return check_fail(check, "removing the second address: %s", rte_strerror(-ret));
	return check_conclude(check,
		good && check_comes(check, &other_mac, 0, "to an address that was removed"), lost);
}

static enum check_result
groups(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_ether_addr list = group_mac;
	bool good, lost;
	int ret;

	ret = rte_eth_dev_set_mc_addr_list(id, &list, 1);
	if (ret == -ENOTSUP || ret == -EPERM)
		return check_absent(check, "a list of groups: %s", rte_strerror(-ret));
	if (ret != 0)
		return check_fail(check, "a list of groups: %s", rte_strerror(-ret));
	good = check_comes(check, &group_mac, 1, "to a group of the list");
	lost = check->lost;
	ret = rte_eth_dev_set_mc_addr_list(id, NULL, 0);
	if (ret != 0)
		return check_fail(check, "emptying the list: %s", rte_strerror(-ret));
	return check_conclude(
		check, good && check_comes(check, &group_mac, 0, "to a group that was left"), lost);
}

/** A mode in which the port takes what it did not before. */
static enum check_result
mode(struct check *check, int (*enable)(uint16_t id), int (*disable)(uint16_t id),
	const struct rte_ether_addr *dst, const char *when)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	bool good, lost;
	int ret = enable(id);

	if (ret == -ENOTSUP || ret == -EPERM)
		return check_absent(check, "%s", rte_strerror(-ret));
	if (ret != 0)
		return check_fail(check, "enabling it: %s", rte_strerror(-ret));
	good = check_comes(check, dst, 1, when);
	lost = check->lost;
	ret = disable(id);
	if (ret != 0)
		return check_fail(check, "disabling it: %s", rte_strerror(-ret));
	return check_conclude(check, good && check_comes(check, dst, 0, "after it"), lost);
}

static enum check_result
promiscuous(struct check *check)
{
	return mode(check, rte_eth_promiscuous_enable, rte_eth_promiscuous_disable, &other_mac,
		"to another's address");
}

static enum check_result
all_multicast(struct check *check)
{
	return mode(check, rte_eth_allmulticast_enable, rte_eth_allmulticast_disable, &group_mac,
		"to any group");
}

static enum check_result
statistics(struct check *check)
{
	const struct check_frame frames[8] = { { .size = 256 } };
	struct rte_eth_stats before[CHECK_NB_SIDES], after[CHECK_NB_SIDES];
	const unsigned int nb = RTE_DIM(frames) + 1; /* with the last frame of the exchange */
	struct check_gots gots = { .nb = 0 };
	int ret = 0;

	for (unsigned int side = 0; side < CHECK_NB_SIDES && ret == 0; side++)
		ret = rte_eth_stats_get(check->port[side].id, &before[side]);
	if (ret == 0)
		ret = check_traffic_exchange(check, CHECK_PEER, frames, RTE_DIM(frames), &gots);
	check_traffic_free(&gots);
	for (unsigned int side = 0; side < CHECK_NB_SIDES && ret == 0; side++)
		ret = rte_eth_stats_get(check->port[side].id, &after[side]);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	/* Linux's frames may come between ours. */
	if (after[CHECK_PORT].ipackets - before[CHECK_PORT].ipackets < nb)
		return check_fail(check, "%u packets received were counted as %" PRIu64, nb,
			after[CHECK_PORT].ipackets - before[CHECK_PORT].ipackets);
	if (after[CHECK_PEER].opackets - before[CHECK_PEER].opackets != nb)
		return check_fail(check, "%u packets sent were counted as %" PRIu64, nb,
			after[CHECK_PEER].opackets - before[CHECK_PEER].opackets);
	return CHECK_PASS;
}

static enum check_result
restart(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	int ret = rte_eth_dev_stop(id);

	if (ret == 0)
		ret = rte_eth_dev_start(id);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	return check_comes(check, NULL, 1, "after it") ? CHECK_PASS : CHECK_FAIL;
}

const struct check_row check_rows_traffic[] = {
	{ "link", "both ports have one", check_links },
	{ "receive 60 bytes", "all packets come, in order and whole", receive_short },
	{ "receive 1514 bytes", "all packets come, in order and whole", receive_long },
	{ "send 60 bytes", "all packets come, in order and whole", send_short },
	{ "send 1514 bytes", "all packets come, in order and whole", send_long },
	{ "addresses", "broadcast, own and added addresses, and no others", own_addresses },
	{ "multicast list", "groups of the list, and no others", groups },
	{ "promiscuous", "all addresses", promiscuous },
	{ "all multicast", "groups of nobody's list, too", all_multicast },
	{ "statistics", "packets are counted as they were", statistics },
	{ "stop and start", "packets come afterwards", restart },
	{ NULL, NULL, NULL },
};
