/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Frames leave the ring whole, in order, and never more of them than fit. */
#include "wire_test.h"

#include <pthread.h>
#include <sched.h>
#include "wire/ring.h"

/** Lengths that make records end at, before and across the ring's end. */
static const uint32_t lengths[] = { 60, 64, 4, 1514, 16, 9000, SHCA_FRAME_MAX, 61 };
#define NB_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void
test_order_and_content(void **state)
{
	struct shca_ring *ring = shca_ring_create(16);
	uint8_t bytes[SHCA_FRAME_MAX];
	uint64_t dropped = 0;
	uint32_t pushed = 0, popped = 0;

	(void)state;
	assert_non_null(ring);
	while (popped < 5000) {
		struct shca_frame frame =
			numbered_frame(bytes, pushed, lengths[pushed % NB_LENGTHS]);
		struct shca_frame out[7];
		unsigned int nb;

		if (shca_ring_push(ring, &frame, 1, &dropped) == 1) {
			pushed++;
			if (pushed % 3 != 0)
				continue;
		}
		nb = shca_ring_pop(ring, out, 7);
		assert_true(nb > 0);
		for (unsigned int i = 0; i < nb; i++, popped++)
			assert_numbered_frame(&out[i], popped, lengths[popped % NB_LENGTHS]);
	}
	assert_int_equal(dropped, 0);
	shca_ring_destroy(ring);
}

static void
test_room_comes_back_with_the_next_pop(void **state)
{
	struct shca_ring *ring = shca_ring_create(16);
	uint8_t bytes[SHCA_FRAME_MAX];
	struct shca_frame frame = numbered_frame(bytes, 1, SHCA_FRAME_MAX - 16), out;
	uint64_t dropped = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(shca_ring_push(ring, &frame, 1, &dropped), 1);
	assert_int_equal(shca_ring_push(ring, &frame, 1, &dropped), 0);
	assert_int_equal(shca_ring_pop(ring, &out, 1), 1);
	assert_int_equal(shca_ring_push(ring, &frame, 1, &dropped), 0);
	assert_int_equal(shca_ring_pop(ring, &out, 1), 1);
	assert_int_equal(shca_ring_push(ring, &frame, 1, &dropped), 1);
	assert_false(shca_ring_is_empty(ring));
	shca_ring_destroy(ring);
}

#define MAX_RUN 40

/** The number of a frame tells its length and port: some of each follow each other, short ones more
 * often. */
static uint32_t
length_of(uint32_t number)
{
	const uint32_t run = number / (1 + number / 500 % MAX_RUN);

	return run % 5 == 4 ? 200 : 28 + run % 40;
}

static uint32_t
port_of(uint32_t number)
{
	return number / 7 % 3;
}

/** @return how many of up to MAX_RUN frames from @p number on were pushed. */
static unsigned int
push_some(struct shca_ring *ring, uint32_t number)
{
	static uint8_t bytes[MAX_RUN][SHCA_FRAME_MAX];
	struct shca_frame frames[MAX_RUN];
	uint64_t dropped = 0;
	unsigned int nb;

	for (unsigned int i = 0; i < MAX_RUN; i++) {
		frames[i] = numbered_frame(bytes[i], number + i, length_of(number + i));
		frames[i].port = port_of(number + i);
	}
	nb = shca_ring_push(ring, frames, 1 + number % MAX_RUN, &dropped);
	assert_int_equal(dropped, 0);
	return nb;
}

/** Many at a time, alike or not, up to a full ring: those that were popped last stay as they are
 * until the next pop, whatever is pushed meanwhile. */
static void
test_many_at_once(void **state)
{
	struct shca_ring *ring = shca_ring_create(16);
	uint32_t pushed = 0, popped = 0;
	unsigned int nb_full = 0;

	(void)state;
	assert_non_null(ring);
	while (popped < 100000) {
		struct shca_frame out[MAX_RUN];
		const unsigned int nb = shca_ring_pop(ring, out, 1 + popped % MAX_RUN);

		for (unsigned int i = 0; i < 1 + popped % 3; i++) {
			const unsigned int wanted = 1 + pushed % MAX_RUN;
			const unsigned int nb_pushed = push_some(ring, pushed);

			pushed += nb_pushed;
			nb_full += nb_pushed < wanted;
		}
		for (unsigned int i = 0; i < nb; i++, popped++) {
			assert_int_equal(out[i].port, port_of(popped));
			out[i].port = 0;
			assert_numbered_frame(&out[i], popped, length_of(popped));
		}
		assert_true(pushed > popped);
	}
	assert_uint_in_range(nb_full, 100, 100000);
	shca_ring_destroy(ring);
}

static void
test_oversized_is_taken_and_counted(void **state)
{
	struct shca_ring *ring = shca_ring_create(16);
	static uint8_t bytes[SHCA_FRAME_MAX + 1];
	struct shca_frame frame = { bytes, sizeof(bytes) }, out;
	uint64_t dropped = 0;

	(void)state;
	assert_int_equal(shca_ring_push(ring, &frame, 1, &dropped), 1);
	assert_int_equal(dropped, 1);
	assert_true(shca_ring_is_empty(ring));
	assert_int_equal(shca_ring_pop(ring, &out, 1), 0);
	shca_ring_destroy(ring);
}

#define NB_THREADED 20000

static void *
produce(void *arg)
{
	uint8_t bytes[SHCA_FRAME_MAX];
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < NB_THREADED; i++) {
		struct shca_frame frame = numbered_frame(bytes, i, 64 + i % 1400);

		while (shca_ring_push(arg, &frame, 1, &dropped) == 0)
			sched_yield();
	}
	return NULL;
}

static void
test_two_threads(void **state)
{
	struct shca_ring *ring = shca_ring_create(16);
	pthread_t producer;
	uint32_t popped = 0;

	(void)state;
	assert_int_equal(pthread_create(&producer, NULL, produce, ring), 0);
	while (popped < NB_THREADED) {
		struct shca_frame out[16];
		unsigned int nb = shca_ring_pop(ring, out, 16);

		for (unsigned int i = 0; i < nb; i++, popped++)
			assert_numbered_frame(&out[i], popped, 64 + popped % 1400);
		if (nb == 0)
			sched_yield();
	}
	pthread_join(producer, NULL);
	shca_ring_destroy(ring);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_content),
		cmocka_unit_test(test_room_comes_back_with_the_next_pop),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_oversized_is_taken_and_counted),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
