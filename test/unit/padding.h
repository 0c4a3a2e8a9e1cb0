/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Netlink messages whose padding is to be 0, as the kernel's is (Linux nla_reserve()): it
 * must not tell what their memory held before. Include cmocka before. */
#ifndef TEST_PADDING_H
#define TEST_PADDING_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/** From now on memory that is not cleared has bytes which are not 0. */
static inline void
test_padding_set_up(void)
{
	mallopt(M_PERTURB, 0x5a);
}

static inline void
test_padding_of(const struct nlattr *first, size_t length)
{
	const struct nlattr *attr = first;
	size_t left = length;

	while (left > 0 && mnl_attr_ok(attr, (int)left)) {
		const size_t whole = MNL_ALIGN(attr->nla_len);

		for (size_t i = attr->nla_len; i < whole && i < left; i++)
			if (((const uint8_t *)attr)[i] != 0)
				fail_msg("attribute %u: byte %zu is 0x%x", mnl_attr_get_type(attr),
					i, ((const uint8_t *)attr)[i]);
		if (attr->nla_type & NLA_F_NESTED)
			test_padding_of(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
		left -= whole < left ? whole : left;
		attr = mnl_attr_next(attr);
	}
}

/** @param header bytes of the family's own header */
static inline void
test_padding(const void *bytes, size_t length, size_t header)
{
	const struct nlmsghdr *message = bytes;
	int left = (int)length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		if (message->nlmsg_type >= NLMSG_MIN_TYPE)
			test_padding_of(mnl_nlmsg_get_payload_offset(message, header),
				mnl_nlmsg_get_payload_len(message) - MNL_ALIGN(header));
}

#endif /* TEST_PADDING_H */
