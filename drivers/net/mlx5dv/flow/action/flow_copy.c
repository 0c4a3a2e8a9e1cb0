/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a rule into one piece of memory: lists first, then what they point to. */

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "flow/match/flow_item.h"
#include "flow_action.h"
#include "flow_copy.h"

/** In front of the lists; both need no more than the alignment of pointers. */
struct copy_head {
	struct rte_flow_conv_rule rule;
	struct rte_flow_attr attr;
};

#define COPY_HEAD_BYTES RTE_ALIGN_CEIL(sizeof(struct copy_head), sizeof(void *))

static_assert(sizeof(struct rte_flow_item) % sizeof(void *) == 0, "actions may follow items");

/** Items and plain configurations are made of numbers of up to 32 bits. */
static size_t
copy_room(size_t bytes)
{
	return RTE_ALIGN_CEIL(bytes, sizeof(uint32_t));
}

/** @return whether all configurations are such that a row tells their size. */
static bool
copy_measure_actions(struct mdv_flow_copy *copy, const struct rte_flow_action *action)
{
	const struct rte_flow_action *const first = action;
	bool plain = true;

	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		const size_t bytes = mdv_flow_action_bytes(action->type);

		plain = plain && (action->conf == NULL || bytes != 0);
		copy->bytes += action->conf != NULL ? copy_room(bytes) : 0;
	}
	copy->nb_actions = action - first + 1;
	copy->bytes += copy->nb_actions * sizeof(*action);
	return plain;
}

int
mdv_flow_copy_measure(struct mdv_flow_copy *copy, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_build *match, struct rte_flow_error *error)
{
	const size_t before = COPY_HEAD_BYTES + match->nb_items * sizeof(struct rte_flow_item) +
		match->item_bytes;
	int size;

	copy->given = given;
	copy->nb_items = match->nb_items;
	copy->bytes = before;
	copy->conv_bytes = 0;
	if (copy_measure_actions(copy, given->actions_ro))
		return 0;
	size = rte_flow_conv(RTE_FLOW_CONV_OP_ACTIONS, NULL, 0, given->actions_ro, error);
	if (size < 0)
		return -rte_errno;
	copy->conv_bytes = size;
	copy->bytes = before + RTE_ALIGN_CEIL(copy->conv_bytes, sizeof(void *));
	return 0;
}

/** Copy a list's content to @p room and let the list point to it. @return the room behind it */
static uint8_t *
copy_content(const void **pointer, size_t bytes, uint8_t *room)
{
	if (*pointer == NULL)
		return room;
	*pointer = bytes != 0 ? memcpy(room, *pointer, bytes) : NULL;
	return room + copy_room(bytes);
}

static uint8_t *
copy_items(struct rte_flow_item *item, const struct rte_flow_item *given, uint8_t *room)
{
	for (;; item++, given++) {
		size_t bytes;

		*item = *given;
		if (given->type == RTE_FLOW_ITEM_TYPE_END)
			return room;
		bytes = mdv_flow_item_bytes(given->type);
		room = copy_content(&item->spec, bytes, room);
		room = copy_content(&item->last, bytes, room);
		room = copy_content(&item->mask, bytes, room);
	}
}

static void
copy_actions(struct rte_flow_action *action, const struct rte_flow_action *given, uint8_t *room)
{
	for (;; action++, given++) {
		*action = *given;
		if (given->type == RTE_FLOW_ACTION_TYPE_END)
			return;
		room = copy_content(&action->conf, mdv_flow_action_bytes(given->type), room);
	}
}

void
mdv_flow_copy_write(const struct mdv_flow_copy *copy, struct rte_flow_conv_rule *to)
{
	const struct rte_flow_conv_rule *given = copy->given;
	struct copy_head *head = (struct copy_head *)to;
	struct rte_flow_item *items = (void *)((uint8_t *)to + COPY_HEAD_BYTES);
	struct rte_flow_action *actions = (void *)&items[copy->nb_items];
	uint8_t *room = (uint8_t *)actions +
		(copy->conv_bytes != 0 ? RTE_ALIGN_CEIL(copy->conv_bytes, sizeof(void *))
				       : copy->nb_actions * sizeof(*actions));

	head->attr = *given->attr_ro;
	to->attr_ro = &head->attr;
	to->pattern_ro = items;
	to->actions_ro = actions;
	room = copy_items(items, given->pattern_ro, room);
	if (copy->conv_bytes == 0)
		copy_actions(actions, given->actions_ro, room);
	else
		rte_flow_conv(RTE_FLOW_CONV_OP_ACTIONS, actions, copy->conv_bytes,
			given->actions_ro, NULL);
}
