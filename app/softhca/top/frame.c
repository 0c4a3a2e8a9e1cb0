/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a field of rules, one row an item of patterns. */
#include "top/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/sample.h"

enum item {
	ETH,
	VLAN,
	IPV4,
	IPV6,
	TCP,
	UDP,
	ICMP,
	ICMP6,
	ESP,
	GRE,
	VXLAN,
	NB_ITEMS
};

/** Without a word a field says that its item is there, and no more. */
static const struct {
	const char *field;
	enum item item;
	const char *word;
} fields[] = {
	/* clang-format off */
	{ "out.dmac", ETH, "dst" }, { "out.smac", ETH, "src" }, { "out.ethtype", ETH, "type" },
	{ "out.first_vid", VLAN, "vid" }, { "out.first_cfi", VLAN, "dei" }, { "out.first_prio", VLAN, "pcp" },
	{ "out.cvlan_tag", VLAN, NULL },
	{ "out.ip_tos", IPV4, "tos" }, { "out.ip_ttl", IPV4, "ttl" }, { "out.src_ip", IPV4, "src" },
	{ "out.dst_ip", IPV4, "dst" }, { "out.ip_version", IPV4, NULL }, { "out.ip_prot", IPV4, "proto" },
	{ "out.ipv6_flow_label", IPV6, "flow" },
	{ "out.tcp_sport", TCP, "src" }, { "out.tcp_dport", TCP, "dst" }, { "out.tcp_flags", TCP, "flags" },
	{ "out.udp_sport", UDP, "src" }, { "out.udp_dport", UDP, "dst" },
	{ "out.esp_spi", ESP, "spi" }, { "gre_protocol", GRE, "protocol" }, { "gre_key", GRE, "key" },
	{ "vxlan_vni", VXLAN, "vni" },
	/* clang-format on */
};

static const char *const names[NB_ITEMS] = {
	[ETH] = "eth",
	[VLAN] = "vlan",
	[IPV4] = "ipv4",
	[IPV6] = "ipv6",
	[TCP] = "tcp",
	[UDP] = "udp",
	[ICMP] = "icmp",
	[ICMP6] = "icmp6",
	[ESP] = "esp",
	[GRE] = "gre",
	[VXLAN] = "vxlan",
};

/** What fields of both kinds of IP are called in IPv6. */
static const struct {
	const char *v4, *v6;
} words_of_ipv6[] = { { "tos", "tc" }, { "ttl", "hop" }, { "src", "src" }, { "dst", "dst" },
	{ "proto", "proto" } };

/** Protocols whose item stands for the number (IANA). */
static const struct {
	unsigned long number;
	enum item item;
} protocols[] = { { 1, ICMP }, { 6, TCP }, { 17, UDP }, { 47, GRE }, { 50, ESP }, { 58, ICMP6 } };

struct frame {
	bool has[NB_ITEMS];
	bool is_v6;
	char words[NB_ITEMS][300]; /* ",WORD,VALUE..." */
};

static const char *
word_of(const struct frame *frame, enum item item, const char *word)
{
	for (size_t i = 0; frame->is_v6 && item == IPV4 &&
		i < sizeof(words_of_ipv6) / sizeof(words_of_ipv6[0]);
		i++)
		if (strcmp(words_of_ipv6[i].v4, word) == 0)
			return words_of_ipv6[i].v6;
	return word;
}

/** An item that stands for a value is there in its place. @return whether there is one. */
static bool
add_item_of(struct frame *frame, const char *field, const char *value)
{
	const unsigned long number = strtoul(value, NULL, 0);

	for (size_t i = 0;
		strcmp(field, "out.ip_prot") == 0 && i < sizeof(protocols) / sizeof(protocols[0]);
		i++)
		if (protocols[i].number == number) {
			frame->has[protocols[i].item] = true;
			return true;
		}
	/* Its type is that of what follows. */
	if (strcmp(field, "out.ethtype") != 0 || (number != 0x0800 && number != 0x86dd))
		return false;
	frame->has[IPV4] = true;
	return true;
}

/** @return whether there is a word for the field. */
static bool
add_field(struct frame *frame, const char *field, const char *value)
{
	/* Only the network knows which port a frame has come by. */
	if (strcmp(field, "source_port") == 0)
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const enum item item = fields[i].item;

		if (strcmp(fields[i].field, field) != 0)
			continue;
		frame->has[item == IPV6 ? IPV4 : item] = true;
		/* What is behind a slash is the mask. */
		if (fields[i].word != NULL && !add_item_of(frame, field, value))
			shca_text_append(frame->words[item == IPV6 ? IPV4 : item],
				sizeof(frame->words[item]), ",%s,%.*s",
				word_of(frame, item, fields[i].word), (int)strcspn(value, "/"),
				value);
		return true;
	}
	return false;
}

static bool
is_v6(const struct app_tree *match)
{
	for (const struct app_tree *field = match; field != NULL; field = field->next) {
		const char *value = field->text != NULL ? field->text : "";

		if (strcmp(field->key, "out.ipv6_flow_label") == 0 ||
			(strstr(field->key, "_ip") != NULL && strchr(value, ':') != NULL) ||
			(strcmp(field->key, "out.ip_version") == 0 &&
				strtoul(value, NULL, 0) == 6) ||
			(strcmp(field->key, "out.ethtype") == 0 &&
				strtoul(value, NULL, 0) == 0x86dd))
			return true;
	}
	return false;
}

int
app_frame_of_rule(const struct app_row *rule, char *line, size_t size)
{
	const struct app_tree *match = app_tree_elements(rule->tree, "match");
	struct frame frame = { .has[ETH] = true, .is_v6 = is_v6(match) };
	const bool sends = strstr(app_tree_text(rule->table, "type"), "_TX") != NULL;

	for (; match != NULL; match = match->next)
		if (!add_field(&frame, match->key, match->text != NULL ? match->text : "")) {
			snprintf(line, size, "no frame for this rule: patterns have no word for %s",
				match->key);
			return -EOPNOTSUPP;
		}
	snprintf(line, size, "trace%s --port %u ", sends ? " --tx" : "", rule->port);
	for (unsigned int i = 0; i < NB_ITEMS; i++)
		if (frame.has[i])
			shca_text_append(line, size, "%s%s%s", i == ETH ? "" : ",/,",
				names[i == IPV4 && frame.is_v6 ? IPV6 : i], frame.words[i]);
	return 0;
}
