/* SPDX-License-Identifier: BSD-3-Clause */
/* The growing ibv_flow_attr. */

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <rte_ether.h>

#include "flow_build.h"

/** verbs.h lays these out for the kernel's ABI; flow_spec.c has the specs that match. */
static_assert(sizeof(struct ibv_flow_attr) == 20, "specs start behind 20 bytes");
static_assert(sizeof(struct ibv_flow_spec_action_tag) == 12, "TAG");
static_assert(sizeof(struct ibv_flow_spec_action_drop) == 8, "DROP");

void
mdv_flow_build_init(struct mdv_flow_build *build)
{
	memset(&build->attr, 0, sizeof(build->attr));
	build->attr.type = IBV_FLOW_ATTR_NORMAL;
	build->attr.size = sizeof(build->attr);
	build->layers = 0;
	build->any_tag = 0;
	build->nb_items = 0;
	build->item_bytes = 0;
	memset(build->sides, 0, sizeof(build->sides));
}

void
mdv_flow_build_copy(struct mdv_flow_build *to, const struct mdv_flow_build *from)
{
	memcpy(to->bytes, from->bytes, from->attr.size);
	to->layers = from->layers;
	to->any_tag = from->any_tag;
	memcpy(to->sides, from->sides, sizeof(to->sides));
}

/** Make room for one more spec. @return its offset in bytes[], or -E2BIG */
static int
build_grow(struct mdv_flow_build *build, uint16_t size)
{
	uint16_t at = build->attr.size;

	if (build->attr.num_of_specs == MDV_FLOW_BUILD_SPECS || at + size > sizeof(build->bytes))
		return -E2BIG;
	build->attr.size += size;
	build->attr.num_of_specs++;
	return at;
}

int
mdv_flow_build_append(struct mdv_flow_build *build, const void *spec, uint16_t size)
{
	int at = build_grow(build, size);

	if (at >= 0)
		memcpy(&build->bytes[at], spec, size);
	return at;
}

/** Append a spec that has only its header. */
static int
build_append_blank(struct mdv_flow_build *build, uint32_t type, uint16_t size)
{
	int at = build_grow(build, size);

	if (at < 0)
		return at;
	memset(&build->bytes[at], 0, size);
	memcpy(&build->bytes[at + offsetof(struct ibv_flow_spec, hdr.type)], &type, sizeof(type));
	memcpy(&build->bytes[at + offsetof(struct ibv_flow_spec, hdr.size)], &size, sizeof(size));
	return at;
}

int
mdv_flow_build_add_spec(
	struct mdv_flow_build *build, enum mdv_flow_spec_id id, enum mdv_flow_build_side side)
{
	const struct mdv_flow_spec *row = &mdv_flow_specs[id];

	return build_append_blank(build,
		row->type | (side == MDV_FLOW_BUILD_INNER ? IBV_FLOW_SPEC_INNER : 0), row->bytes);
}

void
mdv_flow_build_eth(struct mdv_flow_build *build, const uint8_t dst[6], const uint8_t mask[6])
{
	uint8_t *spec;

	mdv_flow_build_init(build);
	build->sides[MDV_FLOW_BUILD_OUTER].eth_at =
		mdv_flow_build_add_spec(build, MDV_FLOW_SPEC_ETH, MDV_FLOW_BUILD_OUTER);
	spec = &build->bytes[build->sides[MDV_FLOW_BUILD_OUTER].eth_at];
	memcpy(spec + offsetof(struct ibv_flow_spec_eth, val.dst_mac), dst, 6);
	memcpy(spec + offsetof(struct ibv_flow_spec_eth, mask.dst_mac), mask, 6);
	build->layers = MDV_LAYER_ETH;
}

void
mdv_flow_build_vlan(struct mdv_flow_build *build, rte_be16_t tci, rte_be16_t mask)
{
	uint8_t *spec = &build->bytes[build->sides[MDV_FLOW_BUILD_OUTER].eth_at];

	memcpy(spec + offsetof(struct ibv_flow_spec_eth, val.vlan_tag), &tci, sizeof(tci));
	memcpy(spec + offsetof(struct ibv_flow_spec_eth, mask.vlan_tag), &mask, sizeof(mask));
	build->layers |= MDV_LAYER_VLAN;
}

/** DEI of the tag, IEEE 802.1Q. */
#define BUILD_DEI RTE_BE16(0x1000)

void
mdv_flow_build_any_tag(struct mdv_flow_build *build, enum mdv_flow_build_side side)
{
	const rte_be16_t mask = BUILD_DEI;

	memcpy(&build->bytes[build->sides[side].eth_at +
		       offsetof(struct ibv_flow_spec_eth, mask.vlan_tag)],
		&mask, sizeof(mask));
	build->any_tag |= 1u << side;
}

void
mdv_flow_build_set_half(struct mdv_flow_build *build, unsigned int half)
{
	for (unsigned int side = 0; side < MDV_FLOW_BUILD_SIDES; side++) {
		const rte_be16_t tci = (half & 1) != 0 ? BUILD_DEI : 0;

		if ((build->any_tag & 1u << side) == 0)
			continue;
		memcpy(&build->bytes[build->sides[side].eth_at +
			       offsetof(struct ibv_flow_spec_eth, val.vlan_tag)],
			&tci, sizeof(tci));
		half >>= 1;
	}
}

uint32_t
mdv_flow_build_layers(const struct mdv_flow_build *build, enum mdv_flow_build_side side)
{
	const uint32_t outer = MDV_LAYER_INNER(1) - 1;

	return side == MDV_FLOW_BUILD_INNER ? build->layers >> MDV_LAYER_INNER_SHIFT
					    : build->layers & outer;
}

bool
mdv_flow_build_fold_type(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, rte_be16_t type)
{
	const uint16_t at = build->sides[side].eth_at;
	struct ibv_flow_spec_eth eth;

	/* The field holds the labels' type; their content has none. */
	if (at == 0 || (mdv_flow_build_layers(build, side) & MDV_LAYER_MPLS) != 0)
		return true;
	memcpy(&eth, &build->bytes[at], sizeof(eth));
	if (((eth.val.ether_type ^ type) & eth.mask.ether_type) != 0)
		return false;
	if (eth.mask.ether_type == 0)
		return true;
	eth.val.ether_type = 0;
	eth.mask.ether_type = 0;
	memcpy(&build->bytes[at], &eth, sizeof(eth));
	return true;
}

/**
 * Compare the protocol of the IP spec with @p proto if the spec has one, and set it.
 * @return false if they differ
 */
static bool
build_set_proto(struct mdv_flow_build *build, enum mdv_flow_build_side side, uint8_t proto,
	uint8_t new_mask)
{
	const bool v4 = (mdv_flow_build_layers(build, side) & MDV_LAYER_IPV4) != 0;
	uint8_t *spec = &build->bytes[build->sides[side].l3_at];
	uint8_t *val, *mask;

	if (build->sides[side].l3_at == 0)
		return true;
	val = spec +
		(v4 ? offsetof(struct ibv_flow_spec_ipv4_ext, val.proto)
		    : offsetof(struct ibv_flow_spec_ipv6, val.next_hdr));
	mask = spec +
		(v4 ? offsetof(struct ibv_flow_spec_ipv4_ext, mask.proto)
		    : offsetof(struct ibv_flow_spec_ipv6, mask.next_hdr));
	if (((*val ^ proto) & *mask) != 0)
		return false;
	*val = proto & new_mask;
	*mask = new_mask;
	return true;
}

bool
mdv_flow_build_fold_proto(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, uint8_t proto)
{
	return build_set_proto(build, side, proto, 0);
}

bool
mdv_flow_build_pin_proto(struct mdv_flow_build *build, enum mdv_flow_build_side side, uint8_t proto)
{
	return build_set_proto(build, side, proto, UINT8_MAX);
}

/** The spec of a layer that is added without an item; it masks nothing. */
struct layer_spec {
	uint32_t layer;
	enum mdv_flow_spec_id spec;
	uint16_t ether_type; /* 0: not an L3 layer */
};

static const struct layer_spec layer_specs[] = {
	{ MDV_LAYER_IPV4, MDV_FLOW_SPEC_IPV4_EXT, RTE_ETHER_TYPE_IPV4 },
	{ MDV_LAYER_IPV6, MDV_FLOW_SPEC_IPV6, RTE_ETHER_TYPE_IPV6 },
	{ MDV_LAYER_TCP, MDV_FLOW_SPEC_TCP, 0 },
	{ MDV_LAYER_UDP, MDV_FLOW_SPEC_UDP, 0 },
};

/** Protocols that take the place of TCP and UDP. */
#define LAYER_OTHER_L4 (MDV_LAYER_ESP | MDV_LAYER_GRE | MDV_LAYER_NVGRE)

static int
build_add_layer(
	struct mdv_flow_build *build, enum mdv_flow_build_side side, const struct layer_spec *row)
{
	const uint8_t proto = mdv_flow_specs[row->spec].proto;
	int at;

	if (row->ether_type != 0 &&
		!mdv_flow_build_fold_type(build, side, rte_cpu_to_be_16(row->ether_type)))
		return -EINVAL;
	if (proto != 0 &&
		((mdv_flow_build_layers(build, side) & LAYER_OTHER_L4) != 0 ||
			!mdv_flow_build_fold_proto(build, side, proto)))
		return -EINVAL;
	at = mdv_flow_build_add_spec(build, row->spec, side);
	if (at < 0)
		return at;
	if (row->ether_type != 0)
		build->sides[side].l3_at = at;
	build->layers |= side == MDV_FLOW_BUILD_INNER ? MDV_LAYER_INNER(row->layer) : row->layer;
	return 0;
}

static int
build_add_side(struct mdv_flow_build *build, enum mdv_flow_build_side side, uint32_t layers)
{
	int ret = 0;

	for (unsigned int i = 0; layers != 0 && ret == 0 && i < RTE_DIM(layer_specs); i++)
		if ((layers & layer_specs[i].layer) != 0)
			ret = build_add_layer(build, side, &layer_specs[i]);
	return ret;
}

int
mdv_flow_build_add_layers(struct mdv_flow_build *build, uint32_t layers)
{
	int ret = build_add_side(build, MDV_FLOW_BUILD_OUTER, layers & (MDV_LAYER_INNER(1) - 1));

	return ret != 0
		? ret
		: build_add_side(build, MDV_FLOW_BUILD_INNER, layers >> MDV_LAYER_INNER_SHIFT);
}

/** Both addresses lie one behind the other; the source comes first, as rules name it least. */
#define BUILD_ADDRESSES (2 * RTE_ETHER_ADDR_LEN)

int
mdv_flow_build_split(struct mdv_flow_build *build, struct mdv_flow_build *other)
{
	uint16_t *eth_at = &build->sides[MDV_FLOW_BUILD_OUTER].eth_at;
	uint8_t *mask, open = 0;
	unsigned int byte;

	if (*eth_at == 0) {
		int at = mdv_flow_build_add_spec(build, MDV_FLOW_SPEC_ETH, MDV_FLOW_BUILD_OUTER);

		if (at < 0)
			return at;
		*eth_at = at;
	}
	mask = &build->bytes[*eth_at + offsetof(struct ibv_flow_spec_eth, mask)];
	for (byte = BUILD_ADDRESSES; byte-- != 0;) {
		open = ~mask[byte] & (mask[byte] + 1);
		if (open != 0)
			break;
	}
	if (open == 0)
		return -ENOENT;
	mask[byte] |= open;
	mdv_flow_build_copy(other, build);
	other->bytes[*eth_at + offsetof(struct ibv_flow_spec_eth, val) + byte] |= open;
	return 0;
}

uint16_t
mdv_flow_build_find(const struct mdv_flow_build *build, uint32_t type)
{
	uint16_t at = sizeof(build->attr);

	for (unsigned int i = 0; i < build->attr.num_of_specs; i++) {
		struct ibv_flow_spec spec;

		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		if (spec.hdr.type == type)
			return at;
		at += spec.hdr.size;
	}
	return 0;
}

void
mdv_flow_build_set_tag(struct mdv_flow_build *build, uint16_t at, uint32_t tag)
{
	memcpy(&build->bytes[at + offsetof(struct ibv_flow_spec_action_tag, tag_id)], &tag,
		sizeof(tag));
}

int
mdv_flow_build_tag(struct mdv_flow_build *build, uint32_t tag)
{
	int at = build_append_blank(
		build, IBV_FLOW_SPEC_ACTION_TAG, sizeof(struct ibv_flow_spec_action_tag));

	if (at < 0)
		return at;
	mdv_flow_build_set_tag(build, at, tag);
	return 0;
}

int
mdv_flow_build_drop(struct mdv_flow_build *build)
{
	int at = build_append_blank(
		build, IBV_FLOW_SPEC_ACTION_DROP, sizeof(struct ibv_flow_spec_action_drop));

	return at < 0 ? at : 0;
}

int
mdv_flow_build_count(struct mdv_flow_build *build, struct ibv_counters *counters)
{
	int at = build_append_blank(
		build, IBV_FLOW_SPEC_ACTION_COUNT, sizeof(struct ibv_flow_spec_counter_action));

	if (at < 0)
		return at;
	memcpy(&build->bytes[at + offsetof(struct ibv_flow_spec_counter_action, counters)],
		&counters, sizeof(counters));
	return 0;
}

void
mdv_flow_build_uncount(struct mdv_flow_build *build)
{
	build->attr.size -= sizeof(struct ibv_flow_spec_counter_action);
	build->attr.num_of_specs--;
}

int
mdv_flow_build_action(struct mdv_flow_build *build, const struct ibv_flow_action *action)
{
	int at = build_append_blank(
		build, IBV_FLOW_SPEC_ACTION_HANDLE, sizeof(struct ibv_flow_spec_action_handle));

	if (at < 0)
		return at;
	memcpy(&build->bytes[at + offsetof(struct ibv_flow_spec_action_handle, action)], &action,
		sizeof(action));
	return 0;
}

/** The kernel's test: drivers/infiniband/hw/mlx5/fs.c flow_is_multicast_only. */
static bool
build_multicast_first(const struct mdv_flow_build *build)
{
	const uint8_t *spec = &build->bytes[sizeof(build->attr)];
	uint32_t type, dst_ip;

	if (build->attr.num_of_specs == 0)
		return false;
	memcpy(&type, spec + offsetof(struct ibv_flow_spec, hdr.type), sizeof(type));
	switch (type) {
	case IBV_FLOW_SPEC_ETH:
		return (spec[offsetof(struct ibv_flow_spec_eth, val.dst_mac)] &
			       spec[offsetof(struct ibv_flow_spec_eth, mask.dst_mac)] & 1) != 0;
	case IBV_FLOW_SPEC_IPV4_EXT:
		memcpy(&dst_ip, spec + offsetof(struct ibv_flow_spec_ipv4_ext, val.dst_ip),
			sizeof(dst_ip));
		return IN_MULTICAST(ntohl(dst_ip));
	default:
		return false;
	}
}

/**
 * The kernel puts a trap rule whose first spec is multicast-only into one table behind all
 * priorities and ignores the rule's own priority, so a match-all rule of the lowest priority would
 * win. An ETH spec that masks nothing, put first, prevents this and does not change the match.
 */
static int
build_shield(struct mdv_flow_build *build)
{
	const uint16_t size = sizeof(struct ibv_flow_spec_eth);
	uint8_t *first = &build->bytes[sizeof(build->attr)];
	uint16_t used = build->attr.size - sizeof(build->attr);
	uint8_t any[sizeof(struct ibv_flow_spec_eth)];
	int at = mdv_flow_build_add_spec(build, MDV_FLOW_SPEC_ETH, MDV_FLOW_BUILD_OUTER);

	if (at < 0)
		return at;
	memcpy(any, &build->bytes[at], size);
	memmove(first + size, first, used);
	memcpy(first, any, size);
	for (unsigned int i = 0; i < MDV_FLOW_BUILD_SIDES; i++) {
		build->sides[i].eth_at += build->sides[i].eth_at != 0 ? size : 0;
		build->sides[i].l3_at += build->sides[i].l3_at != 0 ? size : 0;
	}
	return 0;
}

bool
mdv_flow_build_is_multicast(const struct mdv_flow_build *build)
{
	/* The shield is no side's spec. */
	return build_multicast_first(build) ||
		mdv_flow_build_find(build, IBV_FLOW_SPEC_ETH) !=
		build->sides[MDV_FLOW_BUILD_OUTER].eth_at;
}

int
mdv_flow_build_finish(
	struct mdv_flow_build *build, uint16_t priority, uint8_t port_num, bool dont_trap)
{
	build->attr.priority = priority;
	build->attr.port = port_num;
	build->attr.flags = dont_trap ? IBV_FLOW_ATTR_FLAGS_DONT_TRAP : 0;
	if (!dont_trap && build_multicast_first(build))
		return build_shield(build);
	return 0;
}
