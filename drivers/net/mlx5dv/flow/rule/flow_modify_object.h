/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Modify objects: the device's objects for changes of packets. Rules with equal changes share one.
 *
 * An object exists while a rule that needs it is in the device. All under flow.lock.
 */
#ifndef MDV_FLOW_MODIFY_OBJECT_H
#define MDV_FLOW_MODIFY_OBJECT_H

#include <stdint.h>
#include <sys/queue.h>

#include "flow/action/flow_modify.h"

struct ibv_context;
struct ibv_flow_action;
struct mdv_port;

#define MDV_FLOW_MODIFY_BUCKETS 1024
/** Verbs actions of one object: modify header and packet reformat. */
#define MDV_FLOW_MODIFY_VERBS 2

struct mdv_flow_modify_object {
	LIST_ENTRY(mdv_flow_modify_object) next; /**< in its bucket */
	uint64_t hash;
	uint32_t users;   /**< rules in the device */
	uint8_t nb_verbs; /**< 1 or 2 */
	struct ibv_flow_action *verbs[MDV_FLOW_MODIFY_VERBS];
	struct mdv_flow_modify modify;
};

/** The port's modify objects, by hash. */
struct mdv_flow_modify_objects {
	LIST_HEAD(, mdv_flow_modify_object) buckets[MDV_FLOW_MODIFY_BUCKETS];
};

/**
 * Find or make the object.
 * @return 0 and a reference in @p out, to be given back with mdv_flow_modify_object_put(), or a
 * negative errno
 */
int mdv_flow_modify_object_get(struct mdv_port *port, const struct mdv_flow_modify *modify,
	struct mdv_flow_modify_object **out);
void mdv_flow_modify_object_put(struct mdv_flow_modify_object *object);

/**
 * Find out whether the device supports these changes; nothing is left behind.
 * @return 0 or a negative errno
 */
int mdv_flow_modify_object_try(struct ibv_context *ctx, const struct mdv_flow_modify *modify);

#endif /* MDV_FLOW_MODIFY_OBJECT_H */
