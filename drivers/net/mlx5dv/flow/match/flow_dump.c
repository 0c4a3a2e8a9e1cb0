/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints ibv_flow_attrs in the form of Mellanox's mlx_fs_dump: table, group, entry, masked fields.
 */

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "base/log.h"
#include "flow_dump.h"

/** The parts of the device's match criteria (fte_match_param), which name a group. */
enum dump_half {
	HALF_OUTER,
	HALF_MISC,
	HALF_INNER,
	HALF_MISC2,
};

enum dump_kind {
	KIND_NUMBER,
	KIND_MAC,
	KIND_IPV4,
	KIND_IPV6,
};

/** A field of a filter. */
struct dump_field {
	uint32_t type; /* of the spec, without INNER */
	const char *name;
	uint16_t at, bytes;
	enum dump_kind kind;
	enum dump_half half; /* of the outer one; HALF_OUTER: HALF_INNER inside */
};

/** What a spec says by being there. */
struct dump_spec {
	uint32_t type;
	uint16_t val_at, mask_at;
	uint8_t ip_version, proto; /* 0: nothing */
};

/* clang-format off */
#define FIELD(t, name, filter, member, kind, half) \
	{ IBV_FLOW_SPEC_##t, name, offsetof(struct filter, member), \
	  sizeof(((struct filter *)0)->member), KIND_##kind, HALF_##half }

static const struct dump_field dump_fields[] = {
	FIELD(ETH, "dmac", ibv_flow_eth_filter, dst_mac, MAC, OUTER),
	FIELD(ETH, "smac", ibv_flow_eth_filter, src_mac, MAC, OUTER),
	FIELD(ETH, "ethtype", ibv_flow_eth_filter, ether_type, NUMBER, OUTER),
	FIELD(ETH, "first_tci", ibv_flow_eth_filter, vlan_tag, NUMBER, OUTER),
	FIELD(IPV4_EXT, "src_ip", ibv_flow_ipv4_ext_filter, src_ip, IPV4, OUTER),
	FIELD(IPV4_EXT, "dst_ip", ibv_flow_ipv4_ext_filter, dst_ip, IPV4, OUTER),
	FIELD(IPV4_EXT, "ip_prot", ibv_flow_ipv4_ext_filter, proto, NUMBER, OUTER),
	FIELD(IPV4_EXT, "ip_tos", ibv_flow_ipv4_ext_filter, tos, NUMBER, OUTER),
	FIELD(IPV4_EXT, "ip_ttl", ibv_flow_ipv4_ext_filter, ttl, NUMBER, OUTER),
	FIELD(IPV4_EXT, "frag", ibv_flow_ipv4_ext_filter, flags, NUMBER, OUTER),
	FIELD(IPV6, "src_ip", ibv_flow_ipv6_filter, src_ip, IPV6, OUTER),
	FIELD(IPV6, "dst_ip", ibv_flow_ipv6_filter, dst_ip, IPV6, OUTER),
	FIELD(IPV6, "ip_prot", ibv_flow_ipv6_filter, next_hdr, NUMBER, OUTER),
	FIELD(IPV6, "ip_tos", ibv_flow_ipv6_filter, traffic_class, NUMBER, OUTER),
	FIELD(IPV6, "ip_ttl", ibv_flow_ipv6_filter, hop_limit, NUMBER, OUTER),
	FIELD(IPV6, "ipv6_flow_label", ibv_flow_ipv6_filter, flow_label, NUMBER, MISC),
	FIELD(TCP, "tcp_sport", ibv_flow_tcp_udp_filter, src_port, NUMBER, OUTER),
	FIELD(TCP, "tcp_dport", ibv_flow_tcp_udp_filter, dst_port, NUMBER, OUTER),
	FIELD(UDP, "udp_sport", ibv_flow_tcp_udp_filter, src_port, NUMBER, OUTER),
	FIELD(UDP, "udp_dport", ibv_flow_tcp_udp_filter, dst_port, NUMBER, OUTER),
	FIELD(ESP, "esp_spi", ibv_flow_esp_filter, spi, NUMBER, MISC),
	FIELD(ESP, "esp_seq", ibv_flow_esp_filter, seq, NUMBER, MISC),
	FIELD(VXLAN_TUNNEL, "vxlan_vni", ibv_flow_tunnel_filter, tunnel_id, NUMBER, MISC),
	FIELD(GRE, "gre_flags", ibv_flow_gre_filter, c_ks_res0_ver, NUMBER, MISC),
	FIELD(GRE, "gre_protocol", ibv_flow_gre_filter, protocol, NUMBER, MISC),
	FIELD(GRE, "gre_key", ibv_flow_gre_filter, key, NUMBER, MISC),
	FIELD(MPLS, "mpls", ibv_flow_mpls_filter, label, NUMBER, MISC2),
};

#define SPEC(t, of, version, proto) \
	{ IBV_FLOW_SPEC_##t, offsetof(struct of, val), offsetof(struct of, mask), version, proto }

static const struct dump_spec dump_specs[] = {
	SPEC(ETH, ibv_flow_spec_eth, 0, 0),
	SPEC(IPV4_EXT, ibv_flow_spec_ipv4_ext, 4, 0),
	SPEC(IPV6, ibv_flow_spec_ipv6, 6, 0),
	SPEC(TCP, ibv_flow_spec_tcp_udp, 0, IPPROTO_TCP),
	SPEC(UDP, ibv_flow_spec_tcp_udp, 0, IPPROTO_UDP),
	SPEC(ESP, ibv_flow_spec_esp, 0, 0),
	SPEC(VXLAN_TUNNEL, ibv_flow_spec_tunnel, 0, 0),
	SPEC(GRE, ibv_flow_spec_gre, 0, IPPROTO_GRE),
	SPEC(MPLS, ibv_flow_spec_mpls, 0, 0),
};
/* clang-format on */

static const struct dump_spec *
dump_spec_find(uint32_t type)
{
	for (unsigned int i = 0; i < RTE_DIM(dump_specs); i++)
		if (dump_specs[i].type == (type & ~IBV_FLOW_SPEC_INNER))
			return &dump_specs[i];
	return NULL;
}

static uint32_t
dump_number(const uint8_t *bytes, unsigned int nb)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < nb; i++)
		number = number << 8 | bytes[i];
	return number;
}

static void
dump_value(FILE *file, const struct dump_field *field, const uint8_t *bytes)
{
	char text[INET6_ADDRSTRLEN] = "";

	switch (field->kind) {
	case KIND_MAC:
		for (unsigned int i = 0; i < field->bytes; i++)
			fprintf(file, "%s%02x", i == 0 ? "" : ":", bytes[i]);
		break;
	case KIND_IPV4:
	case KIND_IPV6:
		inet_ntop(field->kind == KIND_IPV4 ? AF_INET : AF_INET6, bytes, text, sizeof(text));
		fprintf(file, "%s", text);
		break;
	default:
		fprintf(file, "0x%" PRIx32, dump_number(bytes, field->bytes));
	}
}

/** @return whether all of @p bytes is @p byte */
static bool
dump_is_all(const uint8_t *bytes, unsigned int nb, uint8_t byte)
{
	for (unsigned int i = 0; i < nb; i++)
		if (bytes[i] != byte)
			return false;
	return true;
}

static void
dump_field(FILE *file, const struct dump_field *field, const char *side, const uint8_t *value,
	const uint8_t *mask)
{
	fprintf(file, "    |-- %s%s:", side, field->name);
	dump_value(file, field, value);
	if (!dump_is_all(mask, field->bytes, 0xff)) {
		fprintf(file, "/");
		dump_value(file, field, mask);
	}
	fprintf(file, "\n");
}

/**
 * Go through the masked fields of all specs. @param file NULL: only say which halves they are in.
 * @return a bit for each enum dump_half
 */
static unsigned int
dump_match(FILE *file, const struct mdv_flow_build *build)
{
	unsigned int halves = 0, at = sizeof(build->attr);

	for (struct ibv_flow_spec spec; at < build->attr.size; at += spec.hdr.size) {
		const uint8_t *bytes = &build->bytes[at];
		const struct dump_spec *row;
		bool inner;

		memcpy(&spec.hdr, bytes, sizeof(spec.hdr));
		row = dump_spec_find(spec.hdr.type);
		inner = (spec.hdr.type & IBV_FLOW_SPEC_INNER) != 0;
		if (row == NULL)
			continue;
		if (row->ip_version != 0 || row->proto != 0)
			halves |= 1u << (inner ? HALF_INNER : HALF_OUTER);
		if (file != NULL && row->ip_version != 0)
			fprintf(file, "    |-- %s.ip_version:0x%x\n", inner ? "in" : "out",
				row->ip_version);
		if (file != NULL && row->proto != 0)
			fprintf(file, "    |-- %s.ip_prot:0x%x\n", inner ? "in" : "out",
				row->proto);
		for (unsigned int i = 0; i < RTE_DIM(dump_fields); i++) {
			const struct dump_field *field = &dump_fields[i];
			const uint8_t *mask = bytes + row->mask_at + field->at;

			if (field->type != row->type || dump_is_all(mask, field->bytes, 0))
				continue;
			halves |= 1u
				<< (inner && field->half == HALF_OUTER ? HALF_INNER : field->half);
			if (file != NULL)
				dump_field(file, field,
					field->half == HALF_MISC ? ""
						: inner          ? "in."
								 : "out.",
					bytes + row->val_at + field->at, mask);
		}
	}
	return halves;
}

void
mdv_flow_dump_table(FILE *file, unsigned int table, const char *type)
{
	fprintf(file, "FT: 0x%x (level: 0x%x, type: %s)\n", table, table, type);
}

void
mdv_flow_dump_group(FILE *file, unsigned int group, const struct mdv_flow_build *build)
{
	static const char *const names[] = {
		[HALF_OUTER] = "OUTER",
		[HALF_MISC] = "MISC",
		[HALF_INNER] = "INNER",
		[HALF_MISC2] = "MISC2",
	};
	const unsigned int halves = dump_match(NULL, build);
	const char *separator = "";

	fprintf(file, "|-- FG: 0x%x (", group);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		if ((halves & 1u << i) == 0)
			continue;
		fprintf(file, "%s%s", separator, names[i]);
		separator = "|";
	}
	fprintf(file, ")\n");
}

/** The tag of the TAG spec, 0: none. */
static uint32_t
dump_find_tag(const struct mdv_flow_build *build)
{
	unsigned int at = sizeof(build->attr);
	uint32_t tag = 0;

	for (struct ibv_flow_spec spec; at < build->attr.size; at += spec.hdr.size) {
		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		if (spec.hdr.type == IBV_FLOW_SPEC_ACTION_TAG)
			memcpy(&tag,
				&build->bytes[at +
					offsetof(struct ibv_flow_spec_action_tag, tag_id)],
				sizeof(tag));
	}
	return tag;
}

void
mdv_flow_dump_entry(FILE *file, unsigned int entry, const struct mdv_flow_build *build,
	const char *to, const char *more)
{
	const bool dont_trap = (build->attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0;
	const uint32_t tag = dump_find_tag(build);

	fprintf(file, "  |-- FTE: 0x%x (%s) to (%s%s)", entry, to[0] == '\0' ? "DROP" : "FWD", to,
		dont_trap ? ", FT:next" : "");
	if (tag != 0)
		fprintf(file, " tag:0x%" PRIx32, tag);
	fprintf(file, "%s\n", more);
	dump_match(file, build);
}

void
mdv_flow_dump_log(uint16_t port_id, const struct mdv_flow_build *build)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MDV_FLOW_BUILD_BYTES + 1];
	unsigned int at = 0;

	if (!rte_log_can_log(mdv_log_type, RTE_LOG_DEBUG))
		return;
	for (unsigned int i = 0; i < build->attr.size; i++) {
		text[at++] = digits[build->bytes[i] >> 4];
		text[at++] = digits[build->bytes[i] & 0xf];
	}
	text[at] = '\0';
	MDV_LOG(DEBUG, "port %u: ibv_create_flow %s", port_id, text);
}
