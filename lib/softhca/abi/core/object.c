/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and lifetimes. */
#include "abi/core/object.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/model.h"

/** Where a limit stands in the model's row. */
static const size_t limit_offset[SHCA_NB_LIMITS] = {
	[SHCA_LIMIT_PD] = offsetof(struct shca_model, max_pd),
	[SHCA_LIMIT_MR] = offsetof(struct shca_model, max_mr),
	[SHCA_LIMIT_CQ] = offsetof(struct shca_model, max_cq),
	[SHCA_LIMIT_QP] = offsetof(struct shca_model, max_qp),
	[SHCA_LIMIT_WQ] = offsetof(struct shca_model, max_wq_type_rq),
	[SHCA_LIMIT_RWQ_IND] = offsetof(struct shca_model, max_rwq_ind_tables),
	[SHCA_LIMIT_COUNTERS] = offsetof(struct shca_model, flow_counters),
	[SHCA_LIMIT_MODIFY_HEADERS] = offsetof(struct shca_model, max_modify_headers),
	[SHCA_LIMIT_REFORMATS] = offsetof(struct shca_model, max_reformats),
};

static bool
is_exhausted(const struct shca_file *file, enum shca_limit limit)
{
	uint32_t most;

	if (limit == SHCA_LIMIT_NONE)
		return false;
	memcpy(&most, (const uint8_t *)file->model + limit_offset[limit], sizeof(most));
	return file->nb_objects[limit] >= most;
}

int
shca_object_reserve(
	struct shca_file *file, const struct shca_object_class *class, struct shca_object **out)
{
	struct shca_object *object;
	int ret;

	/* The firmware's LIMIT status, as mlx5's cmd_status_to_err translates it. */
	if (is_exhausted(file, class->limit))
		return -ENOMEM;
	object = calloc(1, class->bytes);
	if (object == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&file->handles, object, &object->handle);
	if (ret != 0) {
		free(object);
		return -ENOMEM;
	}
	object->class = class;
	object->limit = class->limit;
	file->nb_objects[object->limit]++;
	/* object->file stays NULL until the commit, so no look-up finds the object. */
	*out = object;
	return 0;
}

int
shca_object_charge(struct shca_file *file, struct shca_object *object, enum shca_limit limit)
{
	assert(object->limit == SHCA_LIMIT_NONE);
	if (is_exhausted(file, limit))
		return -ENOMEM;
	file->nb_objects[object->limit]--;
	object->limit = limit;
	file->nb_objects[object->limit]++;
	return 0;
}

void
shca_object_commit(struct shca_file *file, struct shca_object *object)
{
	assert(object->file == NULL);
	object->file = file;
	TAILQ_INSERT_HEAD(&file->objects, object, link);
}

int
shca_object_pin(
	struct shca_object *object, uint64_t address, uint64_t length, bool write, uint8_t **start)
{
	struct shca_pin *pin = &object->pins[object->nb_pins];
	int ret;

	assert(object->nb_pins < SHCA_OBJECT_PINS_MAX);
	ret = shca_user_pin(address, length, write, pin);
	if (ret != 0)
		return ret;
	object->nb_pins++;
	*start = pin->start;
	return 0;
}

void
shca_object_repin(struct shca_object *object, const uint8_t *start, const struct shca_pin *pin)
{
	unsigned int i = 0;

	while (i < object->nb_pins && object->pins[i].start != start)
		i++;
	assert(i < object->nb_pins);
	shca_user_unpin(&object->pins[i]);
	object->pins[i] = *pin;
}

static void
unpin_all(struct shca_object *object)
{
	while (object->nb_pins != 0)
		shca_user_unpin(&object->pins[--object->nb_pins]);
}

void
shca_object_abort(struct shca_file *file, struct shca_object *object)
{
	assert(object->file == NULL);
	file->nb_objects[object->limit]--;
	shca_idtable_del(&file->handles, object->handle);
	unpin_all(object);
	free(object);
}

int
shca_object_find(struct shca_file *file, const struct shca_object_class *class, uint64_t handle,
	struct shca_object **out)
{
	struct shca_object *object;

	if (handle > UINT32_MAX)
		return -ENOENT;
	object = shca_idtable_get(&file->handles, (uint32_t)handle);
	if (object == NULL || object->file == NULL)
		return -ENOENT;
	if (object->class != class)
		return -EINVAL;
	*out = object;
	return 0;
}

void
shca_object_leave(struct shca_object *object)
{
	if (object->class->leave != NULL)
		object->class->leave(object);
}

int
shca_object_destroy(struct shca_object *object)
{
	struct shca_file *file = object->file;

	if (object->nb_users != 0)
		return -EBUSY;
	object->class->destroy(object);
	unpin_all(object);
	TAILQ_REMOVE(&file->objects, object, link);
	file->nb_objects[object->limit]--;
	shca_idtable_del(&file->handles, object->handle);
	return 0;
}

/** Log the objects that the application did not destroy before it closed its context: leaks. */
static void
report_left(const struct shca_file *file)
{
	const struct shca_object *object;

	TAILQ_FOREACH (object, &file->objects, link)
		SHCA_INFO("left to the kernel to destroy: %s, handle %u", object->class->name,
			object->handle);
}

/** As __uverbs_cleanup_ufile: an object that is in use in one pass is free in a later one. */
void
shca_object_destroy_all(struct shca_file *file)
{
	struct shca_object *held;

	report_left(file);
	/* uverbs_free_qp(): groups are no objects, and end with the file. */
	TAILQ_FOREACH (held, &file->objects, link)
		shca_object_leave(held);
	while (!TAILQ_EMPTY(&file->objects)) {
		struct shca_object *object = TAILQ_FIRST(&file->objects);
		bool has_progressed = false;

		while (object != NULL) {
			struct shca_object *next = TAILQ_NEXT(object, link);

			if (shca_object_destroy(object) == 0) {
				free(object);
				has_progressed = true;
			}
			object = next;
		}
		assert(has_progressed);
		if (!has_progressed)
			break;
	}
}
