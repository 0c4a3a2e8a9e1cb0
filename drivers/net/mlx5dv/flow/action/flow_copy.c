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

static void
image_add_pointer(struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written,
	const void *pointer)
{
	const uint16_t at = (const uint8_t *)pointer - (const uint8_t *)written;
	uintptr_t target;

	memcpy(&target, &image->copy[at], sizeof(target));
	if (target == 0)
		return;
	target -= (uintptr_t)written;
	memcpy(&image->copy[at], &target, sizeof(target));
	image->pointers[image->nb_pointers++] = at;
}

static void
image_add_value(struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written,
	const void *content, size_t bytes, unsigned int number)
{
	if (bytes == 0)
		return;
	image->values[image->nb_values++] = (struct mdv_flow_copy_value){
		.at = (const uint8_t *)content - (const uint8_t *)written,
		.bytes = bytes,
		.number = number,
	};
}

static void
image_add_items(
	struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written, size_t nb)
{
	for (size_t i = 0; i < nb; i++) {
		const struct rte_flow_item *item = &written->pattern_ro[i];

		image_add_pointer(image, written, &item->spec);
		image_add_pointer(image, written, &item->last);
		image_add_pointer(image, written, &item->mask);
		if (item->spec != NULL)
			image_add_value(
				image, written, item->spec, mdv_flow_item_bytes(item->type), i);
	}
	image->nb_items = image->nb_values;
}

static void
image_add_actions(
	struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written, size_t nb)
{
	for (size_t i = 0; i < nb; i++) {
		const struct rte_flow_action *action = &written->actions_ro[i];

		image_add_pointer(image, written, &action->conf);
		if (action->conf != NULL)
			image_add_value(image, written, action->conf,
				mdv_flow_action_bytes(action->type), i);
	}
}

void
mdv_flow_copy_learn(struct mdv_flow_copy_image *image, const struct mdv_flow_copy *copy,
	const struct rte_flow_conv_rule *written)
{
	image->bytes = 0;
	if (copy->conv_bytes != 0 || copy->bytes > sizeof(image->copy) ||
		3 + 3 * copy->nb_items + copy->nb_actions > RTE_DIM(image->pointers) ||
		copy->nb_items + copy->nb_actions > RTE_DIM(image->values))
		return;
	memcpy(image->copy, written, copy->bytes);
	image->nb_pointers = 0;
	image->nb_values = 0;
	image->actions_at = (const uint8_t *)written->actions_ro - (const uint8_t *)written;
	image_add_pointer(image, written, &written->attr_ro);
	image_add_pointer(image, written, &written->pattern_ro);
	image_add_pointer(image, written, &written->actions_ro);
	image_add_items(image, written, copy->nb_items);
	image_add_actions(image, written, copy->nb_actions);
	image->bytes = copy->bytes;
}

bool
mdv_flow_copy_is_like(
	const struct mdv_flow_copy_image *image, const struct rte_flow_action actions[])
{
	const struct rte_flow_action *like = (const void *)&image->copy[image->actions_at];

	if (image->bytes == 0)
		return false;
	for (;; actions++, like++) {
		if (actions->type != like->type || (actions->conf != NULL) != (like->conf != NULL))
			return false;
		if (like->type == RTE_FLOW_ACTION_TYPE_END)
			return true;
	}
}

/** Copy some words of 32 bits: an item has too few to call memcpy() for them. */
static inline void
copy_words(uint8_t *to, const uint8_t *from, size_t bytes)
{
	uint64_t two;
	uint32_t one;

	for (; bytes >= sizeof(two); bytes -= sizeof(two)) {
		memcpy(&two, from, sizeof(two));
		memcpy(to, &two, sizeof(two));
		from += sizeof(two);
		to += sizeof(two);
	}
	if (bytes == 0)
		return;
	memcpy(&one, from, sizeof(one));
	memcpy(to, &one, sizeof(one));
}

void
mdv_flow_copy_write_like(const struct mdv_flow_copy_image *image,
	const struct rte_flow_conv_rule *given, struct rte_flow_conv_rule *to)
{
	const struct mdv_flow_copy_value *value = image->values;
	uint8_t *bytes = (uint8_t *)to;

	memcpy(bytes, image->copy, image->bytes);
	for (unsigned int i = 0; i < image->nb_pointers; i++) {
		uintptr_t target;

		memcpy(&target, &image->copy[image->pointers[i]], sizeof(target));
		target += (uintptr_t)to;
		memcpy(&bytes[image->pointers[i]], &target, sizeof(target));
	}
	for (; value < &image->values[image->nb_items]; value++)
		copy_words(&bytes[value->at], given->pattern_ro[value->number].spec, value->bytes);
	for (; value < &image->values[image->nb_values]; value++)
		memcpy(&bytes[value->at], given->actions_ro[value->number].conf, value->bytes);
}
