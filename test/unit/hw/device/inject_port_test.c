/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of link and device: behind which frame they come, and what becomes of the others. */
#include "rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/node.h"
#include "fault/faults.h"
#include "hw/roce/qp1.h"
#include "hw/state/device.h"

#define NB_FRAMES 8

struct told {
	struct shca_listener listener;
	char text[128]; /* events, in their order */
};

static void
on_event(void *owner, uint32_t port, enum shca_event event)
{
	struct told *told = owner;
	size_t used = strlen(told->text);

	assert_int_equal(port, 1);
	snprintf(told->text + used, sizeof(told->text) - used, "%d ", event);
}

static void
open_faulty(struct rig *rig, const char *text, struct told *told)
{
	rig_init(rig);
	rig->with_kernel = true;
	assert_int_equal(shca_faults_make(text, 1, &rig->faults), 0);
	rig_open(rig);
	*told = (struct told){ .listener = { .event = on_event, .owner = told } };
	shca_device_listen(rig->dev, &told->listener);
	rig_fill_rx(rig, 8);
	rig_run(rig);
}

static void
close_faulty(struct rig *rig, struct told *told)
{
	shca_device_unlisten(&told->listener);
	rig_close(rig);
	shca_faults_close(rig->faults);
}

static void
pass_frames(struct rig *rig, bool is_tx, bool at_once)
{
	uint8_t frame[64];

	for (unsigned int i = 1; i <= NB_FRAMES; i++) {
		rig_frame(frame, 64, (uint8_t)i);
		rig_place(rig, i * 64, frame, 64);
		if (is_tx)
			rig_send(rig, i * 64, 64, SHCA_CE_ALWAYS);
		else
			rig_come(&rig->wire, frame, 64);
		if (!at_once)
			rig_run(rig);
	}
	rig_run(rig);
}

/** The frames that came through, from 1 on, and completions of those sent. */
static void
print_frames(struct rig *rig, bool is_tx, char *text, size_t size)
{
	struct shca_cqe cqe;
	size_t used = 0;
	uint8_t frame[64];

	text[0] = '\0';
	for (unsigned int i = 0; is_tx && i < rig->wire.nb_sent; i++)
		for (unsigned int n = 1; n <= NB_FRAMES; n++) {
			rig_frame(frame, 64, (uint8_t)n);
			if (memcmp(rig->wire.sent[i].bytes, frame, 64) == 0)
				used += (size_t)snprintf(text + used, size - used, "%u ", n);
		}
	for (unsigned int i = 0; !is_tx && rig_poll(&rig->rx, &cqe); i++)
		for (unsigned int n = 1; n <= NB_FRAMES; n++) {
			rig_frame(frame, 64, (uint8_t)n);
			if (memcmp(rig->buffers + (size_t)i * RIG_RX_BYTES, frame, 64) == 0)
				used += (size_t)snprintf(text + used, size - used, "%u ", n);
		}
}

static const struct {
	const char *fault; /* "tx" is appended */
	const char *frames;
	const char *events;
	unsigned int lost; /* for want of a link */
	unsigned int applied;
} cases[] = {
	{ "link flap at 3", "1 2 3 4 5 6 7 8 ", "10 9 ", 0, 1 },
	{ "link flap every 3", "1 2 3 4 5 6 7 8 ", "10 9 10 9 ", 0, 2 },
	{ "link flap at 3 for 2", "1 2 3 6 7 8 ", "10 9 ", 2, 1 },
	{ "link flap at 8 for 2", "1 2 3 4 5 6 7 8 ", "10 ", 0, 1 },
	{ "link flap at 6 for 2", "1 2 3 4 5 6 ", "10 9 ", 2, 1 },
	/* Frames are counted in the dark, and none is struck there. */
	{ "link flap every 2 for 1", "1 2 4 6 8 ", "10 9 10 9 10 9 10 ", 3, 4 },
	{ "link flap at 2 for 3600s", "1 2 ", "10 ", 6, 1 },
	{ "device fatal at 3", "1 2 3 ", "8 ", 0, 1 },
	{ "device fatal from 3", "1 2 3 ", "8 ", 0, 1 },
	{ "device slow at 3 by 3600s", "1 2 3 ", "", 0, 1 },
	{ "device slow every 2 by 1us", "1 2 3 4 5 6 7 8 ", "", 0, 4 },
};

/** A device that stands still for up to @p ns at a time goes on after each pause of as long. */
static void
run_with_pauses(struct rig *rig, long ns)
{
	const struct timespec pause = { .tv_nsec = ns };

	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		rig_run(rig);
		nanosleep(&pause, NULL);
	}
	rig_run(rig);
}

static void
comes_behind_its_frame(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4 * sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t c = i / 4;
		const bool is_tx = (i & 1) != 0;
		const struct shca_device_stats *stats;
		char text[128];
		struct told told;
		struct rig rig;

		snprintf(text, sizeof(text), "%s%s", cases[c].fault, is_tx ? " tx" : "");
		open_faulty(&rig, text, &told);
		stats = shca_device_stats(rig.dev);
		pass_frames(&rig, is_tx, (i & 2) != 0);
		run_with_pauses(&rig, 1000);
		print_frames(&rig, is_tx, text, sizeof(text));
		if (strcmp(text, cases[c].frames) != 0 || strcmp(told.text, cases[c].events) != 0)
			fail_msg("%s %s: %s, events %s", cases[c].fault, is_tx ? "tx" : "rx", text,
				told.text);
		assert_int_equal(is_tx ? stats->tx_no_link : stats->rx_no_link, cases[c].lost);
		assert_int_equal(rig.faults->applied[0], cases[c].applied);
		close_faulty(&rig, &told);
	}
}

/** What is sent without a link completes. */
static void
completes_in_the_dark(void **state)
{
	struct shca_cqe cqe;
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "link flap at 3 for 2 tx", &told);
	pass_frames(&rig, true, true);
	for (unsigned int i = 0; i < NB_FRAMES; i++)
		assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(rig.wire.nb_sent, NB_FRAMES - 2);
	close_faulty(&rig, &told);
}

/** A capture that waits for queues does not wait for a link that waits for it. */
static void
patient_wire(void **state)
{
	char text[64];
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "link flap at 3 for 2", &told);
	rig.wire.patient = true;
	pass_frames(&rig, false, true);
	print_frames(&rig, false, text, sizeof(text));
	assert_string_equal(text, "1 2 3 6 7 8 ");
	close_faulty(&rig, &told);
}

/** By the clock. */
static void
light_again(void **state)
{
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "link flap at 8 for 1ms", &told);
	pass_frames(&rig, false, true);
	run_with_pauses(&rig, 1000000);
	assert_string_equal(told.text, "10 9 ");
	assert_false(rig.wire.no_carrier || rig.kernel.no_carrier);
	close_faulty(&rig, &told);
}

static void
carriers_are_dark_too(void **state)
{
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "link flap at 8 for 3600s", &told);
	pass_frames(&rig, false, true);
	assert_true(rig.wire.no_carrier && rig.kernel.no_carrier);
	close_faulty(&rig, &told);
}

/** A link that the user took down stays down. */
static void
users_link(void **state)
{
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "link flap every 2", &told);
	shca_device_set_link(rig.dev, false);
	pass_frames(&rig, false, true);
	assert_string_equal(told.text, "10 ");
	assert_false(shca_device_link(rig.dev));
	shca_device_set_link(rig.dev, true);
	assert_string_equal(told.text, "10 9 ");
	close_faulty(&rig, &told);
}

/** A dead device touches nothing, asks for no wake-up, and can be taken apart. */
static void
dead_device(void **state)
{
	struct shca_cqe cqe;
	struct told told;
	uint8_t frame[64];
	struct rig rig;

	(void)state;
	open_faulty(&rig, "device fatal at 1", &told);
	assert_false(shca_device_is_dead(rig.dev));
	pass_frames(&rig, false, true);
	assert_true(shca_device_is_dead(rig.dev));
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_true(rig.wire.no_carrier && rig.kernel.no_carrier);
	assert_true(rig.cable->ops->due_ns(rig.cable) == UINT64_MAX);
	assert_int_equal(rig.cable->ops->fd(rig.cable), -1);
	/* Frames of the netdev are swallowed. */
	rig_frame(frame, 64, 1);
	rig_come(&rig.kernel, frame, 64);
	rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	assert_int_equal(shca_device_step(rig.dev), 0);
	shca_device_catch_up(rig.dev);
	assert_int_equal(rig.kernel.nb_received, 1);
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_false(rig_poll(&rig.tx, &cqe));
	close_faulty(&rig, &told);
}

/** A slow device is to be woken when it goes on, and not before. */
static void
slow_device(void **state)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "device slow at 1 by 3600s", &told);
	pass_frames(&rig, false, true);
	assert_in_range(rig.cable->ops->due_ns(rig.cable),
		shca_clock_ns() + UINT64_C(3500000000000),
		shca_clock_ns() + UINT64_C(3600000000000));
	close_faulty(&rig, &told);

	open_faulty(&rig, "device slow at 8 by 1ms", &told);
	pass_frames(&rig, false, true);
	nanosleep(&pause, NULL);
	rig_run(&rig);
	assert_true(rig.cable->ops->due_ns(rig.cable) == UINT64_MAX);
	close_faulty(&rig, &told);
}

/** What was rung is sent before the queue is gone, although the link flaps meanwhile; a slow device
 * is no excuse. */
static void
catches_up(void **state)
{
	static const char *const texts[] = { "link flap every 2 tx",
		"device slow every 2 by 3600s tx" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct told told;
		struct rig rig;

		open_faulty(&rig, texts[i], &told);
		for (unsigned int n = 0; n < NB_FRAMES; n++)
			rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
		shca_device_catch_up(rig.dev);
		assert_int_equal(rig.wire.nb_sent, NB_FRAMES);
		close_faulty(&rig, &told);
	}
}

/** A device that dies of a frame sends nothing more, although it was to catch up. */
static void
dies_while_it_catches_up(void **state)
{
	struct shca_qp1_datagram datagram = { .is_v2 = true };
	struct told told;
	struct rig rig;

	(void)state;
	open_faulty(&rig, "device fatal at 1 tx", &told);
	shca_node_gid(shca_device_conf(rig.dev)->mac, datagram.local);
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), 0);
	rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	shca_device_catch_up(rig.dev);
	assert_true(shca_device_is_dead(rig.dev));
	assert_int_equal(rig.dev->qp1.nb_queued, 1);
	close_faulty(&rig, &told);
}

/** A keeper that ends removes devices without faults, too, whose wires are what they are. */
static void
dies_without_faults(void **state)
{
	struct rig_wire before;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	before = rig.wire;
	before.no_carrier = true;
	shca_device_lock(rig.dev);
	shca_device_die(rig.dev);
	shca_device_unlock(rig.dev);
	assert_memory_equal(&rig.wire, &before, sizeof(before));
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_behind_its_frame),
		cmocka_unit_test(completes_in_the_dark),
		cmocka_unit_test(patient_wire),
		cmocka_unit_test(light_again),
		cmocka_unit_test(carriers_are_dark_too),
		cmocka_unit_test(users_link),
		cmocka_unit_test(dead_device),
		cmocka_unit_test(slow_device),
		cmocka_unit_test(catches_up),
		cmocka_unit_test(dies_while_it_catches_up),
		cmocka_unit_test(dies_without_faults),
	};

	return cmocka_run_group_tests_name("hw/inject_port", tests, NULL, NULL);
}
