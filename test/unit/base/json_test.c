/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON: commas, nesting, and strings that need quoting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/json.h"

static void
write_all(struct shca_json *json)
{
	shca_json_open(json, NULL, '{');
	shca_json_number(json, "most", UINT64_MAX);
	shca_json_bool(json, "yes", true);
	shca_json_open(json, "empty", '[');
	shca_json_close(json);
	shca_json_open(json, "list", '[');
	shca_json_string(json, NULL, "%s", "a\"b\\c\n\x01\xe4");
	shca_json_open(json, NULL, '{');
	shca_json_close(json);
	shca_json_bool(json, NULL, false);
	shca_json_close(json);
	shca_json_string(json, "last", "%d", -1);
	shca_json_close(json);
}

static void
writes_what_parsers_read(void **state)
{
	struct shca_json json;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	shca_json_init(&json, out);
	write_all(&json);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text,
		"{\"most\": 18446744073709551615, \"yes\": true, \"empty\": [], "
		"\"list\": [\"a\\\"b\\\\c\\u000a\\u0001\\u00e4\", {}, false], \"last\": \"-1\"}");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(writes_what_parsers_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
