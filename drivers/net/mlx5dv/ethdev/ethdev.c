/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of ethdev operations, and operations that only query or dump. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>

#include "burst/burst_select.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "ethdev.h"
#include "flow/flow.h"
#include "flow/match/rss.h"
#include "kernel/ethtool.h"
#include "port/dev.h"
#include "port/event.h"
#include "port/link.h"
#include "port/mac.h"
#include "port/queue.h"
#include "port/reta.h"
#include "port/stats.h"
#include "port/vlan.h"
#include "port/xstats.h"
#include "queue/rx/rx_intr.h"
#include "queue/rx/rx_split.h"
#include "queue/rx/rxq.h"
#include "queue/tx/tx_limits.h"
#include "queue/tx/txq.h"
#include "secondary.h"
#include "state/port.h"

/** Descriptors of a queue for which the application names no number. */
#define RING_SIZE 1024

static bool
is_ibv(const struct rte_eth_dev *dev)
{
	return mdv_port(dev)->device.caps.mode == MDV_MODE_IBV;
}

static uint64_t
rx_offloads(const struct mdv_port *port)
{
	const struct mdv_caps *caps = &port->device.caps;
	uint64_t offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER;

	/* A stride is one buffer. */
	if (port->config.mprq != MDV_MPRQ_ON)
		offloads |= RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	/* A verbs completion has no RSS hash. */
	if (caps->mode != MDV_MODE_IBV)
		offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
	if (caps->rx_checksum)
		offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |
			RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	if (caps->cvlan_strip)
		offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	if (caps->timestamp_mask != 0)
		offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return offloads;
}

static uint64_t
tx_offloads(const struct mdv_port *port)
{
	const struct mdv_caps *caps = &port->device.caps;
	/* The device inserts the tag; where the header is inlined, the driver writes it there. */
	uint64_t offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT;

	/* Packets that striding queues leave where they are cannot be freed fast. */
	if (port->config.mprq == MDV_MPRQ_OFF)
		offloads |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (caps->tx_checksum)
		offloads |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
			RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	if (caps->tx_checksum && caps->tunnel_offloads != 0)
		offloads |= RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM;
	return offloads | mdv_tx_limits_tso_offloads(caps);
}

int
mdv_ethdev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct mdv_port *port = mdv_port(dev);
	const struct mdv_caps *caps = &port->device.caps;
	uint32_t speed;
	bool up;

	info->if_index = port->device.ifindex;
	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = MDV_MTU_MAX;
	info->max_rx_pktlen = MDV_MTU_MAX + MDV_FRAME_OVERHEAD;
	info->min_rx_bufsize = RTE_ETHER_MIN_LEN;
	info->max_rx_queues =
		RTE_MIN(RTE_MIN(caps->max_wq, caps->max_qp), (uint32_t)RTE_MAX_QUEUES_PER_PORT);
	info->max_tx_queues = RTE_MIN(caps->max_qp, (uint32_t)RTE_MAX_QUEUES_PER_PORT);
	info->max_mac_addrs = MDV_MAC_MAX;
	info->dev_capa = RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP |
		RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP |
		RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP;
	info->rx_offload_capa = rx_offloads(port);
	info->tx_offload_capa = tx_offloads(port);
	info->reta_size = mdv_reta_size(port);
	info->hash_key_size = MDV_RSS_KEY_BYTES;
	info->flow_type_rss_offloads = mdv_rss_types(caps);
#ifdef RTE_ETH_HASH_ALGO_CAPA_MASK
	info->rss_algo_capa =
		RTE_ETH_HASH_ALGO_CAPA_MASK(DEFAULT) | RTE_ETH_HASH_ALGO_CAPA_MASK(TOEPLITZ);
#endif
	/* The default rules hash by outermost headers: only a rule's pattern can name a tunnel. */
	if (info->flow_type_rss_offloads != 0)
		info->flow_type_rss_offloads |= RTE_ETH_RSS_LEVEL_OUTERMOST;
	info->rx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = mdv_rxq_desc_max(caps),
		.nb_min = MDV_RXQ_DESC_MIN,
		.nb_align = 1,
		.nb_seg_max = mdv_rx_split_max(caps),
	};
	if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT)
		info->rx_seg_capa = (struct rte_eth_rxseg_capa){
			.multi_pools = 1,
			.offset_allowed = 1,
			.max_nseg = mdv_rx_split_max(caps),
		};
	info->tx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = mdv_txq_desc_max(caps,
			port->config.tx_inline == MDV_TX_INLINE_AUTO ? 0 : port->config.tx_inline),
		.nb_min = MDV_TXQ_DESC_MIN,
		.nb_align = 1,
		.nb_seg_max = RTE_MIN(mdv_tx_limits_segs(caps),
			caps->max_tso_bytes != 0 ? MDV_TX_TSO_SEGS_MAX : MDV_TX_SEGS_MAX),
		.nb_mtu_seg_max = mdv_tx_limits_segs(caps),
	};
	/* Verbs reports the current speed only, and only the primary process can ask it. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY || mdv_link_query(port, &up, &speed) != 0)
		speed = dev->data->dev_link.link_speed;
	info->speed_capa = rte_eth_speed_bitflag(speed, RTE_ETH_LINK_FULL_DUPLEX);
	info->default_rxportconf.burst_size = 32;
	info->default_txportconf.burst_size = 32;
	info->default_rxportconf.nb_queues = 1;
	info->default_txportconf.nb_queues = 1;
	/* ethdev refuses a default beyond the limits, too. */
	info->default_rxportconf.ring_size = RTE_MIN(RING_SIZE, info->rx_desc_lim.nb_max);
	info->default_txportconf.ring_size = RTE_MIN(RING_SIZE, info->tx_desc_lim.nb_max);
	return 0;
}

#define OUTER_PTYPES                                                                               \
	RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_NONFRAG,        \
		RTE_PTYPE_L4_FRAG, RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP

const uint32_t *
mdv_ethdev_supported_ptypes_get(MDV_COMPAT_PTYPES_ARGS(dev, nb))
{
	static const uint32_t l2_only[] = { RTE_PTYPE_L2_ETHER, RTE_PTYPE_UNKNOWN };
	static const uint32_t without_tunnels[] = {
		RTE_PTYPE_L2_ETHER,
		OUTER_PTYPES,
		RTE_PTYPE_UNKNOWN,
	};
	static const uint32_t all[] = {
		RTE_PTYPE_L2_ETHER,
		OUTER_PTYPES,
		RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_INNER_L4_NONFRAG,
		RTE_PTYPE_INNER_L4_FRAG,
		RTE_PTYPE_INNER_L4_TCP,
		RTE_PTYPE_INNER_L4_UDP,
		RTE_PTYPE_UNKNOWN,
	};

	if (is_ibv(dev)) {
		MDV_COMPAT_SET_NB_PTYPES(nb, RTE_DIM(l2_only) - 1);
		return l2_only;
	}
	/* Of a device that does not look into tunnels all headers are outer ones. */
	if (mdv_port(dev)->device.caps.tunnel_offloads == 0) {
		MDV_COMPAT_SET_NB_PTYPES(nb, RTE_DIM(without_tunnels) - 1);
		return without_tunnels;
	}
	MDV_COMPAT_SET_NB_PTYPES(nb, RTE_DIM(all) - 1);
	return all;
}

/** What a dump is of; a private one: all queues. */
struct dumped {
	uint16_t idx;
	uint16_t offset;
	uint16_t num;
};

typedef int (*print_t)(const struct rte_eth_dev *dev, const struct dumped *what, FILE *file);

static int
print_wqes(const struct rte_eth_dev *dev, const struct dumped *what, FILE *file)
{
	const struct mdv_txq *txq = dev->data->tx_queues[what->idx];

	return txq == NULL ? -EINVAL : mdv_tx_dump_wqes(txq, what->offset, what->num, file);
}

static int
print_cqes(const struct rte_eth_dev *dev, const struct dumped *what, FILE *file)
{
	const struct mdv_rxq *rxq = dev->data->rx_queues[what->idx];

	return rxq == NULL ? -EINVAL : mdv_rx_dump_cqes(rxq, what->offset, what->num, file);
}

static int
print_txqs(const struct rte_eth_dev *dev, __rte_unused const struct dumped *what, FILE *file)
{
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			mdv_tx_dump(dev->data->tx_queues[i], file);
	}
	return 0;
}

/** Print to memory under the lock, which all processes share: nobody may read the file, such as a
 * pipe, and writing then blocks. */
static int
print_locked(const struct rte_eth_dev *dev, print_t print, const struct dumped *what, FILE *file)
{
	struct mdv_port *port = mdv_port(dev);
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int ret;

	if (memory == NULL)
		return -errno;
	mdv_queue_list_lock_objects(&port->queues);
	ret = print(dev, what, memory);
	mdv_queue_list_unlock_objects(&port->queues);
	if (fclose(memory) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0)
		fwrite(text, 1, size, file);
	free(text);
	return ret;
}

static int
tx_descriptor_dump(
	const struct rte_eth_dev *dev, uint16_t idx, uint16_t offset, uint16_t num, FILE *file)
{
	return print_locked(dev, print_wqes, &(const struct dumped){ idx, offset, num }, file);
}

static int
rx_descriptor_dump(
	const struct rte_eth_dev *dev, uint16_t idx, uint16_t offset, uint16_t num, FILE *file)
{
	return print_locked(dev, print_cqes, &(const struct dumped){ idx, offset, num }, file);
}

static int
priv_dump(struct rte_eth_dev *dev, FILE *file)
{
	const struct mdv_device *device = &mdv_port(dev)->device;

	fprintf(file, "device %s port %u, netdev %s, firmware %s\n", device->name, device->port_num,
		device->ifname[0] != '\0' ? device->ifname : "none", device->caps.fw_version);
	if (device->caps.real_time)
		fprintf(file, "clock of timestamps: real-time, ns\n");
	else if (device->caps.clock_khz != 0)
		fprintf(file, "clock of timestamps: %u kHz\n", device->caps.clock_khz);
	return print_locked(dev, print_txqs, NULL, file);
}

static int
fw_version_get(struct rte_eth_dev *dev, char *version, size_t size)
{
	const char *fw_version = mdv_port(dev)->device.caps.fw_version;
	int len = snprintf(version, size, "%s", fw_version);

	/* When the text does not fit, ethdev wants the size needed, the final 0 included. */
	return len < 0 ? -EINVAL : (size_t)len < size ? 0 : len + 1;
}

static int
read_clock(struct rte_eth_dev *dev, uint64_t *ticks)
{
	return mdv_device_read_clock(&mdv_port(dev)->device, ticks);
}

static int
flow_ops_get(__rte_unused struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	*ops = &mdv_flow_ops;
	return 0;
}

static int
rx_metadata_negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	struct mdv_port *port = mdv_port(dev);

	*features &= RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;
	port->rx_metadata = *features;
	return 0;
}

/* clang-format off */
/** Operations that need shared memory and the netdev's index only: the same in every process. */
#define ANY_PROCESS_OPS \
	.stats_get = mdv_stats_get, \
	.stats_reset = mdv_stats_reset, \
	.xstats_get = mdv_xstats_get, \
	.xstats_get_names = mdv_xstats_get_names, \
	.xstats_get_by_id = mdv_xstats_get_by_id, \
	.xstats_get_names_by_id = mdv_xstats_get_names_by_id, \
	.xstats_reset = mdv_xstats_reset, \
	.dev_infos_get = mdv_ethdev_infos_get, \
	.rxq_info_get = mdv_rxq_info_get, \
	.txq_info_get = mdv_txq_info_get, \
	MDV_COMPAT_RECYCLE_INFO_OP(mdv_rx_recycle_info_get) \
	.rx_burst_mode_get = mdv_burst_rx_mode_get, \
	.tx_burst_mode_get = mdv_burst_tx_mode_get, \
	.fw_version_get = fw_version_get, \
	.get_module_info = mdv_ethtool_module_info, \
	.get_module_eeprom = mdv_ethtool_module_eeprom, \
	.dev_supported_ptypes_get = mdv_ethdev_supported_ptypes_get, \
	.tx_done_cleanup = mdv_tx_done_cleanup, \
	.reta_query = mdv_reta_query, \
	.rss_hash_conf_get = mdv_reta_hash_conf_get, \
	.eth_dev_priv_dump = priv_dump, \
	.eth_rx_descriptor_dump = rx_descriptor_dump, \
	.eth_tx_descriptor_dump = tx_descriptor_dump
/* clang-format on */

const struct eth_dev_ops mdv_ethdev_ops = {
	ANY_PROCESS_OPS,
	.dev_configure = mdv_dev_configure,
	.dev_start = mdv_dev_start,
	.dev_stop = mdv_dev_stop,
	.dev_close = mdv_dev_close,
	.dev_reset = mdv_dev_reset,
	.dev_set_link_up = mdv_link_set_up,
	.dev_set_link_down = mdv_link_set_down,
	.link_update = mdv_link_update,
	.is_removed = mdv_event_is_removed,
	.promiscuous_enable = mdv_mac_promiscuous_enable,
	.promiscuous_disable = mdv_mac_promiscuous_disable,
	.allmulticast_enable = mdv_mac_allmulticast_enable,
	.allmulticast_disable = mdv_mac_allmulticast_disable,
	.mac_addr_set = mdv_mac_set,
	.mac_addr_add = mdv_mac_add,
	.mac_addr_remove = mdv_mac_remove,
	.set_mc_addr_list = mdv_mac_set_mc_list,
	.mtu_set = mdv_dev_mtu_set,
	.vlan_offload_set = mdv_vlan_offload_set,
	.vlan_strip_queue_set = mdv_vlan_strip_queue_set,
	.vlan_filter_set = mdv_vlan_filter_set,
	.rx_queue_intr_enable = mdv_rx_intr_enable,
	.rx_queue_intr_disable = mdv_rx_intr_disable,
	.get_monitor_addr = mdv_rx_intr_monitor,
	.rx_queue_start = mdv_queue_rx_start,
	.rx_queue_stop = mdv_queue_rx_stop,
	.tx_queue_start = mdv_queue_tx_start,
	.tx_queue_stop = mdv_queue_tx_stop,
	.rx_queue_setup = mdv_queue_rx_setup,
	.rx_queue_release = mdv_rxq_release,
	.tx_queue_setup = mdv_queue_tx_setup,
	.tx_queue_release = mdv_txq_release,
	.set_queue_rate_limit = mdv_txq_set_rate,
	.reta_update = mdv_reta_update,
	.rss_hash_update = mdv_reta_hash_update,
	.read_clock = read_clock,
	.flow_ctrl_get = mdv_ethtool_flow_ctrl_get,
	.flow_ctrl_set = mdv_ethtool_flow_ctrl_set,
	.flow_ops_get = flow_ops_get,
	.rx_metadata_negotiate = rx_metadata_negotiate,
};

/** A secondary process asks the primary for the rest. */
const struct eth_dev_ops mdv_ethdev_secondary_ops = {
	ANY_PROCESS_OPS,
	.dev_close = mdv_secondary_close,
	.is_removed = mdv_secondary_is_removed,
	.link_update = mdv_secondary_link_update,
	.flow_ops_get = mdv_secondary_flow_ops,
};
