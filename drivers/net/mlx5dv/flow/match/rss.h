/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Protocol layers, and hash classes over them.
 *
 * A verbs QP hashes by one L3 protocol and at most one L4 protocol, so RTE_ETH_RSS_* types are
 * split into classes with one QP and one rule each, the most specific rule first:
 *
 *     types ipv4-udp ipv6   ->   ipv4-udp | ipv6 | none (everything else: first queue)
 */
#ifndef MDV_RSS_H
#define MDV_RSS_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_caps;

/** Protocol layers of patterns and of hash classes. */
enum mdv_rss_layer {
	MDV_LAYER_ETH = 1 << 0,
	MDV_LAYER_VLAN = 1 << 1,
	MDV_LAYER_IPV4 = 1 << 2,
	MDV_LAYER_IPV6 = 1 << 3,
	MDV_LAYER_TCP = 1 << 4,
	MDV_LAYER_UDP = 1 << 5,
	MDV_LAYER_ESP = 1 << 6,
	MDV_LAYER_MPLS = 1 << 7, /**< behind an Ethernet header */
	MDV_LAYER_VXLAN = 1 << 8,
	MDV_LAYER_GRE = 1 << 9,
	MDV_LAYER_GRE_KEY = 1 << 10,
	MDV_LAYER_NVGRE = 1 << 11,
	MDV_LAYER_MPLS_TUNNEL = 1 << 12, /**< over UDP or GRE */
	MDV_LAYER_ANY = 1 << 13,
	MDV_LAYER_L3 = MDV_LAYER_IPV4 | MDV_LAYER_IPV6,
	MDV_LAYER_L4 = MDV_LAYER_TCP | MDV_LAYER_UDP,
	MDV_LAYER_TUNNEL =
		MDV_LAYER_VXLAN | MDV_LAYER_GRE | MDV_LAYER_NVGRE | MDV_LAYER_MPLS_TUNNEL,
};

/** Layers inside a tunnel have the same bits, shifted left by so many. */
#define MDV_LAYER_INNER_SHIFT   16
#define MDV_LAYER_INNER(layers) ((uint32_t)(layers) << MDV_LAYER_INNER_SHIFT)

/** Hash classes, the most specific first; the last hashes nothing. */
enum mdv_rss_class_id {
	MDV_RSS_IPV4_UDP,
	MDV_RSS_IPV4_TCP,
	MDV_RSS_IPV6_UDP,
	MDV_RSS_IPV6_TCP,
	MDV_RSS_IPV4,
	MDV_RSS_IPV6,
	MDV_RSS_NONE,
	MDV_RSS_NB_CLASSES,
};

struct mdv_rss_class {
	const char *name;
	uint64_t types;  /**< RTE_ETH_RSS_* that ask for it */
	uint64_t fields; /**< IBV_RX_HASH_* */
	uint32_t layers; /**< layers of each packet of the class */
};

extern const struct mdv_rss_class mdv_rss_classes[MDV_RSS_NB_CLASSES];

/** @return all RTE_ETH_RSS_* types that the device can hash by: dev_info.flow_type_rss_offloads. */
uint64_t mdv_rss_types(const struct mdv_caps *caps);

/** One rule of an expansion: the pattern with @p add_layers added, hashed by class @p id. */
struct mdv_rss_expansion {
	enum mdv_rss_class_id id;
	uint32_t add_layers;
};

/**
 * Compute the rules that a pattern of @p layers needs so that each class of @p types is hashed as
 * requested and the rest of the pattern still arrives. Most specific first; the last one is the
 * pattern itself.
 * @return the number of rules in @p out, at least 1
 */
unsigned int mdv_rss_expand(
	uint32_t layers, uint64_t types, struct mdv_rss_expansion out[MDV_RSS_NB_CLASSES]);

/** @return IBV_RX_HASH_* of a class; with @p inner, of the headers inside the tunnel. */
uint64_t mdv_rss_fields(enum mdv_rss_class_id id, bool inner);

/** A tunnel in which the device may hash by the inner headers. */
struct mdv_rss_tunnel {
	const char *name;
	uint32_t layers;  /**< MDV_LAYER_*, all of them outer */
	uint32_t offload; /**< MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_* that it needs */
};

/** @return the tunnel among the outer @p layers of a pattern, or NULL. */
const struct mdv_rss_tunnel *mdv_rss_tunnel_of(uint32_t layers);
/** @return MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_* of the tunnels inside which the device hashes.
 */
uint32_t mdv_rss_tunnels(const struct mdv_caps *caps);

/** @return entries of the indirection table over @p nb_queues queues, or 0 if the device has no
 * such table. */
uint32_t mdv_rss_table_size(uint32_t nb_queues, uint32_t max);

#endif /* MDV_RSS_H */
