/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec bytes, read at offsets: byte for byte as sections 1.1, 1.4 and 3 of the reference put it. */
#include "naive_specs.h"

#include <errno.h>
#include <string.h>

static uint32_t
host32(const uint8_t *at)
{
	uint32_t number;

	memcpy(&number, at, 4);
	return number;
}

static uint16_t
host16(const uint8_t *at)
{
	uint16_t number;

	memcpy(&number, at, 2);
	return number;
}

/** @return bytes of the filter the kernel knows, 0 for a type it does not. */
static unsigned int
known_filter(uint32_t type)
{
	switch (type) {
	case 0x20:
	case 0x120:
		return 16;
	case 0x30:
	case 0x130:
		return 12;
	case 0x31:
	case 0x131:
		return 39;
	case 0x34:
	case 0x134:
	case 0x51:
	case 0x151:
		return 8;
	case 0x40:
	case 0x140:
	case 0x41:
	case 0x141:
	case 0x50:
	case 0x60:
	case 0x160:
		return 4;
	default:
		return 0;
	}
}

static int
read_one(const uint8_t *bytes, unsigned int size, struct naive_spec *spec)
{
	unsigned int filter = (size - 8) / 2;
	unsigned int known = known_filter(spec->type);

	switch (spec->type) {
	case 0x1000:
		spec->tag = size == 16 ? host32(bytes + 8) : 0;
		return size == 16 ? 0 : -EINVAL;
	case 0x1001:
		return size == 8 ? 0 : -EINVAL;
	case 0x1002:
		return size == 16 ? 0 : -EOPNOTSUPP;
	case 0x1003:
		return size == 16 ? 0 : -EINVAL;
	default:
		break;
	}
	if (known == 0 || filter == 0 || filter % 4 != 0)
		return -EINVAL;
	for (unsigned int i = known; i < filter; i++)
		if (bytes[8 + filter + i] != 0)
			return -EINVAL;
	for (unsigned int i = 0; i < filter && i < known; i++) {
		spec->value[i] = bytes[8 + i];
		spec->mask[i] = bytes[8 + filter + i];
	}
	if (spec->type == 0x50 && (spec->value[0] != 0 || spec->mask[0] != 0))
		return -EINVAL;
	if ((spec->type == 0x31 || spec->type == 0x131) &&
		(spec->value[32] != 0 || spec->value[33] > 0xf || spec->mask[32] != 0 ||
			spec->mask[33] > 0xf))
		return -EINVAL;
	return 0;
}

int
naive_specs_read(const uint8_t *bytes, size_t length, unsigned int nb, struct naive_spec *specs)
{
	size_t at = 0;

	memset(specs, 0, nb * sizeof(*specs));
	for (unsigned int i = 0; i < nb; i++) {
		if (length - at < 8)
			return -EINVAL;

		unsigned int size = host16(bytes + at + 4);

		if (size < 8 || size > length - at || host16(bytes + at + 6) != 0)
			return -EINVAL;
		specs[i].type = host32(bytes + at);

		int err = read_one(bytes + at, size, &specs[i]);

		if (err != 0)
			return err;
		at += size;
	}
	return at == length ? 0 : -EINVAL;
}

/** The condition on one field is now this one, whatever it was. */
static void
put(struct naive_match *match, unsigned int field, unsigned int at, const uint8_t *value,
	const uint8_t *mask, unsigned int length)
{
	memset(match->value[field], 0, 16);
	memset(match->mask[field], 0, 16);
	memcpy(match->value[field] + at, value, length);
	memcpy(match->mask[field] + at, mask, length);
}

static int
put_proto(struct naive_match *match, unsigned int stack, uint8_t value, uint8_t mask)
{
	uint8_t *old_value = &match->value[stack + NAIVE_PROTO][0];
	uint8_t *old_mask = &match->mask[stack + NAIVE_PROTO][0];

	if (mask == 0)
		return 0;
	if (*old_mask != 0 && (*old_mask != mask || *old_value != value))
		return -EINVAL;
	*old_value = value;
	*old_mask = mask;
	return 0;
}

/** Section 3.1: without the capability the EtherType stands for an inner version. */
static void
put_version(struct naive_match *match, unsigned int stack, uint32_t caps, uint8_t version)
{
	static const uint8_t ipv4[2] = { 0x08, 0x00 }, ipv6[2] = { 0x86, 0xdd };
	static const uint8_t whole[2] = { 0xff, 0xff };
	const uint8_t mask = 0xf;

	if (stack == 0 || caps & NAIVE_INNER_VERSION)
		put(match, stack + NAIVE_VERSION, 0, &version, &mask, 1);
	else
		put(match, stack + NAIVE_ETHERTYPE, 0, version == 4 ? ipv4 : ipv6, whole, 2);
}

static int
apply_l2_l3(
	const struct naive_spec *spec, unsigned int stack, uint32_t caps, struct naive_match *match)
{
	const uint8_t *value = spec->value;
	const uint8_t *mask = spec->mask;
	const uint8_t one = 1;

	switch (spec->type & 0xff) {
	case 0x20:
		put(match, stack + NAIVE_DMAC, 0, value, mask, 6);
		put(match, stack + NAIVE_SMAC, 0, value + 6, mask + 6, 6);
		put(match, stack + NAIVE_ETHERTYPE, 0, value + 12, mask + 12, 2);
		if (mask[14] != 0 || mask[15] != 0) {
			put(match, stack + NAIVE_CTAG, 0, &one, &one, 1);
			put(match, stack + NAIVE_TCI, 0, value + 14, mask + 14, 2);
		}
		return 0;
	case 0x30:
		if (mask[10] != 0 || mask[11] != 0)
			return -EOPNOTSUPP;
		put_version(match, stack, caps, 4);
		put(match, stack + NAIVE_SRC, 12, value, mask, 4);
		put(match, stack + NAIVE_DST, 12, value + 4, mask + 4, 4);
		put(match, stack + NAIVE_TOS, 0, value + 9, mask + 9, 1);
		return put_proto(match, stack, value[8], mask[8]);
	default:
		if (mask[38] != 0)
			return -EOPNOTSUPP;
		put_version(match, stack, caps, 6);
		put(match, stack + NAIVE_SRC, 0, value, mask, 16);
		put(match, stack + NAIVE_DST, 0, value + 16, mask + 16, 16);
		put(match, stack + NAIVE_LABEL, 0, value + 32, mask + 32, 4);
		put(match, stack + NAIVE_TOS, 0, value + 37, mask + 37, 1);
		return put_proto(match, stack, value[36], mask[36]);
	}
}

static int
apply_mpls(const struct naive_spec *spec, uint32_t before, unsigned int stack, uint32_t caps,
	struct naive_match *match)
{
	unsigned int field = stack + NAIVE_MPLS;
	uint32_t needed = 8 | 16;

	if (before == 0x41) {
		field = NAIVE_MPLS_UDP;
		needed = 16;
	} else if (before == 0x51) {
		field = NAIVE_MPLS_GRE;
		needed = 8;
	}
	if (host32(spec->mask) != 0 && (caps & needed) == 0)
		return -EOPNOTSUPP;
	put(match, field, 0, spec->value, spec->mask, 4);
	return 0;
}

static int
apply_one(const struct naive_spec *spec, uint32_t before, uint32_t caps, struct naive_match *match,
	struct naive_actions *actions)
{
	unsigned int stack = spec->type & 0x100 ? NAIVE_STACK_FIELDS : 0;
	unsigned int sport = spec->type & 1 ? NAIVE_UDP_SPORT : NAIVE_TCP_SPORT;

	switch (spec->type) {
	case 0x40:
	case 0x140:
	case 0x41:
	case 0x141:
		if (put_proto(match, stack, spec->type & 1 ? 17 : 6, 0xff) != 0)
			return -EINVAL;
		put(match, stack + sport, 0, spec->value + 2, spec->mask + 2, 2);
		put(match, stack + sport + 1, 0, spec->value, spec->mask, 2);
		return 0;
	case 0x50:
		put(match, NAIVE_VNI, 0, spec->value, spec->mask, 4);
		return 0;
	case 0x51:
	case 0x151:
		if (!(caps & 2) || spec->mask[0] != 0 || spec->mask[1] != 0)
			return -EOPNOTSUPP;
		if (put_proto(match, stack, 47, 0xff) != 0)
			return -EINVAL;
		put(match, NAIVE_GRE_PROTOCOL, 0, spec->value + 2, spec->mask + 2, 2);
		put(match, NAIVE_GRE_KEY, 0, spec->value + 4, spec->mask + 4, 4);
		return 0;
	case 0x60:
	case 0x160:
		return apply_mpls(spec, before, stack, caps, match);
	case 0x34:
	case 0x134:
	case 0x1002:
		return -EOPNOTSUPP;
	case 0x1000:
		if (spec->tag >= 1 << 24)
			return -EINVAL;
		actions->tagged = true;
		actions->tag = spec->tag;
		return 0;
	case 0x1001:
		actions->drop = true;
		return 0;
	case 0x1003:
		if (actions->counted)
			return -EINVAL;
		actions->counted = true;
		return 0;
	default:
		return apply_l2_l3(spec, stack, caps, match);
	}
}

/** Section 3.1, for the outer or the inner side. */
static bool
types_agree(const struct naive_spec *specs, unsigned int nb, uint32_t caps, uint32_t inner)
{
	int ethertype = -1;
	bool partial = false;
	int version = 0;

	for (unsigned int i = 0; i < nb; i++) {
		const struct naive_spec *spec = &specs[i];

		if (spec->type == (0x20 | inner) && (spec->mask[12] != 0 || spec->mask[13] != 0)) {
			ethertype = spec->value[12] << 8 | spec->value[13];
			partial = (spec->mask[12] & spec->mask[13]) != 0xff;
		}
		if (spec->type == (0x30 | inner))
			version = 4;
		if (spec->type == (0x31 | inner))
			version = 6;
	}
	if (ethertype < 0 || version == 0)
		return true;
	if (partial)
		return false;
	if (ethertype == 0x8847 || ethertype == 0x8848)
		return inner == 0 || caps & NAIVE_INNER_VERSION;
	return (ethertype == 0x0800 && version == 4) || (ethertype == 0x86dd && version == 6);
}

int
naive_specs_apply(const struct naive_spec *specs, unsigned int nb, uint32_t caps,
	struct naive_match *match, struct naive_actions *actions)
{
	if (!types_agree(specs, nb, caps, 0) || !types_agree(specs, nb, caps, 0x100))
		return -EINVAL;
	for (unsigned int i = 0; i < nb; i++) {
		int err = apply_one(&specs[i], i > 0 ? specs[i - 1].type : 0, caps, match, actions);

		if (err != 0)
			return err;
	}
	return 0;
}

bool
naive_specs_multicast(const struct naive_spec *specs, unsigned int nb)
{
	if (nb == 0)
		return false;
	if (specs[0].type == 0x30)
		return specs[0].value[4] >= 224 && specs[0].value[4] <= 239;
	if (specs[0].type == 0x20)
		return (specs[0].value[0] & 1) && (specs[0].mask[0] & 1);
	return false;
}
