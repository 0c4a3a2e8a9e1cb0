/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/call.h"

#include <errno.h>
#include <string.h>

#include "ethnl/ethnl.h"

const struct nlattr *
shca_ethnl_next(const uint8_t **at, const uint8_t *end)
{
	const struct nlattr *attr = (const void *)*at;

	if (!mnl_attr_ok(attr, (int)(end - *at)))
		return NULL;
	*at += MNL_ALIGN(attr->nla_len) < end - *at ? MNL_ALIGN(attr->nla_len) : end - *at;
	return attr;
}

/** lib/nlattr.c validate_nla() for a family without .validate: strictly. @return 0 or an errno. */
static int
check(struct shca_ethnl_call *call, const struct nlattr *attr, enum shca_ethnl_kind kind)
{
	static const uint8_t lengths[] = { [SHCA_ETHNL_U8] = 1, [SHCA_ETHNL_U32] = 4 };
	const bool is_nest = (attr->nla_type & NLA_F_NESTED) != 0;
	const uint16_t length = mnl_attr_get_payload_len(attr);

	if (kind == SHCA_ETHNL_UNKNOWN)
		return shca_ethnl_refuse(call, -EINVAL, attr, "Unsupported attribute");
	if (is_nest != (kind == SHCA_ETHNL_NEST))
		return shca_ethnl_refuse(call, -EINVAL, attr,
			is_nest ? "NLA_F_NESTED not expected" : "NLA_F_NESTED is missing");
	if ((kind == SHCA_ETHNL_U8 || kind == SHCA_ETHNL_U32) && length != lengths[kind])
		return shca_ethnl_refuse(call, -EINVAL, attr, "invalid attribute length");
	if (kind == SHCA_ETHNL_FLAG && length != 0)
		return shca_ethnl_refuse(call, -ERANGE, attr, "Attribute failed policy validation");
	if (kind == SHCA_ETHNL_NAME && memchr(mnl_attr_get_payload(attr), '\0', length) == NULL)
		return shca_ethnl_refuse(call, -EINVAL, attr, "Attribute failed policy validation");
	return 0;
}

int
shca_ethnl_take(struct shca_ethnl_call *call, const void *bytes, size_t length,
	const struct shca_ethnl_policy *policy, const struct nlattr *attrs[SHCA_ETHNL_ATTRS])
{
	const uint8_t *at = bytes, *end = at + length;
	const struct nlattr *attr;

	memset(attrs, 0, SHCA_ETHNL_ATTRS * sizeof(attrs[0]));
	while ((attr = shca_ethnl_next(&at, end)) != NULL) {
		const uint16_t type = mnl_attr_get_type(attr);
		int ret;

		if (type == 0 || type > policy->max)
			return shca_ethnl_refuse(call, -EINVAL, attr, "Unknown attribute type");
		ret = check(call, attr, policy->kind[type]);
		if (ret != 0)
			return ret;
		attrs[type] = attr;
	}
	return at == end
		? 0
		: shca_ethnl_refuse(call, -EINVAL, NULL, "bytes leftover after parsing attributes");
}

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
