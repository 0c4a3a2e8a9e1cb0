/* SPDX-License-Identifier: BSD-3-Clause */
/* When faults are due, and the files that a runner leaves for the processes below it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/faults.h"
#include "fault/verb.h"

static struct shca_faults *
make(const char *text)
{
	struct shca_faults *faults;

	assert_int_equal(shca_faults_make(text, 2, &faults), 0);
	return faults;
}

static bool
is_due(const struct shca_faults *faults, uint64_t n)
{
	const struct shca_fault_site site = { .n = n };

	return shca_faults_due(faults, SHCA_FAULT_WIRE_LOSS, &site) != NULL;
}

static void
test_when(void **state)
{
	struct shca_faults *at = make("wire loss at 3"), *every = make("wire loss every 3"),
			   *from = make("wire loss from 3"), *always = make("wire loss 100%");

	(void)state;
	for (uint64_t n = 1; n < 20; n++) {
		assert_int_equal(is_due(at, n), n == 3);
		assert_int_equal(is_due(every, n), n % 3 == 0);
		assert_int_equal(is_due(from, n), n >= 3);
		assert_true(is_due(always, n));
	}
	shca_faults_close(at);
	shca_faults_close(every);
	shca_faults_close(from);
	shca_faults_close(always);
}

#define NB_EVENTS 100000

static unsigned int
count_due(const struct shca_faults *faults)
{
	unsigned int nb = 0;

	for (uint64_t n = 1; n <= NB_EVENTS; n++)
		nb += is_due(faults, n);
	return nb;
}

/** How many of the events @p left and @p right agree about. */
static unsigned int
count_common(const struct shca_faults *left, const struct shca_faults *right)
{
	unsigned int nb = 0;

	for (uint64_t n = 1; n <= NB_EVENTS; n++)
		nb += is_due(left, n) && is_due(right, n);
	return nb;
}

static void
test_chance(void **state)
{
	struct shca_faults *first = make("wire loss 5%"), *again = make("# x\n\nwire loss 5%"),
			   *other = make("seed 2\nwire loss 5%"), *rare = make("wire loss 0.1%");
	unsigned int nb = count_due(first);

	(void)state;
	/* Within 5 standard deviations: 5000 +- 345, 100 +- 50; and it is always the same. */
	assert_uint_in_range(nb, 4655, 5345);
	assert_uint_in_range(count_due(rare), 50, 150);
	assert_int_equal(count_common(first, again), nb);
	/* Another seed is another choice: 250 +- 79 in common. */
	assert_uint_in_range(count_due(other), 4655, 5345);
	assert_uint_in_range(count_common(first, other), 171, 329);
	shca_faults_close(first);
	shca_faults_close(again);
	shca_faults_close(other);
	shca_faults_close(rare);
}

/** Lines, devices and directions choose independently. */
static void
test_places(void **state)
{
	struct shca_faults *faults = make("wire loss 50%\nwire duplicate 50%\n"
					  "wire loss 50% tx of mlx5_1");
	unsigned int both = 0, devices = 0, directions = 0;

	(void)state;
	for (uint64_t n = 1; n <= 10000; n++) {
		const struct shca_fault_site rx0 = { .n = n }, rx1 = { .device = 1, .n = n },
					     tx1 = { .device = 1, .is_tx = true, .n = n },
					     tx0 = { .is_tx = true, .n = n };
		bool lost = shca_faults_due(faults, SHCA_FAULT_WIRE_LOSS, &rx0) != NULL;
		bool lost1 = shca_faults_due(faults, SHCA_FAULT_WIRE_LOSS, &rx1) != NULL;

		both += lost && shca_faults_due(faults, SHCA_FAULT_WIRE_DUPLICATE, &rx0) != NULL;
		devices += lost && lost1;
		directions += lost1 && shca_faults_due(faults, SHCA_FAULT_WIRE_LOSS, &tx1) != NULL;
		assert_null(shca_faults_due(faults, SHCA_FAULT_WIRE_LOSS, &tx0));
	}
	/* 2500 +- 217 each. */
	assert_uint_in_range(both, 2283, 2717);
	assert_uint_in_range(devices, 2283, 2717);
	assert_uint_in_range(directions, 2283, 2717);
	shca_faults_close(faults);
}

static void
test_concern(void **state)
{
	struct shca_faults *faults = make("wire corrupt 1% of mlx5_1\nverb eio any at 1");

	(void)state;
	assert_true(shca_faults_concern(faults, SHCA_FAULT_WIRE_LOSS, SHCA_FAULT_WIRE_TRUNCATE, 1));
	assert_false(
		shca_faults_concern(faults, SHCA_FAULT_WIRE_LOSS, SHCA_FAULT_WIRE_TRUNCATE, 0));
	assert_true(shca_faults_concern(faults, SHCA_FAULT_VERB_ERROR, SHCA_FAULT_VERB_ERROR, 0));
	assert_false(shca_faults_concern(NULL, SHCA_FAULT_WIRE_LOSS, SHCA_FAULT_VERB_ERROR, 0));
	shca_faults_close(faults);
}

static void
test_calls(void **state)
{
	struct shca_faults *faults = make("verb enomem CREATE_QP at 2\nverb eagain any every 5\n"
					  "verb eio DESTROY_QP from 2 of mlx5_1");
	const struct shca_verb *create = shca_verb_find("CREATE_QP");
	const struct shca_verb *destroy = shca_verb_find("DESTROY_QP");
	uint64_t delay_ns = 0;

	(void)state;
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 0, NULL, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), -ENOMEM);
	/* Destruction counts where it is named only; each device counts for itself. */
	assert_int_equal(shca_faults_call(faults, 0, destroy, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 1, destroy, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 1, destroy, &delay_ns), -EIO);
	assert_int_equal(shca_faults_call(faults, 1, destroy, &delay_ns), -EIO);
	assert_int_equal(shca_faults_call(faults, 0, destroy, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), -EAGAIN);
	assert_int_equal(shca_faults_call(faults, 1, create, &delay_ns), 0);
	assert_int_equal(shca_faults_call(faults, 1, create, &delay_ns), -ENOMEM);
	assert_int_equal(faults->applied[0], 2);
	assert_int_equal(faults->applied[1], 1);
	assert_int_equal(faults->applied[2], 2);
	shca_faults_close(faults);
}

/** Slow verbs are slow and do what they do; several add up. */
static void
test_slow_calls(void **state)
{
	struct shca_faults *faults =
		make("verb slow any every 2 by 10us\nverb slow CREATE_QP at 2 by 1ms\n"
		     "verb eio CREATE_QP at 4 of mlx5_0");
	const struct shca_verb *create = shca_verb_find("CREATE_QP");
	uint64_t delay_ns = 0;

	(void)state;
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), 0);
	assert_int_equal(delay_ns, 0);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), 0);
	assert_int_equal(delay_ns, 1010000);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), 0);
	assert_int_equal(delay_ns, 1010000);
	assert_int_equal(shca_faults_call(faults, 0, create, &delay_ns), -EIO);
	assert_int_equal(delay_ns, 1020000);
	shca_faults_close(faults);
}

/** What the runner leaves, devices find; what they apply, the runner counts. */
static void
test_shared(void **state)
{
	char dir[] = "/tmp/faults-test-XXXXXX", command[64], printed[256] = "";
	const char *text = "wire loss 1%  # a\n\nverb eio any at 1\nverb enomem any from 2\n";
	struct shca_faults *runner, *first, *second, *none;
	FILE *out = fmemopen(printed, sizeof(printed), "w");
	uint64_t delay_ns = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(shca_faults_open(dir, 1, &none), 0);
	assert_null(none);
	assert_int_equal(shca_faults_create(dir, text, 1, &runner), 0);
	assert_int_equal(shca_faults_open(dir, 1, &first), 0);
	assert_int_equal(shca_faults_open(dir, 1, &second), 0);
	assert_int_equal(first->plan.nb, 3);
	/* Each process counts its own calls. */
	assert_int_equal(shca_faults_call(first, 0, NULL, &delay_ns), -EIO);
	assert_int_equal(shca_faults_call(second, 0, NULL, &delay_ns), -EIO);
	assert_int_equal(shca_faults_call(second, 0, NULL, &delay_ns), -ENOMEM);
	shca_faults_print(runner, "x: ", out);
	fclose(out);
	assert_string_equal(printed,
		"x: line 1: wire loss 1%: never\n"
		"x: line 3: verb eio any at 1: 2 times\n"
		"x: line 4: verb enomem any from 2: 1 time\n");
	shca_faults_close(first);
	shca_faults_close(second);
	shca_faults_close(runner);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void
test_read(void **state)
{
	char path[] = "/tmp/faults-test-XXXXXX";
	int fd = mkstemp(path);
	char *text;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(shca_faults_read(path, &text), 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(write(fd, "wire\0loss", 9), 9);
	assert_int_equal(shca_faults_read(path, &text), -EILSEQ);
	assert_int_equal(ftruncate(fd, 65537), 0);
	assert_int_equal(shca_faults_read(path, &text), -EFBIG);
	close(fd);
	unlink(path);
	assert_int_equal(shca_faults_read(path, &text), -ENOENT);
	assert_int_equal(shca_faults_read("/", &text), -EISDIR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_concern),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_slow_calls),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
