/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the specs, made from the lists in flow_spec.h. */

#include <assert.h>
#include <string.h>

#include <rte_common.h>

#include "flow_spec.h"

#define FIELD_BYTES(t, filter, member, ...)                                                        \
	+sizeof(((struct ibv_flow_##filter##_filter *)0)->member)
#define FIELD_WORDS(at, bytes) ((uint16_t)((2u << (((at) + (bytes)-1) / 4)) - (1u << ((at) / 4))))
#define FIELD_ROW(t, filter, member, record, name, kind, part, bits)                               \
	{ offsetof(struct ibv_flow_##filter##_filter, member),                                     \
		sizeof(((struct ibv_flow_##filter##_filter *)0)->member),                          \
		offsetof(struct mdv_flow_spec_record, record),                                     \
		FIELD_WORDS(offsetof(struct ibv_flow_##filter##_filter, member),                   \
			sizeof(((struct ibv_flow_##filter##_filter *)0)->member)),                 \
		bits, name, MDV_FLOW_SPEC_##kind, MDV_FLOW_SPEC_##part },

#define SPEC_FIELDS(t, spec, filter, size, pad, ...)                                               \
	static_assert(sizeof(struct ibv_flow_spec_##spec) == (size),                               \
		#t ": verbs.h lays it out for the kernel's ABI");                                  \
	static_assert(0 MDV_FLOW_SPEC_FIELDS_##t(FIELD_BYTES) + (pad) ==                           \
			sizeof(struct ibv_flow_##filter##_filter),                                 \
		#t ": each member of the filter needs a row");                                     \
	static const struct mdv_flow_spec_field fields_##t[] = { MDV_FLOW_SPEC_FIELDS_##t(         \
		FIELD_ROW) };
MDV_FLOW_SPECS(SPEC_FIELDS)

#define SPEC_ROW(t, spec, filter, size, pad, version, proto, sides)                                \
	[MDV_FLOW_SPEC_##t] = { IBV_FLOW_SPEC_##t, size,                                           \
		offsetof(struct ibv_flow_spec_##spec, val),                                        \
		offsetof(struct ibv_flow_spec_##spec, mask), version, proto, sides,                \
		RTE_DIM(fields_##t), fields_##t },

const struct mdv_flow_spec mdv_flow_specs[] = { MDV_FLOW_SPECS(SPEC_ROW) };

#define SPEC_CASE(t, ...)                                                                          \
	case IBV_FLOW_SPEC_##t:                                                                    \
		id = MDV_FLOW_SPEC_##t;                                                            \
		break;

enum mdv_flow_spec_id
mdv_flow_spec_id(uint32_t type)
{
	enum mdv_flow_spec_id id = MDV_FLOW_SPEC_UNKNOWN;

	/* No default: -Wswitch names a type that verbs adds. */
	switch ((enum ibv_flow_spec_type)(type & ~IBV_FLOW_SPEC_INNER)) {
		MDV_FLOW_SPECS(SPEC_CASE)
	case IBV_FLOW_SPEC_ACTION_TAG:
	case IBV_FLOW_SPEC_ACTION_DROP:
	case IBV_FLOW_SPEC_ACTION_HANDLE:
	case IBV_FLOW_SPEC_ACTION_COUNT:
		return type <= IBV_FLOW_SPEC_ACTION_COUNT && (type & IBV_FLOW_SPEC_INNER) == 0
			? MDV_FLOW_SPEC_ACTION
			: MDV_FLOW_SPEC_UNKNOWN;
	case IBV_FLOW_SPEC_IPV4: /* IPV4_EXT has its fields, and more */
	case IBV_FLOW_SPEC_INNER:
		break;
	}
	if (id < MDV_FLOW_SPEC_NB && mdv_flow_specs[id].sides == 1 &&
		(type & IBV_FLOW_SPEC_INNER) != 0)
		return MDV_FLOW_SPEC_UNKNOWN;
	return id;
}

void
mdv_flow_spec_mask_field(const struct mdv_flow_spec *row, unsigned int field, uint8_t *spec)
{
	const struct mdv_flow_spec_field *at = &row->fields[field];
	uint8_t *mask = spec + row->mask_at + at->at;
	uint32_t bits = at->bits;

	memset(mask, 0xff, at->bytes);
	for (unsigned int i = at->bytes; at->bits != 0 && i-- > 0; bits >>= 8)
		mask[i] = (uint8_t)bits;
}
