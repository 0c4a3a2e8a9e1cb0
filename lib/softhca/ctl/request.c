/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: words -> command, port, argument. */
#include "ctl/request.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WORDS_MAX 8

static const struct shca_request_command *
find(const char *name)
{
	for (unsigned int i = 0; shca_request_commands[i].name != NULL; i++)
		if (strcmp(shca_request_commands[i].name, name) == 0)
			return &shca_request_commands[i];
	return NULL;
}

static int
refuse_command(const char *name, char *error, size_t error_size)
{
	snprintf(error, error_size, "no command '%.32s'; there are", name);
	for (unsigned int i = 0; shca_request_commands[i].name != NULL; i++)
		shca_text_append(error, error_size, "%s%s", i == 0 ? " " : ", ",
			shca_request_commands[i].name);
	return -EINVAL;
}

static int
parse_port(const char *text, int *port)
{
	char *end;
	unsigned long value;

	if (text == NULL || !isdigit((unsigned char)text[0]) || strlen(text) > 4)
		return -EINVAL;
	value = strtoul(text, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	*port = (int)value;
	return 0;
}

int
shca_request_parse(char *const words[], unsigned int nb_words, struct shca_request *request,
	char *error, size_t error_size)
{
	const struct shca_request_command *command = find(nb_words == 0 ? "" : words[0]);
	struct shca_request new = { .command = command, .port = -1 };

	if (command == NULL)
		return refuse_command(nb_words == 0 ? "" : words[0], error, error_size);
	for (unsigned int i = 1; i < nb_words; i++) {
		const char *next = i + 1 < nb_words ? words[i + 1] : NULL;

		if (strcmp(words[i], "--json") == 0) {
			new.json = true;
		} else if (strcmp(words[i], "--tx") == 0 && command->takes_tx) {
			new.tx = true;
		} else if (strcmp(words[i], "--port") == 0 && command->takes_port) {
			if (parse_port(next, &new.port) != 0) {
				snprintf(error, error_size,
					"--port takes the number of a port, 0 is mlx5_0; not '%.32s'",
					next == NULL ? "" : next);
				return -EINVAL;
			}
			i++;
		} else if (words[i][0] == '-' && words[i][1] != '\0') {
			snprintf(error, error_size, "%s takes --json%s%s; not '%.32s'",
				command->name, command->takes_port ? " and --port N" : "",
				command->takes_tx ? " and --tx" : "", words[i]);
			return -EINVAL;
		} else if (command->argument == NULL || new.argument != NULL) {
			snprintf(error, error_size, "%s takes %s%s; '%.32s' is too much",
				command->name, command->argument == NULL ? "no argument" : "one ",
				command->argument == NULL ? "" : command->argument, words[i]);
			return -EINVAL;
		} else {
			new.argument = words[i];
		}
	}
	if (command->argument != NULL && command->argument[0] != '[' && new.argument == NULL) {
		snprintf(error, error_size, "%s what? It takes %s", command->name,
			command->argument);
		return -EINVAL;
	}
	*request = new;
	return 0;
}

int
shca_request_parse_line(char *line, struct shca_request *request, char *error, size_t error_size)
{
	char *words[WORDS_MAX];
	unsigned int nb = 0;
	char *rest;

	for (char *word = strtok_r(line, " \t\r\n", &rest); word != NULL;
		word = strtok_r(NULL, " \t\r\n", &rest)) {
		if (nb == WORDS_MAX) {
			snprintf(error, error_size, "more than %u words", WORDS_MAX);
			return -EINVAL;
		}
		words[nb++] = word;
	}
	return shca_request_parse(words, nb, request, error, error_size);
}
