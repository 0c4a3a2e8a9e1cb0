/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which levels rules get in lives of all kinds of them, which move and which are refused, as it was
 * when this was written. flow_level_test.c says what must be so; here is what the allocator makes
 * of the freedom that it has. A change of it belongs into test/model/level_lives.py first, which
 * counts whether fewer rules are refused; then the figures here are to be renewed.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>

#include "flow/place/flow_level.h"

#define MAX_RULES 80
#define NB_STEPS  400

struct life_rule {
	struct mdv_flow_level_rule level;
	struct mdv_flow_level_want want;
	struct mdv_flow_match match;
	bool used;
};

/** What rules there are in a life, of what a device. */
struct life_kind {
	uint8_t nb_levels, reserved;
	uint32_t entries; /**< of a table */
	bool sticky_stay;
	uint8_t nb_priorities, nb_masks;                            /**< to draw from */
	uint8_t copies, several, parts, defaults, beside, modifies; /**< of 16 rules */
	uint8_t fails;                                              /**< of 64 moves */
};

static struct {
	struct mdv_flow_levels levels;
	struct life_rule rules[MAX_RULES];
	const struct life_kind *kind;
	uint64_t random, digest;
	unsigned int nb_refused, nb_moves, nb_failed;
} life;

/** Knuth's MMIX generator: the same everywhere. */
static unsigned int
draw(unsigned int below)
{
	life.random = life.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return below == 0 ? 0 : (unsigned int)(life.random >> 33) % below;
}

static void
note(uint64_t what)
{
	life.digest = (life.digest ^ what) * UINT64_C(0x100000001b3);
	life.digest ^= life.digest >> 29;
}

static int
move(void *context, const struct mdv_flow_shape *shape, uint8_t level)
{
	assert_ptr_equal(context, &life);
	assert_int_not_equal(shape->level, level);
	note(shape->born << 8 | level);
	if (draw(64) < life.kind->fails) {
		life.nb_failed++;
		return -EAGAIN;
	}
	life.nb_moves++;
	return 0;
}

/** A mask has one depth and one list of parts, as patterns have. */
static void
draw_rule(struct life_rule *rule)
{
	static const uint8_t masks[] = { 0x00, 0xff, 0x0f, 0xf0, 0x3c, 0x81, 0x18, 0x01, 0x70 };
	const struct life_kind *kind = life.kind;
	const unsigned int nth = draw(kind->nb_masks);
	struct mdv_flow_level_want *want = &rule->want;
	uint64_t of_mask;

	memset(want, 0, sizeof(*want));
	memset(&rule->match, 0, sizeof(rule->match));
	rule->match.mask.words[nth % 2] = masks[nth];
	rule->match.value.words[nth % 2] = draw(256) & masks[nth];
	rule->match.depth = nth % 3;
	mdv_flow_key_set_used(&rule->match);
	mdv_flow_key_hash(&rule->match, &of_mask, &want->hash);
	want->match = &rule->match;
	want->depth = nth % 3;
	want->priority = draw(kind->nb_priorities) * draw(3);
	want->copies = draw(16) < kind->copies;
	want->multi_dest = draw(16) < kind->several;
	want->modifies = draw(16) < kind->modifies;
	want->nb_entries = 1 + draw(2);
	want->nb_masks = 1;
	if (draw(16) < kind->parts)
		want->nb_masks += 1 + draw(3);
	for (unsigned int i = 0; i < want->nb_masks; i++)
		want->masks[i] = 1000 * (want->nb_masks - i) + masks[nth];
	if (draw(16) < kind->defaults) {
		want->priority = MDV_FLOW_LEVEL_DEFAULT;
		want->copies = want->modifies = false;
		want->set = draw(4);
	}
}

/** A level is given if it was said to be, and the level is one that there is. */
static int
add(struct life_rule *rule)
{
	struct mdv_flow_levels *levels = &life.levels;
	const int stays = mdv_flow_level_check(levels, &rule->want, true);
	const int moves = mdv_flow_level_check(levels, &rule->want, false);
	const unsigned int failed = life.nb_failed;
	const int ret = mdv_flow_level_add(levels, &rule->want, &rule->level);

	if (failed == life.nb_failed)
		assert_int_equal(ret, levels->sticky_stay ? stays : moves);
	note(-stays << 16 | -moves << 8 | -ret);
	rule->used = ret == 0;
	life.nb_refused += ret == -ENOSPC;
	if (ret == 0) {
		assert_true(mdv_flow_level_of(&rule->level) < levels->nb);
		note(mdv_flow_level_of(&rule->level));
		note(rule->level.shape->turn << 4 | rule->level.shape->rank);
	}
	return ret;
}

static void
del(struct life_rule *rule)
{
	mdv_flow_level_del(&life.levels, &rule->level);
	assert_null(rule->level.shape);
	rule->used = false;
}

/** A new rule, or one beside another, of which one goes. */
static void
come(struct life_rule *rule)
{
	struct life_rule *other = &life.rules[draw(MAX_RULES)];

	if (draw(16) >= life.kind->beside || !other->used || other == rule) {
		draw_rule(rule);
		add(rule);
		return;
	}
	rule->want = other->want;
	rule->match = other->match;
	rule->want.match = &rule->match;
	rule->want.beside = &other->level;
	if (add(rule) == 0)
		del(draw(2) == 0 ? rule : other);
	rule->want.beside = NULL;
}

static void
go(struct life_rule *rule)
{
	struct life_rule *other = &life.rules[draw(MAX_RULES)];

	if (draw(8) != 0 || other->used) {
		del(rule);
		return;
	}
	/* Another takes its place. */
	other->want = rule->want;
	other->match = rule->match;
	other->want.match = &other->match;
	mdv_flow_level_rename(&rule->level, &other->level);
	assert_null(rule->level.shape);
	other->used = true;
	rule->used = false;
}

static void
live(const struct life_kind *kind, uint64_t seed)
{
	static char text[512];

	memset(&life, 0, sizeof(life));
	life.kind = kind;
	life.random = seed;
	assert_int_equal(mdv_flow_level_init(&life.levels, kind->nb_levels, move, &life), 0);
	life.levels.reserved = kind->reserved;
	life.levels.entries = kind->entries;
	life.levels.sticky_stay = kind->sticky_stay;
	for (unsigned int step = 0; step < NB_STEPS; step++) {
		struct life_rule *rule = &life.rules[draw(MAX_RULES)];

		if (rule->used)
			go(rule);
		else
			come(rule);
		if (draw(100) == 0)
			mdv_flow_level_renew(&life.levels);
		note(life.levels.nb_shapes << 16 | life.levels.nb_buckets);
	}
	note(life.levels.nb_moved);
	mdv_flow_level_describe(&life.levels, text, sizeof(text));
	for (const char *at = text; *at != '\0'; at++)
		note((uint8_t)*at);
	mdv_flow_level_fini(&life.levels);
}

/* clang-format off */
static const struct {
	struct life_kind kind;
	uint64_t digest;
	unsigned int nb_refused, nb_moves;
} lives[] = {
	/* levels, reserved, entries, stay; priorities, masks; copies, several, parts, defaults, beside,
	 * modifies; fails */
	{ { 16, 1, 65536, false, 3, 4, 0, 0, 0, 0, 0, 0, 0 }, 0xf47364f1eb2f83bc, 45, 325 },
	{ { 16, 1, 65536, false, 2, 9, 0, 0, 0, 0, 0, 0, 0 }, 0xf3433bc4282ab27f, 18, 316 },
	{ { 16, 0, 65536, false, 4, 5, 4, 0, 0, 0, 0, 0, 0 }, 0x13bfda3ba4fa60da, 25, 328 },
	{ { 16, 1, 65536, true, 4, 5, 4, 2, 0, 0, 0, 0, 0 }, 0x717f6b3e2cda8b70, 98, 54 },
	{ { 16, 1, 65536, false, 3, 5, 0, 0, 8, 0, 0, 0, 0 }, 0x701fc71d62662b5f, 97, 367 },
	{ { 16, 1, 65536, true, 3, 5, 2, 2, 4, 4, 0, 0, 0 }, 0x3eb2a8383f44b0a0, 115, 80 },
	{ { 16, 1, 65536, false, 1, 3, 0, 0, 0, 12, 4, 0, 0 }, 0x53a46cbf9c91c877, 95, 238 },
	{ { 16, 1, 65536, false, 3, 4, 2, 2, 2, 2, 6, 2, 0 }, 0x2a6bcbf7859644d2, 59, 548 },
	{ { 16, 1, 65536, false, 3, 4, 2, 2, 2, 2, 2, 2, 8 }, 0xe7a53656150ee065, 55, 472 },
	{ { 16, 1, 6, false, 2, 4, 1, 1, 1, 1, 2, 0, 0 }, 0xa21cc94094e492c2, 41, 481 },
	{ { 16, 1, 3, true, 2, 4, 1, 1, 1, 1, 2, 0, 0 }, 0xf6be644332aa4000, 80, 198 },
	{ { 32, 1, 20, false, 8, 9, 2, 2, 2, 2, 2, 2, 1 }, 0x570823df7c9bf7dc, 0, 457 },
	{ { 32, 0, 65536, false, 30, 3, 2, 0, 0, 0, 2, 0, 0 }, 0xf31bd037fefcc269, 11, 930 },
	{ { 5, 1, 65536, false, 3, 4, 2, 1, 1, 1, 2, 1, 0 }, 0x5a5d37374e6a1b1c, 185, 17 },
	{ { 2, 1, 65536, false, 2, 3, 2, 1, 1, 4, 2, 1, 0 }, 0x4ac39593133d9056, 303, 0 },
	{ { 1, 0, 65536, false, 2, 3, 4, 1, 1, 4, 2, 1, 0 }, 0x85c12cd4a24850ff, 300, 0 },
	{ { 16, 0, 65536, false, 6, 3, 13, 0, 0, 0, 0, 0, 0 }, 0xdd30c1f0ef3761d7, 74, 288 },
	{ { 10, 0, 65536, false, 4, 2, 12, 4, 0, 0, 0, 0, 0 }, 0x36f29d70ad724733, 97, 175 },
	{ { 16, 1, 65536, false, 12, 5, 8, 4, 4, 2, 2, 0, 2 }, 0xd29b012ad1bf72ba, 59, 565 },
	{ { 6, 1, 65536, false, 2, 2, 10, 0, 0, 1, 0, 0, 0 }, 0x1a6f4caa09f82faf, 175, 59 },
	{ { 16, 1, 65536, true, 6, 3, 13, 0, 0, 0, 0, 0, 0 }, 0x6dc7855d4fde553e, 89, 18 },
	{ { 32, 1, 8, false, 9, 6, 6, 3, 2, 1, 1, 1, 1 }, 0x1c76b9c688e45e9e, 0, 288 },
};
/* clang-format on */

static void
levels_are_given_as_before(void **state)
{
	bool same = true;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(lives); i++) {
		live(&lives[i].kind, i + 1);
		if (life.digest == lives[i].digest && life.nb_refused == lives[i].nb_refused &&
			life.nb_moves == lives[i].nb_moves)
			continue;
		same = false;
		print_message("life %u: 0x%016" PRIx64 ", %u, %u\n", i, life.digest,
			life.nb_refused, life.nb_moves);
	}
	assert_true(same);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_given_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
