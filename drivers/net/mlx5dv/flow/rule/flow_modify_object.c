/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the flow actions of mlx5dv, finds equal ones, and destroys them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "flow_modify_object.h"
#include "flow_state.h"
#include "state/port.h"

static void
object_clear(struct mdv_flow_modify_object *object)
{
	while (object->nb_verbs != 0)
		ibv_destroy_flow_action(object->verbs[--object->nb_verbs]);
}

/** @return 0 or a negative errno */
static int
object_add(struct mdv_flow_modify_object *object, struct ibv_flow_action *verbs)
{
	if (verbs == NULL)
		return errno != 0 ? -errno : -EOPNOTSUPP;
	object->verbs[object->nb_verbs++] = verbs;
	return 0;
}

/** The functions take pointers without const to data that they only read. */
static int
object_make(struct ibv_context *ctx, struct mdv_flow_modify_object *object)
{
	struct mdv_flow_modify *modify = &object->modify;
	const enum mlx5dv_flow_table_type table =
		modify->egress ? MLX5DV_FLOW_TABLE_TYPE_NIC_TX : MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
	int ret = 0;

	errno = 0;
	if (modify->reformat != MDV_FLOW_MODIFY_NO_REFORMAT)
		ret = object_add(object,
			mlx5dv_create_flow_action_packet_reformat(ctx, modify->header_bytes,
				modify->header_bytes != 0 ? modify->header : NULL, modify->reformat,
				table));
	if (ret == 0 && modify->nb_steps != 0)
		ret = object_add(object,
			mlx5dv_create_flow_action_modify_header(ctx,
				modify->nb_steps * sizeof(modify->steps[0]), modify->steps, table));
	if (ret != 0)
		object_clear(object);
	return ret;
}

static uint64_t
object_hash(const struct mdv_flow_modify *modify)
{
	uint64_t words[sizeof(*modify) / sizeof(uint64_t)];
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

	memcpy(words, modify, sizeof(words));
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hash = (hash ^ words[i]) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	return hash;
}

int
mdv_flow_modify_object_get(struct mdv_port *port, const struct mdv_flow_modify *modify,
	struct mdv_flow_modify_object **out)
{
	const uint64_t hash = object_hash(modify);
	const unsigned int bucket = hash % MDV_FLOW_MODIFY_BUCKETS;
	struct mdv_flow_modify_object *object;
	int ret;

	LIST_FOREACH (object, &port->flow->modify_objects.buckets[bucket], next) {
		if (object->hash != hash || memcmp(&object->modify, modify, sizeof(*modify)) != 0)
			continue;
		object->users++;
		*out = object;
		return 0;
	}
	object = calloc(1, sizeof(*object));
	if (object == NULL)
		return -ENOMEM;
	object->modify = *modify;
	object->hash = hash;
	object->users = 1;
	ret = object_make(port->device.ctx, object);
	if (ret != 0) {
		free(object);
		return ret;
	}
	LIST_INSERT_HEAD(&port->flow->modify_objects.buckets[bucket], object, next);
	*out = object;
	return 0;
}

void
mdv_flow_modify_object_put(struct mdv_flow_modify_object *object)
{
	if (--object->users != 0)
		return;
	LIST_REMOVE(object, next);
	object_clear(object);
	free(object);
}

int
mdv_flow_modify_object_try(struct ibv_context *ctx, const struct mdv_flow_modify *modify)
{
	struct mdv_flow_modify_object object = { .modify = *modify };
	int ret = object_make(ctx, &object);

	if (ret == 0)
		object_clear(&object);
	return ret;
}
