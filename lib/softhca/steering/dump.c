/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables as text, in the form of Mellanox's mlx_fs_dump, and as JSON. */
#include "steering/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/json.h"
#include "base/text.h"
#include "steering/state.h"
#include "steering/steering.h"

#define FIELD_TEXT_MAX 160

struct dump {
	const struct shca_dump_conf *conf;
	unsigned int nb_tables;
};

void
shca_dump_context(const struct shca_context *context, const char *before, FILE *out)
{
	if (context != NULL)
		fprintf(out, "%spid %d comm %s ctxn %" PRIu32, before, (int)context->pid,
			context->comm, context->ctxn);
}

void
shca_dump_add_context(const struct shca_context *context, struct shca_json *json)
{
	if (context == NULL)
		return;
	shca_json_number(json, "ctxn", context->ctxn);
	shca_json_number(json, "pid", (uint64_t)context->pid);
	shca_json_string(json, "comm", "%s", context->comm);
}

void
shca_dump_print_tir(const struct shca_dump_conf *conf, const void *tir)
{
	struct shca_dump_tir description = { .number = 0 };

	if (conf->describe == NULL || tir == NULL) {
		fprintf(conf->out, "TIR:%p", tir);
		return;
	}
	conf->describe(tir, NULL, &description);
	fprintf(conf->out, "TIR:0x%" PRIx32, description.number);
}

/** A sending entry that does not drop has the action ALLOW; the device sends the frame. */
void
shca_dump_action(const struct shca_table *table, const struct shca_fte *fte,
	char text[static SHCA_DUMP_ACTION_MAX])
{
	const char *forward =
		fte->destinations.nb > 0 || table->layout->to_netdev ? "FWD" : "ALLOW";

	text[0] = '\0';
	shca_text_append(text, SHCA_DUMP_ACTION_MAX, "%s", fte->drop ? "DROP" : forward);
	shca_modify_name(&fte->modify_set, text, SHCA_DUMP_ACTION_MAX);
}

/** Add what a row prints as "name:value", which of the TCI are several: "name:value name:value". */
static void
add_members(struct shca_json *json, const struct shca_field *row, const struct shca_match *match)
{
	char text[FIELD_TEXT_MAX] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	char *colon, *rest;

	if (out == NULL)
		return;
	row->print(out, row, match);
	fclose(out);
	for (char *name = strtok_r(text, " ", &rest); name != NULL;
		name = strtok_r(NULL, " ", &rest)) {
		colon = strchr(name, ':');
		if (colon == NULL)
			continue;
		*colon = '\0';
		shca_json_string(json, name, "%s", colon + 1);
	}
}

void
shca_dump_match(const struct shca_fte *fte, const struct shca_dump_conf *conf, const char *indent)
{
	const struct shca_subtable *subtable = fte->group->subtable;
	struct shca_match match = { .mask = subtable->mask };

	shca_subtable_value(subtable, fte, &match.value);
	if (conf->json != NULL)
		shca_json_open(conf->json, "match", '{');
	for (unsigned int i = 0; i < shca_field_nb_rows; i++) {
		const struct shca_field *row = &shca_field_rows[i];

		if (!(subtable->fields >> i & 1))
			continue;
		if (conf->json != NULL) {
			add_members(conf->json, row, &match);
			continue;
		}
		fprintf(conf->out, "%s|-- ", indent);
		row->print(conf->out, row, &match);
		fputc('\n', conf->out);
	}
	if (conf->json != NULL)
		shca_json_close(conf->json);
}

static void
print_destinations(const struct shca_dump_conf *conf, const struct shca_table *table,
	const struct shca_fte *fte)
{
	const char *separator = "";

	for (uint32_t i = 0; i < fte->destinations.nb; i++) {
		fputs(separator, conf->out);
		shca_dump_print_tir(conf, fte->destinations.user[i].object);
		separator = ", ";
	}
	for (uint32_t i = 0; fte->counts && i < fte->counters.nb; i++) {
		fprintf(conf->out, "%sCOUNTER:%p", separator, fte->counters.user[i].object);
		separator = ", ";
	}
	if (table->layout->to_netdev && !fte->drop)
		fprintf(conf->out, "%sNETDEV", separator);
	if (table->dont_trap && !fte->drop)
		fprintf(conf->out, "%sFT:next", separator);
}

static void
print_fte(const struct dump *dump, const struct shca_table *table, const struct shca_fte *fte)
{
	char action[SHCA_DUMP_ACTION_MAX];
	FILE *out = dump->conf->out;

	shca_dump_action(table, fte, action);
	fprintf(out, "  |-- FTE: 0x%" PRIx32 " (%s) to (", fte->index, action);
	print_destinations(dump->conf, table, fte);
	fprintf(out, ")");
	if (fte->flow_tag != 0)
		fprintf(out, " tag:0x%" PRIx32, fte->flow_tag);
	fprintf(out, " packets:%" PRIu64 " bytes:%" PRIu64, fte->packets, fte->bytes);
	for (uint32_t i = 0; i < fte->contexts.nb; i++)
		shca_dump_context(fte->contexts.user[i].object, i == 0 ? " of " : ", ", out);
	fputc('\n', out);
	shca_dump_match(fte, dump->conf, "    ");
}

static void
add_destinations(const struct shca_dump_conf *conf, const struct shca_fte *fte)
{
	shca_json_open(conf->json, "destinations", '[');
	for (uint32_t i = 0; i < fte->destinations.nb; i++) {
		struct shca_dump_tir description = { .number = 0 };
		const void *tir = fte->destinations.user[i].object;

		if (tir != NULL && conf->describe != NULL)
			conf->describe(tir, NULL, &description);
		shca_json_open(conf->json, NULL, '{');
		shca_json_number(conf->json, "tir", description.number);
		shca_dump_add_context(description.context, conf->json);
		shca_json_close(conf->json);
	}
	shca_json_close(conf->json);
	shca_json_open(conf->json, "counters", '[');
	for (uint32_t i = 0; i < fte->counters.nb; i++) {
		const struct shca_flow_counter *counter = fte->counters.user[i].object;

		shca_json_open(conf->json, NULL, '{');
		shca_json_number(conf->json, "packets", counter->packets);
		shca_json_number(conf->json, "bytes", counter->bytes);
		shca_json_close(conf->json);
	}
	shca_json_close(conf->json);
}

static void
add_fte(const struct dump *dump, const struct shca_table *table, const struct shca_fte *fte)
{
	struct shca_json *json = dump->conf->json;
	char action[SHCA_DUMP_ACTION_MAX];

	shca_dump_action(table, fte, action);
	shca_json_open(json, NULL, '{');
	shca_json_number(json, "index", fte->index);
	shca_json_string(json, "action", "%s", action);
	add_destinations(dump->conf, fte);
	shca_json_bool(json, "next", table->dont_trap && !fte->drop);
	if (table->layout->to_netdev)
		shca_json_bool(json, "netdev", !fte->drop);
	shca_json_number(json, "tag", fte->flow_tag);
	shca_json_number(json, "packets", fte->packets);
	shca_json_number(json, "bytes", fte->bytes);
	shca_json_open(json, "contexts", '[');
	for (uint32_t i = 0; i < fte->contexts.nb; i++) {
		shca_json_open(json, NULL, '{');
		shca_dump_add_context(fte->contexts.user[i].object, json);
		shca_json_number(json, "rules", fte->contexts.user[i].nb_rules);
		shca_json_close(json);
	}
	shca_json_close(json);
	shca_dump_match(fte, dump->conf, "");
	shca_json_close(json);
}

/** Name the parts of the match criteria that have @p fields. */
static void
name_parts(uint64_t fields, char *text, size_t size)
{
	unsigned int parts = 0;
	size_t length = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < shca_field_nb_rows; i++)
		if (fields >> i & 1)
			parts |= 1u << shca_field_rows[i].part;
	for (unsigned int i = 0; i < SHCA_FIELD_NB_PARTS && length < size; i++)
		if (parts >> i & 1)
			length += (size_t)snprintf(text + length, size - length, "%s%s",
				length == 0 ? "" : "|", shca_field_part_name(i));
}

static void
dump_groups(const struct dump *dump, const struct shca_table *table,
	const struct shca_idtable *groups, unsigned int *number)
{
	struct shca_json *json = dump->conf->json;
	const struct shca_group *group;

	for (uint32_t id = 0; (group = shca_idtable_next(groups, &id)) != NULL; id++) {
		const struct shca_fte *fte;
		char parts[FIELD_TEXT_MAX];

		name_parts(group->subtable->fields, parts, sizeof(parts));
		if (json != NULL) {
			shca_json_open(json, NULL, '{');
			shca_json_number(json, "group", *number);
			shca_json_string(json, "criteria", "%s", parts);
			shca_json_open(json, "entries", '[');
		} else {
			fprintf(dump->conf->out, "|-- FG: 0x%x (%s)\n", *number, parts);
		}
		++*number;
		for (uint32_t i = 0; (fte = shca_idtable_next(&group->ftes, &i)) != NULL; i++)
			if (json != NULL)
				add_fte(dump, table, fte);
			else
				print_fte(dump, table, fte);
		if (json != NULL) {
			shca_json_close(json);
			shca_json_close(json);
		}
	}
}

static void
dump_table(const struct shca_table *table, void *arg)
{
	struct dump *dump = arg;
	struct shca_json *json = dump->conf->json;
	unsigned int number = 0;

	if (json != NULL) {
		shca_json_open(json, NULL, '{');
		shca_json_number(json, "table", dump->nb_tables);
		shca_json_number(json, "level", table->level);
		shca_json_string(json, "type", "%s", table->layout->type);
		if (table->layout->owner != NULL)
			shca_json_string(json, "owner", "%s", table->layout->owner);
		shca_json_open(json, "groups", '[');
	} else {
		fprintf(dump->conf->out, "FT: 0x%x (level: 0x%" PRIx32 ", type: %s%s%s)\n",
			dump->nb_tables, table->level, table->layout->type,
			table->layout->owner != NULL ? ", owner: " : "",
			table->layout->owner != NULL ? table->layout->owner : "");
	}
	dump->nb_tables++;
	dump_groups(dump, table, &table->big, &number);
	dump_groups(dump, table, &table->single, &number);
	if (json != NULL) {
		shca_json_close(json);
		shca_json_close(json);
	}
}

void
shca_dump_tables(const struct shca_steering *steering, const struct shca_dump_conf *conf)
{
	struct dump dump = { .conf = conf };

	if (conf->json != NULL)
		shca_json_open(conf->json, "tables", '[');
	shca_steering_visit(steering, dump_table, &dump);
	if (conf->json != NULL)
		shca_json_close(conf->json);
}

void
shca_steering_dump(const struct shca_steering *steering, FILE *out)
{
	const struct shca_dump_conf conf = { .out = out };

	shca_dump_tables(steering, &conf);
}

struct search {
	const struct shca_table *table;
	unsigned int nb_before;
	bool is_found;
};

static void
search_table(const struct shca_table *table, void *arg)
{
	struct search *search = arg;

	search->is_found |= table == search->table;
	search->nb_before += !search->is_found;
}

unsigned int
shca_dump_table_number(const struct shca_steering *steering, const struct shca_table *table)
{
	struct search search = { .table = table };

	shca_steering_visit(steering, search_table, &search);
	return search.nb_before;
}
