/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns: words to headers, then lengths, types and checksums. */
#include "pattern/pattern.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"

#define ITEMS_MAX   24
#define FRAME_MIN   60 /* without FCS */
#define PAYLOAD_MAX 9000u
#define GRE_HAS_KEY 0x20
#define MAC_BITS    48
#define IPV6_BITS   128
#define IPV4_HEADER 20
#define IPV6_HEADER 40

static_assert(PAYLOAD_MAX + (ITEMS_MAX - 1) * SHCA_PATTERN_HEADER_MAX <= SHCA_PATTERN_FRAME_MAX,
	"the longest headers, and a payload");

struct item {
	enum shca_pattern_id id;
	uint8_t header[SHCA_PATTERN_HEADER_MAX];
	uint16_t length, offset;
	uint32_t set; /* bit i: field i was named */
};

struct pattern {
	struct item item[ITEMS_MAX];
	unsigned int nb;
	uint8_t dst[6], src[6];
	const struct shca_refusal *refusal;
};

static void
put_bits(uint8_t *header, const struct shca_pattern_field *field, uint64_t value)
{
	for (unsigned int i = 0; i < field->bits; i++) {
		const unsigned int bit = field->bit + i;
		const uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		if (value >> (field->bits - 1 - i) & 1)
			header[bit / 8] |= mask;
		else
			header[bit / 8] &= (uint8_t)~mask;
	}
}

/** @return the number of the field, or -1. */
static int
find_field(const struct shca_pattern_row *row, const char *name)
{
	for (int i = 0; row->fields[i].name != NULL; i++)
		if (strcmp(row->fields[i].name, name) == 0)
			return i;
	return -1;
}

static int
append(struct pattern *pattern, enum shca_pattern_id id)
{
	const struct shca_pattern_row *row = &shca_pattern_rows[id];
	struct item *item = &pattern->item[pattern->nb];

	if (pattern->nb == ITEMS_MAX)
		return shca_refuse(
			pattern->refusal, "'%s' is more than %u items", row->name, ITEMS_MAX);
	*item = (struct item){ .id = id, .length = row->length };
	memcpy(item->header, row->preset, sizeof(item->header));
	if (id == SHCA_PATTERN_ETH) {
		memcpy(item->header, pattern->dst, 6);
		memcpy(item->header + 6, pattern->src, 6);
	}
	pattern->nb++;
	return 0;
}

/** Write what follows an item into its field, if it has one and no word says otherwise. */
static void
put_type(struct item *item, uint16_t type)
{
	const struct shca_pattern_row *row = &shca_pattern_rows[item->id];
	const int field = row->next == NULL ? -1 : find_field(row, row->next);

	if (field >= 0 && type != 0 && (item->set & 1u << field) == 0)
		put_bits(item->header, &row->fields[field], type);
}

/** Append an item, and before it those that it needs. */
static int
add(struct pattern *pattern, enum shca_pattern_id id)
{
	const enum shca_pattern_id last =
		pattern->nb == 0 ? SHCA_PATTERN_NONE : pattern->item[pattern->nb - 1].id;
	enum shca_pattern_id chain[SHCA_PATTERN_NB];
	unsigned int nb = 0;
	uint16_t type;

	for (chain[nb++] = id; !shca_pattern_follows(last, chain[nb - 1], nb == 1, &type);) {
		const enum shca_pattern_id parent = shca_pattern_rows[chain[nb - 1]].parent;

		if (parent == SHCA_PATTERN_NONE)
			return shca_refuse(pattern->refusal, "'%s' cannot follow '%s'",
				shca_pattern_rows[id].name, shca_pattern_rows[last].name);
		chain[nb++] = parent;
	}
	while (nb-- > 0) {
		struct item *before = pattern->nb == 0 ? NULL : &pattern->item[pattern->nb - 1];
		int ret;

		if (before != NULL && shca_pattern_follows(before->id, chain[nb], true, &type))
			put_type(before, type);
		ret = append(pattern, chain[nb]);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
add_named(struct pattern *pattern, const char *name)
{
	char names[256] = "";

	for (unsigned int i = 0; i < SHCA_PATTERN_NB; i++) {
		if (strcmp(shca_pattern_rows[i].name, name) == 0)
			return add(pattern, i);
		shca_text_append(names, sizeof(names), "%s%s", i == 0 ? "" : ", ",
			shca_pattern_rows[i].name);
	}
	return shca_refuse(pattern->refusal, "no item '%.32s'; there are %s", name, names);
}

static int
set_value(struct pattern *pattern, struct item *item, const struct shca_pattern_field *field,
	const char *text)
{
	const char *item_name = shca_pattern_rows[item->id].name;
	const uint64_t max = item->id == SHCA_PATTERN_PAYLOAD
		? PAYLOAD_MAX
		: UINT64_MAX >> (64 - (field->bits < 64 ? field->bits : 64));
	const unsigned int end = (field->bit + field->bits + 7u) / 8;
	uint8_t *at = item->header + field->bit / 8;
	uint64_t number;

	if (field->is_ipv4 || field->bits == IPV6_BITS) {
		if (inet_pton(field->is_ipv4 ? AF_INET : AF_INET6, text, at) != 1)
			return shca_refuse(pattern->refusal, "%s %s is an %s address, not '%.48s'",
				item_name, field->name, field->is_ipv4 ? "IPv4" : "IPv6", text);
		return 0;
	}
	if (field->bits == MAC_BITS) {
		if (!shca_text_mac(text, at))
			return shca_refuse(pattern->refusal,
				"%s %s is an address of the form 02:00:00:00:00:01, not '%.48s'",
				item_name, field->name, text);
		return 0;
	}
	if (!shca_text_number(text, 0, max, &number))
		return shca_refuse(pattern->refusal,
			"%s %s is a number up to %" PRIu64 ", not '%.48s'", item_name, field->name,
			max, text);
	if (item->id == SHCA_PATTERN_PAYLOAD) {
		item->length = (uint16_t)number;
		return 0;
	}
	put_bits(item->header, field, number);
	if (item->length < end)
		item->length = (uint16_t)end;
	return 0;
}

/** Take "FIELD [is] VALUE"; the field's name is @p name. */
static int
take_field(struct pattern *pattern, const char *name, char **rest)
{
	struct item *item = &pattern->item[pattern->nb - 1];
	const struct shca_pattern_row *row = &shca_pattern_rows[item->id];
	const int field = find_field(row, name);
	char names[256] = "";
	const char *value;

	if (field < 0) {
		for (int i = 0; row->fields[i].name != NULL; i++)
			shca_text_append(names, sizeof(names), "%s%s", i == 0 ? "" : ", ",
				row->fields[i].name);
		return shca_refuse(pattern->refusal, "%s has no field '%.32s'; it has %s",
			row->name, name, names);
	}
	if (item->set & 1u << field)
		return shca_refuse(pattern->refusal, "%s %s is given twice", row->name, name);
	value = strtok_r(NULL, " \t,", rest);
	if (value != NULL && strcmp(value, "is") == 0)
		value = strtok_r(NULL, " \t,", rest);
	if (value == NULL || strcmp(value, "/") == 0)
		return shca_refuse(pattern->refusal, "%s %s needs a value", row->name, name);
	item->set |= 1u << field;
	return set_value(pattern, item, &row->fields[field], value);
}

static int
parse(struct pattern *pattern, char *text)
{
	bool wants_item = true, is_ended = false;
	char *rest;
	int ret = 0;

	for (char *word = strtok_r(text, " \t,", &rest); word != NULL && ret == 0;
		word = strtok_r(NULL, " \t,", &rest)) {
		if (is_ended)
			ret = shca_refuse(pattern->refusal, "'%.32s' stands behind end", word);
		else if (strcmp(word, "/") == 0 && wants_item)
			ret = shca_refuse(pattern->refusal, "an item is missing before '/'");
		else if (strcmp(word, "/") == 0)
			wants_item = true;
		else if (wants_item && pattern->nb != 0 && strcmp(word, "end") == 0)
			is_ended = true;
		else if (!wants_item)
			ret = take_field(pattern, word, &rest);
		else
			ret = add_named(pattern, word);
		if (strcmp(word, "/") != 0 && !is_ended)
			wants_item = false;
	}
	if (ret == 0 && wants_item && !is_ended)
		ret = shca_refuse(pattern->refusal, "an item is missing at the end");
	return ret;
}

static uint32_t
sum(uint32_t sum, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/** The sum of the addresses, the protocol and the length before @p item (RFC 768, RFC 8200). */
static uint32_t
pseudo_sum(const struct item *ip, const uint8_t *bytes, uint8_t proto, uint32_t length)
{
	const uint8_t *header = bytes + ip->offset;

	return ip->id == SHCA_PATTERN_IPV4 ? sum(proto + length, header + 12, 8)
					   : sum(proto + length, header + 8, 32);
}

/** Checksums of layer 4: where the field is, and what the pseudo header has; 0: there is none. */
static const struct {
	uint8_t at, proto;
} checksums[SHCA_PATTERN_NB] = {
	[SHCA_PATTERN_TCP] = { 16, IPPROTO_TCP },
	[SHCA_PATTERN_UDP] = { 6, IPPROTO_UDP },
	[SHCA_PATTERN_ICMP] = { 2, 0 },
	[SHCA_PATTERN_ICMP6] = { 2, IPPROTO_ICMPV6 },
};

static void
put_checksum(const struct item *item, uint8_t *bytes, uint32_t length)
{
	uint8_t *header = bytes + item->offset;
	uint32_t result;

	if (item->id == SHCA_PATTERN_IPV4)
		put16(header + 10, ~sum(0, header, IPV4_HEADER));
	if (checksums[item->id].at == 0)
		return;
	result = checksums[item->id].proto == 0
		? 0
		: pseudo_sum(item - 1, bytes, checksums[item->id].proto, length);
	result = ~sum(result, header, length) & 0xffff;
	/* Of UDP 0 would say that there is none. */
	if (result == 0 && item->id == SHCA_PATTERN_UDP)
		result = 0xffff;
	put16(header + checksums[item->id].at, result);
}

/** Write what a header says of itself and of all behind it. @param length from it to the end */
static void
put_length(const struct item *item, const struct item *next, uint8_t *header, uint32_t length)
{
	switch (item->id) {
	case SHCA_PATTERN_IPV4:
		put16(header + 2, length);
		break;
	case SHCA_PATTERN_IPV6:
		put16(header + 4, length - IPV6_HEADER);
		break;
	case SHCA_PATTERN_UDP:
		put16(header + 4, length);
		break;
	case SHCA_PATTERN_GRE:
		if (item->length > shca_pattern_rows[SHCA_PATTERN_GRE].length)
			header[0] |= GRE_HAS_KEY;
		break;
	case SHCA_PATTERN_MPLS:
		/* The bottom of the stack, unless a word says otherwise. */
		if ((next == NULL || next->id != SHCA_PATTERN_MPLS) &&
			(item->set &
				1u << find_field(&shca_pattern_rows[SHCA_PATTERN_MPLS], "s")) == 0)
			header[2] |= 1;
		break;
	default:
		break;
	}
}

int
shca_pattern_frame(char *text, const uint8_t dst[6], const uint8_t src[6], uint8_t *bytes,
	const struct shca_refusal *refusal)
{
	struct pattern pattern = { .refusal = refusal };
	uint32_t length = 0;
	int ret;

	memcpy(pattern.dst, dst, 6);
	memcpy(pattern.src, src, 6);
	ret = parse(&pattern, text);
	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < pattern.nb; i++) {
		struct item *item = &pattern.item[i];

		item->offset = (uint16_t)length;
		length += item->length;
	}
	memset(bytes, 0, length < FRAME_MIN ? FRAME_MIN : length);
	for (unsigned int i = 0; i < pattern.nb; i++) {
		const struct item *item = &pattern.item[i];

		if (item->id != SHCA_PATTERN_PAYLOAD)
			memcpy(bytes + item->offset, item->header, item->length);
		put_length(item, i + 1 < pattern.nb ? item + 1 : NULL, bytes + item->offset,
			length - item->offset);
	}
	/* Those behind are part of what those before sum up. */
	for (unsigned int i = pattern.nb; i-- > 0;)
		put_checksum(&pattern.item[i], bytes, length - pattern.item[i].offset);
	return (int)(length < FRAME_MIN ? FRAME_MIN : length);
}
