/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a rule into one piece of memory: lists first, then what they point to; or its values
 * alone. */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
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

/** @return whether there is room for the words of the item */
static bool
image_add_words(struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written,
	unsigned int number)
{
	const struct rte_flow_item *item = &written->pattern_ro[number];
	const size_t bytes = mdv_flow_item_bytes(item->type);
	const uint16_t at = (const uint8_t *)item->spec - (const uint8_t *)written;
	const uint8_t *mask = bytes != 0 ? mdv_flow_item_mask(item) : NULL;

	for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, &mask[i], sizeof(word));
		if (word == 0)
			continue;
		if (image->nb_words == RTE_DIM(image->words))
			return false;
		image->words[image->nb_words++] = (struct mdv_flow_copy_word){
			.at = at + i,
			.item_at = i,
			.item = number,
		};
		image->value_bytes += sizeof(word);
	}
	return true;
}

static bool
image_add_items(
	struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written, size_t nb)
{
	for (size_t i = 0; i < nb; i++) {
		const struct rte_flow_item *item = &written->pattern_ro[i];
		const bool has_room = item->spec == NULL || image_add_words(image, written, i);

		if (!has_room)
			return false;
		image_add_pointer(image, written, &item->spec);
		image_add_pointer(image, written, &item->last);
		image_add_pointer(image, written, &item->mask);
	}
	return true;
}

static void
image_add_actions(
	struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *written, size_t nb)
{
	for (size_t i = 0; i < nb; i++) {
		const struct rte_flow_action *action = &written->actions_ro[i];
		const size_t bytes = mdv_flow_action_bytes(action->type);

		image_add_pointer(image, written, &action->conf);
		if (action->conf == NULL || bytes == 0)
			continue;
		image->confs[image->nb_confs++] = (struct mdv_flow_copy_conf){
			.at = (const uint8_t *)action->conf - (const uint8_t *)written,
			.kept_at = image->conf_bytes,
			.bytes = bytes,
			.action = i,
		};
		image->conf_bytes += copy_room(bytes);
	}
	image->value_bytes += image->conf_bytes;
}

struct mdv_flow_copy_image *
mdv_flow_copy_learn(const struct mdv_flow_copy *copy, const struct rte_flow_conv_rule *written)
{
	struct mdv_flow_copy_image *image;

	if (copy->conv_bytes != 0 || copy->bytes > sizeof(image->copy) ||
		3 + 3 * copy->nb_items + copy->nb_actions > RTE_DIM(image->pointers) ||
		copy->nb_actions > RTE_DIM(image->confs))
		return NULL;
	image = calloc(1, sizeof(*image));
	if (image == NULL)
		return NULL;
	image->nb_users = 1;
	image->bytes = copy->bytes;
	memcpy(image->copy, written, copy->bytes);
	image->actions_at = (const uint8_t *)written->actions_ro - (const uint8_t *)written;
	image_add_pointer(image, written, &written->attr_ro);
	image_add_pointer(image, written, &written->pattern_ro);
	image_add_pointer(image, written, &written->actions_ro);
	if (!image_add_items(image, written, copy->nb_items)) {
		free(image);
		return NULL;
	}
	image_add_actions(image, written, copy->nb_actions);
	return image;
}

void
mdv_flow_copy_image_get(struct mdv_flow_copy_image *image)
{
	__atomic_add_fetch(&image->nb_users, 1, __ATOMIC_RELAXED);
}

void
mdv_flow_copy_image_put(struct mdv_flow_copy_image *image)
{
	if (image != NULL && __atomic_sub_fetch(&image->nb_users, 1, __ATOMIC_ACQ_REL) == 0)
		free(image);
}

bool
mdv_flow_copy_is_like(
	const struct mdv_flow_copy_image *image, const struct rte_flow_action actions[])
{
	const struct rte_flow_action *like;

	if (image == NULL)
		return false;
	for (like = (const void *)&image->copy[image->actions_at];; actions++, like++) {
		if (actions->type != like->type || (actions->conf != NULL) != (like->conf != NULL))
			return false;
		if (like->type == RTE_FLOW_ACTION_TYPE_END)
			return true;
	}
}

/** A configuration has too few bytes to call memcpy() for them. */
static inline void
copy_conf(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (; bytes >= sizeof(uint32_t); bytes -= sizeof(uint32_t)) {
		memcpy(to, from, sizeof(uint32_t));
		from += sizeof(uint32_t);
		to += sizeof(uint32_t);
	}
	while (bytes-- != 0)
		*to++ = *from++;
}

void
mdv_flow_copy_keep_confs(const struct mdv_flow_copy_image *image,
	const struct rte_flow_action actions[], uint8_t *to)
{
	const struct mdv_flow_copy_conf *conf = image->confs;

	for (; conf < &image->confs[image->nb_confs]; conf++)
		copy_conf(to + conf->kept_at, actions[conf->action].conf, conf->bytes);
}

bool
mdv_flow_copy_has_confs(const struct mdv_flow_copy_image *image,
	const struct rte_flow_action actions[], const uint8_t *confs)
{
	const struct mdv_flow_copy_conf *conf = image->confs;

	for (; conf < &image->confs[image->nb_confs]; conf++) {
		const uint8_t *given = actions[conf->action].conf;

		for (unsigned int i = 0; i < conf->bytes; i++)
			if (given[i] != confs[conf->kept_at + i])
				return false;
	}
	return true;
}

void
mdv_flow_copy_keep(const struct mdv_flow_copy_image *image, const struct rte_flow_conv_rule *given,
	uint8_t *to)
{
	const struct mdv_flow_copy_word *word = image->words;

	for (; word < &image->words[image->nb_words]; word++) {
		const uint8_t *spec = given->pattern_ro[word->item].spec;

		memcpy(to, spec + word->item_at, sizeof(uint32_t));
		to += sizeof(uint32_t);
	}
	mdv_flow_copy_keep_confs(image, given->actions_ro, to);
}

const struct rte_flow_conv_rule *
mdv_flow_copy_expand(const struct mdv_flow_copy_image *image, const uint8_t *values,
	struct mdv_flow_copy_room *room)
{
	const struct mdv_flow_copy_word *word = image->words;
	const struct mdv_flow_copy_conf *conf = image->confs;

	memcpy(room->bytes, image->copy, image->bytes);
	for (unsigned int i = 0; i < image->nb_pointers; i++) {
		uintptr_t target;

		memcpy(&target, &image->copy[image->pointers[i]], sizeof(target));
		target += (uintptr_t)room->bytes;
		memcpy(&room->bytes[image->pointers[i]], &target, sizeof(target));
	}
	for (; word < &image->words[image->nb_words]; word++) {
		memcpy(&room->bytes[word->at], values, sizeof(uint32_t));
		values += sizeof(uint32_t);
	}
	for (; conf < &image->confs[image->nb_confs]; conf++)
		copy_conf(&room->bytes[conf->at], values + conf->kept_at, conf->bytes);
	return (const void *)room->bytes;
}
