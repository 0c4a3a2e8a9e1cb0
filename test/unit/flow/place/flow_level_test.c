/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the level allocator with a scan of the rules: on tables as the kernel keeps them every
 * packet must reach the rule that the promise of flow_level.h names, after each call and at each
 * step of a move.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../rounds.h"
#include "flow/place/flow_layout.h"
#include "flow/place/flow_level.h"

#define MAX_RULES  24
#define NB_TABLES  (2 * MDV_FLOW_LEVEL_MAX)
#define MAX_GROUPS 64

/** The properties of a rule; its match is a nibble of the key's first word. */
struct rule_kind {
	uint32_t priority;
	bool copies;
	uint8_t depth, mask, value;
};

struct test_rule {
	struct mdv_flow_level_rule level;
	struct rule_kind kind;
	uint64_t age;
	uint64_t mask_age; /* creation of the first rule of its mask */
	bool used;
	int at[2]; /* tables that it is in; -1: none; two while it moves */
};

/** One device: the masks that have the slots of each table. */
static struct {
	struct mdv_flow_levels levels;
	struct test_rule rules[MAX_RULES];
	unsigned int nb_rules;
	uint8_t groups[NB_TABLES][MAX_GROUPS]; /* mask + 1, 0: free */
	unsigned int refs[NB_TABLES][MAX_GROUPS];
	unsigned int nb_groups[NB_TABLES]; /* slots ever taken */
	uint64_t age;
	unsigned int fail_move; /* the move that fails, counted down; 0: none */
	unsigned int packets;   /* the packets to try */
	bool moved_copy;        /* a copying rule has been in two places */
	bool exact;             /* check the order of equals, too */
	uint64_t steps;
} rig;

static struct test_rule *
test_rule_of(const struct mdv_flow_level_rule *rule)
{
	return (struct test_rule *)((uintptr_t)rule - offsetof(struct test_rule, level));
}

static bool
matches(const struct rule_kind *kind, unsigned int packet)
{
	return (packet & kind->mask) == kind->value;
}

static void
device_put(struct test_rule *rule, unsigned int which, uint8_t level)
{
	const int table = 2 * level + (rule->kind.copies ? 0 : 1);
	unsigned int slot, hole = rig.nb_groups[table];

	for (slot = 0; slot < rig.nb_groups[table]; slot++) {
		if (rig.groups[table][slot] == rule->kind.mask + 1)
			break;
		if (rig.groups[table][slot] == 0 && hole == rig.nb_groups[table])
			hole = slot;
	}
	if (slot == rig.nb_groups[table])
		slot = hole;
	assert_true(slot < MAX_GROUPS);
	if (slot == rig.nb_groups[table])
		rig.nb_groups[table]++;
	rig.groups[table][slot] = rule->kind.mask + 1;
	rig.refs[table][slot]++;
	rule->at[which] = table;
}

static void
device_take(struct test_rule *rule, unsigned int which)
{
	const int table = rule->at[which];

	for (unsigned int slot = 0; slot < rig.nb_groups[table]; slot++)
		if (rig.groups[table][slot] == rule->kind.mask + 1 && --rig.refs[table][slot] == 0)
			rig.groups[table][slot] = 0;
	rule->at[which] = -1;
}

/** Collect the rules of one table that a packet hits: those of the match with the first slot. */
static void
device_walk_table(int table, unsigned int packet, unsigned int hits[MAX_RULES], int *hit)
{
	*hit = -1;
	for (unsigned int slot = 0; slot < rig.nb_groups[table] && *hit < 0; slot++) {
		for (unsigned int i = 0; i < rig.nb_rules; i++) {
			const struct test_rule *rule = &rig.rules[i];

			if (!rule->used || (rule->at[0] != table && rule->at[1] != table) ||
				rule->kind.mask + 1 != rig.groups[table][slot] ||
				!matches(&rule->kind, packet))
				continue;
			hits[i]++;
			*hit = i;
		}
	}
}

static void
device_walk(unsigned int packet, unsigned int hits[MAX_RULES])
{
	int hit;

	memset(hits, 0, MAX_RULES * sizeof(hits[0]));
	for (int table = 0; table < NB_TABLES; table++) {
		device_walk_table(table, packet, hits, &hit);
		if (table % 2 == 1 && hit >= 0)
			return;
	}
}

/** @return whether @p a goes before @p b by the promise; without exactness, equals go in any
 * order. */
static bool
stands_before(const struct test_rule *a, const struct test_rule *b)
{
	if (a->kind.priority != b->kind.priority)
		return a->kind.priority < b->kind.priority;
	if (a->kind.copies != b->kind.copies)
		return a->kind.copies;
	if (a->kind.depth != b->kind.depth)
		return a->kind.depth > b->kind.depth;
	if (a->kind.mask != b->kind.mask)
		return a->mask_age < b->mask_age;
	return a->age < b->age;
}

static bool
equals(const struct test_rule *a, const struct test_rule *b)
{
	return a->kind.priority == b->kind.priority && a->kind.depth == b->kind.depth &&
		a->kind.mask != b->kind.mask && !b->kind.copies;
}

static const struct test_rule *
expected_taker(unsigned int packet)
{
	const struct test_rule *taker = NULL;

	for (unsigned int i = 0; i < rig.nb_rules; i++) {
		const struct test_rule *rule = &rig.rules[i];

		if (rule->used && !rule->kind.copies && matches(&rule->kind, packet) &&
			(taker == NULL || stands_before(rule, taker)))
			taker = rule;
	}
	return taker;
}

static void
check_packet(unsigned int packet, const struct test_rule *moving)
{
	const struct test_rule *taker = expected_taker(packet);
	unsigned int hits[MAX_RULES], taken = 0;

	device_walk(packet, hits);
	for (unsigned int i = 0; i < rig.nb_rules; i++) {
		const struct test_rule *rule = &rig.rules[i];
		bool copied = rule->used && rule->kind.copies && matches(&rule->kind, packet) &&
			(taker == NULL || stands_before(rule, taker));

		if (!rule->used)
			continue;
		if (rule->kind.copies && rule == moving)
			assert_uint_in_range(hits[i], copied ? 1 : 0, copied ? 2 : 0);
		else if (rule->kind.copies)
			assert_int_equal(hits[i], copied);
		else if (rule == taker || hits[i] == 0)
			assert_int_equal(hits[i], rig.exact ? rule == taker : hits[i] != 0);
		else
			assert_true(!rig.exact && taker != NULL && equals(taker, rule));
		taken += rule->kind.copies ? 0 : hits[i];
	}
	assert_int_equal(taken, taker != NULL);
}

static void
check(const struct test_rule *moving)
{
	rig.steps++;
	for (unsigned int packet = 0; packet < rig.packets; packet++)
		check_packet(packet, moving);
}

static int
move(void *context, const struct mdv_flow_shape *shape, uint8_t level)
{
	struct mdv_flow_level_rule *each;
	const bool exact = rig.exact;

	assert_ptr_equal(context, &rig);
	if (rig.fail_move != 0 && --rig.fail_move == 0)
		return -EAGAIN;
	rig.exact = false; /* equals of a table move one after the other */
	TAILQ_FOREACH (each, &shape->rules, next) {
		struct test_rule *rule = test_rule_of(each);

		device_put(rule, 1, level);
		check(rule);
		device_take(rule, 0);
		rule->at[0] = rule->at[1];
		rule->at[1] = -1;
		check(NULL);
		rig.moved_copy = rig.moved_copy || shape->copies;
	}
	rig.exact = exact;
	return 0;
}

static void
rig_init(uint8_t nb_levels, unsigned int packets, bool exact)
{
	memset(&rig, 0, sizeof(rig));
	rig.packets = packets;
	rig.exact = exact;
	assert_int_equal(mdv_flow_level_init(&rig.levels, nb_levels, move, &rig), 0);
	rig.levels.reserved = 0;
}

static struct mdv_flow_level_want
want_of(const struct rule_kind *kind, struct mdv_flow_match *match)
{
	uint64_t mask, whole;

	memset(match, 0, sizeof(*match));
	match->value.words[0] = kind->value;
	match->mask.words[0] = kind->mask;
	mdv_flow_key_set_used(match);
	mdv_flow_key_hash(match, &mask, &whole);
	return (struct mdv_flow_level_want){
		.priority = kind->priority,
		.copies = kind->copies,
		.depth = kind->depth,
		.nb_masks = 1,
		.masks = { kind->mask + UINT64_C(1000) },
		.match = match,
		.hash = whole,
	};
}

static uint64_t
mask_age(const struct rule_kind *kind)
{
	uint64_t age = ++rig.age;

	for (unsigned int i = 0; i < rig.nb_rules; i++) {
		const struct test_rule *rule = &rig.rules[i];

		if (rule->used && rule->kind.priority == kind->priority &&
			rule->kind.depth == kind->depth && rule->kind.mask == kind->mask &&
			rule->kind.copies == kind->copies && rule->mask_age < age)
			age = rule->mask_age;
	}
	return age;
}

static int
add(unsigned int i, const struct rule_kind *kind)
{
	struct test_rule *rule = &rig.rules[i];
	struct mdv_flow_match match;
	const struct mdv_flow_level_want want = want_of(kind, &match);
	const uint32_t nb_shapes = rig.levels.nb_shapes;
	int checked = mdv_flow_level_check(&rig.levels, &want, rig.levels.sticky_stay), ret;

	assert_int_equal(rig.levels.nb_shapes, nb_shapes);
	assert_false(rule->used);
	rule->kind = *kind;
	rule->at[0] = rule->at[1] = -1;
	ret = mdv_flow_level_add(&rig.levels, &want, &rule->level);
	if (ret != -EAGAIN)
		assert_int_equal(ret, checked);
	if (ret == 0) {
		assert_uint_in_range(mdv_flow_level_of(&rule->level), 0, rig.levels.nb - 1);
		rule->mask_age = mask_age(kind);
		rule->age = rig.age;
		rule->used = true;
		rig.nb_rules = i >= rig.nb_rules ? i + 1 : rig.nb_rules;
		device_put(rule, 0, mdv_flow_level_of(&rule->level));
	}
	check(NULL);
	return ret;
}

static void
del(unsigned int i)
{
	struct test_rule *rule = &rig.rules[i];

	device_take(rule, 0);
	rule->used = false;
	mdv_flow_level_del(&rig.levels, &rule->level);
	check(NULL);
}

/** All kinds of rules over two bits, three priorities, two depths. */
static unsigned int
all_kinds(struct rule_kind *kinds)
{
	unsigned int nb = 0;

	for (uint8_t mask = 0; mask < 4; mask++)
		for (uint8_t value = 0; value < 4; value++)
			for (uint32_t priority = 0; priority < 3; priority++)
				for (uint8_t how = 0; (value & ~mask) == 0 && how < 3; how++)
					kinds[nb++] = (struct rule_kind){ priority, how == 2,
						how == 1, mask, value };
	return nb;
}

static bool
meet(const struct rule_kind *a, const struct rule_kind *b)
{
	return ((a->value ^ b->value) & a->mask & b->mask) == 0;
}

/** Copies of one priority may have any two levels, but those in the device keep their order. */
static bool
copies_fit(const struct test_rule *a, const struct test_rule *b, int above)
{
	return above != 0 && (!a->used || !b->used || (a->at[0] < b->at[0]) == (above < 0));
}

/**
 * @return whether these levels, one for each rule, keep the promise. The order of equals is free.
 */
static bool
possible(const unsigned int *levels, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		for (unsigned int j = 0; j < nb; j++) {
			const struct test_rule *a = &rig.rules[i], *b = &rig.rules[j];
			unsigned int gap = a->kind.copies && !b->kind.copies ? 0 : 1;

			if (i == j || !meet(&a->kind, &b->kind) || !stands_before(a, b))
				continue;
			if (b->kind.copies && a->kind.priority == b->kind.priority) {
				if (!copies_fit(a, b, levels[i] - levels[j]))
					return false;
				continue;
			}
			if (!a->kind.copies && equals(a, b))
				gap = 0;
			if (levels[i] + gap > levels[j])
				return false;
		}
	}
	return true;
}

static bool
any_possible(unsigned int nb, unsigned int nb_levels)
{
	unsigned int levels[3] = { 0 };

	for (;;) {
		unsigned int i = 0;

		if (possible(levels, nb))
			return true;
		while (i < nb && ++levels[i] == nb_levels)
			levels[i++] = 0;
		if (i == nb)
			return false;
	}
}

static void
check_refusal(const struct rule_kind *kind, unsigned int i)
{
	bool several = false;

	rig.rules[i].used = false;
	rig.rules[i].kind = *kind;
	rig.rules[i].mask_age = mask_age(kind);
	rig.rules[i].age = rig.age;
	for (unsigned int j = 0; j < i; j++)
		several = several || mask_age(&rig.rules[j].kind) != rig.age ||
			(rig.rules[j].kind.mask == kind->mask &&
				rig.rules[j].kind.priority == kind->priority);
	/* The bits that rules of a shape have in common say less than those of each rule. */
	if (!several)
		assert_false(any_possible(i + 1, rig.levels.nb));
}

/** Every stack of up to three rules: the exact outcome with enough levels. */
static void
test_every_stack(void **state)
{
	struct rule_kind kinds[128];
	const unsigned int nb = all_kinds(kinds), step = test_step(4);

	(void)state;
	for (unsigned int i = 0; i < nb; i++) {
		rig_init(16, 4, true);
		assert_int_equal(add(0, &kinds[i]), 0);
		for (unsigned int j = 0; j < nb; j++) {
			assert_int_equal(add(1, &kinds[j]), 0);
			for (unsigned int k = (i + j) % step; k < nb; k += step) {
				assert_int_equal(add(2, &kinds[k]), 0);
				del(2);
			}
			del(1);
		}
		mdv_flow_level_fini(&rig.levels);
	}
	print_message("%u kinds, three deep\n", nb);
}

/** The same with few levels: rules move, or are refused because no layout works. */
static void
test_every_stack_of_few_levels(void **state)
{
	struct rule_kind kinds[128];
	const unsigned int nb = all_kinds(kinds), step = test_step(3);
	uint64_t moved = 0, refused = 0;

	(void)state;
	for (unsigned int i = 0; i < nb; i++) {
		for (unsigned int j = 0; j < nb; j++) {
			for (unsigned int k = (i + j) % step; k < nb; k += step) {
				rig_init(2, 4, false);
				assert_int_equal(add(0, &kinds[i]), 0);
				if (add(1, &kinds[j]) != 0) {
					check_refusal(&kinds[j], 1);
					k = nb;
				} else if (add(2, &kinds[k]) != 0) {
					check_refusal(&kinds[k], 2);
					refused++;
				}
				moved += rig.levels.nb_moved;
				mdv_flow_level_fini(&rig.levels);
			}
		}
	}
	print_message("%lu moved, %lu refused\n", (unsigned long)moved, (unsigned long)refused);
	assert_true(moved > 1000 && refused > 1000);
}

static uint32_t
next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

/** Rules come and go, moves fail; at all times every packet goes where it should: once, if copying
 * rules are to stay where they are. */
static void
test_random_lives(void **state)
{
	static const uint8_t nb_levels[] = { 3, 5, 8, 16 };
	uint64_t moved = 0, refused = 0, failed = 0, moved_beside = 0, copies_moved = 0;

	(void)state;
	for (uint64_t run = 0; run < test_rounds(400); run++) {
		uint64_t seed = run / 8 * 4 + run % 4;

		rig_init(nb_levels[run % 4], 16, false);
		rig.levels.sticky_stay = run % 8 >= 4;
		for (unsigned int step = 0; step < 150; step++) {
			unsigned int i = next_random(&seed) % MAX_RULES;
			uint8_t mask = next_random(&seed) & 15;
			const struct rule_kind kind = {
				.priority = next_random(&seed) % 4,
				.copies = next_random(&seed) % 2,
				.depth = next_random(&seed) % 3,
				.mask = mask,
				.value = next_random(&seed) & mask,
			};
			int ret;

			if (rig.rules[i].used) {
				del(i);
				continue;
			}
			rig.fail_move = next_random(&seed) % 8;
			ret = add(i, &kind);
			refused += ret == -ENOSPC;
			failed += ret == -EAGAIN;
			assert_true(ret == 0 || ret == -ENOSPC || ret == -EAGAIN);
			rig.fail_move = 0;
		}
		moved += rig.levels.nb_moved;
		if (rig.levels.sticky_stay) {
			assert_false(rig.moved_copy);
			moved_beside += rig.levels.nb_moved;
		} else {
			copies_moved += rig.moved_copy;
		}
		mdv_flow_level_fini(&rig.levels);
	}
	print_message("%lu rules moved, %lu refused, %lu moves failed\n", (unsigned long)moved,
		(unsigned long)refused, (unsigned long)failed);
	assert_true(moved > 400 && refused > 400 && failed > 40);
	assert_true(moved_beside > 40 && copies_moved > 40);
}

/** Rules that no packet can match both cost no level; as many priorities as there are levels. */
static void
test_levels_used(void **state)
{
	char text[256];

	(void)state;
	rig_init(16, 16, true);
	for (uint8_t value = 0; value < 16; value++)
		assert_int_equal(
			add(value, &(struct rule_kind){ value, value & 1, 0, 15, value }), 0);
	assert_int_equal(rig.levels.nb_moved, 0);
	for (uint8_t value = 0; value < 16; value++)
		del(value);
	for (uint8_t i = 0; i < 16; i++)
		assert_int_equal(add(i, &(struct rule_kind){ i, true, 0, i, 0 }), 0);
	assert_int_equal(add(16, &(struct rule_kind){ 16, true, 0, 0, 0 }), -ENOSPC);
	/* A taking rule has a table of its own at the last level. */
	assert_int_equal(add(16, &(struct rule_kind){ 16, false, 0, 0, 0 }), 0);
	assert_int_equal(add(17, &(struct rule_kind){ 17, false, 0, 0, 0 }), -ENOSPC);
	for (uint8_t i = 3; i < 16; i++)
		del(i);
	mdv_flow_level_describe(&rig.levels, text, sizeof(text));
	assert_string_equal(text,
		"1 PASSTHRU rule of priority 0: 1, 1 PASSTHRU rule of priority 1: 1, "
		"1 PASSTHRU rule of priority 2: 1, 1 other rule of priority 16: 1");
	mdv_flow_level_fini(&rig.levels);
}

/** The last level is for default rules, which are behind every priority. */
static void
test_default_rules(void **state)
{
	struct mdv_flow_level_rule rules[2] = { 0 };
	struct mdv_flow_match match = { 0 };
	struct mdv_flow_level_want want = {
		.priority = MDV_FLOW_LEVEL_DEFAULT, .set = 1, .nb_masks = 1, .match = &match
	};

	(void)state;
	rig_init(16, 1, true);
	rig.levels.reserved = 1;
	for (uint8_t i = 0; i < 15; i++)
		assert_int_equal(
			add(i, &(struct rule_kind){ UINT32_MAX - 1 - i, false, 0, 0, 0 }), 0);
	assert_int_equal(add(15, &(struct rule_kind){ 1, false, 0, 0, 0 }), -ENOSPC);
	assert_int_equal(mdv_flow_level_add(&rig.levels, &want, &rules[0]), 0);
	assert_int_equal(mdv_flow_level_of(&rules[0]), 15);
	/* Another match of the set joins the shape; another set would need a level. */
	match.mask.words[1] = 1;
	mdv_flow_key_set_used(&match);
	assert_int_equal(mdv_flow_level_add(&rig.levels, &want, &rules[1]), 0);
	assert_ptr_equal(rules[0].shape, rules[1].shape);
	want.set = 2;
	assert_int_equal(mdv_flow_level_check(&rig.levels, &want, rig.levels.sticky_stay), -ENOSPC);
	mdv_flow_level_del(&rig.levels, &rules[0]);
	mdv_flow_level_del(&rig.levels, &rules[1]);
	assert_int_equal(mdv_flow_level_check(&rig.levels, &want, rig.levels.sticky_stay), 0);
	mdv_flow_level_fini(&rig.levels);
}

/** The parts of a rule share a table, which must be one where their masks come in their order. */
static void
test_parts(void **state)
{
	static struct mdv_flow_level_rule rules[4];
	struct mdv_flow_match match = { .mask.words = { 15 }, .value.words = { 1 }, .used = 1 };
	struct mdv_flow_level_want plain = {
		.copies = true, .nb_masks = 1, .masks = { 15 }, .match = &match
	};
	struct mdv_flow_level_want parts = {
		.copies = true, .nb_masks = 2, .masks = { 31, 15 }, .match = &match
	};

	(void)state;
	memset(rules, 0, sizeof(rules));
	rig_init(16, 1, true);
	assert_int_equal(mdv_flow_level_add(&rig.levels, &plain, &rules[0]), 0);
	match.value.words[0] = 2;
	assert_int_equal(mdv_flow_level_add(&rig.levels, &parts, &rules[1]), 0);
	assert_int_not_equal(mdv_flow_level_of(&rules[0]), mdv_flow_level_of(&rules[1]));
	match.value.words[0] = 3;
	assert_int_equal(mdv_flow_level_add(&rig.levels, &parts, &rules[2]), 0);
	assert_ptr_equal(rules[1].shape, rules[2].shape);
	mdv_flow_level_fini(&rig.levels);
}

static int
move_nothing(void *context, const struct mdv_flow_shape *shape, uint8_t level)
{
	(void)context, (void)shape, (void)level;
	return 0;
}

/** Rules of one mask are of one age, whatever their parts; of rules with one match, the older is
 * first. */
static void
test_parts_in_order(void **state)
{
	static struct mdv_flow_level_rule rules[5];
	struct mdv_flow_match match = { .mask.words = { 15 }, .value.words = { 1 }, .used = 1 };
	struct mdv_flow_level_want plain = { .nb_masks = 1, .masks = { 15 }, .match = &match };
	struct mdv_flow_level_want parts = { .nb_masks = 2, .masks = { 31, 15 }, .match = &match };
	struct mdv_flow_match lesser = { .mask.words = { 7 }, .value.words = { 2 }, .used = 1 };
	struct mdv_flow_level_want other = { .nb_masks = 1, .masks = { 7 }, .match = &lesser };

	(void)state;
	memset(rules, 0, sizeof(rules));
	rig_init(16, 1, true);
	rig.levels.move = move_nothing;
	assert_int_equal(mdv_flow_level_add(&rig.levels, &plain, &rules[0]), 0);
	assert_int_equal(mdv_flow_level_add(&rig.levels, &other, &rules[1]), 0);
	/* Its mask is older than the other one. */
	match.value.words[0] = 2;
	assert_int_equal(mdv_flow_level_add(&rig.levels, &parts, &rules[2]), 0);
	assert_true(mdv_flow_level_of(&rules[2]) < mdv_flow_level_of(&rules[1]));
	/* The same match again, without parts. */
	assert_int_equal(mdv_flow_level_add(&rig.levels, &plain, &rules[3]), 0);
	assert_true(mdv_flow_level_of(&rules[2]) < mdv_flow_level_of(&rules[3]));
	assert_true(mdv_flow_layout_before(rules[3].shape, rules[1].shape));
	/* The mask keeps its age while any rule of it lives. */
	mdv_flow_level_del(&rig.levels, &rules[0]);
	mdv_flow_level_del(&rig.levels, &rules[3]);
	match.value.words[0] = 10;
	assert_int_equal(mdv_flow_level_add(&rig.levels, &plain, &rules[4]), 0);
	assert_true(mdv_flow_layout_before(rules[4].shape, rules[1].shape));
	mdv_flow_level_fini(&rig.levels);
}

/** One shape, many rules: a comparison and a hash a rule, and another table when one is full. */
static void
test_many_rules(void **state)
{
	const uint32_t nb = 100000;
	struct mdv_flow_level_rule *rules = calloc(nb, sizeof(*rules));
	struct mdv_flow_match match = { .mask.words = { 0xffffffff }, .used = 1 };
	struct mdv_flow_level_want want = { .nb_masks = 1, .masks = { 7 }, .match = &match };
	uint32_t per_level[16] = { 0 };
	uint64_t mask;

	(void)state;
	assert_non_null(rules);
	rig_init(16, 1, true);
	for (uint32_t i = 0; i < nb; i++) {
		match.value.words[0] = i;
		mdv_flow_key_hash(&match, &mask, &want.hash);
		assert_int_equal(mdv_flow_level_add(&rig.levels, &want, &rules[i]), 0);
		per_level[mdv_flow_level_of(&rules[i])]++;
	}
	assert_int_equal(rig.levels.nb_shapes, 2);
	for (unsigned int i = 0; i < 16; i++)
		assert_uint_in_range(per_level[i], 0, MDV_FLOW_LEVEL_ENTRIES);
	/* The same rule again stands behind, in the rest of the tables and one more. */
	match.value.words[0] = 5;
	mdv_flow_key_hash(&match, &mask, &want.hash);
	assert_int_equal(mdv_flow_level_check(&rig.levels, &want, rig.levels.sticky_stay), 0);
	for (uint32_t i = 0; i < nb; i++)
		mdv_flow_level_del(&rig.levels, &rules[i]);
	assert_int_equal(rig.levels.nb_shapes, 0);
	assert_int_equal(rig.levels.nb_moved, 0);
	free(rules);
	mdv_flow_level_fini(&rig.levels);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_stack),
		cmocka_unit_test(test_every_stack_of_few_levels),
		cmocka_unit_test(test_random_lives),
		cmocka_unit_test(test_levels_used),
		cmocka_unit_test(test_default_rules),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_parts_in_order),
		cmocka_unit_test(test_many_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
