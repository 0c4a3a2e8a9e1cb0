/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of rte_flow's actions that change packets: what comes is compared with what was sent, byte
 * for byte, checksums included. */
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include <rte_errno.h>

#include "layers.h"

#define ITEM_BYTES 64

/** A change of one header. The action's conf is bytes: all of these are fields of packets. */
struct edit {
	enum rte_flow_action_type type;
	alignas(8) uint8_t conf[16];
	const struct rte_flow_action_modify_field *modify; /**< NULL: conf */
	uint8_t layers[CHECK_LAYERS_MAX];
	struct check_patch patch; /**< what comes of it */
};

/** Headers that are put on or taken off: the first @ref nb of the layers. */
struct tunnel {
	enum rte_flow_action_type type;
	unsigned int nb;
	uint8_t layers[CHECK_LAYERS_MAX];
};

static const struct check_patch none = { 0 };
static const struct rte_flow_item_eth source = {
	.hdr.src_addr = { { 2, 0, 0, 0, 1, CHECK_RULE_SRC } },
};
static const struct rte_flow_item_eth source_mask = {
	.hdr.src_addr = { { 255, 255, 255, 255, 255, 255 } },
};

/** @return a pattern of the first @p nb layers, from the rows' address */
static void
write_pattern(const uint8_t *layers, unsigned int nb, struct rte_flow_item *pattern)
{
	memset(pattern, 0, (nb + 1) * sizeof(*pattern));
	for (unsigned int i = 0; i < nb; i++)
		pattern[i].type = check_layer_item(layers[i]);
	pattern[0].spec = &source;
	pattern[0].mask = &source_mask;
	pattern[nb].type = RTE_FLOW_ITEM_TYPE_END;
}

/** Have frames of @p layers changed by @p action, on their way to the last queue or out. */
static struct rte_flow *
create(struct check *check, bool egress, const uint8_t *layers, unsigned int nb,
	struct rte_flow_action action)
{
	static const struct rte_flow_action_queue queue = { .index = CHECK_LAST_QUEUE };
	const struct rte_flow_attr attr = { .ingress = !egress, .egress = egress };
	const struct rte_flow_action end = { .type = RTE_FLOW_ACTION_TYPE_END };
	struct rte_flow_item pattern[CHECK_LAYERS_MAX + 1];
	const struct rte_flow_action actions[] = { action,
		egress ? end : (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_QUEUE, &queue },
		end };

	write_pattern(layers, nb, pattern);
	return check_flow_create(check, &attr, pattern, actions);
}

/** Send a frame under a rule, which is removed. @return whether it comes with the bytes wanted */
static enum check_result
pass(struct check *check, struct rte_flow *flow, enum check_side from, const uint8_t *bytes,
	uint16_t length, const uint8_t *wanted, uint16_t wanted_length)
{
	enum check_result result = CHECK_PASS;
	struct check_got got;
	int ret;

	if (flow == NULL)
		return rte_errno == ENOTSUP ? CHECK_ABSENT : CHECK_FAIL;
	ret = check_layers_send(check, from, bytes, length);
	check_layers_collect(check, !from, &got, 1);
	if (ret != 0)
		result = check_fail(check, "%s", rte_strerror(-ret));
	else if (got.mbuf == NULL)
		result = check_fail(check, "the frame did not come");
	else if (from == CHECK_PEER && got.queue != CHECK_LAST_QUEUE)
		result =
			check_fail(check, "the frame came on queue %u, not by the rule", got.queue);
	else if (!check_layers_equal(got.mbuf, wanted, wanted_length))
		result = check_fail(check, "the frame of %u bytes came as %u others", length,
			rte_pktmbuf_data_len(got.mbuf));
	rte_pktmbuf_free(got.mbuf);
	return check_rules_destroy(check, &flow, 1, result);
}

static unsigned int
count_layers(const uint8_t *layers)
{
	unsigned int nb = 0;

	while (layers[nb] != CHECK_LAYER_END)
		nb++;
	return nb;
}

static enum check_result
change(struct check *check)
{
	const struct edit *edit = check->data;
	const struct rte_flow_action action = { edit->type,
		edit->modify != NULL ? (const void *)edit->modify : edit->conf };
	struct check_layers sent, wanted;

	check_layers_write(check, CHECK_PEER, edit->layers, &none, 0, &sent);
	check_layers_write(check, CHECK_PEER, edit->layers, &edit->patch, 0, &wanted);
	return pass(check, create(check, false, edit->layers, count_layers(edit->layers), action),
		CHECK_PEER, sent.bytes, sizeof(sent.bytes), wanted.bytes, sizeof(wanted.bytes));
}

/** A tunnel's headers are gone, and the rest is as it was. */
static enum check_result
take_off(struct check *check)
{
	const struct tunnel *tunnel = check->data;
	struct rte_flow_action_raw_decap raw = { 0 };
	struct rte_flow_action action = { .type = tunnel->type };
	struct check_layers sent;
	uint16_t outer;

	check_layers_write(check, CHECK_PEER, tunnel->layers, &none, 0, &sent);
	outer = sent.at[tunnel->nb];
	if (tunnel->type == RTE_FLOW_ACTION_TYPE_RAW_DECAP) {
		raw = (struct rte_flow_action_raw_decap){ sent.bytes, outer };
		action.conf = &raw;
	}
	return pass(check, create(check, false, tunnel->layers, tunnel->nb, action), CHECK_PEER,
		sent.bytes, sizeof(sent.bytes), sent.bytes + outer, sizeof(sent.bytes) - outer);
}

/** The headers of @p outer as items, which rte_flow's structs of them begin with. */
static void
write_definition(const struct tunnel *tunnel, const struct check_layers *outer,
	uint8_t specs[][ITEM_BYTES], struct rte_flow_item *items)
{
	memset(items, 0, (tunnel->nb + 1) * sizeof(*items));
	for (unsigned int i = 0; i < tunnel->nb; i++) {
		memset(specs[i], 0, ITEM_BYTES);
		memcpy(specs[i], outer->bytes + outer->at[i], check_layer_bytes(tunnel->layers[i]));
		items[i].type = check_layer_item(tunnel->layers[i]);
		items[i].spec = specs[i];
	}
	items[tunnel->nb].type = RTE_FLOW_ITEM_TYPE_END;
}

/** Headers are in front of a frame that is sent, and it is as it was. */
static enum check_result
put_on(struct check *check)
{
	const struct tunnel *tunnel = check->data;
	const uint8_t *const inner = tunnel->layers + tunnel->nb;
	alignas(8) uint8_t specs[CHECK_LAYERS_MAX][ITEM_BYTES];
	struct rte_flow_item items[CHECK_LAYERS_MAX + 1];
	/* DPDK has a struct of this form for each tunnel. */
	const struct rte_flow_action_vxlan_encap vxlan = { items };
	const struct rte_flow_action_nvgre_encap nvgre = { items };
	struct rte_flow_action_raw_encap raw = { 0 };
	struct rte_flow_action action = { .type = tunnel->type };
	struct check_layers wanted, outer;
	uint16_t at;

	check_layers_write(check, CHECK_PORT, tunnel->layers, &none, 0, &wanted);
	outer = wanted;
	at = wanted.at[tunnel->nb];
	check_layers_blank(tunnel->layers, tunnel->nb, &outer);
	write_definition(tunnel, &outer, specs, items);
	raw = (struct rte_flow_action_raw_encap){ .data = outer.bytes, .size = at };
	action.conf = tunnel->type == RTE_FLOW_ACTION_TYPE_RAW_ENCAP ? (const void *)&raw
		: tunnel->type == RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP   ? (const void *)&nvgre
								     : (const void *)&vxlan;
	return pass(check, create(check, true, inner, count_layers(inner), action), CHECK_PORT,
		wanted.bytes + at, sizeof(wanted.bytes) - at, wanted.bytes, sizeof(wanted.bytes));
}

/* clang-format off */
#define UDP4 { CHECK_ETH, CHECK_IPV4, CHECK_UDP }
#define UDP6 { CHECK_ETH, CHECK_IPV6, CHECK_UDP }
#define TCP4 { CHECK_ETH, CHECK_IPV4, CHECK_TCP }
#define ADDRESS6 0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
/** A rule of action @p t with bytes, after which header @p layer has them from @p at on. */
#define EDIT(name, t, layers, layer, at, nb, ...) \
	static const struct edit name = { RTE_FLOW_ACTION_TYPE_##t, { __VA_ARGS__ }, NULL, layers, \
		{ layer, at, nb, { __VA_ARGS__ } } }
/** The header has other bytes than the action. */
#define STEP(name, t, layers, layer, at, nb, conf, ...) \
	static const struct edit name = { RTE_FLOW_ACTION_TYPE_##t, conf, NULL, layers, \
		{ layer, at, nb, { __VA_ARGS__ } } }
#define CONF(...) { __VA_ARGS__ }
#define LAYERS(...) { __VA_ARGS__ }

EDIT(set_mac_src, SET_MAC_SRC, UDP4, 0, 6, 6, 2, 0, 0, 0, 3, 1);
EDIT(set_mac_dst, SET_MAC_DST, UDP4, 0, 0, 6, 2, 0, 0, 0, 3, 2);
EDIT(of_set_vlan_vid, OF_SET_VLAN_VID, LAYERS(CHECK_ETH, CHECK_VLAN, CHECK_IPV4, CHECK_UDP), 1, 0, 2, 0, 9);
EDIT(set_ipv4_src, SET_IPV4_SRC, UDP4, 1, 12, 4, 198, 19, 0, 7);
EDIT(set_ipv4_dst, SET_IPV4_DST, TCP4, 1, 16, 4, 198, 19, 0, 8);
STEP(set_ipv4_dscp, SET_IPV4_DSCP, UDP4, 1, 1, 1, CONF(46), 46 << 2);
EDIT(set_ipv6_src, SET_IPV6_SRC, UDP6, 1, 8, 16, ADDRESS6);
EDIT(set_ipv6_dst, SET_IPV6_DST, UDP6, 1, 24, 16, ADDRESS6);
STEP(set_ipv6_dscp, SET_IPV6_DSCP, UDP6, 1, 0, 2, CONF(46), 0x60 | 46 >> 2, (46 & 3) << 6);
EDIT(set_ttl, SET_TTL, UDP4, 1, 8, 1, 17);
STEP(dec_ttl, DEC_TTL, UDP4, 1, 8, 1, CONF(0), 63);
EDIT(set_tp_src, SET_TP_SRC, UDP4, 2, 0, 2, 0x12, 0x34);
EDIT(set_tp_dst, SET_TP_DST, TCP4, 2, 2, 2, 0x12, 0x35);
STEP(inc_tcp_seq, INC_TCP_SEQ, TCP4, 2, 4, 4, CONF(0, 0, 1, 2), 1, 2, 4, 6);
STEP(dec_tcp_seq, DEC_TCP_SEQ, TCP4, 2, 4, 4, CONF(0, 0, 1, 2), 1, 2, 2, 2);
STEP(inc_tcp_ack, INC_TCP_ACK, TCP4, 2, 8, 4, CONF(0, 0, 1, 2), 5, 6, 8, 10);
STEP(dec_tcp_ack, DEC_TCP_ACK, TCP4, 2, 8, 4, CONF(0, 0, 1, 2), 5, 6, 6, 6);

static const struct rte_flow_action_modify_field ttl_17 = {
	.operation = RTE_FLOW_MODIFY_SET,
	.dst = { .field = RTE_FLOW_FIELD_IPV4_TTL },
	.src = { .field = RTE_FLOW_FIELD_VALUE, .value = { 17 } },
	.width = 8,
};
static const struct edit modify_field = {
	RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, { 0 }, &ttl_17, UDP4, { 1, 8, 1, { 17 } },
};

#define IN_VXLAN { CHECK_ETH, CHECK_IPV4, CHECK_UDP, CHECK_VXLAN, CHECK_ETH, CHECK_IPV4, CHECK_UDP }
#define IN_NVGRE { CHECK_ETH, CHECK_IPV4, CHECK_NVGRE, CHECK_ETH, CHECK_IPV4, CHECK_UDP }
static const struct tunnel vxlan_decap = { RTE_FLOW_ACTION_TYPE_VXLAN_DECAP, 4, IN_VXLAN };
static const struct tunnel nvgre_decap = { RTE_FLOW_ACTION_TYPE_NVGRE_DECAP, 3, IN_NVGRE };
static const struct tunnel raw_decap = { RTE_FLOW_ACTION_TYPE_RAW_DECAP, 4, IN_VXLAN };
static const struct tunnel vxlan_encap = { RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, 4, IN_VXLAN };
static const struct tunnel nvgre_encap = { RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP, 3, IN_NVGRE };
static const struct tunnel raw_encap = { RTE_FLOW_ACTION_TYPE_RAW_ENCAP, 4, IN_VXLAN };

#define CHANGES "the field is changed, the checksums are right, the rest is as it was"
#define ON      "a sent frame has the headers in front"
#define OFF     "what was in the tunnel comes"

const struct check_row check_rows_action[] = {
	{ "action: set_mac_src", CHANGES, change, &set_mac_src },
	{ "action: set_mac_dst", CHANGES, change, &set_mac_dst },
	{ "action: of_set_vlan_vid", CHANGES, change, &of_set_vlan_vid },
	{ "action: set_ipv4_src", CHANGES, change, &set_ipv4_src },
	{ "action: set_ipv4_dst", CHANGES, change, &set_ipv4_dst },
	{ "action: set_ipv4_dscp", CHANGES, change, &set_ipv4_dscp },
	{ "action: set_ipv6_src", CHANGES, change, &set_ipv6_src },
	{ "action: set_ipv6_dst", CHANGES, change, &set_ipv6_dst },
	{ "action: set_ipv6_dscp", CHANGES, change, &set_ipv6_dscp },
	{ "action: set_ttl", CHANGES, change, &set_ttl },
	{ "action: dec_ttl", CHANGES, change, &dec_ttl },
	{ "action: set_tp_src", CHANGES, change, &set_tp_src },
	{ "action: set_tp_dst", CHANGES, change, &set_tp_dst },
	{ "action: inc_tcp_seq", CHANGES, change, &inc_tcp_seq },
	{ "action: dec_tcp_seq", CHANGES, change, &dec_tcp_seq },
	{ "action: inc_tcp_ack", CHANGES, change, &inc_tcp_ack },
	{ "action: dec_tcp_ack", CHANGES, change, &dec_tcp_ack },
	{ "action: modify_field", CHANGES, change, &modify_field },
	{ "action: vxlan_decap", OFF, take_off, &vxlan_decap },
	{ "action: nvgre_decap", OFF, take_off, &nvgre_decap },
	{ "action: raw_decap", OFF, take_off, &raw_decap },
	{ "action: vxlan_encap", ON, put_on, &vxlan_encap },
	{ "action: nvgre_encap", ON, put_on, &nvgre_encap },
	{ "action: raw_encap", ON, put_on, &raw_encap },
	{ NULL, NULL, NULL, NULL },
};
/* clang-format on */
