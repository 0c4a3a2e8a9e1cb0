/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's level allocator as a filter, for lives of rules that are made elsewhere. Lines in:
 *
 *     add PRIORITY COPIES SEVERAL DEPTH MASKS HASH... WORDS INDEX MASK VALUE...
 *     del NUMBER          of the rule, in the order in which they were added, from 0
 *
 * Lines out, one a rule added: errno, level, rules moved that take, and that copy.
 * usage: levels NB_LEVELS MOVE       MOVE 0: PASSTHRU rules stay where they are
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/place/flow_level.h"

#define MAX_RULES 65536

static struct {
	struct mdv_flow_levels levels;
	struct mdv_flow_level_rule rules[MAX_RULES];
	unsigned int nb, taking, copying;
} life;

static int
move(void *context, const struct mdv_flow_shape *shape, uint8_t level)
{
	(void)context, (void)level;
	if (shape->copies)
		life.copying += shape->nb_rules;
	else
		life.taking += shape->nb_rules;
	return 0;
}

/** @return whether all that the line should have is there */
static bool
read_words(struct mdv_flow_match *match)
{
	unsigned int nb, index;

	memset(match, 0, sizeof(*match));
	if (scanf("%u", &nb) != 1)
		return false;
	while (nb-- != 0) {
		if (scanf("%u", &index) != 1 || index >= MDV_FLOW_KEY_WORDS ||
			scanf("%" SCNx64 " %" SCNx64, &match->mask.words[index],
				&match->value.words[index]) != 2)
			return false;
	}
	return true;
}

static bool
read_want(struct mdv_flow_level_want *want, struct mdv_flow_match *match)
{
	unsigned int priority, copies, multi_dest, depth, nb_masks;
	uint64_t mask;

	memset(want, 0, sizeof(*want));
	if (scanf("%u %u %u %u %u", &priority, &copies, &multi_dest, &depth, &nb_masks) != 5 ||
		nb_masks > MDV_FLOW_LEVEL_MASKS)
		return false;
	want->priority = priority;
	want->copies = copies;
	want->multi_dest = multi_dest;
	want->depth = depth;
	want->nb_masks = nb_masks;
	for (unsigned int i = 0; i < nb_masks; i++)
		if (scanf("%" SCNx64, &want->masks[i]) != 1)
			return false;
	if (!read_words(match))
		return false;
	want->match = match;
	mdv_flow_key_set_used(match);
	mdv_flow_key_hash(match, &mask, &want->hash);
	return true;
}

static bool
add(void)
{
	struct mdv_flow_level_rule *rule = &life.rules[life.nb];
	struct mdv_flow_level_want want;
	struct mdv_flow_match match;
	int rc;

	if (life.nb == MAX_RULES || !read_want(&want, &match))
		return false;
	life.nb++;
	life.taking = life.copying = 0;
	rc = mdv_flow_level_add(&life.levels, &want, rule);
	printf("%d %d %u %u\n", -rc, rc == 0 ? mdv_flow_level_of(rule) : -1, life.taking,
		life.copying);
	return true;
}

static bool
del(void)
{
	unsigned int number;

	if (scanf("%u", &number) != 1 || number >= life.nb)
		return false;
	mdv_flow_level_del(&life.levels, &life.rules[number]);
	return true;
}

int
main(int argc, char *argv[])
{
	char word[8];
	bool good = true;

	if (argc != 3 || mdv_flow_level_init(&life.levels, atoi(argv[1]), move, NULL) != 0)
		return EXIT_FAILURE;
	life.levels.sticky_stay = atoi(argv[2]) == 0;
	while (good && scanf("%7s", word) == 1)
		good = strcmp(word, "add") == 0 ? add() : strcmp(word, "del") == 0 && del();
	mdv_flow_level_fini(&life.levels);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
