/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/stats.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/bitset.h"
#include "ethnl/call.h"
#include "ethtool/command.h"
#include "nldev/owner.h"

/** Groups by number; newer kernels have more, which the device knows nothing of. */
static const struct {
	char name[ETH_GSTRING_LEN];
	uint32_t strings; /* ETH_SS_* of its counters */
} groups[] = {
	[ETHTOOL_STATS_ETH_PHY] = { "eth-phy", ETH_SS_STATS_ETH_PHY },
	[ETHTOOL_STATS_ETH_MAC] = { "eth-mac", ETH_SS_STATS_ETH_MAC },
	[ETHTOOL_STATS_ETH_CTRL] = { "eth-ctrl", ETH_SS_STATS_ETH_CTRL },
	[ETHTOOL_STATS_RMON] = { "rmon", ETH_SS_STATS_RMON },
};

#define NAMES_MAX     ((SHCA_ETHTOOL_MAX - sizeof(struct ethtool_gstrings)) / ETH_GSTRING_LEN)
#define NB_GROUPS     (sizeof(groups) / sizeof(groups[0]))
#define NB_GROUPS_MAX 32

/** Which of the netdev's counters they are: Linux mlx5/core/en_stats.c mlx5e_stats_eth_phy_get()
 * and its like, and the names of the same registers in pport_802_3_stats_desc and others. */
static const struct {
	uint16_t group, attr;
	const char *name;
} counters[] = {
	{ ETHTOOL_STATS_ETH_PHY, ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, "rx_symbol_err_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT, "tx_packets_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, "rx_packets_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, "rx_crc_errors_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, "tx_bytes_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES, "rx_bytes_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_23_IR_LEN_ERR,
		"rx_in_range_len_errors_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_24_OOR_LEN, "rx_out_of_range_len_phy" },
	{ ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_25_TOO_LONG_ERR, "rx_oversize_pkts_phy" },
	{ ETHTOOL_STATS_ETH_CTRL, ETHTOOL_A_STATS_ETH_CTRL_3_TX, "tx_mac_control_phy" },
	{ ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_FRAG, "rx_fragments_phy" },
	{ ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_JABBER, "rx_jabbers_phy" },
};

int
shca_stats_names(struct shca_ethnl_call *call, struct ethtool_gstrings **names)
{
	int ret;

	*names = calloc(1, SHCA_ETHTOOL_MAX);
	if (*names == NULL)
		return -ENOMEM;
	**names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_STATS, 0 };
	ret = shca_ethnl_ask(call, *names);
	if (ret == 0 && (*names)->len > NAMES_MAX)
		ret = SHCA_NLDEV_KERNEL;
	if (ret != 0)
		free(*names);
	return ret;
}

static void
put_counter(struct nlmsghdr *message, uint16_t attr, uint64_t value)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP_STAT);

	mnl_attr_put_u64(message, attr, value);
	mnl_attr_nest_end(message, nest);
}

static void
put_group(struct nlmsghdr *message, uint32_t group, const struct ethtool_gstrings *names,
	const struct ethtool_stats *values)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP);

	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_ID, group);
	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_SS_ID, groups[group].strings);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		for (uint32_t j = 0; counters[i].group == group && j < names->len; j++)
			if (strncmp((const char *)names->data + (size_t)j * ETH_GSTRING_LEN,
				    counters[i].name, ETH_GSTRING_LEN) == 0)
				put_counter(message, counters[i].attr, values->data[j]);
	mnl_attr_nest_end(message, nest);
}

static int
put_groups(struct shca_ethnl_call *call, uint32_t wanted, const struct ethtool_gstrings *names)
{
	struct ethtool_stats *values = calloc(1, SHCA_ETHTOOL_MAX);
	int ret;

	if (values == NULL)
		return -ENOMEM;
	*values = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS };
	ret = shca_ethnl_ask(call, values);
	for (uint32_t group = 0; ret == 0 && group < NB_GROUPS; group++)
		if ((wanted & 1u << group) != 0)
			put_group(call->reply, group, names, values);
	free(values);
	return ret;
}

/** stats_parse_request() */
static int
read_groups(struct shca_ethnl_call *call, uint32_t *wanted)
{
	uint8_t names[NB_GROUPS_MAX * ETH_GSTRING_LEN] = { 0 };
	const struct shca_bitset set = { NB_GROUPS_MAX, names };
	uint32_t value[SHCA_BITSET_WORDS] = { 0 }, mask[SHCA_BITSET_WORDS] = { 0 };
	int ret = 0;

	for (uint32_t group = 0; group < NB_GROUPS; group++)
		memcpy(names + group * ETH_GSTRING_LEN, groups[group].name, ETH_GSTRING_LEN);
	if (call->attrs[ETHTOOL_A_STATS_GROUPS] != NULL)
		ret = shca_bitset_read(
			call, call->attrs[ETHTOOL_A_STATS_GROUPS], &set, value, mask);
	if (ret != 0)
		return ret;
	if ((value[0] & mask[0]) == 0)
		return shca_ethnl_refuse(call, -EINVAL, NULL, "no stats requested");
	*wanted = value[0] & mask[0] & ((1u << NB_GROUPS) - 1);
	return *wanted != 0 ? 0 : SHCA_NLDEV_KERNEL;
}

int
shca_ethnl_stats_get(struct shca_ethnl_call *call)
{
	struct ethtool_gstrings *names;
	uint32_t wanted;
	int ret = read_groups(call, &wanted);

	if (ret == 0)
		ret = shca_stats_names(call, &names);
	if (ret != 0)
		return ret;
	ret = put_groups(call, wanted, names);
	free(names);
	return ret;
}
