/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what items and actions have in them, and how bytes choose among it. */

#include <rte_common.h>
#include <rte_ethdev.h>

#include "rules.h"

/** Fields that a device may match, so that sensible rules come about. */
struct rules_field {
	uint8_t at, bytes;
};

struct rules_item {
	enum rte_flow_item_type type;
	uint16_t size;
	uint8_t nb_fields;
	struct rules_field fields[4];
};

/* clang-format off */
#define FIELD(item, member) \
	{ offsetof(struct rte_flow_item_##item, member), \
	  sizeof(((struct rte_flow_item_##item *)0)->member) }
#define ITEM(t, item) RTE_FLOW_ITEM_TYPE_##t, sizeof(struct rte_flow_item_##item)

static const struct rules_item rules_items[] = {
	{ ITEM(ETH, eth), 3, { FIELD(eth, hdr.dst_addr), FIELD(eth, hdr.src_addr),
		FIELD(eth, hdr.ether_type) } },
	{ ITEM(VLAN, vlan), 2, { FIELD(vlan, hdr.vlan_tci), FIELD(vlan, hdr.eth_proto) } },
	{ ITEM(IPV4, ipv4), 4, { FIELD(ipv4, hdr.src_addr), FIELD(ipv4, hdr.dst_addr),
		FIELD(ipv4, hdr.type_of_service), FIELD(ipv4, hdr.next_proto_id) } },
	{ ITEM(IPV6, ipv6), 4, { FIELD(ipv6, hdr.src_addr), FIELD(ipv6, hdr.dst_addr),
		FIELD(ipv6, hdr.vtc_flow), FIELD(ipv6, hdr.proto) } },
	{ ITEM(TCP, tcp), 2, { FIELD(tcp, hdr.src_port), FIELD(tcp, hdr.dst_port) } },
	{ ITEM(UDP, udp), 2, { FIELD(udp, hdr.src_port), FIELD(udp, hdr.dst_port) } },
	{ ITEM(ESP, esp), 1, { FIELD(esp, hdr.spi) } },
	{ ITEM(VXLAN, vxlan), 1, { FIELD(vxlan, vni) } },
	{ ITEM(GRE, gre), 2, { FIELD(gre, c_rsvd0_ver), FIELD(gre, protocol) } },
	{ RTE_FLOW_ITEM_TYPE_GRE_KEY, sizeof(rte_be32_t), 1, { { 0, sizeof(rte_be32_t) } } },
	{ ITEM(MPLS, mpls), 1, { FIELD(mpls, label_tc_s) } },
	{ ITEM(ANY, any), 1, { FIELD(any, num) } },
	{ ITEM(SCTP, sctp), 1, { FIELD(sctp, hdr.dst_port) } },
	{ ITEM(ICMP, icmp), 0, { { 0, 0 } } },
	{ ITEM(NVGRE, nvgre), 1, { FIELD(nvgre, tni) } },
	{ ITEM(GENEVE, geneve), 1, { FIELD(geneve, vni) } },
	{ ITEM(RAW, raw), 0, { { 0, 0 } } },
	{ ITEM(MARK, mark), 0, { { 0, 0 } } },
	{ RTE_FLOW_ITEM_TYPE_VOID, 0, 0, { { 0, 0 } } },
};
/* clang-format on */

static const struct rules_item *
rules_item_find(enum rte_flow_item_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(rules_items); i++)
		if (rules_items[i].type == type)
			return &rules_items[i];
	return NULL;
}

/** A number that means something, or any. */
static void
rules_value(struct fuzz_input *input, uint8_t *to, unsigned int bytes)
{
	static const uint16_t numbers[] = { 0x0800, 0x86dd, 0x8100, 0x88a8, 0x8847, 53, 80, 4789, 0,
		6, 17, 47, 4, 41, 0x0100, 0xffff };
	unsigned int which = fuzz_input_choose(input, 2 * RTE_DIM(numbers));

	if (which >= RTE_DIM(numbers)) {
		fuzz_input_fill(input, to, RTE_MIN(bytes, 2u));
		return;
	}
	to[bytes - 1] = numbers[which] & 0xff;
	if (bytes > 1)
		to[bytes - 2] = numbers[which] >> 8;
}

/** Exactly as large as its type says; a type without a row has one byte, which nobody may read. */
static void *
rules_item_block(struct fuzz_input *input, const struct rules_item *row)
{
	return fuzz_input_block(input, row != NULL ? row->size : 1);
}

static void
rules_fill_item(struct fuzz_input *input, struct rte_flow_item *item, const struct rules_item *row,
	bool wild)
{
	uint8_t *spec = rules_item_block(input, row), *mask = rules_item_block(input, row);
	unsigned int which = fuzz_input_byte(input);

	if (row == NULL || row->size == 0 || spec == NULL || mask == NULL) {
		item->spec = spec;
		return;
	}
	if (wild) {
		fuzz_input_fill(input, spec, row->size);
		fuzz_input_fill(input, mask, row->size);
	}
	for (unsigned int i = 0; i < row->nb_fields; i++) {
		const struct rules_field *field = &row->fields[i];

		if ((which >> i & 1) == 0)
			continue;
		rules_value(input, spec + field->at, field->bytes);
		memset(mask + field->at, (which & 0x80) != 0 ? 0xf0 : 0xff, field->bytes);
	}
	item->spec = (which & 0x40) != 0 && wild ? NULL : spec;
	item->mask = (which & 0x20) != 0 ? NULL : mask;
	if (wild && (which & 0x10) != 0) {
		uint8_t *last = rules_item_block(input, row);

		if (last != NULL)
			memcpy(last, spec, row->size);
		if (last != NULL && (which & 1) != 0)
			last[which % row->size]++;
		item->last = last;
	}
}

/** Outer headers, sometimes a tunnel and inner ones, in the order that frames have. */
static unsigned int
rules_stack(struct fuzz_input *input, struct rte_flow_item *items, unsigned int nb)
{
	static const enum rte_flow_item_type l3[] = { RTE_FLOW_ITEM_TYPE_IPV4,
		RTE_FLOW_ITEM_TYPE_IPV6 };
	static const enum rte_flow_item_type l4[] = { RTE_FLOW_ITEM_TYPE_UDP,
		RTE_FLOW_ITEM_TYPE_TCP, RTE_FLOW_ITEM_TYPE_ESP };
	unsigned int layers = fuzz_input_byte(input);

	if ((layers & 1) != 0)
		items[nb++].type = RTE_FLOW_ITEM_TYPE_ETH;
	if ((layers & 14) == 14)
		items[nb++].type = RTE_FLOW_ITEM_TYPE_VLAN;
	if ((layers & 16) != 0)
		items[nb++].type = l3[layers >> 7];
	if ((layers & 32) != 0)
		items[nb++].type = l4[fuzz_input_choose(input, RTE_DIM(l4))];
	return nb;
}

static unsigned int
rules_sensible_pattern(struct fuzz_input *input, struct rte_flow_item *items)
{
	static const enum rte_flow_item_type tunnels[] = { RTE_FLOW_ITEM_TYPE_VXLAN,
		RTE_FLOW_ITEM_TYPE_GRE, RTE_FLOW_ITEM_TYPE_MPLS, RTE_FLOW_ITEM_TYPE_NVGRE,
		RTE_FLOW_ITEM_TYPE_ANY };
	unsigned int nb = rules_stack(input, items, 0);
	unsigned int tunnel = fuzz_input_choose(input, 16);

	if (tunnel >= RTE_DIM(tunnels))
		return nb;
	items[nb++].type = tunnels[tunnel];
	if (tunnel == 1 && fuzz_input_choose(input, 2) == 1)
		items[nb++].type = RTE_FLOW_ITEM_TYPE_GRE_KEY;
	return rules_stack(input, items, nb);
}

struct rte_flow_item *
fuzz_rules_pattern(struct fuzz_input *input)
{
	unsigned int how = fuzz_input_byte(input), nb = 0;
	const bool wild = (how & 7) == 0;
	struct rte_flow_item *items =
		fuzz_input_block(input, (FUZZ_RULES_MAX + 1) * sizeof(*items));

	if (how == 0 || items == NULL)
		return NULL;
	if (wild) {
		nb = how >> 3 & 7;
		for (unsigned int i = 0; i < nb; i++) {
			unsigned int type = fuzz_input_choose(input, RTE_DIM(rules_items) + 2);

			items[i].type = type < RTE_DIM(rules_items)
				? rules_items[type].type
				: (enum rte_flow_item_type)fuzz_input_word(input);
		}
	} else {
		nb = rules_sensible_pattern(input, items);
	}
	for (unsigned int i = 0; i < nb; i++)
		if ((how & 0x80) != 0 || fuzz_input_choose(input, 3) != 0)
			rules_fill_item(input, &items[i], rules_item_find(items[i].type), wild);
	return items;
}

struct rte_flow_item *
fuzz_rules_values(struct fuzz_input *input, const struct rte_flow_item pattern[])
{
	struct rte_flow_item *items =
		fuzz_input_block(input, (FUZZ_RULES_MAX + 1) * sizeof(*items));

	if (items == NULL)
		return NULL;
	for (unsigned int i = 0; pattern[i].type != RTE_FLOW_ITEM_TYPE_END; i++) {
		items[i].type = pattern[i].type;
		if (fuzz_input_choose(input, 8) != 0)
			rules_fill_item(input, &items[i], rules_item_find(items[i].type), false);
		items[i].mask = NULL;
	}
	if (fuzz_input_choose(input, 16) == 1)
		items[0].type = RTE_FLOW_ITEM_TYPE_SCTP;
	return items;
}

static void *
rules_queue(struct fuzz_input *input)
{
	struct rte_flow_action_queue *conf = fuzz_input_block(input, sizeof(*conf));
	uint8_t which = fuzz_input_byte(input);

	if (conf != NULL)
		conf->index = which < 0xf0 ? which % 4 : which << 8;
	return conf;
}

static void *
rules_rss(struct fuzz_input *input)
{
	static const uint64_t types[] = { 0, RTE_ETH_RSS_IPV4, RTE_ETH_RSS_IPV6,
		RTE_ETH_RSS_NONFRAG_IPV4_UDP, RTE_ETH_RSS_NONFRAG_IPV4_TCP,
		RTE_ETH_RSS_NONFRAG_IPV6_UDP, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP };
	struct rte_flow_action_rss *conf = fuzz_input_block(input, sizeof(*conf));
	uint8_t how = fuzz_input_byte(input);
	uint16_t *queues;
	uint8_t *key;

	if (conf == NULL)
		return NULL;
	conf->types = types[fuzz_input_choose(input, RTE_DIM(types))] |
		types[fuzz_input_choose(input, RTE_DIM(types))];
	conf->queue_num = 1 + fuzz_input_choose(input, 4);
	if ((how & 15) == 15) {
		conf->types = (uint64_t)fuzz_input_word(input) << 32 | fuzz_input_word(input);
		conf->func = fuzz_input_choose(input, 6);
		conf->level = fuzz_input_choose(input, 4);
		conf->queue_num = fuzz_input_byte(input) * 3;
	}
	queues = fuzz_input_block(input, conf->queue_num * sizeof(*queues));
	for (uint32_t i = 0; queues != NULL && i < conf->queue_num; i++)
		queues[i] = fuzz_input_choose(input, (how & 16) != 0 ? 5 : 4);
	conf->queue = queues;
	if (queues == NULL)
		conf->queue_num = how & 1;
	if ((how & 0xc0) == 0x40) {
		conf->key_len = (how & 32) != 0 ? fuzz_input_byte(input) : 40;
		key = fuzz_input_block(input, conf->key_len);
		if (key != NULL)
			fuzz_input_fill(input, key, RTE_MIN(conf->key_len, 4u));
		conf->key = key;
	}
	return conf;
}

static void *
rules_number(struct fuzz_input *input, bool small)
{
	uint32_t *conf = fuzz_input_block(input, sizeof(*conf));

	if (conf != NULL)
		*conf = small ? fuzz_input_byte(input) : fuzz_input_word(input);
	return conf;
}

/** Actions that change packets, and how much they bring; the values are any. */
static const struct {
	enum rte_flow_action_type type;
	uint8_t size;
} rules_edits[] = {
#define EDIT(t, conf)                                                                              \
	{                                                                                          \
		RTE_FLOW_ACTION_TYPE_##t, sizeof(struct rte_flow_action_##conf)                    \
	}
	{ RTE_FLOW_ACTION_TYPE_VXLAN_DECAP, 0 },
	{ RTE_FLOW_ACTION_TYPE_NVGRE_DECAP, 0 },
	{ RTE_FLOW_ACTION_TYPE_DEC_TTL, 0 },
	EDIT(SET_TTL, set_ttl),
	EDIT(SET_TP_SRC, set_tp),
	EDIT(SET_TP_DST, set_tp),
	EDIT(SET_MAC_SRC, set_mac),
	EDIT(SET_MAC_DST, set_mac),
	EDIT(SET_IPV4_SRC, set_ipv4),
	EDIT(SET_IPV4_DST, set_ipv4),
	EDIT(SET_IPV4_DSCP, set_dscp),
	EDIT(SET_IPV6_SRC, set_ipv6),
	EDIT(SET_IPV6_DST, set_ipv6),
	EDIT(SET_IPV6_DSCP, set_dscp),
	EDIT(OF_SET_VLAN_VID, of_set_vlan_vid),
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ, sizeof(rte_be32_t) },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ, sizeof(rte_be32_t) },
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_ACK, sizeof(rte_be32_t) },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK, sizeof(rte_be32_t) },
	EDIT(MODIFY_FIELD, modify_field),
	EDIT(RAW_DECAP, raw_decap),
	EDIT(RAW_ENCAP, raw_encap),
	EDIT(VXLAN_ENCAP, vxlan_encap),
	EDIT(NVGRE_ENCAP, nvgre_encap),
};

/** What points somewhere must point to as much as it says. */
static void *
rules_edit(struct fuzz_input *input, enum rte_flow_action_type type, uint8_t size)
{
	void *conf = fuzz_input_block(input, size);
	struct rte_flow_action_modify_field *field = conf;
	struct rte_flow_action_raw_encap *raw = conf;
	struct rte_flow_action_vxlan_encap *tunnel = conf;

	if (conf == NULL || size == 0)
		return NULL;
	switch ((int)type) {
	case RTE_FLOW_ACTION_TYPE_RAW_ENCAP:
		raw->size = fuzz_input_byte(input);
		raw->data = fuzz_input_block(input, raw->size);
		break;
	case RTE_FLOW_ACTION_TYPE_RAW_DECAP:
		((struct rte_flow_action_raw_decap *)conf)->size =
			14 + 4 * fuzz_input_choose(input, 16);
		break;
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
	case RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP:
		tunnel->definition = fuzz_rules_pattern(input);
		break;
	case RTE_FLOW_ACTION_TYPE_MODIFY_FIELD:
		field->operation = fuzz_input_choose(input, 4);
		field->dst.field = fuzz_input_choose(input, RTE_FLOW_FIELD_METER_COLOR + 2);
		field->dst.level = fuzz_input_choose(input, 3);
		field->src.field = RTE_FLOW_FIELD_VALUE;
		field->width = 4 * fuzz_input_choose(input, 40);
		break;
	default:
		fuzz_input_fill(input, conf, RTE_MIN(size, 4u));
	}
	return conf;
}

static void rules_fill_action(
	struct fuzz_input *input, struct rte_flow_action *action, bool wild, unsigned int depth);

static void *
rules_sample(struct fuzz_input *input, bool wild, unsigned int depth)
{
	static const enum rte_flow_action_type inner[] = { RTE_FLOW_ACTION_TYPE_QUEUE,
		RTE_FLOW_ACTION_TYPE_RSS, RTE_FLOW_ACTION_TYPE_VOID, RTE_FLOW_ACTION_TYPE_SAMPLE,
		RTE_FLOW_ACTION_TYPE_DROP };
	struct rte_flow_action_sample *conf = fuzz_input_block(input, sizeof(*conf));
	unsigned int nb = fuzz_input_choose(input, 4);
	struct rte_flow_action *list = fuzz_input_block(input, (nb + 1) * sizeof(*list));

	if (conf == NULL || list == NULL)
		return NULL;
	conf->ratio = wild ? fuzz_input_choose(input, 3) : 1;
	conf->actions = wild && nb == 0 ? NULL : list;
	for (unsigned int i = 0; i < nb; i++) {
		list[i].type = inner[fuzz_input_choose(input, wild ? RTE_DIM(inner) : 2)];
		rules_fill_action(input, &list[i], wild, depth + 1);
	}
	return conf;
}

static void
rules_fill_action(
	struct fuzz_input *input, struct rte_flow_action *action, bool wild, unsigned int depth)
{
	if (wild && fuzz_input_choose(input, 8) == 1)
		return;
	for (unsigned int i = 0; i < RTE_DIM(rules_edits); i++)
		if (rules_edits[i].type == action->type) {
			action->conf = rules_edit(input, action->type, rules_edits[i].size);
			return;
		}
	switch ((int)action->type) {
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		action->conf = rules_queue(input);
		break;
	case RTE_FLOW_ACTION_TYPE_RSS:
		action->conf = rules_rss(input);
		break;
	case RTE_FLOW_ACTION_TYPE_MARK:
	case RTE_FLOW_ACTION_TYPE_COUNT:
		action->conf = rules_number(input, !wild);
		break;
	case RTE_FLOW_ACTION_TYPE_SAMPLE:
		action->conf = depth < 3 ? rules_sample(input, wild, depth) : NULL;
		break;
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		break; /* a handle is the driver's own, and none is given out here */
	default:
		action->conf = wild ? fuzz_input_block(input, 1) : NULL;
		break;
	}
}

/** A fate or two and what goes with it, in any order. */
static unsigned int
rules_sensible_actions(struct fuzz_input *input, struct rte_flow_action *list)
{
	static const enum rte_flow_action_type fates[] = { RTE_FLOW_ACTION_TYPE_QUEUE,
		RTE_FLOW_ACTION_TYPE_QUEUE, RTE_FLOW_ACTION_TYPE_RSS, RTE_FLOW_ACTION_TYPE_RSS,
		RTE_FLOW_ACTION_TYPE_DROP };
	static const enum rte_flow_action_type others[] = { RTE_FLOW_ACTION_TYPE_PASSTHRU,
		RTE_FLOW_ACTION_TYPE_COUNT, RTE_FLOW_ACTION_TYPE_MARK, RTE_FLOW_ACTION_TYPE_FLAG,
		RTE_FLOW_ACTION_TYPE_VOID, RTE_FLOW_ACTION_TYPE_SAMPLE,
		RTE_FLOW_ACTION_TYPE_QUEUE };
	unsigned int which = fuzz_input_byte(input), nb = 0;

	for (unsigned int edits = fuzz_input_choose(input, 8); edits >= 5; edits--)
		list[nb++].type = rules_edits[fuzz_input_choose(input, RTE_DIM(rules_edits))].type;
	list[nb++].type = fates[fuzz_input_choose(input, RTE_DIM(fates))];
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		unsigned int at;

		if ((which >> i & 1) == 0 || nb == FUZZ_RULES_MAX)
			continue;
		at = fuzz_input_choose(input, nb + 1);
		memmove(&list[at + 1], &list[at], (nb - at) * sizeof(*list));
		list[at].type = others[i];
		nb++;
	}
	return nb;
}

struct rte_flow_action *
fuzz_rules_actions(struct fuzz_input *input)
{
	static const enum rte_flow_action_type types[] = { RTE_FLOW_ACTION_TYPE_VOID,
		RTE_FLOW_ACTION_TYPE_PASSTHRU, RTE_FLOW_ACTION_TYPE_MARK, RTE_FLOW_ACTION_TYPE_FLAG,
		RTE_FLOW_ACTION_TYPE_QUEUE, RTE_FLOW_ACTION_TYPE_DROP, RTE_FLOW_ACTION_TYPE_COUNT,
		RTE_FLOW_ACTION_TYPE_RSS, RTE_FLOW_ACTION_TYPE_SAMPLE, RTE_FLOW_ACTION_TYPE_JUMP,
		RTE_FLOW_ACTION_TYPE_AGE, RTE_FLOW_ACTION_TYPE_INDIRECT };
	unsigned int how = fuzz_input_byte(input), nb = 0;
	const bool wild = (how & 7) == 0;
	struct rte_flow_action *list =
		fuzz_input_block(input, (FUZZ_RULES_MAX + 1) * sizeof(*list));

	if (how == 0 || list == NULL)
		return NULL;
	if (wild) {
		nb = how >> 3 & 7;
		for (unsigned int i = 0; i < nb; i++) {
			unsigned int type = fuzz_input_choose(input, RTE_DIM(types) + 2);

			if (type == RTE_DIM(types) + 1)
				list[i].type =
					rules_edits[fuzz_input_choose(input, RTE_DIM(rules_edits))]
						.type;
			else
				list[i].type = type < RTE_DIM(types)
					? types[type]
					: (enum rte_flow_action_type)fuzz_input_word(input);
		}
	} else {
		nb = rules_sensible_actions(input, list);
	}
	for (unsigned int i = 0; i < nb; i++)
		rules_fill_action(input, &list[i], wild, 0);
	return list;
}

struct rte_flow_action *
fuzz_rules_confs(struct fuzz_input *input, const struct rte_flow_action actions[])
{
	struct rte_flow_action *list =
		fuzz_input_block(input, (FUZZ_RULES_MAX + 1) * sizeof(*list));

	if (list == NULL)
		return NULL;
	for (unsigned int i = 0; actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++) {
		list[i].type = actions[i].type;
		rules_fill_action(input, &list[i], fuzz_input_choose(input, 8) == 1, 0);
	}
	if (fuzz_input_choose(input, 16) == 1)
		list[0].type = RTE_FLOW_ACTION_TYPE_JUMP;
	return list;
}

struct rte_flow_attr
fuzz_rules_attr(struct fuzz_input *input)
{
	unsigned int how = fuzz_input_byte(input);
	struct rte_flow_attr attr = { .priority = how & 3, .ingress = 1 };

	if ((how & 0xf0) != 0xf0)
		return attr;
	attr.ingress = how >> 3 & 1;
	attr.egress = how >> 2 & 1;
	attr.transfer = fuzz_input_byte(input) >> 7;
	attr.group = fuzz_input_byte(input);
	attr.priority = fuzz_input_word(input);
	return attr;
}
