/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of the netdev. */
#include "steering/arfs.h"

#include <errno.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "steering/ethtool.h"
#include "steering/state.h"

/** Addresses, ports, and the flow type itself. */
#define FLOW_TUPLES 5

static const struct shca_fte_action action = { .drop = false };

void
shca_arfs_switch(struct shca_steering *steering, bool is_on)
{
	steering->arfs.is_on = is_on;
	if (!is_on)
		shca_arfs_flush(steering);
}

bool
shca_arfs_is_on(const struct shca_steering *steering)
{
	return steering->arfs.is_on;
}

static bool
is_whole(const void *mask, size_t nb)
{
	const uint8_t *bytes = mask;

	while (nb-- > 0)
		if (bytes[nb] != UINT8_MAX)
			return false;
	return true;
}

/** @return the table of a flow that is matched whole, or NULL. */
static struct shca_table *
find_table(struct shca_steering *steering, const struct shca_match *match)
{
	const struct shca_match_stack *mask = &match->mask.outer;
	const bool is_v4 = match->value.outer.ether_type == ETHERTYPE_IP;
	const bool is_tcp = match->value.outer.ip_proto == IPPROTO_TCP;
	const uint16_t ports = is_tcp ? mask->tcp_src_port & mask->tcp_dst_port
				      : mask->udp_src_port & mask->udp_dst_port;
	const unsigned int first = is_v4 ? 12 : 0;

	if (ports != UINT16_MAX || !is_whole(mask->src_ip + first, 16 - first) ||
		!is_whole(mask->dst_ip + first, 16 - first))
		return NULL;
	return &steering->arfs.table[(is_v4 ? 0 : 2) + (is_tcp ? 0 : 1)];
}

static void
del(struct shca_state_flow *flow)
{
	if (flow->table != NULL)
		shca_table_del(flow->table, flow->fte, &action);
	flow->table = NULL;
}

static int
add(struct shca_steering *steering, struct shca_match *match)
{
	struct shca_table *table = find_table(steering, match);
	struct shca_state_flow *flow = &steering->arfs.flow[steering->arfs.next];
	int ret;

	if (table == NULL)
		return -EINVAL;
	shca_field_require(match);
	if (shca_table_find(table, &match->value) != NULL)
		return 0;
	del(flow);
	ret = shca_table_add(table, match, &action, &flow->fte);
	if (ret == 0) {
		flow->table = table;
		steering->arfs.next = (steering->arfs.next + 1) % SHCA_ARFS_FLOWS;
	}
	shca_steering_refresh(steering);
	return ret;
}

int
shca_arfs_add(struct shca_steering *steering, const struct shca_ethtool_attr *attr)
{
	struct shca_match match = attr->match;

	if (!steering->kernel.present)
		return -ENODEV;
	if (steering->conf.profile == SHCA_PROFILE_A0)
		return -EOPNOTSUPP; /* "RFS is not supported in this mode" */
	if (attr->drop || attr->is_l2 || attr->nb_tuples != FLOW_TUPLES)
		return -EINVAL;
	return add(steering, &match);
}

void
shca_arfs_learn(struct shca_steering *steering, const struct shca_packet *packet)
{
	const struct shca_headers *sent = &packet->outer;
	const uint8_t *ip = packet->bytes + sent->l3_offset;
	struct shca_match match = { 0 };
	struct shca_match_stack *mask = &match.mask.outer, *value = &match.value.outer;
	const bool is_v4 = sent->l3 == SHCA_L3_IPV4, is_tcp = sent->l4 == SHCA_L4_TCP;
	const unsigned int first = is_v4 ? 12 : 0, nb = 16 - first, src_at = is_v4 ? 12 : 8;

	if (!steering->arfs.is_on || !steering->kernel.present || sent->l3 == SHCA_L3_NONE ||
		(!is_tcp && sent->l4 != SHCA_L4_UDP))
		return;
	mask->ether_type = UINT16_MAX;
	value->ether_type = is_v4 ? ETHERTYPE_IP : ETHERTYPE_IPV6;
	mask->ip_proto = UINT8_MAX;
	value->ip_proto = is_tcp ? IPPROTO_TCP : IPPROTO_UDP;
	memset(mask->src_ip + first, UINT8_MAX, nb);
	memset(mask->dst_ip + first, UINT8_MAX, nb);
	memcpy(value->dst_ip + first, ip + src_at, nb);
	memcpy(value->src_ip + first, ip + src_at + nb, nb);
	*(is_tcp ? &mask->tcp_src_port : &mask->udp_src_port) = UINT16_MAX;
	*(is_tcp ? &mask->tcp_dst_port : &mask->udp_dst_port) = UINT16_MAX;
	*(is_tcp ? &value->tcp_src_port : &value->udp_src_port) = sent->dst_port;
	*(is_tcp ? &value->tcp_dst_port : &value->udp_dst_port) = sent->src_port;
	/* Without memory the flow is spread like others. */
	(void)add(steering, &match);
}

void
shca_arfs_flush(struct shca_steering *steering)
{
	for (unsigned int i = 0; i < SHCA_ARFS_FLOWS; i++)
		del(&steering->arfs.flow[i]);
	shca_steering_refresh(steering);
}
