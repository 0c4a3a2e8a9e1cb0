/* SPDX-License-Identifier: BSD-3-Clause */
/* The link: nothing passes while it is down, nothing hangs, and everybody is told. */
#include "rig.h"

#include <string.h>
#include <time.h>

struct told {
	struct shca_listener listener;
	unsigned int nb_active, nb_err;
};

static void
on_event(void *owner, uint32_t port, enum shca_event event)
{
	struct told *told = owner;

	assert_int_equal(port, 1);
	if (event == SHCA_EVENT_PORT_ACTIVE)
		told->nb_active++;
	else if (event == SHCA_EVENT_PORT_ERR)
		told->nb_err++;
}

static void
listen_to(struct rig *rig, struct told *told)
{
	*told = (struct told){ .listener = { .event = on_event, .owner = told } };
	shca_device_listen(rig->dev, &told->listener);
}

/** One frame is sent and completed, one comes. @return whether that is received */
static bool
exchange(struct rig *rig)
{
	struct shca_cqe cqe;
	uint8_t frame[64];

	rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
	rig_run(rig);
	assert_true(rig_poll(&rig->tx, &cqe));
	return rig_poll(&rig->rx, &cqe);
}

static void
nothing_passes_while_down(void **state)
{
	const struct shca_device_stats *stats;
	struct told told;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	listen_to(&rig, &told);
	stats = shca_device_stats(rig.dev);
	rig_fill_rx(&rig, 4);
	rig_run(&rig);
	assert_true(shca_device_link(rig.dev));
	shca_device_set_link(rig.dev, false);
	shca_device_set_link(rig.dev, false);
	assert_false(shca_device_link(rig.dev));
	assert_int_equal(told.nb_err, 1);

	/* Sent, completed, lost; and lost on the way in. */
	assert_false(exchange(&rig));
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_int_equal(stats->tx_frames, 0);
	assert_int_equal(stats->rx_frames, 0);
	assert_int_equal(stats->tx_no_link, 1);
	assert_int_equal(stats->rx_no_link, 1);

	shca_device_set_link(rig.dev, true);
	assert_int_equal(told.nb_active, 1);
	assert_true(exchange(&rig));
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_int_equal(stats->tx_frames, 1);
	assert_int_equal(stats->rx_frames, 1);
	shca_device_unlisten(&told.listener);
	rig_close(&rig);
}

/** A capture that waits for receive queues waits for the link, too. */
static void
patient_frames_wait(void **state)
{
	struct shca_cqe cqe;
	uint8_t frame[64];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.wire.patient = true;
	rig_open(&rig);
	rig_fill_rx(&rig, 4);
	shca_device_set_link(rig.dev, false);
	rig_frame(frame, 64, 1);
	rig_come(&rig.wire, frame, 64);
	rig_run(&rig);
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->rx_no_link, 0);
	shca_device_set_link(rig.dev, true);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	rig_close(&rig);
}

static bool has_carrier;
static unsigned int nb_on, nb_off, nb_looks;

static bool
wire_link(struct shca_wire *wire)
{
	(void)wire;
	nb_looks++;
	return has_carrier;
}

static void
wire_set_carrier(struct shca_wire *wire, bool on)
{
	(void)wire;
	if (on)
		nb_on++;
	else
		nb_off++;
}

/** Until the device has looked at the wire again. */
static void
step_until(struct rig *rig, const unsigned int *count, unsigned int value)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < 60000 && *count != value; i++) {
		shca_device_step(rig->dev);
		nanosleep(&pause, NULL);
	}
	assert_int_equal(*count, value);
}

/** The other end of the cable takes it down: the port sees it, and so does its netdev. */
static void
carrier_of_the_wire_counts(void **state)
{
	struct shca_wire_ops ops;
	struct told told;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	has_carrier = true;
	nb_on = nb_off = 0;
	ops = *rig.wire.wire.ops;
	ops.link = wire_link;
	ops.set_carrier = wire_set_carrier;
	rig.wire.wire.ops = rig.kernel.wire.ops = &ops;
	rig_open(&rig);
	listen_to(&rig, &told);
	shca_device_step(rig.dev);
	has_carrier = false;
	step_until(&rig, &told.nb_err, 1);
	assert_int_equal(nb_off, 1); /* the netdev's */
	/* Up again from our side does not help. */
	shca_device_set_link(rig.dev, true);
	assert_false(shca_device_link(rig.dev));
	assert_int_equal(told.nb_active, 0);
	assert_int_equal(shca_device_stats(rig.dev)->link_downs, 1);
	has_carrier = true;
	step_until(&rig, &told.nb_active, 1);
	assert_int_equal(nb_on, 1);
	assert_int_equal(shca_device_stats(rig.dev)->link_downs, 1);
	shca_device_set_link(rig.dev, false);
	assert_int_equal(nb_off, 3); /* both */
	assert_int_equal(shca_device_stats(rig.dev)->link_downs, 2);
	shca_device_unlisten(&told.listener);
	rig_close(&rig);
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/** The wire, which may have to ask the kernel, is looked at a hundred times a second. */
static void
the_wire_is_looked_at_now_and_then(void **state)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct shca_wire_ops ops;
	struct rig rig;
	uint64_t begin;

	(void)state;
	rig_init(&rig);
	has_carrier = true;
	ops = *rig.wire.wire.ops;
	ops.link = wire_link;
	rig.wire.wire.ops = &ops;
	rig_open(&rig);
	begin = now_ms();
	nb_looks = 0;
	for (unsigned int i = 0; i < 1000; i++)
		shca_device_step(rig.dev);
	assert_in_range(nb_looks, 1, 2 + (now_ms() - begin) / 10);
	nb_looks = 0;
	for (unsigned int i = 0; i < 2; i++) {
		nanosleep(&pause, NULL);
		shca_device_step(rig.dev);
	}
	assert_int_equal(nb_looks, 2);
	rig_close(&rig);
}

/** Verbs calls it down, and what others send and receive passes all the same. */
static void
a_netdev_that_is_down_is_told(void **state)
{
	struct told told;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	rig.kernel.is_down = true;
	rig_open(&rig);
	listen_to(&rig, &told);
	/* As it was found: nothing to tell. */
	rig_fill_rx(&rig, 4);
	rig_run(&rig);
	assert_false(shca_device_is_active(rig.dev, 1));
	assert_int_equal(told.nb_err, 0);
	assert_true(shca_device_link(rig.dev));
	assert_true(exchange(&rig));
	assert_int_equal(rig.wire.nb_sent, 1);

	rig.kernel.is_down = false;
	step_until(&rig, &told.nb_active, 1);
	assert_true(shca_device_is_active(rig.dev, 1));
	/* Two reasons are one event. */
	shca_device_set_link(rig.dev, false);
	assert_int_equal(told.nb_err, 1);
	rig.kernel.is_down = true;
	shca_device_set_link(rig.dev, true);
	assert_int_equal(told.nb_active, 2);
	step_until(&rig, &told.nb_err, 2);
	assert_false(rig.kernel.no_carrier);
	shca_device_unlisten(&told.listener);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_passes_while_down),
		cmocka_unit_test(patient_frames_wait),
		cmocka_unit_test(carrier_of_the_wire_counts),
		cmocka_unit_test(the_wire_is_looked_at_now_and_then),
		cmocka_unit_test(a_netdev_that_is_down_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
