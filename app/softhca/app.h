/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The runner: softhca run starts a command with the ports below it and cleans up after it.
 *
 *     shell ── softhca run ──┬── COMMAND     (LD_PRELOAD, SYSFS_PATH, ..., the TAPs' descriptors)
 *                 │          ├── keeper      has the devices of all that COMMAND starts
 *                 │          └── cleanup     creates the private directory, removes it when the
 *                 └── pipe ──────┘           runner's end of the pipe closes, even by SIGKILL
 */
#ifndef SOFTHCA_APP_H
#define SOFTHCA_APP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "strict/findings.h"

struct shca_faults;
struct shca_options;

/** Exit status of the runner's own failures, as of env(1) and timeout(1). */
#define APP_FAILED 125

/** "softhca run": @p argv[0] is "run". @return the exit status. */
int app_run(int argc, char *argv[]);
void app_run_help(void);

/** "softhca up", "down" and "list": @p argv[0] is that. @return the exit status. */
int app_up(int argc, char *argv[]);
int app_down(int argc, char *argv[]);
int app_list(int argc, char *argv[]);

/** "softhca top": @p argv[0] is that. @return the exit status. */
int app_top(int argc, char *argv[]);

/** "softhca ctl": @p argv[0] is "ctl". @return 0; 1: the device refused, or no device was found; 2:
 * wrong usage. */
int app_ctl(int argc, char *argv[]);
void app_ctl_help(FILE *out);

/** @{ The user's own name of the control socket: a link into the private directory. */
/** @return 0 or a negative errno after a message. */
int app_link_make(const char *path, const char *dir);
void app_link_remove(const char *path, const char *dir);
/** @} */

/** @{ Faults of a run. Without faults path, text and faults are NULL. */
/** Check the file. @param text the caller frees it @return 0 or a negative errno after a message.
 */
int app_faults_read(const char *path, unsigned int nb_ports, char **text);
/** Write them to @p dir for the command's devices. @return 0 or a negative errno after a message.
 */
int app_faults_prepare(
	const char *dir, const char *text, unsigned int nb_ports, struct shca_faults **faults);
/** Print which faults were applied. */
void app_faults_conclude(struct shca_faults *faults);
/** @} */

/** @{ Findings of a strict run or card. Without --strict the counts are NULL. */
/** Map the counts in @p dir. @return 0 or a negative errno after a message. */
int app_findings_open(const char *dir, enum shca_strict strict, bool create, uint64_t **count);
/** Print them, and give them up. @return whether there are any. */
bool app_findings_conclude(uint64_t *count);
/** @} */

/** @{ The private directory and the process that removes it. */
struct app_cleanup {
	pid_t pid;
	int fd; /**< the directory stays while it is open */
	char dir[128];
};
/** @return 0 or a negative errno after a message. */
int app_cleanup_start(struct app_cleanup *cleanup);
/** Remove the directory; returns when it is gone. */
void app_cleanup_stop(struct app_cleanup *cleanup);
/** @} */

/** @{ The process that has the devices, apart from the command. */
struct app_keeping {
	const char *dir;
	const struct shca_options *options; /**< of a prepared environment, in @a dir */
	mode_t mode;                        /**< of the card's nodes */
	bool stays; /**< it outlives this process; its messages go to a log */
	void (*remove)(
		const char *dir); /**< called once at its end or if it cannot start, if not NULL */
};
/** Before anything is opened: a keeper that stays closes what is open now. */
void app_keeper_note_fds(void);
/** @return the process, which is ready, or a negative errno after a message. */
pid_t app_keeper_start(const struct app_keeping *keeping);
/** End a child. @return false: it had failed, or something else has ended it, after a message. */
bool app_keeper_end(pid_t keeper);
/** @} */

/** @{ The environment of the command. */
/** Open the TAPs, write sysfs and options into @p dir. @return 0 or a negative errno after a
 * message. */
int app_env_prepare(struct shca_options *options, const char *dir);
/** Set the environment variables of this process. @param sys app_sys_show() is to follow @return 0
 * or a negative errno after a message. */
int app_env_set(const char *dir, bool sys);
/** Move this process to a namespace where /sys has the ports. @return 0 or a negative errno after a
 * message. */
int app_sys_show(const char *dir);
/** @} */

#endif /* SOFTHCA_APP_H */
