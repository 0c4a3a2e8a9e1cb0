/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks a pattern: order, spec and mask, and one spec an item. */

#include <errno.h>
#include <string.h>

#include "flow_item_row.h"

/** @return the row of the item; if its type has several, the one that may stand here. */
static const struct mdv_flow_item_row *
item_row_find(enum rte_flow_item_type type, uint32_t last)
{
	const struct mdv_flow_item_row *row = mdv_flow_item_rows, *found = NULL;
	const struct mdv_flow_item_row *const end = &mdv_flow_item_rows[mdv_flow_item_rows_nb];

	for (; row < end; row++) {
		if (row->type != type)
			continue;
		if ((row->after & last) != 0)
			return row;
		found = found == NULL ? row : found;
	}
	return found;
}

size_t
mdv_flow_item_bytes(enum rte_flow_item_type type)
{
	const struct mdv_flow_item_row *row = mdv_flow_item_row_of(type);

	return row != NULL ? row->item_bytes : 0;
}

const void *
mdv_flow_item_mask(const struct rte_flow_item *item)
{
	return item->mask != NULL ? item->mask : mdv_flow_item_row_of(item->type)->default_mask;
}

/** @return for messages rte_flow's name of a type that has no row. */
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

/** Write "ETH, VLAN": the items of these layers, for messages. */
static void
item_list_names(uint32_t layers, char *names, size_t size)
{
	enum rte_flow_item_type before = RTE_FLOW_ITEM_TYPE_END;

	names[0] = '\0';
	for (unsigned int i = 0; i < mdv_flow_item_rows_nb; i++) {
		const struct mdv_flow_item_row *row = &mdv_flow_item_rows[i];

		/* Rows of one item are neighbours: name it once. */
		if ((row->layer & layers) == 0 || row->type == before)
			continue;
		before = row->type;
		if (names[0] != '\0')
			strncat(names, ", ", size - strlen(names) - 1);
		strncat(names, row->name, size - strlen(names) - 1);
	}
}

static int
item_refuse_order(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct mdv_flow_item_row *row = match->row;
	const bool first = (row->after & MDV_FLOW_ITEM_FIRST) != 0;
	char before[64], allowed[96];

	item_list_names(row->after, allowed, sizeof(allowed));
	if (state->last == MDV_FLOW_ITEM_FIRST)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"%s: cannot come first, its place in the packet must be known; put it behind %s",
			row->name, allowed);
	item_list_names(state->last, before, sizeof(before));
	return mdv_flow_error_set(state->error, (state->last & row->layer) != 0 ? ENOTSUP : EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, match->item, "%s: cannot follow %s; it may %s%s%s",
		row->name, before, first ? "come first" : "follow ",
		first && allowed[0] != '\0' ? " or follow " : "", allowed);
}

/** Check that the item may stand here; items behind a tunnel are of the packet inside. */
static int
item_check_order(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const uint32_t behind = MDV_LAYER_TUNNEL | MDV_LAYER_GRE_KEY;
	const struct mdv_flow_item_row *row = match->row;
	int ret;

	if (state->any == NULL && (row->after & state->last) == 0)
		return item_refuse_order(state, match);
	if ((state->last & behind) != 0 && !row->outer_only) {
		ret = mdv_flow_item_check_side(state);
		if (ret != 0)
			return ret;
		state->side = MDV_FLOW_BUILD_INNER;
		state->l2 = NULL;
	}
	if (state->any != NULL) {
		ret = mdv_flow_item_any_before(state, match);
		if (ret != 0)
			return ret;
	}
	if (state->side == MDV_FLOW_BUILD_OUTER)
		return 0;
	if (row->outer_only)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"%s inside a tunnel: the device looks into one tunnel; leave it out",
			row->name);
	if ((state->features & MDV_FLOW_CAN_INNER) == 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"%s inside a tunnel: the device does not match inner headers; leave it out",
			row->name);
	return 0;
}

static int
item_refuse_unknown(struct mdv_flow_item_state *state, const struct rte_flow_item *item)
{
	char known[128];

	item_list_names(~0u, known, sizeof(known));
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
		"item %s (%d): the driver cannot match it; it matches %s", item_name(item->type),
		(int)item->type, known);
}

/** Decide on the match: spec and mask as given, the default mask, or the protocol only. */
static int
item_check_spec(struct mdv_flow_item_state *state, struct mdv_flow_item_match *match)
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
item_check_field(struct mdv_flow_item_state *state, struct mdv_flow_item_match *match,
	const struct mdv_flow_item_field *field)
{
	const struct rte_flow_item *item = match->item;

	if (!mdv_flow_item_field_masked(field, match->mask))
		return 0;
	if (field->to_bytes == 0 || (field->needs & ~state->features) != 0)
		return mdv_flow_error_set(state->error, ENOTSUP,
			item->mask != NULL ? RTE_FLOW_ERROR_TYPE_ITEM_MASK
					   : RTE_FLOW_ERROR_TYPE_ITEM,
			item->mask != NULL ? item->mask : item, "%s %s: %s", match->row->name,
			field->name, field->hint);
	match->masked |= UINT32_C(1) << (field - match->row->fields);
	if (item->last != NULL && mdv_flow_item_field_ranges(field, match, item->last))
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST,
			item->last,
			"%s %s: last differs from spec, and the device matches no ranges; use a mask or several rules",
			match->row->name, field->name);
	return 0;
}

/** Most masks name one field or two; those in words without bits are passed over. */
static int
item_check_fields(struct mdv_flow_item_state *state, struct mdv_flow_item_match *match)
{
	const struct mdv_flow_item_row *row = match->row;
	const unsigned int masked = mdv_flow_spec_masked_words(match->mask, row->item_bytes);
	const struct mdv_flow_item_field *field = row->fields;
	const struct mdv_flow_item_field *const end = field + row->nb_fields;

	for (; masked != 0 && field < end; field++) {
		int ret = (field->words & masked) != 0 ? item_check_field(state, match, field) : 0;

		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
item_check(struct mdv_flow_item_state *state, struct mdv_flow_item_match *match)
{
	const struct mdv_flow_item_row *row = match->row;
	int ret = item_check_order(state, match);

	if (ret == 0)
		ret = item_check_spec(state, match);
	if (ret == 0 && match->mask != NULL)
		ret = item_check_fields(state, match);
	if (ret == 0 && (row->needs & ~state->features) != 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item, "%s: the device or its kernel does not match it; %s",
			row->name, row->instead);
	return ret == 0 ? row->check(state, match) : ret;
}

/** @return the offset of the spec that another item made and this one extends; 0: none. */
static uint16_t
item_shared_spec(const struct mdv_flow_item_state *state, enum mdv_flow_spec_id spec)
{
	if (spec == MDV_FLOW_SPEC_ETH)
		return state->build->sides[state->side].eth_at;
	return spec == MDV_FLOW_SPEC_GRE ? state->gre_at : 0;
}

static void
item_note_spec(struct mdv_flow_item_state *state, const struct mdv_flow_item_row *row, uint16_t at)
{
	if (row->spec == MDV_FLOW_SPEC_ETH)
		state->build->sides[state->side].eth_at = at;
	else if ((row->layer & MDV_LAYER_L3) != 0)
		state->build->sides[state->side].l3_at = at;
	else if (row->spec == MDV_FLOW_SPEC_GRE)
		state->gre_at = at;
	else if (row->layer == MDV_LAYER_UDP && state->side == MDV_FLOW_BUILD_OUTER)
		state->udp_at = at;
}

/** @return 0 or a negative errno, the error filled */
static int
item_put_spec(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct mdv_flow_item_row *row = match->row;
	int at = item_shared_spec(state, row->spec);

	if (at == 0)
		at = mdv_flow_build_add_spec(state->build, row->spec, state->side);
	if (at < 0)
		return mdv_flow_error_set(state->error, -at, RTE_FLOW_ERROR_TYPE_ITEM_NUM,
			match->item, "%s: more items than the device takes", row->name);
	for (uint32_t masked = match->masked; masked != 0; masked &= masked - 1)
		mdv_flow_item_field_put(
			&row->fields[__builtin_ctz(masked)], match, &state->build->bytes[at]);
	item_note_spec(state, row, at);
	return 0;
}

/** The IP protocol identifies ESP, so the kernels that refuse its spec can match ESP without the
 * spec. */
static bool
item_needs_spec(const struct mdv_flow_item_match *match)
{
	return match->row->layer != MDV_LAYER_ESP || match->masked != 0;
}

static unsigned int
item_bytes(const struct rte_flow_item *item, const struct mdv_flow_item_row *row)
{
	return row->item_bytes *
		((item->spec != NULL) + (item->last != NULL) + (item->mask != NULL));
}

static int
item_translate(struct mdv_flow_item_state *state, const struct rte_flow_item *item)
{
	struct mdv_flow_item_match match = {
		.item = item,
		.row = item_row_find(item->type, state->last),
	};
	int ret;

	if (match.row == NULL)
		return item_refuse_unknown(state, item);
	if (match.row->type == RTE_FLOW_ITEM_TYPE_ANY) {
		if (state->any == NULL && (match.row->after & state->last) == 0)
			return item_refuse_order(state, &match);
		state->build->item_bytes += item_bytes(item, match.row);
		return mdv_flow_item_any(state, item);
	}
	ret = item_check(state, &match);
	if (ret == 0 && item_needs_spec(&match))
		ret = item_put_spec(state, &match);
	if (ret != 0)
		return ret;
	state->build->item_bytes += item_bytes(item, match.row);
	state->last = match.row->layer;
	state->build->layers |= state->side == MDV_FLOW_BUILD_INNER
		? MDV_LAYER_INNER(match.row->layer)
		: match.row->layer;
	if ((match.row->layer & (MDV_LAYER_ETH | MDV_LAYER_VLAN)) != 0)
		state->l2 = item;
	return 0;
}

int
mdv_flow_item_translate(const struct rte_flow_item pattern[], uint32_t features,
	struct mdv_flow_build *build, struct rte_flow_error *error)
{
	struct mdv_flow_item_state state = {
		.build = build,
		.features = features,
		.last = MDV_FLOW_ITEM_FIRST,
		.error = error,
	};
	const struct rte_flow_item *item;
	int ret = 0;

	mdv_flow_build_init(build);
	for (item = pattern; ret == 0 && item->type != RTE_FLOW_ITEM_TYPE_END; item++)
		if (item->type != RTE_FLOW_ITEM_TYPE_VOID)
			ret = item_translate(&state, item);
	build->nb_items = item - pattern + 1;
	if (ret == 0)
		ret = mdv_flow_item_any_end(&state);
	return ret == 0 ? mdv_flow_item_check_side(&state) : ret;
}
