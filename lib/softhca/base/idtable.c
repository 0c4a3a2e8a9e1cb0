/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbered objects, lowest free number first. */
#include "base/idtable.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16

void
shca_idtable_init(struct shca_idtable *table, uint32_t first, uint32_t last)
{
	assert(first <= last);
	*table = (struct shca_idtable){ .first = first, .last = last, .lowest_free = first };
}

void
shca_idtable_fini(struct shca_idtable *table)
{
	free(table->object);
	table->object = NULL;
	table->nb_slots = 0;
	table->lowest_free = table->first;
}

/** Make slots for the numbers up to @p id, which is not above table->last. */
static int
grow(struct shca_idtable *table, uint32_t id)
{
	uint64_t most = (uint64_t)table->last - table->first + 1;
	uint64_t nb_slots = table->nb_slots != 0 ? table->nb_slots : FIRST_SLOTS;
	void **object;

	while (nb_slots <= id - table->first)
		nb_slots *= 2;
	if (nb_slots > most)
		nb_slots = most;
	if (nb_slots > UINT32_MAX)
		return -ENOMEM;
	object = realloc(table->object, nb_slots * sizeof(*object));
	if (object == NULL)
		return -ENOMEM;
	memset(object + table->nb_slots, 0, (nb_slots - table->nb_slots) * sizeof(*object));
	table->object = object;
	table->nb_slots = (uint32_t)nb_slots;
	return 0;
}

int
shca_idtable_add(struct shca_idtable *table, void *object, uint32_t *id)
{
	uint32_t slot = table->lowest_free - table->first;

	assert(object != NULL);
	while (slot < table->nb_slots && table->object[slot] != NULL)
		slot++;
	if (slot > table->last - table->first) {
		table->lowest_free = table->first + slot;
		return -ENOSPC;
	}
	if (slot >= table->nb_slots && grow(table, table->first + slot) != 0)
		return -ENOMEM;
	table->object[slot] = object;
	table->lowest_free = table->first + slot + 1;
	*id = table->first + slot;
	return 0;
}

void
shca_idtable_del(struct shca_idtable *table, uint32_t id)
{
	assert(shca_idtable_get(table, id) != NULL);
	table->object[id - table->first] = NULL;
	if (id < table->lowest_free)
		table->lowest_free = id;
}

void *
shca_idtable_next(const struct shca_idtable *table, uint32_t *id)
{
	uint32_t slot = *id > table->first ? *id - table->first : 0;

	for (; slot < table->nb_slots; slot++)
		if (table->object[slot] != NULL) {
			*id = table->first + slot;
			return table->object[slot];
		}
	return NULL;
}
