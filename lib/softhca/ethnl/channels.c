/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/channels.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stddef.h>

#include "ethnl/call.h"

/** A kind of channels: where the structure has how many there are and may be, and the message. */
static const struct {
	size_t count, max;
	uint16_t count_attr, max_attr;
} kinds[] = {
#define KIND(name, NAME)                                                                           \
	{                                                                                          \
		offsetof(struct ethtool_channels, name##_count),                                   \
			offsetof(struct ethtool_channels, max_##name),                             \
			ETHTOOL_A_CHANNELS_##NAME##_COUNT, ETHTOOL_A_CHANNELS_##NAME##_MAX         \
	}
	KIND(rx, RX),
	KIND(tx, TX),
	KIND(other, OTHER),
	KIND(combined, COMBINED),
};

#define NB_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint32_t *
at(struct ethtool_channels *channels, size_t offset)
{
	return (void *)((uint8_t *)channels + offset);
}

/** channels_fill_reply(): a kind that there cannot be is not there. */
int
shca_ethnl_channels_get(struct shca_ethnl_call *call)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	int ret = shca_ethnl_ask(call, &channels);

	for (size_t i = 0; ret == 0 && i < NB_KINDS; i++) {
		if (*at(&channels, kinds[i].max) == 0)
			continue;
		mnl_attr_put_u32(call->reply, kinds[i].max_attr, *at(&channels, kinds[i].max));
		mnl_attr_put_u32(call->reply, kinds[i].count_attr, *at(&channels, kinds[i].count));
	}
	return ret;
}

/** ethnl_set_channels() */
int
shca_ethnl_channels_set(struct shca_ethnl_call *call)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	int ret = shca_ethnl_ask(call, &channels);
	bool is_other = false;

	if (ret != 0)
		return ret;
	for (size_t i = 0; i < NB_KINDS; i++) {
		is_other |= shca_ethnl_update_u32(
			call, kinds[i].count_attr, at(&channels, kinds[i].count));
		if (*at(&channels, kinds[i].count) > *at(&channels, kinds[i].max))
			return shca_ethnl_refuse(call, -EINVAL, call->attrs[kinds[i].count_attr],
				"requested channel count exceeds maximum");
	}
	if (!is_other)
		return 0;
	if (channels.combined_count == 0 && (channels.rx_count == 0 || channels.tx_count == 0))
		return shca_ethnl_refuse(call, -EINVAL,
			call->attrs[ETHTOOL_A_CHANNELS_COMBINED_COUNT],
			"requested channel counts would result in no RX or TX channel being configured");
	channels.cmd = ETHTOOL_SCHANNELS;
	return shca_ethnl_ask(call, &channels);
}
