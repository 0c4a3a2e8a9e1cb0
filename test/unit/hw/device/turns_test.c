/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Send queues that are never empty share a wire that is slower than they are. */
#include "rig.h"

#include <string.h>

#define NB_SQS 3
#define RING   128 /* more than a queue sends in a round */
#define ROOM   16  /* of the wire, a round */
#define ROUNDS 120
#define LENGTH 64

/** A queue, as struct rig has its own. */
struct sender {
	struct shca_sq *sq;
	struct shca_sq_attr attr;
	uint16_t pi;
	uint32_t nb_posted, nb_sent;
	uint64_t ring[RING * SHCA_WQEBB_BYTES / 8], record;
};

static struct senders {
	struct rig rig;
	struct sender sender[NB_SQS];
} senders;

/** The rig posts to this one. */
static void
choose(struct sender *sender)
{
	senders.rig.sq = sender->sq;
	senders.rig.sq_attr = sender->attr;
	senders.rig.sq_pi = sender->pi;
}

static void
open_all(void)
{
	struct rig *rig = &senders.rig;

	memset(&senders, 0, sizeof(senders));
	rig_init(rig);
	rig->sq_attr.nb_wqebbs = RING;
	rig_open(rig);
	for (unsigned int i = 0; i < NB_SQS; i++) {
		struct sender *sender = &senders.sender[i];

		sender->attr = rig->sq_attr;
		sender->sq = rig->sq;
		if (i == 0)
			continue;
		sender->attr.ring = (uint8_t *)sender->ring;
		sender->attr.dbrec = (__be32 *)&sender->record;
		assert_int_equal(shca_sq_create(rig->dev, &sender->attr, &sender->sq), 0);
		shca_sq_modify(sender->sq, SHCA_QUEUE_READY);
	}
}

static void
close_all(void)
{
	for (unsigned int i = 1; i < NB_SQS; i++)
		shca_sq_destroy(senders.sender[i].sq);
	choose(&senders.sender[0]);
	rig_close(&senders.rig);
}

/** As many frames as the ring has room for; the first byte tells whose they are. */
static void
post(unsigned int number)
{
	struct sender *sender = &senders.sender[number];
	const uint8_t frame[LENGTH] = { (uint8_t)(2 * number) };

	choose(sender);
	rig_place(&senders.rig, number * LENGTH, frame, sizeof(frame));
	for (; sender->nb_posted - sender->nb_sent < RING; sender->nb_posted++)
		rig_send(&senders.rig, number * LENGTH, LENGTH, SHCA_CE_ON_ERROR);
	sender->pi = senders.rig.sq_pi;
}

static void
all_get_their_turn(void **state)
{
	struct rig *rig = &senders.rig;

	(void)state;
	open_all();
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < NB_SQS; i++)
			post(i);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++)
			senders.sender[rig->wire.sent[i].bytes[0] / 2].nb_sent++;
		rig_forget(&rig->wire);
	}
	for (unsigned int i = 0; i < NB_SQS; i++)
		assert_true(senders.sender[i].nb_sent >= ROUNDS * ROOM / NB_SQS / 2);
	close_all();
}

/** The one whose turn is next goes. */
static void
one_that_goes_has_no_turn(void **state)
{
	(void)state;
	for (unsigned int gone = 1; gone < NB_SQS; gone++) {
		open_all();
		for (unsigned int i = 0; i < NB_SQS; i++)
			post(i);
		senders.rig.wire.room = ROOM;
		shca_device_step(senders.rig.dev);
		shca_sq_destroy(senders.sender[gone].sq);
		senders.sender[gone].sq = NULL;
		rig_forget(&senders.rig.wire);
		senders.rig.wire.room = UINT32_MAX;
		rig_run(&senders.rig);
		assert_true(senders.rig.wire.nb_sent >= RING);
		close_all();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_their_turn),
		cmocka_unit_test(one_that_goes_has_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
