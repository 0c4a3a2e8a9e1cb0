/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables as text, in the form of Mellanox's mlx_fs_dump. */
#include <inttypes.h>
#include <stdio.h>

#include "steering/state.h"
#include "steering/steering.h"

struct dump {
	FILE *out;
	unsigned int nb_tables;
};

static void
dump_destinations(FILE *out, const struct shca_table *table, const struct shca_fte *fte)
{
	const char *separator = "";

	for (uint32_t i = 0; i < fte->destinations.nb; i++) {
		fprintf(out, "%sTIR:%p", separator, fte->destinations.user[i].object);
		separator = ", ";
	}
	for (uint32_t i = 0; i < fte->counters.nb; i++) {
		fprintf(out, "%sCOUNTER:%p", separator, fte->counters.user[i].object);
		separator = ", ";
	}
	if (table->dont_trap && !fte->drop)
		fprintf(out, "%sFT:next", separator);
}

/** A sending entry that does not drop allows; the device sends to the wire then. */
static const char *
action_name(const struct shca_fte *fte)
{
	if (fte->drop)
		return "DROP";
	return fte->destinations.nb > 0 ? "FWD" : "ALLOW";
}

static void
dump_fte(const struct dump *dump, const struct shca_table *table, const struct shca_fte *fte)
{
	const struct shca_shape *shape = fte->group->shape;
	struct shca_match match = { .mask = shape->mask };

	shca_shape_value(shape, fte, &match.value);
	fprintf(dump->out, "  |-- FTE: 0x%" PRIx32 " (%s) to (", fte->index, action_name(fte));
	dump_destinations(dump->out, table, fte);
	fprintf(dump->out, ")");
	if (fte->flow_tag != 0)
		fprintf(dump->out, " tag:0x%" PRIx32, fte->flow_tag);
	fprintf(dump->out, " packets:%" PRIu64 " bytes:%" PRIu64 "\n", fte->packets, fte->bytes);
	for (unsigned int i = 0; i < shca_field_nb_rows; i++) {
		const struct shca_field *row = &shca_field_rows[i];

		if (!(shape->fields >> i & 1))
			continue;
		fprintf(dump->out, "    |-- ");
		row->print(dump->out, row, &match);
		fputc('\n', dump->out);
	}
}

static void
dump_halves(FILE *out, uint64_t fields)
{
	unsigned int halves = 0;
	const char *separator = "";

	for (unsigned int i = 0; i < shca_field_nb_rows; i++)
		if (fields >> i & 1)
			halves |= 1u << shca_field_rows[i].half;
	for (unsigned int i = 0; i < SHCA_FIELD_NB_HALVES; i++) {
		if (!(halves >> i & 1))
			continue;
		fprintf(out, "%s%s", separator, shca_field_half_name(i));
		separator = "|";
	}
}

static void
dump_groups(const struct dump *dump, const struct shca_table *table,
	const struct shca_idtable *groups, unsigned int *number)
{
	const struct shca_group *group;

	for (uint32_t id = 0; (group = shca_idtable_next(groups, &id)) != NULL; id++) {
		const struct shca_fte *fte;

		fprintf(dump->out, "|-- FG: 0x%x (", (*number)++);
		dump_halves(dump->out, group->shape->fields);
		fprintf(dump->out, ")\n");
		for (uint32_t i = 0; (fte = shca_idtable_next(&group->ftes, &i)) != NULL; i++)
			dump_fte(dump, table, fte);
	}
}

static void
dump_table(const struct shca_table *table, void *arg)
{
	struct dump *dump = arg;
	unsigned int number = 0;

	fprintf(dump->out, "FT: 0x%x (level: 0x%" PRIx32 ", type: %s)\n", dump->nb_tables++,
		table->level, table->layout->type);
	dump_groups(dump, table, &table->big, &number);
	dump_groups(dump, table, &table->single, &number);
}

void
shca_steering_dump(const struct shca_steering *steering, FILE *out)
{
	struct dump dump = { .out = out };

	shca_steering_visit(steering, dump_table, &dump);
}
