/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a column, one row a list. */
#include "top/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CELL_MAX 400
#define LINE_MAX 1000
/** Of a column that grows. */
#define WIDTH_MAX   40
#define COLUMNS_MAX 16

struct column {
	const char *title;
	int width; /* negative: to the left; 0: to the left, the last one */
	void (*print)(const struct app_row *row, char *cell);
};

static void __attribute__((format(printf, 2, 3))) put(char *cell, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cell[0] = '\0';
	shca_text_vappend(cell, CELL_MAX, format, args);
	va_end(args);
}

/** In at most six characters. */
static void
put_rate(char *cell, double rate)
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	if (rate < 99999.5) {
		put(cell, "%.0f", rate);
		return;
	}
	for (; rate >= 999.95 && units[unit + 1] != '\0'; unit++)
		rate /= 1000;
	put(cell, "%.1f%c", rate, units[unit]);
}

#define RATE(name, count)                                                                          \
	static void print_##name(const struct app_row *row, char *cell)                            \
	{                                                                                          \
		put_rate(cell, row->rate[count]);                                                  \
	}
#define MEGABITS(name, count)                                                                      \
	static void print_##name(const struct app_row *row, char *cell)                            \
	{                                                                                          \
		put(cell, "%.1f", row->rate[count] * 8e-6);                                        \
	}
#define TOTAL(name, count)                                                                         \
	static void print_##name(const struct app_row *row, char *cell)                            \
	{                                                                                          \
		put(cell, "%" PRIu64, row->total[count]);                                          \
	}
#define MEMBER(name, key)                                                                          \
	static void print_##name(const struct app_row *row, char *cell)                            \
	{                                                                                          \
		put(cell, "%s", app_tree_text(row->tree, key));                                    \
	}

RATE(rx_rate, APP_SAMPLE_RX)
RATE(tx_rate, APP_SAMPLE_TX)
RATE(lost_rate, APP_SAMPLE_LOST)
RATE(netdev_rate, APP_SAMPLE_NETDEV)
RATE(unwanted_rate, APP_SAMPLE_UNWANTED)
MEGABITS(rx_mbits, APP_SAMPLE_RX_BYTES)
MEGABITS(tx_mbits, APP_SAMPLE_TX_BYTES)
TOTAL(rx, APP_SAMPLE_RX)
TOTAL(tx, APP_SAMPLE_TX)
TOTAL(lost, APP_SAMPLE_LOST)
TOTAL(errors, APP_SAMPLE_ERRORS)
MEMBER(model, "model")
MEMBER(link, "link")
MEMBER(state, "state")
MEMBER(action, "action")

static void
print_device(const struct app_row *row, char *cell)
{
	put(cell, "%s%smlx5_%u", row->card, row->card[0] != '\0' ? ":" : "", row->port);
}

static void
print_netdev(const struct app_row *row, char *cell)
{
	const char *name = app_tree_text(row->tree, "netdev");

	put(cell, "%s", name[0] != '\0' ? name : "-");
}

static void
print_pid(const struct app_row *row, char *cell)
{
	put(cell, row->pid != 0 ? "%d" : "-", (int)row->pid);
}

static void
print_comm(const struct app_row *row, char *cell)
{
	put(cell, "%s%s", row->pid == 0 && row->comm[0] != '\0' ? "netdev " : "", row->comm);
}

static void
print_contexts(const struct app_row *row, char *cell)
{
	put(cell, "%u", row->nb_contexts);
}

static void
print_queues(const struct app_row *row, char *cell)
{
	put(cell, "%u", row->nb_queues);
}

static void
print_queue(const struct app_row *row, char *cell)
{
	put(cell, "%s 0x%" PRIx64, app_tree_text(row->tree, "kind"),
		app_tree_number(row->tree, "number"));
}

static void
print_fill(const struct app_row *row, char *cell)
{
	put(cell, "%" PRIu64 "/%" PRIu64, app_tree_number(row->tree, "fill"),
		app_tree_number(row->tree, "size"));
}

static void
print_number(const struct app_row *row, char *cell)
{
	put(cell, "%zu", row->number);
}

static void
print_table(const struct app_row *row, char *cell)
{
	const char *owner = app_tree_text(row->table, "owner");

	put(cell, "%s 0x%" PRIx64, owner[0] != '\0' ? owner : app_tree_text(row->table, "type"),
		app_tree_number(row->table, "level"));
}

/** The processes that have it, and whether others get the frame, too. */
static void
print_who(const struct app_row *row, char *cell)
{
	const char *separator = "";

	cell[0] = '\0';
	for (const struct app_tree *of = app_tree_elements(row->tree, "contexts"); of != NULL;
		of = of->next) {
		shca_text_append(cell, CELL_MAX, "%s%" PRIu64 " %s", separator,
			app_tree_number(of, "pid"), app_tree_text(of, "comm"));
		separator = ", ";
	}
	if (app_tree_number(row->tree, "netdev") != 0)
		shca_text_append(cell, CELL_MAX, "%snetdev", separator);
	else if (app_tree_number(row->tree, "next") != 0)
		shca_text_append(cell, CELL_MAX, "%snext", separator);
}

static void
print_match(const struct app_row *row, char *cell)
{
	cell[0] = '\0';
	for (const struct app_tree *field = app_tree_elements(row->tree, "match"); field != NULL;
		field = field->next)
		shca_text_append(cell, CELL_MAX, "%s%s:%s", cell[0] != '\0' ? " " : "", field->key,
			field->text != NULL ? field->text : "");
	if (cell[0] == '\0')
		put(cell, "(all)");
}

/* clang-format off */
static const struct column port_columns[] = {
	{ "DEVICE", -12, print_device }, { "MODEL", -7, print_model }, { "LINK", -4, print_link },
	{ "NETDEV", -12, print_netdev }, { "RX/s", 7, print_rx_rate }, { "Mbit/s", 8, print_rx_mbits },
	{ "TX/s", 7, print_tx_rate }, { "Mbit/s", 8, print_tx_mbits }, { "NETDEV/s", 8, print_netdev_rate },
	{ "NOBODY/s", 8, print_unwanted_rate }, { "LOST/s", 7, print_lost_rate }, { "RX", 11, print_rx },
	{ "TX", 11, print_tx }, { "LOST", 9, print_lost }, { NULL },
}, user_columns[] = {
	{ "PID", -8, print_pid }, { "COMMAND", -19, print_comm }, { "DEVICE", -12, print_device },
	{ "RX/s", 7, print_rx_rate }, { "Mbit/s", 8, print_rx_mbits }, { "TX/s", 7, print_tx_rate },
	{ "Mbit/s", 8, print_tx_mbits }, { "LOST/s", 7, print_lost_rate }, { "RX", 11, print_rx },
	{ "TX", 11, print_tx }, { "LOST", 9, print_lost }, { "CTX", 4, print_contexts },
	{ "QUEUES", 6, print_queues }, { NULL },
}, queue_columns[] = {
	{ "QUEUE", -9, print_queue }, { "STATE", -6, print_state }, { "FILL", 11, print_fill },
	{ "PKT/s", 7, print_rx_rate }, { "Mbit/s", 8, print_rx_mbits }, { "LOST/s", 7, print_lost_rate },
	{ "PACKETS", 11, print_rx }, { "LOST", 9, print_lost }, { "ERRORS", 7, print_errors },
	{ "DEVICE", -12, print_device }, { "PID", -8, print_pid }, { "COMMAND", 0, print_comm }, { NULL },
}, rule_columns[] = {
	{ "RULE", 5, print_number }, { "DEVICE", -12, print_device }, { "TABLE", -13, print_table },
	{ "HITS/s", 7, print_rx_rate }, { "Mbit/s", 8, print_rx_mbits }, { "HITS", 11, print_rx },
	{ "ACTION", -8, print_action }, { "WHO", -24, print_who }, { "MATCH", 0, print_match }, { NULL },
};
/* clang-format on */

static const struct column *const columns[APP_SAMPLE_KINDS] = {
	[APP_SAMPLE_PORTS] = port_columns,
	[APP_SAMPLE_USERS] = user_columns,
	[APP_SAMPLE_QUEUES] = queue_columns,
	[APP_SAMPLE_RULES] = rule_columns,
};

static int
compare_uint64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_number(const void *left, const void *right)
{
	const struct app_row *a = left, *b = right;

	return compare_uint64(a->number, b->number);
}

static int
compare_total(const void *left, const void *right)
{
	const struct app_row *a = left, *b = right;
	const int ret = compare_uint64(b->total[APP_SAMPLE_RX] + b->total[APP_SAMPLE_TX],
		a->total[APP_SAMPLE_RX] + a->total[APP_SAMPLE_TX]);

	return ret != 0 ? ret : compare_number(a, b);
}

static int
compare_rate(const void *left, const void *right)
{
	const struct app_row *a = left, *b = right;
	const double of_a = a->rate[APP_SAMPLE_RX] + a->rate[APP_SAMPLE_TX];
	const double of_b = b->rate[APP_SAMPLE_RX] + b->rate[APP_SAMPLE_TX];

	return of_a != of_b ? (of_a < of_b) - (of_a > of_b) : compare_total(a, b);
}

static int
compare_lost(const void *left, const void *right)
{
	const struct app_row *a = left, *b = right;
	const int ret = compare_uint64(b->total[APP_SAMPLE_LOST], a->total[APP_SAMPLE_LOST]);

	return ret != 0 ? ret : compare_number(a, b);
}

static int
compare_process(const void *left, const void *right)
{
	const struct app_row *a = left, *b = right;
	const int ret = (a->pid > b->pid) - (a->pid < b->pid);

	return ret != 0 ? ret : compare_number(a, b);
}

static const struct {
	const char *name;
	int (*compare)(const void *left, const void *right);
} orders[APP_VIEW_ORDERS] = {
	[APP_VIEW_NUMBER] = { "number", compare_number },
	[APP_VIEW_RATE] = { "rate", compare_rate },
	[APP_VIEW_TOTAL] = { "total", compare_total },
	[APP_VIEW_LOST] = { "losses", compare_lost },
	[APP_VIEW_PROCESS] = { "process", compare_process },
};

const char *
app_view_order_name(enum app_view_order order)
{
	return orders[order].name;
}

void
app_view_sort(const struct app_view *view, struct app_sample *sample)
{
	for (unsigned int i = 0; i < APP_SAMPLE_KINDS; i++)
		if (sample->list[i].nb != 0)
			qsort(sample->list[i].row, sample->list[i].nb, sizeof(struct app_row),
				orders[view->order].compare);
}

/** @return the place of the marked rule; 0 if it has gone. */
static size_t
selected(const struct app_view *view, const struct app_list *rules)
{
	for (size_t i = 0; i < rules->nb; i++)
		if (strcmp(rules->row[i].key, view->selected) == 0)
			return i;
	return 0;
}

const struct app_row *
app_view_select(struct app_view *view, const struct app_sample *sample, int by)
{
	const struct app_list *rules = &sample->list[APP_SAMPLE_RULES];
	size_t at = selected(view, rules);

	if (rules->nb == 0)
		return NULL;
	if (by < 0)
		at = at > (size_t)-by ? at - (size_t)-by : 0;
	else
		at = at + (size_t)by < rules->nb ? at + (size_t)by : rules->nb - 1;
	strcpy(view->selected, rules->row[at].key);
	return &rules->row[at];
}

void
app_view_line(const struct app_view *view, const char *text, bool mark, FILE *out)
{
	const size_t length = strlen(text);
	const size_t cut = view->width != 0 && length > view->width ? view->width : length;

	if (view->is_live)
		fprintf(out, "%s%.*s%s\033[K\r\n", mark ? "\033[7m" : "", (int)cut, text,
			mark ? "\033[m" : "");
	else
		fprintf(out, "%.*s\n", (int)cut, text);
}

static void
fill_cell(const struct column *column, const struct app_row *row, char *cell)
{
	if (row == NULL)
		put(cell, "%s", column->title);
	else
		column->print(row, cell);
}

/** A column is as wide as its widest cell, within bounds. */
static int
width_of(const struct column *column, const struct app_row *rows, size_t nb)
{
	const int least = column->width < 0 ? -column->width : column->width;
	char cell[CELL_MAX];
	int width = least;

	for (size_t i = 0; i < nb && column->width < 0; i++) {
		int length;

		column->print(&rows[i], cell);
		length = (int)strlen(cell);
		if (length > width)
			width = length < WIDTH_MAX ? length : WIDTH_MAX;
	}
	return column->width < 0 ? -width : width;
}

/** Print the cells of a row; NULL: the titles. */
static void
print_cells(const struct app_view *view, const struct column *column, const int *widths,
	const struct app_row *row, bool mark, FILE *out)
{
	char line[LINE_MAX] = "", cell[CELL_MAX];
	size_t length;

	for (unsigned int i = 0; column[i].title != NULL; i++) {
		fill_cell(&column[i], row, cell);
		shca_text_append(line, sizeof(line), "%s%*s", i != 0 ? "  " : "", widths[i], cell);
	}
	for (length = strlen(line); length != 0 && line[length - 1] == ' ';)
		line[--length] = '\0';
	app_view_line(view, line, mark, out);
}

static void
print_rows(const struct app_view *view, unsigned int kind, const struct app_row *rows, size_t nb,
	const struct app_row *mark, FILE *out)
{
	const struct column *column = columns[kind];
	int widths[COLUMNS_MAX];

	for (unsigned int i = 0; column[i].title != NULL; i++)
		widths[i] = width_of(&column[i], rows, nb);
	print_cells(view, column, widths, NULL, false, out);
	for (size_t i = 0; i < nb; i++)
		print_cells(view, column, widths, &rows[i], &rows[i] == mark, out);
}

/** Print a list in @p height lines, the title among them: of rules those around the marked one. */
static void
print_list(const struct app_view *view, const struct app_sample *sample, unsigned int kind,
	size_t height, FILE *out)
{
	const struct app_list *list = &sample->list[kind];
	const bool marks = view->is_live && kind == APP_SAMPLE_RULES;
	const size_t mark = marks ? selected(view, list) : 0;
	size_t nb = height - 1 < list->nb ? height - 1 : list->nb, first = 0;
	const bool is_cut = nb < list->nb && nb > 1;
	char text[64];

	if (is_cut)
		nb--; /* for the line that says so */
	if (mark >= nb)
		first = mark - nb + 1;
	print_rows(view, kind, &list->row[first], nb, marks ? &list->row[mark] : NULL, out);
	snprintf(text, sizeof(text), "... %zu more", list->nb - nb);
	if (is_cut)
		app_view_line(view, text, false, out);
}

/** Share out the lines: nobody gets more than it needs, and the smallest lists first what they
 * need. A list that would get its title alone gets nothing. */
static void
share(const struct app_sample *sample, size_t height, size_t shares[APP_SAMPLE_KINDS])
{
	size_t needs[APP_SAMPLE_KINDS], left = height;
	bool has_changed = true;

	for (unsigned int i = 0; i < APP_SAMPLE_KINDS; i++) {
		needs[i] = sample->list[i].nb != 0 ? sample->list[i].nb + 1 : 0;
		shares[i] = 0;
	}
	while (has_changed) {
		has_changed = false;
		for (unsigned int i = 0; i < APP_SAMPLE_KINDS; i++) {
			const size_t more = shares[i] == 0 ? 2 : 1;

			if (shares[i] + more > needs[i] || more > left)
				continue;
			shares[i] += more;
			left -= more;
			has_changed = true;
		}
	}
}

void
app_view_print(const struct app_view *view, const struct app_sample *sample, unsigned int height,
	FILE *out)
{
	size_t shares[APP_SAMPLE_KINDS];

	share(sample, height, shares);
	for (unsigned int i = 0; i < APP_SAMPLE_KINDS; i++)
		if (shares[i] != 0)
			print_list(view, sample, i, shares[i], out);
}
