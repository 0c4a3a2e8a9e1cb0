/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: the rules that older cards refuse. */
#include "steering/profile.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "steering/ethtool.h"
#include "steering/match/spec.h"
#include "steering/steering.h"

/** MLNX_OFED 3.1 for ConnectX-4; Linux 4.5 mlx5_ib_create_flow has nine. */
#define CX4_EXP_PRIORITIES 4
/** mlx4_ib.h: MLX4_IB_FLOW_MAX_PRIO. */
#define DMFS_MAX_PRIORITY 0xfff
/** "Since the VLAN ID is 12 bit long". */
#define VLAN_ID_MASK 0x0fff

static bool
is_all(const void *bytes, size_t nb, uint8_t byte)
{
	for (size_t i = 0; i < nb; i++)
		if (((const uint8_t *)bytes)[i] != byte)
			return false;
	return true;
}

static bool
is_whole(const void *mask, size_t nb)
{
	return is_all(mask, nb, 0) || is_all(mask, nb, UINT8_MAX);
}

static bool
is_vlan_mask(uint16_t mask)
{
	return mask == 0 || mask == VLAN_ID_MASK;
}

/** Of a tag in network order. */
static bool
is_whole_vlan(const void *mask, size_t nb)
{
	uint16_t tag;

	memcpy(&tag, mask, nb);
	return is_vlan_mask(be16toh(tag));
}

static int
check_cx4_exp(const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	if (attr->priority >= CX4_EXP_PRIORITIES)
		return -ENOSPC;
	if (attr->flags & ~(uint32_t)IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EINVAL;
	for (unsigned int i = 0; i < list->nb; i++)
		if (list->spec[i].type != IBV_FLOW_SPEC_ETH)
			return -EINVAL;
	return 0;
}

#define FIELD(spec, filter, field, whole)                                                          \
	{                                                                                          \
		spec, offsetof(struct filter, field), sizeof(((struct filter *)0)->field), whole   \
	}

/** What mlx4_ib parse_flow_attr hands on; it looks at nothing else of the ETH spec, and refuses
 * other fields of the others. */
static const struct field {
	uint32_t type;
	uint16_t offset, size;
	bool (*is_whole)(const void *mask, size_t nb);
} dmfs_fields[] = {
	FIELD(IBV_FLOW_SPEC_ETH, ib_uverbs_flow_eth_filter, dst_mac, is_whole),
	FIELD(IBV_FLOW_SPEC_ETH, ib_uverbs_flow_eth_filter, vlan_tag, is_whole_vlan),
	FIELD(IBV_FLOW_SPEC_IPV4, ib_uverbs_flow_ipv4_filter, src_ip, is_whole),
	FIELD(IBV_FLOW_SPEC_IPV4, ib_uverbs_flow_ipv4_filter, dst_ip, is_whole),
	FIELD(IBV_FLOW_SPEC_TCP, ib_uverbs_flow_tcp_udp_filter, dst_port, is_whole),
	FIELD(IBV_FLOW_SPEC_TCP, ib_uverbs_flow_tcp_udp_filter, src_port, is_whole),
	FIELD(IBV_FLOW_SPEC_UDP, ib_uverbs_flow_tcp_udp_filter, dst_port, is_whole),
	FIELD(IBV_FLOW_SPEC_UDP, ib_uverbs_flow_tcp_udp_filter, src_port, is_whole),
};

/** Reduce a spec to its fields of the table. @return 0, or -EINVAL: the card has no such spec or
 * field. */
static int
reduce(struct shca_spec *spec)
{
	const uint8_t *value = (const uint8_t *)&spec->value, *mask = (const uint8_t *)&spec->mask;
	struct shca_spec reduced = { .type = spec->type };
	unsigned int nb = 0;

	for (size_t i = 0; i < sizeof(dmfs_fields) / sizeof(dmfs_fields[0]); i++) {
		const struct field *field = &dmfs_fields[i];

		if (field->type != spec->type)
			continue;
		nb++;
		memcpy((uint8_t *)&reduced.mask + field->offset, mask + field->offset, field->size);
		for (unsigned int at = field->offset; at < field->offset + field->size; at++)
			((uint8_t *)&reduced.value)[at] = value[at] & mask[at];
	}
	if (nb == 0)
		return -EINVAL;
	if (spec->type != IBV_FLOW_SPEC_ETH &&
		memcmp(&reduced.mask, &spec->mask, sizeof(spec->mask)) != 0)
		return -EINVAL;
	*spec = reduced;
	return 0;
}

static int
check_masks(const struct shca_spec *spec)
{
	const uint8_t *mask = (const uint8_t *)&spec->mask;

	for (size_t i = 0; i < sizeof(dmfs_fields) / sizeof(dmfs_fields[0]); i++) {
		const struct field *field = &dmfs_fields[i];

		if (field->type == spec->type &&
			!field->is_whole(mask + field->offset, field->size))
			return -EINVAL;
	}
	return 0;
}

/** mlx4_ib_add_dont_trap_rule: only everything, or the group bit. */
static int
check_dont_trap(const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	static const uint8_t group[6] = { 1 };
	struct shca_spec *spec = &list->spec[0];
	int ret;

	if (attr->type != IBV_FLOW_ATTR_NORMAL || list->nb > 1 || attr->priority != 0)
		return -EOPNOTSUPP;
	if (list->nb == 0)
		return 0;
	if (spec->type != IBV_FLOW_SPEC_ETH)
		return -EINVAL;
	ret = reduce(spec);
	spec->mask.eth.vlan_tag = spec->value.eth.vlan_tag = 0;
	if (ret == 0 && !is_all(spec->mask.eth.dst_mac, sizeof(group), 0) &&
		memcmp(spec->mask.eth.dst_mac, group, sizeof(group)) != 0)
		ret = -EINVAL;
	return ret;
}

static int
check_dmfs(const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	int ret = 0;

	if (attr->flags & ~(uint32_t)IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	if (attr->flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
		return check_dont_trap(attr, list);
	if (attr->type > IBV_FLOW_ATTR_SNIFFER || attr->priority > DMFS_MAX_PRIORITY)
		return -EINVAL;
	for (unsigned int i = 0; i < list->nb && ret == 0; i++)
		ret = reduce(&list->spec[i]);
	for (unsigned int i = 0; i < list->nb && ret == 0; i++)
		ret = check_masks(&list->spec[i]);
	return ret;
}

/** @return whether a rule names one address and nothing else. */
static bool
names_mac(const struct shca_spec_list *list)
{
	const struct shca_spec *spec = &list->spec[0];

	return list->nb == 1 && spec->type == IBV_FLOW_SPEC_ETH && spec->mask.eth.vlan_tag == 0 &&
		is_all(spec->mask.eth.dst_mac, sizeof(spec->mask.eth.dst_mac), UINT8_MAX);
}

static int
check_a0(const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	int ret =
		attr->flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP ? -EOPNOTSUPP : check_dmfs(attr, list);

	if (ret == 0 && attr->type == IBV_FLOW_ATTR_NORMAL && !names_mac(list))
		ret = -ENXIO;
	return ret;
}

/** mlx4_en_validate_flow. */
static int
check_ethtool_dmfs(const struct shca_ethtool_attr *attr)
{
	const struct shca_match_stack *mask = &attr->match.mask.outer;
	const bool is_proto_matched = mask->ip_proto != 0 &&
		attr->match.value.outer.ip_proto != IPPROTO_TCP &&
		attr->match.value.outer.ip_proto != IPPROTO_UDP;

	if (!attr->is_l2 && attr->match.value.outer.ether_type != ETHERTYPE_IP)
		return -EINVAL;
	if (attr->is_l2 &&
		(!is_all(mask->src_mac, sizeof(mask->src_mac), 0) ||
			!is_all(mask->dst_mac, sizeof(mask->dst_mac), UINT8_MAX)))
		return -EINVAL;
	/* ip4 needs an address, which tcp4 and udp4 do without. */
	if (!attr->is_l2 && mask->ip_proto == 0 && is_all(mask->src_ip, 16, 0) &&
		is_all(mask->dst_ip, 16, 0))
		return -EINVAL;
	if (is_proto_matched || !is_whole(mask->dst_mac, sizeof(mask->dst_mac)) ||
		!is_whole(mask->src_ip + 12, 4) || !is_whole(mask->dst_ip + 12, 4) ||
		!is_vlan_mask(mask->vlan_tci))
		return -EINVAL;
	return 0;
}

static int
check_ethtool_a0(const struct shca_ethtool_attr *attr)
{
	int ret = check_ethtool_dmfs(attr);

	if (ret != 0)
		return ret;
	/* Rings have queue pairs of their own; queue 0 stands for the one that spreads. */
	if (!attr->drop && attr->spec.ring_cookie != 0)
		return -ENXIO;
	return attr->is_l2 && attr->nb_tuples == 1 ? 0 : -ENXIO;
}

/* clang-format off */
static const struct {
	int (*check)(const struct shca_rule_attr *attr, struct shca_spec_list *list);
	int (*check_ethtool)(const struct shca_ethtool_attr *attr);
	const char *ethtool; /* rules that check_ethtool lets pass */
} profiles[] = {
	[SHCA_PROFILE_MODEL] =   { NULL, NULL, NULL },
	[SHCA_PROFILE_CX4_EXP] = { check_cx4_exp, NULL, NULL },
	[SHCA_PROFILE_DMFS] =    { check_dmfs, check_ethtool_dmfs,
		"steering=dmfs takes ether with a whole dst, ip4, tcp4 and udp4 with whole addresses and ports, vlan" },
	[SHCA_PROFILE_A0] =      { check_a0, check_ethtool_a0,
		"steering=a0 takes ether with dst alone, to drop (-1) or to the netdev (0)" },
};
/* clang-format on */

int
shca_profile_check(
	enum shca_profile profile, const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	return profiles[profile].check != NULL ? profiles[profile].check(attr, list) : 0;
}

bool
shca_profile_is_a0(enum shca_profile profile, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list)
{
	return profile == SHCA_PROFILE_A0 && attr->type == IBV_FLOW_ATTR_NORMAL &&
		!(list->spec[0].value.eth.dst_mac[0] & 1);
}

int
shca_profile_check_a0(const struct shca_profile_a0 *a0, const uint8_t mac[6], const void *tir)
{
	for (unsigned int i = 0; i < a0->nb; i++)
		if (a0->unicast[i].tir == tir || memcmp(a0->unicast[i].mac, mac, 6) == 0)
			return -ENXIO;
	return a0->nb < SHCA_PROFILE_A0_RULES ? 0 : -ENXIO;
}

void
shca_profile_add_a0(struct shca_profile_a0 *a0, const struct shca_rule *rule, const uint8_t mac[6],
	const void *tir)
{
	a0->unicast[a0->nb].rule = rule;
	a0->unicast[a0->nb].tir = tir;
	memcpy(a0->unicast[a0->nb++].mac, mac, 6);
}

void
shca_profile_del_a0(struct shca_profile_a0 *a0, const struct shca_rule *rule)
{
	for (unsigned int i = 0; i < a0->nb; i++) {
		if (a0->unicast[i].rule != rule)
			continue;
		a0->unicast[i] = a0->unicast[--a0->nb];
		return;
	}
}

int
shca_profile_check_ethtool(
	enum shca_profile profile, const struct shca_ethtool_attr *attr, const char **why)
{
	int ret = 0;

	if (profiles[profile].check_ethtool != NULL)
		ret = profiles[profile].check_ethtool(attr);
	if (ret != 0)
		*why = profiles[profile].ethtool;
	return ret;
}
