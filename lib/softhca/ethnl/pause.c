/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/pause.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include "ethnl/call.h"

/** mlx5e_stats_pause_get(). A softhca neither sends pauses nor obeys any. */
static void
put_counters(struct nlmsghdr *message)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_PAUSE_STATS);

	mnl_attr_put_u64(message, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 0);
	mnl_attr_put_u64(message, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 0);
	mnl_attr_nest_end(message, nest);
}

/** pause_fill_reply() */
int
shca_ethnl_pause_get(struct shca_ethnl_call *call)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	const int ret = shca_ethnl_ask(call, &pause);

	if (ret != 0)
		return ret;
	mnl_attr_put_u8(call->reply, ETHTOOL_A_PAUSE_AUTONEG, pause.autoneg != 0);
	mnl_attr_put_u8(call->reply, ETHTOOL_A_PAUSE_RX, pause.rx_pause != 0);
	mnl_attr_put_u8(call->reply, ETHTOOL_A_PAUSE_TX, pause.tx_pause != 0);
	if ((call->flags & ETHTOOL_FLAG_STATS) != 0)
		put_counters(call->reply);
	return 0;
}

/** ethnl_set_pause() */
int
shca_ethnl_pause_set(struct shca_ethnl_call *call)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	bool is_other = false;
	int ret = shca_ethnl_ask(call, &pause);

	if (ret != 0)
		return ret;
	is_other |= shca_ethnl_update_bool(call, ETHTOOL_A_PAUSE_AUTONEG, &pause.autoneg);
	is_other |= shca_ethnl_update_bool(call, ETHTOOL_A_PAUSE_RX, &pause.rx_pause);
	is_other |= shca_ethnl_update_bool(call, ETHTOOL_A_PAUSE_TX, &pause.tx_pause);
	if (!is_other)
		return 0;
	pause.cmd = ETHTOOL_SPAUSEPARAM;
	return shca_ethnl_ask(call, &pause);
}
