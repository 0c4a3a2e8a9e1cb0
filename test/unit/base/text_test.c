/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of a fixed room, and refusals written to them. */
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/refuse.h"

static void
test_append(void **state)
{
	char text[8] = "ab";

	(void)state;
	shca_text_append(text, sizeof(text), "%s", "cd");
	assert_string_equal(text, "abcd");
	shca_text_append(text, sizeof(text), "%d", 56789);
	assert_string_equal(text, "abcd567");
	shca_text_append(text, sizeof(text), "x");
	assert_string_equal(text, "abcd567");
	shca_text_append(text, 0, "x");
	assert_string_equal(text, "abcd567");
}

static void
test_numbers(void **state)
{
	static const struct {
		const char *text;
		int base;
		uint64_t max;
		bool is_one;
		uint64_t number;
	} cases[] = {
		{ "0", 10, 0, true, 0 },
		{ "12", 10, 12, true, 12 },
		{ "13", 10, 12, false, 0 },
		{ "0x10", 10, 99, false, 0 },
		{ "0x10", 0, 99, true, 16 },
		{ "", 10, 99, false, 0 },
		{ " 1", 10, 99, false, 0 },
		{ "-1", 10, UINT64_MAX, false, 0 },
		{ "1 ", 10, 99, false, 0 },
		{ "18446744073709551615", 10, UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", 10, UINT64_MAX, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t number;

		if (shca_text_number(cases[i].text, cases[i].base, cases[i].max, &number) !=
			cases[i].is_one)
			fail_msg("'%s'", cases[i].text);
		if (cases[i].is_one)
			assert_true(number == cases[i].number);
	}
}

static void
test_macs(void **state)
{
	static const uint8_t wanted[6] = { 2, 0, 0, 0xab, 0xcd, 0x1e };
	static const char *const macs[] = { "02:00:00:ab:cd:1e", "2:0:0:AB:Cd:1e" },
				 *const others[] = { "", "02:00:00:ab:cd", "02:00:00:ab:cd:1e:00",
					 "02:00:00:ab:cd:-1", "02:00:00:ab:cd: 1",
					 "+2:00:00:ab:cd:1e", "02:00:00:ab:cd:01e",
					 "02:00:00:ab:cd:1g", "02::00:ab:cd:1e",
					 "02:00:00:ab:cd:0x" };
	uint8_t mac[6];

	(void)state;
	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		assert_true(shca_text_mac(macs[i], mac));
		assert_memory_equal(mac, wanted, sizeof(wanted));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (shca_text_mac(others[i], mac))
			fail_msg("'%s'", others[i]);
}

static void
test_refusals(void **state)
{
	static const struct {
		unsigned int line;
		const char *key, *text;
	} cases[] = {
		{ 0, NULL, "'7' is odd" },
		{ 3, NULL, "line 3: '7' is odd" },
		{ 0, "mac", "mac: '7' is odd" },
		{ 3, "mac", "line 3: mac: '7' is odd" },
		{ 0, "a key that leaves no room for", "a key that leaves no room for: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32] = "what was there";
		const struct shca_refusal refusal = {
			.text = text,
			.size = sizeof(text),
			.line = cases[i].line,
			.key = cases[i].key,
		};

		assert_int_equal(shca_refuse(&refusal, "'%d' is %s", 7, "odd"), -EINVAL);
		assert_true(strncmp(text, cases[i].text, strlen(cases[i].text)) == 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_macs),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
