/* SPDX-License-Identifier: BSD-3-Clause */
/* mlx5dv-check: options, the question, and the rows one after the other. */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "check.h"

#define EAL_ARGS_MAX 64

static const char usage[] =
	"usage: mlx5dv-check --ibdev NAME --peer NAME [OPTIONS] [-- EAL-OPTIONS]\n"
	"       mlx5dv-check --ibdev NAME --model FILE\n"
	"  --ibdev NAME     the port in question, by its verbs device: mlx5_0, of several mlx5_0/4\n"
	"  --peer NAME      the other end of its cable: likewise, or any netdev of Linux: netdev:eth1\n"
	"  --devargs TEXT   further arguments of the driver for both: mode=ibv\n"
	"  --packets N      packets of the rows that count them (100000)\n"
	"  --patience MS    what a frame may take (2000)\n"
	"  --only TEXT      rows whose name has TEXT in it\n"
	"  --json FILE      the report as JSON, too\n"
	"  --model FILE     write what the device can do; without --peer, that is all\n"
	"  --yes            do not ask before traffic is taken from Linux\n"
	"  --list           name the rows and what they show, and end\n"
	"Exit status: 0, 1: a row failed, 2: nothing could be checked, 128 + N: signal N ended it.\n";

static const struct check_row *const tables[] = {
	check_rows_traffic,
	check_rows_offload,
	check_rows_tunnel,
	check_rows_flow,
	check_rows_item,
	check_rows_action,
	check_rows_port,
	check_rows_queue,
	check_rows_setup,
	check_rows_recovery,
	check_rows_event,
	check_rows_process,
	check_rows_info,
	check_rows_bench,
	check_rows_question,
	check_rows_bare,
	check_rows_cqe,
};

static struct {
	const char *devargs, *only, *json, *model;
	const char *secondary; /**< this is the other process: of rows_process.c alone */
	bool yes, list, loop;  /**< this is the process of rows_bench.c */
} options;

enum check_result
check_end(struct check *check, enum check_result result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->why, sizeof(check->why), format, args);
	va_end(args);
	return result;
}

/** @return whether @p text is a number from 1 on that fits */
static bool
parse_number(const char *text, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (uint32_t)value;
	return errno == 0 && end != text && *end == '\0' && value != 0 && value <= UINT32_MAX &&
		text[0] != '-';
}

static bool
devargs_fit(const char *text)
{
	if (strlen(text) <= CHECK_DEVARGS_MAX)
		return true;
	fprintf(stderr, "mlx5dv-check: --devargs: more than %d bytes\n", CHECK_DEVARGS_MAX);
	return false;
}

static int
options_parse(int argc, char **argv, struct check *check)
{
	static const struct option names[] = { { "ibdev", 1, NULL, 'i' }, { "peer", 1, NULL, 'p' },
		{ "devargs", 1, NULL, 'd' }, { "packets", 1, NULL, 'n' },
		{ "patience", 1, NULL, 't' }, { "only", 1, NULL, 'o' }, { "json", 1, NULL, 'j' },
		{ "model", 1, NULL, 'm' }, { "yes", 0, NULL, 'y' }, { "list", 0, NULL, 'l' },
		{ "secondary", 1, NULL, 's' }, { "loop", 0, NULL, 'b' }, { "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 } };
	bool good = true;
	int c;

	while (good && (c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		switch (c) {
		case 'i':
			good = check_port_name(&check->port[CHECK_PORT], optarg) == 0;
			break;
		case 'p':
			good = check_port_name(&check->port[CHECK_PEER], optarg) == 0;
			break;
		case 'd':
			options.devargs = optarg;
			good = devargs_fit(optarg);
			break;
		case 'n':
			good = parse_number(optarg, &check->nb_packets);
			break;
		case 't':
			good = parse_number(optarg, &check->patience_ms);
			break;
		case 'o':
			options.only = optarg;
			break;
		case 'j':
			options.json = optarg;
			break;
		case 'm':
			options.model = optarg;
			break;
		case 'y':
			options.yes = true;
			break;
		case 'l':
			options.list = true;
			break;
		case 's':
			options.secondary = optarg;
			break;
		case 'b':
			options.loop = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			good = false;
		}
	}
	if (good && optind < argc && strcmp(argv[optind - 1], "--") != 0) {
		fprintf(stderr, "mlx5dv-check: '%s' is no option; those of the EAL follow --\n",
			argv[optind]);
		good = false;
	}
	if (!good)
		return -EINVAL;
	if (!options.list && options.secondary == NULL && !options.loop &&
		(check->port[CHECK_PORT].ibdev[0] == '\0' ||
			(check->port[CHECK_PEER].name == NULL && options.model == NULL)))
		return -EINVAL;
	return optind;
}

/** @return whether other processes can have what the EAL with these options has */
static bool
is_shared(char *const *given)
{
	bool has_prefix = false;

	for (; *given != NULL; given++) {
		if (strcmp(*given, "--no-huge") == 0 || strcmp(*given, "--in-memory") == 0 ||
			strcmp(*given, "--no-shconf") == 0)
			return false;
		has_prefix |= strncmp(*given, "--file-prefix", strlen("--file-prefix")) == 0;
	}
	return has_prefix;
}

/** Start the EAL without other devices, and without files unless the user names some.
 * @param given what the user adds, ended by NULL */
static int
eal_start(char **given)
{
	static char name[] = "mlx5dv-check", pci[] = "--no-pci", telemetry[] = "--no-telemetry",
		    in_memory[] = "--in-memory", no_shconf[] = "--no-shconf";
	char *argv[EAL_ARGS_MAX] = { name, telemetry, pci };
	int argc = 3;

	/* Of the loop's process all options are told. */
	if (options.loop)
		argc = 1;
	else if (!is_shared(given))
		argv[argc++] = in_memory;

	while (*given != NULL && argc < EAL_ARGS_MAX - 1) {
		/* The EAL takes only one of the two. */
		if (!options.loop && strcmp(*given, "--no-huge") == 0)
			argv[3] = no_shconf;
		argv[argc++] = *given++;
	}
	if (*given != NULL) {
		fprintf(stderr, "mlx5dv-check: too many EAL options\n");
		return -E2BIG;
	}
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "mlx5dv-check: the EAL does not start: %s\n",
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	return 0;
}

/** Ask before ports that Linux uses are taken. @return whether to go on */
static bool
ask(const struct check *check)
{
	char name[CHECK_NB_SIDES][IF_NAMESIZE], answer[8] = "";
	bool busy = false;

	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++) {
		if (check_port_netdev(&check->port[side], name[side]) == NULL)
			continue;
		printf("Linux uses %s (%s): what is sent to its address will not reach it for the time of the check, and the netdev is down for a moment, which takes its routes.\n",
			check->port[side].name, name[side]);
		busy = true;
	}
	if (!busy || options.yes)
		return true;
	printf("Go on? [y/N] ");
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) != NULL && answer[0] == 'y';
}

static bool
is_wanted(const struct check_row *row)
{
	return options.only == NULL || strstr(row->name, options.only) != NULL;
}

static void
rows_list(void)
{
	for (unsigned int t = 0; t < RTE_DIM(tables); t++)
		for (const struct check_row *row = tables[t]; row->name != NULL; row++)
			if (is_wanted(row))
				printf("%-32s %s\n", row->name, row->shows);
}

/** @return whether --only names a row, after a message if not */
static bool
has_rows(void)
{
	for (unsigned int t = 0; t < RTE_DIM(tables); t++)
		for (const struct check_row *row = tables[t]; row->name != NULL; row++)
			if (is_wanted(row))
				return true;
	fprintf(stderr, "mlx5dv-check: no row has '%s' in its name; --list has the names\n",
		options.only);
	return false;
}

/** @return whether a run of both ports makes sense, by the options alone */
static bool
options_are_good(const struct check *check)
{
	return check_input_has_two_ends(check) && has_rows() &&
		(options.json == NULL || check_input_can_write(options.json));
}

static void
rows_run(struct check *check, struct check_report *report)
{
	enum check_result result;

	for (unsigned int t = 0; t < RTE_DIM(tables); t++) {
		for (const struct check_row *row = tables[t]; row->name != NULL; row++) {
			if (!is_wanted(row))
				continue;
			check->row++;
			check->data = row->data;
			check->why[0] = '\0';
			check->nb_evidence = 0;
			result = row->run(check);
			if (check_stop_signal() != 0) {
				check_report_stop(report, check, row, check_stop_signal());
				return;
			}
			check_report_row(report, check, row, result);
		}
	}
}

/** Both ports are there, not started. @return the exit status */
static int
check_ports(struct check *check)
{
	struct check_report report = { 0 };

	if (!ask(check)) {
		fprintf(stderr, "mlx5dv-check: not without a yes (--yes)\n");
		return 2;
	}
	check_stop_prepare();
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		if (check_port_start(&check->port[side], side) != 0)
			return 2;
	if (!check_input_has_links(check))
		return check_stop_signal() != 0 ? 128 + check_stop_signal() : 2;
	if (check_report_open(&report, options.json, check) != 0)
		return 2;
	rows_run(check, &report);
	return check_report_close(&report);
}

int
main(int argc, char **argv)
{
	struct check check = { .patience_ms = 2000, .nb_packets = 100000 };
	int first = options_parse(argc, argv, &check), status = 2;
	bool open = true;

	if (first < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (options.list) {
		rows_list();
		return 0;
	}
	if (check.port[CHECK_PEER].name != NULL && !options_are_good(&check))
		return 2;
	if (options.model != NULL &&
		check_model_save(check.port[CHECK_PORT].ibdev, options.model) != 0)
		return 2;
	if (check.port[CHECK_PEER].name == NULL && options.secondary == NULL && !options.loop)
		return 0;
	if (eal_start(argv + first) != 0)
		return 2;
	if (options.secondary != NULL || options.loop) {
		status = options.loop ? check_loop_run() : check_secondary_run(options.secondary);
		rte_eal_cleanup();
		return status;
	}
	check.eal_args = argv + first;
	check.is_shared = is_shared(check.eal_args);
	for (unsigned int side = 0; side < CHECK_NB_SIDES && open; side++)
		open = check_port_probe(&check.port[side], side, options.devargs) == 0;
	if (open && check_input_peer_is_other(&check)) {
		check_kin_find(&check);
		status = check_ports(&check);
	}
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		check_port_close(&check.port[side]);
	rte_eal_cleanup();
	return status;
}
