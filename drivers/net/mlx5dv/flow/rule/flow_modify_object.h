/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device's objects for edits: the rules that do the same to packets share them.
 *
 * They are there while a rule that needs them is in the device. All under flow.lock.
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
/** Verbs actions of one edit: fields and a tunnel. */
#define MDV_FLOW_MODIFY_VERBS 2

struct mdv_flow_modify_object {
	LIST_ENTRY(mdv_flow_modify_object) next; /**< in its bucket */
	uint64_t hash;
	uint32_t users;   /**< rules in the device */
	uint8_t nb_verbs; /**< 1 or 2 */
	struct ibv_flow_action *verbs[MDV_FLOW_MODIFY_VERBS];
	struct mdv_flow_modify modify;
};

/** By hash. */
struct mdv_flow_modify_objects {
	LIST_HEAD(, mdv_flow_modify_object) buckets[MDV_FLOW_MODIFY_BUCKETS];
};

/**
 * Find or make it.
 * @return 0 and a reference in @p out, to be given back with mdv_flow_modify_object_put(), or a
 * negative errno.
 */
int mdv_flow_modify_object_get(struct mdv_port *port, const struct mdv_flow_modify *modify,
	struct mdv_flow_modify_object **out);
void mdv_flow_modify_object_put(struct mdv_flow_modify_object *object);

/** Would the device do it? Nothing is left. @return 0 or a negative errno */
int mdv_flow_modify_object_try(struct ibv_context *ctx, const struct mdv_flow_modify *modify);

#endif /* MDV_FLOW_MODIFY_OBJECT_H */
