/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches frames without taking them: a rule with the flag DONT_TRAP gets a copy, and the frame
 * goes on to its usual receiver, another rule or Linux. So a program can watch a service that
 * another program offers. A rule of type SNIFFER gets copies of all that the port receives and
 * sends.
 *
 *     raw-dont-trap mlx5_0 02:00:00:00:00:01 3
 *     raw-dont-trap mlx5_0 sniffer 3
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

static const char usage[] = "raw-dont-trap DEVICE DESTINATION_MAC|sniffer COUNT";

static struct ibv_flow *
watch(struct ibv_qp *qp, const uint8_t mac[6])
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = {
			.type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			/* The lowest number comes first: behind a rule that traps, this one would
			 * see no frame. */
			.priority = 0,
			.num_of_specs = 1,
			.port = 1,
			.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		},
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};
	struct ibv_flow *flow;

	memcpy(rule.eth.val.dst_mac, mac, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	flow = ibv_create_flow(qp, &rule.attr);
	if (flow == NULL)
		raw_die("ibv_create_flow");
	return flow;
}

static struct ibv_flow *
sniff(struct ibv_qp *qp)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER,
		.size = sizeof(attr),
		.port = 1,
	};
	struct ibv_flow *flow = ibv_create_flow(qp, &attr);

	if (flow == NULL)
		raw_die("ibv_create_flow");
	return flow;
}

int
main(int argc, char **argv)
{
	struct ibv_flow *flow;
	struct raw raw;
	uint32_t count;
	uint8_t mac[6];
	bool is_all;

	if (argc != 4)
		raw_usage(usage);
	is_all = strcmp(argv[2], "sniffer") == 0;
	if (!is_all)
		raw_parse_mac(argv[2], mac, usage);
	count = raw_parse_number(argv[3], UINT32_MAX, usage);
	raw_open(&raw, argv[1], 0);
	for (unsigned int i = 0; i < RAW_NB_BUFFERS; i++)
		raw_post_receive(&raw, i);
	flow = is_all ? sniff(raw.qp) : watch(raw.qp, mac);
	for (uint32_t i = 1; i <= count; i++) {
		struct ibv_wc wc = raw_wait(&raw);

		raw_print(&raw, i, &wc);
		raw_post_receive(&raw, (unsigned int)wc.wr_id);
	}
	printf("seen, not taken: %u frames\n", count);
	errno = ibv_destroy_flow(flow);
	if (errno != 0)
		raw_die("ibv_destroy_flow");
	raw_close(&raw);
	return 0;
}
