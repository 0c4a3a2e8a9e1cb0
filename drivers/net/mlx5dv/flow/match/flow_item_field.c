/* SPDX-License-Identifier: BSD-3-Clause */
/* Works on one field of an item. */

#include <string.h>

#include <rte_byteorder.h>

#include "flow_item_row.h"

/** Several fields may share one number of the filter. */
static void
field_add(uint8_t *to, unsigned int bytes, uint32_t number)
{
	for (unsigned int i = bytes; i-- > 0; number >>= 8)
		to[i] |= (uint8_t)number;
}

/** The same for four bytes at once: addresses, and most of all other fields. */
static void
field_put_word(uint8_t *to, uint8_t *to_mask, const uint8_t *from, const uint8_t *mask)
{
	uint32_t value, masked, word;

	memcpy(&value, from, sizeof(value));
	memcpy(&masked, mask, sizeof(masked));
	memcpy(&word, to, sizeof(word));
	word |= value & masked;
	memcpy(to, &word, sizeof(word));
	memcpy(&word, to_mask, sizeof(word));
	word |= masked;
	memcpy(to_mask, &word, sizeof(word));
}

/** A field of `last` that is zero or equal to spec makes no range. */
bool
mdv_flow_item_field_ranges(const struct mdv_flow_item_field *field,
	const struct mdv_flow_item_match *match, const void *last)
{
	uint8_t given[sizeof(struct rte_flow_item_ipv6)] = { 0 };
	uint8_t differs[sizeof(given)] = { 0 };

	for (unsigned int i = field->at; i < field->at + field->bytes; i++) {
		uint8_t mask = ((const uint8_t *)match->mask)[i];

		given[i] = ((const uint8_t *)last)[i] & mask;
		differs[i] = (((const uint8_t *)match->spec)[i] & mask) ^ given[i];
	}
	return mdv_flow_item_field_masked(field, given) &&
		mdv_flow_item_field_masked(field, differs);
}

/** Value bits outside the mask are "don't care" in rte_flow and EINVAL in the kernel, so they are
 * cleared. The spec may hold bits that another item implied. */
void
mdv_flow_item_field_put(const struct mdv_flow_item_field *field,
	const struct mdv_flow_item_match *match, uint8_t *spec)
{
	const uint8_t *from = (const uint8_t *)match->spec + field->at;
	const uint8_t *mask = (const uint8_t *)match->mask + field->at;
	uint8_t *to = spec + mdv_flow_specs[match->row->spec].val_at + field->to;
	uint8_t *to_mask = spec + mdv_flow_specs[match->row->spec].mask_at + field->to;

	if (field->bits != 0) {
		const unsigned int down = __builtin_ctz(field->bits);
		const uint32_t masked = mdv_flow_item_field_load(mask, field->bytes) & field->bits;
		const uint32_t value = mdv_flow_item_field_load(from, field->bytes) & masked;

		field_add(to, field->to_bytes, value >> down << field->to_shift);
		field_add(to_mask, field->to_bytes, masked >> down << field->to_shift);
		return;
	}
	if (field->bytes % sizeof(uint32_t) == 0) {
		for (unsigned int i = 0; i < field->bytes; i += sizeof(uint32_t))
			field_put_word(&to[i], &to_mask[i], &from[i], &mask[i]);
		return;
	}
	for (unsigned int i = 0; i < field->bytes; i++) {
		to[i] |= from[i] & mask[i];
		to_mask[i] |= mask[i];
	}
}
