/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of flow specs: one row a type, with its size and its fields of the match. */
#include "steering/match/spec.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

/** A rule under construction, as a spec sees it. */
struct build {
	const struct shca_spec *spec;
	uint32_t previous_type; /**< of the previous spec; 0: this is the first */
	const struct shca_spec_caps *caps;
	const struct shca_modify *const *modify_set; /**< of this and later ACTION_HANDLE specs */
	struct shca_match *match;
	struct shca_match_stack *mask, *value; /**< outer or inner, by the spec's INNER flag */
	struct shca_spec_action *action;
};

struct spec_row {
	uint32_t type;         /**< without the INNER flag */
	uint16_t filter_bytes; /**< of a value or mask as the kernel knows it */
	bool inner;            /**< exists with the INNER flag */
	/** Checks of uverbs beyond sizes; may be NULL. */
	int (*check)(const struct shca_spec *spec);
	int (*build)(const struct build *build);
};

struct action_row {
	uint32_t type;
	uint16_t bytes;
	int wrong_size; /**< negative errno */
	int (*build)(const struct build *build);
};

static bool
is_zero(const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		if (byte[i] != 0)
			return false;
	return true;
}

static int
check_ipv6(const struct shca_spec *spec)
{
	uint32_t label = be32toh(spec->value.ipv6.flow_label | spec->mask.ipv6.flow_label);

	return label < 1u << 20 ? 0 : -EINVAL;
}

static int
check_tunnel(const struct shca_spec *spec)
{
	uint32_t id = be32toh(spec->value.tunnel.tunnel_id | spec->mask.tunnel.tunnel_id);

	return id < 1u << 24 ? 0 : -EINVAL;
}

/** Match a protocol; a contradiction with an earlier spec is an error (mlx5_ib set_proto). */
static int
set_proto(const struct build *build, uint8_t mask, uint8_t value)
{
	if (mask == 0)
		return 0;
	if (build->mask->ip_proto != 0)
		return mask == build->mask->ip_proto && value == build->value->ip_proto ? 0
											: -EINVAL;
	build->mask->ip_proto = mask;
	build->value->ip_proto = value;
	return 0;
}

static void
build_eth_half(const struct ib_uverbs_flow_eth_filter *filter, struct shca_match_stack *stack)
{
	memcpy(stack->dst_mac, filter->dst_mac, sizeof(stack->dst_mac));
	memcpy(stack->src_mac, filter->src_mac, sizeof(stack->src_mac));
	stack->ether_type = be16toh(filter->ether_type);
}

static int
build_eth(const struct build *build)
{
	const struct ib_uverbs_flow_eth_filter *value = &build->spec->value.eth;
	const struct ib_uverbs_flow_eth_filter *mask = &build->spec->mask.eth;

	build_eth_half(value, build->value);
	build_eth_half(mask, build->mask);
	/* Without a mask, tagged and untagged frames match; verbs cannot name the latter alone. */
	if (mask->vlan_tag != 0) {
		build->mask->cvlan = 1;
		build->value->cvlan = 1;
		build->mask->vlan_tci = be16toh(mask->vlan_tag);
		build->value->vlan_tci = be16toh(value->vlan_tag);
	}
	return 0;
}

static void
build_ipv4_half(const struct ib_uverbs_flow_ipv4_filter *filter, struct shca_match_stack *stack)
{
	memset(stack->src_ip, 0, 12);
	memset(stack->dst_ip, 0, 12);
	memcpy(stack->src_ip + 12, &filter->src_ip, 4);
	memcpy(stack->dst_ip + 12, &filter->dst_ip, 4);
	stack->tos = filter->tos;
}

/** @return whether the device matches the IP version in headers; else mlx5_ib matches the EtherType
 * before them. */
static bool
matches_version(const struct shca_spec_caps *caps, bool inner)
{
	return !inner || caps->inner_ip_version;
}

static void
build_ip_version(const struct build *build, uint8_t version)
{
	if (matches_version(build->caps, build->mask == &build->match->mask.inner)) {
		build->mask->ip_version = 0xf;
		build->value->ip_version = version;
	} else {
		build->mask->ether_type = 0xffff;
		build->value->ether_type = version == 4 ? 0x0800 : 0x86dd;
	}
}

static int
build_ipv4(const struct build *build)
{
	const struct ib_uverbs_flow_ipv4_filter *value = &build->spec->value.ipv4;
	const struct ib_uverbs_flow_ipv4_filter *mask = &build->spec->mask.ipv4;

	if (mask->ttl != 0 || mask->flags != 0)
		return -EOPNOTSUPP;
	build_ip_version(build, 4);
	build_ipv4_half(value, build->value);
	build_ipv4_half(mask, build->mask);
	return set_proto(build, mask->proto, value->proto);
}

static void
build_ipv6_half(const struct ib_uverbs_flow_ipv6_filter *filter, struct shca_match_stack *stack)
{
	memcpy(stack->src_ip, filter->src_ip, sizeof(stack->src_ip));
	memcpy(stack->dst_ip, filter->dst_ip, sizeof(stack->dst_ip));
	stack->tos = filter->traffic_class;
	stack->flow_label = be32toh(filter->flow_label);
}

static int
build_ipv6(const struct build *build)
{
	const struct ib_uverbs_flow_ipv6_filter *value = &build->spec->value.ipv6;
	const struct ib_uverbs_flow_ipv6_filter *mask = &build->spec->mask.ipv6;

	if (mask->hop_limit != 0)
		return -EOPNOTSUPP;
	build_ip_version(build, 6);
	build_ipv6_half(value, build->value);
	build_ipv6_half(mask, build->mask);
	return set_proto(build, mask->next_hdr, value->next_hdr);
}

static int
build_tcp(const struct build *build)
{
	if (set_proto(build, 0xff, IPPROTO_TCP) != 0)
		return -EINVAL;
	build->mask->tcp_src_port = be16toh(build->spec->mask.tcp_udp.src_port);
	build->mask->tcp_dst_port = be16toh(build->spec->mask.tcp_udp.dst_port);
	build->value->tcp_src_port = be16toh(build->spec->value.tcp_udp.src_port);
	build->value->tcp_dst_port = be16toh(build->spec->value.tcp_udp.dst_port);
	return 0;
}

static int
build_udp(const struct build *build)
{
	if (set_proto(build, 0xff, IPPROTO_UDP) != 0)
		return -EINVAL;
	build->mask->udp_src_port = be16toh(build->spec->mask.tcp_udp.src_port);
	build->mask->udp_dst_port = be16toh(build->spec->mask.tcp_udp.dst_port);
	build->value->udp_src_port = be16toh(build->spec->value.tcp_udp.src_port);
	build->value->udp_dst_port = be16toh(build->spec->value.tcp_udp.dst_port);
	return 0;
}

/** Implies no UDP port: only the caller's UDP spec matches it. */
static int
build_vxlan(const struct build *build)
{
	build->match->mask.vni = be32toh(build->spec->mask.tunnel.tunnel_id);
	build->match->value.vni = be32toh(build->spec->value.tunnel.tunnel_id);
	return 0;
}

static int
build_gre(const struct build *build)
{
	const struct ib_uverbs_flow_gre_filter *value = &build->spec->value.gre;
	const struct ib_uverbs_flow_gre_filter *mask = &build->spec->mask.gre;

	if (!(build->caps->tunnel_offloads & MLX5_IB_TUNNELED_OFFLOADS_GRE) ||
		mask->c_ks_res0_ver != 0)
		return -EOPNOTSUPP;
	if (set_proto(build, 0xff, IPPROTO_GRE) != 0)
		return -EINVAL;
	build->match->mask.gre_protocol = be16toh(mask->protocol);
	build->match->value.gre_protocol = be16toh(value->protocol);
	build->match->mask.gre_key = be32toh(mask->key);
	build->match->value.gre_key = be32toh(value->key);
	return 0;
}

/** The exact type of the previous spec tells the label's place; an inner UDP spec or an action
 * before this one does not count. */
static int
build_mpls(const struct build *build)
{
	uint32_t value = be32toh(build->spec->value.mpls.label);
	uint32_t mask = be32toh(build->spec->mask.mpls.label);
	uint32_t needed = MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE | MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP;
	uint32_t *mask_at = &build->mask->mpls;
	uint32_t *value_at = &build->value->mpls;

	if (build->previous_type == IBV_FLOW_SPEC_UDP) {
		needed = MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP;
		mask_at = &build->match->mask.mpls_udp;
		value_at = &build->match->value.mpls_udp;
	} else if (build->previous_type == IBV_FLOW_SPEC_GRE) {
		needed = MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE;
		mask_at = &build->match->mask.mpls_gre;
		value_at = &build->match->value.mpls_gre;
	}
	if (mask != 0 && !(build->caps->tunnel_offloads & needed))
		return -EOPNOTSUPP;
	*mask_at = mask;
	*value_at = value;
	return 0;
}

/** The SPI outside, be the spec an inner one or not, and no protocol (mlx5_ib of Linux 5.10). */
static int
build_esp(const struct build *build)
{
	const struct ib_uverbs_flow_spec_esp_filter *value = &build->spec->value.esp;
	const struct ib_uverbs_flow_spec_esp_filter *mask = &build->spec->mask.esp;

	if (!build->caps->esp_spi || mask->seq != 0)
		return -EOPNOTSUPP;
	build->match->mask.esp_spi = be32toh(mask->spi);
	build->match->value.esp_spi = be32toh(value->spi);
	return 0;
}

static int
build_tag(const struct build *build)
{
	if (build->spec->tag_id >= 1u << 24)
		return -EINVAL;
	build->action->tag = true;
	build->action->flow_tag = build->spec->tag_id;
	return 0;
}

static int
build_drop(const struct build *build)
{
	build->action->drop = true;
	return 0;
}

/** As mlx5_ib parse_flow_flow_action: at most one of each kind. */
static int
build_handle(const struct build *build)
{
	return build->modify_set != NULL
		? shca_modify_add(&build->action->modify_set, *build->modify_set)
		: -EOPNOTSUPP;
}

static int
build_count(const struct build *build)
{
	if (build->action->count)
		return -EINVAL;
	build->action->count = true;
	return 0;
}

/* clang-format off */
static const struct spec_row spec_rows[] = {
	/* type                     bytes inner  check         build */
	{ IBV_FLOW_SPEC_ETH,          16, true,  NULL,         build_eth },
	{ IBV_FLOW_SPEC_IPV4,         12, true,  NULL,         build_ipv4 },
	{ IBV_FLOW_SPEC_IPV6,         39, true,  check_ipv6,   build_ipv6 },
	{ IBV_FLOW_SPEC_TCP,           4, true,  NULL,         build_tcp },
	{ IBV_FLOW_SPEC_UDP,           4, true,  NULL,         build_udp },
	{ IBV_FLOW_SPEC_VXLAN_TUNNEL,  4, false, check_tunnel, build_vxlan },
	{ IBV_FLOW_SPEC_GRE,           8, true,  NULL,         build_gre },
	{ IBV_FLOW_SPEC_MPLS,          4, true,  NULL,         build_mpls },
	{ IBV_FLOW_SPEC_ESP,           8, true,  NULL,         build_esp },
};

static const struct action_row action_rows[] = {
	{ IBV_FLOW_SPEC_ACTION_TAG,    16, -EINVAL,     build_tag },
	{ IBV_FLOW_SPEC_ACTION_DROP,    8, -EINVAL,     build_drop },
	{ IBV_FLOW_SPEC_ACTION_HANDLE, 16, -EOPNOTSUPP, build_handle },
	{ IBV_FLOW_SPEC_ACTION_COUNT,  16, -EINVAL,     build_count },
};
/* clang-format on */

static const struct spec_row *
find_spec_row(uint32_t type)
{
	bool inner = type & IBV_FLOW_SPEC_INNER;

	for (size_t i = 0; i < sizeof(spec_rows) / sizeof(spec_rows[0]); i++) {
		const struct spec_row *row = &spec_rows[i];

		if (row->type == (type & ~(uint32_t)IBV_FLOW_SPEC_INNER))
			return !inner || row->inner ? row : NULL;
	}
	return NULL;
}

static const struct action_row *
find_action_row(uint32_t type)
{
	for (size_t i = 0; i < sizeof(action_rows) / sizeof(action_rows[0]); i++)
		if (action_rows[i].type == type)
			return &action_rows[i];
	return NULL;
}

static int
unpack_action(const uint8_t *bytes, uint16_t size, struct shca_spec *spec)
{
	const struct action_row *row = find_action_row(spec->type);

	if (row == NULL)
		return -EINVAL;
	if (size != row->bytes)
		return row->wrong_size;
	if (spec->type == IBV_FLOW_SPEC_ACTION_TAG)
		memcpy(&spec->tag_id,
			bytes + offsetof(struct ib_uverbs_flow_spec_action_tag, tag_id),
			sizeof(spec->tag_id));
	return 0;
}

/** An older caller's filter may be shorter than ours: the rest is zero. A newer caller's may be
 * longer: the excess must be zero. */
static int
unpack_filter(const uint8_t *bytes, uint16_t size, struct shca_spec *spec)
{
	const struct spec_row *row = find_spec_row(spec->type);
	size_t filter_bytes = (size - sizeof(struct ib_uverbs_flow_spec_hdr)) / 2;
	const uint8_t *value = bytes + sizeof(struct ib_uverbs_flow_spec_hdr);
	const uint8_t *mask = value + filter_bytes;

	if (filter_bytes == 0 || filter_bytes % 4 != 0 || row == NULL)
		return -EINVAL;

	size_t known = filter_bytes < row->filter_bytes ? filter_bytes : row->filter_bytes;

	if (!is_zero(mask + known, filter_bytes - known))
		return -EINVAL;
	memcpy(&spec->value, value, known);
	memcpy(&spec->mask, mask, known);
	return row->check != NULL ? row->check(spec) : 0;
}

int
shca_spec_unpack(const void *bytes, size_t length, unsigned int nb, struct shca_spec_list *list)
{
	const uint8_t *at = bytes;

	if (nb > SHCA_SPEC_MAX)
		return -EINVAL;
	memset(list, 0, sizeof(*list));
	for (; list->nb < nb; list->nb++) {
		struct shca_spec *spec = &list->spec[list->nb];
		struct ib_uverbs_flow_spec_hdr header;

		if (length < sizeof(header))
			return -EINVAL;
		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header) || header.size > length || header.reserved != 0)
			return -EINVAL;
		spec->type = header.type;

		int err = header.type >= IBV_FLOW_SPEC_ACTION_TAG
			? unpack_action(at, header.size, spec)
			: unpack_filter(at, header.size, spec);

		if (err != 0)
			return err;
		at += header.size;
		length -= header.size;
	}
	return length == 0 ? 0 : -EINVAL;
}

bool
shca_spec_is_multicast_only(const struct shca_spec_list *list)
{
	const struct shca_spec *first = &list->spec[0];

	if (list->nb == 0)
		return false;
	if (first->type == IBV_FLOW_SPEC_IPV4)
		return IN_MULTICAST(be32toh(first->value.ipv4.dst_ip));
	if (first->type == IBV_FLOW_SPEC_ETH)
		return first->value.eth.dst_mac[0] & first->mask.eth.dst_mac[0] & 1;
	return false;
}

/** As mlx5_ib is_valid_ethertype: if a stack matches an EtherType and an IP version, they must
 * agree.
 */
static bool
is_valid_ethertype(
	const struct shca_spec_list *list, const struct shca_spec_caps *caps, uint32_t inner)
{
	const struct shca_spec *eth = NULL;
	const struct shca_spec *ip = NULL;

	for (unsigned int i = 0; i < list->nb; i++) {
		const struct shca_spec *spec = &list->spec[i];

		if (spec->type == (IBV_FLOW_SPEC_ETH | inner) && spec->mask.eth.ether_type != 0)
			eth = spec;
		else if (spec->type == (IBV_FLOW_SPEC_IPV4 | inner) ||
			spec->type == (IBV_FLOW_SPEC_IPV6 | inner))
			ip = spec;
	}
	if (eth == NULL || ip == NULL)
		return true;

	uint16_t type = be16toh(eth->value.eth.ether_type);

	if (be16toh(eth->mask.eth.ether_type) != 0xffff)
		return false;
	if (type == 0x8847 || type == 0x8848)
		return matches_version(caps, inner != 0);
	return type == (ip->type == (IBV_FLOW_SPEC_IPV4 | inner) ? 0x0800 : 0x86dd);
}

static int
build_one(const struct build *build)
{
	uint32_t type = build->spec->type;

	if (type >= IBV_FLOW_SPEC_ACTION_TAG)
		return find_action_row(type)->build(build);
	return find_spec_row(type)->build(build);
}

int
shca_spec_build(const struct shca_spec_list *list, const struct shca_spec_caps *caps,
	const struct shca_modify *const *modify_set, struct shca_match *match,
	struct shca_spec_action *action)
{
	struct build build = {
		.caps = caps,
		.modify_set = modify_set,
		.match = match,
		.action = action,
	};

	memset(match, 0, sizeof(*match));
	memset(action, 0, sizeof(*action));
	if (!is_valid_ethertype(list, caps, 0) ||
		!is_valid_ethertype(list, caps, IBV_FLOW_SPEC_INNER))
		return -EINVAL;
	for (unsigned int i = 0; i < list->nb; i++) {
		build.spec = &list->spec[i];
		bool inner = build.spec->type & IBV_FLOW_SPEC_INNER;

		build.mask = inner ? &match->mask.inner : &match->mask.outer;
		build.value = inner ? &match->value.inner : &match->value.outer;

		int err = build_one(&build);

		if (err != 0)
			return err;
		build.previous_type = build.spec->type;
		if (build.spec->type == IBV_FLOW_SPEC_ACTION_HANDLE)
			build.modify_set++; /* this spec has used one */
	}
	return 0;
}

int
shca_spec_check_values(const struct shca_match *match)
{
	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++)
		if (match->value.word[i] & ~match->mask.word[i])
			return -EINVAL;
	return 0;
}
