/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow table: group and index of entries, and the look-up. */
#include "steering/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
shca_table_init(struct shca_table *table, const struct shca_table_layout *layout,
	struct shca_table_firmware *firmware, uint32_t level, bool dont_trap)
{
	uint32_t first_single = layout->nb_big * layout->big_size;

	memset(table, 0, sizeof(*table));
	table->layout = layout;
	table->firmware = firmware;
	table->level = level;
	table->dont_trap = dont_trap;
	shca_idtable_init(&table->big, 0, layout->nb_big > 0 ? layout->nb_big - 1 : 0);
	shca_idtable_init(&table->single, first_single, layout->size - 1);
}

void
shca_table_fini(struct shca_table *table)
{
	shca_idtable_fini(&table->big);
	shca_idtable_fini(&table->single);
	free(table->subtables);
}

struct shca_fte *
shca_table_find(const struct shca_table *table, const union shca_match_key *key)
{
	struct shca_fte *best = NULL;

	for (uint32_t i = 0; i < table->nb_subtables; i++) {
		const struct shca_table_subtable *ref = &table->subtables[i];

		if (best != NULL && best->index < ref->lowest_start)
			break;

		struct shca_fte *fte = shca_subtable_find(ref->subtable, key);

		if (fte != NULL && (best == NULL || fte->index < best->index))
			best = fte;
	}
	return best;
}

static uint32_t
hash_mask(const union shca_match_key *mask)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++)
		hash = (hash ^ mask->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 32);
}

static struct shca_subtable *
find_subtable(const struct shca_table *table, const union shca_match_key *mask)
{
	uint32_t hash = hash_mask(mask);

	for (uint32_t i = 0; i < table->nb_subtables; i++) {
		const struct shca_table_subtable *ref = &table->subtables[i];

		if (ref->mask_hash == hash &&
			memcmp(&ref->subtable->mask, mask, sizeof(*mask)) == 0)
			return ref->subtable;
	}
	return NULL;
}

/** @return the newest big group of @p subtable that is not full, or NULL: fs_core.c
 * build_match_list takes groups of one mask as rhltable lists them. */
static struct shca_group *
find_room(const struct shca_table *table, const struct shca_subtable *subtable)
{
	struct shca_group *newest = NULL;

	for (uint32_t left = subtable->big_groups; left != 0; left &= left - 1) {
		struct shca_group *group =
			shca_idtable_get(&table->big, (uint32_t)__builtin_ctz(left));

		if (group->nb_ftes < group->size && (newest == NULL || group->made > newest->made))
			newest = group;
	}
	return newest;
}

static bool
has_free_group(const struct shca_table *table)
{
	const struct shca_table_layout *layout = table->layout;

	return table->nb_big < layout->nb_big ||
		table->nb_single < layout->size - layout->nb_big * layout->big_size;
}

static int
check_join(const struct shca_table *table, const struct shca_fte *fte,
	const struct shca_fte_action *action)
{
	struct shca_fte_limits limits = table->firmware->limits;

	/* The next table is a destination, too. */
	if (table->dont_trap && limits.destinations != 0)
		limits.destinations--;
	return shca_fte_check(fte, action, &limits);
}

int
shca_table_check(const struct shca_table *table, const struct shca_match *match,
	const struct shca_fte_action *action)
{
	const struct shca_subtable *subtable = find_subtable(table, &match->mask);

	if (subtable != NULL) {
		const struct shca_fte *fte = shca_subtable_find(subtable, &match->value);

		if (fte != NULL)
			return check_join(table, fte, action);
		if (find_room(table, subtable) != NULL)
			return 0;
	}
	return has_free_group(table) ? 0 : -ENOSPC;
}

/** @return the start of a subtable's first group: a big one, or the first one-entry group from
 * @p from on. */
static uint32_t
lowest_start(const struct shca_table *table, const struct shca_subtable *subtable, uint32_t from)
{
	const struct shca_group *group;

	if (subtable->big_groups != 0)
		return (uint32_t)__builtin_ctz(subtable->big_groups) * table->layout->big_size;
	for (; (group = shca_idtable_next(&table->single, &from)) != NULL; from++)
		if (group->subtable == subtable)
			return from;
	return UINT32_MAX;
}

static void
remove_subtable(struct shca_table *table, const struct shca_subtable *subtable)
{
	uint32_t i = 0;

	while (table->subtables[i].subtable != subtable)
		i++;
	table->nb_subtables--;
	memmove(&table->subtables[i], &table->subtables[i + 1],
		(table->nb_subtables - i) * sizeof(table->subtables[0]));
}

/** Insert a subtable by its lowest_start; the list has room. */
static void
insert_subtable(struct shca_table *table, struct shca_subtable *subtable)
{
	uint32_t i = table->nb_subtables;

	for (; i > 0 && table->subtables[i - 1].lowest_start > subtable->lowest_start; i--)
		table->subtables[i] = table->subtables[i - 1];
	table->subtables[i] = (struct shca_table_subtable){
		.subtable = subtable,
		.lowest_start = subtable->lowest_start,
		.mask_hash = hash_mask(&subtable->mask),
	};
	table->nb_subtables++;
}

/** Move @p subtable in the list after its groups changed; they begin at @p from or later. */
static void
move_subtable(struct shca_table *table, struct shca_subtable *subtable, uint32_t from)
{
	uint32_t start = lowest_start(table, subtable, from);

	if (start == subtable->lowest_start)
		return;
	remove_subtable(table, subtable);
	subtable->lowest_start = start;
	insert_subtable(table, subtable);
}

/** @return a new subtable of @p mask without groups, with room for it in the list, or NULL. */
static struct shca_subtable *
make_subtable(struct shca_table *table, const union shca_match_key *mask)
{
	if (table->nb_subtables == table->subtables_capacity) {
		uint32_t capacity =
			table->subtables_capacity == 0 ? 8 : table->subtables_capacity * 2;
		void *subtables = realloc(table->subtables, capacity * sizeof(table->subtables[0]));

		if (subtables == NULL)
			return NULL;
		table->subtables = subtables;
		table->subtables_capacity = capacity;
	}

	struct shca_subtable *subtable = shca_subtable_create(mask);

	if (subtable != NULL)
		subtable->lowest_start = UINT32_MAX;
	return subtable;
}

static void
destroy_group(struct shca_table *table, struct shca_group *group)
{
	struct shca_subtable *subtable = group->subtable;

	if (group->size > 1) {
		shca_idtable_del(&table->big, group->id);
		subtable->big_groups &= ~(UINT32_C(1) << group->id);
		table->nb_big--;
	} else {
		shca_idtable_del(&table->single, group->id);
		table->nb_single--;
	}
	subtable->nb_groups--;
	table->firmware->commands.groups++;
	shca_idtable_fini(&group->ftes);
	free(group);
}

/** Take the lowest free group, big if there is one, for @p subtable. */
static struct shca_group *
make_group(struct shca_table *table, struct shca_subtable *subtable)
{
	const struct shca_table_layout *layout = table->layout;
	bool big = table->nb_big < layout->nb_big;
	struct shca_group *group = calloc(1, sizeof(*group));

	if (group == NULL)
		return NULL;
	if (shca_idtable_add(big ? &table->big : &table->single, group, &group->id) != 0) {
		free(group);
		return NULL;
	}
	group->subtable = subtable;
	group->made = ++table->nb_groups_made;
	table->firmware->commands.groups++;
	group->start = big ? group->id * layout->big_size : group->id;
	group->size = big ? layout->big_size : 1;
	shca_idtable_init(&group->ftes, group->start, group->start + group->size - 1);
	if (big) {
		subtable->big_groups |= UINT32_C(1) << group->id;
		table->nb_big++;
	} else {
		table->nb_single++;
	}
	subtable->nb_groups++;
	return group;
}

/** @return a new entry for @p value with a group and an index, or NULL when out of memory. */
static struct shca_fte *
make_fte(
	struct shca_table *table, struct shca_subtable *subtable, const union shca_match_key *value)
{
	struct shca_fte *fte = shca_subtable_make(subtable, value);
	struct shca_group *group = find_room(table, subtable);

	if (fte == NULL)
		return NULL;
	if (group == NULL)
		group = make_group(table, subtable);
	if (group == NULL)
		goto destroy_fte;
	if (shca_idtable_add(&group->ftes, fte, &fte->index) != 0)
		goto destroy_group;
	group->nb_ftes++;
	fte->group = group;
	return fte;

destroy_group:
	if (group->nb_ftes == 0)
		destroy_group(table, group);
destroy_fte:
	shca_fte_destroy(fte);
	return NULL;
}

/** Undo make_fte(). @return true when that emptied, and destroyed, the entry's group. */
static bool
unmake_fte(struct shca_table *table, struct shca_fte *fte)
{
	struct shca_group *group = fte->group;
	bool last = --group->nb_ftes == 0;

	shca_idtable_del(&group->ftes, fte->index);
	if (last)
		destroy_group(table, group);
	shca_fte_destroy(fte);
	return last;
}

static void
note_destinations(struct shca_table *table, const struct shca_fte *fte)
{
	if (fte->destinations.nb > table->max_destinations)
		table->max_destinations = fte->destinations.nb;
}

/** @return whether an entry of rules with @p action forwards to the next table. */
static bool
forwards(const struct shca_table *table, const struct shca_fte_action *action)
{
	return table->dont_trap && !action->drop;
}

int
shca_table_add(struct shca_table *table, const struct shca_match *match,
	const struct shca_fte_action *action, struct shca_fte **fte)
{
	struct shca_subtable *old_subtable = find_subtable(table, &match->mask);
	struct shca_subtable *subtable = old_subtable;
	struct shca_fte *added;

	if (subtable != NULL) {
		added = shca_subtable_find(subtable, &match->value);
		if (added != NULL) {
			if (shca_fte_join(added, action) != 0)
				return -ENOMEM;
			goto done;
		}
	} else {
		subtable = make_subtable(table, &match->mask);
		if (subtable == NULL)
			return -ENOMEM;
	}

	added = make_fte(table, subtable, &match->value);
	if (added == NULL)
		goto destroy_subtable;
	if (shca_fte_join(added, action) != 0)
		goto unmake_fte;
	shca_subtable_add(subtable, added);
	if (old_subtable == NULL) {
		subtable->lowest_start = added->group->start;
		insert_subtable(table, subtable);
		table->fields |= subtable->fields;
		table->firmware->nb_mask_changes++;
	} else if (added->group->start < subtable->lowest_start) {
		move_subtable(table, subtable, added->group->start);
	}
	table->nb_forwarding += forwards(table, action);
done:
	table->firmware->commands.entries++;
	note_destinations(table, added);
	*fte = added;
	return 0;

unmake_fte:
	unmake_fte(table, added);
destroy_subtable:
	if (old_subtable == NULL)
		shca_subtable_destroy(subtable);
	return -ENOMEM;
}

static void
drop_subtable(struct shca_table *table, struct shca_subtable *subtable)
{
	remove_subtable(table, subtable);
	shca_subtable_destroy(subtable);
	table->firmware->nb_mask_changes++;
	table->fields = 0;
	for (uint32_t i = 0; i < table->nb_subtables; i++)
		table->fields |= table->subtables[i].subtable->fields;
	if (table->nb_subtables == 0)
		table->max_destinations = 0;
}

void
shca_table_del(struct shca_table *table, struct shca_fte *fte, const struct shca_fte_action *action)
{
	struct shca_subtable *subtable = fte->group->subtable;

	table->firmware->commands.entries++;
	if (!shca_fte_leave(fte, action))
		return;
	table->nb_forwarding -= forwards(table, action);
	shca_subtable_del(subtable, fte);

	bool group_gone = unmake_fte(table, fte);

	if (subtable->nb_ftes == 0)
		drop_subtable(table, subtable);
	else if (group_gone)
		move_subtable(table, subtable, subtable->lowest_start);
}
