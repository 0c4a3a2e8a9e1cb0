/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A frame from words, as testpmd's patterns have them: "ipv4 dst 192.0.2.1 / udp dst 53". Headers
 * that are not named are there where the named ones need them; lengths, checksums and the types of
 * what follows are right, unless a word says otherwise. Rows (pattern_rows.c) have items, fields
 * and what may follow what.
 */
#ifndef SHCA_CTL_PATTERN_H
#define SHCA_CTL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_refusal;

/** Bytes of the longest frame of a pattern. */
#define SHCA_PATTERN_FRAME_MAX 9920

enum shca_pattern_id {
	SHCA_PATTERN_ETH,
	SHCA_PATTERN_VLAN,
	SHCA_PATTERN_MPLS,
	SHCA_PATTERN_IPV4,
	SHCA_PATTERN_IPV6,
	SHCA_PATTERN_TCP,
	SHCA_PATTERN_UDP,
	SHCA_PATTERN_ICMP,
	SHCA_PATTERN_ICMP6,
	SHCA_PATTERN_ESP,
	SHCA_PATTERN_GRE,
	SHCA_PATTERN_VXLAN,
	SHCA_PATTERN_PAYLOAD,
	SHCA_PATTERN_NB,
	SHCA_PATTERN_NONE = SHCA_PATTERN_NB, /**< before the first item */
};

#define SHCA_PATTERN_HEADER_MAX 40

/** A field of a header; a MAC or IP address by its width, else a number. */
struct shca_pattern_field {
	const char *name;
	uint16_t bit; /**< from the header's start */
	uint8_t bits; /**< 48: MAC address; 128: IPv6 address */
	bool is_ipv4; /**< an IPv4 address */
};

struct shca_pattern_row {
	const char *name;
	uint8_t length; /**< a field behind it makes the header longer */
	uint8_t preset[SHCA_PATTERN_HEADER_MAX];
	const struct shca_pattern_field *fields; /**< ended by a row without a name */
	/** The field with the type of what follows; NULL: none. */
	const char *next;
	enum shca_pattern_id parent; /**< stands before it where the words do not say */
};

/** By shca_pattern_id. */
extern const struct shca_pattern_row shca_pattern_rows[SHCA_PATTERN_NB];

/**
 * @param is_named false: it would be there only for an item that is
 * @return whether the item may follow @p parent, with @p type in that one's field.
 */
bool shca_pattern_follows(
	enum shca_pattern_id parent, enum shca_pattern_id item, bool is_named, uint16_t *type);
/** @return whether @p text begins with the name of an item. */
bool shca_pattern_is_one(const char *text);

/**
 * Make the frame.
 * @param text words between commas or white space; modified
 * @param dst,src addresses of eth items that name none
 * @param bytes SHCA_PATTERN_FRAME_MAX bytes
 * @return its length, or -EINVAL with a message in @p refusal that has the wrong word.
 */
int shca_pattern_frame(char *text, const uint8_t dst[6], const uint8_t src[6], uint8_t *bytes,
	const struct shca_refusal *refusal);

#endif /* SHCA_CTL_PATTERN_H */
