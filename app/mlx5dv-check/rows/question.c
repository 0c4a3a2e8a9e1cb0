/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments: what no source says of cards (doc/design/hardware-questions.md has the questions).
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#include "check.h"

/** Exchange @p frame under @p rules. @param gots the caller frees it */
static enum check_result
observe(struct check *check, const struct check_rule *rules, unsigned int nb_rules,
	const struct check_frame *frame, struct check_gots *gots)
{
	struct rte_flow *flows[CHECK_RULES_MAX];
	enum check_result result;
	int ret;

	gots->nb = 0;
	result = check_rules_create(check, rules, nb_rules, flows);
	if (result != CHECK_PASS)
		return result;
	ret = check_traffic_exchange(check, CHECK_PEER, frame, 1, gots);
	if (ret != 0)
		result = check_fail(check, "%s", rte_strerror(-ret));
	return check_rules_destroy(check, flows, nb_rules, result);
}

/** Q1: a tag that an earlier entry has given. */
static enum check_result
tag_behind_passthru(struct check *check)
{
	const struct check_rule rules[] = { { .passthru = true, .marked = true, .queue = 1 },
		{ .priority = 1, .queue = 2 } };
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_gots gots;
	enum check_result result = observe(check, rules, 2, &frame, &gots);

	if (result == CHECK_PASS)
		result = check_fail(check, "the second rule's queue got nothing");
	for (unsigned int i = 0; i < gots.nb; i++)
		if (gots.got[i].queue == 2)
			result = check_seen(check, "the packet of the later rule has %s mark",
				gots.got[i].mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID
					? "the earlier rule's"
					: "no");
	check_traffic_free(&gots);
	return result;
}

/** Q2: two rules of one priority that match the same packet by other fields. */
static enum check_result
equal_priorities(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 1 }, { .queue = 2, .with_dst = true } };
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_gots gots;
	enum check_result result = observe(check, rules, 2, &frame, &gots);

	if (result == CHECK_PASS && gots.nb == 1)
		result = check_seen(check, "the rule that came %s has the packet",
			gots.got[0].queue == 1 ? "first" : "second");
	else if (result == CHECK_PASS)
		result = check_seen(check, "the packet came %u times", gots.nb);
	check_traffic_free(&gots);
	return result;
}

/** Flags, hash and queue of a frame. */
static enum check_result
describe(struct check *check, const struct check_frame *frame)
{
	struct check_gots gots;
	enum check_result result = observe(check, NULL, 0, frame, &gots);

	if (result == CHECK_PASS && gots.nb != 1)
		result = check_fail(check, "it came %u times", gots.nb);
	else if (result == CHECK_PASS)
		result = check_seen(check,
			"flags 0x%" PRIx64 ", hash 0x%08x, packet type 0x%x, queue %u",
			gots.got[0].mbuf->ol_flags, gots.got[0].mbuf->hash.rss,
			gots.got[0].mbuf->packet_type, gots.got[0].queue);
	check_traffic_free(&gots);
	return result;
}

/** Q3: is the first fragment hashed by its ports? */
static enum check_result
first_fragment(struct check *check)
{
	const struct check_frame frame = { .fragment = true };

	return describe(check, &frame);
}

/** Q4: is a datagram without checksum good? */
static enum check_result
no_checksum(struct check *check)
{
	const struct check_frame frame = { .no_l4 = true };

	return describe(check, &frame);
}

#define IPV6_PAYLOAD 64

/** TCP over IPv6, with one extension header or none. */
struct behind {
	const char *name;
	uint8_t next;     /**< in the IPv6 header */
	uint8_t bytes[8]; /**< the header; its first byte is what follows */
};

static const struct behind behinds[] = {
	{ "without", IPPROTO_TCP, { 0 } },
	/* RFC 8200 section 4.3, with a PadN. */
	{ "hop-by-hop", IPPROTO_HOPOPTS, { IPPROTO_TCP, 0, 1, 4 } },
	/* Section 4.4; RFC 3692: type 253 is for experiments, and no segment is left. */
	{ "routing", IPPROTO_ROUTING, { IPPROTO_TCP, 0, 253, 0 } },
};

/** @return the frame from the peer to the port, or NULL */
static struct rte_mbuf *
write_behind(struct check *check, const struct behind *behind, bool is_wrong)
{
	const uint16_t extension = behind->next == IPPROTO_TCP ? 0 : sizeof(behind->bytes);
	const uint16_t l4_length = sizeof(struct rte_tcp_hdr) + IPV6_PAYLOAD;
	const uint16_t l3 = sizeof(struct rte_ether_hdr),
		       l4 = l3 + sizeof(struct rte_ipv6_hdr) + extension;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(check->port[CHECK_PEER].pool);
	struct rte_ipv6_hdr ip = { .vtc_flow = rte_cpu_to_be_32(6u << 28),
		.payload_len = rte_cpu_to_be_16(l4_length),
		.proto = IPPROTO_TCP,
		.hop_limits = 64 };
	struct rte_ether_hdr eth = { .dst_addr = check->port[CHECK_PORT].mac,
		.src_addr = { { 2, 0, 0, 0, 1, 0 } },
		.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) };
	struct rte_tcp_hdr tcp = { .src_port = rte_cpu_to_be_16(1024 + check->row),
		.dst_port = rte_cpu_to_be_16(9),
		.data_off = sizeof(tcp) / 4 << 4 };
	uint8_t *bytes = mbuf == NULL ? NULL : (uint8_t *)rte_pktmbuf_append(mbuf, l4 + l4_length);

	if (bytes == NULL) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	memset(bytes, 0, l4 + l4_length);
	memcpy(bytes, &eth, sizeof(eth));
	/* RFC 3849: 2001:db8::/32 is for documentation. */
	memcpy(&ip.src_addr, "\x20\x01\x0d\xb8", 4);
	memcpy(&ip.dst_addr, "\x20\x01\x0d\xb8", 4);
	memcpy(bytes + l4, &tcp, sizeof(tcp));
	tcp.cksum = rte_ipv6_udptcp_cksum(&ip, bytes + l4) ^ (is_wrong ? 0x5555 : 0);
	memcpy(bytes + l4, &tcp, sizeof(tcp));
	ip.proto = behind->next;
	ip.payload_len = rte_cpu_to_be_16(extension + l4_length);
	memcpy(bytes + l3, &ip, sizeof(ip));
	memcpy(bytes + l3 + sizeof(ip), behind->bytes, extension);
	return mbuf;
}

/** Send @p frame, which is freed. @return it as it came to the port, or NULL */
static struct rte_mbuf *
exchange_bytes(struct check *check, struct rte_mbuf *frame)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	const uint16_t length = rte_pktmbuf_data_len(frame);
	const uint64_t end = check_wait_end(check);
	struct rte_mbuf *got = NULL, *mbufs[32];
	uint8_t sent[256];

	memcpy(sent, rte_pktmbuf_mtod(frame, const uint8_t *), RTE_MIN(length, sizeof(sent)));
	if (rte_eth_tx_burst(check->port[CHECK_PEER].id, 0, &frame, 1) == 0) {
		rte_pktmbuf_free(frame);
		return NULL;
	}
	while (got == NULL && check_wait_on(end))
		for (uint16_t q = 0; q < port->nb_queues; q++) {
			const uint16_t nb = rte_eth_rx_burst(port->id, q, mbufs, RTE_DIM(mbufs));

			for (uint16_t i = 0; i < nb; i++)
				if (got == NULL && rte_pktmbuf_data_len(mbufs[i]) == length &&
					memcmp(rte_pktmbuf_mtod(mbufs[i], const uint8_t *), sent,
						length) == 0)
					got = mbufs[i];
				else
					rte_pktmbuf_free(mbufs[i]);
		}
	return got;
}

/** @return what the port says of the frame's TCP checksum */
static const char *
checksum_of(struct check *check, const struct behind *behind, bool is_wrong, uint32_t *type)
{
	struct rte_mbuf *frame = write_behind(check, behind, is_wrong);
	struct rte_mbuf *got = frame == NULL ? NULL : exchange_bytes(check, frame);
	uint64_t flags;

	*type = 0;
	if (got == NULL)
		return "lost";
	flags = got->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
	*type = got->packet_type;
	rte_pktmbuf_free(got);
	return flags == RTE_MBUF_F_RX_L4_CKSUM_GOOD   ? "good"
		: flags == RTE_MBUF_F_RX_L4_CKSUM_BAD ? "bad"
						      : "unknown";
}

/** Q8: TCP behind extension headers, with a right checksum and with a wrong one. */
static enum check_result
behind_extensions(struct check *check)
{
	char text[RTE_DIM(behinds)][96];

	for (unsigned int i = 0; i < RTE_DIM(behinds); i++) {
		uint32_t type, type_of_wrong;
		const char *right = checksum_of(check, &behinds[i], false, &type);
		const char *wrong = checksum_of(check, &behinds[i], true, &type_of_wrong);

		snprintf(text[i], sizeof(text[i]),
			"%s: packet type 0x%" PRIx32 ", right checksum %s, wrong one %s",
			behinds[i].name, type, right, wrong);
	}
	return check_seen(check, "%s; %s; %s", text[0], text[1], text[2]);
}

const struct check_row check_rows_question[] = {
	{ "Q1: mark behind PASSTHRU", "whether a later rule's packet has it", tag_behind_passthru },
	{ "Q2: equal priorities", "which of two rules has a packet", equal_priorities },
	{ "Q3: first fragment", "how it is hashed and typed", first_fragment },
	{ "Q4: UDP without checksum", "whether it is called good", no_checksum },
	{ "Q8: TCP behind extensions", "whether it is found and checked", behind_extensions },
	{ NULL, NULL, NULL },
};
