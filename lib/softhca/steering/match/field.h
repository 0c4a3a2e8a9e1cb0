/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The match: the fields that flow tables look at, one row a field.
 *
 * A mask, a value and a packet's key are the same struct, so that a look-up is word-wise
 * and-and-compare. Numbers are in host order, addresses as on the wire. If a packet lacks a header,
 * the header's fields are zero in its key. So that a value of zero does not match those, the key
 * has one presence bit a field, and a mask includes those of its fields (shca_field_require).
 */
#ifndef SHCA_STEERING_MATCH_FIELD_H
#define SHCA_STEERING_MATCH_FIELD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "steering/match/parse.h"

/** One stack of headers; an IPv4 address is in the last four bytes of the IPv6 one, as in
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
	uint32_t mpls; /**< first label stack entry after Ethernet */
	uint8_t ip_version;
	uint8_t ip_proto;
	uint8_t tos;
	uint8_t cvlan; /**< 1: the first tag is a C-VLAN */
	/* For matchers only: no spec has these. */
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
		uint16_t source_port; /**< of an e-switch's manager, 1 or more */
		uint32_t esp_spi;
		uint64_t present; /**< bit i: row i of shca_field_rows */
	};
	uint64_t word[SHCA_MATCH_WORDS];
};
static_assert(sizeof(union shca_match_key) == SHCA_MATCH_WORDS * 8, "no padding in a match key");

/** What a rule matches; value has no bits outside mask. */
struct shca_match {
	union shca_match_key mask;
	union shca_match_key value;
};

/** The part of the device's match criteria that has a field (PRM, fte_match_param). */
enum shca_field_part {
	SHCA_FIELD_OUTER,
	SHCA_FIELD_MISC,
	SHCA_FIELD_INNER,
	SHCA_FIELD_MISC2,
	SHCA_FIELD_NB_PARTS,
};

struct shca_field {
	const char *name; /**< as mlx_fs_dump would print it */
	enum shca_field_part part;
	uint16_t offset; /**< into union shca_match_key */
	uint16_t width;  /**< bytes */
	bool inner;      /**< of the inner stack */
	uint32_t words;  /**< bit i: it has bytes in word i of the key */
	/** Print the value and, where it is partial, the mask. */
	void (*print)(FILE *out, const struct shca_field *field, const struct shca_match *match);
};

#define SHCA_FIELD_MAX 64
extern const struct shca_field shca_field_rows[];
extern const unsigned int shca_field_nb_rows;

/** @return bit i set for each row i that @p mask looks at. */
uint64_t shca_field_used(const union shca_match_key *mask);
/** Add the presence bits of the fields in the mask of @p match. */
void shca_field_require(struct shca_match *match);
/**
 * Fetch from a packet the fields @p used, and others that cost nothing. Other fields of @p key may
 * keep their value.
 */
void shca_field_key(const struct shca_packet *packet, uint64_t used, union shca_match_key *key);
/** @return the name of a part, as in dumps. */
const char *shca_field_part_name(enum shca_field_part part);

#endif /* SHCA_STEERING_MATCH_FIELD_H */
