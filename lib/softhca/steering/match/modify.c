/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes to frames: the rows of fields, and the device's form of actions on them. */
#include "steering/match/modify.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

#define ACTION_BYTES 8
#define WORD_BITS    32

/* clang-format off */
/** Numbers: Linux mlx5_ifc.h, enum mlx5_modify_field; inner ones are the outer ones + 0x30. */
#define IPV6_ADDRESS(id, is_inner, at) \
	{ (id), is_inner, SHCA_MODIFY_IPV6, (at), 32 }, \
	{ (id) + 1, is_inner, SHCA_MODIFY_IPV6, (at) + 32, 32 }, \
	{ (id) + 2, is_inner, SHCA_MODIFY_IPV6, (at) + 64, 32 }, \
	{ (id) + 3, is_inner, SHCA_MODIFY_IPV6, (at) + 96, 32 }
#define STACK(base, is_inner) \
	{ (base) + 0x01, is_inner, SHCA_MODIFY_ETHERNET, 48, 32 }, /* source MAC, upper part */ \
	{ (base) + 0x02, is_inner, SHCA_MODIFY_ETHERNET, 80, 16 }, \
	{ (base) + 0x03, is_inner, SHCA_MODIFY_TYPE, 0, 16 }, \
	{ (base) + 0x04, is_inner, SHCA_MODIFY_ETHERNET, 0, 32 }, /* destination */ \
	{ (base) + 0x05, is_inner, SHCA_MODIFY_ETHERNET, 32, 16 }, \
	{ (base) + 0x06, is_inner, SHCA_MODIFY_IPV4, 8, 6 }, /* DSCP */ \
	{ (base) + 0x06, is_inner, SHCA_MODIFY_IPV6, 4, 6 }, \
	{ (base) + 0x07, is_inner, SHCA_MODIFY_TCP, 103, 9 }, /* flags */ \
	{ (base) + 0x08, is_inner, SHCA_MODIFY_TCP, 0, 16 }, \
	{ (base) + 0x09, is_inner, SHCA_MODIFY_TCP, 16, 16 }, \
	{ (base) + 0x0a, is_inner, SHCA_MODIFY_IPV4, 64, 8 }, /* TTL */ \
	{ (base) + 0x0b, is_inner, SHCA_MODIFY_UDP, 0, 16 }, \
	{ (base) + 0x0c, is_inner, SHCA_MODIFY_UDP, 16, 16 }, \
	IPV6_ADDRESS((base) + 0x0d, is_inner, 64), \
	IPV6_ADDRESS((base) + 0x11, is_inner, 192), \
	{ (base) + 0x15, is_inner, SHCA_MODIFY_IPV4, 96, 32 }, \
	{ (base) + 0x16, is_inner, SHCA_MODIFY_IPV4, 128, 32 }

const struct shca_modify_field shca_modify_fields[] = {
	STACK(0, false),
	{ 0x17, false, SHCA_MODIFY_VLAN, 4, 12 },
	STACK(0x30, true),
	{ 0x47, false, SHCA_MODIFY_IPV6, 56, 8 }, /* hop limit */
	{ 0x48, true, SHCA_MODIFY_IPV6, 56, 8 },
	{ 0x59, false, SHCA_MODIFY_TCP, 32, 32 }, /* sequence number */
	{ 0x5a, true, SHCA_MODIFY_TCP, 32, 32 },
	{ 0x5b, false, SHCA_MODIFY_TCP, 64, 32 }, /* acknowledgment number */
	{ 0x5c, true, SHCA_MODIFY_TCP, 64, 32 },
	{ 0x73, false, SHCA_MODIFY_IPV4, 14, 2 }, /* ECN */
	{ 0x73, false, SHCA_MODIFY_IPV6, 10, 2 },
	{ 0 },
};
/* clang-format on */

static bool
is_in_field(uint16_t id, unsigned int offset, unsigned int nb_bits)
{
	for (const struct shca_modify_field *field = shca_modify_fields; field->nb_bits != 0;
		field++)
		if (field->id == id)
			return offset + nb_bits <= field->nb_bits;
	return false;
}

/** Parse an action. Bits by the PRM, "-" for reserved ones. set_action_in and add_action_in: type
 * 4, field 12, -3, offset 5, -3, length 5 (0 is 32), data 32. copy_action_in has -4, field 12, -3,
 * offset 5 in place of data. */
static int
parse_step(const uint8_t *action, struct shca_modify_step *step)
{
	uint32_t head, tail;

	memcpy(&head, action, sizeof(head));
	memcpy(&tail, action + sizeof(head), sizeof(tail));
	head = be32toh(head);
	tail = be32toh(tail);
	*step = (struct shca_modify_step){
		.type = head >> 28,
		.field = head >> 16 & 0xfff,
		.offset = head >> 8 & 0x1f,
		.nb_bits = head & 0x1f,
	};
	if (step->nb_bits == 0)
		step->nb_bits = WORD_BITS;

	if (!is_in_field(step->field, step->offset, step->nb_bits))
		return -EINVAL;
	switch (step->type) {
	case SHCA_MODIFY_SET:
	case SHCA_MODIFY_ADD:
		step->data = tail;
		return 0;
	case SHCA_MODIFY_COPY:
		step->to_field = tail >> 16 & 0xfff;
		step->to_offset = tail >> 8 & 0x1f;
		return is_in_field(step->to_field, step->to_offset, step->nb_bits) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

int
shca_modify_parse(const uint8_t *actions, size_t nb_actions, struct shca_modify *modify)
{
	if (nb_actions > SHCA_MODIFY_STEPS_MAX)
		return -EOPNOTSUPP;
	if (nb_actions == 0)
		return -EINVAL;
	modify->kind = SHCA_MODIFY_HEADER;
	modify->nb_steps = (uint8_t)nb_actions;
	for (size_t i = 0; i < nb_actions; i++)
		if (parse_step(actions + i * ACTION_BYTES, &modify->step[i]) != 0)
			return -EINVAL;
	return 0;
}

int
shca_modify_add(struct shca_modify_set *modify_set, const struct shca_modify *modify)
{
	const struct shca_modify **place = &modify_set->reformat;

	if (modify->kind == SHCA_MODIFY_HEADER)
		place = &modify_set->modify;
	else if (modify->kind == SHCA_MODIFY_L2_TUNNEL_TO_L2)
		place = &modify_set->decap;
	if (*place != NULL)
		return -EINVAL;
	*place = modify;
	return 0;
}

bool
shca_modify_fits(const struct shca_modify_set *modify_set, bool egress)
{
	return (modify_set->modify == NULL || modify_set->modify->egress == egress) &&
		(modify_set->decap == NULL || modify_set->decap->egress == egress) &&
		(modify_set->reformat == NULL || modify_set->reformat->egress == egress);
}

void
shca_modify_name(const struct shca_modify_set *modify_set, char *text, size_t size)
{
	if (modify_set->decap != NULL)
		shca_text_append(text, size, "|DECAP");
	if (modify_set->modify != NULL)
		shca_text_append(text, size, "|MOD_HDR");
	if (modify_set->reformat != NULL)
		shca_text_append(text, size, "|REFORMAT");
}
