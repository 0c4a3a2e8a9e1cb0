/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucma/id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

int
shca_id_create(struct shca_ucma_file *file, struct shca_id **out)
{
	struct shca_id *id = calloc(1, sizeof(*id));
	int ret;

	if (id == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&file->ucma->ids, id, &id->number);
	if (ret != 0) {
		free(id);
		return -ENOMEM;
	}
	id->file = file;
	LIST_INIT(&id->groups);
	LIST_INSERT_HEAD(&file->ids, id, link);
	*out = id;
	return 0;
}

uint32_t
shca_id_destroy(struct shca_id *id)
{
	struct shca_ucma *ucma = id->file->ucma;
	const uint32_t nb_reported = id->nb_reported;
	struct shca_ucma_group *group;
	struct shca_id *request;

	shca_ucm_event_forget(id);
	/* core/ucma.c ucma_cleanup_ctx_events() */
	while ((request = shca_ucm_event_drop(id, NULL)) != NULL)
		shca_id_destroy(request);
	while ((group = LIST_FIRST(&id->groups)) != NULL) {
		LIST_REMOVE(group, link);
		shca_idtable_del(&ucma->groups, group->number);
		free(group);
	}
	if (id->state == SHCA_ID_ADDR_QUERY)
		ucma->nb_resolving--;
	shca_cm_release(id->conn, shca_clock_ns());
	LIST_REMOVE(id, link);
	shca_idtable_del(&ucma->ids, id->number);
	free(id);
	return nb_reported;
}

int
shca_id_find_any(struct shca_ucma_file *file, uint32_t number, struct shca_id **out)
{
	struct shca_id *id = shca_idtable_get(&file->ucma->ids, number);

	if (id == NULL)
		return -ENOENT;
	if (id->file != file)
		return -EINVAL;
	*out = id;
	return 0;
}

int
shca_id_find(struct shca_ucma_file *file, uint32_t number, struct shca_id **out)
{
	const int ret = shca_id_find_any(file, number, out);

	return ret == 0 && (*out)->state == SHCA_ID_REMOVED ? -ENXIO : ret;
}

/** Numbers that two connections in a row shall not share; nobody's secret. xorshift32. */
uint32_t
shca_id_random(struct shca_ucma *ucma)
{
	ucma->random ^= ucma->random << 13;
	ucma->random ^= ucma->random >> 17;
	ucma->random ^= ucma->random << 5;
	return ucma->random;
}
