/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets a packet: the decision table of the reference, and what it leaves to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <errno.h>

#include "build.h"

#define DT          IBV_FLOW_ATTR_FLAGS_DONT_TRAP
#define EGRESS      IBV_FLOW_ATTR_FLAGS_EGRESS
#define ALL_DEFAULT IBV_FLOW_ATTR_ALL_DEFAULT
#define MC_DEFAULT  IBV_FLOW_ATTR_MC_DEFAULT
#define SNIFFER     IBV_FLOW_ATTR_SNIFFER

#define ALL_TUNNELS UINT32_C(0x1f)

/** The netdev's MAC, another, a group, all. */
#define MAC_K                                                                                      \
	{                                                                                          \
		0x02, 0x00, 0x00, 0x00, 0x00, 0x4b                                                 \
	}
#define MAC_U                                                                                      \
	{                                                                                          \
		0x02, 0x00, 0x00, 0x00, 0x00, 0x55                                                 \
	}
#define MAC_G                                                                                      \
	{                                                                                          \
		0x01, 0x00, 0x5e, 0x01, 0x02, 0x03                                                 \
	}
#define MAC_33                                                                                     \
	{                                                                                          \
		0x33, 0x33, 0x00, 0x00, 0x00, 0x01                                                 \
	}
#define MAC_ALL                                                                                    \
	{                                                                                          \
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff                                                 \
	}
#define IP_GROUP 0xe0010101
static const uint8_t mac_k[6] = MAC_K;
static const uint8_t mac_peer[6] = { 0x02, 0, 0, 0, 0, 0x99 };

#define SPEC_ETH_K                                                                                 \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = MAC_K, .mask.eth.dst_mac = MAC_ALL              \
	}
#define SPEC_ETH_U                                                                                 \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = MAC_U, .mask.eth.dst_mac = MAC_ALL              \
	}
#define SPEC_ETH_G                                                                                 \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = MAC_G, .mask.eth.dst_mac = MAC_ALL              \
	}
#define SPEC_MC                                                                                    \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = { 1 }, .mask.eth.dst_mac = { 1 }                \
	}
#define SPEC_ETH_ANY                                                                               \
	{                                                                                          \
		.type = 0x20                                                                       \
	}
#define SPEC_IPV4                                                                                  \
	{                                                                                          \
		.type = 0x30                                                                       \
	}
#define SPEC_UDP5000                                                                               \
	{                                                                                          \
		.type = 0x41, .value.tcp_udp.dst_port = BE16(5000),                                \
		.mask.tcp_udp.dst_port = BE16(0xffff)                                              \
	}
#define SPEC_IP_GROUP                                                                              \
	{                                                                                          \
		.type = 0x30, .value.ipv4.dst_ip = BE32(IP_GROUP),                                 \
		.mask.ipv4.dst_ip = BE32(0xffffffff)                                               \
	}
#define SPEC_DROP                                                                                  \
	{                                                                                          \
		.type = 0x1001                                                                     \
	}
#define SPEC_TAG(tag)                                                                              \
	{                                                                                          \
		.type = 0x1000, .word = (tag)                                                      \
	}
#define SPEC_ETH_TYPE(mac, number)                                                                 \
	{                                                                                          \
		.type = 0x20, .value.eth = { mac, { 0 }, BE16(number), 0 }, .mask.eth = {          \
			MAC_ALL,                                                                   \
			{ 0 },                                                                     \
			BE16(0xffff),                                                              \
			0                                                                          \
		}                                                                                  \
	}
#define SPEC_MC_TYPE(number)                                                                       \
	{                                                                                          \
		.type = 0x20, .value.eth = { { 1 }, { 0 }, BE16(number), 0 }, .mask.eth = {        \
			{ 1 },                                                                     \
			{ 0 },                                                                     \
			BE16(0xffff),                                                              \
			0                                                                          \
		}                                                                                  \
	}
#define SPEC_ETH_VLAN(tci, bits)                                                                   \
	{                                                                                          \
		.type = 0x20, .value.eth = { MAC_K, { 0 }, 0, BE16(tci) }, .mask.eth = {           \
			MAC_ALL,                                                                   \
			{ 0 },                                                                     \
			0,                                                                         \
			BE16(bits)                                                                 \
		}                                                                                  \
	}

enum packet_kind {
	TO_K,
	TO_U,
	TO_G,
	TO_ALL,
	TO_K_ARP,
	TO_ALL_ARP,
	TO_U_IPV6,
	TO_33_IPV6,
	TO_K_VID5,
	TO_K_VID7,
	TO_G_IP_GROUP,
	NO_PACKET,
};

enum kernel_kind {
	KERNEL,             /* takes K and broadcast */
	KERNEL_JOINED,      /* and multicast */
	KERNEL_PROMISCUOUS, /* and all */
};

#define MAX_RULES 4
#define MAX_SPECS 3

/** A step of a case: a rule to make, or one to destroy. */
struct step {
	char who; /**< A to Z: whose rule; 0 ends the steps */
	uint32_t type, flags;
	uint16_t priority;
	struct spec spec[MAX_SPECS];
	int err;
	uint8_t destroy; /**< instead: destroy the rule that step number so much made, from 1 */
};

struct row {
	const char *name; /**< number in the reference */
	struct step step[MAX_RULES];
	enum kernel_kind kernel;
	enum packet_kind packet;
	const char *result;
};

/* clang-format off */
static const struct row rows[] = {
	{ "1", { { 0 } }, KERNEL, TO_K, "kernel" },
	{ "2", { { 0 } }, KERNEL, TO_U, "" },
	{ "3", { { 'A', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A" },
	{ "4", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A kernel" },
	{ "5", { { 'A', .flags = DT, .spec = { SPEC_ETH_U } } }, KERNEL, TO_U, "A" },
	{ "6", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A B" },
	{ "7", { { 'A', .flags = DT, .priority = 1, .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "B" },
	{ "8", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .flags = DT, .priority = 1, .spec = { SPEC_ETH_K } },
		 { 'C', .priority = 2, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A B C" },
	{ "9", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .flags = DT, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A B kernel" },
	{ "10", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .flags = DT, .spec = { SPEC_ETH_K, SPEC_IPV4 } } },
		KERNEL, TO_K, "A kernel" },
	{ "11", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .flags = DT, .priority = 1, .spec = { SPEC_ETH_K, SPEC_IPV4 } } },
		KERNEL, TO_K, "A B kernel" },
	{ "12", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A B" },
	{ "13", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .priority = 1, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A" },
	{ "14", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_IPV4, SPEC_UDP5000 } } }, KERNEL, TO_K, "A" },
	{ "15", { { 'B', .spec = { SPEC_ETH_K, SPEC_IPV4, SPEC_UDP5000 } }, { 'A', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "B" },
	{ "16", { { 'A', .priority = 1, .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_IPV4, SPEC_UDP5000 } } },
		KERNEL, TO_K, "B" },
	{ "17", { { 'A', .spec = { SPEC_ETH_G } }, { 'B', .priority = 15 } }, KERNEL, TO_G, "B" },
	{ "18", { { 'A', .priority = 9, .spec = { SPEC_ETH_G } }, { 'B', .spec = { SPEC_ETH_G } } }, KERNEL, TO_G, "A B" },
	{ "19", { { 'A', .flags = DT, .spec = { SPEC_MC } } }, KERNEL_JOINED, TO_G, "A kernel" },
	{ "20", { { 'A', .flags = DT, .spec = { SPEC_MC } }, { 'B' } }, KERNEL, TO_G, "A B" },
	{ "21", { { 'A', .flags = DT, .spec = { SPEC_MC } }, { 'B', .spec = { SPEC_ETH_G } } }, KERNEL_JOINED, TO_G, "A B" },
	{ "22", { { 'A', ALL_DEFAULT } }, KERNEL, TO_K, "kernel" },
	{ "23", { { 'A', ALL_DEFAULT } }, KERNEL, TO_U, "A" },
	{ "24", { { 'A', ALL_DEFAULT } }, KERNEL_PROMISCUOUS, TO_U, "kernel" },
	{ "25", { { 'A', MC_DEFAULT } }, KERNEL, TO_U, "" },
	{ "26", { { 'A', MC_DEFAULT }, { 'B', ALL_DEFAULT } }, KERNEL, TO_G, "A B" },
	{ "27", { { 'A', ALL_DEFAULT } }, KERNEL, TO_ALL, "kernel" },
	{ "28", { { 'A', ALL_DEFAULT }, { 'B', .flags = DT, .spec = { SPEC_ETH_U } } }, KERNEL, TO_U, "B A" },
	{ "29", { { 'A', ALL_DEFAULT, .flags = DT, .err = EINVAL } }, KERNEL, NO_PACKET, "" },
	{ "30", { { 'A', .spec = { SPEC_ETH_K, SPEC_DROP } } }, KERNEL, TO_K, "dropped" },
	{ "31", { { 'A', .flags = DT, .spec = { SPEC_ETH_K, SPEC_DROP } } }, KERNEL, TO_K, "dropped" },
	{ "32", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_DROP } } }, KERNEL, TO_K, "A dropped" },
	{ "33", { { 'A', .flags = DT, .spec = { SPEC_ETH_K, SPEC_DROP } }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "dropped" },
	{ "34", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_DROP }, .err = EEXIST } }, KERNEL, TO_K, "A" },
	{ "35", { { 'A', .spec = { SPEC_ETH_K, SPEC_TAG(5) } }, { 'B', .spec = { SPEC_ETH_K, SPEC_TAG(6) }, .err = EEXIST } },
		KERNEL, TO_K, "A5" },
	{ "36", { { 'A', .spec = { SPEC_ETH_K, SPEC_TAG(5) } }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A5 B5" },
	{ "37", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_TAG(6) }, .err = EEXIST } }, KERNEL, TO_K, "A" },
	{ "38", { { 'A', .flags = DT, .spec = { SPEC_ETH_K, SPEC_TAG(5) } }, { 'B', .spec = { SPEC_ETH_K, SPEC_TAG(6) } } },
		KERNEL, TO_K, "A5 B6" },
	{ "39", { { 'A', SNIFFER }, { 'B', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A B" },
	{ "40", { { 'A', SNIFFER }, { 'B', .spec = { SPEC_ETH_K, SPEC_DROP } } }, KERNEL, TO_K, "A dropped" },
	{ "41", { { 'A', .flags = DT, .spec = { SPEC_ETH_K } }, { 'A', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A A" },
	{ "42", { { 'A', .spec = { SPEC_ETH_K } }, { 'A', .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "A" },
	{ "42, one destroyed", { { 'A', .spec = { SPEC_ETH_K } }, { 'A', .spec = { SPEC_ETH_K } }, { 'A', .destroy = 1 } },
		KERNEL, TO_K, "A" },
	{ "42, both destroyed", { { 'A', .spec = { SPEC_ETH_K } }, { 'A', .spec = { SPEC_ETH_K } }, { 'A', .destroy = 1 },
		{ 'A', .destroy = 2 } }, KERNEL, TO_K, "kernel" },
	{ "43", { { 'A', .priority = 16, .spec = { SPEC_ETH_K }, .err = ENOMEM } }, KERNEL, NO_PACKET, "" },
	{ "44", { { 'A', .spec = { { .type = 0x20, .value.eth.dst_mac = MAC_K, .mask.eth.dst_mac = { 0xff, 0xff } } }, .err = EINVAL } },
		KERNEL, NO_PACKET, "" },
	{ "45", { { 'A', .spec = { { .type = 0x20, .value.eth.dst_mac = { 2 }, .mask.eth.dst_mac = { 0xff, 0xff } } } } },
		KERNEL, TO_K, "A" },
	{ "46", { { 'A', .spec = { SPEC_ETH_VLAN(5, 0xfff) } } }, KERNEL, TO_K_VID5, "A" },
	{ "47", { { 'A', .spec = { SPEC_ETH_VLAN(5, 0xfff) } } }, KERNEL, TO_K, "kernel" },
	{ "48", { { 'A', .spec = { SPEC_ETH_VLAN(5, 0) } } }, KERNEL, TO_K_VID7, "A" },
	{ "49", { { 'A', .spec = { SPEC_ETH_TYPE(MAC_K, 0x86dd), SPEC_IPV4 }, .err = EINVAL } }, KERNEL, NO_PACKET, "" },
	{ "50", { { 'A', .spec = { SPEC_ETH_K, { .type = 0x30, .mask.ipv4.ttl = 0xff } }, .err = EOPNOTSUPP } }, KERNEL, NO_PACKET, "" },
	{ "51", { { 'A', .spec = { SPEC_ETH_K, { .type = 0x30, .value.ipv4.proto = 6, .mask.ipv4.proto = 0xff }, SPEC_UDP5000 },
		.err = EINVAL } }, KERNEL, NO_PACKET, "" },
	{ "52", { { 'A', .spec = { SPEC_IP_GROUP } }, { 'B', .priority = 15, .spec = { SPEC_UDP5000 } } }, KERNEL, TO_G_IP_GROUP, "B" },
	{ "53", { { 'A', .spec = { SPEC_ETH_ANY, SPEC_IP_GROUP } }, { 'B', .priority = 15, .spec = { SPEC_UDP5000 } } },
		KERNEL, TO_G_IP_GROUP, "A" },
	{ "54", { { 'A', .flags = EGRESS | DT, .spec = { SPEC_ETH_K }, .err = EOPNOTSUPP } }, KERNEL, NO_PACKET, "" },
	{ "55", { { 'A', SNIFFER, .flags = DT } }, KERNEL, TO_U, "A" },
	{ "56", { { 'A', .flags = DT, .spec = { SPEC_ETH_TYPE(MAC_K, 0x0806) } }, { 'B', .spec = { SPEC_ETH_K } } },
		KERNEL, TO_K_ARP, "A B" },
	{ "57", { { 'A', .flags = DT, .priority = 3, .spec = { SPEC_ETH_K } }, { 'B', .priority = 3, .spec = { SPEC_ETH_K } },
		{ 'C', .flags = DT, .priority = 2, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "C A B" },
#define VPP { { 'S', .spec = { SPEC_ETH_TYPE(MAC_U, 0x86dd) } }, { 'S', .flags = DT, .spec = { SPEC_MC_TYPE(0x86dd) } }, \
		{ 'F', .spec = { SPEC_ETH_U } }, { 'F', .flags = DT, .spec = { SPEC_MC } } }
	{ "V, IPv6", VPP, KERNEL, TO_U_IPV6, "S" },
	{ "V, IPv4", VPP, KERNEL, TO_U, "F" },
	{ "V, broadcast ARP", VPP, KERNEL, TO_ALL_ARP, "F kernel" },
	{ "V, multicast IPv6", VPP, KERNEL, TO_33_IPV6, "S" },
	{ "S", { { 'A', .spec = { SPEC_ETH_TYPE(MAC_K, 0x0800) } }, { 'B', .spec = { SPEC_ETH_K } }, { 'A', .destroy = 1 },
		{ 'C', .spec = { SPEC_ETH_K, SPEC_IPV4 } } }, KERNEL, TO_K, "C" },
	/* A process that dies has its flows destroyed; Q, a QP with flows, is the business of who owns QPs. */
	{ "L", { { 'A', .spec = { SPEC_ETH_K } }, { 'A', .destroy = 1 } }, KERNEL, TO_K, "kernel" },

	/* Not in the table, but said in the text. */
	{ "2.2 same p", { { 'A', .priority = 15, .spec = { SPEC_ETH_K } }, { 'B', .flags = DT, .priority = 15, .spec = { SPEC_ETH_K } } },
		KERNEL, TO_K, "B A" },
	{ "2.2 TAG hides the multicast test", { { 'A', .priority = 15, .spec = { SPEC_TAG(1), SPEC_ETH_G } }, { 'B', .spec = { SPEC_ETH_G } } },
		KERNEL, TO_G, "A1" },
	{ "2.4 specs of defaults are ignored", { { 'A', ALL_DEFAULT, .priority = 3, .spec = { SPEC_ETH_K, SPEC_DROP } } },
		KERNEL, TO_U, "A" },
	{ "2.4 tags of defaults are ignored", { { 'A', MC_DEFAULT, .spec = { SPEC_TAG(7) } } }, KERNEL, TO_G, "A" },
	{ "2.4 defaults merge", { { 'A', ALL_DEFAULT }, { 'B', ALL_DEFAULT }, { 'A', .destroy = 1 } }, KERNEL, TO_U, "B" },
	{ "2.4 unicast after MC_DEFAULT", { { 'A', MC_DEFAULT }, { 'B', ALL_DEFAULT } }, KERNEL, TO_U, "B" },
	{ "2.4 sniffers merge", { { 'A', SNIFFER }, { 'B', SNIFFER, .priority = 4 } }, KERNEL, TO_K, "A B kernel" },
	{ "4.1 zero mask is no mask", { { 'A' }, { 'B', .spec = { SPEC_ETH_ANY } } }, KERNEL, TO_K, "A B" },
	{ "4.2 untagged takes tag 0", { { 'A', .spec = { SPEC_ETH_K } }, { 'B', .spec = { SPEC_ETH_K, SPEC_TAG(0) } } },
		KERNEL, TO_K, "A B" },
	{ "4.2 a tag outlives its rule", { { 'A', .spec = { SPEC_ETH_K, SPEC_TAG(5) } }, { 'B', .spec = { SPEC_ETH_K } },
		{ 'A', .destroy = 1 } }, KERNEL, TO_K, "B5" },
	{ "4.2 drops merge", { { 'A', .spec = { SPEC_ETH_K, SPEC_DROP } }, { 'B', .spec = { SPEC_ETH_K, SPEC_DROP } },
		{ 'A', .destroy = 1 } }, KERNEL, TO_K, "dropped" },
	{ "4.2 drops gone", { { 'A', .spec = { SPEC_ETH_K, SPEC_DROP } }, { 'B', .spec = { SPEC_ETH_K, SPEC_DROP } },
		{ 'A', .destroy = 1 }, { 'B', .destroy = 2 } }, KERNEL, TO_K, "kernel" },
	{ "4.2 drop, then forward", { { 'A', .spec = { SPEC_ETH_K, SPEC_DROP } }, { 'B', .spec = { SPEC_ETH_K }, .err = EEXIST } },
		KERNEL, TO_K, "dropped" },
	{ "4.2 EGRESS does not receive", { { 'A', .flags = EGRESS, .spec = { SPEC_ETH_K } } }, KERNEL, TO_K, "kernel" },
};
/* clang-format on */

static void
make_packet(enum packet_kind kind, struct frame *frame)
{
	static const uint8_t macs[][6] = {
		[TO_K] = MAC_K,
		[TO_U] = MAC_U,
		[TO_G] = MAC_G,
		[TO_ALL] = MAC_ALL,
		[TO_K_ARP] = MAC_K,
		[TO_ALL_ARP] = MAC_ALL,
		[TO_U_IPV6] = MAC_U,
		[TO_33_IPV6] = MAC_33,
		[TO_K_VID5] = MAC_K,
		[TO_K_VID7] = MAC_K,
		[TO_G_IP_GROUP] = MAC_G,
		[NO_PACKET] = MAC_K,
	};
	static const uint8_t ip6[16] = { 0x20, 1 };
	uint32_t ip;

	memset(frame, 0, sizeof(*frame));
	frame_macs(frame, macs[kind], mac_peer);
	if (kind == TO_K_ARP || kind == TO_ALL_ARP) {
		frame_put16(frame, 0x0806);
		frame_zero(frame, 46);
	} else if (kind == TO_U_IPV6 || kind == TO_33_IPV6) {
		frame_put16(frame, 0x86dd);
		ip = frame_ipv6(frame, ip6, ip6, 17, 0, 0);
		frame_udp(frame, 1, 5000);
		frame_end_ipv6(frame, ip);
	} else {
		if (kind == TO_K_VID5)
			frame_vlan(frame, 0x8100, 3 << 13 | 5);
		if (kind == TO_K_VID7)
			frame_vlan(frame, 0x8100, 7);
		frame_put16(frame, 0x0800);
		ip = frame_ipv4(frame, 0x0a000001, kind == TO_G_IP_GROUP ? IP_GROUP : 0x0a000002,
			17, 0, 0, 0);
		frame_udp(frame, 1, 5000);
		frame_zero(frame, 18);
		frame_end_ipv4(frame, ip);
	}
}

/** The letters of who gets a packet, with tags, then "kernel" or "dropped"; a TIR is its letter. */
static void
print_verdict(const struct shca_verdict *verdict, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < verdict->nb_destinations; i++) {
		const struct shca_destination *destination = &verdict->destination[i];

		used += (size_t)snprintf(text + used, size - used, "%s%c", used ? " " : "",
			*(const char *)destination->tir);
		if (destination->flow_tag != 0)
			used += (size_t)snprintf(
				text + used, size - used, "%u", destination->flow_tag);
	}
	if (verdict->to_kernel)
		used += (size_t)snprintf(text + used, size - used, "%skernel", used ? " " : "");
	if (verdict->dropped)
		snprintf(text + used, size - used, "%sdropped", used ? " " : "");
}

static char tirs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static int
add_step(struct shca_steering *steering, const struct step *step, struct shca_rule **rule)
{
	struct specs specs = { 0 };

	for (unsigned int i = 0; i < MAX_SPECS && step->spec[i].type != 0; i++)
		specs_add_spec(&specs, &step->spec[i]);

	struct shca_rule_attr attr = {
		.type = step->type,
		.flags = step->flags,
		.priority = step->priority,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tirs[step->who - 'A'],
	};

	return shca_rule_add(steering, &attr, rule);
}

static struct shca_steering *
make_steering(enum kernel_kind kind)
{
	const struct shca_steering_conf conf = {
		.dont_trap = true,
		.sniffer = true,
		.tunnel_offloads = ALL_TUNNELS,
		.inner_ip_version = true,
	};
	struct shca_kernel_filter filter = {
		.present = true,
		.promiscuous = kind == KERNEL_PROMISCUOUS,
		.no_multicast = kind == KERNEL,
		.mac = MAC_K,
	};
	struct shca_steering *steering = shca_steering_create(&conf);

	assert_non_null(steering);
	shca_steering_set_kernel(steering, &filter);
	return steering;
}

static void
run_row(const struct row *row)
{
	struct shca_steering *steering = make_steering(row->kernel);
	struct shca_rule *rules[MAX_RULES] = { NULL };
	struct frame frame;
	struct shca_packet packet;
	struct shca_verdict verdict;
	char text[64];

	for (unsigned int i = 0; i < MAX_RULES && row->step[i].who != 0; i++) {
		const struct step *step = &row->step[i];

		if (step->destroy != 0) {
			shca_rule_del(steering, rules[step->destroy - 1]);
			rules[step->destroy - 1] = NULL;
			continue;
		}

		int err = -add_step(steering, step, &rules[i]);

		if (err != step->err)
			fail_msg("%s: rule %u: %d, not %d", row->name, i + 1, err, step->err);
	}
	make_packet(row->packet, &frame);
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	print_verdict(&verdict, text, sizeof(text));
	if (row->packet != NO_PACKET && strcmp(text, row->result) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", row->name, text, row->result);
	for (unsigned int i = 0; i < MAX_RULES; i++)
		shca_rule_del(steering, rules[i]);
	assert_int_equal(shca_steering_nb_receiving(steering), 0);
	shca_steering_destroy(steering);
}

static void
test_decision_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run_row(&rows[i]);
}

/** Rules of all 33 tables at once: the order they are walked in, and the room for the longest
 * verdict. */
static void
test_all_tables(void **state)
{
	struct shca_steering *steering = make_steering(KERNEL);
	struct shca_rule *rules[17];
	struct frame frame;
	struct shca_packet packet;
	struct shca_verdict verdict;

	(void)state;
	for (unsigned int p = 0; p < 16; p++) {
		const struct step step = { .who = (char)('A' + p), .flags = DT, .priority = p };

		assert_int_equal(add_step(steering, &step, &rules[p]), 0);
	}
	assert_int_equal(add_step(steering, &(struct step){ 'Z', SNIFFER }, &rules[16]), 0);
	make_packet(TO_K, &frame);
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(verdict.nb_destinations, 17);
	assert_ptr_equal(verdict.destination[0].tir, &tirs['Z' - 'A']);
	for (unsigned int p = 0; p < 16; p++)
		assert_ptr_equal(verdict.destination[p + 1].tir, &tirs[p]);
	assert_true(verdict.to_kernel);
	for (unsigned int i = 0; i < 17; i++)
		shca_rule_del(steering, rules[i]);
	shca_steering_destroy(steering);
}

static void
check_tx(struct shca_steering *steering, enum packet_kind kind, const char *result)
{
	struct frame frame;
	struct shca_packet packet;
	struct shca_verdict verdict;
	char text[64];

	make_packet(kind, &frame);
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_tx(steering, &packet, &verdict);
	print_verdict(&verdict, text, sizeof(text));
	assert_string_equal(text, result);
}

static void
test_tx(void **state)
{
	static const struct step steps[] = {
		{ 'A', .flags = EGRESS, .priority = 1, .spec = { SPEC_ETH_K, SPEC_DROP } },
		{ 'B', .flags = EGRESS, .priority = 3, .spec = { SPEC_DROP } },
		{ 'C', .flags = EGRESS, .priority = 2, .spec = { SPEC_ETH_U } },
		{ 'D', .flags = EGRESS | DT, .priority = 0, .spec = { SPEC_ETH_G, SPEC_DROP } },
		{ 'E', SNIFFER },
	};
	struct shca_steering *steering = make_steering(KERNEL);
	struct shca_rule *rules[5];

	(void)state;
	check_tx(steering, TO_K, "");
	assert_int_equal(add_step(steering, &steps[0], &rules[0]), 0);
	check_tx(steering, TO_K, "dropped");
	check_tx(steering, TO_U, "");
	assert_int_equal(add_step(steering, &steps[1], &rules[1]), 0);
	check_tx(steering, TO_U, "dropped");
	/* ALLOW ends the walk. */
	assert_int_equal(add_step(steering, &steps[2], &rules[2]), 0);
	check_tx(steering, TO_U, "");
	assert_int_equal(add_step(steering, &steps[3], &rules[3]), 0);
	check_tx(steering, TO_G, "dropped");
	assert_int_equal(shca_steering_nb_receiving(steering), 0);
	assert_int_equal(add_step(steering, &steps[4], &rules[4]), 0);
	assert_int_equal(shca_steering_nb_receiving(steering), 1);
	check_tx(steering, TO_G, "E dropped");
	check_tx(steering, TO_U, "E");
	for (unsigned int i = 0; i < 5; i++)
		shca_rule_del(steering, rules[i]);
	check_tx(steering, TO_K, "");
	shca_steering_destroy(steering);
}

/** One entry with two counters and two QPs: each counter sees each packet once. */
static void
test_counters(void **state)
{
	const struct spec count[] = { { .type = 0x1003 }, SPEC_ETH_K };
	struct shca_steering *steering = make_steering(KERNEL);
	struct shca_flow_counter counters[2] = { { 0 } };
	struct shca_rule *rules[4];
	struct specs specs = { 0 };
	struct frame frame;
	struct shca_packet packet;
	struct shca_verdict verdict;

	(void)state;
	specs_add_spec(&specs, &count[0]);
	specs_add_spec(&specs, &count[1]);

	struct shca_rule_attr attr = {
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tirs[0],
	};

	assert_int_equal(shca_rule_add(steering, &attr, &rules[0]), -EINVAL); /* no counter */
	attr.counter = &counters[0];
	assert_int_equal(shca_rule_add(steering, &attr, &rules[0]), 0);
	attr.tir = &tirs[1];
	assert_int_equal(shca_rule_add(steering, &attr, &rules[1]), 0);
	attr.counter = &counters[1];
	assert_int_equal(shca_rule_add(steering, &attr, &rules[2]), 0);
	attr.flags = DT;
	attr.counter = &counters[0];
	assert_int_equal(shca_rule_add(steering, &attr, &rules[3]), 0);

	make_packet(TO_K, &frame);
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(verdict.nb_destinations, 3);
	assert_int_equal(counters[0].packets, 2); /* two entries */
	assert_int_equal(counters[0].bytes, 2 * frame.length);
	assert_int_equal(counters[1].packets, 1);
	assert_int_equal(counters[1].bytes, frame.length);

	shca_rule_del(steering, rules[3]);
	shca_rule_del(steering, rules[2]);
	shca_rule_del(steering, rules[0]);
	/* The entry still delivers, and counts for nobody until a rule with a counter joins. */
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(verdict.nb_destinations, 1);
	assert_int_equal(counters[0].packets, 2);
	attr.flags = 0;
	attr.counter = &counters[1];
	assert_int_equal(shca_rule_add(steering, &attr, &rules[2]), 0);
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(counters[0].packets, 3); /* of the rule that was there all the time */
	assert_int_equal(counters[1].packets, 2);
	shca_rule_del(steering, rules[2]);
	shca_rule_del(steering, rules[1]);
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(counters[0].packets, 3);
	shca_steering_destroy(steering);
}

static void
test_kernel_filter(void **state)
{
	static const uint8_t listed[][6] = { MAC_K, { 2, 0, 0, 0, 0, 0x77 }, MAC_U };
	const struct {
		struct shca_kernel_filter filter;
		enum packet_kind packet;
		uint32_t length; /**< cut to so much, 0: whole */
		bool accepted;
	} cases[] = {
		{ { .present = false, .promiscuous = true, .mac = MAC_K }, TO_K, 0, false },
		{ { .present = true, .mac = MAC_K }, TO_K, 0, true },
		{ { .present = true, .mac = MAC_K }, TO_U, 0, false },
		{ { .present = true, .mac = MAC_K }, TO_G, 0, true },
		{ { .present = true, .mac = MAC_K }, TO_ALL, 0, true },
		{ { .present = true, .mac = MAC_K, .no_multicast = true }, TO_G, 0, false },
		{ { .present = true, .mac = MAC_K, .no_multicast = true }, TO_ALL, 0, true },
		{ { .present = true, .mac = MAC_K }, TO_K, 13, false },
		{ { .present = true, .promiscuous = true, .mac = MAC_K }, TO_U, 0, true },
		{ { .present = true, .mac = MAC_K, .macs = listed, .nb_macs = 2 }, TO_U, 0, false },
		{ { .present = true, .mac = MAC_K, .macs = listed, .nb_macs = 3 }, TO_U, 0, true },
		{ { .present = true, .mac = MAC_K, .macs = listed, .nb_macs = 3 }, TO_K, 0, true },
	};
	struct shca_steering *steering = make_steering(KERNEL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frame frame;
		struct shca_packet packet;
		struct shca_verdict verdict;

		shca_steering_set_kernel(steering, &cases[i].filter);
		make_packet(cases[i].packet, &frame);
		shca_parse(frame.byte, cases[i].length ? cases[i].length : frame.length, &packet);
		shca_walk_rx(steering, &packet, &verdict);
		assert_int_equal(verdict.to_kernel, cases[i].accepted);
		assert_int_equal(verdict.nb_destinations, 0);
		assert_false(verdict.dropped);
	}
	shca_steering_destroy(steering);
}

static bool
hits(struct shca_steering *steering, const struct frame *frame, const struct step *step)
{
	struct shca_rule *rule;
	struct shca_packet packet;
	struct shca_verdict verdict;

	assert_int_equal(add_step(steering, step, &rule), 0);
	shca_parse(frame->byte, frame->length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	shca_rule_del(steering, rule);
	return verdict.nb_destinations == 1;
}

/** Fields of headers a packet lacks do not match, not even a value of zero. */
static void
test_absent_fields(void **state)
{
	static const struct {
		struct spec spec;
		bool udp, fragment, vxlan;
	} cases[] = {
		/*                                                            UDP   fragment VXLAN
		 */
		{ { .type = 0x41 }, true, true, true },
		{ { .type = 0x41, .mask.tcp_udp.dst_port = BE16(1) }, true, false, false },
		{ { .type = 0x30 }, true, true, true },
		{ { .type = 0x50, .mask.tunnel.tunnel_id = BE32(1) }, false, false, true },
		{ { .type = 0x50 }, true, true, true },
		{ { .type = 0x120, .mask.eth.dst_mac = { 1 } }, false, false, true },
		{ { .type = 0x120 }, true, true, true },
		{ { .type = 0x130 }, false, false, true },
		{ { .type = 0x131 }, false, false, false },
		{ { .type = 0x141 }, false, false, true },
		{ { .type = 0x31 }, false, false, false },
		{ { .type = 0x51 }, false, false, false },
		{ { .type = 0x60, .mask.mpls.label = BE32(1) }, false, false, false },
		{ { .type = 0x20, .mask.eth.vlan_tag = BE16(1) }, false, false, false },
	};
	struct shca_steering *steering = make_steering(KERNEL);
	struct frame frames[3];
	uint32_t ip, inner;

	(void)state;
	make_packet(TO_U, &frames[0]);
	make_packet(TO_U, &frames[1]);
	frames[1].byte[20] = 0x20; /* more fragments */
	memset(&frames[2], 0, sizeof(frames[2]));
	frame_macs(&frames[2], mac_peer, mac_k);
	frame_put16(&frames[2], 0x0800);
	ip = frame_ipv4(&frames[2], 1, 2, 17, 0, 0, 0);
	frame_udp(&frames[2], 1, 4789);
	frame_vxlan(&frames[2], 8);
	frame_macs(&frames[2], mac_k, mac_peer);
	frame_put16(&frames[2], 0x0800);
	inner = frame_ipv4(&frames[2], 3, 4, 17, 0, 0, 0);
	frame_udp(&frames[2], 1, 5000);
	frame_end_ipv4(&frames[2], inner);
	frame_end_ipv4(&frames[2], ip);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct step step = { 'A', .spec = { cases[i].spec } };

		if (hits(steering, &frames[0], &step) != cases[i].udp ||
			hits(steering, &frames[1], &step) != cases[i].fragment ||
			hits(steering, &frames[2], &step) != cases[i].vxlan)
			fail_msg("case %zu", i);
	}
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decision_table),
		cmocka_unit_test(test_all_tables),
		cmocka_unit_test(test_tx),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_kernel_filter),
		cmocka_unit_test(test_absent_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
