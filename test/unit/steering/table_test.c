/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow tables: order of groups, sizes, and that a look-up costs the same however many rules there
 * are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "build.h"
#include "steering/state.h"
#include "steering/table.h"

static const struct shca_table_layout nic = { "NIC_RX", 65536, 6, 9362 };
static char tir;
static struct shca_table_firmware firmware; /* without limits */
static const struct shca_fte_action forward = { .tir = &tir };

/** A match on a destination address, or another mask if @p mask is not 0. */
static void
make_match(uint32_t mask, uint32_t number, struct shca_match *match)
{
	memset(match, 0, sizeof(*match));
	match->mask.outer.ip_version = 0xf;
	match->value.outer.ip_version = 4;
	if (mask == 0) {
		memset(match->mask.outer.dst_ip + 12, 0xff, 4);
		for (unsigned int i = 0; i < 4; i++)
			match->value.outer.dst_ip[12 + i] = (uint8_t)(number >> (24 - 8 * i));
	} else {
		match->mask.outer.flow_label = mask;
		match->value.outer.flow_label = number & mask;
	}
	shca_field_require(match);
}

static struct shca_fte *
add(struct shca_table *table, uint32_t mask, uint32_t number)
{
	struct shca_match match;
	struct shca_fte *fte;

	make_match(mask, number, &match);
	assert_int_equal(shca_table_check(table, &match, &forward), 0);
	assert_int_equal(shca_table_add(table, &match, &forward, &fte), 0);
	return fte;
}

static int
check(const struct shca_table *table, uint32_t mask, uint32_t number)
{
	struct shca_match match;

	make_match(mask, number, &match);
	return shca_table_check(table, &match, &forward);
}

static void
test_group_order(void **state)
{
	struct shca_table table;
	struct shca_fte *fte[10];

	(void)state;
	shca_table_init(&table, &nic, &firmware, 1, false);
	/* Six big groups in the order of masks, then single entries. */
	for (uint32_t mask = 1; mask <= 6; mask++) {
		fte[mask] = add(&table, mask, 0);
		assert_int_equal(fte[mask]->index, (mask - 1) * 9362);
	}
	fte[7] = add(&table, 7, 0);
	fte[8] = add(&table, 8, 0);
	fte[9] = add(&table, 7, 1);
	assert_int_equal(fte[7]->index, 56172);
	assert_int_equal(fte[8]->index, 56173);
	assert_int_equal(fte[9]->index, 56174);
	/* An old mask goes on in its group. */
	fte[0] = add(&table, 3, 3);
	assert_int_equal(fte[0]->index, 2 * 9362 + 1);
	shca_table_del(&table, fte[0], &forward);
	/* Slots of groups that became empty go to the next new mask. */
	shca_table_del(&table, fte[2], &forward);
	fte[2] = add(&table, 9, 0);
	assert_int_equal(fte[2]->index, 9362);
	shca_table_del(&table, fte[7], &forward);
	fte[7] = add(&table, 10, 0);
	assert_int_equal(fte[7]->index, 56172);
	/* A mask of single entries gets a big group once there is one. */
	shca_table_del(&table, fte[4], &forward);
	fte[4] = add(&table, 8, 8);
	assert_int_equal(fte[4]->index, 3 * 9362);
	for (unsigned int i = 1; i < 10; i++)
		shca_table_del(&table, fte[i], &forward);
	assert_int_equal(table.nb_subtables, 0);
	assert_int_equal(table.nb_big + table.nb_single, 0);
	assert_true(table.fields == 0);
	shca_table_fini(&table);
}

/** The lowest index wins, also when a mask's groups stand on both sides of another's. */
static void
test_lowest_index_wins(void **state)
{
	static const struct shca_table_layout small = { "NIC_RX", 10, 2, 3 };
	struct shca_table table;
	struct shca_fte *fte[6];
	union shca_match_key key;

	(void)state;
	shca_table_init(&table, &small, &firmware, 1, false);
	for (uint32_t i = 0; i < 3; i++)
		fte[i] = add(&table, 0, i); /* group 0 is full */
	fte[3] = add(&table, 1, 0);         /* group 1 */
	fte[4] = add(&table, 0, 3);         /* a single entry after it */
	assert_int_equal(fte[3]->index, 3);
	assert_int_equal(fte[4]->index, 6);

	memset(&key, 0, sizeof(key));
	key.outer.ip_version = 4;
	key.present = UINT64_MAX;
	key.outer.dst_ip[15] = 2;
	assert_ptr_equal(shca_table_find(&table, &key), fte[2]);
	key.outer.dst_ip[15] = 3; /* both match: the other mask is in front */
	assert_ptr_equal(shca_table_find(&table, &key), fte[3]);
	key.outer.flow_label = 1;
	assert_ptr_equal(shca_table_find(&table, &key), fte[4]);
	key.outer.dst_ip[15] = 9;
	assert_null(shca_table_find(&table, &key));

	/* Without its big group the first mask stands behind the second. */
	for (uint32_t i = 0; i < 3; i++)
		shca_table_del(&table, fte[i], &forward);
	assert_ptr_equal(table.subtables[0].subtable, fte[3]->group->subtable);
	fte[0] = add(&table, 2, 0);
	assert_int_equal(fte[0]->index, 0);
	assert_ptr_equal(table.subtables[0].subtable, fte[0]->group->subtable);
	shca_table_del(&table, fte[0], &forward);
	shca_table_del(&table, fte[3], &forward);
	shca_table_del(&table, fte[4], &forward);
	shca_table_fini(&table);
}

/** Of two big groups of one mask that have room, the younger takes the next entry. */
static void
test_newest_group_first(void **state)
{
	static const struct shca_table_layout small = { "NIC_RX", 12, 2, 3 };
	struct shca_table table;
	struct shca_fte *fte[5];

	(void)state;
	shca_table_init(&table, &small, &firmware, 1, false);
	for (uint32_t i = 0; i < 4; i++)
		fte[i] = add(&table, 0, i);
	assert_int_equal(fte[3]->index, 3);
	shca_table_del(&table, fte[0], &forward);
	fte[0] = add(&table, 0, 0);
	assert_int_equal(fte[0]->index, 4);
	fte[4] = add(&table, 0, 4);
	assert_int_equal(fte[4]->index, 5);
	for (unsigned int i = 0; i < 5; i++)
		shca_table_del(&table, fte[i], &forward);
	shca_table_fini(&table);
}

/** One mask can fill the whole table; then nothing new fits, but what is there can be joined. */
static void
test_one_mask_fills_the_table(void **state)
{
	struct shca_fte **ftes = calloc(65536, sizeof(*ftes));
	struct shca_fte *joined;
	struct shca_table table;
	struct shca_match match;

	(void)state;
	assert_non_null(ftes);
	shca_table_init(&table, &nic, &firmware, 1, false);
	for (uint32_t i = 0; i < 65536; i++) {
		ftes[i] = add(&table, 0, i);
		assert_int_equal(ftes[i]->index, i);
	}
	assert_int_equal(check(&table, 0, 65536), -ENOSPC);
	assert_int_equal(check(&table, 1, 0), -ENOSPC);
	make_match(0, 777, &match);
	assert_int_equal(shca_table_add(&table, &match, &forward, &joined), 0);
	assert_ptr_equal(joined, ftes[777]);
	shca_table_del(&table, joined, &forward);
	/* A gap in a big group is its own mask's only; a single one anybody's. */
	shca_table_del(&table, ftes[777], &forward);
	assert_int_equal(check(&table, 1, 0), -ENOSPC);
	ftes[777] = add(&table, 0, 70000);
	assert_int_equal(ftes[777]->index, 777);
	shca_table_del(&table, ftes[60000], &forward);
	ftes[60000] = add(&table, 1, 0);
	assert_int_equal(ftes[60000]->index, 60000);
	for (uint32_t i = 0; i < 65536; i++)
		shca_table_del(&table, ftes[i], &forward);
	assert_int_equal(table.nb_subtables, 0);
	shca_table_fini(&table);
	free(ftes);
}

/** After six masks the others share what is left, one entry each. */
static void
test_many_masks_share_the_rest(void **state)
{
	enum {
		NB_REST = 65536 - 6 * 9362,
	};
	struct shca_fte **ftes = calloc(6 + NB_REST, sizeof(*ftes));
	struct shca_table table;

	(void)state;
	assert_non_null(ftes);
	shca_table_init(&table, &nic, &firmware, 1, false);
	for (uint32_t i = 0; i < 6 + NB_REST; i++)
		ftes[i] = add(&table, i + 1, 0);
	assert_int_equal(check(&table, 0x80000, 0), -ENOSPC);
	assert_int_equal(check(&table, 7, 1), -ENOSPC);
	assert_int_equal(check(&table, 5, 1), 0);
	for (uint32_t i = 0; i < 6 + NB_REST; i++)
		shca_table_del(&table, ftes[i], &forward);
	shca_table_fini(&table);
	free(ftes);
}

static uint32_t
longest_chain(const struct shca_subtable *subtable)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < subtable->nb_buckets; i++) {
		uint32_t length = 0;

		for (const struct shca_fte *fte = subtable->bucket[i]; fte != NULL; fte = fte->next)
			length++;
		if (length > longest)
			longest = length;
	}
	return longest;
}

enum {
	NB_RULES = 1000000,
	NB_TABLES = (NB_RULES + 65535) / 65536,
};

static int
add_rule(struct shca_steering *steering, uint32_t number, struct shca_rule **rule)
{
	const struct spec spec = {
		.type = 0x30,
		.value.ipv4.dst_ip = htobe32(number),
		.mask.ipv4.dst_ip = BE32(0xffffffff),
	};
	struct specs specs = { 0 };

	specs_add_spec(&specs, &spec);

	struct shca_rule_attr attr = {
		.priority = (uint16_t)(number / 65536),
		.nb_specs = 1,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tir,
	};

	return shca_rule_add(steering, &attr, rule);
}

static unsigned int
walk(struct shca_steering *steering, uint32_t number)
{
	struct frame frame = { 0 };
	struct shca_packet packet;
	struct shca_verdict verdict;

	frame_zero(&frame, 12);
	frame_put16(&frame, 0x0800);
	frame_end_ipv4(&frame, frame_ipv4(&frame, 1, number, 0, 0, 0, 0));
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	return verdict.nb_destinations;
}

/** A million rules in tables of one mask each: a packet is compared with one hash chain a table,
 * and chains stay short. */
static void
test_many_rules_of_one_mask(void **state)
{
	const struct shca_steering_conf conf = { 0 };
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule **rules = calloc(NB_RULES, sizeof(*rules));

	(void)state;
	assert_non_null(steering);
	assert_non_null(rules);
	for (uint32_t i = 0; i < NB_RULES; i++)
		assert_int_equal(add_rule(steering, i, &rules[i]), 0);
	assert_int_equal(steering->rx_path.nb_tables, NB_TABLES);
	for (unsigned int i = 0; i < NB_TABLES; i++) {
		const struct shca_table *table = steering->rx_path.table[i];
		const struct shca_subtable *subtable = table->subtables[0].subtable;

		assert_int_equal(table->nb_subtables, 1);
		assert_true(subtable->nb_buckets >= subtable->nb_ftes);
		assert_true(longest_chain(subtable) <= 12);
	}
	for (uint32_t i = 0; i < NB_RULES; i += 97)
		assert_int_equal(walk(steering, i), 1);
	assert_int_equal(walk(steering, NB_RULES), 0);
	for (uint32_t i = 0; i < NB_RULES; i++)
		shca_rule_del(steering, rules[i]);
	assert_int_equal(steering->rx_path.nb_tables, 0);
	assert_true(steering->rx_path.fields == 0);
	free(rules);
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_order),
		cmocka_unit_test(test_lowest_index_wins),
		cmocka_unit_test(test_newest_group_first),
		cmocka_unit_test(test_one_mask_fills_the_table),
		cmocka_unit_test(test_many_masks_share_the_rest),
		cmocka_unit_test(test_many_rules_of_one_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
