/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The runner: softhca run starts a command with the ports below it and cleans up after it.
 *
 *     shell ── softhca run ──┬── COMMAND     (LD_PRELOAD, SYSFS_PATH, ..., the TAPs' descriptors)
 *                 │          └── cleanup     makes the private directory, removes it when the
 *                 └── pipe ──────┘           runner's end of the pipe closes, for any reason
 */
#ifndef SOFTHCA_APP_H
#define SOFTHCA_APP_H

#include <stdio.h>
#include <sys/types.h>

struct shca_faults;
struct shca_options;

/** Exit status of the runner's own failures, as of env(1) and timeout(1). */
#define APP_FAILED 125

/** "softhca run": @p argv[0] is "run". @return the exit status. */
int app_run(int argc, char *argv[]);
void app_run_help(void);

/**
 * "softhca ctl": @p argv[0] is "ctl". @return 0; 1: no device, or the device refused; 2: misused.
 */
int app_ctl(int argc, char *argv[]);
void app_ctl_help(FILE *out);

/** @{ The name of the control socket that the user chose: it leads into the private directory. */
/** @return 0 or a negative errno after a message. */
int app_link_make(const char *path, const char *dir);
void app_link_remove(const char *path, const char *dir);
/** @} */

/** @{ Faults of a run. Without faults path, text and faults are NULL, and the functions do
 * nothing. */
/** Check the file. @param text to be freed @return 0 or a negative errno after a message. */
int app_faults_read(const char *path, unsigned int nb_ports, char **text);
/** Put the faults where the command's devices find them. @return likewise. */
int app_faults_prepare(
	const char *dir, const char *text, unsigned int nb_ports, struct shca_faults **faults);
/** Print the applied faults. */
void app_faults_conclude(struct shca_faults *faults);
/** @} */

/** @{ The private directory and the process that removes it. */
struct app_cleanup {
	pid_t pid;
	int fd; /**< the directory stays while it is open */
	char dir[128];
};
/** @return 0 or a negative errno after a message. */
int app_cleanup_start(struct app_cleanup *cleanup);
/** Return when the directory is gone. */
void app_cleanup_stop(struct app_cleanup *cleanup);
/** @} */

/** @{ The surroundings of the command. */
/** Open the TAPs, write sysfs and options into @p dir. @return 0 or a negative errno after a
 * message. */
int app_env_prepare(struct shca_options *options, const char *dir);
/** Set the environment variables of this process. @return 0 or a negative errno after a message. */
int app_env_set(const char *dir);
/** @} */

#endif /* SOFTHCA_APP_H */
