/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of ethtool: how many tuples mlx5e counts, what it refuses, what the match is. */
#include "ethtool/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "steering/ethtool.h"

/** Linux include/linux/errno.h: user space has no name for it. */
#define ENOTSUPP 524

#define FULL_MAC                                                                                   \
	{                                                                                          \
		255, 255, 255, 255, 255, 255                                                       \
	}
#define ALL6                                                                                       \
	{                                                                                          \
		UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX                                     \
	}

/* clang-format off */
static const struct {
	const char *name;
	struct ethtool_rx_flow_spec spec;
	int ret;
} cases[] = {
	{ "ether, nothing", { .flow_type = ETHER_FLOW }, 0 },
	{ "ether", { .flow_type = ETHER_FLOW, .m_u.ether_spec = { .h_dest = { 1 }, .h_source = { 2 }, .h_proto = 3 } }, 3 },
	{ "ether, one", { .flow_type = ETHER_FLOW, .m_u.ether_spec.h_proto = 0xffff }, 1 },
	{ "ether, vlan", { .flow_type = ETHER_FLOW | FLOW_EXT, .m_ext.vlan_tci = 0xff0f }, 1 },
	{ "ip4", { .flow_type = IP_USER_FLOW, .h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4 }, 1 },
	{ "ip4, version", { .flow_type = IP_USER_FLOW }, -EINVAL },
	{ "ip4, all", { .flow_type = IP_USER_FLOW, .h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4,
		.m_u.usr_ip4_spec = { .ip4src = 1, .ip4dst = 1, .proto = 255 } }, 4 },
	{ "ip4, tos", { .flow_type = IP_USER_FLOW, .h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4,
		.m_u.usr_ip4_spec.tos = 1 }, -EINVAL },
	{ "ip4, l4data", { .flow_type = IP_USER_FLOW, .h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4,
		.m_u.usr_ip4_spec.l4_4_bytes = 1 }, -EINVAL },
	{ "ip6", { .flow_type = IPV6_USER_FLOW }, 1 },
	{ "ip6, all", { .flow_type = IPV6_USER_FLOW,
		.m_u.usr_ip6_spec = { .ip6src = ALL6, .ip6dst = ALL6, .l4_proto = 255 } }, 4 },
	{ "ip6, tclass", { .flow_type = IPV6_USER_FLOW, .m_u.usr_ip6_spec.tclass = 1 }, -EINVAL },
	{ "ip6, l4data", { .flow_type = IPV6_USER_FLOW, .m_u.usr_ip6_spec.l4_4_bytes = 1 }, -EINVAL },
	{ "tcp4", { .flow_type = TCP_V4_FLOW }, 1 },
	{ "udp4, all", { .flow_type = UDP_V4_FLOW | FLOW_EXT | FLOW_MAC_EXT, .m_ext = { .vlan_tci = 0xff0f, .h_dest = FULL_MAC },
		.m_u.udp_ip4_spec = { .ip4src = 1, .ip4dst = 1, .psrc = 1, .pdst = 1 } }, 7 },
	{ "udp4, tos", { .flow_type = UDP_V4_FLOW, .m_u.udp_ip4_spec.tos = 1 }, -EINVAL },
	{ "tcp6, all", { .flow_type = TCP_V6_FLOW,
		.m_u.tcp_ip6_spec = { .ip6src = ALL6, .ip6dst = ALL6, .psrc = 1, .pdst = 1 } }, 5 },
	{ "udp6, tclass", { .flow_type = UDP_V6_FLOW, .m_u.udp_ip6_spec.tclass = 1 }, -EINVAL },
	{ "sctp4", { .flow_type = SCTP_V4_FLOW }, -ENOTSUPP },
	{ "esp4", { .flow_type = ESP_V4_FLOW }, -ENOTSUPP },
	{ "RSS context", { .flow_type = UDP_V4_FLOW | FLOW_RSS }, -ENOTSUPP },
	{ "vlan, whole tag", { .flow_type = UDP_V4_FLOW | FLOW_EXT, .m_ext.vlan_tci = 0xffff }, -EINVAL },
	{ "vlan, none", { .flow_type = UDP_V4_FLOW | FLOW_EXT }, -EINVAL },
	{ "vlan, EtherType", { .flow_type = UDP_V4_FLOW | FLOW_EXT,
		.m_ext = { .vlan_tci = 0xff0f, .vlan_etype = 1 } }, -EINVAL },
	{ "vlan 4096", { .flow_type = UDP_V4_FLOW | FLOW_EXT, .m_ext.vlan_tci = 0xff0f,
		.h_ext.vlan_tci = 0x0010 }, -EINVAL },
	{ "MAC, none", { .flow_type = UDP_V4_FLOW | FLOW_MAC_EXT }, 1 },
	{ "location", { .flow_type = UDP_V4_FLOW, .location = 1024 }, -ENOSPC },
	{ "location before queue", { .flow_type = UDP_V4_FLOW, .location = 1024, .ring_cookie = 8 }, -ENOSPC },
	{ "queue", { .flow_type = UDP_V4_FLOW, .ring_cookie = 7 }, 1 },
	{ "no queue", { .flow_type = UDP_V4_FLOW, .ring_cookie = 8 }, -EINVAL },
	{ "queue before type", { .flow_type = SCTP_V4_FLOW, .ring_cookie = 8 }, -EINVAL },
	{ "function's queue", { .flow_type = UDP_V4_FLOW, .ring_cookie = 1ull << 32 }, -EINVAL },
	{ "drop", { .flow_type = UDP_V4_FLOW, .ring_cookie = RX_CLS_FLOW_DISC }, 1 },
};
/* clang-format on */

static void
test_tuples(void **state)
{
	struct shca_ethtool_attr attr;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int ret = shca_ethtool_flow_parse(&cases[i].spec, 8, &attr);

		if (ret != cases[i].ret)
			fail_msg("%s: %d, not %d", cases[i].name, ret, cases[i].ret);
		if (ret < 0)
			continue;
		assert_int_equal(attr.nb_tuples, ret);
		assert_int_equal(attr.drop, cases[i].spec.ring_cookie == RX_CLS_FLOW_DISC);
		assert_memory_equal(&attr.spec, &cases[i].spec, sizeof(attr.spec));
	}
}

static void
test_match(void **state)
{
	struct ethtool_rx_flow_spec spec = {
		.flow_type = TCP_V4_FLOW | FLOW_EXT | FLOW_MAC_EXT,
		.h_u.tcp_ip4_spec = { htonl(0x0a000001), htonl(0x0a000002), htons(7), htons(80) },
		.m_u.tcp_ip4_spec = { htonl(0xffffff00), 0, htons(0xff), htons(0xffff) },
		.h_ext = { .vlan_tci = htons(5), .h_dest = { 2, 3 } },
		.m_ext = { .vlan_tci = htons(0xfff), .h_dest = { 255 } },
	};
	struct shca_match_stack mask, value;
	struct shca_ethtool_attr attr;

	(void)state;
	assert_int_equal(shca_ethtool_flow_parse(&spec, 8, &attr), 6);
	mask = attr.match.mask.outer;
	value = attr.match.value.outer;
	assert_int_equal(mask.ether_type, 0xffff);
	assert_int_equal(value.ether_type, 0x800);
	assert_int_equal(mask.ip_proto, 0xff);
	assert_int_equal(value.ip_proto, 6);
	assert_memory_equal(mask.src_ip + 12, "\xff\xff\xff\0", 4);
	/* Not cut: the device refuses it (fs_core check_valid_spec). */
	assert_memory_equal(value.src_ip + 12, "\x0a\0\0\x01", 4);
	assert_memory_equal(value.dst_ip + 12, "\0\0\0\0", 4);
	assert_int_equal(mask.tcp_src_port, 0xff);
	assert_int_equal(value.tcp_dst_port, 80);
	assert_int_equal(mask.udp_src_port | mask.udp_dst_port, 0);
	assert_int_equal(value.vlan_tci, 5);
	assert_int_equal(mask.cvlan, 1);
	assert_memory_equal(value.dst_mac, "\x02\0", 2); /* cut to its mask */

	spec = (struct ethtool_rx_flow_spec){ .flow_type = UDP_V6_FLOW };
	memset(spec.m_u.udp_ip6_spec.ip6dst, 255, 16);
	memset(spec.h_u.udp_ip6_spec.ip6dst, 9, 16);
	assert_int_equal(shca_ethtool_flow_parse(&spec, 8, &attr), 2);
	assert_int_equal(attr.match.value.outer.ether_type, 0x86dd);
	assert_int_equal(attr.match.value.outer.ip_proto, 17);
	assert_int_equal(attr.match.value.outer.dst_ip[15], 9);
	assert_int_equal(attr.match.mask.outer.src_ip[0], 0);

	spec = (struct ethtool_rx_flow_spec){
		.flow_type = ETHER_FLOW,
		.h_u.ether_spec = { .h_dest = { 2, 3 }, .h_proto = htons(0x806) },
		.m_u.ether_spec = { .h_dest = { 255 }, .h_proto = 0xffff },
	};
	assert_int_equal(shca_ethtool_flow_parse(&spec, 8, &attr), 2);
	assert_true(attr.is_l2);
	assert_int_equal(attr.match.value.outer.ether_type, 0x806);
	assert_memory_equal(attr.match.value.outer.dst_mac, "\x02\0", 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tuples),
		cmocka_unit_test(test_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
