/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the specs of an ibv_flow_attr and prints value and mask of each as bytes. */

#include <stddef.h>
#include <string.h>

#include <rte_common.h>

#include "flow_dump.h"
#include "log.h"

struct dump_row {
	enum ibv_flow_spec_type type;
	const char *name;
	uint16_t val_at, mask_at;
	uint16_t bytes; /* of value and of mask; 0: none */
};

/* clang-format off */
#define ROW(t, of, filter) \
	{ IBV_FLOW_SPEC_##t, #t, offsetof(struct of, val), offsetof(struct of, mask), \
	  sizeof(struct filter) }

static const struct dump_row dump_rows[] = {
	ROW(ETH, ibv_flow_spec_eth, ibv_flow_eth_filter),
	ROW(IPV4_EXT, ibv_flow_spec_ipv4_ext, ibv_flow_ipv4_ext_filter),
	ROW(IPV6, ibv_flow_spec_ipv6, ibv_flow_ipv6_filter),
	ROW(TCP, ibv_flow_spec_tcp_udp, ibv_flow_tcp_udp_filter),
	ROW(UDP, ibv_flow_spec_tcp_udp, ibv_flow_tcp_udp_filter),
	ROW(ESP, ibv_flow_spec_esp, ibv_flow_esp_filter),
	ROW(VXLAN_TUNNEL, ibv_flow_spec_tunnel, ibv_flow_tunnel_filter),
	ROW(GRE, ibv_flow_spec_gre, ibv_flow_gre_filter),
	ROW(MPLS, ibv_flow_spec_mpls, ibv_flow_mpls_filter),
	{ IBV_FLOW_SPEC_ACTION_TAG, "TAG", offsetof(struct ibv_flow_spec_action_tag, tag_id), 0, 4 },
	{ IBV_FLOW_SPEC_ACTION_DROP, "DROP", 0, 0, 0 },
	{ IBV_FLOW_SPEC_ACTION_COUNT, "COUNT", 0, 0, 0 },
};
/* clang-format on */

static void
dump_bytes(FILE *file, const char *label, const uint8_t *bytes, unsigned int nb)
{
	fprintf(file, " %s ", label);
	for (unsigned int i = 0; i < nb; i++)
		fprintf(file, "%02x", bytes[i]);
}

static void
dump_spec(FILE *file, const uint8_t *spec, enum ibv_flow_spec_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(dump_rows); i++) {
		const struct dump_row *row = &dump_rows[i];

		if (row->type != (type & ~IBV_FLOW_SPEC_INNER))
			continue;
		fprintf(file, "    %s%s", (type & IBV_FLOW_SPEC_INNER) != 0 ? "INNER " : "",
			row->name);
		if (row->bytes != 0)
			dump_bytes(file, "value", spec + row->val_at, row->bytes);
		if (row->mask_at != 0)
			dump_bytes(file, "mask", spec + row->mask_at, row->bytes);
		fprintf(file, "\n");
		return;
	}
	fprintf(file, "    spec 0x%x\n", (unsigned int)type);
}

void
mdv_flow_dump_attr(FILE *file, const struct mdv_flow_build *build, const char *hash)
{
	const bool dont_trap = (build->attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0;
	unsigned int at = sizeof(build->attr);

	fprintf(file, "  verbs priority %u%s, hash %s, %u specs\n", build->attr.priority,
		dont_trap ? ", DONT_TRAP" : "", hash, build->attr.num_of_specs);
	while (at < build->attr.size) {
		struct ibv_flow_spec spec;

		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		dump_spec(file, &build->bytes[at], spec.hdr.type);
		at += spec.hdr.size;
	}
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
