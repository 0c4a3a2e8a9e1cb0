/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates actions that change packets into steps of modify header and a packet reformat. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_gre.h>
#include <rte_ip.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "flow/match/flow_error.h"
#include "flow/match/rss.h"
#include "flow_action_row.h"
#include "flow_modify.h"

#define MODIFY_PIECE_BITS 32u

/** A field of a header. The device has it in pieces of 32 bits, the most significant first. */
struct modify_field_row {
	enum rte_flow_field_id id;
	uint32_t layer; /* header that the pattern must name */
	uint16_t prm; /* number of the first piece: enum mlx5_modify_field of Linux's mlx5_ifc.h */
	uint8_t bits;
	const char *name;
};

/* clang-format off */
#define FIELD(id, layer, ...) { RTE_FLOW_FIELD_##id, MDV_LAYER_##layer, __VA_ARGS__ }

static const struct modify_field_row modify_field_rows[] = {
	FIELD(MAC_SRC,       ETH,  0x01, 48, "smac"),
	FIELD(MAC_DST,       ETH,  0x04, 48, "dmac"),
	FIELD(VLAN_ID,       VLAN, 0x17, 12, "first_vid"),
	FIELD(IPV4_DSCP,     IPV4, 0x06, 6, "ip_dscp"),
	FIELD(IPV4_TTL,      IPV4, 0x0a, 8, "ip_ttl"),
	FIELD(IPV4_SRC,      IPV4, 0x15, 32, "src_ip"),
	FIELD(IPV4_DST,      IPV4, 0x16, 32, "dst_ip"),
	FIELD(IPV6_DSCP,     IPV6, 0x06, 6, "ip_dscp"),
	FIELD(IPV6_HOPLIMIT, IPV6, 0x47, 8, "ipv6_hop_limit"),
	FIELD(IPV6_SRC,      IPV6, 0x0d, 128, "src_ipv6"),
	FIELD(IPV6_DST,      IPV6, 0x11, 128, "dst_ipv6"),
	FIELD(TCP_PORT_SRC,  TCP,  0x08, 16, "tcp_sport"),
	FIELD(TCP_PORT_DST,  TCP,  0x09, 16, "tcp_dport"),
	FIELD(TCP_SEQ_NUM,   TCP,  0x59, 32, "tcp_seq_num"),
	FIELD(TCP_ACK_NUM,   TCP,  0x5b, 32, "tcp_ack_num"),
	FIELD(UDP_PORT_SRC,  UDP,  0x0b, 16, "udp_sport"),
	FIELD(UDP_PORT_DST,  UDP,  0x0c, 16, "udp_dport"),
};

/** Each action's change and its fields; the pattern decides which header's field it is. */
static const struct modify_action {
	enum rte_flow_action_type type;
	enum rte_flow_modify_op op;
	enum rte_flow_field_id fields[2]; /* RTE_FLOW_FIELD_START: none */
	const char *items;
} modify_actions[] = {
#define ACTION(type, op, items, ...) \
	{ RTE_FLOW_ACTION_TYPE_##type, RTE_FLOW_MODIFY_##op, { __VA_ARGS__ }, items }
#define F(id) RTE_FLOW_FIELD_##id
	ACTION(SET_MAC_SRC,     SET, "ETH", F(MAC_SRC)),
	ACTION(SET_MAC_DST,     SET, "ETH", F(MAC_DST)),
	ACTION(OF_SET_VLAN_VID, SET, "VLAN", F(VLAN_ID)),
	ACTION(SET_IPV4_SRC,    SET, "IPV4", F(IPV4_SRC)),
	ACTION(SET_IPV4_DST,    SET, "IPV4", F(IPV4_DST)),
	ACTION(SET_IPV4_DSCP,   SET, "IPV4", F(IPV4_DSCP)),
	ACTION(SET_IPV6_SRC,    SET, "IPV6", F(IPV6_SRC)),
	ACTION(SET_IPV6_DST,    SET, "IPV6", F(IPV6_DST)),
	ACTION(SET_IPV6_DSCP,   SET, "IPV6", F(IPV6_DSCP)),
	ACTION(SET_TTL,         SET, "IPV4 or IPV6", F(IPV4_TTL), F(IPV6_HOPLIMIT)),
	ACTION(DEC_TTL,         SUB, "IPV4 or IPV6", F(IPV4_TTL), F(IPV6_HOPLIMIT)),
	ACTION(SET_TP_SRC,      SET, "TCP or UDP", F(TCP_PORT_SRC), F(UDP_PORT_SRC)),
	ACTION(SET_TP_DST,      SET, "TCP or UDP", F(TCP_PORT_DST), F(UDP_PORT_DST)),
	ACTION(INC_TCP_SEQ,     ADD, "TCP", F(TCP_SEQ_NUM)),
	ACTION(DEC_TCP_SEQ,     SUB, "TCP", F(TCP_SEQ_NUM)),
	ACTION(INC_TCP_ACK,     ADD, "TCP", F(TCP_ACK_NUM)),
	ACTION(DEC_TCP_ACK,     SUB, "TCP", F(TCP_ACK_NUM)),
};
/* clang-format on */

struct modify_state {
	uint32_t layers;                   /* of the packet, after the changes so far */
	uint32_t inner;                    /* of the packet in its tunnel */
	const struct rte_flow_action *raw; /* a RAW_DECAP until its header is known */
	const struct rte_flow_action *action;
	struct mdv_flow_modify *modify;
	struct rte_flow_error *error;
};

static const struct modify_field_row *
modify_find_field(enum rte_flow_field_id id)
{
	for (unsigned int i = 0; i < RTE_DIM(modify_field_rows); i++)
		if (modify_field_rows[i].id == id)
			return &modify_field_rows[i];
	return NULL;
}

static int
modify_refuse(const struct modify_state *state, int code, const char *instead)
{
	return mdv_flow_error_set(state->error, code, RTE_FLOW_ERROR_TYPE_ACTION, state->action,
		"%s: %s", mdv_flow_action_name(state->action->type), instead);
}

/** Encode set_action_in or add_action_in: type 4, field 12, -3, offset 5, -3, length 5 (0 is 32),
 * data 32. */
static rte_be64_t
modify_step(bool add, uint16_t prm, unsigned int bits, uint32_t data)
{
	return rte_cpu_to_be_64((uint64_t)(add ? 2 : 1) << 60 | (uint64_t)prm << 48 |
		(uint64_t)(bits % MODIFY_PIECE_BITS) << 32 | data);
}

/** @param value in network order, as many bytes as the field touches, its bits the lowest */
static int
modify_fields(struct modify_state *state, const struct modify_field_row *field,
	enum rte_flow_modify_op op, const uint8_t *value)
{
	struct mdv_flow_modify *modify = state->modify;
	uint16_t prm = field->prm;

	for (unsigned int left = field->bits; left != 0; prm++) {
		const unsigned int bits = RTE_MIN(left, MODIFY_PIECE_BITS);
		uint32_t data = 0;

		if (modify->nb_steps == MDV_FLOW_MODIFY_STEPS)
			return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
				state->action,
				"%s: a rule changes at most %u pieces of 32 bits; leave some out",
				mdv_flow_action_name(state->action->type), MDV_FLOW_MODIFY_STEPS);
		for (unsigned int i = 0; i < (bits + 7) / 8; i++)
			data = data << 8 | *value++;
		if (op == RTE_FLOW_MODIFY_SUB)
			data = -data;
		data &= UINT32_MAX >> (MODIFY_PIECE_BITS - bits);
		modify->steps[modify->nb_steps++] =
			modify_step(op != RTE_FLOW_MODIFY_SET, prm, bits, data);
		left -= bits;
	}
	return 0;
}

static const struct modify_action *
modify_find_action(enum rte_flow_action_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(modify_actions); i++)
		if (modify_actions[i].type == type)
			return &modify_actions[i];
	return NULL;
}

static int
modify_set(struct modify_state *state)
{
	static const uint8_t one[] = { 1 };
	const struct modify_action *row = modify_find_action(state->action->type);
	const void *value = mdv_flow_action_rows[row->type].needs_conf ? state->action->conf : one;

	for (unsigned int i = 0; i < RTE_DIM(row->fields); i++) {
		const struct modify_field_row *field = modify_find_field(row->fields[i]);

		if (field != NULL && (state->layers & field->layer) != 0)
			return modify_fields(state, field, row->op, value);
	}
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, state->action,
		"%s: the pattern does not name the header that it changes; add %s",
		mdv_flow_action_name(row->type), row->items);
}

static int
modify_field_action(struct modify_state *state)
{
	const struct rte_flow_action_modify_field *conf = state->action->conf;
	const struct modify_field_row *field = modify_find_field(conf->dst.field);
	const bool pointer = conf->src.field == RTE_FLOW_FIELD_POINTER;
	const uint8_t *value = pointer ? conf->src.pvalue : conf->src.value;

	if (field == NULL || (state->layers & field->layer) == 0)
		return modify_refuse(state, field == NULL ? ENOTSUP : EINVAL,
			"the driver changes fields of ETH, VLAN, IPV4, IPV6, TCP and UDP headers that the pattern names; use one of those");
	if (conf->dst.level > 1)
		return modify_refuse(state, ENOTSUP,
			"the driver changes the outermost headers; use level 0 or 1");
	if ((conf->src.field != RTE_FLOW_FIELD_VALUE && !pointer) || value == NULL)
		return modify_refuse(state, value == NULL ? EINVAL : ENOTSUP,
			"the driver writes values and copies no fields; give a value");
	if (conf->dst.offset != 0 || conf->width != field->bits)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
			state->action,
			"MODIFY_FIELD offset %u width %u: the driver changes fields as a whole; use offset 0 and width %u",
			conf->dst.offset, conf->width, field->bits);
	if (conf->operation > RTE_FLOW_MODIFY_SUB ||
		(conf->operation != RTE_FLOW_MODIFY_SET && field->bits > MODIFY_PIECE_BITS))
		return modify_refuse(state, ENOTSUP,
			"the device sets fields, and adds to 32 bits at most; use set");
	return modify_fields(state, field, conf->operation, value);
}

/** @return the bytes before the content of the pattern's tunnel; a GRE key may be there unnamed. */
static uint32_t
modify_outer_bytes(uint32_t layers)
{
	uint32_t bytes = sizeof(struct rte_ether_hdr);

	bytes += (layers & MDV_LAYER_VLAN) != 0 ? sizeof(struct rte_vlan_hdr) : 0;
	bytes += (layers & MDV_LAYER_MPLS) != 0 ? sizeof(rte_be32_t) : 0;
	if ((layers & MDV_LAYER_L3) != 0)
		bytes += (layers & MDV_LAYER_IPV6) != 0 ? sizeof(struct rte_ipv6_hdr)
							: sizeof(struct rte_ipv4_hdr);
	bytes += (layers & MDV_LAYER_UDP) != 0 ? sizeof(struct rte_udp_hdr) : 0;
	bytes += (layers & MDV_LAYER_VXLAN) != 0 ? sizeof(struct rte_vxlan_hdr) : 0;
	bytes += (layers & (MDV_LAYER_GRE | MDV_LAYER_NVGRE)) != 0 ? sizeof(struct rte_gre_hdr) : 0;
	bytes += (layers & (MDV_LAYER_GRE_KEY | MDV_LAYER_NVGRE)) != 0 ? sizeof(rte_be32_t) : 0;
	bytes += (layers & MDV_LAYER_MPLS_TUNNEL) != 0 ? sizeof(rte_be32_t) : 0;
	return bytes;
}

/** From now on the packet is the content of the tunnel. */
static void
reformat_take_off(struct modify_state *state, uint8_t reformat)
{
	state->modify->reformat = reformat;
	state->layers = state->inner | MDV_LAYER_ETH;
	state->inner = 0;
}

static int
reformat_decap(struct modify_state *state)
{
	const uint32_t tunnel = state->action->type == RTE_FLOW_ACTION_TYPE_VXLAN_DECAP
		? MDV_LAYER_VXLAN
		: MDV_LAYER_NVGRE;

	if ((state->layers & tunnel) == 0)
		return modify_refuse(state, EINVAL,
			"the pattern does not name the tunnel that it takes off; add VXLAN or NVGRE");
	reformat_take_off(state, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
	return 0;
}

static int
reformat_raw_decap(struct modify_state *state)
{
	const struct rte_flow_action_raw_decap *conf = state->action->conf;
	const uint32_t ethernet = MDV_LAYER_ETH | MDV_LAYER_VLAN;
	const uint32_t bytes = modify_outer_bytes(
		state->modify->egress ? state->layers & ethernet : state->layers);

	if (!state->modify->egress && (state->layers & MDV_LAYER_TUNNEL) == 0)
		return modify_refuse(state, EINVAL,
			"the pattern has no tunnel to take off; add VXLAN, NVGRE or GRE");
	if (conf->size != bytes)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf,
			"RAW_DECAP of %zu bytes: the device takes off the headers that the pattern names, here %u bytes; give that many, or name the others",
			conf->size, bytes);
	state->raw = state->action;
	return 0;
}

/** Handle a RAW_DECAP without RAW_ENCAP: the tunnel contains a frame. */
static int
modify_settle(struct modify_state *state)
{
	const bool frame = (state->layers & (MDV_LAYER_VXLAN | MDV_LAYER_NVGRE)) != 0 ||
		(state->inner & MDV_LAYER_ETH) != 0;

	if (state->raw == NULL)
		return 0;
	if (!frame) {
		state->action = state->raw;
		return modify_refuse(state, EINVAL,
			"the pattern does not say that a frame is in the tunnel; add ETH behind it, or RAW_ENCAP with an Ethernet header behind RAW_DECAP");
	}
	state->raw = NULL;
	reformat_take_off(state, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
	return 0;
}

/** Put on a header: it replaces a tunnel with an IP packet in it or the Ethernet header of a sent
 * packet, or stands before that header. */
static int
reformat_put_on(struct modify_state *state, size_t bytes)
{
	const bool plain = bytes == sizeof(struct rte_ether_hdr) ||
		bytes == sizeof(struct rte_ether_hdr) + sizeof(struct rte_vlan_hdr);
	const bool packet = (state->inner & MDV_LAYER_L3) != 0 &&
		(state->inner & MDV_LAYER_ETH) == 0 &&
		(state->layers & (MDV_LAYER_GRE | MDV_LAYER_MPLS_TUNNEL)) != 0;

	if (state->modify->egress) {
		state->modify->reformat = state->raw != NULL
			? MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
			: MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
		state->raw = NULL;
		return 0;
	}
	if (!plain)
		return modify_refuse(state, EINVAL,
			"what comes out of a tunnel gets an Ethernet header, with a tag or without; give 14 or 18 bytes");
	if (!packet)
		return modify_refuse(state, EINVAL,
			"the pattern does not say that a packet without Ethernet header is in the tunnel; add IPV4 or IPV6 behind GRE, or leave RAW_ENCAP out");
	state->raw = NULL;
	reformat_take_off(state, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2);
	return 0;
}

static int
reformat_encap(struct modify_state *state)
{
	int nb = mdv_flow_modify_build_header(state->action, state->modify->header, state->error);

	if (nb < 0)
		return nb;
	state->modify->header_bytes = nb;
	return reformat_put_on(state, nb);
}

static int
reformat_raw_encap(struct modify_state *state)
{
	const struct rte_flow_action_raw_encap *conf = state->action->conf;

	if (conf->data == NULL || conf->size < sizeof(struct rte_ether_hdr))
		return modify_refuse(state, EINVAL,
			"headers begin with an Ethernet header; give its 14 bytes at least");
	if (conf->size > MDV_FLOW_MODIFY_DATA)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "RAW_ENCAP of %zu bytes: the device takes no more than %u",
			conf->size, MDV_FLOW_MODIFY_DATA);
	for (size_t i = 0; conf->preserve != NULL && i < conf->size; i++)
		if (conf->preserve[i] != 0)
			return modify_refuse(state, ENOTSUP,
				"the device writes headers as they are given; leave preserve out");
	memcpy(state->modify->header, conf->data, conf->size);
	state->modify->header_bytes = conf->size;
	return reformat_put_on(state, conf->size);
}

static int
modify_one(struct modify_state *state)
{
	const enum mdv_flow_modify_kind kind = mdv_flow_action_rows[state->action->type].modify;
	int ret = kind == MDV_FLOW_MODIFY_NONE || kind == MDV_FLOW_MODIFY_RAW_ENCAP
		? 0
		: modify_settle(state);

	if (ret != 0)
		return ret;
	switch (kind) {
	case MDV_FLOW_MODIFY_FIELD:
		return state->action->type == RTE_FLOW_ACTION_TYPE_MODIFY_FIELD
			? modify_field_action(state)
			: modify_set(state);
	case MDV_FLOW_MODIFY_DECAP:
		return reformat_decap(state);
	case MDV_FLOW_MODIFY_ENCAP:
		return reformat_encap(state);
	case MDV_FLOW_MODIFY_RAW_DECAP:
		return reformat_raw_decap(state);
	case MDV_FLOW_MODIFY_RAW_ENCAP:
		return reformat_raw_encap(state);
	default:
		return 0;
	}
}

int
mdv_flow_modify_translate(const struct rte_flow_action list[], uint32_t layers, bool egress,
	struct mdv_flow_modify *modify, struct rte_flow_error *error)
{
	struct modify_state state = {
		.layers = layers & (MDV_LAYER_INNER(1) - 1),
		.inner = layers >> MDV_LAYER_INNER_SHIFT,
		.modify = modify,
		.error = error,
	};

	memset(modify, 0, sizeof(*modify));
	modify->egress = egress;
	modify->reformat = MDV_FLOW_MODIFY_NO_REFORMAT;
	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		int ret;

		state.action = list;
		ret = modify_one(&state);
		if (ret != 0)
			return ret;
	}
	return modify_settle(&state);
}

static const struct modify_field_row *
modify_field_of(uint16_t prm)
{
	for (unsigned int i = 0; i < RTE_DIM(modify_field_rows); i++)
		if (prm >= modify_field_rows[i].prm &&
			prm < modify_field_rows[i].prm +
					RTE_ALIGN_CEIL(
						modify_field_rows[i].bits, MODIFY_PIECE_BITS) /
						MODIFY_PIECE_BITS)
			return &modify_field_rows[i];
	return NULL;
}

void
mdv_flow_modify_print(FILE *file, const struct mdv_flow_modify *modify)
{
	static const char *const reformats[] = {
		[MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2] = "L2_TUNNEL_TO_L2",
		[MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL] = "L2_TO_L2_TUNNEL",
		[MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2] = "L3_TUNNEL_TO_L2",
		[MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL] = "L2_TO_L3_TUNNEL",
	};

	if (modify->reformat != MDV_FLOW_MODIFY_NO_REFORMAT)
		fprintf(file, "    |-- REFORMAT %s, %u bytes\n", reformats[modify->reformat],
			modify->header_bytes);
	for (unsigned int i = 0; i < modify->nb_steps; i++) {
		const uint64_t step = rte_be_to_cpu_64(modify->steps[i]);
		const uint16_t prm = step >> 48 & 0xfff;
		const struct modify_field_row *field = modify_field_of(prm);

		fprintf(file, "    |-- MOD_HDR %s %s", step >> 60 == 1 ? "set" : "add",
			field->name);
		if (field->bits > MODIFY_PIECE_BITS)
			fprintf(file, "[%u]", prm - field->prm);
		fprintf(file, ":0x%" PRIx32 "\n", (uint32_t)step);
	}
}
