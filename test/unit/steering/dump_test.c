/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose an object is, as text and as JSON. */
#include "steering/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/json.h"
#include "steering/steering.h"

#include "build.h"

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

/** The TCI is three fields in the device, each by its own name. */
static void
test_parts_of_a_tag(void **state)
{
	const struct ib_uverbs_flow_eth_filter value = { .vlan_tag = BE16(0x6005) };
	const struct ib_uverbs_flow_eth_filter mask = { .vlan_tag = BE16(0xe00f) };
	struct shca_steering *steering = shca_steering_create(&(struct shca_steering_conf){ 0 });
	struct shca_rule_attr attr = { .tir = steering };
	struct shca_json json;
	struct shca_dump_conf conf = { .json = &json };
	struct specs specs = { 0 };
	struct shca_rule *rule;
	char *text;
	size_t length;

	(void)state;
	assert_non_null(steering);
	specs_add(&specs, IBV_FLOW_SPEC_ETH, &value, &mask, sizeof(value));
	attr.nb_specs = specs.nb;
	attr.specs = specs_bytes(&specs);
	attr.specs_length = specs.length;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), 0);
	conf.out = open_memstream(&text, &length);
	assert_non_null(conf.out);
	shca_json_init(&json, conf.out);
	shca_json_open(&json, NULL, '{');
	shca_dump_tables(steering, &conf);
	shca_json_close(&json);
	fclose(conf.out);
	assert_non_null(strstr(text,
		"\"match\": {\"out.cvlan_tag\": \"0x1\", \"out.first_vid\": \"0x5/0xf\", \"out.first_prio\": \"0x3\"}"));
	free(text);
	shca_rule_del(steering, rule);
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_parts_of_a_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
