/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow steering, the naive way: arrays scanned from end to end, written from the reference on the
 * kernel's semantics and not from lib/softhca/steering. The differential test holds one against the
 * other.
 *
 * Packets come as a list of fields that whoever made the frame also filled in, so the parser is
 * held to account as well.
 */
#ifndef TEST_MODEL_NAIVE_STEERING_H
#define TEST_MODEL_NAIVE_STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What can be matched of one stack of headers. */
enum naive_field {
	NAIVE_DMAC,
	NAIVE_SMAC,
	NAIVE_ETHERTYPE,
	NAIVE_CTAG, /**< one byte: 1 when the first tag is a C-VLAN */
	NAIVE_TCI,  /**< of a first C-VLAN tag */
	NAIVE_VERSION,
	NAIVE_PROTO,
	NAIVE_TOS,
	NAIVE_SRC, /**< IPv4: the last four of 16 bytes */
	NAIVE_DST,
	NAIVE_LABEL,
	NAIVE_TCP_SPORT,
	NAIVE_TCP_DPORT,
	NAIVE_UDP_SPORT,
	NAIVE_UDP_DPORT,
	NAIVE_MPLS,
	NAIVE_STACK_FIELDS,

	/* Second stack: the same again, for the inner headers; then what tunnels have. */
	NAIVE_VNI = 2 * NAIVE_STACK_FIELDS,
	NAIVE_GRE_PROTOCOL,
	NAIVE_GRE_KEY,
	NAIVE_MPLS_GRE,
	NAIVE_MPLS_UDP,
	NAIVE_FIELDS,
};

struct naive_packet {
	uint32_t length;
	bool present[NAIVE_FIELDS];
	uint8_t value[NAIVE_FIELDS][16]; /**< network order */
};

/** Put a field in a packet; @p stack is 0 for outer, 1 for inner. */
void naive_set(struct naive_packet *packet, unsigned int stack, unsigned int field,
	const void *bytes, size_t length);

struct naive_match {
	uint8_t mask[NAIVE_FIELDS][16];
	uint8_t value[NAIVE_FIELDS][16];
};

enum {
	NAIVE_MAX_RULES = 128,
	NAIVE_MAX_ENTRIES = 2 * NAIVE_MAX_RULES,
	NAIVE_MAX_COPIES = 256,
	NAIVE_COUNTERS = 4,
	NAIVE_INNER_VERSION = 0x100, /**< in spec_caps, beside the bits of tunnels */
};

struct naive_entry {
	bool used;
	unsigned int table;
	unsigned int index, group_start, group_size;
	struct naive_match match;
	bool drop;
	bool counts; /**< until a rule with a counter leaves */
	uint32_t tag;
};

struct naive_rule {
	bool used;
	unsigned int nb_entries;
	unsigned int entry[2];
	int tir;     /**< -1: does not receive */
	int counter; /**< -1: none */
};

struct naive_steering {
	bool can_dont_trap, can_sniff;
	uint32_t spec_caps;                    /**< for naive_specs_apply() */
	unsigned int max_copies, max_counters; /**< in an entry; 0: no limit */
	bool kernel, promiscuous, joined;
	uint8_t mac[6];
	struct naive_entry entry[NAIVE_MAX_ENTRIES];
	struct naive_rule rule[NAIVE_MAX_RULES];
	uint64_t packets[NAIVE_COUNTERS], bytes[NAIVE_COUNTERS];
};

struct naive_request {
	uint32_t type, flags;
	uint16_t priority;
	uint8_t nb_specs;
	const uint8_t *specs;
	size_t specs_length;
	int tir;     /**< -1: a QP that cannot receive */
	int counter; /**< -1: none */
};

struct naive_copy {
	int tir;
	uint32_t tag;
};

struct naive_result {
	unsigned int nb;
	struct naive_copy copy[NAIVE_MAX_COPIES];
	bool kernel, dropped;
};

/** @return 0 and the number of the rule, or a negative errno. */
int naive_add(
	struct naive_steering *naive, const struct naive_request *request, unsigned int *rule);
void naive_del(struct naive_steering *naive, unsigned int rule);
void naive_receive(struct naive_steering *naive, const struct naive_packet *packet,
	struct naive_result *result);
void naive_send(struct naive_steering *naive, const struct naive_packet *packet,
	struct naive_result *result);
unsigned int naive_nb_receiving(const struct naive_steering *naive);

#endif /* TEST_MODEL_NAIVE_STEERING_H */
