/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pair connects two ends of one ID, each direction on its own; no third end. */
#include "wire_test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct shca_wire_conf red = { .arg = "red", .fd = -1 };
static const struct shca_wire_conf blue = { .arg = "blue", .fd = -1 };

static void
send_one(struct shca_wire *wire, uint32_t number)
{
	uint8_t bytes[100];
	struct shca_frame frame = numbered_frame(bytes, number, sizeof(bytes));

	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
}

static void
receive_one(struct shca_wire *wire, uint32_t number)
{
	struct shca_frame frame;

	assert_int_equal(wire->ops->rx(wire, &frame, 1), 1);
	assert_numbered_frame(&frame, number, 100);
}

static void
test_both_ways(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b = open_wire("pair", &red);
	struct shca_wire *other = open_wire("pair", &blue);
	struct shca_frame frame;

	(void)state;
	send_one(a, 1);
	send_one(b, 2);
	assert_int_equal(other->ops->rx(other, &frame, 1), 0);
	receive_one(a, 2);
	receive_one(b, 1);
	assert_int_equal(a->ops->rx(a, &frame, 1), 0);
	assert_int_equal(b->ops->rx(b, &frame, 1), 0);
	a->ops->close(a);
	b->ops->close(b);
	other->ops->close(other);
}

static void
test_link_follows_the_peer(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b;
	struct shca_frame frame;

	struct shca_wire_path path = { .what = "" };

	(void)state;
	assert_false(a->ops->link(a));
	a->ops->explain(a, &frame, &path);
	assert_true(path.is_lost && path.nb_to == 0);
	send_one(a, 1); /* onto an unplugged cable */
	b = open_wire("pair", &red);
	assert_true(a->ops->link(a));
	a->ops->explain(a, &frame, &path);
	assert_true(!path.is_lost && path.nb_to == 1 && path.to[0] == b);
	b->ops->set_carrier(b, false);
	assert_false(a->ops->link(a));
	assert_true(b->ops->link(b)); /* its own port knows better */
	b->ops->set_carrier(b, true);
	assert_true(a->ops->link(a));
	assert_true(b->ops->link(b));
	assert_int_equal(b->ops->rx(b, &frame, 1), 0);
	send_one(a, 2);
	receive_one(b, 2);
	a->ops->close(a);
	assert_false(b->ops->link(b));
	a = open_wire("pair", &red);
	send_one(b, 3);
	receive_one(a, 3);
	a->ops->close(a);
	b->ops->close(b);
}

static void
test_no_third_end(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b = open_wire("pair", &red);
	struct shca_wire *c = NULL;

	(void)state;
	assert_int_equal(a->ops->open(&red, &c), -EBUSY);
	assert_null(c);
	send_one(a, 1);
	receive_one(b, 1);
	a->ops->close(a);
	b->ops->close(b);
}

static void
test_full_is_back_pressure(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b = open_wire("pair", &red);
	uint8_t bytes[9000];
	struct shca_frame frame = numbered_frame(bytes, 0, sizeof(bytes)), out;
	unsigned int sent = 0;

	(void)state;
	while (a->ops->tx(a, &frame, 1) == 1)
		assert_true(++sent < 100000);
	assert_int_equal(b->ops->rx(b, &out, 1), 1);
	b->ops->rx(b, &out, 1);
	assert_int_equal(a->ops->tx(a, &frame, 1), 1);
	a->ops->close(a);
	b->ops->close(b);
}

static bool
is_woken(const struct shca_wire *wire)
{
	struct pollfd pollfd = { .fd = wire->ops->fd(wire), .events = POLLIN };

	assert_true(pollfd.fd >= 0);
	return poll(&pollfd, 1, 0) == 1;
}

/** Another thread may serve the other end: it is woken when it has said that it sleeps, once. */
static void
test_wakes_who_sleeps(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b = open_wire("pair", &red);
	struct shca_frame frame;

	(void)state;
	send_one(a, 1);
	assert_false(is_woken(b)); /* it has not slept */
	assert_int_equal(b->ops->due_ns(b), 0);
	receive_one(b, 1);
	assert_int_equal(b->ops->rx(b, &frame, 1), 0);
	assert_true(b->ops->due_ns(b) == UINT64_MAX);
	send_one(a, 2);
	assert_true(is_woken(b));
	assert_false(is_woken(a));
	receive_one(b, 2);
	assert_false(is_woken(b));
	send_one(a, 3);
	assert_false(is_woken(b));
	receive_one(b, 3);
	a->ops->close(a);
	b->ops->close(b);
}

#define NB_SENT 20000

/** Receive NB_SENT frames in order, asleep where there are none. */
static void *
receive_all(void *arg)
{
	struct shca_wire *wire = arg;
	uint32_t number = 0;

	while (number < NB_SENT) {
		struct pollfd pollfd = { .fd = wire->ops->fd(wire), .events = POLLIN };
		struct shca_frame frames[8];
		unsigned int nb = wire->ops->rx(wire, frames, 8);

		for (unsigned int i = 0; i < nb; i++)
			assert_numbered_frame(&frames[i], number++, 100);
		if (nb == 0 && wire->ops->due_ns(wire) != 0)
			assert_int_equal(poll(&pollfd, 1, 60000), 1);
	}
	return NULL;
}

static void *
send_all(void *arg)
{
	struct shca_wire *wire = arg;
	uint8_t bytes[100];

	for (uint32_t number = 0; number < NB_SENT; number++) {
		struct shca_frame frame = numbered_frame(bytes, number, sizeof(bytes));

		while (wire->ops->tx(wire, &frame, 1) == 0)
			sched_yield();
	}
	return NULL;
}

/** A wake-up that is lost would hang it. */
static void
test_threads_both_ways(void **state)
{
	struct shca_wire *end[2] = { open_wire("pair", &red), open_wire("pair", &red) };
	pthread_t thread[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, i < 2 ? receive_all : send_all,
					 end[i & 1]),
			0);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	end[0]->ops->close(end[0]);
	end[1]->ops->close(end[1]);
}

/** A forked child opens the same IDs for itself. */
static void
test_fork(void **state)
{
	struct shca_wire *a = open_wire("pair", &red), *b = open_wire("pair", &red);
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct shca_wire *c = open_wire("pair", &red), *d = open_wire("pair", &red);

		send_one(c, 7);
		receive_one(d, 7);
		a->ops->close(a);
		b->ops->close(b);
		c->ops->close(c);
		d->ops->close(d);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	send_one(a, 8);
	receive_one(b, 8);
	a->ops->close(a);
	b->ops->close(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_link_follows_the_peer),
		cmocka_unit_test(test_no_third_end),
		cmocka_unit_test(test_full_is_back_pressure),
		cmocka_unit_test(test_wakes_who_sleeps),
		cmocka_unit_test(test_threads_both_ways),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
