/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of ethtool to matches. */
#include "ethtool/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>

#include "steering/ethtool.h"

#define VLAN_ID_MASK 0x0fff
/** Linux include/linux/errno.h; not among those of user space, which gets it from mlx5e's
 * validate_flow() all the same. */
#define ENOTSUPP 524

/** A rule as it is read: the same fields of the value and the mask, into both halves of a match. */
struct half {
	const union ethtool_flow_union *from;
	struct shca_match_stack *to;
};

struct reading {
	const struct ethtool_rx_flow_spec *spec;
	struct half value, mask;
	uint8_t proto; /* of the flow type */
};

static bool
is_zero(const void *bytes, size_t nb)
{
	for (size_t i = 0; i < nb; i++)
		if (((const uint8_t *)bytes)[i] != 0)
			return false;
	return true;
}

static void
match_type(const struct reading *reading, uint16_t type)
{
	reading->mask.to->ether_type = UINT16_MAX;
	reading->value.to->ether_type = type;
}

static void
match_proto(const struct reading *reading, uint8_t mask, uint8_t value)
{
	reading->mask.to->ip_proto = mask;
	reading->value.to->ip_proto = value;
}

static void
put_ether(const struct half *half, const union ethtool_flow_union *mask)
{
	const struct ethhdr *from = &half->from->ether_spec, *bits = &mask->ether_spec;

	for (unsigned int i = 0; i < ETH_ALEN; i++) {
		half->to->dst_mac[i] = from->h_dest[i] & bits->h_dest[i];
		half->to->src_mac[i] = from->h_source[i] & bits->h_source[i];
	}
	half->to->ether_type = ntohs(from->h_proto & bits->h_proto);
}

/** The device's check of values outside masks does not see those of ether: they are cut. */
static int
read_ether(const struct reading *reading)
{
	const struct ethhdr *mask = &reading->spec->m_u.ether_spec;

	put_ether(&reading->value, reading->mask.from);
	put_ether(&reading->mask, reading->mask.from);
	return !is_zero(mask->h_dest, ETH_ALEN) + !is_zero(mask->h_source, ETH_ALEN) +
		(mask->h_proto != 0);
}

/** ip4src and ip4dst stand in one place in the specs of all flow types of IPv4. */
static void
put_ip4(const struct half *half, const struct ethtool_tcpip4_spec *mask)
{
	const struct ethtool_tcpip4_spec *from = &half->from->tcp_ip4_spec;

	if (mask->ip4src != 0)
		memcpy(half->to->src_ip + 12, &from->ip4src, 4);
	if (mask->ip4dst != 0)
		memcpy(half->to->dst_ip + 12, &from->ip4dst, 4);
}

static int
read_ip4(const struct reading *reading)
{
	const struct ethtool_tcpip4_spec *mask = &reading->mask.from->tcp_ip4_spec;

	put_ip4(&reading->value, mask);
	put_ip4(&reading->mask, mask);
	match_type(reading, ETH_P_IP);
	return 1 + (mask->ip4src != 0) + (mask->ip4dst != 0);
}

static void
put_ip6(const struct half *half, const struct ethtool_tcpip6_spec *mask)
{
	const struct ethtool_tcpip6_spec *from = &half->from->tcp_ip6_spec;

	if (!is_zero(mask->ip6src, 16))
		memcpy(half->to->src_ip, from->ip6src, 16);
	if (!is_zero(mask->ip6dst, 16))
		memcpy(half->to->dst_ip, from->ip6dst, 16);
}

static int
read_ip6(const struct reading *reading)
{
	const struct ethtool_tcpip6_spec *mask = &reading->mask.from->tcp_ip6_spec;

	put_ip6(&reading->value, mask);
	put_ip6(&reading->mask, mask);
	match_type(reading, ETH_P_IPV6);
	return 1 + !is_zero(mask->ip6src, 16) + !is_zero(mask->ip6dst, 16);
}

static int
read_ports(const struct reading *reading, __be16 src_mask, __be16 src, __be16 dst_mask, __be16 dst)
{
	struct shca_match_stack *mask = reading->mask.to, *value = reading->value.to;
	const bool is_tcp = reading->proto == IPPROTO_TCP;

	match_proto(reading, UINT8_MAX, reading->proto);
	if (src_mask != 0) {
		*(is_tcp ? &mask->tcp_src_port : &mask->udp_src_port) = ntohs(src_mask);
		*(is_tcp ? &value->tcp_src_port : &value->udp_src_port) = ntohs(src);
	}
	if (dst_mask != 0) {
		*(is_tcp ? &mask->tcp_dst_port : &mask->udp_dst_port) = ntohs(dst_mask);
		*(is_tcp ? &value->tcp_dst_port : &value->udp_dst_port) = ntohs(dst);
	}
	return (src_mask != 0) + (dst_mask != 0);
}

static int
read_l4_ip4(const struct reading *reading)
{
	const struct ethtool_tcpip4_spec *mask = &reading->mask.from->tcp_ip4_spec;
	const struct ethtool_tcpip4_spec *value = &reading->value.from->tcp_ip4_spec;

	if (mask->tos != 0)
		return -EINVAL;
	return read_ip4(reading) +
		read_ports(reading, mask->psrc, value->psrc, mask->pdst, value->pdst);
}

static int
read_l4_ip6(const struct reading *reading)
{
	const struct ethtool_tcpip6_spec *mask = &reading->mask.from->tcp_ip6_spec;
	const struct ethtool_tcpip6_spec *value = &reading->value.from->tcp_ip6_spec;

	if (mask->tclass != 0)
		return -EINVAL;
	return read_ip6(reading) +
		read_ports(reading, mask->psrc, value->psrc, mask->pdst, value->pdst);
}

static int
read_user_ip4(const struct reading *reading)
{
	const struct ethtool_usrip4_spec *mask = &reading->mask.from->usr_ip4_spec;
	const struct ethtool_usrip4_spec *value = &reading->value.from->usr_ip4_spec;

	if (mask->l4_4_bytes != 0 || mask->tos != 0 || value->ip_ver != ETH_RX_NFC_IP4)
		return -EINVAL;
	if (mask->proto != 0)
		match_proto(reading, mask->proto, value->proto);
	return read_ip4(reading) + (mask->proto != 0);
}

static int
read_user_ip6(const struct reading *reading)
{
	const struct ethtool_usrip6_spec *mask = &reading->mask.from->usr_ip6_spec;
	const struct ethtool_usrip6_spec *value = &reading->value.from->usr_ip6_spec;

	if (mask->l4_4_bytes != 0 || mask->tclass != 0)
		return -EINVAL;
	if (mask->l4_proto != 0)
		match_proto(reading, mask->l4_proto, value->l4_proto);
	return read_ip6(reading) + (mask->l4_proto != 0);
}

/* clang-format off */
static const struct {
	uint32_t type;
	uint8_t proto;
	int (*read)(const struct reading *reading); /* number of tuples, or -EINVAL */
} types[] = {
	{ ETHER_FLOW,     0,           read_ether },
	{ IP_USER_FLOW,   0,           read_user_ip4 },
	{ IPV6_USER_FLOW, 0,           read_user_ip6 },
	{ TCP_V4_FLOW,    IPPROTO_TCP, read_l4_ip4 },
	{ UDP_V4_FLOW,    IPPROTO_UDP, read_l4_ip4 },
	{ TCP_V6_FLOW,    IPPROTO_TCP, read_l4_ip6 },
	{ UDP_V6_FLOW,    IPPROTO_UDP, read_l4_ip6 },
};
/* clang-format on */

static int
read_type(struct reading *reading)
{
	const uint32_t type = reading->spec->flow_type & ~(uint32_t)(FLOW_EXT | FLOW_MAC_EXT);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].type != type)
			continue;
		reading->proto = types[i].proto;
		return types[i].read(reading);
	}
	return -ENOTSUPP;
}

/** A whole VLAN identifier, and no other bits of a tag. */
static int
read_vlan(const struct reading *reading)
{
	const struct ethtool_flow_ext *mask = &reading->spec->m_ext, *value = &reading->spec->h_ext;

	if ((reading->spec->flow_type & FLOW_EXT) == 0)
		return 0;
	if (mask->vlan_etype != 0 || mask->vlan_tci != htons(VLAN_ID_MASK) ||
		ntohs(value->vlan_tci) > VLAN_ID_MASK)
		return -EINVAL;
	reading->mask.to->cvlan = reading->value.to->cvlan = 1;
	reading->mask.to->vlan_tci = VLAN_ID_MASK;
	reading->value.to->vlan_tci = ntohs(value->vlan_tci);
	return 1;
}

static int
read_mac(const struct reading *reading)
{
	const struct ethtool_flow_ext *mask = &reading->spec->m_ext, *value = &reading->spec->h_ext;

	if ((reading->spec->flow_type & FLOW_MAC_EXT) == 0 || is_zero(mask->h_dest, ETH_ALEN))
		return 0;
	for (unsigned int i = 0; i < ETH_ALEN; i++) {
		reading->mask.to->dst_mac[i] = mask->h_dest[i];
		reading->value.to->dst_mac[i] = value->h_dest[i] & mask->h_dest[i];
	}
	return 1;
}

int
shca_ethtool_flow_parse(
	const struct ethtool_rx_flow_spec *spec, uint32_t nb_queues, struct shca_ethtool_attr *attr)
{
	struct reading reading = {
		.spec = spec,
		.value = { &spec->h_u, &attr->match.value.outer },
		.mask = { &spec->m_u, &attr->match.mask.outer },
	};
	int nb, ret;

	*attr = (struct shca_ethtool_attr){
		.location = spec->location,
		.drop = spec->ring_cookie == RX_CLS_FLOW_DISC,
		.spec = *spec,
	};
	if (spec->location >= SHCA_ETHTOOL_LOCATIONS)
		return -ENOSPC;
	if (!attr->drop && spec->ring_cookie >= nb_queues)
		return -EINVAL;
	nb = read_type(&reading);
	ret = nb < 0 ? nb : read_vlan(&reading);
	if (ret < 0)
		return ret;
	nb += ret + read_mac(&reading);
	attr->is_l2 = (spec->flow_type & ~(uint32_t)(FLOW_EXT | FLOW_MAC_EXT)) == ETHER_FLOW;
	attr->nb_tuples = (uint8_t)nb;
	return nb;
}
