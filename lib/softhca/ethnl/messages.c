/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages that the device answers, one row each. */
#include <linux/ethtool_netlink.h>
#include <stddef.h>

#include "ethnl/call.h"
#include "ethnl/channels.h"
#include "ethnl/eeprom.h"
#include "ethnl/features.h"
#include "ethnl/pause.h"
#include "ethnl/stats.h"
#include "ethnl/strset.h"

#define NB_MESSAGES (ETHTOOL_MSG_USER_MAX + 1)

/* clang-format off */
/** A question, whose attributes are at most those that net/ethtool has a policy for. */
#define GET(NAME, ...) \
	[ETHTOOL_MSG_##NAME##_GET] = { \
		.reply = ETHTOOL_MSG_##NAME##_GET_REPLY, \
		.header = ETHTOOL_A_##NAME##_HEADER, \
		.policy = { ETHTOOL_A_##NAME##_HEADER, { [ETHTOOL_A_##NAME##_HEADER] = SHCA_ETHNL_NEST } }, \
		__VA_ARGS__ }

static const struct shca_ethnl_message messages[NB_MESSAGES] = {
	GET(CHANNELS, .run = shca_ethnl_channels_get),
	GET(FEATURES, .run = shca_ethnl_features_get),
	[ETHTOOL_MSG_FEATURES_SET] = {
		.reply = ETHTOOL_MSG_FEATURES_SET_REPLY,
		.header = ETHTOOL_A_FEATURES_HEADER,
		.is_privileged = true,
		.policy = { ETHTOOL_A_FEATURES_WANTED, {
			[ETHTOOL_A_FEATURES_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_FEATURES_WANTED] = SHCA_ETHNL_NEST,
		} },
		.run = shca_ethnl_features_set,
	},
	[ETHTOOL_MSG_CHANNELS_SET] = {
		.header = ETHTOOL_A_CHANNELS_HEADER,
		.is_privileged = true,
		.policy = { ETHTOOL_A_CHANNELS_COMBINED_COUNT, {
			[ETHTOOL_A_CHANNELS_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_CHANNELS_RX_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_TX_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_OTHER_COUNT] = SHCA_ETHNL_U32,
			[ETHTOOL_A_CHANNELS_COMBINED_COUNT] = SHCA_ETHNL_U32,
		} },
		.run = shca_ethnl_channels_set,
	},
	GET(PAUSE, .has_stats = true, .run = shca_ethnl_pause_get),
	[ETHTOOL_MSG_PAUSE_SET] = {
		.header = ETHTOOL_A_PAUSE_HEADER,
		.is_privileged = true,
		.policy = { ETHTOOL_A_PAUSE_TX, {
			[ETHTOOL_A_PAUSE_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_PAUSE_AUTONEG] = SHCA_ETHNL_U8,
			[ETHTOOL_A_PAUSE_RX] = SHCA_ETHNL_U8,
			[ETHTOOL_A_PAUSE_TX] = SHCA_ETHNL_U8,
		} },
		.run = shca_ethnl_pause_set,
	},
	[ETHTOOL_MSG_MODULE_EEPROM_GET] = {
		.reply = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY,
		.header = ETHTOOL_A_MODULE_EEPROM_HEADER,
		.is_privileged = true,
		.policy = { ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, {
			[ETHTOOL_A_MODULE_EEPROM_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_MODULE_EEPROM_OFFSET] = SHCA_ETHNL_U32,
			[ETHTOOL_A_MODULE_EEPROM_LENGTH] = SHCA_ETHNL_U32,
			[ETHTOOL_A_MODULE_EEPROM_PAGE] = SHCA_ETHNL_U8,
			[ETHTOOL_A_MODULE_EEPROM_BANK] = SHCA_ETHNL_U8,
			[ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS] = SHCA_ETHNL_U8,
		} },
		.run = shca_ethnl_eeprom_get,
	},
	[ETHTOOL_MSG_STATS_GET] = {
		.reply = ETHTOOL_MSG_STATS_GET_REPLY,
		.header = ETHTOOL_A_STATS_HEADER,
		.policy = { ETHTOOL_A_STATS_GROUPS, {
			[ETHTOOL_A_STATS_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_STATS_GROUPS] = SHCA_ETHNL_NEST,
		} },
		.run = shca_ethnl_stats_get,
	},
	[ETHTOOL_MSG_STRSET_GET] = {
		.reply = ETHTOOL_MSG_STRSET_GET_REPLY,
		.header = ETHTOOL_A_STRSET_HEADER,
		.policy = { ETHTOOL_A_STRSET_COUNTS_ONLY, {
			[ETHTOOL_A_STRSET_HEADER] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_STRSET_STRINGSETS] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_STRSET_COUNTS_ONLY] = SHCA_ETHNL_FLAG,
		} },
		.run = shca_ethnl_strset_get,
	},
};
/* clang-format on */

const struct shca_ethnl_message *
shca_ethnl_find(uint8_t command)
{
	return command < NB_MESSAGES && messages[command].run != NULL ? &messages[command] : NULL;
}
