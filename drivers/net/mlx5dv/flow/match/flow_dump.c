/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints ibv_flow_attrs in the form of Mellanox's mlx_fs_dump: table, group, entry, masked fields.
 */

#include <arpa/inet.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "base/log.h"
#include "flow_dump.h"
#include "flow_spec.h"

static uint32_t
dump_number(const uint8_t *bytes, unsigned int nb)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < nb; i++)
		number = number << 8 | bytes[i];
	return number;
}

static void
dump_value(FILE *file, const struct mdv_flow_spec_field *field, const uint8_t *bytes)
{
	char text[INET6_ADDRSTRLEN] = "";

	switch (field->kind) {
	case MDV_FLOW_SPEC_MAC:
		for (unsigned int i = 0; i < field->bytes; i++)
			fprintf(file, "%s%02x", i == 0 ? "" : ":", bytes[i]);
		break;
	case MDV_FLOW_SPEC_IPV4_ADDRESS:
	case MDV_FLOW_SPEC_IPV6_ADDRESS:
		inet_ntop(field->kind == MDV_FLOW_SPEC_IPV4_ADDRESS ? AF_INET : AF_INET6, bytes,
			text, sizeof(text));
		fprintf(file, "%s", text);
		break;
	default:
		fprintf(file, "0x%" PRIx32, dump_number(bytes, field->bytes));
	}
}

/** @return whether each of the bytes is @p byte */
static bool
dump_is_all(const uint8_t *bytes, unsigned int nb, uint8_t byte)
{
	for (unsigned int i = 0; i < nb; i++)
		if (bytes[i] != byte)
			return false;
	return true;
}

static void
dump_field(FILE *file, const struct mdv_flow_spec_field *field, const char *side,
	const uint8_t *value, const uint8_t *mask)
{
	fprintf(file, "    |-- %s%s:", side, field->name);
	dump_value(file, field, value);
	if (!dump_is_all(mask, field->bytes, 0xff)) {
		fprintf(file, "/");
		dump_value(file, field, mask);
	}
	fprintf(file, "\n");
}

/** @return the parts of the match criteria that one spec is in, one bit each; @p file as below. */
static unsigned int
dump_spec(FILE *file, const struct mdv_flow_spec *row, const uint8_t *bytes, bool inner)
{
	const unsigned int own = 1u << (inner ? MDV_FLOW_SPEC_INNER : MDV_FLOW_SPEC_OUTER);
	const char *side = inner ? "in." : "out.";
	unsigned int parts = row->ip_version != 0 || row->proto != 0 ? own : 0;

	if (file != NULL && row->ip_version != 0)
		fprintf(file, "    |-- %sip_version:0x%x\n", side, row->ip_version);
	if (file != NULL && row->proto != 0)
		fprintf(file, "    |-- %sip_prot:0x%x\n", side, row->proto);
	for (unsigned int i = 0; i < row->nb_fields; i++) {
		const struct mdv_flow_spec_field *field = &row->fields[i];
		const uint8_t *mask = bytes + row->mask_at + field->at;

		if (dump_is_all(mask, field->bytes, 0))
			continue;
		parts |= field->part == MDV_FLOW_SPEC_OUTER ? own : 1u << field->part;
		if (file != NULL)
			dump_field(file, field, field->part == MDV_FLOW_SPEC_MISC ? "" : side,
				bytes + row->val_at + field->at, mask);
	}
	return parts;
}

/**
 * Print the masked fields of all specs.
 * @param file NULL: print nothing
 * @return the parts of the match criteria that they are in, one bit each
 */
static unsigned int
dump_fields(FILE *file, const struct mdv_flow_build *build)
{
	unsigned int parts = 0, at = sizeof(build->attr);

	for (struct ibv_flow_spec spec; at < build->attr.size; at += spec.hdr.size) {
		enum mdv_flow_spec_id id;

		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		id = mdv_flow_spec_id(spec.hdr.type);
		if (id < MDV_FLOW_SPEC_NB)
			parts |= dump_spec(file, &mdv_flow_specs[id], &build->bytes[at],
				(spec.hdr.type & IBV_FLOW_SPEC_INNER) != 0);
		else if (id == MDV_FLOW_SPEC_UNKNOWN && file != NULL)
			fprintf(file, "    |-- spec 0x%x: unknown\n", spec.hdr.type);
	}
	return parts;
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
		[MDV_FLOW_SPEC_OUTER] = "OUTER",
		[MDV_FLOW_SPEC_MISC] = "MISC",
		[MDV_FLOW_SPEC_INNER] = "INNER",
		[MDV_FLOW_SPEC_MISC2] = "MISC2",
	};
	const unsigned int parts = dump_fields(NULL, build);
	const char *separator = "";

	fprintf(file, "|-- FG: 0x%x (", group);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		if ((parts & 1u << i) == 0)
			continue;
		fprintf(file, "%s%s", separator, names[i]);
		separator = "|";
	}
	fprintf(file, ")\n");
}

/** @return the tag of the TAG spec; 0: none. */
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
mdv_flow_dump_entry(FILE *file, unsigned int entry, bool drop)
{
	fprintf(file, "  |-- FTE: 0x%x (%s) to (", entry, drop ? "DROP" : "FWD");
}

void
mdv_flow_dump_match(FILE *file, const struct mdv_flow_build *build, const char *more)
{
	const bool dont_trap = (build->attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0;
	const uint32_t tag = dump_find_tag(build);

	fputs(dont_trap ? ", FT:next)" : ")", file);
	if (tag != 0)
		fprintf(file, " tag:0x%" PRIx32, tag);
	fprintf(file, "%s\n", more);
	dump_fields(file, build);
}

void
mdv_flow_dump_bytes(uint16_t port_id, const struct mdv_flow_build *build)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MDV_FLOW_BUILD_BYTES + 1];
	unsigned int at = 0;

	for (unsigned int i = 0; i < build->attr.size; i++) {
		text[at++] = digits[build->bytes[i] >> 4];
		text[at++] = digits[build->bytes[i] & 0xf];
	}
	text[at] = '\0';
	MDV_LOG(DEBUG, "port %u: ibv_create_flow %s", port_id, text);
}
