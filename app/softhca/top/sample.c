/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/sample.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "ctl_client.h"

enum {
	STATS,
	DUMP
};

/** Where counters of a kind of rows are in ctl's answers. */
struct count_row {
	enum app_sample_count count;
	const char *key;
};

/* clang-format off */
static const struct count_row port_counts[] = {
	{ APP_SAMPLE_RX, "rx_frames" }, { APP_SAMPLE_RX_BYTES, "rx_bytes" },
	{ APP_SAMPLE_TX, "tx_frames" }, { APP_SAMPLE_TX_BYTES, "tx_bytes" },
	{ APP_SAMPLE_LOST, "out_of_buffer" }, { APP_SAMPLE_NETDEV, "rx_kernel" },
	{ APP_SAMPLE_UNWANTED, "rx_unwanted" }, { APP_SAMPLE_COUNTS, NULL },
}, queue_counts[] = {
	{ APP_SAMPLE_RX, "packets" }, { APP_SAMPLE_RX_BYTES, "bytes" },
	{ APP_SAMPLE_LOST, "out_of_buffer" }, { APP_SAMPLE_ERRORS, "errors" },
	{ APP_SAMPLE_COUNTS, NULL },
}, rule_counts[] = {
	{ APP_SAMPLE_RX, "packets" }, { APP_SAMPLE_RX_BYTES, "bytes" },
	{ APP_SAMPLE_COUNTS, NULL },
};
/* clang-format on */

/** Add a row; rows move when it does. @return NULL when out of memory. */
static struct app_row *
add_row(struct app_list *list, const struct app_row *row)
{
	struct app_row *more;

	/* The room doubles when it is full. */
	if ((list->nb & (list->nb - 1)) == 0) {
		more = reallocarray(
			list->row, list->nb == 0 ? 1 : list->nb * 2, sizeof(*list->row));
		if (more == NULL)
			return NULL;
		list->row = more;
	}
	more = &list->row[list->nb++];
	*more = *row;
	more->number = list->nb;
	return more;
}

static void
count(struct app_row *row, const struct count_row *counts)
{
	for (; counts->key != NULL; counts++)
		row->total[counts->count] = app_tree_number(row->tree, counts->key);
}

/** @return the row of a process on a port, which is made for its first context. */
static struct app_row *
find_user(struct app_list *users, const struct app_row *port, const struct app_tree *of)
{
	struct app_row new = {
		.card = port->card,
		.port = port->port,
		.at = port->at,
		.pid = (pid_t)app_tree_number(of, "pid"),
		.comm = app_tree_text(of, "comm"),
	};

	snprintf(new.key, sizeof(new.key), "%.64s/%u/%d", port->card, port->port, (int)new.pid);
	for (size_t i = 0; i < users->nb; i++)
		if (strcmp(users->row[i].key, new.key) == 0)
			return &users->row[i];
	return add_row(users, &new);
}

/** Add a queue to the list, and what it has to its process. */
static int
add_queue(struct app_sample *sample, const struct app_row *port, const struct app_tree *tree)
{
	const char *kind = app_tree_text(tree, "kind");
	const bool sends = strcmp(kind, "SQ") == 0, receives = strcmp(kind, "RQ") == 0;
	struct app_row queue = {
		.card = port->card,
		.port = port->port,
		.at = port->at,
		.pid = (pid_t)app_tree_number(tree, "pid"),
		.comm = app_tree_text(tree, "comm"),
		.tree = tree,
	};
	struct app_row *user;

	snprintf(queue.key, sizeof(queue.key), "%.64s/%u/%.2s/%" PRIu64, port->card, port->port,
		kind, app_tree_number(tree, "number"));
	count(&queue, queue_counts);
	if (add_row(&sample->list[APP_SAMPLE_QUEUES], &queue) == NULL)
		return -1;
	if (queue.pid == 0)
		return 0;
	user = find_user(&sample->list[APP_SAMPLE_USERS], port, tree);
	if (user == NULL)
		return -1;
	user->nb_queues++;
	user->total[APP_SAMPLE_LOST] += queue.total[APP_SAMPLE_LOST];
	user->total[sends ? APP_SAMPLE_TX : APP_SAMPLE_RX] +=
		sends || receives ? queue.total[APP_SAMPLE_RX] : 0;
	user->total[sends ? APP_SAMPLE_TX_BYTES : APP_SAMPLE_RX_BYTES] +=
		sends || receives ? queue.total[APP_SAMPLE_RX_BYTES] : 0;
	return 0;
}

/** The netdev is one that gets frames, too. */
static int
add_netdev(struct app_sample *sample, const struct app_row *port)
{
	struct app_row netdev = {
		.card = port->card,
		.port = port->port,
		.at = port->at,
		.comm = app_tree_text(port->tree, "netdev"),
		.total[APP_SAMPLE_RX] = port->total[APP_SAMPLE_NETDEV],
		.total[APP_SAMPLE_LOST] = app_tree_number(port->tree, "rx_kernel_lost"),
	};

	if (netdev.comm[0] == '\0')
		return 0;
	snprintf(netdev.key, sizeof(netdev.key), "%.64s/%u/netdev", port->card, port->port);
	return add_row(&sample->list[APP_SAMPLE_USERS], &netdev) != NULL ? 0 : -1;
}

static int
add_port(struct app_sample *sample, size_t at, const char *card, const struct app_tree *tree)
{
	struct app_row port = { .card = card, .at = at, .tree = tree };
	int ret = 0;

	(void)sscanf(app_tree_text(tree, "device"), "mlx5_%u", &port.port);
	snprintf(port.key, sizeof(port.key), "%.64s/%u", card, port.port);
	count(&port, port_counts);
	port.total[APP_SAMPLE_LOST] += app_tree_number(tree, "rx_kernel_lost");
	if (add_row(&sample->list[APP_SAMPLE_PORTS], &port) == NULL || add_netdev(sample, &port))
		return -1;
	for (const struct app_tree *context = app_tree_elements(tree, "contexts"); context != NULL;
		context = context->next) {
		struct app_row *user = find_user(&sample->list[APP_SAMPLE_USERS], &port, context);

		if (user == NULL)
			return -1;
		user->nb_contexts++;
	}
	for (const struct app_tree *queue = app_tree_elements(tree, "queues");
		queue != NULL && ret == 0; queue = queue->next)
		ret = add_queue(sample, &port, queue);
	return ret;
}

static int
add_rule(struct app_sample *sample, const struct app_row *table, const struct app_tree *entry)
{
	const struct app_tree *of = app_tree_elements(entry, "contexts");
	const struct app_tree *match = app_tree_find(entry, "match");
	struct app_row rule = *table;

	rule.tree = entry;
	if (of != NULL && of->next == NULL) {
		rule.pid = (pid_t)app_tree_number(of, "pid");
		rule.comm = app_tree_text(of, "comm");
	}
	/* The tables of aRFS have one level, and each a protocol of its own. */
	snprintf(rule.key, sizeof(rule.key),
		"%.48s/%u/%.12s/%.8s/%" PRIu64 "/%" PRIu64 "/%.13s/%.9s", rule.card, rule.port,
		app_tree_text(rule.table, "type"), app_tree_text(rule.table, "owner"),
		app_tree_number(rule.table, "level"), app_tree_number(entry, "index"),
		app_tree_text(match, "out.ethtype"), app_tree_text(match, "out.ip_prot"));
	count(&rule, rule_counts);
	return add_row(&sample->list[APP_SAMPLE_RULES], &rule) != NULL ? 0 : -1;
}

static int
add_rules(struct app_sample *sample, size_t at, const char *card, const struct app_tree *device)
{
	struct app_row row = { .card = card, .at = at, .comm = "" };
	int ret = 0;

	(void)sscanf(app_tree_text(device, "device"), "mlx5_%u", &row.port);
	for (row.table = app_tree_elements(device, "tables"); row.table != NULL;
		row.table = row.table->next)
		for (const struct app_tree *group = app_tree_elements(row.table, "groups");
			group != NULL; group = group->next)
			for (const struct app_tree *entry = app_tree_elements(group, "entries");
				entry != NULL && ret == 0; entry = entry->next)
				ret = add_rule(sample, &row, entry);
	return ret;
}

/** Take what a source says of its counters, and ask for its rules. @return 0; 1: it does not
 * answer, with a message in @p why; -1: no memory. */
static int
ask(struct app_sample *sample, const struct app_source *source, struct app_ctl_asked *stats,
	char **why)
{
	struct app_tree **tree = sample->tree[sample->sources.nb];
	char **text = sample->text[sample->sources.nb];
	char *dump = NULL;

	if (stats->ret != 0 || app_ctl_client_once(source->path, "dump --json", &dump) != 0) {
		free(*why);
		*why = stats->ret != 0 ? stats->text : dump;
		if (stats->ret == 0)
			free(stats->text);
		return 1;
	}
	text[STATS] = stats->text;
	text[DUMP] = dump;
	tree[STATS] = app_tree_parse(text[STATS]);
	tree[DUMP] = app_tree_parse(text[DUMP]);
	if (tree[STATS] == NULL || tree[DUMP] == NULL)
		return -1;
	sample->sources.source[sample->sources.nb++] = *source;
	return 0;
}

/** @return as ask() */
static int
ask_all(struct app_sample *sample, const struct app_sources *sources, char **why)
{
	struct app_ctl_asked stats[APP_SAMPLE_CARDS_MAX];
	int ret = 0;

	for (size_t i = 0; i < sources->nb; i++)
		stats[i].path = sources->source[i].path;
	app_ctl_client_all(stats, (unsigned int)sources->nb, "stats --json", NULL, NULL);
	for (size_t i = 0; i < sources->nb; i++)
		if (ret >= 0)
			ret = ask(sample, &sources->source[i], &stats[i], why);
		else
			free(stats[i].text);
	return ret;
}

static int
add_source(struct app_sample *sample, size_t at, const char *card)
{
	const struct app_tree *stats = sample->tree[at][STATS], *dump = sample->tree[at][DUMP];
	int ret = 0;

	sample->thread[at] = app_tree_text(stats, "thread");
	for (const struct app_tree *port = app_tree_elements(stats, "ports");
		port != NULL && ret == 0; port = port->next)
		ret = add_port(sample, at, card, port);
	for (const struct app_tree *device = dump->first; device != NULL && ret == 0;
		device = device->next)
		ret = add_rules(sample, at, card, device);
	return ret;
}

static int
compare_keys(const void *left, const void *right)
{
	const struct app_row *const *a = left, *const *b = right;

	return strcmp((*a)->key, (*b)->key);
}

/** @return the rows by key, which the caller frees, or NULL. */
static const struct app_row **
by_key(const struct app_list *list)
{
	const struct app_row **rows = calloc(list->nb + 1, sizeof(*rows));

	for (size_t i = 0; rows != NULL && i < list->nb; i++)
		rows[i] = &list->row[i];
	if (rows != NULL)
		qsort(rows, list->nb, sizeof(*rows), compare_keys);
	return rows;
}

static void
set_rates(const struct app_list *list, const struct app_list *before, double seconds)
{
	const struct app_row **rows = by_key(before);

	for (size_t i = 0; rows != NULL && i < list->nb; i++) {
		const struct app_row *key = &list->row[i];
		const struct app_row **was =
			bsearch(&key, rows, before->nb, sizeof(*rows), compare_keys);

		for (unsigned int j = 0; was != NULL && j < APP_SAMPLE_COUNTS; j++)
			if (list->row[i].total[j] > (*was)->total[j])
				list->row[i].rate[j] =
					(double)(list->row[i].total[j] - (*was)->total[j]) /
					seconds;
	}
	free(rows);
}

static double
now(void)
{
	return (double)shca_clock_ns() * 1e-9;
}

struct app_sample *
app_sample_take(const struct app_sources *sources, const struct app_sample *before, char **why)
{
	struct app_sample *sample = calloc(1, sizeof(*sample));
	int ret;

	*why = NULL;
	ret = sample != NULL ? ask_all(sample, sources, why) : -1;
	for (size_t i = 0; ret >= 0 && i < sample->sources.nb; i++)
		ret = add_source(sample, i, sources->nb > 1 ? sample->sources.source[i].name : "");
	if (ret < 0) {
		app_sample_free(sample);
		return NULL;
	}
	sample->seconds = now();
	for (unsigned int i = 0; before != NULL && i < APP_SAMPLE_KINDS; i++)
		set_rates(&sample->list[i], &before->list[i], sample->seconds - before->seconds);
	return sample;
}

void
app_sample_free(struct app_sample *sample)
{
	if (sample == NULL)
		return;
	for (unsigned int i = 0; i < APP_SAMPLE_CARDS_MAX; i++)
		for (unsigned int j = 0; j < 2; j++) {
			free(sample->text[i][j]);
			free(sample->tree[i][j]);
		}
	for (unsigned int i = 0; i < APP_SAMPLE_KINDS; i++)
		free(sample->list[i].row);
	free(sample);
}
