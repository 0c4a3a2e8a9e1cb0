/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca: one row a subcommand. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app.h"
#include "config/options.h"

static int help(int argc, char *argv[]);
static int version(int argc, char *argv[]);

static const struct command {
	const char *name;
	const char *usage;
	const char *help;
	int (*run)(int argc, char *argv[]);
} commands[] = {
	{ "run",
		"run [--port K=V,...]... [--on NAME] [--strict[=abort]] [--faults FILE] [--threads N] [--ctl SOCKET] [--sys] [--] COMMAND [ARG]...",
		"run COMMAND with one software ConnectX port a --port below libibverbs", app_run },
	{ "up", "up [--port K=V,...]... [--mode MODE] [--strict] [--faults FILE] [--threads N] [NAME]",
		"make a card that stays, and return", app_up },
	{ "down", "down [NAME]", "end it; its programs see it removed", app_down },
	{ "list", "list", "the cards that are up", app_list },
	{ "top", "top [--once] [NAME]",
		"watch cards: ports, processes, queues and rules once a second, or as text --once",
		app_top },
	{ "ctl",
		"ctl [SOCKET | --on NAME] [--pid PID] [--device mlx5_N] COMMAND [--json] [--port N] [ARG]",
		"ask a running device, or tell it what to do", app_ctl },
	{ "help", "help", "this text, with all keys, wires and models", help },
	{ "version", "version", "the version", version },
};
#define NB_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
usage(FILE *out)
{
	fprintf(out, "softhca: a software ConnectX below unmodified libibverbs and libmlx5\n");
	for (unsigned int i = 0; i < NB_COMMANDS; i++)
		fprintf(out, "  softhca %s\n        %s\n", commands[i].usage, commands[i].help);
}

static int
help(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	usage(stdout);
	app_run_help();
	app_ctl_help(stdout);
	return 0;
}

static int
version(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	printf("softhca %s\n", SOFTHCA_VERSION);
	return 0;
}

/** Standard descriptors that are closed: what is opened next must not be taken for one of them. As
 * when they are closed reading and writing fail. For a command they are closed again. */
static void
fill_streams(void)
{
	static const int contrary[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", contrary[fd] | O_CLOEXEC) < 0)
			return;
}

int
main(int argc, char *argv[])
{
	const char *name = argc < 2 ? "" : argv[1];

	fill_streams();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0)
		name = "version";
	for (unsigned int i = 0; i < NB_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (name[0] != '\0')
		fprintf(stderr, "softhca: no command '%s'\n", name);
	usage(stderr);
	return APP_FAILED;
}
