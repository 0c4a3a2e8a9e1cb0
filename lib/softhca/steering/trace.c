/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk, as text and as JSON. */
#include "steering/trace.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "steering/state.h"
#include "steering/steering.h"

static const char *const kernel_reasons[] = {
	[SHCA_TRACE_KERNEL_NOT_ASKED] = "a rule took it",
	[SHCA_TRACE_KERNEL_ABSENT] = "there is no netdev beside the port",
	[SHCA_TRACE_KERNEL_NO_ETHERNET] = "the netdev takes no frame without an Ethernet header",
	[SHCA_TRACE_KERNEL_NOT_JOINED] = "the netdev has joined no multicast group",
	[SHCA_TRACE_KERNEL_OTHER_ADDRESS] = "it is not for the netdev's address",
	[SHCA_TRACE_KERNEL_PROMISCUOUS] = "the netdev is promiscuous",
	[SHCA_TRACE_KERNEL_RULE] = "a rule of the netdev takes it",
	[SHCA_TRACE_KERNEL_GROUP] = "the netdev takes multicast and broadcast",
	[SHCA_TRACE_KERNEL_OWN_ADDRESS] = "it is for the netdev's address",
};

static void
print_mac(FILE *out, const uint8_t *mac)
{
	fprintf(out, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
}

static void
print_l3(FILE *out, const uint8_t *bytes, const struct shca_headers *headers)
{
	bool is_v4 = headers->l3 == SHCA_L3_IPV4;
	const uint8_t *addresses = bytes + headers->l3_offset + (is_v4 ? 12 : 8);
	char src[INET6_ADDRSTRLEN] = "", dst[INET6_ADDRSTRLEN] = "";
	int family = is_v4 ? AF_INET : AF_INET6;

	inet_ntop(family, addresses, src, sizeof(src));
	inet_ntop(family, addresses + (is_v4 ? 4 : 16), dst, sizeof(dst));
	fprintf(out, ", %s %s > %s", is_v4 ? "IPv4" : "IPv6", src, dst);
	if (headers->l4 == SHCA_L4_TCP || headers->l4 == SHCA_L4_UDP)
		fprintf(out, ", %s %u > %u", headers->l4 == SHCA_L4_TCP ? "TCP" : "UDP",
			headers->src_port, headers->dst_port);
	else
		fprintf(out, ", protocol %u%s", headers->ip_proto,
			headers->fragment ? ", fragment" : "");
}

static void
print_packet(FILE *out, const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;

	fprintf(out, "%" PRIu32 " bytes", packet->length);
	if (outer->valid) {
		fprintf(out, ", ");
		print_mac(out, packet->bytes + 6);
		fprintf(out, " > ");
		print_mac(out, packet->bytes);
		if (outer->nb_vlans != 0)
			fprintf(out, ", VLAN %u", outer->vlan_tci & 0xfff);
		if (outer->l3 != SHCA_L3_NONE)
			print_l3(out, packet->bytes, outer);
		else
			fprintf(out, ", type 0x%04x", outer->ether_type);
	}
	if (packet->tunnel != SHCA_TUNNEL_NONE && packet->inner.valid &&
		packet->inner.l3 != SHCA_L3_NONE) {
		fprintf(out, ", inside");
		print_l3(out, packet->bytes, &packet->inner);
	}
	fputc('\n', out);
}

/** @return how the walk goes on after an entry, as walk.c's walk_path() decides. */
static const char *
what_then(const struct shca_table *table, const struct shca_fte *fte)
{
	if (fte->drop)
		return "drop";
	if (table->layout->to_netdev)
		return "netdev";
	if (fte->nb_leaving != 0)
		return "leave";
	return table->dont_trap ? "next" : "end";
}

/** @return the frame that the current entry's destinations get. */
static const struct shca_packet *
copied(const struct shca_trace *trace)
{
	return trace->is_changed ? &trace->changed : trace->packet;
}

static void
print_copy(const struct shca_trace *trace, const struct shca_fte *fte, const void *tir)
{
	struct shca_dump_tir description = { .number = 0 };
	FILE *out = trace->conf->out;

	fprintf(out, "    copy to ");
	shca_dump_print_tir(trace->conf, tir);
	if (tir != NULL && trace->conf->describe != NULL) {
		trace->conf->describe(tir, copied(trace), &description);
		fprintf(out, ", RQ:0x%" PRIx32, description.rq_number);
		if (description.rss_hash_type != 0)
			fprintf(out, " by RSS hash 0x%08" PRIx32, description.rss_hash);
		if (strcmp(description.rq_state, "ready") != 0)
			fprintf(out, ", lost: the queue's state is %s", description.rq_state);
	}
	if (fte->flow_tag != 0)
		fprintf(out, ", tag:0x%" PRIx32, fte->flow_tag);
	shca_dump_context(description.context, ", of ", out);
	fputc('\n', out);
}

static void
print_table(
	const struct shca_trace *trace, const struct shca_table *table, const struct shca_fte *fte)
{
	char action[SHCA_DUMP_ACTION_MAX];
	FILE *out = trace->conf->out;

	fprintf(out, "  FT: 0x%x (level: 0x%" PRIx32 ", type: %s%s%s): ",
		shca_dump_table_number(trace->steering, table), table->level, table->layout->type,
		table->layout->owner != NULL ? ", owner: " : "",
		table->layout->owner != NULL ? table->layout->owner : "");
	if (fte == NULL) {
		fprintf(out, "no entry of %" PRIu32 " mask%s matches\n", table->nb_subtables,
			table->nb_subtables == 1 ? "" : "s");
		return;
	}
	shca_dump_action(table, fte, action);
	fprintf(out, "FTE: 0x%" PRIx32 " (%s) matches\n", fte->index, action);
	shca_dump_match(fte, trace->conf, "    ");
	if (trace->is_changed) {
		fprintf(out, "    changed to ");
		print_packet(out, &trace->changed);
	}
	for (uint32_t i = 0; i < fte->destinations.nb; i++)
		print_copy(trace, fte, fte->destinations.user[i].object);
	if (!fte->drop && table->layout->to_netdev)
		fprintf(out, "    to the netdev\n");
	else if (!fte->drop && fte->nb_leaving != 0)
		fprintf(out, "    on behind the tables of rules\n");
	else if (!fte->drop && table->dont_trap)
		fprintf(out, "    on to the next table: the rule does not trap\n");
}

static void
add_copy(const struct shca_trace *trace, const void *tir)
{
	struct shca_dump_tir description = { .rq_state = "none" };
	struct shca_json *json = trace->conf->json;

	if (tir != NULL && trace->conf->describe != NULL)
		trace->conf->describe(tir, copied(trace), &description);
	shca_json_open(json, NULL, '{');
	shca_json_number(json, "tir", description.number);
	shca_json_number(json, "rq", description.rq_number);
	shca_json_string(json, "state", "%s", description.rq_state);
	shca_json_number(json, "rss_hash", description.rss_hash);
	shca_json_number(json, "rss_hash_type", description.rss_hash_type);
	shca_dump_add_context(description.context, json);
	shca_json_close(json);
}

static void
add_table(
	const struct shca_trace *trace, const struct shca_table *table, const struct shca_fte *fte)
{
	struct shca_json *json = trace->conf->json;
	char action[SHCA_DUMP_ACTION_MAX];

	shca_json_open(json, NULL, '{');
	shca_json_number(json, "table", shca_dump_table_number(trace->steering, table));
	shca_json_number(json, "level", table->level);
	shca_json_string(json, "type", "%s", table->layout->type);
	if (table->layout->owner != NULL)
		shca_json_string(json, "owner", "%s", table->layout->owner);
	shca_json_bool(json, "hit", fte != NULL);
	if (fte != NULL) {
		shca_json_number(json, "index", fte->index);
		shca_dump_action(table, fte, action);
		shca_json_string(json, "action", "%s", action);
		shca_json_number(json, "tag", fte->flow_tag);
		shca_dump_match(fte, trace->conf, "");
		shca_json_open(json, "copies", '[');
		for (uint32_t i = 0; i < fte->destinations.nb; i++)
			add_copy(trace, fte->destinations.user[i].object);
		shca_json_close(json);
		shca_json_string(json, "then", "%s", what_then(table, fte));
	}
	shca_json_close(json);
}

/** @return whether the entry changes the frame; if so, the changed one is in the trace. */
static bool
change(struct shca_trace *trace, const struct shca_fte *fte)
{
	const struct shca_dump_conf *conf = trace->conf;
	uint32_t length = 0;

	if (fte == NULL || fte->drop || !shca_modify_is_any(&fte->modify_set) ||
		conf->rewrite == NULL)
		return false;
	length = conf->rewrite(&fte->modify_set, trace->packet, conf->room);
	if (length == 0)
		return false;
	shca_parse(conf->room, length, &trace->changed);
	if (conf->limit != NULL)
		conf->limit(&trace->changed, trace->steering->conf.tunnel_offloads);
	trace->changed.source_port = trace->packet->source_port;
	return true;
}

void
shca_trace_table(
	struct shca_trace *trace, const struct shca_table *table, const struct shca_fte *fte)
{
	if (table->nb_subtables == 0)
		return;
	trace->is_changed = change(trace, fte);
	if (trace->conf->json != NULL)
		add_table(trace, table, fte);
	else
		print_table(trace, table, fte);
}

static const char *
verdict_name(const struct shca_verdict *verdict)
{
	if (verdict->dropped)
		return "dropped";
	if (verdict->to_kernel)
		return "netdev";
	return verdict->nb_destinations != 0 ? "delivered" : "lost";
}

static void
print_end(const struct shca_trace *trace, const struct shca_verdict *verdict)
{
	const char *reason = verdict->dropped ? "the rule says so" : kernel_reasons[trace->kernel];

	fprintf(trace->conf->out, "  %s, %u %s: %s\n", verdict_name(verdict),
		verdict->nb_destinations, verdict->nb_destinations == 1 ? "copy" : "copies",
		reason);
}

/** Go on after entries that change the frame. */
static void
walk_on(struct shca_trace *trace, struct shca_verdict *verdict)
{
	unsigned int nb_copies = verdict->nb_destinations;
	struct shca_packet packet;

	while (trace->is_changed) {
		packet = trace->changed;
		trace->is_changed = false;
		trace->packet = &packet;
		shca_walk_trace_on(trace->steering, trace, verdict);
		nb_copies += verdict->nb_destinations;
	}
	verdict->nb_destinations = nb_copies;
}

void
shca_trace_rx(struct shca_steering *steering, const struct shca_packet *packet,
	const struct shca_dump_conf *conf)
{
	struct shca_trace trace = { shca_trace_table, steering, packet, conf };
	struct shca_json *json = conf->json;
	struct shca_verdict verdict;

	if (json == NULL) {
		print_packet(conf->out, packet);
		shca_walk_trace(steering, &trace, &verdict);
		walk_on(&trace, &verdict);
		print_end(&trace, &verdict);
		return;
	}
	shca_json_number(json, "bytes", packet->length);
	shca_json_open(json, "tables", '[');
	shca_walk_trace(steering, &trace, &verdict);
	walk_on(&trace, &verdict);
	shca_json_close(json);
	shca_json_string(json, "fate", "%s", verdict_name(&verdict));
	shca_json_number(json, "copies", verdict.nb_destinations);
	shca_json_string(json, "netdev", "%s",
		verdict.dropped ? "a rule drops it" : kernel_reasons[trace.kernel]);
}

void
shca_trace_without_rules(const struct shca_packet *packet, const struct shca_trace_end *end,
	const struct shca_dump_conf *conf)
{
	struct shca_json *json = conf->json;

	if (json == NULL) {
		print_packet(conf->out, packet);
		fprintf(conf->out, "  %s, 0 copies: %s\n", end->fate, end->reason);
		return;
	}
	shca_json_number(json, "bytes", packet->length);
	shca_json_open(json, "tables", '[');
	shca_json_close(json);
	shca_json_string(json, "fate", "%s", end->fate);
	shca_json_number(json, "copies", 0);
	shca_json_string(json, "netdev", "%s", end->reason);
}

bool
shca_trace_tx(struct shca_steering *steering, struct shca_packet *packet,
	struct shca_trace_end (*find)(void *arg, const struct shca_packet *packet), void *arg,
	const struct shca_dump_conf *conf)
{
	struct shca_trace_end end = { .fate = "dropped", .reason = "a rule drops it" };
	struct shca_trace trace = { shca_trace_table, steering, packet, conf };
	struct shca_json *json = conf->json;
	struct shca_verdict verdict;

	if (json != NULL) {
		shca_json_number(json, "bytes", packet->length);
		shca_json_open(json, "tables", '[');
	} else {
		print_packet(conf->out, packet);
	}
	shca_walk_trace_tx(steering, &trace, &verdict);
	if (trace.is_changed)
		*packet = trace.changed;
	if (!verdict.dropped)
		end = find(arg, packet);
	if (json != NULL) {
		shca_json_close(json);
		shca_json_string(json, "fate", "%s", end.fate);
		shca_json_number(json, "copies", verdict.nb_destinations);
		shca_json_string(json, "wire", "%s", end.reason);
	} else {
		fprintf(conf->out, "  %s, %u %s: %s\n", end.fate, verdict.nb_destinations,
			verdict.nb_destinations == 1 ? "copy" : "copies", end.reason);
	}
	return !verdict.dropped;
}
