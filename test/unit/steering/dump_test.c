/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose an object is, as text and as JSON. */
#include "steering/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/json.h"

static const struct shca_context context = { .ctxn = 3, .pid = 12, .comm = "a \"b\"" };

static void
test_text(void **state)
{
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	shca_dump_context(NULL, "of ", out);
	shca_dump_context(&context, "of ", out);
	fclose(out);
	assert_string_equal(text, "of pid 12 comm a \"b\" ctxn 3");
}

static void
test_json(void **state)
{
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct shca_json json;

	(void)state;
	assert_non_null(out);
	shca_json_init(&json, out);
	shca_json_open(&json, NULL, '{');
	shca_dump_add_context(NULL, &json);
	shca_dump_add_context(&context, &json);
	shca_json_close(&json);
	fclose(out);
	assert_string_equal(text, "{\"ctxn\": 3, \"pid\": 12, \"comm\": \"a \\\"b\\\"\"}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
