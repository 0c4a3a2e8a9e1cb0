/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The match: what flow tables look at, one row a field.
 *
 * A mask, a value and a packet's key are the same struct, so that a look-up is word-wise
 * and-and-compare. Numbers are in host order, addresses as on the wire. A packet that lacks a
 * header has that header's fields zero; lest a zero value match it, the key also holds one presence
 * bit a field, and a mask asks for the presence of every field it looks at (shca_field_require).
 */
#ifndef SHCA_STEERING_MATCH_FIELD_H
#define SHCA_STEERING_MATCH_FIELD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "steering/match/parse.h"

/** One stack of headers; IPv4 addresses stand in the last four bytes of the IPv6 ones, as in
 * fte_match_set_lyr_2_4. */
struct shca_match_stack {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint16_t ether_type;
	uint16_t vlan_tci;
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
	uint16_t tcp_src_port, tcp_dst_port;
	uint16_t udp_src_port, udp_dst_port;
	uint32_t flow_label;
	uint32_t mpls; /**< first label stack entry behind Ethernet */
	uint8_t ip_version;
	uint8_t ip_proto;
	uint8_t tos;
	uint8_t cvlan; /**< 1: the first tag is a C-VLAN */
	/* Of matchers alone: no spec asks for these. */
	uint16_t tcp_flags; /**< 9 bits */
	uint8_t ttl;        /**< or hop limit */
	uint8_t svlan;      /**< 1: the first tag is an S-VLAN */
	uint8_t fragment;   /**< 1: of an IP packet */
	uint8_t unused[7];  /**< a stack is whole words */
};

#define SHCA_MATCH_WORDS 24

union shca_match_key {
	struct {
		struct shca_match_stack outer, inner;
		uint32_t vni;
		uint32_t gre_key;
		uint32_t mpls_gre;
		uint32_t mpls_udp;
		uint16_t gre_protocol;
		uint16_t unused[3];
		uint64_t present; /**< bit i: row i of shca_field_rows */
	};
	uint64_t word[SHCA_MATCH_WORDS];
};
static_assert(sizeof(union shca_match_key) == SHCA_MATCH_WORDS * 8, "no padding in a match key");

/** What a rule asks for; value has no bit outside mask. */
struct shca_match {
	union shca_match_key mask;
	union shca_match_key value;
};

/** Which part of the device's match criteria holds a field; the name of the part in dumps. */
enum shca_field_half {
	SHCA_FIELD_OUTER,
	SHCA_FIELD_MISC,
	SHCA_FIELD_INNER,
	SHCA_FIELD_MISC2,
	SHCA_FIELD_NB_HALVES,
};

struct shca_field {
	const char *name; /**< as mlx_fs_dump would print it */
	enum shca_field_half half;
	uint16_t offset; /**< into union shca_match_key */
	uint16_t width;  /**< bytes */
	bool inner;      /**< of the inner stack */
	/** Print value and, where it is not whole, mask. */
	void (*print)(FILE *out, const struct shca_field *field, const struct shca_match *match);
};

#define SHCA_FIELD_MAX 64
extern const struct shca_field shca_field_rows[];
extern const unsigned int shca_field_nb_rows;

/** @return bit i set for each row i that @p mask looks at. */
uint64_t shca_field_used(const union shca_match_key *mask);
/** Ask for the presence of the fields that @p match looks at. */
void shca_field_require(struct shca_match *match);
/**
 * Fetch from a packet the fields @p used and any others that come cheaply. Parts of @p key that no
 * mask of these fields looks at may stay as they were.
 */
void shca_field_key(const struct shca_packet *packet, uint64_t used, union shca_match_key *key);
/** @return the name of a half, as in dumps. */
const char *shca_field_half_name(enum shca_field_half half);

#endif /* SHCA_STEERING_MATCH_FIELD_H */
