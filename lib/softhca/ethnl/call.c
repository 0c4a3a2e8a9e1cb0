/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/call.h"

#include "ethnl/ethnl.h"

int
shca_ethnl_refuse(
	struct shca_ethnl_call *call, int error, const struct nlattr *culprit, const char *why)
{
	call->why = why;
	call->culprit = culprit;
	return error;
}

int
shca_ethnl_ask(struct shca_ethnl_call *call, void *command)
{
	return call->ethnl->ask(call->ethnl->arg, call->netdev, command);
}

static bool
update(uint32_t *value, uint32_t wanted)
{
	const bool is_other = *value != wanted;

	*value = wanted;
	return is_other;
}

bool
shca_ethnl_update_u32(struct shca_ethnl_call *call, unsigned int attr, uint32_t *value)
{
	const struct nlattr *given = call->attrs[attr];

	return given != NULL && update(value, mnl_attr_get_u32(given));
}

bool
shca_ethnl_update_bool(struct shca_ethnl_call *call, unsigned int attr, uint32_t *value)
{
	const struct nlattr *given = call->attrs[attr];

	return given != NULL && update(value, mnl_attr_get_u8(given) != 0);
}
