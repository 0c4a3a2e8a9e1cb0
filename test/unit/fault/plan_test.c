/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults files: what lines mean, and what is said of those that mean nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fault/plan.h"
#include "fault/verb.h"

#define NB_DEVICES 2

/** A fault as text: kind, when, device, direction, verb, numbers. */
static void
print_fault(const struct shca_fault *fault, char *text, size_t size)
{
	static const char *const whens[] = { "unsaid", "at", "every", "from", "chance" };

	size_t used = 0;

	used += (size_t)snprintf(text, size, "%d %s %llu/%llu of %d %s %s %llu error %d",
		fault->row->kind, whens[fault->when], (unsigned long long)fault->n,
		(unsigned long long)fault->chance, fault->device, fault->is_tx ? "tx" : "rx",
		fault->verb != NULL ? fault->verb->name : "-", (unsigned long long)fault->number,
		fault->row->error);
	if (fault->syndrome != 0)
		used += (size_t)snprintf(text + used, size - used, " syndrome %u", fault->syndrome);
	if (fault->queue != 0)
		used += (size_t)snprintf(text + used, size - used, " queue %u", fault->queue);
	if (fault->ns != 0)
		snprintf(text + used, size - used, " ns %llu", (unsigned long long)fault->ns);
}

static const struct {
	const char *line;
	const char *fault;
} good[] = {
	{ "wire loss 1%", "0 chance 0/42949672 of -1 rx - 0 error 0" },
	{ "wire loss 100%", "0 chance 0/4294967296 of -1 rx - 0 error 0" },
	{ "wire loss 0.5% tx", "0 chance 0/21474836 of -1 tx - 0 error 0" },
	{ "wire loss 0.000001%", "0 chance 0/42 of -1 rx - 0 error 0" },
	{ "wire loss at 1", "0 at 1/0 of -1 rx - 0 error 0" },
	{ "wire loss at 1 frame", "0 at 1/0 of -1 rx - 0 error 0" },
	{ "wire loss from 18446744073709551615 frames rx",
		"0 from 18446744073709551615/0 of -1 rx - 0 error 0" },
	{ "\t wire  duplicate\tevery 10\r", "1 every 10/0 of -1 rx - 0 error 0" },
	{ "wire duplicate of mlx5_1 every 10 tx # twice", "1 every 10/0 of 1 tx - 0 error 0" },
	{ "wire reorder by 3 0.5%", "2 chance 0/21474836 of -1 rx - 3 error 0" },
	{ "wire reorder every 7 by 1024 frames", "2 every 7/0 of -1 rx - 1024 error 0" },
	{ "wire corrupt at 9#x", "3 at 9/0 of -1 rx - 0 error 0" },
	{ "wire truncate 2.25%", "4 chance 0/96636764 of -1 rx - 0 error 0" },
	{ "wire truncate to 14 bytes at 2 of mlx5_0", "4 at 2/0 of 0 rx - 14 error 0" },
	{ "verb enomem CREATE_QP at 3", "5 at 3/0 of -1 rx CREATE_QP 0 error 12" },
	{ "verb eagain any every 2 calls", "5 every 2/0 of -1 rx - 0 error 11" },
	{ "sq error 0x04 at 100 of mlx5_0", "6 at 100/0 of 0 rx - 0 error 0 syndrome 4" },
	{ "sq error 255 every 3 wqes queue 2",
		"6 every 3/0 of -1 rx - 0 error 0 syndrome 255 queue 2" },
	{ "sq fatal queue 4294967295 at 1 wqe", "7 at 1/0 of -1 rx - 0 error 0 queue 4294967295" },
	{ "rq error 0x1 1%", "8 chance 0/42949672 of -1 rx - 0 error 0 syndrome 1" },
	{ "rq fatal from 3", "9 from 3/0 of -1 rx - 0 error 0" },
	{ "cq overrun at 10 cqes queue 1", "10 at 10/0 of -1 rx - 0 error 0 queue 1" },
	{ "link flap every 10000 frames", "11 every 10000/0 of -1 rx - 0 error 0" },
	{ "link flap 1% for 20 frames tx", "11 chance 0/42949672 of -1 tx - 20 error 0" },
	{ "link flap at 3 for 1", "11 at 3/0 of -1 rx - 1 error 0" },
	{ "link flap at 3 for 20ms of mlx5_1", "11 at 3/0 of 1 rx - 0 error 0 ns 20000000" },
	{ "device fatal at 50000 tx", "12 at 50000/0 of -1 tx - 0 error 0" },
	{ "device slow every 100 by 5us", "13 every 100/0 of -1 rx - 0 error 0 ns 5000" },
	{ "device slow by 3600s at 1", "13 at 1/0 of -1 rx - 0 error 0 ns 3600000000000" },
	{ "verb slow CREATE_QP at 3 by 1s",
		"14 at 3/0 of -1 rx CREATE_QP 0 error 0 ns 1000000000" },
	{ "verb etimedout reg_mr from 2 of mlx5_1", "5 from 2/0 of 1 rx REG_MR 0 error 110" },
};

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct shca_plan plan;
		char error[2048] = "", text[256];

		assert_int_equal(
			shca_plan_parse(good[i].line, NB_DEVICES, &plan, error, sizeof(error)), 0);
		assert_string_equal(error, "");
		assert_int_equal(plan.nb, 1);
		print_fault(&plan.fault[0], text, sizeof(text));
		assert_string_equal(text, good[i].fault);
	}
}

static const struct {
	const char *text;
	const char *error; /* as it begins */
} bad[] = {
	{ "wird loss 1%",
		"line 1: 'wird': a line begins with seed, wire, link, device, verb, sq, rq, cq" },
	{ "\n# x\n  wire lose 1%",
		"line 3: 'lose': wire is followed by one of loss, duplicate, reorder, corrupt, "
		"truncate" },
	{ "wire", "line 1: at its end: wire is followed by one of loss, duplicate, reorder" },
	{ "WIRE loss 1%", "line 1: 'WIRE': a line begins with seed, wire" },
	{ "wire loss",
		"line 1: 'wire loss' does not say when: at N, every N or from N frames, or P% of "
		"them" },
	{ "wire loss 1% at 3", "line 1: 'at': when is said already" },
	{ "wire loss at 3 5%", "line 1: '5%': when is said already" },
	{ "wire loss 0%", "line 1: '0%': a chance is from 0.000001% to 100%" },
	{ "wire loss 100.1%", "line 1: '100.1%': a chance is" },
	{ "wire loss 1000%", "line 1: '1000%': a chance is" },
	{ "wire loss 0.0000001%", "line 1: '0.0000001%': a chance is" },
	{ "wire loss 1.%", "line 1: '1.%': a chance is" },
	{ "wire loss .5%", "line 1: '.5%': a chance is" },
	{ "wire loss -1%", "line 1: '-1%': a chance is" },
	{ "wire loss 1%%", "line 1: '1%%': a chance is" },
	{ "wire loss 1", "line 1: '1': it is wire loss WHEN [rx|tx] [of mlx5_N]" },
	{ "wire loss at 0", "line 1: '0': at is followed by a number from 1" },
	{ "wire loss every", "line 1: at its end: every is followed by a number from 1" },
	{ "wire loss from 1x", "line 1: '1x': from is followed by a number from 1" },
	{ "wire loss at -1", "line 1: '-1': at is followed by a number" },
	{ "wire loss at 18446744073709551616", "line 1: '18446744073709551616': at is followed" },
	{ "wire loss at 3 packets", "line 1: 'packets': these are frames" },
	{ "wire truncate 1% to 64 frames", "line 1: 'frames': these are bytes" },
	{ "verb eio any at 3 frames", "line 1: 'frames': these are calls" },
	{ "wire loss 1% by 3", "line 1: 'by': it is wire loss WHEN [rx|tx] [of mlx5_N]" },
	{ "wire loss 1% both", "line 1: 'both': it is wire loss WHEN [rx|tx] [of mlx5_N]" },
	{ "wire loss 1% rx tx", "line 1: 'tx': said already" },
	{ "wire loss 1% of", "line 1: at its end: of is followed by a device, mlx5_0 to mlx5_1" },
	{ "wire loss 1% of mlx5_2", "line 1: 'mlx5_2': of is followed by a device, mlx5_0 to" },
	{ "wire loss 1% of eth0", "line 1: 'eth0': of is followed by a device" },
	{ "wire loss 1% of mlx5_0 of mlx5_0", "line 1: 'of': said already" },
	{ "wire reorder 1%",
		"line 1: 'wire reorder 1%' does not say by how much: it is wire reorder WHEN by "
		"N" },
	{ "wire reorder 1% by 0", "line 1: '0': by is followed by a number from 1 to 1024" },
	{ "wire reorder 1% by 1025", "line 1: '1025': by is followed by a number from 1 to 1024" },
	{ "wire reorder by 2 by 2 1%", "line 1: 'by': said already" },
	{ "wire truncate 1% to 13", "line 1: '13': to is followed by a number from 14 to" },
	{ "wire truncate 1% to", "line 1: at its end: to is followed by a number from 14 to" },
	{ "verb enoent any at 1",
		"line 1: 'enoent': verb is followed by one of slow, eperm, eio, eagain, enomem" },
	{ "verb enomem CREATE_QPS at 1", "line 1: 'CREATE_QPS': there are any, GET_CONTEXT, " },
	{ "verb enomem", "line 1: at its end: there are any, GET_CONTEXT" },
	{ "verb enomem at 1", "line 1: 'at': there are any" },
	{ "verb enomem any at 1 tx", "line 1: 'tx': it is verb enomem NAME|any WHEN [of mlx5_N]" },
	{ "sq", "line 1: at its end: sq is followed by one of error, fatal" },
	{ "rq overrun at 1", "line 1: 'overrun': rq is followed by one of error, fatal" },
	{ "cq error 0x04 at 1", "line 1: 'error': cq is followed by one of overrun" },
	{ "sq error at 3", "line 1: 'at': sq error is followed by a syndrome from 0x01 to 0xff" },
	{ "sq error", "line 1: at its end: sq error is followed by a syndrome" },
	{ "rq error 0 at 3", "line 1: '0': rq error is followed by a syndrome from 0x01 to 0xff" },
	{ "rq error 0x100 at 3", "line 1: '0x100': rq error is followed by a syndrome" },
	{ "rq error 0x4g at 3", "line 1: '0x4g': rq error is followed by a syndrome" },
	{ "rq error -1 at 3", "line 1: '-1': rq error is followed by a syndrome" },
	{ "sq fatal 0x04 at 3", "line 1: '0x04': it is sq fatal WHEN [queue N] [of mlx5_N]" },
	{ "sq fatal at 3 queue 0", "line 1: '0': queue is followed by a number from 1 to" },
	{ "sq fatal at 3 queue", "line 1: at its end: queue is followed by a number" },
	{ "sq fatal at 3 queue 1 queue 2", "line 1: 'queue': said already" },
	{ "sq fatal at 3 tx", "line 1: 'tx': it is sq fatal WHEN [queue N] [of mlx5_N]" },
	{ "sq fatal at 3 frames", "line 1: 'frames': these are wqes" },
	{ "cq overrun at 3 wqes", "line 1: 'wqes': these are cqes" },
	{ "wire loss at 3 queue 1", "line 1: 'queue': it is wire loss WHEN" },
	{ "link down at 3", "line 1: 'down': link is followed by one of flap" },
	{ "link flap at 3 for", "line 1: at its end: for is followed by a number from 1" },
	{ "link flap at 3 for 0", "line 1: '0': for is followed by a number from 1" },
	{ "link flap at 3 for ever", "line 1: 'ever': for is followed by a number from 1" },
	{ "link flap at 3 for 5m",
		"line 1: '5m': for is followed by a time from 1us to 3600s, in" },
	{ "link flap at 3 for 0ms", "line 1: '0ms': for is followed by a time" },
	{ "link flap at 3 for 5 packets", "line 1: 'packets': these are frames" },
	{ "device dead at 3", "line 1: 'dead': device is followed by one of fatal, slow" },
	{ "device fatal", "line 1: 'device fatal' does not say when: at N, every N or from N" },
	{ "device fatal at 3 by 5ms", "line 1: 'by': it is device fatal WHEN [rx|tx] [of mlx5_N]" },
	{ "device slow at 3", "line 1: 'device slow at 3' does not say by how much: it is device" },
	{ "device slow at 3 by 5",
		"line 1: '5': by is followed by a time from 1us to 3600s, in us" },
	{ "device slow at 3 by 3601s", "line 1: '3601s': by is followed by a time from 1us to" },
	{ "device slow at 3 by 99999999999999999999us", "line 1: '99999999999999999999us': by is" },
	{ "device slow at 3 by -5ms", "line 1: '-5ms': by is followed by a time" },
	{ "device slow at 3 by", "line 1: at its end: by is followed by a time" },
	{ "verb slow by 5ms at 1", "line 1: 'by': there are any, GET_CONTEXT" },
	{ "verb slow any at 1",
		"line 1: 'verb slow any at 1' does not say by how much: it is verb" },
	{ "verb eio any at 1 by 5ms", "line 1: 'by': it is verb eio NAME|any WHEN [of mlx5_N]" },
	{ "seed", "line 1: at its end: seed is followed by a number from 0" },
	{ "seed x", "line 1: 'x': seed is followed by a number from 0" },
	{ "seed 1 2", "line 1: '2': it is seed N" },
	{ "seed 1\nseed 1", "line 2: 'seed': said already" },
	{ "wire loss 1% \x01", "line 1: character 0x01" },
	{ "a a a a a a a a a a a a a a a a b", "line 1: 'b': more than 16 words" },
};

static void
test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct shca_plan plan;
		char error[2048] = "";

		assert_int_equal(
			shca_plan_parse(bad[i].text, NB_DEVICES, &plan, error, sizeof(error)),
			-EINVAL);
		if (strncmp(error, bad[i].error, strlen(bad[i].error)) != 0)
			fail_msg("%s\n  is     %s\n  wanted %s", bad[i].text, error, bad[i].error);
	}
}

static void
test_whole(void **state)
{
	struct shca_plan plan;
	char error[256] = "";

	(void)state;
	assert_int_equal(shca_plan_parse("", 1, &plan, error, sizeof(error)), 0);
	assert_int_equal(plan.nb, 0);
	assert_int_equal(plan.seed, 1);
	assert_int_equal(shca_plan_parse("# first\n\nwire   loss 1%  # of all\n"
					 " seed 42\n\nverb eio any\tat 2 calls",
				 1, &plan, error, sizeof(error)),
		0);
	assert_int_equal(plan.seed, 42);
	assert_int_equal(plan.nb, 2);
	assert_int_equal(plan.fault[0].line, 3);
	assert_string_equal(plan.fault[0].text, "wire loss 1%");
	assert_int_equal(plan.fault[1].line, 6);
	assert_string_equal(plan.fault[1].text, "verb eio any at 2 calls");
}

static void
test_most(void **state)
{
	char text[(SHCA_PLAN_MAX + 1) * 20] = "", error[256] = "";
	struct shca_plan plan;

	(void)state;
	for (unsigned int i = 0; i < SHCA_PLAN_MAX; i++)
		strcat(text, "wire loss at 5\n");
	assert_int_equal(shca_plan_parse(text, 1, &plan, error, sizeof(error)), 0);
	strcat(text, "wire loss at 5\n");
	assert_int_equal(shca_plan_parse(text, 1, &plan, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "line 65: more than 64 faults");
}

/** Errors are cut to their room. */
static void
test_small_room(void **state)
{
	struct shca_plan plan;
	char error[12] = "", line[400];

	(void)state;
	assert_int_equal(shca_plan_parse("wird", 1, &plan, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "line 1: 'wi");
	assert_int_equal(shca_plan_parse("wird", 1, &plan, error, 3), -EINVAL);
	assert_string_equal(error, "li");
	/* And a line to its text's. */
	snprintf(line, sizeof(line), "wire loss at %0300d", 7);
	assert_int_equal(shca_plan_parse(line, 1, &plan, error, sizeof(error)), 0);
	assert_int_equal(plan.fault[0].n, 7);
	assert_int_equal(strlen(plan.fault[0].text), SHCA_PLAN_TEXT_MAX - 1);
}

/** Words that belong together and others, by chance: each line is taken or refused, and says why.
 */
static void
test_any_words(void **state)
{
	static const char *const words[] = { "seed", "wire", "loss", "reorder", "truncate", "verb",
		"enomem", "slow", "any", "CREATE_QP", "sq", "rq", "error", "fatal", "0x04", "cq",
		"overrun", "link", "flap", "device", "at", "every", "from", "1", "0", "7", "1%",
		"0.5%", "100%", "%", "rx", "tx", "by", "to", "for", "5ms", "20", "frames", "frame",
		"calls", "of", "mlx5_0", "mlx5_", "queue", "#", "\n", "\t", "18446744073709551615",
		"18446744073709551616" };
	const unsigned int nb_words = sizeof(words) / sizeof(words[0]);
	unsigned int nb_taken = 0;
	uint32_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		struct shca_plan plan;
		char text[512] = "", error[256] = "";
		const struct shca_fault_row *row;
		int ret;

		/* Most lines begin well. */
		row = &shca_fault_rows[i % 16];
		if (i % 7 != 0)
			snprintf(text, sizeof(text), "%s %s ", row->subject, row->action);
		for (unsigned int w = 0; w < 1 + i % 10; w++) {
			random = random * 1664525 + 1013904223;
			strcat(strcat(text, words[(random >> 8) % nb_words]), " ");
		}
		ret = shca_plan_parse(text, NB_DEVICES, &plan, error, sizeof(error));
		if (ret != 0)
			assert_memory_equal(error, "line ", 5);
		else
			assert_string_equal(error, "");
		nb_taken += ret == 0 && plan.nb != 0;
	}
	assert_true(nb_taken > 20);
}

static void
test_verbs(void **state)
{
	(void)state;
	for (const struct shca_verb *verb = shca_verbs; verb->name != NULL; verb++) {
		assert_ptr_equal(shca_verb_find(verb->name), verb);
		if (verb->is_write)
			assert_ptr_equal(shca_verb_of_command(verb->number), verb);
		else
			assert_ptr_equal(
				shca_verb_of_method(verb->object, (uint16_t)verb->number), verb);
	}
	assert_null(shca_verb_find("any"));
	assert_null(shca_verb_of_method(0xffff, 0));
	assert_null(shca_verb_of_command(0xffff));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_small_room),
		cmocka_unit_test(test_any_words),
		cmocka_unit_test(test_verbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
