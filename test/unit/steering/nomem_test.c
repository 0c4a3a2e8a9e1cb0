/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of each kind of rule fails once: the rule is refused and nothing has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "build.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nb, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nb, size_t size);
void *__wrap_realloc(void *old, size_t size);

/** Allocations until the one that fails; negative: none does. */
static int countdown = -1;
static bool failed;

static bool
fails(void)
{
	if (countdown < 0)
		return false;
	if (countdown-- > 0)
		return false;
	failed = true;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t nb, size_t size)
{
	return fails() ? NULL : __real_calloc(nb, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

static char tirs[32];
static struct shca_flow_counter counters[2];

/** Rules in the order they are made, each over those before it. */
static const struct request {
	uint32_t type, flags;
	unsigned int tir, counter;
	struct spec spec[2];
} requests[] = {
	{ .spec = { { .type = 0x20 } } },                     /* a new table */
	{ .tir = 1, .spec = { { .type = 0x20 } } },           /* one more destination */
	{ .tir = 2, .spec = { { .type = 0x1003 } } },         /* and a counter */
	{ .counter = 1, .spec = { { .type = 0x1003 } } },     /* only a counter more */
	{ .spec = { { .type = 0x41 }, { .type = 0x1003 } } }, /* a new group */
	{ .spec = { { .type = 0x40 } } },                     /* another value of that mask */
	{ .flags = 2, .spec = { { .type = 0x30 } } },
	{ .flags = 4, .spec = { { .type = 0x30 }, { .type = 0x1001 } } },
	{ .type = 1 },
	{ .type = 2, .tir = 3 },
	{ .type = 3 },
	{ .type = 3, .tir = 4 },
};
#define NB_REQUESTS (sizeof(requests) / sizeof(requests[0]))

static int
add(struct shca_steering *steering, const struct request *request, struct shca_rule **rule)
{
	struct specs specs = { 0 };

	for (unsigned int i = 0; i < 2 && request->spec[i].type != 0; i++)
		specs_add_spec(&specs, &request->spec[i]);

	struct shca_rule_attr attr = {
		.type = request->type,
		.flags = request->flags,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tirs[request->tir],
		.counter = &counters[request->counter],
	};

	return shca_rule_add(steering, &attr, rule);
}

static char *
dump(const struct shca_steering *steering)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	shca_steering_dump(steering, out);
	fclose(out);
	return text;
}

/** @return the number of allocations that failed before all went well. */
static unsigned int
sweep(struct shca_steering *steering, const struct request *request, struct shca_rule **rule)
{
	unsigned int nb_failures = 0;

	for (int nth = 0;; nth++) {
		char *before = dump(steering);
		unsigned int nb_receiving = shca_steering_nb_receiving(steering);

		*rule = NULL;
		failed = false;
		countdown = nth;

		int err = add(steering, request, rule);

		countdown = -1;
		if (err == 0 && !failed) {
			free(before);
			return nb_failures;
		}
		/* Growth that only saves time may fail and the rule be made all the same. */
		nb_failures++;
		if (err == 0) {
			shca_rule_del(steering, *rule);
		} else {
			assert_int_equal(err, -ENOMEM);
			assert_null(*rule);
		}

		char *after = dump(steering);

		assert_string_equal(after, before);
		assert_int_equal(shca_steering_nb_receiving(steering), nb_receiving);
		free(after);
		free(before);
	}
}

static void
test_add(void **state)
{
	const struct shca_steering_conf conf = {
		.dont_trap = true,
		.sniffer = true,
		.tunnel_offloads = 0x1f,
		.inner_ip_version = true,
	};
	struct shca_rule *rules[NB_REQUESTS];
	unsigned int nb_failures = 0;

	(void)state;
	countdown = 0;
	assert_null(shca_steering_create(&conf));
	countdown = -1;

	struct shca_steering *steering = shca_steering_create(&conf);

	assert_non_null(steering);
	for (size_t i = 0; i < NB_REQUESTS; i++) {
		unsigned int nb = sweep(steering, &requests[i], &rules[i]);

		assert_true(nb > 0);
		nb_failures += nb;
	}
	assert_true(nb_failures > 3 * NB_REQUESTS);
	for (size_t i = 0; i < NB_REQUESTS; i++)
		shca_rule_del(steering, rules[i]);
	shca_steering_destroy(steering);
}

/** Enough values of one mask for its hash to grow, and enough masks for one-entry groups. */
static void
test_growth(void **state)
{
	enum {
		NB = 20,
	};
	const struct shca_steering_conf conf = { .dont_trap = true };
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule *values[NB], *masks[NB];

	(void)state;
	assert_non_null(steering);
	for (unsigned int i = 0; i < NB; i++) {
		const struct request by_value = {
			.spec = { { .type = 0x30,
				.value.ipv4.tos = (uint8_t)i,
				.mask.ipv4.tos = 0xff } },
		};
		const struct request by_mask = {
			.spec = { { .type = 0x31, .mask.ipv6.traffic_class = (uint8_t)(i + 1) } },
		};

		sweep(steering, &by_value, &values[i]);
		sweep(steering, &by_mask, &masks[i]);
	}
	for (unsigned int i = 0; i < NB; i++) {
		shca_rule_del(steering, values[i]);
		shca_rule_del(steering, masks[i]);
	}
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
