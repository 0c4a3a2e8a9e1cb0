/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow specs: what uverbs and mlx5_ib refuse, with which errno and in which order, and what becomes
 * of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/mlx5-abi.h>

#include "build.h"

#define ALL_TUNNELS UINT32_C(0x1f)
#define INNER       IBV_FLOW_SPEC_INNER

static int
build(const struct specs *specs, uint32_t tunnels, struct shca_match *match,
	struct shca_spec_action *action)
{
	const struct shca_spec_caps caps = { .tunnel_offloads = tunnels, .inner_ip_version = true };
	struct shca_spec_list list;
	int err = shca_spec_unpack(specs->store + 1, specs->length, specs->nb, &list);

	if (err == 0)
		err = shca_spec_build(&list, &caps, NULL, match, action);
	return err != 0 ? err : shca_spec_check_values(match);
}

/** Header fields as given, filters of any length: the checks of uverbs. */
struct raw {
	const char *name;
	uint32_t type;
	uint16_t size;
	uint16_t reserved;
	uint8_t value_at, value_byte; /**< one byte of the value that is not zero */
	uint8_t mask_at, mask_byte;
	int err;
};

/* clang-format off */
static const struct raw raws[] = {
	{ "ETH",                     0x20, 40, 0, .err = 0 },
	{ "reserved",                0x20, 40, 1, .err = EINVAL },
	{ "size below the header",   0x20, 4,  0, .err = EINVAL },
	{ "size 0",                  0x20, 0,  0, .err = EINVAL },
	{ "no filter",               0x20, 8,  0, .err = EINVAL },
	{ "filter of half a byte",   0x20, 9,  0, .err = EINVAL },
	{ "filter of 2",             0x20, 12, 0, .err = EINVAL },
	{ "filter of 4 and a bit",   0x20, 17, 0, .err = 0 },
	{ "shorter filter",          0x20, 16, 0, .err = 0 },
	{ "longer filter, zero",     0x20, 48, 0, .err = 0 },
	{ "longer filter, value",    0x20, 48, 0, .value_at = 19, .value_byte = 1, .err = 0 },
	{ "longer filter, mask",     0x20, 48, 0, .mask_at = 19, .mask_byte = 1, .err = EINVAL },
	{ "IPV4 legacy",             0x30, 24, 0, .err = 0 },
	{ "IPV4",                    0x30, 32, 0, .err = 0 },
	{ "IPV4 longer, mask",       0x30, 40, 0, .mask_at = 12, .mask_byte = 1, .err = EINVAL },
	{ "raw IPV4_EXT",            0x32, 32, 0, .err = EINVAL },
	{ "IB",                      0x22, 48, 0, .err = EINVAL },
	{ "IPV6",                    0x31, 88, 0, .err = 0 },
	{ "IPV6 40th value byte",    0x31, 88, 0, .value_at = 39, .value_byte = 1, .err = 0 },
	{ "IPV6 40th mask byte",     0x31, 88, 0, .mask_at = 39, .mask_byte = 1, .err = EINVAL },
	{ "IPV6 label value 2^20",   0x31, 88, 0, .value_at = 33, .value_byte = 0x10, .err = EINVAL },
	{ "IPV6 label mask 2^20",    0x31, 88, 0, .mask_at = 33, .mask_byte = 0x10, .err = EINVAL },
	{ "IPV6 label mask 2^19",    0x31, 88, 0, .mask_at = 33, .mask_byte = 0x08, .err = 0 },
	{ "IPV6 without label",      0x31, 72, 0, .err = 0 },
	{ "TCP",                     0x40, 16, 0, .err = 0 },
	{ "UDP",                     0x41, 16, 0, .err = 0 },
	{ "VXLAN",                   0x50, 16, 0, .err = 0 },
	{ "VXLAN value 2^24",        0x50, 16, 0, .value_at = 0, .value_byte = 1, .err = EINVAL },
	{ "VXLAN mask 2^24",         0x50, 16, 0, .mask_at = 0, .mask_byte = 1, .err = EINVAL },
	{ "VXLAN inner",            0x150, 16, 0, .err = EINVAL },
	{ "GRE",                     0x51, 24, 0, .err = 0 },
	{ "GRE inner",              0x151, 24, 0, .err = 0 },
	{ "MPLS",                    0x60, 16, 0, .err = 0 },
	{ "MPLS inner",             0x160, 16, 0, .err = 0 },
	{ "ESP",                     0x34, 24, 0, .err = EOPNOTSUPP },
	{ "ESP inner",              0x134, 24, 0, .err = EOPNOTSUPP },
	{ "ETH inner",              0x120, 40, 0, .err = 0 },
	{ "IPV4 inner",             0x130, 32, 0, .err = 0 },
	{ "IPV6 inner",             0x131, 88, 0, .err = 0 },
	{ "TCP inner",              0x140, 16, 0, .err = 0 },
	{ "UDP inner",              0x141, 16, 0, .err = 0 },
	{ "unknown",                 0x21, 40, 0, .err = EINVAL },
	{ "unknown flag",           0x220, 40, 0, .err = EINVAL },
	{ "TAG",                   0x1000, 16, 0, .err = 0 },
	{ "TAG of the user's size",0x1000, 12, 0, .err = EINVAL },
	{ "TAG too long",          0x1000, 24, 0, .err = EINVAL },
	{ "TAG reserved",          0x1000, 16, 1, .err = EINVAL },
	{ "TAG inner",             0x1100, 16, 0, .err = EINVAL },
	{ "DROP",                  0x1001,  8, 0, .err = 0 },
	{ "DROP too long",         0x1001, 16, 0, .err = EINVAL },
	{ "HANDLE",                0x1002, 16, 0, .err = EOPNOTSUPP },
	{ "HANDLE size",           0x1002,  8, 0, .err = EOPNOTSUPP },
	{ "HANDLE reserved",       0x1002, 16, 1, .err = EINVAL },
	{ "COUNT",                 0x1003, 16, 0, .err = 0 },
	{ "COUNT size",            0x1003,  8, 0, .err = EINVAL },
	{ "unknown action",        0x1004, 16, 0, .err = EINVAL },
	{ "far action",        0x80000000, 16, 0, .err = EINVAL },
};
/* clang-format on */

static void
add_raw(struct specs *specs, const struct raw *raw)
{
	uint8_t *at = specs_bytes(specs) + specs->length;
	struct ib_uverbs_flow_spec_hdr header = {
		.type = raw->type,
		.size = raw->size,
		.reserved = raw->reserved,
	};

	memset(at, 0, raw->size);
	memcpy(at, &header, 8);
	if (raw->value_byte != 0)
		at[8 + raw->value_at] = raw->value_byte;
	if (raw->mask_byte != 0)
		at[8 + (raw->size - 8) / 2 + raw->mask_at] = raw->mask_byte;
	specs->length += raw->size;
	specs->nb++;
}

static void
test_raw(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
		struct specs specs = { 0 };
		struct shca_match match;
		struct shca_spec_action action;

		add_raw(&specs, &raws[i]);
		if (raws[i].size < 8)
			specs.length = 8;

		int err = -build(&specs, ALL_TUNNELS, &match, &action);

		if (err != raws[i].err)
			fail_msg("%s: %d, not %d", raws[i].name, err, raws[i].err);
	}
}

/** Exactly nb_specs specs, exactly specs_length bytes; the check for a reserved field needs the
 * whole spec. */
static void
test_counts(void **state)
{
	struct specs specs = { 0 };
	struct shca_match match;
	struct shca_spec_action action;
	const union shca_spec_filter zero = { 0 };

	(void)state;
	specs_add(&specs, 0x20, &zero, &zero, 16);
	specs_add(&specs, 0x30, &zero, &zero, 12);
	assert_int_equal(build(&specs, 0, &match, &action), 0);
	specs.nb = 3;
	assert_int_equal(build(&specs, 0, &match, &action), -EINVAL);
	specs.nb = 1;
	assert_int_equal(build(&specs, 0, &match, &action), -EINVAL);
	specs.nb = 2;
	for (size_t whole = specs.length; specs.length > 0; specs.length--)
		assert_int_equal(
			build(&specs, 0, &match, &action), specs.length == whole ? 0 : -EINVAL);
	specs.nb = 0;
	assert_int_equal(build(&specs, 0, &match, &action), 0);
	assert_int_equal(shca_field_used(&match.mask), 0);
}

#define MAX_SPECS 4
struct combination {
	const char *name;
	struct spec spec[MAX_SPECS];
	int err;
	uint32_t tunnels_missing;
};

#define ETH_TYPE(number, bits)                                                                     \
	{                                                                                          \
		.type = 0x20, .value.eth.ether_type = BE16(number),                                \
		.mask.eth.ether_type = BE16(bits)                                                  \
	}
#define INNER_ETH_TYPE(number, bits)                                                               \
	{                                                                                          \
		.type = 0x120, .value.eth.ether_type = BE16(number),                               \
		.mask.eth.ether_type = BE16(bits)                                                  \
	}
#define PROTO4(number, bits)                                                                       \
	{                                                                                          \
		.type = 0x30, .value.ipv4.proto = (number), .mask.ipv4.proto = (bits)              \
	}
#define MPLS(kind, bits)                                                                           \
	{                                                                                          \
		.type = (kind), .mask.mpls.label = BE32(bits)                                      \
	}
#define MPLS_UDP_BIT MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP
#define MPLS_GRE_BIT MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE

/* clang-format off */
static const struct combination combinations[] = {
	/* EtherType and IP version, steering.md 3.1. */
	{ "0x0800 + IPV4",       { ETH_TYPE(0x0800, 0xffff), { .type = 0x30 } }, 0 },
	{ "0x86dd + IPV4",       { ETH_TYPE(0x86dd, 0xffff), { .type = 0x30 } }, EINVAL },
	{ "0x86dd + IPV6",       { ETH_TYPE(0x86dd, 0xffff), { .type = 0x31 } }, 0 },
	{ "0x0800 + IPV6",       { ETH_TYPE(0x0800, 0xffff), { .type = 0x31 } }, EINVAL },
	{ "0x8847 + IPV4",       { ETH_TYPE(0x8847, 0xffff), { .type = 0x30 } }, 0 },
	{ "0x8848 + IPV6",       { ETH_TYPE(0x8848, 0xffff), { .type = 0x31 } }, 0 },
	{ "0x8100 + IPV4",       { ETH_TYPE(0x8100, 0xffff), { .type = 0x30 } }, EINVAL },
	{ "partial mask + IPV4", { ETH_TYPE(0x0800, 0xff00), { .type = 0x30 } }, EINVAL },
	{ "partial mask, no L3", { ETH_TYPE(0x0800, 0xff00) }, 0 },
	{ "no mask + IPV4",      { ETH_TYPE(0, 0), { .type = 0x30 } }, 0 },
	{ "IPV4 first",          { { .type = 0x30 }, ETH_TYPE(0x86dd, 0xffff) }, EINVAL },
	{ "last EtherType wins", { ETH_TYPE(0x0800, 0xffff), ETH_TYPE(0x86dd, 0xffff), { .type = 0x31 } }, 0 },
	{ "last L3 wins",        { ETH_TYPE(0x0800, 0xffff), { .type = 0x31 }, { .type = 0x30 } }, 0 },
	{ "inner disagrees",     { INNER_ETH_TYPE(0x86dd, 0xffff), { .type = 0x130 } }, EINVAL },
	{ "sides are apart",     { ETH_TYPE(0x0800, 0xffff), { .type = 0x131 } }, 0 },
	{ "ARP + UDP",           { ETH_TYPE(0x0806, 0xffff), { .type = 0x41 } }, 0 },
	{ "before other faults", { { .type = 0x34 }, ETH_TYPE(0x86dd, 0xffff), { .type = 0x30 } }, EINVAL },
	{ "IPV4 + IPV6",         { { .type = 0x30 }, { .type = 0x31 } }, 0 },
	/* Protocol conflicts. */
	{ "TCP + UDP",           { { .type = 0x40 }, { .type = 0x41 } }, EINVAL },
	{ "UDP + UDP",           { { .type = 0x41 }, { .type = 0x41 } }, 0 },
	{ "TCP + inner UDP",     { { .type = 0x40 }, { .type = 0x141 } }, 0 },
	{ "proto 17 + UDP",      { PROTO4(17, 0xff), { .type = 0x41 } }, 0 },
	{ "proto 6 + UDP",       { PROTO4(6, 0xff), { .type = 0x41 } }, EINVAL },
	{ "UDP + proto 6",       { { .type = 0x41 }, PROTO4(6, 0xff) }, EINVAL },
	{ "proto 17/0x1f + UDP", { PROTO4(17, 0x1f), { .type = 0x41 } }, EINVAL },
	{ "proto 6/0 + UDP",     { PROTO4(6, 0), { .type = 0x41 } }, 0 },
	{ "proto 6, proto 17",   { PROTO4(6, 0xff), PROTO4(17, 0xff) }, EINVAL },
	{ "next header 6 + UDP", { { .type = 0x31, .value.ipv6.next_hdr = 6, .mask.ipv6.next_hdr = 0xff }, { .type = 0x41 } }, EINVAL },
	{ "UDP + GRE",           { { .type = 0x41 }, { .type = 0x51 } }, EINVAL },
	{ "proto 47 + GRE",      { PROTO4(47, 0xff), { .type = 0x51 } }, 0 },
	{ "UDP + inner GRE",     { { .type = 0x41 }, { .type = 0x151 } }, 0 },
	{ "inner UDP + inner GRE", { { .type = 0x141 }, { .type = 0x151 } }, EINVAL },
	/* Fields the device lacks: by mask, not by value. */
	{ "ttl mask",            { { .type = 0x30, .mask.ipv4.ttl = 0xff } }, EOPNOTSUPP },
	{ "ttl value",           { { .type = 0x30, .value.ipv4.ttl = 0xff } }, 0 },
	{ "flags mask",          { { .type = 0x30, .mask.ipv4.flags = 1 } }, EOPNOTSUPP },
	{ "hop limit mask",      { { .type = 0x31, .mask.ipv6.hop_limit = 1 } }, EOPNOTSUPP },
	{ "hop limit value",     { { .type = 0x31, .value.ipv6.hop_limit = 1 } }, 0 },
	{ "GRE flags mask",      { { .type = 0x51, .mask.gre.c_ks_res0_ver = 1 } }, EOPNOTSUPP },
	{ "GRE flags value",     { { .type = 0x51, .value.gre.c_ks_res0_ver = 1 } }, 0 },
	{ "lacking before conflict", { { .type = 0x41 }, { .type = 0x30, .value.ipv4.proto = 6, .mask.ipv4 = { .proto = 0xff, .ttl = 1 } } }, EOPNOTSUPP },
	{ "first offender decides", { { .type = 0x41 }, { .type = 0x40 }, { .type = 0x34 } }, EINVAL },
	{ "first offender decides 2", { { .type = 0x34 }, { .type = 0x41 }, { .type = 0x40 } }, EOPNOTSUPP },
	{ "GRE, device without", { { .type = 0x51 } }, EOPNOTSUPP, MLX5_IB_TUNNELED_OFFLOADS_GRE },
	/* MPLS by the spec before. */
	{ "MPLS over UDP, without",  { { .type = 0x41 }, MPLS(0x60, 1) }, EOPNOTSUPP, MPLS_UDP_BIT },
	{ "MPLS over UDP",           { { .type = 0x41 }, MPLS(0x60, 1) }, 0, MPLS_GRE_BIT },
	{ "MPLS over GRE, without",  { { .type = 0x51 }, MPLS(0x60, 1) }, EOPNOTSUPP, MPLS_GRE_BIT },
	{ "MPLS over GRE",           { { .type = 0x51 }, MPLS(0x60, 1) }, 0, MPLS_UDP_BIT },
	{ "MPLS, neither",           { MPLS(0x60, 1) }, EOPNOTSUPP, MPLS_UDP_BIT | MPLS_GRE_BIT },
	{ "MPLS without mask",       { { .type = 0x41 }, MPLS(0x60, 0) }, 0, MPLS_UDP_BIT },
	/* Values outside masks, but only where they are programmed. */
	{ "dst MAC",             { { .type = 0x20, .value.eth.dst_mac = { 1 } } }, EINVAL },
	{ "src MAC",             { { .type = 0x20, .value.eth.src_mac = { 1 } } }, EINVAL },
	{ "EtherType",           { ETH_TYPE(0x0801, 0x0800) }, EINVAL },
	{ "VLAN without mask",   { { .type = 0x20, .value.eth.vlan_tag = BE16(5) } }, 0 },
	{ "VLAN PCP, VID mask",  { { .type = 0x20, .value.eth.vlan_tag = BE16(0x2005), .mask.eth.vlan_tag = BE16(0xfff) } }, EINVAL },
	{ "VLAN CFI, whole",     { { .type = 0x20, .value.eth.vlan_tag = BE16(0x1000), .mask.eth.vlan_tag = BE16(0xffff) } }, 0 },
	{ "IPV4 address",        { { .type = 0x30, .value.ipv4.src_ip = BE32(0x0a000001), .mask.ipv4.src_ip = BE32(0xffffff00) } }, EINVAL },
	{ "TOS",                 { { .type = 0x30, .value.ipv4.tos = 3, .mask.ipv4.tos = 0xfc } }, EINVAL },
	{ "proto",               { PROTO4(7, 6) }, EINVAL },
	{ "proto without mask",  { PROTO4(7, 0) }, 0 },
	{ "IPV6 address",        { { .type = 0x31, .value.ipv6.dst_ip = { [15] = 1 } } }, EINVAL },
	{ "flow label",          { { .type = 0x31, .value.ipv6.flow_label = BE32(1) } }, EINVAL },
	{ "port",                { { .type = 0x41, .value.tcp_udp.dst_port = BE16(53) } }, EINVAL },
	{ "VNI",                 { { .type = 0x50, .value.tunnel.tunnel_id = BE32(5), .mask.tunnel.tunnel_id = BE32(4) } }, EINVAL },
	{ "GRE key",             { { .type = 0x51, .value.gre.key = BE32(5) } }, EINVAL },
	{ "MPLS",                { { .type = 0x60, .value.mpls.label = BE32(5) } }, EINVAL },
	{ "repaired by a later spec", { { .type = 0x20, .value.eth.dst_mac = { 1 } }, { .type = 0x20 } }, 0 },
	{ "VLAN is not repaired", { { .type = 0x20, .value.eth.vlan_tag = BE16(3), .mask.eth.vlan_tag = BE16(1) }, { .type = 0x20 } }, EINVAL },
	{ "values after specs",  { { .type = 0x20, .value.eth.dst_mac = { 1 } }, { .type = 0x34 } }, EOPNOTSUPP },
	/* Actions. */
	{ "tag 2^24 - 1",        { { .type = 0x1000, .word = 0xffffff } }, 0 },
	{ "tag 2^24",            { { .type = 0x1000, .word = 0x1000000 } }, EINVAL },
	{ "two drops",           { { .type = 0x1001 }, { .type = 0x1001 } }, 0 },
	{ "two counts",          { { .type = 0x1003 }, { .type = 0x1003 } }, EINVAL },
	{ "drop and tag",        { { .type = 0x1001 }, { .type = 0x1000, .word = 4 } }, 0 },
};
/* clang-format on */

static void
test_combinations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++) {
		const struct combination *row = &combinations[i];
		struct specs specs = { 0 };
		struct shca_match match;
		struct shca_spec_action action;

		for (unsigned int n = 0; n < MAX_SPECS && row->spec[n].type != 0; n++)
			specs_add_spec(&specs, &row->spec[n]);

		int err = -build(&specs, ALL_TUNNELS & ~row->tunnels_missing, &match, &action);

		if (err != row->err)
			fail_msg("%s: %d, not %d", row->name, err, row->err);
	}
}

static void
build_list(const struct spec *list, struct shca_match *match, struct shca_spec_action *action)
{
	struct specs specs = { 0 };

	for (; list->type != 0; list++)
		specs_add_spec(&specs, list);
	assert_int_equal(build(&specs, ALL_TUNNELS, match, action), 0);
}

/** Each field lands where it belongs, in both halves. */
static void
test_match(void **state)
{
	static const struct spec list[] = {
		{ .type = 0x20,
			.value.eth = { { 2, 1 }, { 2, 2 }, BE16(0x86dd), BE16(0x6005) },
			.mask.eth = { { 0xff, 0xff }, { 0xff, 0xff }, BE16(0xffff),
				BE16(0xefff) } },
		{ .type = 0x31,
			.value.ipv6 = { { 1 }, { 2 }, BE32(0x12345), 17, 0xb8, 0, 0 },
			.mask.ipv6 = { { 0xff }, { 0xff }, BE32(0xfffff), 0xff, 0xfc, 0, 0 } },
		{ .type = 0x41,
			.value.tcp_udp = { BE16(4789), BE16(1) },
			.mask.tcp_udp = { BE16(0xffff), BE16(0xf) } },
		{ .type = 0x50, .value.tunnel = { BE32(7) }, .mask.tunnel = { BE32(0xffffff) } },
		{ .type = 0x130,
			.value.ipv4 = { BE32(0x0a000001), BE32(0x0a000002), 6, 0x10, 0, 0 },
			.mask.ipv4 = { BE32(0xffffffff), BE32(0xffffff00 | 2), 0xff, 0x10, 0, 0 } },
		{ .type = 0x140,
			.value.tcp_udp = { BE16(80), 0 },
			.mask.tcp_udp = { BE16(0xffff), 0 } },
		{ 0 },
	};
	struct shca_match match;
	struct shca_spec_action action;

	(void)state;
	build_list(list, &match, &action);
	assert_memory_equal(match.value.outer.dst_mac, ((uint8_t[]){ 2, 1, 0, 0, 0, 0 }), 6);
	assert_memory_equal(match.value.outer.src_mac, ((uint8_t[]){ 2, 2, 0, 0, 0, 0 }), 6);
	assert_int_equal(match.value.outer.ether_type, 0x86dd);
	assert_int_equal(match.value.outer.vlan_tci, 0x6005);
	assert_int_equal(match.mask.outer.vlan_tci, 0xefff);
	assert_int_equal(match.value.outer.cvlan, 1);
	assert_int_equal(match.value.outer.ip_version, 6);
	assert_int_equal(match.value.outer.src_ip[0], 1);
	assert_int_equal(match.value.outer.dst_ip[0], 2);
	assert_int_equal(match.value.outer.flow_label, 0x12345);
	assert_int_equal(match.value.outer.ip_proto, 17);
	assert_int_equal(match.mask.outer.tos, 0xfc);
	assert_int_equal(match.value.outer.udp_dst_port, 4789);
	assert_int_equal(match.mask.outer.udp_src_port, 0xf);
	assert_int_equal(match.mask.outer.tcp_dst_port, 0);
	assert_int_equal(match.value.vni, 7);
	assert_int_equal(match.value.inner.ip_version, 4);
	assert_memory_equal(match.value.inner.src_ip + 12, ((uint8_t[]){ 10, 0, 0, 1 }), 4);
	assert_int_equal(match.value.inner.tos, 0x10);
	assert_int_equal(match.value.inner.tcp_dst_port, 80);
	assert_int_equal(match.mask.inner.tcp_src_port, 0);
	assert_false(action.drop || action.tag || action.count);

	shca_field_require(&match);
	assert_int_equal(__builtin_popcountll(match.mask.present), 20);
	assert_true(match.mask.present == match.value.present);
}

/** A later spec of the same type overwrites, but not a VLAN that it does not mention. */
static void
test_repeats(void **state)
{
	static const struct spec list[] = {
		{ .type = 0x20,
			.value.eth = { { 2 }, { 4 }, BE16(0x0800), BE16(5) },
			.mask.eth = { { 0xff }, { 0xff }, BE16(0xffff), BE16(0xfff) } },
		{ .type = 0x20, .value.eth.src_mac = { 6 }, .mask.eth.src_mac = { 0xff } },
		{ .type = 0x31,
			.value.ipv6 = { { 1 }, { 2 }, BE32(5), 0, 0xb8, 0, 0 },
			.mask.ipv6 = { { 0xff }, { 0xff }, BE32(0xfffff), 0, 0xff, 0, 0 } },
		{ .type = 0x30, .value.ipv4.dst_ip = BE32(9), .mask.ipv4.dst_ip = BE32(0xff) },
		{ .type = 0x1000, .word = 1 },
		{ .type = 0x1000, .word = 2 },
		{ 0 },
	};
	static const uint8_t address[16] = { [15] = 9 };
	struct shca_match match;
	struct shca_spec_action action;

	(void)state;
	build_list(list, &match, &action);
	assert_int_equal(match.mask.outer.dst_mac[0], 0);
	assert_int_equal(match.value.outer.src_mac[0], 6);
	assert_int_equal(match.mask.outer.ether_type, 0);
	assert_int_equal(match.value.outer.vlan_tci, 5);
	assert_int_equal(match.value.outer.ip_version, 4);
	assert_memory_equal(match.value.outer.dst_ip, address, 16);
	assert_int_equal(match.mask.outer.tos, 0);
	assert_int_equal(match.mask.outer.flow_label, 0xfffff);
	assert_true(action.tag);
	assert_int_equal(action.flow_tag, 2);
}

/** Where a label is looked for, by the exact type of the spec before. */
static void
test_mpls_place(void **state)
{
	static const struct {
		struct spec before;
		uint32_t type;
		uint16_t offset;
	} rows[] = {
		{ { .type = 0x41 }, 0x60, offsetof(union shca_match_key, mpls_udp) },
		{ { .type = 0x41 }, 0x160, offsetof(union shca_match_key, mpls_udp) },
		{ { .type = 0x51 }, 0x60, offsetof(union shca_match_key, mpls_gre) },
		{ { .type = 0x20 }, 0x60, offsetof(union shca_match_key, outer.mpls) },
		{ { .type = 0x141 }, 0x60, offsetof(union shca_match_key, outer.mpls) },
		{ { .type = 0x120 }, 0x160, offsetof(union shca_match_key, inner.mpls) },
		{ { .type = 0x1000 }, 0x60, offsetof(union shca_match_key, outer.mpls) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec list[] = {
			rows[i].before,
			{ .type = rows[i].type,
				.value.mpls.label = BE32(0x00064140),
				.mask.mpls.label = BE32(0xffffffff) },
			{ 0 },
		};
		struct shca_match match;
		struct shca_spec_action action;
		uint32_t label;

		build_list(list, &match, &action);
		memcpy(&label, (const uint8_t *)&match.value + rows[i].offset, 4);
		assert_int_equal(label, 0x00064140);
	}
}

static void
test_multicast_only(void **state)
{
	static const struct {
		struct spec spec[2];
		bool multicast;
	} rows[] = {
		{ { { 0 } }, false },
		{ { { .type = 0x20, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 1 } } },
			true },
		{ { { .type = 0x20, .value.eth.dst_mac = { 0xff }, .mask.eth.dst_mac = { 0xff } } },
			true },
		{ { { .type = 0x20, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 0xfe } } },
			false },
		{ { { .type = 0x20, .value.eth.dst_mac = { 2 }, .mask.eth.dst_mac = { 0xff } } },
			false },
		{ { { .type = 0x120, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 1 } } },
			false },
		{ { { .type = 0x30, .value.ipv4.dst_ip = BE32(0xe0000001) } }, true },
		{ { { .type = 0x30, .value.ipv4.dst_ip = BE32(0xefffffff) } }, true },
		{ { { .type = 0x30, .value.ipv4.dst_ip = BE32(0xf0000001) } }, false },
		{ { { .type = 0x130, .value.ipv4.dst_ip = BE32(0xe0000001) } }, false },
		{ { { .type = 0x31, .value.ipv6.dst_ip = { 0xff } } }, false },
		{ { { .type = 0x1000 },
			  { .type = 0x20, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 1 } } },
			false },
		{ { { .type = 0x20 }, { .type = 0x30, .value.ipv4.dst_ip = BE32(0xe0000001) } },
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct specs specs = { 0 };
		struct shca_spec_list list;

		for (unsigned int n = 0; n < 2 && rows[i].spec[n].type != 0; n++)
			specs_add_spec(&specs, &rows[i].spec[n]);
		assert_int_equal(
			shca_spec_unpack(specs_bytes(&specs), specs.length, specs.nb, &list), 0);
		assert_int_equal(shca_spec_is_multicast_only(&list), rows[i].multicast);
	}
}

/** Of Linux before 5.19: the SPI, outside even of an inner spec; and no protocol. */
static void
test_esp(void **state)
{
	static const struct {
		uint32_t type, spi, spi_mask, seq_mask;
		int err;
	} cases[] = {
		{ 0x34, 0x12345678, UINT32_MAX, 0, 0 },
		{ 0x134, 0x00340000, 0x00ff0000, 0, 0 },
		{ 0x34, 1, 0, 0, 0 },
		{ 0x34, 1, UINT32_MAX, 1, EOPNOTSUPP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_spec_caps caps = { .esp_spi = true };
		const union shca_spec_filter value = { .esp.spi = htobe32(cases[i].spi) };
		const union shca_spec_filter mask = { .esp = { .spi = htobe32(cases[i].spi_mask),
							      .seq = htobe32(cases[i].seq_mask) } };
		struct shca_spec_action action;
		struct shca_spec_list list;
		struct specs specs = { 0 };
		struct shca_match match;

		specs_add(&specs, cases[i].type, &value, &mask, 8);
		assert_int_equal(
			shca_spec_unpack(specs_bytes(&specs), specs.length, specs.nb, &list), 0);
		assert_int_equal(
			shca_spec_build(&list, &caps, NULL, &match, &action), -cases[i].err);
		if (cases[i].err != 0)
			continue;
		assert_int_equal(match.mask.esp_spi, cases[i].spi_mask);
		assert_int_equal(match.value.esp_spi, cases[i].spi);
		assert_int_equal(match.mask.outer.ip_proto, 0);
		assert_int_equal(match.mask.inner.ip_proto, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_esp),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_mpls_place),
		cmocka_unit_test(test_multicast_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
