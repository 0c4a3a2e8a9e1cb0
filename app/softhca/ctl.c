/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca ctl: find the process, send it the request, print its answer. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app.h"
#include "card.h"
#include "config/options.h"
#include "ctl/ctl_socket.h"
#include "ctl/request.h"
#include "ctl_client.h"
#include "sysfs/tree.h"
#include "trace.h"

#define REFUSED 1
#define MISUSED 2

#define WORDS_MAX 16

/** The user's choice of process and device. */
struct wanted {
	const char *socket; /**< NULL: find it */
	const char *on;     /**< a card's name, or NULL */
	const char *pid;    /**< NULL: any */
	const char *device; /**< NULL: any */
	char *word[WORDS_MAX];
	unsigned int nb_words;
	struct shca_request request;
};

struct candidate {
	char *path;
	char *who; /**< its answer to "devices" */
};

struct candidates {
	struct candidate *entry;
	unsigned int nb;
};

void
app_ctl_help(FILE *out)
{
	fprintf(out, "\nsofthca ctl COMMANDs:\n");
	for (unsigned int i = 0; shca_request_commands[i].name != NULL; i++) {
		const struct shca_request_command *command = &shca_request_commands[i];
		char usage[64];

		snprintf(usage, sizeof(usage), "%s%s%s%s%s", command->name,
			command->takes_port ? " [--port N]" : "",
			command->takes_tx ? " [--tx]" : "", command->argument == NULL ? "" : " ",
			command->argument == NULL ? "" : command->argument);
		fprintf(out, "  %-28s %s\n", usage, command->help);
	}
	fprintf(out,
		"SOCKET is what softhca run --ctl named, NAME what softhca up did. Without either the one running process is meant,\n"
		"or of several the one that --pid or --device names. --json: the answer as JSON.\n"
		"Exit status: 0; %d when the device refuses or there is none, %d for bad usage.\n",
		REFUSED, MISUSED);
}

/** @return whether argv[*i] is the option @p name; its value is the next argument. */
static bool
take_option(int argc, char *argv[], int *i, const char *name, const char **value)
{
	if (strcmp(argv[*i], name) != 0)
		return false;
	*value = *i + 1 < argc ? argv[++*i] : "";
	return true;
}

/** @return the number of the device mlx5_N, or -1. */
static int
device_number(const char *name)
{
	char right[24];
	int number;

	if (sscanf(name, "mlx5_%4d", &number) != 1 || number < 0)
		return -1;
	/* scanf() takes white space, signs and zeros in front. */
	snprintf(right, sizeof(right), "mlx5_%d", number);
	return strcmp(name, right) == 0 ? number : -1;
}

static int
parse(int argc, char *argv[], struct wanted *wanted)
{
	char error[512];

	for (int i = 1; i < argc; i++) {
		if (take_option(argc, argv, &i, "--on", &wanted->on) ||
			take_option(argc, argv, &i, "--pid", &wanted->pid) ||
			take_option(argc, argv, &i, "--device", &wanted->device))
			continue;
		if (wanted->nb_words == 0 && wanted->socket == NULL && strchr(argv[i], '/') != NULL)
			wanted->socket = argv[i];
		else if (wanted->nb_words < WORDS_MAX)
			wanted->word[wanted->nb_words++] = argv[i];
	}
	if (wanted->socket != NULL && wanted->on != NULL) {
		fprintf(stderr, "softhca ctl: either %s or --on %s\n", wanted->socket, wanted->on);
		return -EINVAL;
	}
	if (wanted->pid != NULL &&
		(wanted->pid[0] == '\0' ||
			strspn(wanted->pid, "0123456789") != strlen(wanted->pid))) {
		fprintf(stderr, "softhca ctl: --pid takes a number, not '%s'\n", wanted->pid);
		return -EINVAL;
	}
	if (wanted->device != NULL && device_number(wanted->device) < 0) {
		fprintf(stderr, "softhca ctl: --device takes mlx5_0, mlx5_1, ...; not '%s'\n",
			wanted->device);
		return -EINVAL;
	}
	if (shca_request_parse(
		    wanted->word, wanted->nb_words, &wanted->request, error, sizeof(error)) != 0) {
		fprintf(stderr, "softhca ctl: %s\n", error);
		return -EINVAL;
	}
	if (wanted->device != NULL && wanted->request.port < 0 &&
		wanted->request.command->takes_port)
		wanted->request.port = device_number(wanted->device);
	return 0;
}

static void
add_candidate(const char *path, void *arg)
{
	struct candidates *found = arg;
	struct candidate *entry =
		reallocarray(found->entry, found->nb + 1, sizeof(found->entry[0]));

	if (entry == NULL)
		return;
	found->entry = entry;
	entry[found->nb++] = (struct candidate){ .path = strdup(path) };
}

static const char *
next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line == '\n' ? line + 1 : line;
}

/** @return whether a line of @p who begins with that process. */
static bool
names(const char *who, long pid)
{
	for (const char *line = who; *line != '\0'; line = next_line(line))
		if (strtol(line, NULL, 10) == pid)
			return true;
	return false;
}

/** @return whether @p who is the user's choice: "PID PROGRAM mlx5_0 mlx5_1", and on a card lines of
 * its programs. */
static bool
is_wanted(const struct wanted *wanted, const char *who)
{
	char device[24];
	const char *found;

	if (wanted->pid != NULL && !names(who, strtol(wanted->pid, NULL, 10)))
		return false;
	if (wanted->device == NULL)
		return true;
	snprintf(device, sizeof(device), " mlx5_%d", device_number(wanted->device));
	found = strstr(who, device);
	return found != NULL && strchr(" \n", found[strlen(device)]) != NULL;
}

static void
free_candidates(struct candidates *found)
{
	for (unsigned int i = 0; i < found->nb; i++) {
		free(found->entry[i].path);
		free(found->entry[i].who);
	}
	free(found->entry);
}

/** @return whether the one that --pid names has answered. */
static bool
is_the_one(const struct app_ctl_asked *answered, void *arg)
{
	const struct wanted *wanted = arg;

	return wanted->pid != NULL && answered->ret == 0 && is_wanted(wanted, answered->text);
}

/** Ask all candidates for their processes and devices; drop those that the user does not mean, or
 * that are gone. Who does not answer is named, unless it is known who is meant. */
static void
choose(struct candidates *found, struct wanted *wanted)
{
	struct app_ctl_asked *asked = calloc(found->nb + 1, sizeof(*asked));
	unsigned int nb = 0;

	if (asked == NULL)
		return;
	for (unsigned int i = 0; i < found->nb; i++)
		asked[i].path = found->entry[i].path;
	app_ctl_client_all(asked, found->nb, "devices", is_the_one, wanted);
	for (unsigned int i = 0; i < found->nb; i++) {
		char *path = found->entry[i].path;

		if (asked[i].ret == 0 && is_wanted(wanted, asked[i].text)) {
			found->entry[nb++] = (struct candidate){ path, asked[i].text };
			continue;
		}
		if (asked[i].ret == -EAGAIN && asked[i].text != NULL)
			fprintf(stderr, "softhca ctl: %s\n", asked[i].text);
		free(path);
		free(asked[i].text);
	}
	found->nb = nb;
	free(asked);
}

/** @return the private directory of the runner above this process, or NULL. */
static const char *
own_runner(void)
{
	const char *dir = getenv(SHCA_ENV_DIR);

	return dir == NULL || dir[0] == '\0' ? NULL : dir;
}

static void
complain_of(const char *who)
{
	for (const char *line = who; *line != '\0'; line = next_line(line))
		fprintf(stderr, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

/** @return the socket's path, which the caller frees, or NULL after a message. */
static char *
find_socket(struct wanted *wanted)
{
	struct candidates found = { .nb = 0 };
	char *path = NULL;

	shca_ctl_socket_find(own_runner(), add_candidate, &found);
	if (found.nb > 1 || wanted->pid != NULL || wanted->device != NULL)
		choose(&found, wanted);
	if (found.nb == 0)
		fprintf(stderr, "softhca ctl: no program has such a device open%s\n",
			own_runner() == NULL ? "" : " below this runner");
	else if (found.nb == 1)
		path = strdup(found.entry[0].path);
	else
		fprintf(stderr, "softhca ctl: which one? Say --pid or --device:\n");
	for (unsigned int i = 0; found.nb > 1 && i < found.nb; i++)
		complain_of(found.entry[i].who);
	free_candidates(&found);
	return path;
}

/** Run "devices" without a socket: print all processes found. */
static int
list_all(struct wanted *wanted)
{
	struct candidates found = { .nb = 0 };
	unsigned int nb_told = 0; /* fewer than found, if processes end meanwhile */
	bool json = wanted->request.json;

	shca_ctl_socket_find(own_runner(), add_candidate, &found);
	choose(&found, wanted);
	if (json)
		printf("[");
	for (unsigned int i = 0; i < found.nb; i++) {
		char *text = NULL;

		if (json && app_ctl_client_once(found.entry[i].path, "devices --json", &text) == 0)
			printf("%s%.*s", nb_told++ == 0 ? "" : ", ", (int)strcspn(text, "\n"),
				text);
		if (!json)
			printf("%s", found.entry[i].who);
		free(text);
	}
	if (json)
		printf("]\n");
	free_candidates(&found);
	return 0;
}

static int
ask(const char *path, const struct shca_request *request)
{
	char line[256], port[24] = "";
	char *text = NULL;
	int ret;

	/* The device would take it for several words, or requests. */
	if (request->argument != NULL && strpbrk(request->argument, " \t\r\n") != NULL) {
		fprintf(stderr, "softhca ctl: %s takes one word: what is '%s'?\n",
			request->command->name, request->argument);
		return MISUSED;
	}
	if (request->port >= 0)
		snprintf(port, sizeof(port), " --port %d", request->port);
	if (snprintf(line, sizeof(line), "%s%s%s%s%s", request->command->name,
		    request->json ? " --json" : "", port, request->argument == NULL ? "" : " ",
		    request->argument == NULL ? "" : request->argument) >= (int)sizeof(line)) {
		fprintf(stderr, "softhca ctl: the argument is too long\n");
		return MISUSED;
	}
	ret = app_ctl_client_once(path, line, &text);
	if (ret == 0)
		fputs(text, stdout);
	else
		fprintf(stderr, "softhca ctl: %s\n", text);
	free(text);
	return ret == 0 && fflush(stdout) == 0 ? 0 : REFUSED;
}

static int
set_card_socket(struct wanted *wanted, char *path, size_t size)
{
	char dir[SHCA_TREE_DIR_MAX];
	int ret = app_card_check_name(wanted->on);

	if (ret == 0)
		ret = app_card_find(wanted->on, dir, sizeof(dir));
	if (ret == 0)
		snprintf(path, size, "%s/" SHCA_CTL_SOCKET_FIRST, dir);
	wanted->socket = path;
	return ret;
}

int
app_ctl(int argc, char *argv[])
{
	struct wanted wanted = { .nb_words = 0 };
	char card_socket[PATH_MAX];
	char *path;
	int ret;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		app_ctl_help(stdout);
		return 0;
	}
	if (parse(argc, argv, &wanted) != 0)
		return MISUSED;
	if (wanted.on != NULL && set_card_socket(&wanted, card_socket, sizeof(card_socket)) != 0)
		return REFUSED;
	if (wanted.socket == NULL && strcmp(wanted.request.command->name, "devices") == 0)
		return list_all(&wanted);
	path = wanted.socket != NULL ? strdup(wanted.socket) : find_socket(&wanted);
	if (path == NULL)
		return REFUSED;
	if (strcmp(wanted.request.command->name, "trace") == 0)
		ret = app_trace(path, &wanted.request) == 0 ? 0 : REFUSED;
	else
		ret = ask(path, &wanted.request);
	free(path);
	return ret;
}
