/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the netdev. */
#include "ethtool/statistics.h"

#include <assert.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ethtool/command.h"
#include "hw/device/device.h"
#include "steering/ethtool.h"

/** The port's counters of bytes have the FCS of each frame, which our wires lack. */
#define FCS_BYTES 4

/** A counter and what it counts. Names are those of Linux en_stats.c, in its order. */
struct counter {
	const char *name;           /**< %u: the number of the ring or priority */
	bool is_of_first;           /**< ring 0 alone: the TAP has one queue */
	size_t value, less, frames; /**< value - less, and an FCS for each of the frames */
};

#define AT(member) offsetof(struct shca_device_stats, member)
/** A member that nothing adds to. */
#define NONE SIZE_MAX
/* clang-format off */
#define MOVES(name, member)        { name, false, AT(member), NONE, NONE }
#define PART(name, member, other)  { name, false, AT(member), AT(other), NONE }
#define PHY(name, member, nb)      { name, false, AT(member), NONE, AT(nb) }
#define RING(name, member)         { name, true, AT(member), NONE, NONE }
/** What it counts happens on no softhca. */
#define STILL(name)                { name, false, NONE, NONE, NONE }
/* clang-format on */

/** sw, qcnt, vnic_env, 802_3, 2863, 2819, phy, eth_ext, pcie. */
static const struct counter of_port[] = {
	MOVES("rx_packets", rx_kernel),
	MOVES("rx_bytes", rx_kernel_bytes),
	MOVES("tx_packets", tx_kernel),
	MOVES("tx_bytes", tx_kernel_bytes),
	STILL("tx_tso_packets"),
	STILL("tx_tso_bytes"),
	STILL("tx_added_vlan_packets"),
	STILL("rx_lro_packets"),
	STILL("rx_lro_bytes"),
	STILL("rx_gro_packets"),
	STILL("rx_gro_bytes"),
	STILL("rx_removed_vlan_packets"),
	STILL("rx_csum_unnecessary"),
	/* The TAP computes all checksums itself. */
	MOVES("rx_csum_none", rx_kernel),
	STILL("rx_csum_complete"),
	STILL("rx_xdp_drop"),
	STILL("rx_xdp_redirect"),
	MOVES("tx_csum_none", tx_kernel),
	STILL("tx_csum_partial"),
	STILL("tx_recover"),
	STILL("tx_cqe_err"),
	STILL("rx_wqe_err"),
	STILL("rx_buff_alloc_err"),
	STILL("rx_cqe_compress_blks"),
	STILL("rx_cqe_compress_pkts"),
	STILL("rx_arfs_err"),
	STILL("rx_recover"),
	PART("rx_out_of_buffer", rx_kernel_lost, rx_kernel_down),
	MOVES("rx_if_down_packets", rx_kernel_down),
	PART("rx_steer_missed_packets", rx_unwanted, rx_dropped),
	MOVES("tx_packets_phy", tx_frames),
	MOVES("rx_packets_phy", rx_frames),
	STILL("rx_crc_errors_phy"),
	PHY("tx_bytes_phy", tx_bytes, tx_frames),
	PHY("rx_bytes_phy", rx_bytes, rx_frames),
	STILL("rx_in_range_len_errors_phy"),
	STILL("rx_out_of_range_len_phy"),
	STILL("rx_oversize_pkts_phy"),
	STILL("rx_symbol_err_phy"),
	STILL("tx_mac_control_phy"),
	STILL("tx_pause_ctrl_phy"),
	STILL("rx_discards_phy"),
	STILL("tx_discards_phy"),
	STILL("tx_errors_phy"),
	STILL("rx_fragments_phy"),
	STILL("rx_jabbers_phy"),
	MOVES("link_down_events_phy", link_downs),
	STILL("rx_pcs_symbol_err_phy"),
	STILL("rx_corrected_bits_phy"),
	STILL("rx_err_lane_0_phy"),
	STILL("rx_err_lane_1_phy"),
	STILL("rx_err_lane_2_phy"),
	STILL("rx_err_lane_3_phy"),
	STILL("rx_buffer_passed_thres_phy"),
	STILL("rx_pci_signal_integrity"),
	STILL("tx_pci_signal_integrity"),
	STILL("outbound_pci_buffer_overflow"),
	STILL("outbound_pci_stalled_rd"),
	STILL("outbound_pci_stalled_wr"),
	STILL("outbound_pci_stalled_rd_events"),
	STILL("outbound_pci_stalled_wr_events"),
};

/** per_prio: without priorities of their own frames are not discarded by them. */
static const struct counter of_priority[] = { STILL("rx_prio%u_discards") };

/** pme. */
static const struct counter of_module[] = {
	STILL("module_unplug"),
	STILL("module_bus_stuck"),
	STILL("module_high_temp"),
	STILL("module_bad_shorted"),
};

/** channels. */
static const struct counter of_rx_ring[] = {
	RING("rx%u_packets", rx_kernel),
	RING("rx%u_bytes", rx_kernel_bytes),
	RING("rx%u_csum_none", rx_kernel),
	STILL("rx%u_xdp_drop"),
	STILL("rx%u_wqe_err"),
	STILL("rx%u_buff_alloc_err"),
	STILL("rx%u_arfs_err"),
};
static const struct counter of_tx_ring[] = {
	RING("tx%u_packets", tx_kernel),
	RING("tx%u_bytes", tx_kernel_bytes),
	STILL("tx%u_tso_packets"),
	RING("tx%u_csum_none", tx_kernel),
	STILL("tx%u_recover"),
	STILL("tx%u_cqe_err"),
};

/** per_port_buff_congest. */
static const struct counter of_buffer[] = {
	STILL("rx_prio%u_buf_discard"),
	STILL("rx_prio%u_cong_discard"),
	STILL("rx_prio%u_marked"),
};

#define NB_PRIORITIES 8
#define NB_OF(rows)   (sizeof(rows) / sizeof((rows)[0]))

static const struct group {
	const struct counter *counter;
	unsigned int nb, times;
} groups[] = {
	{ of_port, NB_OF(of_port), 1 },
	{ of_priority, NB_OF(of_priority), NB_PRIORITIES },
	{ of_module, NB_OF(of_module), 1 },
	{ of_rx_ring, NB_OF(of_rx_ring), SHCA_ETHTOOL_QUEUES },
	{ of_tx_ring, NB_OF(of_tx_ring), SHCA_ETHTOOL_QUEUES },
	{ of_buffer, NB_OF(of_buffer), NB_PRIORITIES },
};

#define NB_COUNTERS                                                                                \
	(NB_OF(of_port) + NB_OF(of_module) + NB_PRIORITIES * NB_OF(of_priority) +                  \
		NB_PRIORITIES * NB_OF(of_buffer) +                                                 \
		SHCA_ETHTOOL_QUEUES * (NB_OF(of_rx_ring) + NB_OF(of_tx_ring)))
static_assert(sizeof(struct ethtool_gstrings) + NB_COUNTERS * ETH_GSTRING_LEN <= SHCA_ETHTOOL_MAX,
	"the names fit in an answer");

/** Call @p visit with each counter, in order, and the ring or priority that it is of. */
static void
for_each(void (*visit)(
		 const struct counter *counter, unsigned int number, unsigned int index, void *arg),
	void *arg)
{
	unsigned int index = 0;

	for (const struct group *group = groups; group < groups + NB_OF(groups); group++)
		for (unsigned int number = 0; number < group->times; number++)
			for (unsigned int i = 0; i < group->nb; i++)
				visit(&group->counter[i], number, index++, arg);
}

unsigned int
shca_statistics_count(void)
{
	return NB_COUNTERS;
}

int
shca_statistics_sets(struct shca_ethtool_call *call)
{
	struct ethtool_sset_info *info = (void *)call->bytes;

	if (info->sset_mask != UINT64_C(1) << ETH_SS_STATS)
		return -ENODEV;
	info->data[0] = NB_COUNTERS;
	call->length += sizeof(info->data[0]);
	return 0;
}

static void
put_name(const struct counter *counter, unsigned int number, unsigned int index, void *arg)
{
	char *name = (char *)arg + index * ETH_GSTRING_LEN;
	const char *mark = strstr(counter->name, "%u");

	if (mark == NULL)
		snprintf(name, ETH_GSTRING_LEN, "%s", counter->name);
	else
		snprintf(name, ETH_GSTRING_LEN, "%.*s%u%s", (int)(mark - counter->name),
			counter->name, number, mark + 2);
}

int
shca_statistics_strings(struct shca_ethtool_call *call)
{
	struct ethtool_gstrings *strings = (void *)call->bytes;

	if (strings->string_set != ETH_SS_STATS)
		return -ENODEV;
	strings->len = NB_COUNTERS;
	for_each(put_name, strings->data);
	call->length += NB_COUNTERS * ETH_GSTRING_LEN;
	return 0;
}

static uint64_t
value_at(const struct shca_device_stats *stats, size_t offset)
{
	uint64_t value;

	if (offset == NONE)
		return 0;
	memcpy(&value, (const uint8_t *)stats + offset, sizeof(value));
	return value;
}

struct values {
	const struct shca_device_stats *stats;
	uint64_t *value;
};

static void
put_value(const struct counter *counter, unsigned int number, unsigned int index, void *arg)
{
	const struct values *to = arg;

	to->value[index] = 0;
	if (number == 0 || !counter->is_of_first)
		to->value[index] = value_at(to->stats, counter->value) -
			value_at(to->stats, counter->less) +
			FCS_BYTES * value_at(to->stats, counter->frames);
}

int
shca_statistics_values(struct shca_ethtool_call *call)
{
	struct ethtool_stats *values = (void *)call->bytes;
	struct values to = { shca_device_stats(call->dev), (uint64_t *)(void *)values->data };

	values->n_stats = NB_COUNTERS;
	for_each(put_value, &to);
	call->length += NB_COUNTERS * sizeof(values->data[0]);
	return 0;
}
