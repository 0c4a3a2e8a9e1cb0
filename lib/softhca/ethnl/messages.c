/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages that the device answers, one row each. */
#include <linux/ethtool_netlink.h>
#include <stddef.h>

#include "ethnl/call.h"
#include "ethnl/channels.h"

#define NB_MESSAGES (ETHTOOL_MSG_USER_MAX + 1)

/* clang-format off */
static const struct shca_ethnl_message messages[NB_MESSAGES] = {
	[ETHTOOL_MSG_CHANNELS_GET] = { ETHTOOL_MSG_CHANNELS_GET_REPLY, ETHTOOL_A_CHANNELS_HEADER, false,
		ETHTOOL_A_CHANNELS_HEADER, { [ETHTOOL_A_CHANNELS_HEADER] = SHCA_ETHNL_NEST },
		shca_ethnl_channels_get },
	[ETHTOOL_MSG_CHANNELS_SET] = { 0, ETHTOOL_A_CHANNELS_HEADER, true,
		ETHTOOL_A_CHANNELS_COMBINED_COUNT, {
			[ETHTOOL_A_CHANNELS_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_CHANNELS_RX_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_TX_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_OTHER_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_COMBINED_COUNT] = SHCA_ETHNL_U32,
		}, shca_ethnl_channels_set },
};
/* clang-format on */

const struct shca_ethnl_message *
shca_ethnl_find(uint8_t command)
{
	return command < NB_MESSAGES && messages[command].run != NULL ? &messages[command] : NULL;
}
