/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A bad cable: each fault, in both directions, whatever the bursts and the back-pressure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault/faults.h"
#include "wire/faulty.h"
#include "wire_test.h"

#define NB     200
#define LENGTH 60

/** A medium: what it received, and what it will give. */
struct medium {
	struct shca_wire wire;
	unsigned int room; /**< frames that it takes yet */
	unsigned int burst;
	uint32_t next, nb; /**< to give: frames next to nb */
	uint8_t given[64][SHCA_FRAME_MAX];
	struct {
		uint32_t length;
		uint8_t bytes[LENGTH * 2];
	} sent[2 * NB];
	unsigned int nb_sent;
	bool is_closed;
};

static unsigned int
medium_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct medium *medium = (struct medium *)wire;
	unsigned int i;

	for (i = 0; i < nb_frames && medium->room != 0; i++, medium->room--) {
		memcpy(medium->sent[medium->nb_sent].bytes, frames[i].bytes, frames[i].length);
		medium->sent[medium->nb_sent++].length = frames[i].length;
	}
	return i;
}

/** The bytes of the last call are gone. */
static unsigned int
medium_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct medium *medium = (struct medium *)wire;
	unsigned int nb = 0;

	memset(medium->given, 0xee, sizeof(medium->given));
	for (; nb < nb_frames && nb < medium->burst && medium->next < medium->nb; nb++)
		frames[nb] = numbered_frame(medium->given[nb], medium->next++, LENGTH);
	return nb;
}

static void
medium_close(struct shca_wire *wire)
{
	((struct medium *)wire)->is_closed = true;
}

static int
medium_fd(const struct shca_wire *wire)
{
	(void)wire;
	return 17;
}

static const struct shca_wire_ops medium_ops = {
	.name = "medium",
	.tx = medium_tx,
	.rx = medium_rx,
	.fd = medium_fd,
	.close = medium_close,
};

/** What came through, a character string a frame: "3 4 4 6~", "~" for a bit turned, "!" cut. */
struct seen {
	char text[16 * NB];
};

static void
note(struct seen *seen, const uint8_t *bytes, uint32_t length)
{
	size_t used = strlen(seen->text);
	uint8_t expected[SHCA_FRAME_MAX];
	uint32_t number = 0, best = UINT32_MAX;

	/* The number itself may be damaged: the frame it is most like. */
	for (uint32_t i = 0; i < NB; i++) {
		uint32_t nb = 0;

		numbered_frame(expected, i, LENGTH);
		for (uint32_t at = 0; at < length; at++)
			nb += (uint32_t)__builtin_popcount(expected[at] ^ bytes[at]);
		if (nb < best) {
			best = nb;
			number = i;
		}
	}
	assert_true(best <= 1);
	snprintf(seen->text + used, sizeof(seen->text) - used, "%u%s%s ", number,
		best != 0 ? "~" : "", length < LENGTH ? "!" : "");
}

static void
run_rx(struct shca_wire *wire, struct medium *medium, unsigned int ask, struct seen *seen)
{
	struct shca_frame frames[64];
	unsigned int nb;

	medium->nb = NB;
	do {
		nb = wire->ops->rx(wire, frames, ask);
		for (unsigned int i = 0; i < nb; i++)
			note(seen, frames[i].bytes, frames[i].length);
	} while (nb != 0 || medium->next < medium->nb);
	assert_true(wire->ops->due_ns(wire) == UINT64_MAX);
}

static void
run_tx(struct shca_wire *wire, struct medium *medium, unsigned int burst, struct seen *seen)
{
	static uint8_t bytes[64][SHCA_FRAME_MAX];
	struct shca_frame frames[64];
	uint32_t sent = 0;

	while (sent < NB) {
		unsigned int nb = 0;

		for (; nb < burst && sent + nb < NB; nb++)
			frames[nb] = numbered_frame(bytes[nb], sent + nb, LENGTH);
		medium->room += 1 + sent % 3;
		sent += wire->ops->tx(wire, frames, nb);
		memset(bytes, 0xee, sizeof(bytes)); /* the caller's again */
	}
	medium->room = UINT32_MAX;
	wire->ops->rx(wire, frames, 1); /* what it kept goes, too */
	assert_true(wire->ops->due_ns(wire) == UINT64_MAX);
	for (unsigned int i = 0; i < medium->nb_sent; i++)
		note(seen, medium->sent[i].bytes, medium->sent[i].length);
}

/** The frames that come through a wire with those faults; asked for and given in bursts. */
static void
run(const char *text, bool is_tx, unsigned int burst, struct seen *seen, uint64_t *applied)
{
	struct medium *medium = calloc(1, sizeof(*medium));
	struct shca_faults *faults;
	struct shca_wire *wire;

	seen->text[0] = '\0';
	medium->wire.ops = &medium_ops;
	medium->burst = burst < 64 ? burst + 1 : 64;
	assert_int_equal(shca_faults_make(text, 1, &faults), 0);
	assert_int_equal(shca_faulty_wrap(faults, 0, &medium->wire, &wire), 0);
	assert_ptr_not_equal(wire, &medium->wire);
	assert_int_equal(wire->ops->fd(wire), 17);
	if (is_tx)
		run_tx(wire, medium, burst, seen);
	else
		run_rx(wire, medium, burst, seen);
	if (applied != NULL)
		memcpy(applied, faults->applied, faults->plan.nb * sizeof(*applied));
	wire->ops->close(wire);
	assert_true(medium->is_closed);
	shca_faults_close(faults);
	free(medium);
}

static const struct {
	const char *fault; /* "" for received, or "tx" is appended */
	const char *begin; /* of what is seen */
	uint64_t applied;
} cases[] = {
	{ "wire loss at 3", "0 1 3 4 5 ", 1 },
	{ "wire loss every 2", "0 2 4 6 8 10 ", NB / 2 },
	{ "wire loss from 4", "0 1 2 ", NB - 3 },
	{ "wire duplicate every 3", "0 1 2 2 3 4 5 5 6 7 8 8 9 ", NB / 3 },
	{ "wire reorder at 2 by 1", "0 2 1 3 4 ", 1 },
	{ "wire reorder at 2 by 3", "0 2 3 4 1 5 ", 1 },
	{ "wire reorder every 4 by 2", "0 1 2 4 5 3 6 8 9 7 10 ", NB / 4 },
	{ "wire reorder every 2 by 1", "0 2 1 4 3 6 5 ", NB / 2 },
	{ "wire corrupt at 2", "0 1~ 2 3 ", 1 },
	{ "wire truncate at 2", "0 1! 2 3 ", 1 },
	{ "wire truncate every 2 to 20", "0 1! 2 3! 4 5! 6 ", NB / 2 },
	{ "wire truncate at 1 to 1000", "0 1 2 ", 1 },
};

static void
test_each(void **state)
{
	static const unsigned int bursts[] = { 1, 7, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned int b = 0; b < 6; b++) {
			struct seen seen;
			char text[64];
			uint64_t applied;

			snprintf(text, sizeof(text), "%s%s", cases[i].fault, b & 1 ? " tx" : "");
			run(text, b & 1, bursts[b / 2], &seen, &applied);
			if (strncmp(seen.text, cases[i].begin, strlen(cases[i].begin)) != 0)
				fail_msg("%s, bursts of %u: %s", text, bursts[b / 2], seen.text);
			assert_int_equal(applied, cases[i].applied);
		}
}

/** All at once, by chance: the same whatever the bursts; another seed is another story. */
static void
test_repeatable(void **state)
{
	const char *text = "wire loss 10%\nwire duplicate 10%\nwire reorder 10% by 5\n"
			   "wire corrupt 10%\nwire truncate 10%\n";
	struct seen first, again;
	char other[200];

	(void)state;
	run(text, false, 1, &first, NULL);
	for (unsigned int burst = 2; burst <= 64; burst += 31) {
		run(text, false, burst, &again, NULL);
		assert_string_equal(first.text, again.text);
	}
	snprintf(other, sizeof(other), "%sseed 2", text);
	run(other, false, 1, &again, NULL);
	assert_string_not_equal(first.text, again.text);
}

/** Several strike one frame. */
static void
test_together(void **state)
{
	struct seen seen;

	(void)state;
	run("wire duplicate at 2\nwire corrupt at 2", false, 8, &seen, NULL);
	assert_memory_equal(seen.text, "0 1~ 1~ 2 ", 10);
	run("wire duplicate at 2 tx\nwire reorder at 2 by 2 tx", true, 8, &seen, NULL);
	assert_memory_equal(seen.text, "0 1 2 3 1 4 ", 12);
	run("wire truncate at 2 to 30\nwire corrupt at 2\nwire reorder at 2 by 1", false, 8, &seen,
		NULL);
	assert_memory_equal(seen.text, "0 2 1~! 3 ", 10);
	run("wire loss at 2\nwire duplicate at 2", false, 8, &seen, NULL);
	assert_memory_equal(seen.text, "0 2 3 ", 6);
}

/** A wire that nothing befalls is left alone. */
static void
test_untouched(void **state)
{
	struct medium medium = { .wire = { &medium_ops } };
	struct shca_faults *faults;
	struct shca_wire *wire;

	(void)state;
	assert_int_equal(
		shca_faults_make("wire loss 1% of mlx5_1\nverb eio any at 1", 2, &faults), 0);
	assert_int_equal(shca_faulty_wrap(faults, 0, &medium.wire, &wire), 0);
	assert_ptr_equal(wire, &medium.wire);
	assert_int_equal(shca_faulty_wrap(NULL, 1, &medium.wire, &wire), 0);
	assert_ptr_equal(wire, &medium.wire);
	shca_faults_close(faults);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_untouched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
