/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks levels, shapes and rules, and prints each part of a rule. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flow/match/flow_dump.h"
#include "flow/match/flow_error.h"
#include "flow/rule/flow_default.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"
#include "flow_tree.h"
#include "state/port.h"

/** One table, as far as it is printed. */
struct tree {
	struct mdv_port *port;
	const struct rte_flow *only;
	FILE *file;
	unsigned int nb_groups; /* in this table */
	unsigned int nb_entries;
};

/** Destinations of an entry: what the actions say, or a text. */
struct tree_to {
	const struct mdv_flow_actions *actions; /**< NULL: the text */
	enum mdv_rss_class_id id;
	const char *text;
};

static void
tree_print_queues(FILE *file, const uint16_t *queues, uint32_t nb)
{
	fprintf(file, "TIR: queue%s", nb == 1 ? "" : "s");
	for (uint32_t i = 0; i < nb; i++)
		fprintf(file, " %u", queues[i]);
}

/** Print "TIR: queues 0 1 by ipv4-udp, TIR: queue 2"; nothing if packets are dropped. */
static void
tree_print_to(FILE *file, const struct tree_to *to)
{
	const struct mdv_flow_actions *actions = to->actions;
	const bool hashed = mdv_rss_classes[to->id].fields != 0;

	if (actions == NULL || actions->fate == MDV_FLOW_ACTION_SEND) {
		fputs(actions == NULL ? to->text : "PORT: sent", file);
		return;
	}
	if (actions->fate == MDV_FLOW_ACTION_DROP)
		return;
	tree_print_queues(file, actions->queues, hashed ? actions->nb_queues : 1);
	if (hashed)
		fprintf(file, " by %s%s", actions->inner != NULL ? "inner " : "",
			mdv_rss_classes[to->id].name);
	for (unsigned int i = 0; i < actions->nb_extras; i++) {
		fputs(", ", file);
		tree_print_queues(file, actions->extras[i], 1);
	}
}

static void
tree_print_entry(struct tree *tree, const struct mdv_flow_build *build, const struct tree_to *to,
	const char *more)
{
	const bool drop = to->actions != NULL && to->actions->fate == MDV_FLOW_ACTION_DROP;

	if (tree->nb_entries == 0) {
		if (tree->nb_groups == 0)
			mdv_flow_dump_table(tree->file,
				2u * build->attr.priority +
					((build->attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0
							? 0
							: 1),
				(build->attr.flags & IBV_FLOW_ATTR_FLAGS_EGRESS) != 0 ? "NIC_TX"
										      : "NIC_RX");
		mdv_flow_dump_group(tree->file, tree->nb_groups++, build);
	}
	mdv_flow_dump_entry(tree->file, tree->nb_entries++, drop);
	tree_print_to(tree->file, to);
	mdv_flow_dump_match(tree->file, build, more);
}

/** A rule that does not fit the port as it is now, for example with fewer queues, is in no table.
 */
static void
tree_print_misfit(struct tree *tree, struct rte_flow *flow, unsigned int part, const char *message)
{
	if (part == 0)
		fprintf(tree->file, "rule:%p is not in the device: %s\n", (void *)flow,
			message != NULL ? message : "no reason given");
}

static void
tree_print_rule(struct tree *tree, struct rte_flow *flow, unsigned int part)
{
	struct rte_flow_error error = { .message = NULL };
	uint64_t counts[MDV_FLOW_COUNT_NB];
	struct mdv_flow_plan plan;
	struct tree_to to = { .actions = &plan.actions };
	char more[128];
	int at;

	if (mdv_flow_install_plan(tree->port, flow, &plan, &error) != 0) {
		tree_print_misfit(tree, flow, part, error.message);
		return;
	}
	if (part >= plan.nb_parts)
		return;
	to.id = plan.parts[part].id;
	at = snprintf(more, sizeof(more), " rule:%p", (void *)flow);
	if (flow->counted && mdv_flow_count_read(flow->counter, counts) == 0)
		at += snprintf(more + at, sizeof(more) - at, " packets:%" PRIu64 " bytes:%" PRIu64,
			counts[MDV_FLOW_COUNT_PACKETS] -
				flow->counter->base[MDV_FLOW_COUNT_PACKETS],
			counts[MDV_FLOW_COUNT_BYTES] - flow->counter->base[MDV_FLOW_COUNT_BYTES]);
	if (flow->present.nb == 0)
		snprintf(more + at, sizeof(more) - at, " waits for the port's start");
	tree_print_entry(tree, &plan.parts[part].build, &to, more);
	if (flow->modified)
		mdv_flow_modify_print(tree->file, &mdv_flow_install_modified(flow)->modify);
}

static int
tree_print_default(struct tree *tree, const struct mdv_flow_default_rule *rule, unsigned int part)
{
	struct mdv_flow_build build;
	char text[64];
	const struct tree_to to = { .text = text };
	int ret;

	if (part >= rule->nb_parts || tree->only != NULL)
		return 0;
	ret = mdv_flow_default_build(
		tree->port, rule, rule->parts[part].id, mdv_flow_level_of(&rule->level), &build);
	if (mdv_rss_classes[rule->parts[part].id].fields != 0)
		snprintf(text, sizeof(text), "TIR: the redirection table by %s",
			mdv_rss_classes[rule->parts[part].id].name);
	else
		snprintf(text, sizeof(text), "TIR: the redirection table's first queue");
	if (ret == 0)
		tree_print_entry(tree, &build, &to, " default rule");
	return ret;
}

/** Each part of the shape's rules is a group. */
static int
tree_print_shape(struct tree *tree, const struct mdv_flow_shape *shape)
{
	const bool is_default = shape->priority == MDV_FLOW_LEVEL_DEFAULT;
	const unsigned int nb_parts = is_default ? MDV_RSS_NB_CLASSES : shape->nb_masks;
	struct mdv_flow_level_rule *rule;
	int ret = 0;

	for (unsigned int part = 0; ret == 0 && part < nb_parts; part++) {
		/* The entries of one part are in one group. */
		if (part == 0 || is_default || shape->masks[part] != shape->masks[part - 1])
			tree->nb_entries = 0;
		TAILQ_FOREACH (rule, &shape->rules, next) {
			struct rte_flow *flow = container_of(rule, struct rte_flow, level);

			if (is_default)
				ret = tree_print_default(tree,
					container_of(rule, struct mdv_flow_default_rule, level),
					part);
			else if (tree->only == NULL || tree->only == flow)
				tree_print_rule(tree, flow, part);
			if (ret != 0)
				break;
		}
	}
	return ret;
}

/** The sniffer's rule is in no level: it sees every packet first. */
static void
tree_print_sniffer(struct tree *tree)
{
	const struct mdv_flow_default_rule *rule;
	struct mdv_flow_build build;

	TAILQ_FOREACH (rule, &tree->port->flow->defaults, next) {
		if (rule->sniff != MDV_SNIFF_ALL)
			continue;
		mdv_flow_build_init(&build);
		mdv_flow_dump_table(tree->file, 0, "SNIFFER");
		mdv_flow_dump_group(tree->file, 0, &build);
		mdv_flow_dump_entry(tree->file, 0, false);
		fputs("TIR: the redirection table's first queue", tree->file);
		mdv_flow_dump_match(tree->file, &build, " default rule");
	}
}

static int
tree_print_levels(struct tree *tree, const struct mdv_flow_levels *levels)
{
	const struct mdv_flow_shape *shape;
	int ret;

	for (unsigned int table = 0; table < 2u * levels->nb; table++) {
		tree->nb_groups = 0;
		TAILQ_FOREACH (shape, &levels->shapes, next) {
			if (2u * shape->level + (shape->copies ? 0 : 1) != table)
				continue;
			ret = tree_print_shape(tree, shape);
			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

int
mdv_flow_tree_print(struct mdv_port *port, const struct rte_flow *only, FILE *file,
	struct rte_flow_error *error)
{
	struct tree tree = { .port = port, .only = only, .file = file };
	int ret;

	if (only == NULL)
		tree_print_sniffer(&tree);
	ret = tree_print_levels(&tree, &port->flow->levels);
	if (ret == 0)
		ret = tree_print_levels(&tree, &port->flow->egress);
	return ret == 0 ? 0 : mdv_flow_error_kernel(error, -ret, "a default rule in the dump");
}
