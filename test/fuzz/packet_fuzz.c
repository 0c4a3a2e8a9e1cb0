/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from bytes through everything of the device that looks into frames: parser, checksums,
 * RSS, large send, completion and steering. Each answer is held against what follows from the
 * frame by a slow way of its own, or against itself.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/steering/build.h"
#include "check.h"
#include "hw/format/cqe.h"
#include "hw/format/csum.h"
#include "hw/format/rss.h"
#include "hw/format/tso.h"
#include "hw/format/tx.h"
#include "packet.h"
#include "steering/state.h"
#include "steering/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	NB_TIRS = 4,
	MAX_RULES = 32,
};

/** RFC 1071 as it is written: network order, not inverted. */
static uint32_t
naive_sum(const uint8_t *bytes, uint32_t length, uint32_t sum)
{
	for (uint32_t i = 0; i < length; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t
naive_l4_sum(const uint8_t *bytes, const struct shca_headers *headers)
{
	const uint8_t *ip = bytes + headers->l3_offset;
	bool is_v4 = headers->l3 == SHCA_L3_IPV4;
	uint32_t length = headers->l3_end - headers->l4_offset;
	uint32_t sum = naive_sum(
		ip + (is_v4 ? 12 : 8), is_v4 ? 8 : 32, headers->ip_proto + length % 65536);

	return naive_sum(bytes + headers->l4_offset, length, sum);
}

static uint32_t
naive_l3_sum(const uint8_t *bytes, const struct shca_headers *headers)
{
	return naive_sum(
		bytes + headers->l3_offset, (uint32_t)headers->l4_offset - headers->l3_offset, 0);
}

/** Every beginning of a frame says the same of what is whole in it. */
static void
check_prefix(struct fuzz_input *input, const struct shca_packet *whole)
{
	uint32_t length = fuzz_input_word(input) % (whole->length + 1);
	uint8_t *exact = malloc(length != 0 ? length : 1);
	const struct shca_headers *outer = &whole->outer;
	struct shca_packet packet;

	FUZZ_CHECK(exact != NULL);
	memcpy(exact, whole->bytes, length);
	shca_parse(exact, length, &packet);
	fuzz_packet_check(&packet);
	FUZZ_CHECK(packet.outer.nb_vlans <= outer->nb_vlans);
	if (packet.outer.l3 != SHCA_L3_NONE) {
		FUZZ_CHECK(packet.outer.l3 == outer->l3);
		FUZZ_CHECK(packet.outer.l3_offset == outer->l3_offset);
		FUZZ_CHECK(packet.outer.l4_offset <= outer->l4_offset);
	}
	if (packet.outer.l4 == SHCA_L4_UDP && outer->l4 == SHCA_L4_UDP)
		FUZZ_CHECK(packet.outer.dst_port == outer->dst_port);
	free(exact);
}

static void
check_filled(const uint8_t *bytes, const struct shca_headers *headers, bool l3, bool l4)
{
	if (!headers->valid)
		return;
	if (l3 && headers->l3 == SHCA_L3_IPV4)
		FUZZ_CHECK(naive_l3_sum(bytes, headers) == 0xffff);
	if (l4 && shca_csum_covers_l4(headers))
		FUZZ_CHECK(naive_l4_sum(bytes, headers) == 0xffff);
}

/** Checksum fields are right afterwards, and nothing else has changed. */
static void
check_checksums(const struct shca_packet *packet, uint8_t flags)
{
	uint8_t *frame = malloc(packet->length);
	struct shca_packet after;
	uint32_t nb_changed = 0;

	FUZZ_CHECK(frame != NULL);
	memcpy(frame, packet->bytes, packet->length);
	shca_tx_checksum(frame, packet, flags);
	for (uint32_t i = 0; i < packet->length; i++)
		nb_changed += frame[i] != packet->bytes[i];
	FUZZ_CHECK(nb_changed <= 8);
	shca_parse(frame, packet->length, &after);
	FUZZ_CHECK(after.outer.l4_offset == packet->outer.l4_offset);
	FUZZ_CHECK(after.inner.l4_offset == packet->inner.l4_offset);
	check_filled(frame, &after.outer, flags & SHCA_ETH_CSUM_L3, flags & SHCA_ETH_CSUM_L4);
	check_filled(frame, &after.inner, flags & SHCA_ETH_CSUM_L3_INNER,
		flags & SHCA_ETH_CSUM_L4_INNER);
	free(frame);
}

static void
check_sums(struct fuzz_input *input, const struct shca_packet *packet)
{
	uint32_t start = fuzz_input_word(input) % (packet->length + 1);
	uint32_t length = packet->length - start;
	uint32_t half = length / 2 & ~1u;
	const uint8_t *at = packet->bytes + start;
	uint32_t crc = UINT32_MAX;
	uint64_t sum = shca_csum_add(at, half, 0);

	sum = shca_csum_add(at + half, length - half, sum);
	FUZZ_CHECK(be16toh(shca_csum_fold(sum)) == naive_sum(at, length, 0));
	for (uint32_t i = 0; i < length * 8; i++) {
		crc ^= i % 8 == 0 ? at[i / 8] : 0;
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	FUZZ_CHECK(shca_csum_fcs(at, length) == htole32(~crc));
}

static uint32_t
naive_toeplitz(const uint8_t *key, const uint8_t *bytes, uint32_t length)
{
	uint32_t hash = 0;

	for (uint32_t bit = 0; bit < length * 8; bit++) {
		if ((bytes[bit / 8] & 0x80 >> bit % 8) == 0)
			continue;
		for (uint32_t i = 0; i < 32; i++)
			if (key[(bit + i) / 8] & 0x80 >> (bit + i) % 8)
				hash ^= UINT32_C(1) << (31 - i);
	}
	return hash;
}

/** All of one kind, which is what drivers ask for, and any combination. */
static uint64_t
choose_fields(struct fuzz_input *input)
{
	static const uint64_t kinds[] = {
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4,
		IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_PORT_TCP |
			IBV_RX_HASH_DST_PORT_TCP,
		IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_UDP |
			IBV_RX_HASH_DST_PORT_UDP,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_PORT_UDP |
			IBV_RX_HASH_DST_PORT_UDP,
		IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_IPSEC_SPI,
	};
	uint8_t choice = fuzz_input_byte(input);
	uint64_t inner = choice & 1 ? (uint64_t)IBV_RX_HASH_INNER : 0;

	if (choice >= 0xe0)
		return fuzz_input_word(input);
	return kinds[choice / 2 % (sizeof(kinds) / sizeof(kinds[0]))] | inner;
}

/** The fields of the stack in their order; false when one is missing. */
static bool
gather_fields(const struct shca_packet *packet, uint64_t fields, uint8_t *bytes, uint32_t *length)
{
	const struct shca_headers *h = fields & IBV_RX_HASH_INNER ? &packet->inner : &packet->outer;
	const struct {
		uint64_t bit;
		bool is_there;
		uint32_t offset, bytes;
	} rows[] = {
		{ IBV_RX_HASH_SRC_IPV4, h->l3 == SHCA_L3_IPV4, h->l3_offset + 12u, 4 },
		{ IBV_RX_HASH_DST_IPV4, h->l3 == SHCA_L3_IPV4, h->l3_offset + 16u, 4 },
		{ IBV_RX_HASH_SRC_IPV6, h->l3 == SHCA_L3_IPV6, h->l3_offset + 8u, 16 },
		{ IBV_RX_HASH_DST_IPV6, h->l3 == SHCA_L3_IPV6, h->l3_offset + 24u, 16 },
		{ IBV_RX_HASH_SRC_PORT_TCP, h->l4 == SHCA_L4_TCP, h->l4_offset, 2 },
		{ IBV_RX_HASH_DST_PORT_TCP, h->l4 == SHCA_L4_TCP, h->l4_offset + 2u, 2 },
		{ IBV_RX_HASH_SRC_PORT_UDP, h->l4 == SHCA_L4_UDP, h->l4_offset, 2 },
		{ IBV_RX_HASH_DST_PORT_UDP, h->l4 == SHCA_L4_UDP, h->l4_offset + 2u, 2 },
		{ IBV_RX_HASH_IPSEC_SPI, h->l4 == SHCA_L4_ESP, h->l4_offset, 4 },
	};

	*length = 0;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((fields & rows[i].bit) == 0)
			continue;
		if (!rows[i].is_there)
			return false;
		memcpy(bytes + *length, packet->bytes + rows[i].offset, rows[i].bytes);
		*length += rows[i].bytes;
	}
	return *length != 0;
}

static void
check_rss(struct fuzz_input *input, const struct shca_packet *packet)
{
	uint64_t fields = choose_fields(input);
	uint8_t key[SHCA_RSS_KEY_BYTES], bytes[64], type;
	uint32_t length, hash;
	struct shca_rss rss;

	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 37 + (fields >> 3));
	shca_rss_init(&rss, key);
	hash = shca_rss_packet(&rss, fields, packet, &type);
	if (gather_fields(packet, fields, bytes, &length)) {
		FUZZ_CHECK(type != 0 && hash == naive_toeplitz(key, bytes, length));
	} else {
		FUZZ_CHECK(type == 0 && hash == 0);
	}
}

/** The headers of a segment: lengths fit the frame, what it is has not changed. */
static void
check_tso(struct fuzz_input *input, const struct shca_packet *packet)
{
	struct shca_tso_segment segment = { .nb = 1 + fuzz_input_byte(input) };
	uint8_t *frame = malloc(packet->length);
	struct shca_packet after;

	FUZZ_CHECK(frame != NULL);
	segment.number = fuzz_input_byte(input) % segment.nb;
	segment.offset = segment.number * (fuzz_input_word(input) & 0xffff);
	memcpy(frame, packet->bytes, packet->length);
	shca_tso_write_headers(frame, packet, &segment);
	shca_parse(frame, packet->length, &after);
	fuzz_packet_check(&after);
	FUZZ_CHECK(after.outer.l3 == packet->outer.l3);
	if (after.outer.l3 != SHCA_L3_NONE) {
		FUZZ_CHECK(after.outer.l3_length_ok);
		FUZZ_CHECK(after.outer.l3_end == packet->length);
	}
	if (packet->inner.valid && packet->inner.l3 != SHCA_L3_NONE)
		FUZZ_CHECK(after.inner.l3_end == packet->length);
	free(frame);
}

static void
check_completion(const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;
	struct shca_cqe cqe;
	bool is_good;
	char text[200];

	for (int see_tunnels = 0; see_tunnels < 2; see_tunnels++) {
		shca_cqe_describe(&cqe, packet, see_tunnels, 0);
		shca_cqe_print(&cqe, text, sizeof(text));
		FUZZ_CHECK(cqe.hds_ip_ext & MLX5_CQE_L2_OK);
		FUZZ_CHECK(!(cqe.pkt_info & SHCA_CQE_TUNNELED) || packet->inner.valid);
		if (see_tunnels && packet->inner.valid)
			continue;
		if (outer->l3 == SHCA_L3_IPV4) {
			is_good =
				outer->l3_length_ok && naive_l3_sum(packet->bytes, outer) == 0xffff;
			FUZZ_CHECK(((cqe.hds_ip_ext & MLX5_CQE_L3_OK) != 0) == is_good);
		}
		if (outer->l4 == SHCA_L4_TCP) {
			is_good = shca_csum_covers_l4(outer) &&
				naive_l4_sum(packet->bytes, outer) == 0xffff;
			FUZZ_CHECK(((cqe.hds_ip_ext & MLX5_CQE_L4_OK) != 0) == is_good);
		}
		if (cqe.hds_ip_ext & MLX5_CQE_L4_OK)
			FUZZ_CHECK(outer->l3 != SHCA_L3_NONE);
	}
}

/** Of the frames that are built here, some are met by each. */
static const struct {
	uint32_t flags;
	uint16_t priority;
	struct spec spec[4];
} rules[] = {
	{ 0, 1, { { 0x20, .mask.eth.dst_mac = { 1 } } } },
	{ 2, 0, { { 0x20, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 1 } } } },
	{ 0, 3, { { 0x20, .value.eth.ether_type = BE16(0x0800), .mask.eth.ether_type = 0xffff } } },
	{ 0, 2, { { 0x20, .value.eth.vlan_tag = BE16(1), .mask.eth.vlan_tag = BE16(1) } } },
	{ 2, 1, { { 0x30, .mask.ipv4.dst_ip = BE32(1) } } },
	{ 0, 1, { { 0x30, .value.ipv4.proto = 17, .mask.ipv4.proto = 255 } } },
	{ 0, 0,
		{ { 0x20 }, { 0x30 },
			{ 0x41, .value.tcp_udp.dst_port = BE16(53),
				.mask.tcp_udp.dst_port = 0xffff } } },
	{ 0, 0, { { 0x20 }, { 0x30 }, { 0x40, .mask.tcp_udp.src_port = BE16(1) } } },
	{ 2, 4, { { 0x31, .value.ipv6.next_hdr = 6, .mask.ipv6.next_hdr = 255 } } },
	{ 0, 1, { { 0x20 }, { 0x31 }, { 0x40, .mask.tcp_udp.dst_port = BE16(3) } } },
	{ 0, 0,
		{ { 0x30 }, { 0x41 },
			{ 0x50, .value.tunnel.tunnel_id = BE32(1),
				.mask.tunnel.tunnel_id = BE32(1) } } },
	{ 2, 0, { { 0x30 }, { 0x41 }, { 0x50 }, { 0x120, .mask.eth.dst_mac = { 2 } } } },
	{ 0, 2,
		{ { 0x30, .value.ipv4.proto = 47, .mask.ipv4.proto = 255 },
			{ 0x51, .value.gre.protocol = BE16(0x6558),
				.mask.gre.protocol = 0xffff } } },
	{ 0, 5, { { 0x60, .mask.mpls.label = BE32(0x1000) } } },
	{ 4, 0, { { 0x30, .mask.ipv4.tos = 1 }, { 0x1001 } } },
	{ 0, 6,
		{ { 0x20, .value.eth.ether_type = BE16(0x86dd), .mask.eth.ether_type = 0xffff },
			{ 0x1001 } } },
	{ 0, 7, { { 0x20 }, { 0x31, .mask.ipv6.flow_label = BE32(1) }, { 0x1000, .word = 7 } } },
	{ 2, 8, { { 0 } } },
};

static struct {
	struct shca_steering *steering;
	struct shca_rule *rule[MAX_RULES];
	char tirs[NB_TIRS];
} state;

static void
add_rules(struct fuzz_input *input)
{
	uint32_t chosen = fuzz_input_word(input);

	for (unsigned int i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct specs specs = { .length = 0 };
		struct shca_rule_attr attr = {
			.flags = rules[i].flags,
			.priority = rules[i].priority,
			.tir = rules[i].flags == 4 ? NULL : &state.tirs[i % NB_TIRS],
		};

		if ((chosen >> i & 1) == 0)
			continue;
		for (unsigned int n = 0; n < 4 && rules[i].spec[n].type != 0; n++)
			specs_add_spec(&specs, &rules[i].spec[n]);
		attr.nb_specs = specs.nb;
		attr.specs = specs_bytes(&specs);
		attr.specs_length = specs.length;
		FUZZ_CHECK(shca_rule_add(state.steering, &attr, &state.rule[i]) == 0);
	}
}

static void
compare_verdicts(const struct shca_verdict *verdict, const struct shca_verdict *other)
{
	FUZZ_CHECK(verdict->nb_destinations == other->nb_destinations);
	FUZZ_CHECK(verdict->to_kernel == other->to_kernel && verdict->dropped == other->dropped);
	for (unsigned int i = 0; i < verdict->nb_destinations; i++) {
		FUZZ_CHECK(verdict->destination[i].tir == other->destination[i].tir);
		FUZZ_CHECK(verdict->destination[i].flow_tag == other->destination[i].flow_tag);
	}
}

/** As if no frame had come before, from the cache, and told step by step: all the same. */
static void
check_walk(const struct shca_packet *packet)
{
	static struct shca_destination kept[MAX_RULES];
	struct shca_verdict fresh, known, told;
	struct shca_dump_conf conf = { .out = NULL };
	struct shca_trace trace = {
		.look_up = shca_trace_table,
		.steering = state.steering,
		.packet = packet,
		.conf = &conf,
	};
	FILE *nowhere = fopen("/dev/null", "w");

	FUZZ_CHECK(nowhere != NULL);
	conf.out = nowhere;
	state.steering->generation++;
	shca_walk_rx(state.steering, packet, &fresh);
	FUZZ_CHECK(fresh.nb_destinations <= MAX_RULES);
	for (unsigned int i = 0; i < fresh.nb_destinations; i++)
		kept[i] = fresh.destination[i];
	fresh.destination = kept;
	for (unsigned int i = 0; i < fresh.nb_destinations; i++)
		FUZZ_CHECK((const char *)kept[i].tir >= state.tirs &&
			(const char *)kept[i].tir < state.tirs + NB_TIRS);
	shca_walk_rx(state.steering, packet, &known);
	compare_verdicts(&fresh, &known);
	shca_walk_trace(state.steering, &trace, &told);
	compare_verdicts(&fresh, &told);
	shca_walk_tx(state.steering, packet, &told);
	FUZZ_CHECK(!told.to_kernel);
	fclose(nowhere);
}

static void
look_at(struct fuzz_input *input, const uint8_t *frame, uint32_t length)
{
	struct shca_packet packet;

	shca_parse(frame, length, &packet);
	fuzz_packet_check(&packet);
	check_prefix(input, &packet);
	check_sums(input, &packet);
	check_rss(input, &packet);
	if (length >= SHCA_TX_MIN_HEADER) {
		check_checksums(&packet, fuzz_input_byte(input));
		check_tso(input, &packet);
		check_completion(&packet);
	}
	check_walk(&packet);
}

static void
set_up(void)
{
	const struct shca_steering_conf conf = {
		.dont_trap = true,
		.sniffer = true,
		.tunnel_offloads = 0x1f,
		.inner_ip_version = true,
	};
	const struct shca_kernel_filter filter = { .present = true, .mac = { 2, 2, 0, 0, 0, 1 } };

	state.steering = shca_steering_create(&conf);
	FUZZ_CHECK(state.steering != NULL);
	shca_steering_set_kernel(state.steering, &filter);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { .at = data, .end = data + size };
	static uint8_t room[FUZZ_PACKET_ROOM];
	uint8_t *exact;
	uint32_t length;
	size_t bytes;

	bytes = fuzz_check_allocated();
	set_up();
	add_rules(&input);
	do {
		length = fuzz_packet_build(&input, room);
		exact = malloc(length != 0 ? length : 1);
		FUZZ_CHECK(exact != NULL);
		memcpy(exact, room, length);
		look_at(&input, exact, length);
		free(exact);
	} while (fuzz_input_left(&input));
	for (unsigned int i = 0; i < MAX_RULES; i++) {
		shca_rule_del(state.steering, state.rule[i]);
		state.rule[i] = NULL;
	}
	FUZZ_CHECK(shca_steering_nb_receiving(state.steering) == 0);
	shca_steering_destroy(state.steering);
	fuzz_check_freed(bytes);
	return 0;
}
