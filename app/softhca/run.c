/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca run: start the command, pass signals on, return its exit status. */
#include "app.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "config/options.h"
#include "fault/row.h"
#include "strict/findings.h"

/** Signals that the runner passes on to the command. */
static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

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
	       "--faults lets go wrong what FILE says, and says at the end how often it did.\n"
	       "--sys shows the ports in /sys itself, to COMMAND alone: in a namespace of mounts, and of\n"
	       "users unless root runs it.\n"
	       "SOFTHCA_LOG=error|warning|info|debug sets what the device says on standard error.\n",
		APP_FAILED, SHCA_FINDINGS_EXIT);
}

/** The user's options besides ports. */
struct wanted {
	const char *ctl;    /**< path for the control socket, or NULL */
	const char *faults; /**< the file, or NULL */
	bool sys;           /**< the ports are in /sys */
};

static void
warn_left_out(const struct shca_port_options *port)
{
	if (port->model.left_out[0] != '\0')
		fprintf(stderr, "softhca: %s: without what softhca does not have: %s\n",
			port->model_file, port->model.left_out);
}

/** @return the index of COMMAND in @p argv, or 0 after a message. */
static int
parse(int argc, char *argv[], struct shca_options *options, struct wanted *wanted)
{
	static const struct option long_options[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "ctl", required_argument, NULL, 'c' },
		{ "faults", required_argument, NULL, 'f' },
		{ "strict", optional_argument, NULL, 's' },
		{ "sys", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL },
	};
	char error[768];
	int option;

	shca_options_init(options);
	/* '+': options after COMMAND belong to the command. */
	while ((option = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
		if (option == 'h') {
			app_run_help();
			exit(0);
		}
		if (option == 'c' || option == 'f') {
			*(option == 'c' ? &wanted->ctl : &wanted->faults) = optarg;
			continue;
		}
		if (option == 'y') {
			wanted->sys = true;
			continue;
		}
		if (option == 's') {
			if (shca_findings_find_mode(optarg, &options->strict) == 0)
				continue;
			fprintf(stderr, "softhca: --strict=%s: there are off, report, abort\n",
				optarg);
			return 0;
		}
		if (option != 'p')
			return 0; /* getopt has printed the reason */
		if (shca_options_add_port(options, optarg, error, sizeof(error)) != 0) {
			fprintf(stderr, "softhca: --port %s: %s\n", optarg, error);
			return 0;
		}
		warn_left_out(&options->port[options->nb_ports - 1]);
	}
	if (optind >= argc) {
		fprintf(stderr, "softhca: no command to run; see softhca help\n");
		return 0;
	}
	if (options->nb_ports == 0 &&
		shca_options_add_port(options, "", error, sizeof(error)) != 0) {
		fprintf(stderr, "softhca: %s\n", error);
		return 0;
	}
	return optind;
}

static _Noreturn void
exec_command(char *argv[], const sigset_t *signals, pid_t runner, const char *sys_dir)
{
	int error;

	/* First: a namespace of users forgets the signal that is set next. */
	if (sys_dir != NULL && app_sys_show(sys_dir) != 0)
		_exit(APP_FAILED);
	/* The command must not outlive the runner, which keeps the ports' files and TAPs. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != runner)
		_exit(APP_FAILED);
	sigprocmask(SIG_SETMASK, signals, NULL);
	execvp(argv[0], argv);
	error = errno;
	fprintf(stderr, "softhca: cannot run %s: %s\n", argv[0], strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

static int
exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/** Wait for the command and pass signals on to it. */
static int
supervise(pid_t command, const sigset_t *awaited)
{
	siginfo_t info;
	int status;
	pid_t pid;

	for (;;) {
		/* Poll before sigwaitinfo(): one SIGCHLD may stand for several children. */
		while ((pid = waitpid(command, &status, WNOHANG)) < 0 && errno == EINTR)
			;
		if (pid == command)
			return exit_status(status);
		if (sigwaitinfo(awaited, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		/* The command is in our process group, so it gets the terminal's signals itself. */
		if (info.si_code != SI_KERNEL)
			kill(command, info.si_signo);
	}
}

/** Print the findings. @return the exit status, which findings turn from 0 to a failure. */
static int
conclude(const uint64_t *count, int status)
{
	char text[1024];
	uint64_t sum = shca_findings_sum(count, text, sizeof(text));

	fprintf(stderr, "softhca: strict: %s\n", text);
	return sum != 0 && status == 0 ? SHCA_FINDINGS_EXIT : status;
}

/** Start the command in the prepared environment, and wait for it. @param sys_dir the directory to
 * show in /sys, or NULL */
static int
run_command(char *argv[], const sigset_t *awaited, const sigset_t *before, const char *sys_dir)
{
	pid_t runner = getpid(), command = fork();

	if (command < 0) {
		fprintf(stderr, "softhca: cannot fork: %s\n", strerror(errno));
		return APP_FAILED;
	}
	if (command == 0)
		exec_command(argv, before, runner, sys_dir);
	return supervise(command, awaited);
}

/** Create the counts of a strict run. @return 0 or a negative errno after a message. */
static int
open_findings(const char *dir, const struct shca_options *options, uint64_t **count)
{
	char path[sizeof(((struct app_cleanup *)0)->dir) + sizeof("/" SHCA_FINDINGS_FILE)];
	int ret;

	*count = NULL;
	if (options->strict == SHCA_STRICT_OFF)
		return 0;
	snprintf(path, sizeof(path), "%s/" SHCA_FINDINGS_FILE, dir);
	ret = shca_findings_map(path, true, count);
	if (ret != 0)
		fprintf(stderr, "softhca: cannot make %s: %s\n", path, strerror(-ret));
	return ret;
}

/** Run the command with its files in the private directory. @param text of faults, or NULL */
static int
run_in(const char *dir, struct shca_options *options, const char *text, bool sys, char *argv[])
{
	struct shca_faults *faults = NULL;
	sigset_t awaited, before;
	uint64_t *count;
	int status;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	for (unsigned int i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&awaited, forwarded[i]);
	sigprocmask(SIG_BLOCK, &awaited, &before);
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit status would be lost */
	if (app_env_prepare(options, dir) != 0 || app_env_set(dir, sys) != 0 ||
		open_findings(dir, options, &count) != 0 ||
		app_faults_prepare(dir, text, options->nb_ports, &faults) != 0)
		return APP_FAILED;
	status = run_command(argv, &awaited, &before, sys ? dir : NULL);
	app_faults_conclude(faults);
	if (count != NULL)
		status = conclude(count, status);
	shca_findings_unmap(count);
	return status;
}

/** Create a private directory, run the command, remove the directory. */
static int
run_below(const struct wanted *wanted, struct shca_options *options, const char *text, char *argv[])
{
	struct app_cleanup cleanup;
	int status = APP_FAILED;

	if (app_cleanup_start(&cleanup) != 0)
		return APP_FAILED;
	if (wanted->ctl == NULL || app_link_make(wanted->ctl, cleanup.dir) == 0) {
		status = run_in(cleanup.dir, options, text, wanted->sys, argv);
		if (wanted->ctl != NULL)
			app_link_remove(wanted->ctl, cleanup.dir);
	}
	app_cleanup_stop(&cleanup);
	return status;
}

int
app_run(int argc, char *argv[])
{
	struct wanted wanted = { .ctl = NULL };
	struct shca_options options;
	int first = parse(argc, argv, &options, &wanted);
	char *text;
	int status;

	if (first == 0 || app_faults_read(wanted.faults, options.nb_ports, &text) != 0)
		return APP_FAILED;
	status = run_below(&wanted, &options, text, argv + first);
	free(text);
	return status;
}
