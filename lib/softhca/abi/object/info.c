/* SPDX-License-Identifier: BSD-3-Clause */
/* Which objects a file has (Linux core/uverbs_std_types_device.c, UVERBS_METHOD_INFO_HANDLES). */
#include <errno.h>
#include <stdlib.h>

#include "abi/core/ioctl.h"
#include "abi/object/methods.h"

/** UVERBS_IDR_ANY_OBJECT of the kernel's rdma/uverbs_ioctl.h. */
#define ANY_OBJECT 0xffff

/** Handles that the program has room for. */
struct list {
	uint32_t *handles;
	uint32_t nb, nb_max;
};

static void
add(struct list *list, uint32_t handle)
{
	if (list->nb < list->nb_max)
		list->handles[list->nb++] = handle;
}

/** uapi_get_object(): the core has its types in all devices, a provider its own. */
static bool
is_type(const struct shca_file *file, uint16_t type)
{
	const bool has_devx = shca_device_conf(file->dev)->has_devx;
	const struct shca_object_methods *object = file->methods;

	if (type <= UVERBS_OBJECT_ASYNC_EVENT)
		return true;
	while (object->methods != NULL && object->id != type)
		object++;
	return object->methods != NULL && (!object->needs_devx || has_devx);
}

/** Descriptors are objects, whose handles are their numbers, as long as the program has them. */
static void
gather_descriptors(const struct shca_file *file, uint16_t type, struct list *list)
{
	const uint16_t types[] = {
		[SHCA_EVENTQ_COMPLETION] = UVERBS_OBJECT_COMP_CHANNEL,
		[SHCA_EVENTQ_ASYNC] = UVERBS_OBJECT_ASYNC_EVENT,
	};
	const struct shca_eventq *queue;

	LIST_FOREACH (queue, &file->eventqs, link) {
		const int fd = types[queue->kind] != type
			? -1
			: shca_user_find_socket(queue->inode, queue->user_fd);

		if (fd >= 0)
			add(list, (uint32_t)fd);
	}
}

/** gather_objects_handle(): the newest first, as many as there is room for. */
static void
gather(const struct shca_file *file, uint16_t type, struct list *list)
{
	const struct shca_object *object;

	TAILQ_FOREACH (object, &file->objects, link)
		if (object->class->type == type)
			add(list, object->handle);
	gather_descriptors(file, type, list);
}

/** The number of handles is optional by its row alone: uverbs_copy_to() finds none. */
static int
answer(const struct shca_bundle *bundle, const struct list *list)
{
	const struct shca_user_buffer *out =
		shca_ioctl_buffer(bundle, UVERBS_ATTR_INFO_HANDLES_LIST);
	int ret = shca_user_copy_out(out->address, list->handles, list->nb * sizeof(uint32_t));

	if (ret != 0)
		return ret;
	return shca_ioctl_out_needed(
		bundle, UVERBS_ATTR_INFO_TOTAL_HANDLES, &list->nb, sizeof(list->nb));
}

static int
info_handles(struct shca_bundle *bundle)
{
	const size_t length = shca_ioctl_buffer(bundle, UVERBS_ATTR_INFO_HANDLES_LIST)->length;
	const uint64_t type = shca_ioctl_value(bundle, UVERBS_ATTR_INFO_OBJECT_ID);
	struct list list = { .nb_max = (uint32_t)(length / sizeof(uint32_t)) };
	int ret;

	if (length == 0 || length % sizeof(uint32_t) != 0 || type > UINT16_MAX)
		return -EINVAL;
	if (type == ANY_OBJECT)
		return -ENOMSG;
	if (!is_type(bundle->file, (uint16_t)type))
		return -ENOENT;
	list.handles = malloc(length);
	if (list.handles == NULL)
		return -ENOMEM;
	gather(bundle->file, (uint16_t)type, &list);
	ret = answer(bundle, &list);
	free(list.handles);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row info_rows[] = {
	SHCA_IN(UVERBS_ATTR_INFO_OBJECT_ID, 8),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4),
	SHCA_OUT_LEAST_OPTIONAL(UVERBS_ATTR_INFO_HANDLES_LIST, sizeof(uint32_t)),
};

const struct shca_method shca_info_methods[] = {
	{ UVERBS_METHOD_INFO_HANDLES, .runs_without_context = true,
		SHCA_ROWS(info_rows), .handler = info_handles },
	{ 0 },
};
/* clang-format on */
