/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the specs: they cover each filter, specs without a row are refused, and all users of
 * the rows distinguish two rules that differ in one bit. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/match/flow_dump.h"
#include "flow/match/flow_item_row.h"
#include "flow/match/flow_key.h"

/** Build an attribute of one spec, whose byte @p at is @p byte. @return the result of
 * mdv_flow_key_match() */
static int
match_of(uint32_t type, uint16_t bytes, unsigned int at, uint8_t byte, struct mdv_flow_match *match)
{
	uint8_t spec[sizeof(struct ibv_flow_spec)] = { 0 };
	struct mdv_flow_build build;
	uint32_t found;
	int ret;

	memcpy(spec, &type, sizeof(type));
	memcpy(spec + 4, &bytes, sizeof(bytes));
	spec[at] = byte;
	mdv_flow_build_init(&build);
	assert_true(mdv_flow_build_append(&build, spec, bytes) > 0);
	ret = mdv_flow_key_match(&build, match);
	if (ret != 0)
		return ret;
	found = match->used;
	mdv_flow_key_set_used(match);
	assert_int_equal(found, match->used);
	return 0;
}

/** Rules that differ only in an unknown spec must not count as equal, so they have no key. */
static void
test_no_row(void **state)
{
	static const uint32_t types[] = {
		0,
		0x21,
		0x70,
		IBV_FLOW_SPEC_IPV4,
		IBV_FLOW_SPEC_INNER,
		IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_GRE,
		IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_VXLAN_TUNNEL,
		IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_ACTION_TAG,
		IBV_FLOW_SPEC_ACTION_COUNT + 1,
	};
	struct mdv_flow_match match;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		assert_int_equal(mdv_flow_spec_id(types[i]), MDV_FLOW_SPEC_UNKNOWN);
		assert_int_equal(match_of(types[i], 24, 16, 0xff, &match), -EINVAL);
	}
	assert_int_equal(match_of(IBV_FLOW_SPEC_ACTION_TAG, 12, 8, 1, &match), 0);
	assert_int_equal(match_of(IBV_FLOW_SPEC_ACTION_DROP, 8, 4, 8, &match), 0);
}

/** The dump shows an unknown spec, too. */
static void
test_dump_no_row(void **state)
{
	static const uint8_t spec[8] = { 0x70, 0, 0, 0, 8 };
	struct mdv_flow_build build;
	char *text = NULL;
	size_t size;
	FILE *file;

	(void)state;
	mdv_flow_build_init(&build);
	assert_true(mdv_flow_build_append(&build, spec, sizeof(spec)) > 0);
	file = open_memstream(&text, &size);
	assert_non_null(file);
	mdv_flow_dump_match(file, &build, "");
	fclose(file);
	assert_non_null(strstr(text, "    |-- spec 0x70: unknown\n"));
	free(text);
}

/** Each bit of each filter has a place of its own, and makes another rule. */
static void
check_spec(const struct mdv_flow_spec *row, uint32_t type)
{
	const unsigned int nb = row->mask_at - row->val_at;
	struct mdv_flow_match masks[sizeof(struct ibv_flow_ipv6_filter)], match;
	unsigned int covered = 0;

	assert_true(nb <= RTE_DIM(masks));
	for (unsigned int i = 0; i < row->nb_fields; i++) {
		const struct mdv_flow_spec_field *field = &row->fields[i];

		for (unsigned int at = field->at; at < field->at + field->bytes; at++) {
			assert_int_equal(match_of(type, row->bytes, row->mask_at + at, 0xff,
						 &masks[covered]),
				0);
			assert_int_equal(
				match_of(type, row->bytes, row->mask_at + at, 0x7f, &match), 0);
			assert_false(mdv_flow_key_equal(&masks[covered].mask, &match.mask));
			for (unsigned int other = 0; other < covered; other++)
				assert_false(mdv_flow_key_equal(
					&masks[covered].mask, &masks[other].mask));
			covered++;
		}
	}
	assert_true(covered > 0 && covered <= nb);
}

/** A label has a place by the spec before it; no other spec has. */
static void
test_places(void **state)
{
	const size_t label = mdv_flow_specs[MDV_FLOW_SPEC_MPLS].fields[0].record_at;
	const struct {
		enum mdv_flow_spec_id id;
		bool inner;
		uint32_t previous;
		size_t place;
	} cases[] = {
		{ MDV_FLOW_SPEC_MPLS, false, 0, label },
		{ MDV_FLOW_SPEC_MPLS, false, IBV_FLOW_SPEC_IPV4_EXT, label },
		{ MDV_FLOW_SPEC_MPLS, false, IBV_FLOW_SPEC_UDP,
			offsetof(struct mdv_flow_spec_record, mpls_over_udp) },
		{ MDV_FLOW_SPEC_MPLS, false, IBV_FLOW_SPEC_GRE,
			offsetof(struct mdv_flow_spec_record, mpls_over_gre) },
		{ MDV_FLOW_SPEC_VXLAN_TUNNEL, false, IBV_FLOW_SPEC_UDP,
			offsetof(struct mdv_flow_spec_record, vni) },
		{ MDV_FLOW_SPEC_ETH, true, IBV_FLOW_SPEC_GRE,
			offsetof(struct mdv_flow_spec_record, headers[1].dst_mac) },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(mdv_flow_specs[cases[i].id].fields[0].record_at +
				mdv_flow_spec_shift(cases[i].id, cases[i].inner, cases[i].previous),
			cases[i].place);
}

static void
test_every_byte(void **state)
{
	(void)state;
	for (unsigned int id = 0; id < MDV_FLOW_SPEC_NB; id++) {
		const struct mdv_flow_spec *row = &mdv_flow_specs[id];

		assert_int_equal(mdv_flow_spec_id(row->type), id);
		assert_int_equal((row->mask_at - row->val_at) % sizeof(uint32_t), 0);
		check_spec(row, row->type);
		if (row->sides == 2) {
			assert_int_equal(mdv_flow_spec_id(row->type | IBV_FLOW_SPEC_INNER), id);
			check_spec(row, row->type | IBV_FLOW_SPEC_INNER);
		}
	}
}

/** Two rules with one mask and two values of a field, for each field. */
static void
test_values(void **state)
{
	(void)state;
	for (unsigned int id = 0; id < MDV_FLOW_SPEC_NB; id++)
		for (unsigned int i = 0; i < mdv_flow_specs[id].nb_fields; i++) {
			const struct mdv_flow_spec *row = &mdv_flow_specs[id];
			struct mdv_flow_build build;
			struct mdv_flow_match a, b;
			int at;

			mdv_flow_build_init(&build);
			at = mdv_flow_build_add_spec(&build, id, MDV_FLOW_BUILD_OUTER);
			assert_true(at > 0);
			mdv_flow_spec_mask_field(row, i, &build.bytes[at]);
			assert_int_equal(mdv_flow_key_match(&build, &a), 0);
			/* The last byte, as the kernel does not take the highest ones of all
			 * fields. */
			build.bytes[at + row->val_at + row->fields[i].at + row->fields[i].bytes -
				1] = 1;
			assert_int_equal(mdv_flow_key_match(&build, &b), 0);
			assert_true(mdv_flow_key_equal(&a.mask, &b.mask));
			assert_false(mdv_flow_key_equal(&a.value, &b.value));
		}
}

static void
test_masks(void **state)
{
	uint8_t spec[sizeof(struct ibv_flow_spec)] = { 0 };

	(void)state;
	mdv_flow_spec_mask_field(&mdv_flow_specs[MDV_FLOW_SPEC_VXLAN_TUNNEL],
		MDV_FLOW_FIELD_VXLAN_TUNNEL_tunnel_id, spec);
	fake_assert_bytes("VNI", spec, 16, "0000000000000000 00000000 00ffffff");
	memset(spec, 0, sizeof(spec));
	mdv_flow_spec_mask_field(
		&mdv_flow_specs[MDV_FLOW_SPEC_IPV6], MDV_FLOW_FIELD_IPV6_flow_label, spec);
	fake_assert_bytes("label", spec + 48, 40, HEX_0_16 HEX_0_16 "000fffff 00000000");
	memset(spec, 0, sizeof(spec));
	mdv_flow_spec_mask_field(
		&mdv_flow_specs[MDV_FLOW_SPEC_GRE], MDV_FLOW_FIELD_GRE_c_ks_res0_ver, spec);
	fake_assert_bytes("flags", spec, 24, HEX_0_16 "ffff0000 00000000");
}

/** A field of an item goes into one field of its row's spec, and asks for no more than it has. */
static void
check_item_field(const struct mdv_flow_spec *spec, const struct mdv_flow_item_field *field)
{
	const unsigned int bytes = RTE_MAX(field->to_bytes, 1);

	for (unsigned int i = 0; i < spec->nb_fields; i++) {
		const struct mdv_flow_spec_field *to = &spec->fields[i];
		uint64_t bits = field->bits;

		if (field->to < to->at || field->to + bytes > (unsigned int)to->at + to->bytes)
			continue;
		if (to->bits != 0 && field->bits != 0) {
			bits = bits >> __builtin_ctz(field->bits) << field->to_shift;
			assert_int_equal(bits & ~(uint64_t)to->bits, 0);
		}
		assert_true(to->bits == 0 || field->bits != 0);
		return;
	}
	fail_msg("%s: no such field", field->name);
}

static void
test_items(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < mdv_flow_item_rows_nb; i++)
		for (unsigned int j = 0; j < mdv_flow_item_rows[i].nb_fields; j++)
			if (mdv_flow_item_rows[i].fields[j].to_bytes != 0)
				check_item_field(&mdv_flow_specs[mdv_flow_item_rows[i].spec],
					&mdv_flow_item_rows[i].fields[j]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_row),
		cmocka_unit_test(test_dump_no_row),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
