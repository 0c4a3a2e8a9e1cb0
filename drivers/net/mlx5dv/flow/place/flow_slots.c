/* SPDX-License-Identifier: BSD-3-Clause */
/* Content of the levels' tables: the slot of each mask, and the number of entries. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow_slots.h"

/**
 * Groups of an auto-grouped table. The first masks get groups; each later mask gets groups of one
 * entry, wherever one is free, so their order is unknown (MLX5_FS_MAX_TYPES less the one kept for
 * those).
 */
#define SLOTS_GROUPS 6

struct slots_slot {
	uint64_t mask;
	uint32_t refs; /* 0: free */
};

struct mdv_flow_level_slots {
	struct slots_slot *slots;
	uint32_t nb, size;
	uint32_t entries;
};

static struct mdv_flow_level_slots *
slots_table(const struct mdv_flow_levels *levels, uint8_t level, bool copies)
{
	return &levels->slots[2 * level + (copies ? 0 : 1)];
}

static uint32_t
slots_find(const struct mdv_flow_level_slots *table, uint64_t mask)
{
	uint32_t at, hole = table->nb;

	for (at = 0; at < table->nb; at++) {
		if (table->slots[at].refs == 0)
			hole = RTE_MIN(hole, at);
		else if (table->slots[at].mask == mask)
			return at;
	}
	return hole;
}

bool
mdv_flow_slots_in_order(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *earlier,
	const struct mdv_flow_shape *later, uint8_t level)
{
	const struct mdv_flow_level_slots *table = slots_table(levels, level, false);
	uint32_t last = 0, first = UINT32_MAX;

	for (unsigned int i = 0; i < earlier->nb_masks; i++)
		last = RTE_MAX(last, slots_find(table, earlier->masks[i]));
	for (unsigned int i = 0; i < later->nb_masks; i++)
		first = RTE_MIN(first, slots_find(table, later->masks[i]));
	return last < first && last < SLOTS_GROUPS;
}

int
mdv_flow_slots_init(struct mdv_flow_levels *levels)
{
	levels->slots = calloc(2 * MDV_FLOW_LEVEL_MAX, sizeof(levels->slots[0]));
	return levels->slots == NULL ? -ENOMEM : 0;
}

void
mdv_flow_slots_fini(struct mdv_flow_levels *levels)
{
	for (unsigned int i = 0; levels->slots != NULL && i < 2 * MDV_FLOW_LEVEL_MAX; i++)
		free(levels->slots[i].slots);
	free(levels->slots);
	levels->slots = NULL;
}

void
mdv_flow_slots_clear(struct mdv_flow_levels *levels)
{
	for (unsigned int i = 0; i < 2 * MDV_FLOW_LEVEL_MAX; i++) {
		levels->slots[i].nb = 0;
		levels->slots[i].entries = 0;
	}
}

int
mdv_flow_slots_reserve(struct mdv_flow_levels *levels, uint8_t level, bool copies)
{
	struct mdv_flow_level_slots *table = slots_table(levels, level, copies);
	struct slots_slot *slots;

	if (table->nb + MDV_FLOW_LEVEL_MASKS <= table->size)
		return 0;
	slots = calloc(2 * table->size + MDV_FLOW_LEVEL_MASKS, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	if (table->nb != 0)
		memcpy(slots, table->slots, table->nb * sizeof(*slots));
	free(table->slots);
	table->slots = slots;
	table->size = 2 * table->size + MDV_FLOW_LEVEL_MASKS;
	return 0;
}

void
mdv_flow_slots_enter(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	struct mdv_flow_level_slots *table = slots_table(levels, shape->level, shape->copies);

	for (unsigned int i = 0; i < shape->nb_masks; i++) {
		uint32_t at = slots_find(table, shape->masks[i]);

		if (at == table->nb)
			table->slots[table->nb++].refs = 0;
		table->slots[at].mask = shape->masks[i];
		table->slots[at].refs++;
	}
}

void
mdv_flow_slots_leave(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	struct mdv_flow_level_slots *table = slots_table(levels, shape->level, shape->copies);

	for (unsigned int i = 0; i < shape->nb_masks; i++)
		table->slots[slots_find(table, shape->masks[i])].refs--;
	while (table->nb != 0 && table->slots[table->nb - 1].refs == 0)
		table->nb--;
}

void
mdv_flow_slots_count(
	struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, int nb_rules)
{
	slots_table(levels, shape->level, shape->copies)->entries += nb_rules * shape->nb_masks;
}

bool
mdv_flow_slots_room(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level)
{
	const struct mdv_flow_level_slots *table = slots_table(levels, level, shape->copies);

	return table->entries + RTE_MAX(shape->nb_rules, 1u) * shape->nb_masks <= levels->entries;
}

bool
mdv_flow_slots_room_more(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	return slots_table(levels, shape->level, shape->copies)->entries + shape->nb_masks <=
		levels->entries;
}
