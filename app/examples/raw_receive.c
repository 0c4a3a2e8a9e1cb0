/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives frames: a flow rule, made by ibv_create_flow(), selects the frames for the queue pair.
 * Without a rule none comes; frames that no rule takes stay with Linux.
 *
 *     raw-receive mlx5_0 02:00:00:00:00:02 3 vlan 5
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

static const char usage[] =
	"raw-receive DEVICE DESTINATION_MAC COUNT [vlan ID | tos N | label N | vni N]";

/** A rule is one piece of memory: the attributes, then the specs one behind the other. A spec has
 * values and a mask; bits that are clear in the mask are not compared. */
struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[256];
};

static void
add_spec(struct rule *rule, const void *spec, uint16_t size)
{
	memcpy(rule->specs + rule->attr.size - sizeof(rule->attr), spec, size);
	rule->attr.size += size;
	rule->attr.num_of_specs++;
}

/** Match frames to this address, with the VLAN's tag if @p vlan is one. */
static void
match_ethernet(struct rule *rule, const uint8_t mac[6], int vlan)
{
	struct ibv_flow_spec_eth spec = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(spec) };

	memcpy(spec.val.dst_mac, mac, 6);
	memset(spec.mask.dst_mac, 0xff, 6);
	if (vlan >= 0) {
		spec.val.vlan_tag = htons((uint16_t)vlan);
		spec.mask.vlan_tag = htons(0xfff); /* the id, not the priority */
	}
	add_spec(rule, &spec, sizeof(spec));
}

/** IPV4_EXT has fields that IPV4 lacks: type of service, protocol, time to live and flags. */
static void
match_tos(struct rule *rule, uint8_t tos)
{
	struct ibv_flow_spec_ipv4_ext spec = {
		.type = IBV_FLOW_SPEC_IPV4_EXT,
		.size = sizeof(spec),
		.val.tos = tos,
		.mask.tos = 0xff,
	};

	add_spec(rule, &spec, sizeof(spec));
}

static void
match_flow_label(struct rule *rule, uint32_t label)
{
	struct ibv_flow_spec_ipv6 spec = {
		.type = IBV_FLOW_SPEC_IPV6,
		.size = sizeof(spec),
		.val.flow_label = htonl(label),
		.mask.flow_label = htonl(0xfffff),
	};

	add_spec(rule, &spec, sizeof(spec));
}

/** The outer headers come first: IPv4, UDP, then the VXLAN network's number. */
static void
match_vxlan(struct rule *rule, uint32_t vni)
{
	struct ibv_flow_spec_ipv4 ipv4 = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof(ipv4) };
	struct ibv_flow_spec_tcp_udp udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof(udp) };
	struct ibv_flow_spec_tunnel vxlan = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL,
		.size = sizeof(vxlan),
		.val.tunnel_id = htonl(vni),
		.mask.tunnel_id = htonl(0xffffff),
	};

	udp.val.dst_port = htons(4789);
	udp.mask.dst_port = 0xffff;
	add_spec(rule, &ipv4, sizeof(ipv4));
	add_spec(rule, &udp, sizeof(udp));
	add_spec(rule, &vxlan, sizeof(vxlan));
}

static void
build(struct rule *rule, char **argv)
{
	const char *what = argv[4] != NULL ? argv[4] : "";
	const char *value = argv[4] != NULL ? argv[5] : "";
	int vlan = -1;
	uint8_t mac[6];

	memset(rule, 0, sizeof(*rule));
	rule->attr = (struct ibv_flow_attr){
		.type = IBV_FLOW_ATTR_NORMAL,
		.size = sizeof(rule->attr),
		.port = 1,
	};
	raw_parse_mac(argv[2], mac, usage);
	if (strcmp(what, "vlan") == 0)
		vlan = (int)raw_parse_number(value, 4095, usage);
	match_ethernet(rule, mac, vlan);
	if (strcmp(what, "tos") == 0)
		match_tos(rule, (uint8_t)raw_parse_number(value, 255, usage));
	else if (strcmp(what, "label") == 0)
		match_flow_label(rule, raw_parse_number(value, 0xfffff, usage));
	else if (strcmp(what, "vni") == 0)
		match_vxlan(rule, raw_parse_number(value, 0xffffff, usage));
	else if (what[0] != '\0' && vlan < 0)
		raw_usage(usage);
}

int
main(int argc, char **argv)
{
	struct ibv_flow *flow;
	struct rule rule;
	struct raw raw;
	uint32_t count;

	if (argc != 4 && argc != 6)
		raw_usage(usage);
	build(&rule, argv);
	count = raw_parse_number(argv[3], UINT32_MAX, usage);
	raw_open(&raw, argv[1], 0);
	/* Before the rule: the device drops a frame that finds no buffer. */
	for (unsigned int i = 0; i < RAW_NB_BUFFERS; i++)
		raw_post_receive(&raw, i);
	flow = ibv_create_flow(raw.qp, &rule.attr);
	if (flow == NULL)
		raw_die("ibv_create_flow");
	printf("waiting for %u frames\n", count);
	fflush(stdout);
	for (uint32_t i = 1; i <= count; i++) {
		struct ibv_wc wc = raw_wait(&raw);

		raw_print(&raw, i, &wc);
		raw_post_receive(&raw, (unsigned int)wc.wr_id); /* the buffer is free again */
	}
	errno = ibv_destroy_flow(flow);
	if (errno != 0)
		raw_die("ibv_destroy_flow");
	raw_close(&raw);
	return 0;
}
