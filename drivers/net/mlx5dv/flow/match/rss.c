/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash classes as rows, and their expansion over a pattern. */

#include <rte_common.h>

#include <infiniband/mlx5dv.h>
#include <rte_ethdev.h>

#include "device/device.h"
#include "rss.h"

/** As DPDK's drivers do for a number of queues that is no power of two: enough entries for an even
 * spread. */
#define MDV_RSS_EVEN_ENTRIES 512u

#define IPV4_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define IPV6_TYPES                                                                                 \
	(RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |               \
		RTE_ETH_RSS_IPV6_EX)
#define IPV4_FIELDS (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
#define IPV6_FIELDS (IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6)
#define UDP_FIELDS  (IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP)
#define TCP_FIELDS  (IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP)

/* clang-format off */
const struct mdv_rss_class mdv_rss_classes[MDV_RSS_NB_CLASSES] = {
	[MDV_RSS_IPV4_UDP] = { "ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		IPV4_FIELDS | UDP_FIELDS, MDV_LAYER_IPV4 | MDV_LAYER_UDP },
	[MDV_RSS_IPV4_TCP] = { "ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP,
		IPV4_FIELDS | TCP_FIELDS, MDV_LAYER_IPV4 | MDV_LAYER_TCP },
	[MDV_RSS_IPV6_UDP] = { "ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX,
		IPV6_FIELDS | UDP_FIELDS, MDV_LAYER_IPV6 | MDV_LAYER_UDP },
	[MDV_RSS_IPV6_TCP] = { "ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX,
		IPV6_FIELDS | TCP_FIELDS, MDV_LAYER_IPV6 | MDV_LAYER_TCP },
	[MDV_RSS_IPV4] = { "ipv4", IPV4_TYPES, IPV4_FIELDS, MDV_LAYER_IPV4 },
	[MDV_RSS_IPV6] = { "ipv6", IPV6_TYPES, IPV6_FIELDS, MDV_LAYER_IPV6 },
	[MDV_RSS_NONE] = { "none", 0, 0, 0 },
};

/** The first row whose layers are all present counts: MPLS is inside of UDP or GRE. */
static const struct mdv_rss_tunnel rss_tunnels[] = {
	{ "MPLS over UDP", MDV_LAYER_MPLS_TUNNEL | MDV_LAYER_UDP,
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP },
	{ "MPLS over GRE", MDV_LAYER_MPLS_TUNNEL | MDV_LAYER_GRE,
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE },
	{ "VXLAN", MDV_LAYER_VXLAN, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN },
	{ "NVGRE", MDV_LAYER_NVGRE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
	{ "GRE", MDV_LAYER_GRE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
};
/* clang-format on */

uint64_t
mdv_rss_types(const struct mdv_caps *caps)
{
	uint64_t types = 0;

	for (unsigned int i = 0; i < MDV_RSS_NB_CLASSES; i++) {
		const struct mdv_rss_class *class = &mdv_rss_classes[i];

		if ((class->fields & caps->rx_hash_fields) == class->fields)
			types |= class->types;
	}
	return types;
}

uint64_t
mdv_rss_fields(enum mdv_rss_class_id id, bool inner)
{
	const uint64_t fields = mdv_rss_classes[id].fields;

	return inner && fields != 0 ? fields | IBV_RX_HASH_INNER : fields;
}

const struct mdv_rss_tunnel *
mdv_rss_tunnel_of(uint32_t layers)
{
	for (unsigned int i = 0; i < RTE_DIM(rss_tunnels); i++)
		if ((rss_tunnels[i].layers & ~layers) == 0)
			return &rss_tunnels[i];
	return NULL;
}

uint32_t
mdv_rss_tunnels(const struct mdv_caps *caps)
{
	return (caps->rx_hash_fields & IBV_RX_HASH_INNER) != 0 ? caps->tunnel_offloads : 0;
}

static enum mdv_rss_class_id
rss_best_class(uint32_t layers, uint64_t types)
{
	unsigned int i;

	if (types == 0)
		return MDV_RSS_NONE;
	for (i = 0; i < MDV_RSS_NONE; i++)
		if ((mdv_rss_classes[i].types & types) != 0 &&
			(mdv_rss_classes[i].layers & ~layers) == 0)
			break;
	return i;
}

/** @return whether a packet can have these layers: at most one protocol of each kind. */
static bool
rss_layers_possible(uint32_t layers)
{
	return (layers & MDV_LAYER_L3) != MDV_LAYER_L3 && (layers & MDV_LAYER_L4) != MDV_LAYER_L4;
}

unsigned int
mdv_rss_expand(uint32_t layers, uint64_t types, struct mdv_rss_expansion out[MDV_RSS_NB_CLASSES])
{
	unsigned int nb = 0;

	for (unsigned int i = 0; types != 0 && i < MDV_RSS_NONE; i++) {
		const struct mdv_rss_class *class = &mdv_rss_classes[i];
		uint32_t all = layers | class->layers;

		/* If all == layers, the pattern itself is in the class. If another class is best,
		 * that class makes the same rule. */
		if ((class->types & types) == 0 || all == layers || !rss_layers_possible(all) ||
			rss_best_class(all, types) != i)
			continue;
		out[nb].id = i;
		out[nb++].add_layers = all & ~layers;
	}
	out[nb].id = rss_best_class(layers, types);
	out[nb++].add_layers = 0;
	return nb;
}

uint32_t
mdv_rss_table_size(uint32_t nb_queues, uint32_t max)
{
	if (nb_queues == 0 || nb_queues > max)
		return 0;
	if (rte_is_power_of_2(nb_queues))
		return nb_queues;
	max = rte_align32prevpow2(max);
	if (nb_queues > max)
		return 0;
	max = RTE_MIN(max, MDV_RSS_EVEN_ENTRIES);
	return RTE_MAX(max, rte_align32pow2(nb_queues));
}
