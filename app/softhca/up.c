/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca up, down and list: cards that outlive the programs on them. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "app.h"
#include "card.h"
#include "config/options.h"
#include "fault/faults.h"
#include "options.h"
#include "strict/findings.h"
#include "sysfs/tree.h"

/** A keeper ends within moments; it may have netdevs to remove. */
#define PATIENCE_MS 20000

/** A card in the making. */
struct making {
	struct app_options options;
	const char *name;
	char *faults; /**< text, or NULL */
	char dir[SHCA_TREE_DIR_MAX];
};

/** Write what the devices read from the directory. */
static int
prepare(struct making *making)
{
	struct shca_faults *faults;
	uint64_t *count;
	int ret = app_env_prepare(&making->options.card, making->dir);

	if (ret == 0)
		ret = setenv(SHCA_ENV_DIR, making->dir, 1) == 0 ? 0 : -errno;
	if (ret == 0)
		ret = app_faults_prepare(
			making->dir, making->faults, making->options.card.nb_ports, &faults);
	if (ret == 0)
		ret = app_findings_open(making->dir, making->options.card.strict, true, &count);
	return ret;
}

/** Called by the keeper, at its end. */
static void
remove_card(const char *dir)
{
	if (shca_tree_remove(dir) != 0)
		fprintf(stderr, "softhca: cannot remove %s\n", dir);
}

/** Start the keeper and wait until the card is there. */
static int
start(struct making *making)
{
	const struct app_keeping keeping = {
		.dir = making->dir,
		.options = &making->options.card,
		.mode = making->options.mode,
		.stays = true,
		.remove = remove_card,
	};

	if (prepare(making) != 0) {
		remove_card(making->dir);
		return APP_FAILED;
	}
	if (app_keeper_start(&keeping) < 0)
		return APP_FAILED;
	printf("%s\n", making->name);
	return 0;
}

int
app_up(int argc, char *argv[])
{
	static struct making making;
	int first, status = APP_FAILED;

	app_keeper_note_fds();
	first = app_options_parse(argc, argv, APP_UP, &making.options);
	if (first == 0)
		return APP_FAILED;
	if (argc - first > 1) {
		fprintf(stderr, "softhca: up makes one card: what is '%s'?\n", argv[first + 1]);
		return APP_FAILED;
	}
	/* As for the keeper: who gets in is up to the mode, and others look devices up in its
	 * files. */
	umask(022);
	making.name = first < argc ? argv[first] : APP_CARD_DEFAULT;
	if (app_card_check_name(making.name) != 0 ||
		app_faults_read(
			making.options.faults, making.options.card.nb_ports, &making.faults) != 0)
		return APP_FAILED;
	if (app_card_make(making.name, making.options.mode, making.dir, sizeof(making.dir)) == 0)
		status = start(&making);
	free(making.faults);
	return status;
}

/** End the keeper. @return 0 or a negative errno after a message. */
static int
end_keeper(const char *name, pid_t keeper)
{
	struct pollfd gone = { .fd = (int)syscall(SYS_pidfd_open, keeper, 0), .events = POLLIN };
	int ret = 0;

	if (gone.fd < 0 && errno == ESRCH)
		return 0; /* it has just ended */
	if (gone.fd < 0)
		ret = -errno;
	else if (syscall(SYS_pidfd_send_signal, gone.fd, SIGTERM, NULL, 0) != 0)
		ret = -errno;
	else if (poll(&gone, 1, PATIENCE_MS) != 1)
		ret = -ETIMEDOUT;
	/* SO_PEERCRED has 0 for a process of a namespace that is not below this one. */
	if (ret != 0)
		fprintf(stderr, "softhca: cannot end %s: process %d: %s\n", name, (int)keeper,
			keeper == 0 ? "it is in another namespace of processes" : strerror(-ret));
	if (gone.fd >= 0)
		close(gone.fd);
	return ret;
}

/** End the keeper, and tell what its devices have counted. @return the exit status. */
static int
end_card(const char *name, const char *dir, pid_t keeper)
{
	struct shca_options options;
	struct shca_faults *faults = NULL;
	uint64_t *count = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, dir);
	if (shca_options_load(&options, path) == 0) {
		(void)shca_faults_open(dir, options.nb_ports, &faults);
		(void)app_findings_open(dir, options.strict, false, &count);
	}
	if (end_keeper(name, keeper) != 0)
		return APP_FAILED;
	app_faults_conclude(faults);
	return app_findings_conclude(count) ? SHCA_FINDINGS_EXIT : 0;
}

int
app_down(int argc, char *argv[])
{
	const char *name = argc > 1 ? argv[1] : APP_CARD_DEFAULT;
	char dir[SHCA_TREE_DIR_MAX];
	pid_t keeper;
	int lock;

	if (argc > 2 || app_card_check_name(name) != 0 ||
		app_card_find(name, dir, sizeof(dir)) != 0) {
		if (argc > 2)
			fprintf(stderr, "softhca: down takes one card\n");
		return APP_FAILED;
	}
	keeper = app_card_keeper(dir);
	if (keeper >= 0)
		return end_card(name, dir, keeper);
	if (keeper != -ECONNREFUSED && keeper != -ENOENT) {
		fprintf(stderr, "softhca: %s: %s\n", name, app_card_why(keeper));
		return APP_FAILED;
	}
	lock = app_card_lock(name, dir);
	if (lock == -ESTALE)
		fprintf(stderr, "softhca: %s: another softhca has cleared it away\n", name);
	if (lock < 0)
		return APP_FAILED;
	fprintf(stderr, "softhca: the keeper of %s was gone\n", name);
	return shca_tree_remove(dir) == 0 ? 0 : APP_FAILED;
}

static void
print_card(const char *name, const char *dir)
{
	const pid_t keeper = app_card_keeper(dir);
	struct shca_options options;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, dir);
	if (keeper < 0) {
		printf("%-16s %s\n", name,
			keeper == -EACCES ? "of another user, who lets no other in"
				: keeper == -EAGAIN
				? app_card_why(keeper)
				: "without its keeper: softhca down clears it away");
		return;
	}
	printf("%-16s process %d", name, (int)keeper);
	if (shca_options_load(&options, path) == 0)
		for (unsigned int i = 0; i < options.nb_ports; i++)
			printf(" mlx5_%u", i);
	printf("\n");
}

int
app_list(int argc, char *argv[])
{
	if (argc > 1) {
		fprintf(stderr, "softhca: list takes no argument: '%s'\n", argv[1]);
		return APP_FAILED;
	}
	app_card_each(print_card);
	return 0;
}
