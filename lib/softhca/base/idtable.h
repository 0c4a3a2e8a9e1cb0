/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A table of numbered objects: the lowest free number first, as the kernel's xarray hands out
 * uverbs handles (drivers/infiniband/core/rdma_core.c), O(1) look-up. Not thread-safe.
 */
#ifndef SHCA_BASE_IDTABLE_H
#define SHCA_BASE_IDTABLE_H

#include <stddef.h>
#include <stdint.h>

struct shca_idtable {
	void **object; /**< NULL where free */
	uint32_t nb_slots;
	uint32_t first;       /**< the lowest number handed out */
	uint32_t last;        /**< the highest number handed out */
	uint32_t lowest_free; /**< no free number below it */
};

/** Numbers @p first to @p last inclusive. */
void shca_idtable_init(struct shca_idtable *table, uint32_t first, uint32_t last);
/** Frees the table, not the objects. */
void shca_idtable_fini(struct shca_idtable *table);
/** @return 0 and the number in @p id, -ENOMEM, or -ENOSPC when all numbers are taken. */
int shca_idtable_add(struct shca_idtable *table, void *object, uint32_t *id);
/** @return the object, or NULL. Inline, because each segment of each packet is looked up. */
static inline void *
shca_idtable_get(const struct shca_idtable *table, uint32_t id)
{
	/* Numbers below first wrap to large slots. */
	uint32_t slot = id - table->first;

	return slot < table->nb_slots ? table->object[slot] : NULL;
}

void shca_idtable_del(struct shca_idtable *table, uint32_t id);
/** @return the object with the lowest number >= *@p id and sets *@p id to it, or NULL. */
void *shca_idtable_next(const struct shca_idtable *table, uint32_t *id);

#endif /* SHCA_BASE_IDTABLE_H */
