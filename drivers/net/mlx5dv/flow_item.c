/* SPDX-License-Identifier: BSD-3-Clause */
/* The item rows, and the one loop that translates by them. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include "flow_error.h"
#include "flow_item.h"

/* In item_row.after: may be the first item. */
#define ITEM_FIRST (1u << 31)

/* One field of an item: what is not masked as its row allows is refused by its name. */
struct item_field {
	const char *name;
	uint8_t at, bytes;    /* where in the rte_flow item; a big-endian number or a string */
	uint8_t to, to_bytes; /* where in the verbs filter; 0 bytes: the device cannot match it */
	uint32_t bits;        /* of a number of 4 bytes, which of them; 0: all bytes as they are */
	const void *flag;     /* instead of at and bytes: an item with this bit field set */
	const char *hint;     /* what would do, or why not */
};

struct item_state {
	struct mdv_flow_build *build;
	const struct rte_flow_item *has_vlan; /* the ETH item that asks for a tag */
	struct rte_flow_error *error;
};

/* One item as the loop sees it: what is matched, with the default mask where none is given. */
struct item_match {
	const struct rte_flow_item *item;
	const struct item_row *row;
	const void *spec, *mask; /* NULL: the protocol only */
};

struct item_row {
	enum rte_flow_item_type type;
	const char *name;
	uint32_t layer;
	uint32_t after; /* layers it may follow */
	uint16_t item_bytes;
	const void *default_mask;
	enum ibv_flow_spec_type spec;
	uint16_t spec_bytes, val_at, mask_at;
	uint8_t nb_fields;
	const struct item_field *fields;
	/* What no row can say of the item alone. NULL: nothing. */
	int (*check)(struct item_state *state, const struct item_match *match);
};

static int item_check_eth(struct item_state *state, const struct item_match *match);
static int item_check_vlan(struct item_state *state, const struct item_match *match);
static int item_check_l3(struct item_state *state, const struct item_match *match);
static int item_check_l4(struct item_state *state, const struct item_match *match);

/* clang-format off */
#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define MATCH(name, item, member, filter, to) \
	{ name, AT(item, member), AT(filter, to), 0, NULL, NULL }
#define MATCH_PART(name, item, member, bits, filter, to) \
	{ name, AT(item, member), AT(filter, to), bits, NULL, NULL }
#define REFUSE(name, item, member, hint) \
	{ name, AT(item, member), 0, 0, 0, NULL, hint }
#define REFUSE_PART(name, item, member, bits, hint) \
	{ name, AT(item, member), 0, 0, bits, NULL, hint }
#define REFUSE_FLAG(name, item, member, ones, hint) \
	{ name, 0, sizeof(struct item), 0, 0, 0, \
	  &(const struct item){ .member = ones }, hint }
static const struct item_field eth_fields[] = {
	MATCH("dst", rte_flow_item_eth, hdr.dst_addr, ibv_flow_eth_filter, dst_mac),
	MATCH("src", rte_flow_item_eth, hdr.src_addr, ibv_flow_eth_filter, src_mac),
	MATCH("type", rte_flow_item_eth, hdr.ether_type, ibv_flow_eth_filter, ether_type),
	REFUSE_FLAG("reserved bits", rte_flow_item_eth, reserved, 0x7fffffff, "they must be zero"),
};

static const struct item_field vlan_fields[] = {
	MATCH("tci", rte_flow_item_vlan, hdr.vlan_tci, ibv_flow_eth_filter, vlan_tag),
	MATCH("inner_type", rte_flow_item_vlan, hdr.eth_proto, ibv_flow_eth_filter, ether_type),
	REFUSE_FLAG("has_more_vlan", rte_flow_item_vlan, has_more_vlan, 1,
		"the device sees the outer tag only; leave has_more_vlan out"),
	REFUSE_FLAG("reserved bits", rte_flow_item_vlan, reserved, 0x7fffffff, "they must be zero"),
};

#define L3_ITSELF  "the item itself says so; leave it out"
#define NO_LENGTH  "the device matches no lengths; leave it out"
#define NO_SUM	   "the device matches no checksums; leave it out"
#define NO_FRAG	   "the device cannot tell fragments; leave it out"
#define NO_EXT	   "the device cannot match extension headers; leave it out"
#define NO_FIELD   "the device cannot match it; leave it out"

static const struct item_field ipv4_fields[] = {
	REFUSE("version_ihl", rte_flow_item_ipv4, hdr.version_ihl, L3_ITSELF),
	MATCH("tos", rte_flow_item_ipv4, hdr.type_of_service, ibv_flow_ipv4_ext_filter, tos),
	REFUSE("total_length", rte_flow_item_ipv4, hdr.total_length, NO_LENGTH),
	REFUSE("packet_id", rte_flow_item_ipv4, hdr.packet_id, NO_FIELD),
	REFUSE("fragment_offset", rte_flow_item_ipv4, hdr.fragment_offset, NO_FRAG),
	REFUSE("ttl", rte_flow_item_ipv4, hdr.time_to_live, NO_FIELD),
	MATCH("proto", rte_flow_item_ipv4, hdr.next_proto_id, ibv_flow_ipv4_ext_filter, proto),
	REFUSE("checksum", rte_flow_item_ipv4, hdr.hdr_checksum, NO_SUM),
	MATCH("src", rte_flow_item_ipv4, hdr.src_addr, ibv_flow_ipv4_ext_filter, src_ip),
	MATCH("dst", rte_flow_item_ipv4, hdr.dst_addr, ibv_flow_ipv4_ext_filter, dst_ip),
};

static const struct item_field ipv6_fields[] = {
	REFUSE_PART("version", rte_flow_item_ipv6, hdr.vtc_flow, 0xf0000000, L3_ITSELF),
	MATCH_PART("traffic class", rte_flow_item_ipv6, hdr.vtc_flow, 0x0ff00000,
		ibv_flow_ipv6_filter, traffic_class),
	MATCH_PART("flow label", rte_flow_item_ipv6, hdr.vtc_flow, 0x000fffff,
		ibv_flow_ipv6_filter, flow_label),
	REFUSE("payload_len", rte_flow_item_ipv6, hdr.payload_len, NO_LENGTH),
	MATCH("proto", rte_flow_item_ipv6, hdr.proto, ibv_flow_ipv6_filter, next_hdr),
	REFUSE("hop limit", rte_flow_item_ipv6, hdr.hop_limits, NO_FIELD),
	MATCH("src", rte_flow_item_ipv6, hdr.src_addr, ibv_flow_ipv6_filter, src_ip),
	MATCH("dst", rte_flow_item_ipv6, hdr.dst_addr, ibv_flow_ipv6_filter, dst_ip),
	REFUSE_FLAG("has_hop_ext", rte_flow_item_ipv6, has_hop_ext, 1, NO_EXT),
	REFUSE_FLAG("has_route_ext", rte_flow_item_ipv6, has_route_ext, 1, NO_EXT),
	REFUSE_FLAG("has_frag_ext", rte_flow_item_ipv6, has_frag_ext, 1, NO_EXT),
	REFUSE_FLAG("has_auth_ext", rte_flow_item_ipv6, has_auth_ext, 1, NO_EXT),
	REFUSE_FLAG("has_esp_ext", rte_flow_item_ipv6, has_esp_ext, 1, NO_EXT),
	REFUSE_FLAG("has_dest_ext", rte_flow_item_ipv6, has_dest_ext, 1, NO_EXT),
	REFUSE_FLAG("has_mobil_ext", rte_flow_item_ipv6, has_mobil_ext, 1, NO_EXT),
	REFUSE_FLAG("has_hip_ext", rte_flow_item_ipv6, has_hip_ext, 1, NO_EXT),
	REFUSE_FLAG("has_shim6_ext", rte_flow_item_ipv6, has_shim6_ext, 1, NO_EXT),
	REFUSE_FLAG("reserved bits", rte_flow_item_ipv6, reserved, 0x7fffff, "they must be zero"),
};

static const struct item_field tcp_fields[] = {
	MATCH("src port", rte_flow_item_tcp, hdr.src_port, ibv_flow_tcp_udp_filter, src_port),
	MATCH("dst port", rte_flow_item_tcp, hdr.dst_port, ibv_flow_tcp_udp_filter, dst_port),
	REFUSE("sequence number", rte_flow_item_tcp, hdr.sent_seq, NO_FIELD),
	REFUSE("acknowledgement", rte_flow_item_tcp, hdr.recv_ack, NO_FIELD),
	REFUSE("data offset", rte_flow_item_tcp, hdr.data_off, NO_LENGTH),
	REFUSE("flags", rte_flow_item_tcp, hdr.tcp_flags, NO_FIELD),
	REFUSE("window", rte_flow_item_tcp, hdr.rx_win, NO_FIELD),
	REFUSE("checksum", rte_flow_item_tcp, hdr.cksum, NO_SUM),
	REFUSE("urgent pointer", rte_flow_item_tcp, hdr.tcp_urp, NO_FIELD),
};

static const struct item_field udp_fields[] = {
	MATCH("src port", rte_flow_item_udp, hdr.src_port, ibv_flow_tcp_udp_filter, src_port),
	MATCH("dst port", rte_flow_item_udp, hdr.dst_port, ibv_flow_tcp_udp_filter, dst_port),
	REFUSE("length", rte_flow_item_udp, hdr.dgram_len, NO_LENGTH),
	REFUSE("checksum", rte_flow_item_udp, hdr.dgram_cksum, NO_SUM),
};

#define ITEM(t, item) \
	.type = RTE_FLOW_ITEM_TYPE_##t, .name = #t, .layer = MDV_LAYER_##t, \
	.item_bytes = sizeof(struct item), .default_mask = &item##_mask
#define SPEC(kind, of) \
	.spec = IBV_FLOW_SPEC_##kind, .spec_bytes = sizeof(struct of), \
	.val_at = offsetof(struct of, val), .mask_at = offsetof(struct of, mask)
#define FIELDS(rows) \
	.nb_fields = RTE_DIM(rows), .fields = rows

static const struct item_row item_rows[] = {
	{ ITEM(ETH, rte_flow_item_eth), .after = ITEM_FIRST,
	  SPEC(ETH, ibv_flow_spec_eth), FIELDS(eth_fields), .check = item_check_eth },
	/* The tag is a part of the ETH spec. */
	{ ITEM(VLAN, rte_flow_item_vlan), .after = ITEM_FIRST | MDV_LAYER_ETH,
	  SPEC(ETH, ibv_flow_spec_eth), FIELDS(vlan_fields), .check = item_check_vlan },
	{ ITEM(IPV4, rte_flow_item_ipv4), .after = ITEM_FIRST | MDV_LAYER_ETH | MDV_LAYER_VLAN,
	  SPEC(IPV4_EXT, ibv_flow_spec_ipv4_ext), FIELDS(ipv4_fields), .check = item_check_l3 },
	{ ITEM(IPV6, rte_flow_item_ipv6), .after = ITEM_FIRST | MDV_LAYER_ETH | MDV_LAYER_VLAN,
	  SPEC(IPV6, ibv_flow_spec_ipv6), FIELDS(ipv6_fields), .check = item_check_l3 },
	{ ITEM(TCP, rte_flow_item_tcp), .after = ITEM_FIRST | MDV_LAYER_L3,
	  SPEC(TCP, ibv_flow_spec_tcp_udp), FIELDS(tcp_fields), .check = item_check_l4 },
	{ ITEM(UDP, rte_flow_item_udp), .after = ITEM_FIRST | MDV_LAYER_L3,
	  SPEC(UDP, ibv_flow_spec_tcp_udp), FIELDS(udp_fields), .check = item_check_l4 },
};
/* clang-format on */

static const struct item_row *
item_row_find(enum rte_flow_item_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(item_rows); i++)
		if (item_rows[i].type == type)
			return &item_rows[i];
	return NULL;
}

/* For messages: the name that rte_flow has for a type we have no row for. */
static const char *
item_name(enum rte_flow_item_type type)
{
	const char *name = NULL;

	if (rte_flow_conv(RTE_FLOW_CONV_OP_ITEM_NAME_PTR, &name, sizeof(name),
		    (const void *)(uintptr_t)type, NULL) <= 0 ||
		name == NULL)
		return "unknown";
	return name;
}

static bool
item_field_masked(const struct item_field *field, const void *mask)
{
	const uint8_t *bytes = (const uint8_t *)mask + field->at;
	const uint8_t *flag = field->flag;
	uint8_t any = 0;

	if (field->bits != 0) {
		rte_be32_t number;

		memcpy(&number, bytes, sizeof(number));
		return (rte_be_to_cpu_32(number) & field->bits) != 0;
	}
	for (unsigned int i = 0; flag == NULL && i < field->bytes; i++)
		any |= bytes[i];
	for (unsigned int i = 0; flag != NULL && i < field->bytes; i++)
		any |= bytes[i] & flag[i];
	return any != 0;
}

/* Do two specs differ in what the mask lets through of a field? */
static bool
item_field_differs(
	const struct item_field *field, const struct item_match *match, const void *other)
{
	uint8_t differs[sizeof(struct rte_flow_item_ipv6)] = { 0 };

	for (unsigned int i = field->at; i < field->at + field->bytes; i++)
		differs[i] = (((const uint8_t *)match->spec)[i] ^ ((const uint8_t *)other)[i]) &
			((const uint8_t *)match->mask)[i];
	return item_field_masked(field, differs);
}

/* The bits of a number, moved down to the width that the filter has. */
static void
item_field_put_part(const struct item_field *field, const void *from, const void *mask, uint8_t *to)
{
	rte_be32_t number, number_mask;

	memcpy(&number, from, sizeof(number));
	memcpy(&number_mask, mask, sizeof(number_mask));
	number = rte_be_to_cpu_32(number & number_mask) & field->bits;
	number >>= __builtin_ctz(field->bits);
	number = rte_cpu_to_be_32(number << (32 - 8 * field->to_bytes));
	memcpy(to, &number, field->to_bytes);
}

/* Value bits outside the mask are "don't care" in rte_flow and EINVAL in the kernel: cleared. */
static void
item_field_put(const struct item_field *field, const struct item_match *match, uint8_t *spec)
{
	const uint8_t *from = (const uint8_t *)match->spec + field->at;
	const uint8_t *mask = (const uint8_t *)match->mask + field->at;
	uint8_t *to = spec + match->row->val_at + field->to;
	uint8_t *to_mask = spec + match->row->mask_at + field->to;

	if (field->bits != 0) {
		item_field_put_part(field, from, mask, to);
		item_field_put_part(field, mask, mask, to_mask);
		return;
	}
	for (unsigned int i = 0; i < field->bytes; i++) {
		to[i] = from[i] & mask[i];
		to_mask[i] = mask[i];
	}
}

static bool
item_is_tpid(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
		type == RTE_ETHER_TYPE_QINQ1 || type == RTE_ETHER_TYPE_QINQ2;
}

/* The type that the pattern gave so far, for messages; 0: none. */
static uint16_t
item_given_type(const struct mdv_flow_build *build)
{
	struct ibv_flow_spec_eth eth;

	if (build->eth_at == 0)
		return 0;
	memcpy(&eth, &build->bytes[build->eth_at], sizeof(eth));
	return rte_be_to_cpu_16(eth.val.ether_type);
}

static int
item_check_eth(struct item_state *state, const struct item_match *match)
{
	const struct rte_flow_item_eth *spec = match->spec, *mask = match->mask;

	if (mask == NULL || mask->has_vlan == 0)
		return 0;
	if (spec->has_vlan == 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK,
			match->item->mask,
			"ETH has_vlan 0: the device cannot match the absence of a tag; leave "
			"has_vlan out");
	state->has_vlan = match->item;
	return 0;
}

/*
 * The device knows "has a C-tag" only together with bits of the tag (steering: cvlan_tag is set
 * where the vlan mask is not zero), and looks for the Ethernet type behind the tag.
 */
static int
item_check_vlan(struct item_state *state, const struct item_match *match)
{
	const struct rte_flow_item_vlan *mask = match->mask;
	uint16_t type = item_given_type(state->build);

	if (mask == NULL || mask->hdr.vlan_tci == 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"VLAN tci: the device sees a tag through its bits only; give the item a "
			"vid, pcp or dei with a mask");
	if (!mdv_flow_build_fold_type(state->build, RTE_BE16(RTE_ETHER_TYPE_VLAN)))
		return mdv_flow_error_set(state->error, item_is_tpid(type) ? ENOTSUP : EINVAL,
			RTE_FLOW_ERROR_TYPE_ITEM, match->item,
			"VLAN: the device matches tags of type 0x8100 only, and the ETH item "
			"before "
			"it has type 0x%04x; leave that out",
			type);
	state->has_vlan = NULL;
	return 0;
}

static int
item_check_l3(struct item_state *state, const struct item_match *match)
{
	uint16_t type =
		match->row->layer == MDV_LAYER_IPV4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6;
	uint16_t given = item_given_type(state->build);

	if (mdv_flow_build_fold_type(state->build, rte_cpu_to_be_16(type)))
		return 0;
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the Ethernet type 0x%04x given before it; leave the type out or "
		"make "
		"it 0x%04x",
		match->row->name, given, type);
}

static int
item_check_l4(struct item_state *state, const struct item_match *match)
{
	uint8_t proto = match->row->layer == MDV_LAYER_TCP ? IPPROTO_TCP : IPPROTO_UDP;

	if (mdv_flow_build_fold_proto(state->build, proto))
		return 0;
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the protocol of the IP item before it; leave that out or make it "
		"%u",
		match->row->name, proto);
}

/* "ETH, VLAN": the items of these layers, for messages. */
static void
item_list_names(uint32_t layers, char *names, size_t size)
{
	names[0] = '\0';
	for (unsigned int i = 0; i < RTE_DIM(item_rows); i++) {
		if ((item_rows[i].layer & layers) == 0)
			continue;
		if (names[0] != '\0')
			strncat(names, ", ", size - strlen(names) - 1);
		strncat(names, item_rows[i].name, size - strlen(names) - 1);
	}
}

static int
item_check_order(struct item_state *state, const struct item_match *match, uint32_t last)
{
	const struct item_row *row = match->row;
	char before[64], allowed[64];

	if ((row->after & last) != 0)
		return 0;
	item_list_names(last, before, sizeof(before));
	item_list_names(row->after, allowed, sizeof(allowed));
	return mdv_flow_error_set(state->error, last == row->layer ? ENOTSUP : EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: cannot follow %s; it may come first%s%s", row->name, before,
		allowed[0] != '\0' ? " or follow " : "", allowed);
}

static int
item_refuse_unknown(struct item_state *state, const struct rte_flow_item *item)
{
	char known[64];

	item_list_names(~0u, known, sizeof(known));
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
		"item %s (%d): the driver cannot match it; it matches %s", item_name(item->type),
		(int)item->type, known);
}

/* Settle what is matched: spec and mask as given, the default mask, or the protocol only. */
static int
item_check_spec(struct item_state *state, struct item_match *match)
{
	const struct rte_flow_item *item = match->item;

	if (item->spec == NULL) {
		if (item->mask == NULL && item->last == NULL)
			return 0;
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
			"%s: %s without spec; give a spec or leave both out", match->row->name,
			item->mask != NULL ? "mask" : "last");
	}
	match->spec = item->spec;
	match->mask = item->mask != NULL ? item->mask : match->row->default_mask;
	return 0;
}

static int
item_check_fields(struct item_state *state, const struct item_match *match)
{
	const struct rte_flow_item *item = match->item;

	for (unsigned int i = 0; i < match->row->nb_fields; i++) {
		const struct item_field *field = &match->row->fields[i];

		if (field->to_bytes == 0 && item_field_masked(field, match->mask))
			return mdv_flow_error_set(state->error, ENOTSUP,
				RTE_FLOW_ERROR_TYPE_ITEM_MASK, item->mask, "%s %s: %s",
				match->row->name, field->name, field->hint);
		if (item->last != NULL && item_field_differs(field, match, item->last))
			return mdv_flow_error_set(state->error, ENOTSUP,
				RTE_FLOW_ERROR_TYPE_ITEM_LAST, item->last,
				"%s %s: last differs from spec, and the device matches no ranges; "
				"use a mask or several rules",
				match->row->name, field->name);
	}
	return 0;
}

/* The item's own spec, or the ETH spec that a VLAN item adds to. @return its offset or -E2BIG */
static int
item_load_spec(struct mdv_flow_build *build, const struct item_row *row, struct ibv_flow_spec *spec)
{
	int at = row->spec == IBV_FLOW_SPEC_ETH ? build->eth_at : 0;

	memset(spec, 0, sizeof(*spec));
	spec->hdr.type = row->spec;
	spec->hdr.size = row->spec_bytes;
	if (at == 0) {
		at = mdv_flow_build_append(build, spec, row->spec_bytes);
		if (row->spec == IBV_FLOW_SPEC_ETH && at > 0)
			build->eth_at = at;
		else if ((row->layer & MDV_LAYER_L3) != 0 && at > 0)
			build->l3_at = at;
	}
	if (at > 0)
		memcpy(spec, &build->bytes[at], row->spec_bytes);
	return at;
}

static int
item_translate(struct item_state *state, const struct rte_flow_item *item, uint32_t last)
{
	struct item_match match = { .item = item, .row = item_row_find(item->type) };
	struct mdv_flow_build *build = state->build;
	struct ibv_flow_spec spec;
	int rc, at;

	if (match.row == NULL)
		return item_refuse_unknown(state, item);
	rc = item_check_order(state, &match, last);
	if (rc == 0)
		rc = item_check_spec(state, &match);
	if (rc == 0 && match.mask != NULL)
		rc = item_check_fields(state, &match);
	if (rc == 0)
		rc = match.row->check(state, &match);
	if (rc != 0)
		return rc;
	at = item_load_spec(build, match.row, &spec);
	if (at < 0)
		return mdv_flow_error_set(state->error, -at, RTE_FLOW_ERROR_TYPE_ITEM_NUM, item,
			"%s: more items than the device takes", match.row->name);
	for (unsigned int i = 0; match.mask != NULL && i < match.row->nb_fields; i++)
		if (match.row->fields[i].to_bytes != 0 &&
			item_field_masked(&match.row->fields[i], match.mask))
			item_field_put(&match.row->fields[i], &match, (uint8_t *)&spec);
	memcpy(&build->bytes[at], &spec, match.row->spec_bytes);
	build->layers |= match.row->layer;
	return 0;
}

/* What can be judged only when all items are known. */
static int
item_check_end(struct item_state *state, const struct rte_flow_item *end)
{
	uint16_t type = item_given_type(state->build);

	if (state->has_vlan != NULL)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			state->has_vlan,
			"ETH has_vlan 1: the device sees a tag through its bits only; add a VLAN "
			"item with a vid, pcp or dei and a mask");
	if (item_is_tpid(type))
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, end,
			"%s 0x%04x: the device matches the type behind the tag; %s",
			(state->build->layers & MDV_LAYER_VLAN) != 0 ? "VLAN inner_type"
								     : "ETH type",
			type,
			(state->build->layers & MDV_LAYER_VLAN) != 0 ? "it cannot match two tags"
								     : "use a VLAN item instead");
	return 0;
}

int
mdv_flow_item_translate(const struct rte_flow_item pattern[], struct mdv_flow_build *build,
	struct rte_flow_error *error)
{
	struct item_state state = { .build = build, .error = error };
	const struct rte_flow_item *item, *l2 = NULL;
	uint32_t last = ITEM_FIRST;

	mdv_flow_build_init(build);
	for (item = pattern; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		int rc;

		if (item->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		rc = item_translate(&state, item, last);
		if (rc != 0)
			return rc;
		last = item_row_find(item->type)->layer;
		if (last == MDV_LAYER_ETH || last == MDV_LAYER_VLAN)
			l2 = item;
	}
	return item_check_end(&state, l2);
}
