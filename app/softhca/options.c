/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "app.h"
#include "fault/row.h"
#include "strict/findings.h"

/** Nodes of the kernel have mode 0666 (drivers/infiniband/core/uverbs_main.c uverbs_devnode()), but
 * programs of one user are those that a card is made for. */
#define MODE_DEFAULT 0600

static const struct row {
	struct option option;
	unsigned int commands;
} option_rows[] = {
	{ { "port", required_argument, NULL, 'p' }, APP_RUN | APP_UP },
	{ { "faults", required_argument, NULL, 'f' }, APP_RUN | APP_UP },
	{ { "strict", optional_argument, NULL, 's' }, APP_RUN | APP_UP },
	{ { "threads", required_argument, NULL, 't' }, APP_RUN | APP_UP },
	{ { "help", no_argument, NULL, 'h' }, APP_RUN | APP_UP },
	{ { "ctl", required_argument, NULL, 'c' }, APP_RUN },
	{ { "on", required_argument, NULL, 'o' }, APP_RUN },
	{ { "sys", no_argument, NULL, 'y' }, APP_RUN },
	{ { "mode", required_argument, NULL, 'm' }, APP_UP },
};
#define NB_ROWS (sizeof(option_rows) / sizeof(option_rows[0]))

void
app_run_help(void)
{
	printf("\nOne --port a port: mlx5_0, mlx5_1, ...; none at all is one port with the defaults.\n");
	shca_options_help(stdout);
	printf("\n");
	shca_fault_help(stdout);
	printf("\nExit status: COMMAND's; 128+N when signal N ended it; 127 when it is not found,\n"
	       "126 when it cannot be executed, %d when the ports cannot be set up, %d when\n"
	       "COMMAND's is 0 but --strict has found something, or --strict=abort has ended it.\n"
	       "--strict reports on standard error what COMMAND does to its queues that hardware\n"
	       "would punish or hang on; --strict=abort ends it at the first finding.\n"
	       "--threads N lets at most N threads run the ports, with which ports that have a wire of\n"
	       "their own do not wait for each other; else half as many as there are CPUs.\n"
	       "--faults lets go wrong what FILE says, and says at the end how often it did.\n"
	       "--on NAME runs COMMAND on the card that softhca up NAME has made.\n"
	       "--sys shows the ports in /sys itself, to COMMAND alone: in a namespace of mounts, and of\n"
	       "users unless root runs it.\n"
	       "SOFTHCA_LOG=error|warning|info|debug sets what the device says on standard error.\n",
		APP_FAILED, SHCA_FINDINGS_EXIT);
}

/** @return the exit status, after a message: errno says why execvp() returned. */

static bool
add_port(struct app_options *options, const char *text)
{
	struct shca_options *card = &options->card;
	const struct shca_port_options *port;
	char error[768];

	if (shca_options_add_port(card, text, error, sizeof(error)) != 0) {
		fprintf(stderr, "softhca: --port %s: %s\n", text, error);
		return false;
	}
	port = &card->port[card->nb_ports - 1];
	if (port->model.left_out[0] != '\0')
		fprintf(stderr, "softhca: %s: without what softhca does not have: %s\n",
			port->model_file, port->model.left_out);
	return true;
}

static bool
set_strict(struct app_options *options, const char *mode)
{
	if (shca_findings_find_mode(mode, &options->card.strict) != 0) {
		fprintf(stderr, "softhca: --strict=%s: there are off, report, abort\n", mode);
		return false;
	}
	return true;
}

static bool
set_threads(struct app_options *options, const char *text)
{
	char *end;
	unsigned long nb = strtoul(text, &end, 10);

	if (text[0] == '\0' || *end != '\0' || nb == 0 || nb > SHCA_PORTS_MAX) {
		fprintf(stderr, "softhca: --threads %s: it is a number from 1 to %d\n", text,
			SHCA_PORTS_MAX);
		return false;
	}
	options->card.nb_threads = (unsigned int)nb;
	return true;
}

static bool
set_mode(struct app_options *options, const char *text)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (text[0] == '\0' || *end != '\0' || (mode & ~0666ul) != 0) {
		fprintf(stderr, "softhca: --mode %s: it is an octal number of up to 0666\n", text);
		return false;
	}
	options->mode = (mode_t)mode;
	return true;
}

/** @return whether the option is right. */
static bool
take(struct app_options *options, int option)
{
	switch (option) {
	case 'p':
		return add_port(options, optarg);
	case 's':
		return set_strict(options, optarg);
	case 't':
		return set_threads(options, optarg);
	case 'm':
		return set_mode(options, optarg);
	case 'f':
		options->faults = optarg;
		return true;
	case 'c':
		options->ctl = optarg;
		return true;
	case 'o':
		options->on = optarg;
		return true;
	case 'y':
		options->sys = true;
		return true;
	default:
		return false; /* getopt has printed the reason */
	}
}

/** A card that is up has its ports, its faults and its control socket. */
static bool
check_on(const struct app_options *options)
{
	const char *given = options->card.nb_ports != 0   ? "--port"
		: options->faults != NULL                 ? "--faults"
		: options->ctl != NULL                    ? "--ctl"
		: options->card.strict != SHCA_STRICT_OFF ? "--strict"
		: options->card.nb_threads != 0           ? "--threads"
							  : NULL;

	if (options->on != NULL && given != NULL)
		fprintf(stderr, "softhca: --on %s: %s belongs to the softhca up that made it\n",
			options->on, given);
	return options->on == NULL || given == NULL;
}

int
app_options_parse(int argc, char *argv[], enum app_command command, struct app_options *options)
{
	struct option accepted[NB_ROWS + 1] = { 0 };
	unsigned int nb = 0;
	int option;

	*options = (struct app_options){ .mode = MODE_DEFAULT };
	shca_options_init(&options->card);
	for (unsigned int i = 0; i < NB_ROWS; i++)
		if (option_rows[i].commands & command)
			accepted[nb++] = option_rows[i].option;
	/* '+': options after the first argument belong to the command that it is. */
	while ((option = getopt_long(
			argc, argv, command == APP_RUN ? "+h" : "h", accepted, NULL)) != -1) {
		if (option == 'h') {
			app_run_help();
			exit(0);
		}
		if (!take(options, option))
			return 0;
	}
	if (!check_on(options) ||
		(options->on == NULL && options->card.nb_ports == 0 && !add_port(options, "")))
		return 0;
	return optind;
}
