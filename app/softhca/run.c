/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca run: start the command, pass signals on, return its exit status. */
#include "app.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "card.h"
#include "config/options.h"
#include "fault/row.h"
#include "options.h"
#include "strict/findings.h"
#include "sysfs/tree.h"

/** Signals that the runner passes on to the command. */
static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/** @return the exit status, after a message: errno says why execvp() returned. */
static int
cannot_run(const char *command)
{
	const int error = errno;

	fprintf(stderr, "softhca: cannot run %s: %s\n", command, strerror(error));
	return error == ENOENT ? 127 : 126;
}

static _Noreturn void
exec_command(char *argv[], const sigset_t *signals, pid_t runner, const char *sys_dir)
{
	/* First: a namespace of users forgets the signal that is set next. */
	if (sys_dir != NULL && app_sys_show(sys_dir) != 0)
		_exit(APP_FAILED);
	/* The command must not outlive the runner, which keeps the ports' files and TAPs. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != runner)
		_exit(APP_FAILED);
	sigprocmask(SIG_SETMASK, signals, NULL);
	execvp(argv[0], argv);
	_exit(cannot_run(argv[0]));
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

/** @return the exit status, which findings turn from 0 to a failure; and from that of a command
 * that another process has ended for them. */
static int
conclude(uint64_t *count, enum shca_strict strict, int status)
{
	const bool is_ended = strict == SHCA_STRICT_ABORT && status == 128 + SIGKILL;

	return app_findings_conclude(count) && (status == 0 || is_ended) ? SHCA_FINDINGS_EXIT
									 : status;
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

/** @return whether the devices are to be in a process of their own. */
static bool
is_apart(void)
{
	const char *wanted = getenv("SOFTHCA_KEEPER");

	return wanted == NULL || strcmp(wanted, "0") != 0;
}

/** Run the command with its files in the private directory. @param text of faults, or NULL */
static int
run_in(const char *dir, struct shca_options *options, const char *text, bool sys, char *argv[])
{
	/* Whoever gets into the directory may be anybody: COMMAND may change user. */
	struct app_keeping keeping = { .dir = dir, .mode = 0666 };
	struct shca_faults *faults = NULL;
	sigset_t awaited, before;
	pid_t keeper = 0;
	uint64_t *count;
	int status;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	for (unsigned int i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&awaited, forwarded[i]);
	sigprocmask(SIG_BLOCK, &awaited, &before);
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit status would be lost */
	if (app_env_prepare(options, dir) != 0 || app_env_set(dir, sys) != 0 ||
		app_findings_open(dir, options->strict, true, &count) != 0 ||
		app_faults_prepare(dir, text, options->nb_ports, &faults) != 0)
		return APP_FAILED;
	if (is_apart()) {
		keeping.options = options;
		keeper = app_keeper_start(&keeping);
		if (keeper < 0)
			return APP_FAILED;
	}
	status = run_command(argv, &awaited, &before, sys ? dir : NULL);
	if (keeper > 0 && !app_keeper_end(keeper) && status == 0)
		status = APP_FAILED;
	app_faults_conclude(faults);
	return conclude(count, options->strict, status);
}

/** Create a private directory, run the command, remove the directory. */
static int
run_below(struct app_options *wanted, const char *text, char *argv[])
{
	struct app_cleanup cleanup;
	int status = APP_FAILED;

	if (app_cleanup_start(&cleanup) != 0)
		return APP_FAILED;
	if (wanted->ctl == NULL || app_link_make(wanted->ctl, cleanup.dir) == 0) {
		status = run_in(cleanup.dir, &wanted->card, text, wanted->sys, argv);
		if (wanted->ctl != NULL)
			app_link_remove(wanted->ctl, cleanup.dir);
	}
	app_cleanup_stop(&cleanup);
	return status;
}

/** Become the command, on a card that is up. */
static int
exec_on(const struct app_options *wanted, char *argv[])
{
	char dir[SHCA_TREE_DIR_MAX];
	pid_t keeper;

	if (app_card_check_name(wanted->on) != 0 ||
		app_card_find(wanted->on, dir, sizeof(dir)) != 0)
		return APP_FAILED;
	keeper = app_card_keeper(dir);
	if (keeper < 0) {
		fprintf(stderr, "softhca: %s: %s\n", wanted->on,
			keeper == -ECONNREFUSED ? "its keeper is gone; softhca down clears it away"
						: app_card_why(keeper));
		return APP_FAILED;
	}
	if (app_env_set(dir, wanted->sys) != 0 || (wanted->sys && app_sys_show(dir) != 0))
		return APP_FAILED;
	execvp(argv[0], argv);
	return cannot_run(argv[0]);
}

int
app_run(int argc, char *argv[])
{
	static struct app_options wanted;
	int first = app_options_parse(argc, argv, APP_RUN, &wanted);
	char *text;
	int status;

	if (first == 0)
		return APP_FAILED;
	if (first >= argc) {
		fprintf(stderr, "softhca: no command to run; see softhca help\n");
		return APP_FAILED;
	}
	if (wanted.on != NULL)
		return exec_on(&wanted, argv + first);
	if (app_faults_read(wanted.faults, wanted.card.nb_ports, &text) != 0)
		return APP_FAILED;
	status = run_below(&wanted, text, argv + first);
	free(text);
	return status;
}
