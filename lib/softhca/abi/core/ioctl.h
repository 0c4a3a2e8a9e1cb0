/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ioctl frame: tables of objects, methods and attributes, and a handler's view of a request.
 *
 * A method is a handler and its attribute rows. One loop (ioctl.c) checks a request against the
 * rows and turns handles into objects, so a handler sees declared attributes only, of valid
 * size. A created object gets its handle before the handler runs, and vanishes when the handler
 * fails; a destroyed one is gone when the handler runs.
 */
#ifndef SHCA_ABI_CORE_IOCTL_H
#define SHCA_ABI_CORE_IOCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "abi/core/object.h"
#include "abi/core/user.h"
#include "base/kernel.h"

enum shca_attr_kind {
	SHCA_ATTR_IN,      /**< bytes from the application */
	SHCA_ATTR_FLAGS,   /**< 4 or 8 bytes of flags */
	SHCA_ATTR_ENUM,    /**< a number, and bytes whose length depends on it */
	SHCA_ATTR_OUT,     /**< bytes to the application */
	SHCA_ATTR_HANDLE,  /**< an existing object */
	SHCA_ATTR_HANDLES, /**< an array of them */
	SHCA_ATTR_NEW,     /**< the object this method creates */
	SHCA_ATTR_DESTROY, /**< the object this method destroys */
	SHCA_ATTR_FD,      /**< an event descriptor */
	SHCA_ATTR_NEW_FD,  /**< the event descriptor this method creates */
};

struct shca_attr_row {
	uint16_t id;
	enum shca_attr_kind kind;
	bool is_mandatory;
	uint16_t min_bytes; /**< IN, OUT */
	uint16_t max_bytes;
	uint64_t flags;             /**< FLAGS: those known */
	const uint16_t *enum_bytes; /**< ENUM: bytes of each number */
	uint8_t nb_enums;
	const struct shca_object_class *class; /**< HANDLE, HANDLES, NEW, DESTROY */
	enum shca_eventq_kind eventq;          /**< FD, NEW_FD */
};

/* clang-format off */
#define SHCA_ANY_BYTES UINT16_MAX
#define SHCA_IN_MANDATORY(attr_id, min, max) \
	{ .id = (attr_id), .kind = SHCA_ATTR_IN, .is_mandatory = true, .min_bytes = (min), .max_bytes = (max) }
#define SHCA_IN(attr_id, bytes) SHCA_IN_MANDATORY(attr_id, bytes, bytes)
#define SHCA_IN_OPTIONAL(attr_id, min, max) \
	{ .id = (attr_id), .kind = SHCA_ATTR_IN, .min_bytes = (min), .max_bytes = (max) }
#define SHCA_FLAGS(attr_id, known) \
	{ .id = (attr_id), .kind = SHCA_ATTR_FLAGS, .flags = (known) }
#define SHCA_FLAGS_MANDATORY(attr_id, known) \
	{ .id = (attr_id), .kind = SHCA_ATTR_FLAGS, .is_mandatory = true, .flags = (known) }
#define SHCA_ENUM(attr_id, bytes, nb) \
	{ .id = (attr_id), .kind = SHCA_ATTR_ENUM, .is_mandatory = true, .enum_bytes = (bytes), .nb_enums = (nb) }
#define SHCA_OUT(attr_id, bytes) \
	{ .id = (attr_id), .kind = SHCA_ATTR_OUT, .is_mandatory = true, .min_bytes = (bytes), .max_bytes = (bytes) }
#define SHCA_OUT_OPTIONAL(attr_id, bytes) \
	{ .id = (attr_id), .kind = SHCA_ATTR_OUT, .min_bytes = (bytes), .max_bytes = (bytes) }
/** Structs that may grow, and arrays. */
#define SHCA_OUT_LEAST(attr_id, min) \
	{ .id = (attr_id), .kind = SHCA_ATTR_OUT, .is_mandatory = true, .min_bytes = (min), .max_bytes = SHCA_ANY_BYTES }
#define SHCA_OUT_LEAST_OPTIONAL(attr_id, min) \
	{ .id = (attr_id), .kind = SHCA_ATTR_OUT, .min_bytes = (min), .max_bytes = SHCA_ANY_BYTES }
#define SHCA_HANDLE(attr_id, object_class) \
	{ .id = (attr_id), .kind = SHCA_ATTR_HANDLE, .is_mandatory = true, .class = (object_class) }
#define SHCA_HANDLE_OPTIONAL(attr_id, object_class) \
	{ .id = (attr_id), .kind = SHCA_ATTR_HANDLE, .class = (object_class) }
/** An array of 1 to @a max handles. */
#define SHCA_HANDLES(attr_id, max, object_class) \
	{ .id = (attr_id), .kind = SHCA_ATTR_HANDLES, .min_bytes = sizeof(uint32_t), .max_bytes = (max) * sizeof(uint32_t), .class = (object_class) }
#define SHCA_NEW(attr_id, object_class) \
	{ .id = (attr_id), .kind = SHCA_ATTR_NEW, .is_mandatory = true, .class = (object_class) }
#define SHCA_DESTROY(attr_id, object_class) \
	{ .id = (attr_id), .kind = SHCA_ATTR_DESTROY, .is_mandatory = true, .class = (object_class) }
#define SHCA_FD_OPTIONAL(attr_id, eventq_kind) \
	{ .id = (attr_id), .kind = SHCA_ATTR_FD, .eventq = (eventq_kind) }
#define SHCA_NEW_FD(attr_id, eventq_kind) \
	{ .id = (attr_id), .kind = SHCA_ATTR_NEW_FD, .is_mandatory = true, .eventq = (eventq_kind) }
/** The provider library's attributes of a core method. */
#define SHCA_UHW \
	SHCA_IN_OPTIONAL(UVERBS_ATTR_UHW_IN, 0, SHCA_ANY_BYTES), \
	SHCA_OUT_LEAST_OPTIONAL(UVERBS_ATTR_UHW_OUT, 0)
/* clang-format on */

/** Attributes of a method, at most. */
#define SHCA_ATTRS_MAX 18
/** Handles of an array, at most. */
#define SHCA_HANDLES_MAX 2

struct shca_bundle;

struct shca_method {
	uint16_t id;
	bool runs_without_context;
	uint8_t nb_rows;
	enum shca_kernel since; /**< earlier ones do not know it; 0: all do */
	const struct shca_attr_row *rows;
	int (*handler)(
		struct shca_bundle *bundle); /**< 0 or a negative errno; NULL: nothing to do */
};
#define SHCA_ROWS(attr_rows)                                                                       \
	.rows = (attr_rows), .nb_rows = sizeof(attr_rows) / sizeof((attr_rows)[0])

/** The methods of an object, or some of them: an object may have more than one such row. */
struct shca_object_methods {
	uint16_t id;                       /**< UVERBS_OBJECT_* or MLX5_IB_OBJECT_* */
	const struct shca_method *methods; /**< ended by one without rows */
	bool needs_devx;                   /**< exists in DevX contexts only */
};

/** An attribute of a request, by row. */
struct shca_attr {
	bool is_present;
	uint16_t position;                             /**< in the application's array */
	struct shca_user_buffer buffer;                /**< IN, OUT */
	uint64_t value;                                /**< IN and ENUM up to 8 bytes, FLAGS */
	uint8_t enum_id;                               /**< ENUM: the number */
	struct shca_object *object;                    /**< HANDLE, NEW, DESTROY */
	struct shca_object *objects[SHCA_HANDLES_MAX]; /**< HANDLES */
	unsigned int nb_objects;
	struct shca_eventq *eventq; /**< FD, NEW_FD */
};

struct shca_bundle {
	struct shca_file *file;
	uint16_t object_id; /**< of the object that has the method */
	const struct shca_method *method;
	uint64_t attrs_address; /**< the application's attribute array; 0: it is at own_attrs */
	struct ib_uverbs_attr *own_attrs;
	struct shca_attr attrs[SHCA_ATTRS_MAX];
};

/** Check the frame at @p arg and run its method, one of file->methods; the device lock is held. */
int shca_ioctl_run(struct shca_file *file, unsigned long request, void *arg);
/** The same for a frame of our own, which gets the handles; the buffers in it are the
 * application's. */
int shca_ioctl_run_own(struct shca_file *file, struct ib_uverbs_ioctl_hdr *frame);

/** @return the attribute, or NULL when the request has none. */
const struct shca_attr *shca_ioctl_attr(const struct shca_bundle *bundle, uint16_t id);
/** @return the value of an IN attribute of up to 8 bytes or of FLAGS; 0 when absent. */
uint64_t shca_ioctl_value(const struct shca_bundle *bundle, uint16_t id);
/** @return the object of a handle, as its own type; NULL when absent. */
void *shca_ioctl_object(const struct shca_bundle *bundle, uint16_t id);
/** @return the event queue of a descriptor; NULL when absent. */
struct shca_eventq *shca_ioctl_eventq(const struct shca_bundle *bundle, uint16_t id);
/** @return the buffer of an IN or OUT attribute; an empty one when absent. */
const struct shca_user_buffer *shca_ioctl_buffer(const struct shca_bundle *bundle, uint16_t id);
/** Answer an OUT attribute, if present. @return 0 or -EFAULT. */
int shca_ioctl_out(const struct shca_bundle *bundle, uint16_t id, const void *from, size_t length);
/** The same for a handler that cannot do without it, whatever its row says (Linux
 * core/uverbs_ioctl.c uverbs_copy_to()). @return also -ENOENT: it is not there. */
int shca_ioctl_out_needed(
	const struct shca_bundle *bundle, uint16_t id, const void *from, size_t length);

#endif /* SHCA_ABI_CORE_IOCTL_H */
