/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: what a line means, and what is said of one that means nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ctl/request.h"

/* clang-format off */
static const struct {
	const char *line;
	const char *command; /* NULL: refused */
	bool json;
	int port;
	const char *says; /* of a refusal */
} cases[] = {
	{ "stats", "stats", false, -1, NULL },
	{ "  stats\t--json ", "stats", true, -1, NULL },
	{ "stats --port 3 --json", "stats", true, 3, NULL },
	{ "stats --port 9999", "stats", false, 9999, NULL },
	{ "stats pci", "stats", false, -1, NULL },
	{ "stats --json pci --port 1", "stats", true, 1, NULL },
	{ "stats pci down", NULL, false, 0, "stats takes one [pci]; 'down' is too much" },
	{ "pci down --port 2", "pci", false, 2, NULL },
	{ "pci", NULL, false, 0, "pci what? It takes on|off" },
	{ "freeze --json", "freeze", true, -1, NULL },
	{ "link down --port 1", "link", false, 1, NULL },
	{ "link", NULL, false, 0, "link what? It takes up|down" },
	{ "link up down", NULL, false, 0, "link takes one up|down; 'down' is too much" },
	{ "", NULL, false, 0, "no command ''; there are devices, stats" },
	{ "state", NULL, false, 0, "no command 'state'; there are devices, stats" },
	{ "stats --port", NULL, false, 0, "--port takes the number of a port" },
	{ "stats --port x", NULL, false, 0, "not 'x'" },
	{ "stats --port -1", NULL, false, 0, "not '-1'" },
	{ "stats --port 1x", NULL, false, 0, "not '1x'" },
	{ "stats --port 99999", NULL, false, 0, "not '99999'" },
	{ "freeze --port 0", NULL, false, 0, "freeze takes --json; not '--port'" },
	{ "stats --jsno", NULL, false, 0, "stats takes --json and --port N; not '--jsno'" },
	{ "trace --tx down", "trace", false, -1, NULL },
	{ "dump --tx", NULL, false, 0, "dump takes --json and --port N; not '--tx'" },
	{ "trace --rx 00", NULL, false, 0, "trace takes --json and --port N and --tx; not '--rx'" },
	{ "thaw 1", NULL, false, 0, "thaw takes no argument; '1' is too much" },
	{ "stats 1 2 3 4 5 6 7 8", NULL, false, 0, "more than 8 words" },
};
/* clang-format on */

static void
lines_mean_what_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_request request = { 0 };
		char line[256], error[256] = "";
		int ret;

		strcpy(line, cases[i].line);
		ret = shca_request_parse_line(line, &request, error, sizeof(error));
		if (cases[i].command == NULL) {
			assert_int_not_equal(ret, 0);
			assert_non_null(strstr(error, cases[i].says));
			assert_null(request.command);
			continue;
		}
		assert_int_equal(ret, 0);
		assert_string_equal(request.command->name, cases[i].command);
		assert_int_equal(request.json, cases[i].json);
		assert_int_equal(request.tx, strstr(cases[i].line, "--tx") != NULL);
		assert_int_equal(request.port, cases[i].port);
		if (strstr(cases[i].line, "down") != NULL)
			assert_string_equal(request.argument, "down");
		else if (strstr(cases[i].line, "pci") != NULL)
			assert_string_equal(request.argument, "pci");
		else
			assert_null(request.argument);
	}
}

/** A command of any length is refused within the room there is for it. */
static void
messages_fit(void **state)
{
	struct shca_request request;
	char line[300], error[40];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	assert_int_not_equal(shca_request_parse_line(line, &request, error, sizeof(error)), 0);
	assert_true(strlen(error) < sizeof(error));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_mean_what_they_say),
		cmocka_unit_test(messages_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
