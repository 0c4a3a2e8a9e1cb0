/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ioctl frame, with the checks of drivers/infiniband/core/uverbs_ioctl.c in their order:
 * header, method, each attribute, missing attributes; then the handler.
 */
#include "abi/core/ioctl.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#include "base/log.h"
#include "fault/faults.h"
#include "fault/verb.h"

static_assert(sizeof(struct ib_uverbs_ioctl_hdr) == 24, "ioctl header");
static_assert(sizeof(struct ib_uverbs_attr) == 16, "ioctl attribute");

/** The kernel limits a request to its page size. */
#define REQUEST_BYTES_MAX 4096
/** The providers' own objects and methods have numbers from here on (UVERBS_ID_NS_SHIFT). */
#define DRIVER_IDS 0x1000

static const struct shca_method *
find_method(const struct shca_file *file, uint16_t object_id, uint16_t method_id)
{
	const bool has_devx = shca_device_conf(file->dev)->has_devx;

	for (const struct shca_object_methods *object = file->methods; object->methods != NULL;
		object++) {
		if (object->id != object_id || (object->needs_devx && !has_devx))
			continue;
		for (const struct shca_method *method = object->methods; method->rows != NULL;
			method++)
			if (method->id == method_id)
				return method;
	}
	return NULL;
}

static const struct shca_attr_row *
find_row(const struct shca_method *method, uint16_t id)
{
	for (unsigned int i = 0; i < method->nb_rows; i++)
		if (method->rows[i].id == id)
			return &method->rows[i];
	return NULL;
}

static int
take_bytes(const struct shca_attr_row *row, const struct ib_uverbs_attr *request,
	struct shca_attr *attr)
{
	uint16_t min_bytes = row->min_bytes, max_bytes = row->max_bytes;

	if (row->kind == SHCA_ATTR_ENUM) {
		attr->enum_id = request->attr_data.enum_data.elem_id;
		if (attr->enum_id >= row->nb_enums)
			return -EOPNOTSUPP;
		min_bytes = max_bytes = row->enum_bytes[attr->enum_id];
	}
	if (request->len < min_bytes || request->len > max_bytes)
		return -EINVAL;
	attr->buffer.length = request->len;
	attr->buffer.address = request->data;
	if (row->kind == SHCA_ATTR_OUT || request->len > sizeof(request->data))
		return 0;
	attr->buffer.is_inline = true;
	memcpy(attr->buffer.inline_bytes, &request->data, sizeof(request->data));
	memcpy(&attr->value, &request->data, request->len);
	return 0;
}

static int
take_flags(const struct shca_attr_row *row, const struct ib_uverbs_attr *request,
	struct shca_attr *attr)
{
	if (request->len != sizeof(uint32_t) && request->len != sizeof(uint64_t))
		return -EINVAL;
	memcpy(&attr->value, &request->data, request->len);
	return (attr->value & ~row->flags) == 0 ? 0 : -EINVAL;
}

/** @return 0, -EINVAL: no handle, or no descriptor, is so (core/rdma_core.c
 * lookup_get_idr_uobject(), lookup_get_fd_uobject()). */
static int
check_number(const struct shca_attr_row *row, int64_t number)
{
	if (row->kind == SHCA_ATTR_FD)
		return number == (int32_t)number ? 0 : -EINVAL;
	return number >= 0 ? 0 : -EINVAL;
}

/** The field has 64 bits, an s64. */
static int
take_object(struct shca_bundle *bundle, const struct shca_attr_row *row,
	const struct ib_uverbs_attr *request, struct shca_attr *attr)
{
	int ret;

	if (request->len != 0)
		return -EINVAL;
	if (row->kind != SHCA_ATTR_NEW && row->kind != SHCA_ATTR_NEW_FD &&
		check_number(row, request->data_s64) != 0)
		return -EINVAL;
	switch (row->kind) {
	case SHCA_ATTR_NEW:
		return shca_object_reserve(bundle->file, row->class, &attr->object);
	case SHCA_ATTR_FD:
		attr->eventq = shca_eventq_find(bundle->file, row->eventq, request->data_s64);
		return attr->eventq != NULL ? 0 : -EBADF;
	case SHCA_ATTR_NEW_FD:
		return shca_eventq_create(bundle->file, row->eventq, &attr->eventq);
	case SHCA_ATTR_DESTROY:
		ret = shca_object_find(bundle->file, row->class, request->data, &attr->object);
		if (ret == 0 && shca_device_is_dead(bundle->file->dev))
			shca_object_leave(attr->object);
		return ret == 0 && attr->object->nb_users != 0 ? -EBUSY : ret;
	default:
		return shca_object_find(bundle->file, row->class, request->data, &attr->object);
	}
}

static int
take_objects(struct shca_bundle *bundle, const struct shca_attr_row *row,
	const struct ib_uverbs_attr *request, struct shca_attr *attr)
{
	uint32_t handles[SHCA_HANDLES_MAX];
	int ret = take_bytes(row, request, attr);

	assert(row->max_bytes <= sizeof(handles));
	if (ret == 0 && request->len % sizeof(handles[0]) != 0)
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_user_read(&attr->buffer, 0, handles, request->len);
	for (unsigned int i = 0; ret == 0 && i < request->len / sizeof(handles[0]); i++) {
		ret = shca_object_find(bundle->file, row->class, handles[i], &attr->objects[i]);
		attr->nb_objects++;
	}
	return ret;
}

static int
take_attr(struct shca_bundle *bundle, const struct ib_uverbs_attr *request, uint16_t position)
{
	const struct shca_attr_row *row = find_row(bundle->method, request->attr_id);
	struct shca_attr *attr;
	int ret;

	if (row == NULL)
		return request->flags & UVERBS_ATTR_F_MANDATORY ? -EPROTONOSUPPORT : 0;
	attr = &bundle->attrs[row - bundle->method->rows];
	if (attr->is_present)
		return -EINVAL;
	if (row->kind == SHCA_ATTR_ENUM ? request->attr_data.enum_data.reserved != 0
					: request->attr_data.reserved != 0)
		return -EINVAL;
	switch (row->kind) {
	case SHCA_ATTR_IN:
	case SHCA_ATTR_ENUM:
	case SHCA_ATTR_OUT:
		ret = take_bytes(row, request, attr);
		break;
	case SHCA_ATTR_FLAGS:
		ret = take_flags(row, request, attr);
		break;
	case SHCA_ATTR_HANDLES:
		ret = take_objects(bundle, row, request, attr);
		break;
	default:
		ret = take_object(bundle, row, request, attr);
		break;
	}
	if (ret != 0)
		SHCA_DEBUG("attribute %#x, %u bytes: %d", request->attr_id, request->len, ret);
	attr->is_present = ret == 0;
	attr->position = position;
	return ret;
}

static uint64_t
attr_address(const struct shca_bundle *bundle, const struct shca_attr *attr)
{
	return bundle->attrs_address + attr->position * sizeof(struct ib_uverbs_attr);
}

/** Write the handle of a new object into its attribute. */
static int
answer_handle(const struct shca_bundle *bundle, const struct shca_attr *attr)
{
	const uint64_t handle = attr->object->handle;

	if (bundle->own_attrs != NULL) {
		bundle->own_attrs[attr->position].data = handle;
		return 0;
	}
	return shca_user_copy_out(
		attr_address(bundle, attr) + offsetof(struct ib_uverbs_attr, data), &handle,
		sizeof(handle));
}

/** No command of ours makes a descriptor by a method. */
static int
answer_fd(const struct shca_bundle *bundle, const struct shca_attr *attr)
{
	assert(bundle->own_attrs == NULL);
	return shca_user_give_fd(attr->eventq->user_fd,
		attr_address(bundle, attr) + offsetof(struct ib_uverbs_attr, data),
		sizeof(int64_t));
}

/** Drop the objects and descriptors of a request that failed: the application never sees them. */
static void
undo(struct shca_bundle *bundle)
{
	for (unsigned int i = 0; i < bundle->method->nb_rows; i++) {
		struct shca_attr *attr = &bundle->attrs[i];

		if (!attr->is_present)
			continue;
		if (bundle->method->rows[i].kind == SHCA_ATTR_NEW)
			shca_object_abort(bundle->file, attr->object);
		else if (bundle->method->rows[i].kind == SHCA_ATTR_NEW_FD)
			close(attr->eventq->user_fd);
	}
}

/** Write handles and descriptors into the attributes' data, before the handler runs, as the kernel
 * does. */
static int
announce(const struct shca_bundle *bundle)
{
	for (unsigned int i = 0; i < bundle->method->nb_rows; i++) {
		const struct shca_attr *attr = &bundle->attrs[i];
		int ret = 0;

		if (!attr->is_present)
			continue;
		if (bundle->method->rows[i].kind == SHCA_ATTR_NEW)
			ret = answer_handle(bundle, attr);
		else if (bundle->method->rows[i].kind == SHCA_ATTR_NEW_FD)
			ret = answer_fd(bundle, attr);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
run_handler(struct shca_bundle *bundle)
{
	const struct shca_method *method = bundle->method;
	struct shca_object *created = NULL;
	struct shca_object *destroyed = NULL;
	int ret;

	for (unsigned int i = 0; i < method->nb_rows; i++) {
		if (!bundle->attrs[i].is_present)
			continue;
		if (method->rows[i].kind == SHCA_ATTR_NEW)
			created = bundle->attrs[i].object;
		else if (method->rows[i].kind == SHCA_ATTR_DESTROY)
			destroyed = bundle->attrs[i].object;
	}
	if (destroyed != NULL) {
		ret = shca_object_destroy(destroyed);
		assert(ret == 0);
	}
	ret = method->handler != NULL ? method->handler(bundle) : 0;
	if (ret == 0 && created != NULL)
		shca_object_commit(bundle->file, created);
	free(destroyed);
	return ret;
}

static void
mark_outputs(const struct shca_bundle *bundle)
{
	if (bundle->own_attrs != NULL)
		return;
	for (unsigned int i = 0; i < bundle->method->nb_rows; i++) {
		const struct shca_attr *attr = &bundle->attrs[i];
		uint64_t address =
			attr_address(bundle, attr) + offsetof(struct ib_uverbs_attr, flags);
		uint16_t flags;

		if (!attr->is_present || bundle->method->rows[i].kind != SHCA_ATTR_OUT)
			continue;
		if (shca_user_copy_in(&flags, address, sizeof(flags)) != 0)
			continue;
		flags |= UVERBS_ATTR_F_VALID_OUTPUT;
		(void)shca_user_copy_out(address, &flags, sizeof(flags));
	}
}

static int
check_missing(const struct shca_bundle *bundle)
{
	for (unsigned int i = 0; i < bundle->method->nb_rows; i++)
		if (bundle->method->rows[i].is_mandatory && !bundle->attrs[i].is_present)
			return -EINVAL;
	return 0;
}

/** Inject the faults of verbs after the checks, where the kernel would ask the device.
 * INVOKE_WRITE injects those of its command itself. */
static int
inject_fault(const struct shca_bundle *bundle)
{
	const struct shca_device_conf *conf = shca_device_conf(bundle->file->dev);

	if (__builtin_expect(conf->faults == NULL, 1) || bundle->file->is_run_again ||
		shca_user_has_come_before() ||
		(bundle->object_id == UVERBS_OBJECT_DEVICE &&
			bundle->method->id == UVERBS_METHOD_INVOKE_WRITE))
		return 0;
	return shca_faults_call(conf->faults, conf->index,
		shca_verb_of_method(bundle->object_id, bundle->method->id),
		&bundle->file->delay_ns);
}

static int
run_method(struct shca_bundle *bundle, const struct ib_uverbs_attr *requests, uint16_t nb_requests)
{
	int ret = 0;

	for (uint16_t i = 0; ret == 0 && i < nb_requests; i++)
		ret = take_attr(bundle, &requests[i], i);
	if (ret == 0)
		ret = check_missing(bundle);
	if (ret == 0 && !bundle->method->runs_without_context && !bundle->file->has_context)
		ret = -EINVAL;
	if (ret == 0)
		ret = announce(bundle);
	if (ret == 0)
		ret = inject_fault(bundle);
	if (ret == 0)
		ret = run_handler(bundle);
	if (ret == 0)
		mark_outputs(bundle);
	else
		undo(bundle);
	return ret;
}

/** @return whether the method is for a device that is there: one of the core's own that destroys is
 * not (Linux core/rdma_core.c rdma_lookup_get_uobject(), core/uverbs_uapi.c
 * uverbs_disassociate_api_pre()), and a command says so itself. */
static bool
needs_device(const struct shca_bundle *bundle)
{
	const struct shca_method *method = bundle->method;

	if (bundle->object_id >= DRIVER_IDS || method->id >= DRIVER_IDS)
		return true;
	if (bundle->object_id == UVERBS_OBJECT_DEVICE)
		return method->id != UVERBS_METHOD_INVOKE_WRITE;
	for (unsigned int i = 0; i < method->nb_rows; i++)
		if (method->rows[i].kind == SHCA_ATTR_DESTROY)
			return false;
	return true;
}

/** Check a header and run its method. @param bundle says whose the frame is and where its
 * attributes are; the rest of it is large and set here, as far as the method needs it */
static int
run_frame(struct shca_bundle *bundle, const struct ib_uverbs_ioctl_hdr *header)
{
	const struct ib_uverbs_attr *own = bundle->own_attrs;
	struct ib_uverbs_attr requests[REQUEST_BYTES_MAX / sizeof(struct ib_uverbs_attr)];
	struct shca_file *file = bundle->file;
	const size_t bytes = header->num_attrs * sizeof(requests[0]);
	int ret = 0;

	if (header->length > REQUEST_BYTES_MAX || header->length != sizeof(*header) + bytes)
		return -EINVAL;
	if (header->reserved1 != 0 || header->reserved2 != 0)
		return -EPROTONOSUPPORT;
	if (header->driver_id != RDMA_DRIVER_MLX5)
		return -EINVAL;
	bundle->object_id = header->object_id;
	bundle->method = find_method(file, header->object_id, header->method_id);
	if (bundle->method == NULL ||
		bundle->method->since > shca_device_conf(file->dev)->kernel_abi)
		return -EPROTONOSUPPORT;
	if (shca_device_is_dead(file->dev) && needs_device(bundle))
		return -EIO;
	assert(bundle->method->nb_rows <= SHCA_ATTRS_MAX);
	memset(bundle->attrs, 0, bundle->method->nb_rows * sizeof(bundle->attrs[0]));
	if (own == NULL)
		ret = shca_user_copy_in(requests, bundle->attrs_address, bytes);
	if (ret == 0)
		ret = run_method(bundle, own != NULL ? own : requests, header->num_attrs);
	SHCA_DEBUG("object %#x method %#x: %d", header->object_id, header->method_id, ret);
	return ret;
}

int
shca_ioctl_run(struct shca_file *file, unsigned long request, void *arg)
{
	struct ib_uverbs_ioctl_hdr header;
	struct shca_bundle bundle;
	int ret;

	if (request != RDMA_VERBS_IOCTL)
		return -ENOTTY;
	bundle.file = file;
	bundle.attrs_address = (uintptr_t)arg + offsetof(struct ib_uverbs_ioctl_hdr, attrs);
	bundle.own_attrs = NULL;
	ret = shca_user_copy_in(&header, (uintptr_t)arg, sizeof(header));
	return ret == 0 ? run_frame(&bundle, &header) : ret;
}

int
shca_ioctl_run_own(struct shca_file *file, struct ib_uverbs_ioctl_hdr *frame)
{
	struct shca_bundle bundle;

	bundle.file = file;
	bundle.attrs_address = 0;
	bundle.own_attrs = frame->attrs;
	return run_frame(&bundle, frame);
}

const struct shca_attr *
shca_ioctl_attr(const struct shca_bundle *bundle, uint16_t id)
{
	const struct shca_attr_row *row = find_row(bundle->method, id);
	const struct shca_attr *attr;

	assert(row != NULL);
	attr = &bundle->attrs[row - bundle->method->rows];
	return attr->is_present ? attr : NULL;
}

uint64_t
shca_ioctl_value(const struct shca_bundle *bundle, uint16_t id)
{
	const struct shca_attr *attr = shca_ioctl_attr(bundle, id);

	return attr != NULL ? attr->value : 0;
}

void *
shca_ioctl_object(const struct shca_bundle *bundle, uint16_t id)
{
	const struct shca_attr *attr = shca_ioctl_attr(bundle, id);

	return attr != NULL ? attr->object : NULL;
}

struct shca_eventq *
shca_ioctl_eventq(const struct shca_bundle *bundle, uint16_t id)
{
	const struct shca_attr *attr = shca_ioctl_attr(bundle, id);

	return attr != NULL ? attr->eventq : NULL;
}

const struct shca_user_buffer *
shca_ioctl_buffer(const struct shca_bundle *bundle, uint16_t id)
{
	static const struct shca_user_buffer empty;
	const struct shca_attr *attr = shca_ioctl_attr(bundle, id);

	return attr != NULL ? &attr->buffer : &empty;
}

int
shca_ioctl_out(const struct shca_bundle *bundle, uint16_t id, const void *from, size_t length)
{
	return shca_user_write(shca_ioctl_buffer(bundle, id), from, length);
}

int
shca_ioctl_out_needed(
	const struct shca_bundle *bundle, uint16_t id, const void *from, size_t length)
{
	return shca_ioctl_attr(bundle, id) != NULL ? shca_ioctl_out(bundle, id, from, length)
						   : -ENOENT;
}
