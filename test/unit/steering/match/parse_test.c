/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, whole and cut anywhere, to headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "build.h"
#include "steering/match/parse.h"

static const uint8_t mac_a[6] = { 0x02, 0, 0, 0, 0, 0x0a };
static const uint8_t mac_b[6] = { 0x02, 0, 0, 0, 0, 0x0b };
static const uint8_t ip6_a[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
static const uint8_t ip6_b[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 };

static void
ether(struct frame *frame, uint16_t type)
{
	frame_macs(frame, mac_a, mac_b);
	frame_put16(frame, type);
}

static void
make_udp4(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 0x0a000001, 0x0a000002, 17, 0x20, 0, 0);

	frame_udp(frame, 1111, 53);
	frame_zero(frame, 4);
	frame_end_ipv4(frame, ip);
	frame_zero(frame, 14); /* padding of the short frame */
}

static void
check_udp4(const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;

	assert_true(outer->valid && outer->has_ether && outer->l3_length_ok);
	assert_int_equal(outer->ether_type, 0x0800);
	assert_int_equal(outer->l3, SHCA_L3_IPV4);
	assert_int_equal(outer->l3_offset, 14);
	assert_int_equal(outer->l3_end, 46);
	assert_false(outer->ip_options || outer->fragment);
	assert_int_equal(outer->ip_proto, 17);
	assert_int_equal(outer->l4, SHCA_L4_UDP);
	assert_int_equal(outer->l4_offset, 34);
	assert_int_equal(outer->src_port, 1111);
	assert_int_equal(outer->dst_port, 53);
	assert_int_equal(outer->payload_offset, 42);
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_NONE);
	assert_false(packet->inner.valid);
}

static void
make_vlans_options_tcp(struct frame *frame)
{
	frame_macs(frame, mac_a, mac_b);
	frame_vlan(frame, 0x88a8, 0x6064);
	frame_vlan(frame, 0x8100, 0x0005);
	frame_put16(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 6, 0, 0x4000, 8);

	frame_tcp(frame, 80, 8080, 0x12);
	frame->byte[frame->length - 8] = 0x60; /* one word of options */
	frame_zero(frame, 4 + 3);
	frame_end_ipv4(frame, ip);
}

static void
check_vlans_options_tcp(const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;

	assert_int_equal(outer->nb_vlans, 2);
	assert_int_equal(outer->vlan_tpid, 0x88a8);
	assert_int_equal(outer->vlan_tci, 0x6064);
	assert_int_equal(outer->ether_type, 0x0800);
	assert_true(outer->ip_options);
	assert_false(outer->fragment); /* "don't fragment" is none */
	assert_int_equal(outer->l3_offset, 22);
	assert_int_equal(outer->l4_offset, 50);
	assert_int_equal(outer->l4, SHCA_L4_TCP);
	assert_int_equal(outer->tcp_flags, 0x12);
	assert_int_equal(outer->payload_offset, 74);
}

/** Hop-by-hop (16 bytes), routing (8), destination options (8), then UDP. */
static void
make_extensions(struct frame *frame)
{
	ether(frame, 0x86dd);
	uint32_t ip = frame_ipv6(frame, ip6_a, ip6_b, 0, 0xb8, 0x12345);

	frame_put8(frame, 43);
	frame_put8(frame, 1);
	frame_zero(frame, 14);
	frame_put8(frame, 60);
	frame_zero(frame, 7);
	frame_put8(frame, 17);
	frame_zero(frame, 7);
	frame_udp(frame, 7, 9);
	frame_end_ipv6(frame, ip);
}

static void
check_extensions(const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;

	assert_int_equal(outer->l3, SHCA_L3_IPV6);
	assert_true(outer->ip_options && outer->l3_length_ok);
	assert_false(outer->fragment);
	assert_int_equal(outer->ip_proto, 17);
	assert_int_equal(outer->l4_offset, 14 + 40 + 32);
	assert_int_equal(outer->l4, SHCA_L4_UDP);
	assert_int_equal(outer->dst_port, 9);
}

static void
make_fragment4(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 17, 0, 0x2000, 0);

	frame_udp(frame, 1, 4789);
	frame_vxlan(frame, 5);
	frame_end_ipv4(frame, ip);
}

static void
check_fragment(const struct shca_packet *packet)
{
	assert_true(packet->outer.fragment);
	assert_int_equal(packet->outer.ip_proto, 17);
	assert_int_equal(packet->outer.l4, SHCA_L4_NONE);
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_NONE);
}

/** A later fragment whose payload looks like an extension header of the kind its header names. */
static void
make_fragment6(struct frame *frame)
{
	ether(frame, 0x86dd);
	uint32_t ip = frame_ipv6(frame, ip6_a, ip6_b, 44, 0, 0);

	frame_put8(frame, 60);
	frame_put8(frame, 0);
	frame_put16(frame, 0x0008);
	frame_put32(frame, 77);
	frame_put8(frame, 17);
	frame_zero(frame, 7 + 8);
	frame_end_ipv6(frame, ip);
}

static void
check_fragment6(const struct shca_packet *packet)
{
	assert_true(packet->outer.fragment && packet->outer.ip_options);
	assert_int_equal(packet->outer.ip_proto, 60);
	assert_int_equal(packet->outer.l4_offset, 14 + 40 + 8);
	assert_int_equal(packet->outer.l4, SHCA_L4_NONE);
}

static void
make_first_fragment6(struct frame *frame)
{
	ether(frame, 0x86dd);
	uint32_t ip = frame_ipv6(frame, ip6_a, ip6_b, 44, 0, 0);

	frame_put8(frame, 17);
	frame_put8(frame, 0);
	frame_put16(frame, 0x0001);
	frame_put32(frame, 77);
	frame_udp(frame, 1, 2);
	frame_end_ipv6(frame, ip);
}

static void
make_esp(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 50, 0, 0, 0);

	frame_put32(frame, 0x1001);
	frame_put32(frame, 1);
	frame_end_ipv4(frame, ip);
}

static void
check_esp(const struct shca_packet *packet)
{
	assert_int_equal(packet->outer.l4, SHCA_L4_ESP);
	assert_int_equal(packet->outer.l4_offset, 34);
}

static void
make_vxlan(struct frame *frame)
{
	ether(frame, 0x86dd);
	uint32_t ip6 = frame_ipv6(frame, ip6_a, ip6_b, 17, 0, 0);

	frame_udp(frame, 50000, 4789);
	frame_vxlan(frame, 0x123456);
	frame_macs(frame, mac_b, mac_a);
	frame_vlan(frame, 0x8100, 0x2003);
	frame_put16(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 3, 4, 6, 0, 0, 0);

	frame_tcp(frame, 5, 6, 2);
	frame_end_ipv4(frame, ip);
	frame_end_ipv6(frame, ip6);
}

static void
check_vxlan(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_VXLAN);
	assert_int_equal(packet->vni, 0x123456);
	assert_true(packet->inner.valid && packet->inner.has_ether);
	assert_int_equal(packet->inner.l2_offset, 70);
	assert_int_equal(packet->inner.vlan_tci, 0x2003);
	assert_int_equal(packet->inner.l3, SHCA_L3_IPV4);
	assert_int_equal(packet->inner.l4, SHCA_L4_TCP);
	assert_int_equal(packet->inner.dst_port, 6);
	assert_int_equal(packet->outer.l4, SHCA_L4_UDP);
}

/** Checksum, key and sequence number, then IPv6 without Ethernet. */
static void
make_gre(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 47, 0, 0, 0);

	frame_put16(frame, 0xb000);
	frame_put16(frame, 0x86dd);
	frame_put32(frame, 0xdead0000);
	frame_put32(frame, 0xcafe0001);
	frame_put32(frame, 0x11111111);
	uint32_t ip6 = frame_ipv6(frame, ip6_a, ip6_b, 17, 0, 0);

	frame_udp(frame, 10, 20);
	frame_end_ipv6(frame, ip6);
	frame_end_ipv4(frame, ip);
}

static void
check_gre(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_GRE);
	assert_int_equal(packet->gre_protocol, 0x86dd);
	assert_true(packet->has_gre_key);
	assert_int_equal(packet->gre_key, 0xcafe0001);
	assert_true(packet->inner.valid);
	assert_false(packet->inner.has_ether);
	assert_int_equal(packet->inner.l3, SHCA_L3_IPV6);
	assert_int_equal(packet->inner.dst_port, 20);
	assert_int_equal(packet->outer.ip_proto, 47);
	assert_int_equal(packet->outer.l4, SHCA_L4_NONE);
}

static void
make_gre_ether(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 47, 0, 0, 0);

	frame_put16(frame, 0);
	frame_put16(frame, 0x6558);
	ether(frame, 0x0806);
	frame_zero(frame, 28);
	frame_end_ipv4(frame, ip);
}

static void
check_gre_ether(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_GRE);
	assert_false(packet->has_gre_key);
	assert_true(packet->inner.has_ether);
	assert_int_equal(packet->inner.ether_type, 0x0806);
	assert_int_equal(packet->inner.l3, SHCA_L3_NONE);
}

/** Version 1 (PPTP) and source routes are other protocols. */
static void
make_gre_pptp(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 47, 0, 0, 0);

	frame_put16(frame, 0x2001);
	frame_put16(frame, 0x0800);
	frame_zero(frame, 40);
	frame_end_ipv4(frame, ip);
}

static void
check_gre_pptp(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_NONE);
	assert_int_equal(packet->outer.ip_proto, 47);
	assert_false(packet->inner.valid);
}

static void
make_mpls_gre(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 47, 0, 0, 0);

	frame_put16(frame, 0);
	frame_put16(frame, 0x8847);
	frame_put32(frame, 0x00064040);
	frame_put32(frame, 0x000c8140);
	uint32_t inner = frame_ipv4(frame, 5, 6, 17, 0, 0, 0);

	frame_udp(frame, 1, 2);
	frame_end_ipv4(frame, inner);
	frame_end_ipv4(frame, ip);
}

static void
check_mpls_gre(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_MPLS_GRE);
	assert_int_equal(packet->gre_protocol, 0x8847);
	assert_true(packet->has_mpls);
	assert_int_equal(packet->mpls_label, 0x00064040);
	assert_true(packet->inner.valid);
	assert_int_equal(packet->inner.l3, SHCA_L3_IPV4);
	assert_int_equal(packet->inner.l4, SHCA_L4_UDP);
}

/** A pseudowire: control word, then Ethernet. */
static void
make_mpls_udp(struct frame *frame)
{
	ether(frame, 0x0800);
	uint32_t ip = frame_ipv4(frame, 1, 2, 17, 0, 0, 0);

	frame_udp(frame, 1, 6635);
	frame_put32(frame, 0x00064140);
	frame_put32(frame, 0x00000007);
	ether(frame, 0x86dd);
	uint32_t ip6 = frame_ipv6(frame, ip6_a, ip6_b, 6, 0, 0);

	frame_tcp(frame, 1, 2, 0x10);
	frame_end_ipv6(frame, ip6);
	frame_end_ipv4(frame, ip);
}

static void
check_mpls_udp(const struct shca_packet *packet)
{
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_MPLS_UDP);
	assert_int_equal(packet->mpls_label, 0x00064140);
	assert_true(packet->inner.has_ether);
	assert_int_equal(packet->inner.l2_offset, 14 + 20 + 8 + 8);
	assert_int_equal(packet->inner.l4, SHCA_L4_TCP);
}

static void
make_mpls_ether(struct frame *frame)
{
	ether(frame, 0x8847);
	frame_put32(frame, 0x00064140);
	uint32_t ip = frame_ipv4(frame, 1, 2, 17, 0, 0, 0);

	frame_udp(frame, 3, 4);
	frame_end_ipv4(frame, ip);
}

static void
check_mpls_ether(const struct shca_packet *packet)
{
	assert_int_equal(packet->outer.ether_type, 0x8847);
	assert_true(packet->outer.has_mpls);
	assert_int_equal(packet->outer.mpls_label, 0x00064140);
	assert_int_equal(packet->outer.l3, SHCA_L3_IPV4);
	assert_int_equal(packet->outer.dst_port, 4);
	assert_int_equal(packet->tunnel, SHCA_TUNNEL_NONE);
	assert_false(packet->has_mpls);
}

/* clang-format off */
static const struct sample {
	const char *name;
	void (*make)(struct frame *frame);
	void (*check)(const struct shca_packet *packet);
} samples[] = {
	{ "IPv4 UDP, padded",       make_udp4,               check_udp4 },
	{ "two tags, options, TCP", make_vlans_options_tcp,  check_vlans_options_tcp },
	{ "IPv6 extensions",        make_extensions,         check_extensions },
	{ "IPv4 first fragment",    make_fragment4,          check_fragment },
	{ "IPv6 later fragment",    make_fragment6,          check_fragment6 },
	{ "IPv6 first fragment",    make_first_fragment6,    check_fragment },
	{ "ESP",                    make_esp,                check_esp },
	{ "VXLAN over IPv6",        make_vxlan,              check_vxlan },
	{ "GRE of IPv6, all words", make_gre,                check_gre },
	{ "GRE of Ethernet",        make_gre_ether,          check_gre_ether },
	{ "PPTP",                   make_gre_pptp,           check_gre_pptp },
	{ "MPLS over GRE",          make_mpls_gre,           check_mpls_gre },
	{ "MPLS over UDP",          make_mpls_udp,           check_mpls_udp },
	{ "MPLS over Ethernet",     make_mpls_ether,         check_mpls_ether },
};
/* clang-format on */
#define NB_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static void
test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_SAMPLES; i++) {
		struct frame frame = { 0 };
		struct shca_packet packet;

		samples[i].make(&frame);
		shca_parse(frame.byte, frame.length, &packet);
		assert_ptr_equal(packet.bytes, frame.byte);
		assert_int_equal(packet.length, frame.length);
		samples[i].check(&packet);
	}
}

/** What must hold of any parse of @p length bytes, and of a parse of the same frame's first bytes.
 */
static void
check_stack(const struct shca_headers *cut, const struct shca_headers *whole, uint32_t length)
{
	assert_true(!cut->has_ether || cut->valid);
	if (!cut->valid) {
		assert_int_equal(cut->l3, SHCA_L3_NONE);
		return;
	}
	assert_true(whole->valid);
	assert_int_equal(cut->l2_offset, whole->l2_offset);
	if (cut->has_ether)
		assert_true(cut->l2_offset + 14u <= length);
	assert_true(cut->nb_vlans <= whole->nb_vlans);
	if (cut->l3 == SHCA_L3_NONE) {
		assert_int_equal(cut->l4, SHCA_L4_NONE);
		return;
	}
	assert_int_equal(cut->l3, whole->l3);
	assert_int_equal(cut->l3_offset, whole->l3_offset);
	assert_int_equal(cut->l3_length_ok, whole->l3_end <= length && whole->l3_length_ok);
	assert_true(cut->l3_end <= length);
	assert_true(cut->l4_offset <= cut->l3_end);
	assert_true(cut->l4_offset <= whole->l4_offset);
	if (cut->l4 == SHCA_L4_NONE)
		return;
	assert_int_equal(cut->l4, whole->l4);
	assert_int_equal(cut->src_port, whole->src_port);
	assert_int_equal(cut->dst_port, whole->dst_port);
	assert_int_equal(cut->payload_offset, whole->payload_offset);
	assert_true(cut->payload_offset <= cut->l3_end);
}

/** The bytes lie at the end of an allocation of their length, so that ASan sees a read past them.
 */
static void
parse_exact(const uint8_t *bytes, uint32_t length, const struct shca_packet *whole)
{
	uint8_t *copy = malloc(length != 0 ? length : 1);
	struct shca_packet packet;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	shca_parse(copy, length, &packet);
	check_stack(&packet.outer, whole != NULL ? &whole->outer : &packet.outer, length);
	check_stack(&packet.inner, whole != NULL ? &whole->inner : &packet.inner, length);
	free(copy);
}

static void
test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_SAMPLES; i++) {
		struct frame frame = { 0 };
		struct shca_packet whole;

		samples[i].make(&frame);
		shca_parse(frame.byte, frame.length, &whole);
		for (uint32_t length = 0; length <= frame.length; length++)
			parse_exact(frame.byte, length, &whole);
	}
}

/** Where each layer of the first samples begins to be valid: one byte less and it is not. */
static void
test_layer_needs_its_last_byte(void **state)
{
	struct frame frame = { 0 };
	struct shca_packet packet;

	(void)state;
	make_udp4(&frame);
	shca_parse(frame.byte, 13, &packet);
	assert_false(packet.outer.valid);
	shca_parse(frame.byte, 14, &packet);
	assert_true(packet.outer.valid);
	shca_parse(frame.byte, 33, &packet);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);
	shca_parse(frame.byte, 34, &packet);
	assert_int_equal(packet.outer.l3, SHCA_L3_IPV4);
	shca_parse(frame.byte, 41, &packet);
	assert_int_equal(packet.outer.l4, SHCA_L4_NONE);
	assert_int_equal(packet.outer.ip_proto, 17);
	shca_parse(frame.byte, 42, &packet);
	assert_int_equal(packet.outer.l4, SHCA_L4_UDP);
	assert_false(packet.outer.l3_length_ok);
}

static void
test_lying_lengths(void **state)
{
	struct frame frame = { 0 };
	struct shca_packet packet;

	(void)state;
	make_udp4(&frame);
	frame.byte[16] = 0xff; /* longer than the frame */
	shca_parse(frame.byte, frame.length, &packet);
	assert_false(packet.outer.l3_length_ok);
	assert_int_equal(packet.outer.l3_end, frame.length);
	frame.byte[16] = 0;
	frame.byte[17] = 10; /* shorter than the header */
	shca_parse(frame.byte, frame.length, &packet);
	assert_false(packet.outer.l3_length_ok);
	frame.byte[17] = 27; /* the UDP header would stand in the padding */
	shca_parse(frame.byte, frame.length, &packet);
	assert_true(packet.outer.l3_length_ok);
	assert_int_equal(packet.outer.l4, SHCA_L4_NONE);
	frame.byte[14] = 0x44; /* header of 16 bytes */
	shca_parse(frame.byte, frame.length, &packet);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);
	frame.byte[14] = 0x65; /* version 6 under EtherType 0x0800 */
	shca_parse(frame.byte, frame.length, &packet);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);
}

static uint64_t
next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/** Samples with bytes changed at random, at all lengths: nothing is believed. */
static void
test_garbage(void **state)
{
	uint64_t random = 0x5eed;

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		struct frame frame = { 0 };

		samples[next_random(&random) % NB_SAMPLES].make(&frame);
		for (unsigned int n = next_random(&random) % 6; n > 0; n--)
			frame.byte[next_random(&random) % frame.length] =
				(uint8_t)next_random(&random);
		parse_exact(frame.byte, next_random(&random) % (frame.length + 1), NULL);
	}
}

/** Endless stacks of tags, labels and extension headers end at a bound. */
static void
test_long_stacks(void **state)
{
	struct frame frame = { 0 };
	struct shca_packet packet;

	(void)state;
	frame_macs(&frame, mac_a, mac_b);
	for (unsigned int i = 0; i < 100; i++)
		frame_vlan(&frame, 0x8100, 7);
	shca_parse(frame.byte, frame.length, &packet);
	assert_int_equal(packet.outer.ether_type, 0x8100);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);

	frame.length = 0;
	ether(&frame, 0x8847);
	frame_zero(&frame, 400);
	shca_parse(frame.byte, frame.length, &packet);
	assert_true(packet.outer.has_mpls);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);

	frame.length = 0;
	ether(&frame, 0x86dd);
	uint32_t ip = frame_ipv6(&frame, ip6_a, ip6_b, 60, 0, 0);

	for (unsigned int i = 0; i < 40; i++) {
		frame_put8(&frame, 60);
		frame_zero(&frame, 7);
	}
	frame_end_ipv6(&frame, ip);
	shca_parse(frame.byte, frame.length, &packet);
	assert_int_equal(packet.outer.ip_proto, 60);
	assert_int_equal(packet.outer.l4, SHCA_L4_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_layer_needs_its_last_byte),
		cmocka_unit_test(test_lying_lengths),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_long_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
