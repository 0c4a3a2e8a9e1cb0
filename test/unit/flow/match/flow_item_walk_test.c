/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks every row and every field of the items' tables: minimal, full, each bit of the mask, each
 * refused field, on devices with and without the feature; outside of a tunnel and inside.
 */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/match/flow_item_row.h"

#define ITEM_BYTES 64
#define MAX_BEFORE 5

union item_bytes {
	uint8_t bytes[ITEM_BYTES];
	uint64_t align[ITEM_BYTES / 8];
};

/** Add the items that must stand before a row's item. */
static unsigned int
lay_ground(const struct mdv_flow_item_row *row, bool inner, struct rte_flow_item *pattern)
{
	static const struct {
		uint32_t layer;
		enum rte_flow_item_type items[2];
	} grounds[] = {
		{ MDV_FLOW_ITEM_FIRST, { RTE_FLOW_ITEM_TYPE_VOID, RTE_FLOW_ITEM_TYPE_VOID } },
		{ MDV_LAYER_ETH, { RTE_FLOW_ITEM_TYPE_VOID, RTE_FLOW_ITEM_TYPE_ETH } },
		{ MDV_LAYER_IPV4, { RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4 } },
		{ MDV_LAYER_UDP, { RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP } },
		{ MDV_LAYER_GRE, { RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_GRE } },
	};
	unsigned int nb = 0;

	if (inner)
		pattern[nb++].type = RTE_FLOW_ITEM_TYPE_VXLAN;
	for (unsigned int i = 0; i < RTE_DIM(grounds); i++) {
		if ((row->after & grounds[i].layer) == 0)
			continue;
		pattern[nb++].type = grounds[i].items[0];
		pattern[nb++].type = grounds[i].items[1];
		return nb;
	}
	fail_msg("%s can stand nowhere", row->name);
	return 0;
}

struct
try {
	const struct mdv_flow_item_row *row;
	bool inner;
	uint32_t features;
	union item_bytes spec, last, mask;
	bool has_spec, has_mask, has_last;
	/* the answer */
	struct rte_flow_item pattern[MAX_BEFORE + 2], *item;
	struct rte_flow_error error;
	struct mdv_flow_build build;
};

static int
translate(struct try *try)
{
	unsigned int nb;

	memset(try->pattern, 0, sizeof(try->pattern));
	memset(&try->error, 0, sizeof(try->error));
	nb = lay_ground(try->row, try->inner, try->pattern);
	try->item = &try->pattern[nb];
	try->item->type = try->row->type;
	try->item->spec = try->has_spec ? &try->spec : NULL;
	try->item->mask = try->has_mask ? &try->mask : NULL;
	try->item->last = try->has_last ? &try->last : NULL;
	return mdv_flow_item_translate(try->pattern, try->features, &try->build, &try->error);
}

static void
each_row(void (*walk)(struct try *try))
{
	assert_true(mdv_flow_item_rows_nb >= 13);
	for (unsigned int i = 0; i < mdv_flow_item_rows_nb; i++)
		for (unsigned int inner = 0; inner < 2; inner++) {
			struct try try = { .row = &mdv_flow_item_rows[i],
				.inner = inner,
				.features = UINT32_MAX };

			assert_true(try.row->item_bytes <= ITEM_BYTES);
			assert_int_equal(try.row->item_bytes % sizeof(uint32_t), 0);
			if (inner && try.row->outer_only)
				continue;
			walk(&try);
		}
}

static bool
message_names(const struct try *try, const char *field)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", try->row->name, field != NULL ? " " : "",
		field != NULL ? field : "");
	return try->error.message != NULL && strncmp(try->error.message, name, strlen(name)) == 0;
}

/** The device matches any key only by its bits; all other items are accepted. */
static void
walk_minimal(struct try *try)
{
	const bool needs_bits = try->row->layer == MDV_LAYER_GRE_KEY;
	int ret = translate(try);

	assert_int_equal(ret, needs_bits ? -ENOTSUP : 0);
	if (ret == 0) {
		uint32_t layers = try->row->layer;

		if (try->row->layer != MDV_LAYER_ANY)
			assert_int_equal(
				mdv_flow_build_layers(&try->build,
					try->inner ? MDV_FLOW_BUILD_INNER : MDV_FLOW_BUILD_OUTER) &
					layers,
				layers);
	} else {
		assert_true(message_names(try, NULL));
		assert_ptr_equal(try->error.cause, try->item);
	}
	try->has_mask = true;
	assert_int_equal(translate(try), -EINVAL);
	assert_ptr_equal(try->error.cause, try->item);
	assert_true(message_names(try, NULL));
}

/** The bits of one field, as a mask of the item. */
static void
field_bits(const struct mdv_flow_item_field *field, union item_bytes *bits)
{
	memset(bits, 0, sizeof(*bits));
	for (unsigned int i = 0; i < field->bytes; i++) {
		bits->bytes[field->at + i] = 0xff;
		if (field->flag != NULL)
			bits->bytes[field->at + i] = ((const uint8_t *)field->flag)[i];
		else if (field->bits != 0)
			bits->bytes[field->at + i] = field->bits >> 8 * (field->bytes - 1 - i);
	}
}

/** Values that agree with what the item's own row implies. */
static void
agreeing_spec(struct try *try)
{
	memset(&try->spec, 0, sizeof(try->spec));
	if (try->row->type == RTE_FLOW_ITEM_TYPE_NVGRE)
		((struct rte_flow_item_nvgre *)&try->spec)->protocol = RTE_BE16(0x6558);
}

static bool
is_inner_esp(const struct try *try)
{
	return try->inner && try->row->layer == MDV_LAYER_ESP;
}

static unsigned int
mask_ones(const struct mdv_flow_build *build, const struct mdv_flow_item_row *row)
{
	unsigned int at = sizeof(build->attr), size = 0, ones = 0;

	/* The item's spec is the last one. */
	for (unsigned int i = 0; i < build->attr.num_of_specs; i++) {
		at += size;
		memcpy(&size, &build->bytes[at + 4], 2);
	}
	for (unsigned int i = mdv_flow_specs[row->spec].mask_at; i < size; i++)
		ones += __builtin_popcount(build->bytes[at + i]);
	return ones;
}

static void
walk_bits(struct try *try)
{
	for (unsigned int f = 0; f < try->row->nb_fields; f++) {
		const struct mdv_flow_item_field *field = &try->row->fields[f];
		union item_bytes bits;

		field_bits(field, &bits);
		for (unsigned int bit = 0; bit < ITEM_BYTES * 8; bit++) {
			int ret;

			if ((bits.bytes[bit / 8] & 1u << bit % 8) == 0)
				continue;
			agreeing_spec(try);
			memset(&try->mask, 0, sizeof(try->mask));
			try->mask.bytes[bit / 8] = 1u << bit % 8;
			try->has_spec = try->has_mask = true;
			ret = translate(try);
			if (field->to_bytes == 0 || is_inner_esp(try)) {
				assert_int_equal(ret, -ENOTSUP);
				assert_ptr_equal(try->error.cause, &try->mask);
				assert_true(is_inner_esp(try) || message_names(try, field->name));
			} else {
				assert_int_equal(ret, 0);
				assert_true(mask_ones(&try->build, try->row) >= 1);
			}
		}
	}
}

/** All fields at once; `last` the same, then another one. */
static void
walk_full(struct try *try)
{
	memset(&try->mask, 0, sizeof(try->mask));
	agreeing_spec(try);
	for (unsigned int f = 0; f < try->row->nb_fields; f++) {
		union item_bytes bits;

		field_bits(&try->row->fields[f], &bits);
		for (unsigned int i = 0; i < ITEM_BYTES && try->row->fields[f].to_bytes != 0; i++)
			try->mask.bytes[i] |= bits.bytes[i];
	}
	if (is_inner_esp(try) || try->row->type == RTE_FLOW_ITEM_TYPE_ANY)
		return;
	try->has_spec = try->has_mask = try->has_last = true;
	try->last = try->spec;
	if (translate(try) != 0)
		fail_msg("%s: %s", try->row->name, try->error.message);
	for (unsigned int f = 0; f < try->row->nb_fields; f++) {
		const struct mdv_flow_item_field *field = &try->row->fields[f];
		union item_bytes bits;

		if (field->to_bytes == 0)
			continue;
		field_bits(field, &bits);
		try->last = try->spec;
		for (unsigned int i = 0; i < ITEM_BYTES; i++)
			try->last.bytes[i] ^= bits.bytes[i];
		assert_int_equal(translate(try), -ENOTSUP);
		assert_ptr_equal(try->error.cause, &try->last);
		assert_int_equal(try->error.type, RTE_FLOW_ERROR_TYPE_ITEM_LAST);
		assert_true(message_names(try, field->name));
	}
}

/** A feature that the device lacks is refused by the field's or the item's name. */
static void
walk_lacking(struct try *try)
{
	for (unsigned int f = 0; f < try->row->nb_fields; f++) {
		const struct mdv_flow_item_field *field = &try->row->fields[f];

		if (field->needs == 0)
			continue;
		try->features = UINT32_MAX & ~field->needs;
		agreeing_spec(try);
		field_bits(field, &try->mask);
		try->has_spec = try->has_mask = true;
		assert_int_equal(translate(try), -ENOTSUP);
		assert_ptr_equal(try->error.cause, &try->mask);
		assert_true(message_names(try, field->name));
	}
	if (try->row->needs == 0)
		return;
	try->has_spec = try->has_mask = false;
	try->features = UINT32_MAX & ~try->row->needs;
	assert_int_equal(translate(try), -ENOTSUP);
	assert_ptr_equal(try->error.cause, try->item);
	assert_true(message_names(try, NULL));
}

static void
test_minimal(void **state)
{
	(void)state;
	each_row(walk_minimal);
}

static void
test_bits(void **state)
{
	(void)state;
	each_row(walk_bits);
}

static void
test_full(void **state)
{
	(void)state;
	each_row(walk_full);
}

static void
test_lacking(void **state)
{
	(void)state;
	each_row(walk_lacking);
}

/** Each item behind each other one: taken, or refused by its name with itself or ANY as the cause.
 */
static void
test_pairs(void **state)
{
	unsigned int taken = 0;

	(void)state;
	for (unsigned int a = 0; a < mdv_flow_item_rows_nb; a++)
		for (unsigned int b = 0; b < mdv_flow_item_rows_nb; b++) {
			const struct rte_flow_item pattern[] = {
				{ .type = mdv_flow_item_rows[a].type },
				{ .type = mdv_flow_item_rows[b].type },
				{ .type = RTE_FLOW_ITEM_TYPE_END },
			};
			struct rte_flow_error error = { .message = "" };
			struct mdv_flow_build build;

			if (mdv_flow_item_translate(pattern, UINT32_MAX, &build, &error) == 0) {
				taken++;
				continue;
			}
			assert_true(error.cause == &pattern[0] || error.cause == &pattern[1]);
			assert_true(strlen(error.message) > 20);
		}
	assert_true(taken >= 30);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimal),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
