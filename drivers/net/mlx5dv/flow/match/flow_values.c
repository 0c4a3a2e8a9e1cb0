/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns where the values of a pattern go, and puts those of others there. */

#include <string.h>

#include <rte_common.h>

#include "flow_item_row.h"
#include "flow_values.h"

/** @return the field of the spec at @p at in its filter, NULL: no field begins there. */
static const struct mdv_flow_spec_field *
values_find_field(const struct mdv_flow_spec *spec, uint8_t at)
{
	for (unsigned int i = 0; i < spec->nb_fields; i++)
		if (spec->fields[i].at == at)
			return &spec->fields[i];
	return NULL;
}

static bool
values_learn_field(struct mdv_flow_values *values, unsigned int item,
	const struct mdv_flow_item_row *row, const struct mdv_flow_item_field *field,
	uint16_t spec_at)
{
	const struct mdv_flow_spec *spec = &mdv_flow_specs[row->spec];
	const struct mdv_flow_spec_field *to = values_find_field(spec, field->to);

	if (spec_at == 0 || to == NULL || values->nb_values == MDV_FLOW_VALUES_MAX)
		return false;
	values->values[values->nb_values++] = (struct mdv_flow_value){
		.item = item,
		.at = field->at,
		.bytes = field->bytes,
		.attr_at = spec_at + spec->val_at + field->to,
		.record_at = to->record_at,
	};
	return true;
}

/** Learn the fields under the item's mask; other bits of a mask may decide about more than a value.
 */
static bool
values_learn_fields(struct mdv_flow_values *values, unsigned int item,
	const struct mdv_flow_item_row *row, const struct mdv_flow_build *build)
{
	const uint8_t *mask = values->items[item].mask;
	const uint16_t spec_at = mdv_flow_build_find(build, mdv_flow_specs[row->spec].type);
	uint8_t rest[sizeof(values->items[item].mask)];
	bool ok = true;

	memcpy(rest, mask, sizeof(rest));
	for (unsigned int i = 0; ok && i < row->nb_fields; i++) {
		const struct mdv_flow_item_field *field = &row->fields[i];

		if (!field->any_value || !mdv_flow_item_field_masked(field, mask))
			continue;
		memset(&rest[field->at], 0, field->bytes);
		ok = values_learn_field(values, item, row, field, spec_at);
	}
	return ok && mdv_flow_spec_masked_words(rest, row->item_bytes) == 0;
}

static bool
values_learn_item(struct mdv_flow_values *values, unsigned int i, const struct rte_flow_item *item,
	const struct mdv_flow_build *build)
{
	struct mdv_flow_valueless *learnt = &values->items[i];
	const struct mdv_flow_item_row *row = mdv_flow_item_row_of(item->type);

	memset(learnt, 0, sizeof(*learnt));
	learnt->type = item->type;
	if (item->last != NULL)
		return false;
	if (item->spec == NULL || row == NULL)
		return true;
	learnt->has_spec = true;
	learnt->has_mask = item->mask != NULL;
	learnt->bytes = row->item_bytes;
	memcpy(learnt->mask, item->mask != NULL ? item->mask : row->default_mask, row->item_bytes);
	return values_learn_fields(values, i, row, build);
}

bool
mdv_flow_values_learn(struct mdv_flow_values *values, const struct rte_flow_item pattern[],
	const struct mdv_flow_build *build)
{
	/* Without a tunnel there is one spec of a type at most, and no UDP port that decides. */
	bool ok = build->nb_items <= MDV_FLOW_VALUES_ITEMS && build->layers < MDV_LAYER_VXLAN;

	values->nb_items = 0;
	values->nb_values = 0;
	for (unsigned int i = 0; ok && i < build->nb_items; i++)
		ok = values_learn_item(values, i, &pattern[i], build);
	if (ok)
		values->nb_items = build->nb_items;
	return ok;
}

static bool
values_equal_masks(const uint8_t *a, const uint8_t *b, unsigned int bytes)
{
	uint64_t two, others;
	uint32_t one, other;
	unsigned int i = 0;

	for (; i + sizeof(two) <= bytes; i += sizeof(two)) {
		memcpy(&two, &a[i], sizeof(two));
		memcpy(&others, &b[i], sizeof(others));
		if (two != others)
			return false;
	}
	if (i == bytes)
		return true;
	memcpy(&one, &a[i], sizeof(one));
	memcpy(&other, &b[i], sizeof(other));
	return one == other;
}

bool
mdv_flow_values_fit(const struct mdv_flow_values *values, const struct rte_flow_item pattern[])
{
	for (unsigned int i = 0; i < values->nb_items; i++) {
		const struct rte_flow_item *item = &pattern[i];
		const struct mdv_flow_valueless *learnt = &values->items[i];

		if (item->type != learnt->type || (item->spec != NULL) != learnt->has_spec ||
			(item->mask != NULL) != learnt->has_mask || item->last != NULL)
			return false;
		if (learnt->has_mask &&
			!values_equal_masks(item->mask, learnt->mask, learnt->bytes))
			return false;
	}
	return values->nb_items != 0;
}

/** @param nb a constant, so that memcpy() is a move */
static __rte_always_inline void
value_put(uint8_t *attr, uint8_t *record, const uint8_t *from, const uint8_t *mask,
	const unsigned int nb)
{
	uint64_t value = 0, masked = 0;

	memcpy(&value, from, nb);
	memcpy(&masked, mask, nb);
	value &= masked;
	memcpy(attr, &value, nb);
	memcpy(record, &value, nb);
}

void
mdv_flow_values_put(const struct mdv_flow_values *values, const struct rte_flow_item pattern[],
	struct mdv_flow_build *build, struct mdv_flow_match *match)
{
	const struct mdv_flow_value *const end = &values->values[values->nb_values];

	for (const struct mdv_flow_value *value = values->values; value < end; value++) {
		const uint8_t *from = (const uint8_t *)pattern[value->item].spec + value->at;
		const uint8_t *mask = &values->items[value->item].mask[value->at];
		uint8_t *attr = &build->bytes[value->attr_at];
		uint8_t *record = (uint8_t *)&match->value + value->record_at;

		switch (value->bytes) {
		case 1:
			value_put(attr, record, from, mask, 1);
			break;
		case 2:
			value_put(attr, record, from, mask, 2);
			break;
		case 4:
			value_put(attr, record, from, mask, 4);
			break;
		case 6:
			value_put(attr, record, from, mask, 6);
			break;
		default: /* an IPv6 address */
			value_put(attr, record, from, mask, 8);
			value_put(attr + 8, record + 8, from + 8, mask + 8, 8);
			break;
		}
	}
}
