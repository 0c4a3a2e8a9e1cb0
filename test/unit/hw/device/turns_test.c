/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Send queues that are never empty share a wire that is slower than they are. */
#include "roce_sender.h"

#include <string.h>

#include "base/node.h"
#include "hw/roce/gid.h"
#include "hw/roce/qp1.h"

#define NB_SQS   3
#define NB_PAIRS 3
#define RING     128 /* more than a queue sends in a round */
#define ROOM     16  /* of the wire, a round */
#define ROUNDS   120
#define MANY     40 /* frames of a WQE */
#define LENGTH   64
/** Which the rig has room for. */
#define NETDEV_FRAMES 448

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
	rig->with_kernel = true;
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

/** More frames than the wire takes at a time, by one WQE, which leaves no room for another such
 * one.
 */
static void
post_many(unsigned int number)
{
	struct sender *sender = &senders.sender[number];
	const uint8_t frame[LENGTH] = { (uint8_t)(2 * number) };
	const uint8_t *at = senders.rig.buffers + RIG_TX_OFFSET + number * LENGTH;
	struct rig_wqe wqe;

	if (sender->nb_posted != sender->nb_sent)
		return;
	choose(sender);
	rig_place(&senders.rig, number * LENGTH, frame, sizeof(frame));
	rig_wqe_start(&wqe, SHCA_OPCODE_ENHANCED_MPSW, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	for (unsigned int i = 0; i < MANY; i++)
		rig_wqe_pointer(&wqe, senders.rig.mr->lkey, (uintptr_t)at, LENGTH);
	rig_number(&senders.rig, &wqe);
	rig_post_raw(&senders.rig, &wqe, (wqe.length + 63) / 64);
	sender->nb_posted += MANY;
	sender->pi = senders.rig.sq_pi;
}

/** @param room of the wire, in every second round */
static void
run_many(uint32_t room)
{
	struct rig *rig = &senders.rig;

	open_all();
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < NB_SQS; i++)
			post_many(i);
		rig->wire.room = round % 2 != 0 ? 0 : room;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++)
			senders.sender[rig->wire.sent[i].bytes[0] / 2].nb_sent++;
		rig_forget(&rig->wire);
	}
	for (unsigned int i = 0; i < NB_SQS; i++)
		assert_true(senders.sender[i].nb_sent >= 2 * MANY);
	close_all();
}

static void
wqes_of_many_frames_get_their_turn(void **state)
{
	(void)state;
	run_many(ROOM);
	run_many(MANY);
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

/** @param number in the last byte of the address that it sends to */
static void
open_roce(struct roce_sender *sender, uint8_t number)
{
	const struct shca_gid_route route = { .sgid_index = 1, .hop_limit = 64 };
	struct shca_roce_qp_conf conf = { .mtu = 1024 };

	assert_true(shca_gid_path(senders.rig.dev, &route, &conf.path));
	conf.path.dmac[0] = 2 * NB_SQS;
	conf.path.dmac[5] = number;
	roce_sender_open(sender, &senders.rig, &conf);
}

/** Queues of raw Ethernet and queue pairs with a transport, as well. */
static void
both_kinds_get_their_turn(void **state)
{
	static struct roce_sender roce;
	struct rig *rig = &senders.rig;
	unsigned int nb_raw = 0;

	(void)state;
	open_all();
	open_roce(&roce, 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < NB_SQS; i++)
			post(i);
		roce_sender_post(&roce);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++) {
			const unsigned int from = rig->wire.sent[i].bytes[0] / 2;

			if (from == NB_SQS)
				roce.nb_sent++;
			else
				senders.sender[from].nb_sent++, nb_raw++;
		}
		rig_forget(&rig->wire);
	}
	assert_true(roce.nb_sent >= ROUNDS * ROOM / (NB_SQS + 1) / 2);
	assert_true(nb_raw >= ROUNDS * ROOM / (NB_SQS + 1) / 2);
	shca_roce_qp_destroy(roce.qp);
	close_all();
}

/** And what Linux sends on the port's netdev. */
static void
queues_get_their_turn_beside_a_netdev(void **state)
{
	const uint8_t frame[LENGTH] = { 2 * NB_SQS };
	struct rig *rig = &senders.rig;
	unsigned int nb_raw = 0, nb_netdev = 0;

	(void)state;
	open_all();
	for (unsigned int i = 0; i < NETDEV_FRAMES; i++)
		rig_come(&rig->kernel, frame, sizeof(frame));
	while (nb_netdev < NETDEV_FRAMES) {
		for (unsigned int i = 0; i < NB_SQS; i++)
			post(i);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++) {
			const unsigned int from = rig->wire.sent[i].bytes[0] / 2;

			if (from == NB_SQS)
				nb_netdev++;
			else
				senders.sender[from].nb_sent++, nb_raw++;
		}
		rig_forget(&rig->wire);
		assert_true(nb_raw < 10 * NETDEV_FRAMES);
	}
	assert_true(nb_raw >= NETDEV_FRAMES / 2);
	close_all();
}

static void
send_by_qp1(void)
{
	const uint8_t mac[6] = { 2 * (NB_SQS + 1) };
	struct shca_qp1_datagram datagram = { .is_v2 = true };

	shca_node_gid(shca_device_conf(senders.rig.dev)->mac, datagram.local);
	shca_node_gid(mac, datagram.remote);
	assert_int_equal(shca_qp1_send(senders.rig.dev, &datagram), 0);
}

/** @param busy a bit for each queue pair that sends
 * @return the round in which the datagram of queue pair 1 has left */
static unsigned int
run_to_qp1(bool is_raw, struct roce_sender *roce, unsigned int busy)
{
	struct rig *rig = &senders.rig;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		bool has_left = false;

		for (unsigned int i = 0; is_raw && i < NB_SQS; i++)
			post(i);
		for (unsigned int i = 0; i < NB_PAIRS; i++)
			if ((busy & 1u << i) != 0)
				roce_sender_post(&roce[i]);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++) {
			const unsigned int from = rig->wire.sent[i].bytes[0] / 2;

			has_left |= from == NB_SQS + 1;
			if (from < NB_SQS)
				senders.sender[from].nb_sent++;
			else if (from == NB_SQS)
				roce[rig->wire.sent[i].bytes[5]].nb_sent++;
		}
		rig_forget(&rig->wire);
		if (has_left)
			return round;
		if (round == 10)
			send_by_qp1();
	}
	return ROUNDS;
}

/** A connection is made and ended while others send. */
static void
queue_pair_1_gets_its_turn(void **state)
{
	static struct roce_sender roce[NB_PAIRS];

	(void)state;
	for (unsigned int kinds = 1; kinds < 2u << NB_PAIRS; kinds++) {
		open_all();
		for (unsigned int i = 0; i < NB_PAIRS; i++)
			open_roce(&roce[i], i);
		assert_true(run_to_qp1((kinds & 1) != 0, roce, kinds >> 1) < ROUNDS);
		for (unsigned int i = 0; i < NB_PAIRS; i++)
			shca_roce_qp_destroy(roce[i].qp);
		close_all();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_their_turn),
		cmocka_unit_test(wqes_of_many_frames_get_their_turn),
		cmocka_unit_test(both_kinds_get_their_turn),
		cmocka_unit_test(queues_get_their_turn_beside_a_netdev),
		cmocka_unit_test(queue_pair_1_gets_its_turn),
		cmocka_unit_test(one_that_goes_has_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
