/* SPDX-License-Identifier: BSD-3-Clause */
/* rxtx-bench: options, the rounds of each case, and the table. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <valgrind/callgrind.h>

#include "bench.h"

#define ROUNDS_MAX 1001u

static const char usage[] =
	"usage: rxtx-bench EAL-OPTIONS -- --ours NAME --theirs NAME [OPTIONS]\n"
	"  --rounds N        rounds of each case, the median counts (51)\n"
	"  --only TEXT       cases whose name has TEXT in it\n"
	"  --all             cases in all shapes, not only those that vary one thing\n"
	"  --freeze COMMAND  stops the device before the bursts\n"
	"  --thaw COMMAND    lets it go on\n"
	"  --bare BYTES      what the cache lines of packets take without a driver, too, where so many\n"
	"                    bytes complete a received one\n"
	"  --copies          and packets lie in strides, or are copied into WQEs\n"
	"  --instructions    under callgrind: one dump a case and port, named CASE/PORT\n"
	"  --steps           instead of ticks, instructions counted by stepping through them\n"
	"  --trace DIRECTORY with --steps: a file of each case and port with its instructions\n"
	"  --count DIRECTORY instead of ticks: a file of each case and port with what the device counts\n"
	"  --begin COMMAND   has it begin to count, from zero\n"
	"  --device COMMAND  whose output goes into the files\n"
	"  --json FILE       the table as JSON\n";

static struct {
	const char *ports[BENCH_PORTS]; /* names of devices */
	unsigned int nb_ports;
	unsigned int rounds;
	const char *only, *json;
	bool instructions, steps, all;
	struct bench_bare bare; /**< not measured without bytes of a completion */
} options = { .rounds = 51 };

static bool
options_fit(void)
{
	/* Without a driver there is time only. */
	const bool has_time = !options.instructions && !options.steps && bench_count == NULL;

	return options.nb_ports != 0 && options.ports[0] != NULL && options.rounds != 0 &&
		(options.bare.cqe_bytes == 0 || has_time);
}

static int
options_parse(int argc, char **argv)
{
	static const struct option names[] = { { "ours", 1, NULL, 'o' }, { "theirs", 1, NULL, 't' },
		{ "rounds", 1, NULL, 'r' }, { "only", 1, NULL, 'c' }, { "freeze", 1, NULL, 'f' },
		{ "thaw", 1, NULL, 'w' }, { "bare", 1, NULL, 'l' }, { "copies", 0, NULL, 'p' },
		{ "instructions", 0, NULL, 'i' }, { "steps", 0, NULL, 's' },
		{ "trace", 1, NULL, 'd' }, { "device", 1, NULL, 'q' }, { "count", 1, NULL, 'n' },
		{ "begin", 1, NULL, 'b' }, { "all", 0, NULL, 'a' }, { "json", 1, NULL, 'j' },
		{ NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'o':
			options.ports[0] = optarg;
			options.nb_ports = RTE_MAX(options.nb_ports, 1u);
			break;
		case 't':
			options.ports[1] = optarg;
			options.nb_ports = 2;
			break;
		case 'r':
			options.rounds = RTE_MIN((unsigned int)atoi(optarg), ROUNDS_MAX);
			break;
		case 'c':
			options.only = optarg;
			break;
		case 'f':
			bench_freeze = optarg;
			break;
		case 'w':
			bench_thaw = optarg;
			break;
		case 'l':
			options.bare.cqe_bytes = (unsigned int)atoi(optarg);
			break;
		case 'p':
			options.bare.copies = true;
			break;
		case 'i':
			options.instructions = true;
			break;
		case 's':
			options.steps = bench_steps = true;
			break;
		case 'd':
			bench_trace = optarg;
			break;
		case 'n':
			bench_count = optarg;
			break;
		case 'b':
			bench_begin = optarg;
			break;
		case 'q':
			bench_device = optarg;
			break;
		case 'a':
			options.all = true;
			break;
		case 'j':
			options.json = optarg;
			break;
		default:
			return -EINVAL;
		}
	}
	return optind == argc && options_fit() ? 0 : -EINVAL;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** Run round number @p r of a port. @param overhead of a measurement @param ticks a packet */
static int
port_run(struct bench_port *port, const struct bench_case *how, unsigned int r, uint64_t overhead,
	double *ticks)
{
	struct bench_round round = { 0 };
	char name[128];
	int ret;

	/* A step is a signal, which is dear: what warms up needs none. */
	if (bench_trace != NULL)
		bench_steps = options.steps && r == options.rounds - 1;
	bench_trace_clear();
	ret = bench_round(port, how, &round);
	if (ret != 0)
		return ret;
	*ticks = (double)(round.ticks - overhead * (round.packets / how->burst)) / round.packets;
	if (bench_trace != NULL && r == options.rounds - 1)
		ret = bench_trace_write(port, how, round.packets);
	/* The first round warms up. */
	if (options.instructions && r == 0)
		CALLGRIND_ZERO_STATS;
	if (options.instructions && r > 0) {
		snprintf(name, sizeof(name), "%s/%u/%" PRIu64, how->name, port->nth, round.packets);
		CALLGRIND_DUMP_STATS_AT(name);
	}
	return ret;
}

/** Start the ports of a case, and one without a driver if the case has it. @return their
 * number, or a negative errno */
static int
ports_start(struct bench_port *ports, const struct bench_case *how)
{
	struct bench_port *bare = &ports[options.nb_ports];
	int ret = 0;

	for (unsigned int p = 0; p < options.nb_ports && ret == 0; p++)
		ret = bench_port_start(&ports[p], how);
	if (ret != 0)
		return ret;
	ret = options.bare.cqe_bytes != 0 && how->nb_lcores == 0
		? bench_bare_start(bare, how, &options.bare)
		: -ENOTSUP;
	if (ret == -ENOTSUP)
		return (int)options.nb_ports;
	return ret == 0 ? (int)options.nb_ports + 1 : ret;
}

/** Run all rounds of a case, with the ports in turn. @param medians ticks a packet, negative: not
 * supported, or not measured */
static int
case_run(struct bench_port *ports, const struct bench_case *how, double *medians)
{
	static double ticks[BENCH_PORTS + 1][ROUNDS_MAX];
	/* Before all rounds: callgrind counts it until it begins from zero. */
	const uint64_t overhead = bench_trace != NULL ? 0 : bench_round_overhead();
	const int nb = ports_start(ports, how);
	int ret = RTE_MIN(nb, 0);

	for (int p = 0; p <= BENCH_PORTS; p++)
		medians[p] = -1;
	for (unsigned int r = 0; r < options.rounds && ret == 0; r++)
		for (int p = 0; p < nb && ret == 0; p++)
			ret = port_run(&ports[p], how, r, overhead, &ticks[p][r]);
	for (int p = 0; p < nb && ret == 0; p++) {
		qsort(ticks[p], options.rounds, sizeof(ticks[p][0]), compare);
		medians[p] = ticks[p][options.rounds / 2];
	}
	for (unsigned int p = 0; p < options.nb_ports; p++)
		bench_port_stop(&ports[p]);
	bench_bare_stop(&ports[options.nb_ports]);
	return ret == -ENOTSUP ? 0 : ret;
}

static void
json_row(FILE *json, bool first, const char *name, const char *peer, const double *medians)
{
	fprintf(json, "%s\n  {\"case\": \"%s\", \"peer\": \"%s\", \"ours\": %.2f, \"theirs\": %.2f",
		first ? "" : ",", name, peer, medians[0], medians[1]);
	if (medians[0] > 0 && medians[1] > 0)
		fprintf(json, ", \"ratio\": %.3f", medians[0] / medians[1]);
	if (medians[options.nb_ports] > 0)
		fprintf(json, ", \"bare\": %.2f", medians[options.nb_ports]);
	fprintf(json, "}");
}

/** @return whether the case is wanted, and can be measured. */
static bool
is_wanted(const struct bench_case *how)
{
	if (options.only != NULL && strstr(how->name, options.only) == NULL)
		return false;
	/* With several lcores the waiting would be counted. */
	return !(options.instructions || options.steps || bench_count != NULL) ||
		how->nb_lcores == 0;
}

static int
cases_run(struct bench_port *ports, FILE *json)
{
	const struct bench_case *cases;
	const unsigned int nb_cases = bench_cases(options.all, &cases);
	unsigned int nb_wanted = 0;
	bool first = true;
	int ret = 0;

	for (unsigned int i = 0; i < nb_cases; i++)
		nb_wanted += is_wanted(&cases[i]);
	printf("%u cases\n%-32s %10s %10s %7s   %s a packet\n", nb_wanted, "case", "ours", "theirs",
		"ratio", options.steps ? "instructions" : "TSC ticks");
	fflush(stdout);
	for (unsigned int i = 0; i < nb_cases && ret == 0; i++) {
		const struct bench_case *how = &cases[i];
		double medians[BENCH_PORTS + 1];

		if (!is_wanted(how))
			continue;
		ret = case_run(ports, how, medians);
		if (ret != 0)
			break;
		printf("%-32s %10.1f %10.1f %7.2f\n", how->name, medians[0], medians[1],
			medians[0] > 0 && medians[1] > 0 ? medians[0] / medians[1] : 0);
		fflush(stdout);
		if (json != NULL)
			json_row(json, first, how->name,
				ports[1].driver != NULL ? ports[1].driver : "", medians);
		first = false;
	}
	return ret;
}

int
main(int argc, char **argv)
{
	struct bench_port ports[BENCH_PORTS + 1] = { 0 };
	FILE *json = NULL;
	int ret = rte_eal_init(argc, argv);

	if (ret < 0)
		return 1;
	if (options_parse(argc - ret, argv + ret) != 0) {
		fputs(usage, stderr);
		return 2;
	}
	ret = bench_steps ? bench_step_init() : 0;
	if (ret != 0) {
		fprintf(stderr, "rxtx-bench: no single steps: %s\n", rte_strerror(-ret));
		return 1;
	}
	for (unsigned int p = 0; p < options.nb_ports; p++) {
		ports[p].nth = p;
		if (options.ports[p] == NULL ||
			rte_eth_dev_get_port_by_name(options.ports[p], &ports[p].id) != 0) {
			fprintf(stderr, "rxtx-bench: there is no port %s\n", options.ports[p]);
			return 2;
		}
	}
	if (options.json != NULL) {
		json = fopen(options.json, "w");
		if (json == NULL) {
			perror(options.json);
			return 1;
		}
		fprintf(json, "[");
	}
	ret = cases_run(ports, json);
	if (json != NULL) {
		fprintf(json, "\n]\n");
		fclose(json);
	}
	for (unsigned int p = 0; p < options.nb_ports; p++)
		rte_eth_dev_close(ports[p].id);
	rte_eal_cleanup();
	return ret == 0 ? 0 : 1;
}
