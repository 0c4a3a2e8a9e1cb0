/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two managers on a network that loses, doubles and delays, with owners that do anything at random.
 * Beside each, a naive end knows only what its owner did and was told, and what may follow; the two
 * are compared with each other when all is over.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../rounds.h"
#include "cm/cm.h"

enum {
	NB_CALLS = 24,
	NB_FLYING = 256,
	RETRIES = 12,
	STEP = 1000,
	REFUSAL = 99,
};

/** What a naive end believes. */
enum belief {
	NOTHING,
	ASKED, /* an active one: REQ */
	WAS_ASKED,
	OFFERED,  /* a passive one: REP */
	ANSWERED, /* an active one: has the REP */
	OPEN,
	CLOSING,
	CLOSED, /* in TIMEWAIT */
	OVER,
	REFUSED,
	LOST, /* no answer */
};

struct call {
	struct side *side;
	struct shca_cm_conn *conn;
	enum belief belief;
	bool is_passive, was_open, has_refused, was_released;
	unsigned int number; /* in private data: which call of the active side it is */
};

struct side {
	struct world *world;
	struct shca_cm *cm;
	struct call call[2 * NB_CALLS];
	unsigned int nb_calls;
	unsigned int index;
};

struct world {
	uint64_t now;
	unsigned int seed;
	unsigned int loss_percent, twice_percent;
	struct side side[2];
	struct {
		bool flies;
		unsigned int to;
		uint64_t due;
		uint8_t bytes[SHCA_MAD_BYTES];
	} flying[NB_FLYING];
};

static unsigned int
roll(struct world *world, unsigned int nb)
{
	world->seed = world->seed * 1103515245 + 12345;
	return (world->seed >> 8) % nb;
}

static void
fly(struct world *world, unsigned int to, const struct shca_mad *mad)
{
	for (unsigned int i = 0; i < NB_FLYING; i++)
		if (!world->flying[i].flies) {
			world->flying[i].flies = true;
			world->flying[i].to = to;
			world->flying[i].due = world->now + roll(world, 20 * STEP);
			shca_mad_write(mad, world->flying[i].bytes);
			return;
		}
	/* A full network loses. */
}

static void
on_send(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad)
{
	struct side *side = arg;
	struct world *world = side->world;

	assert_int_equal(path->port, side->index);
	if (roll(world, 100) >= world->loss_percent)
		fly(world, 1 - side->index, mad);
	if (roll(world, 100) < world->twice_percent)
		fly(world, 1 - side->index, mad);
}

static struct call *
add_call(struct side *side, enum belief belief, bool is_passive, unsigned int number)
{
	struct call *call;

	if (side->nb_calls == 2 * NB_CALLS)
		return NULL;
	call = &side->call[side->nb_calls++];
	*call = (struct call){
		.side = side, .belief = belief, .is_passive = is_passive, .number = number
	};
	return call;
}

static void *
on_request(void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason)
{
	struct side *side = arg;
	struct call *call;

	/* One request is not told twice while its connection is there. */
	for (unsigned int i = 0; i < side->nb_calls; i++)
		if (side->call[i].is_passive && side->call[i].number == mad->private_data[0])
			assert_true(side->call[i].belief >= CLOSED || side->call[i].was_released);
	call = add_call(side, WAS_ASKED, true, mad->private_data[0]);
	*reason = SHCA_MAD_NO_RESOURCES;
	if (call != NULL)
		call->conn = conn;
	return call;
}

/** What may be told in which belief, and what follows. */
static const struct {
	enum shca_cm_happening what;
	uint32_t in;
	enum belief next;
} rules[] = {
	{ SHCA_CM_REP, 1 << ASKED, ANSWERED },
	{ SHCA_CM_RTU, 1 << OFFERED, OPEN },
	{ SHCA_CM_REJ, 1 << ASKED | 1 << WAS_ASKED | 1 << OFFERED, REFUSED },
	{ SHCA_CM_REJ, 1 << ANSWERED | 1 << OPEN | 1 << CLOSING, REFUSED },
	{ SHCA_CM_DREQ, 1 << OFFERED | 1 << OPEN | 1 << CLOSING, CLOSING },
	{ SHCA_CM_DREP, 1 << CLOSING, CLOSED },
	{ SHCA_CM_UNREACHABLE, 1 << ASKED | 1 << OFFERED, LOST },
	{ SHCA_CM_DREQ_LOST, 1 << CLOSING, CLOSED },
	{ SHCA_CM_TIMEWAIT_EXIT, 1 << CLOSED | 1 << REFUSED, OVER },
};

static void
on_event(void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad)
{
	struct call *call = owner;
	size_t i = 0;

	assert_ptr_equal(call->side, arg);
	assert_false(call->was_released);
	while (i < sizeof(rules) / sizeof(rules[0]) &&
		(rules[i].what != what || (rules[i].in >> call->belief & 1) == 0))
		i++;
	assert_true(i < sizeof(rules) / sizeof(rules[0]));
	if (what == SHCA_CM_REP || what == SHCA_CM_RTU)
		assert_int_equal(mad->private_data[0], call->number);
	call->belief = rules[i].next;
	call->was_open |= call->belief == OPEN;
}

static void
begin_call(struct side *side)
{
	const struct shca_cm_path path = { .port = side->index };
	struct call *call = add_call(side, ASKED, false, side->nb_calls);
	struct shca_mad req = {
		.kind = SHCA_MAD_REQ,
		.ca_guid = 0x1000 + side->index,
		.remote_timeout = 4,
		.local_timeout = 4,
		.ack_timeout = 5,
		.max_cm_retries = RETRIES,
	};

	if (call == NULL || call->number >= NB_CALLS) {
		side->nb_calls -= call != NULL;
		return;
	}
	req.qpn = 1 + side->nb_calls;
	req.private_data[0] = (uint8_t)call->number;
	assert_int_equal(
		shca_cm_request(side->cm, side->world->now, &path, &req, call, &call->conn), 0);
}

static void
release(struct call *call)
{
	if (call->was_released)
		return;
	call->was_released = true;
	shca_cm_release(call->conn, call->side->world->now);
}

static void
answer(struct call *call)
{
	struct world *world = call->side->world;
	struct shca_mad mad = { .kind = SHCA_MAD_REP, .qpn = 0x100 + call->number };

	mad.private_data[0] = (uint8_t)call->number;
	switch (roll(world, 6)) {
	case 0:
		mad.reason = REFUSAL;
		call->has_refused = true;
		call->belief = REFUSED;
		assert_int_equal(shca_cm_reject(call->conn, &mad), 0);
		break;
	case 1:
		(void)shca_cm_delay(call->conn, 8);
		break;
	default:
		mad.qpn += 0x100 * (call->side->nb_calls + 1);
		call->belief = OFFERED;
		assert_int_equal(shca_cm_reply(call->conn, world->now, &mad), 0);
	}
}

static void
go_on(struct call *call)
{
	uint8_t data[SHCA_MAD_PRIVATE_MAX] = { (uint8_t)call->number };
	struct world *world = call->side->world;

	if (call->was_released)
		return;
	if (roll(world, 40) == 0) {
		release(call);
		return;
	}
	switch (call->belief) {
	case WAS_ASKED:
		answer(call);
		break;
	case ANSWERED:
		call->belief = OPEN;
		call->was_open = true;
		assert_int_equal(shca_cm_establish(call->conn, data), 0);
		break;
	case OPEN:
		if (roll(world, 3) != 0)
			break;
		call->belief = CLOSING;
		assert_int_equal(shca_cm_disconnect(call->conn, world->now, NULL), 0);
		break;
	case CLOSING:
		if (shca_cm_confirm(call->conn, world->now, NULL) == 0)
			call->belief = CLOSED;
		break;
	default:
		break;
	}
}

static void
step(struct world *world)
{
	world->now += STEP;
	for (unsigned int i = 0; i < NB_FLYING; i++) {
		const unsigned int to = world->flying[i].to;
		const struct shca_cm_path path = { .port = to };

		if (!world->flying[i].flies || world->flying[i].due > world->now)
			continue;
		world->flying[i].flies = false;
		shca_cm_receive(world->side[to].cm, world->now, &path, world->flying[i].bytes,
			SHCA_MAD_BYTES);
	}
	for (unsigned int i = 0; i < 2; i++)
		shca_cm_run(world->side[i].cm, world->now);
}

static void
open_world(struct world *world, unsigned int seed, unsigned int loss)
{
	memset(world, 0, sizeof(*world));
	world->seed = seed;
	world->loss_percent = loss;
	world->twice_percent = loss;
	for (unsigned int i = 0; i < 2; i++) {
		const struct shca_cm_ops ops = {
			.send = on_send,
			.request = on_request,
			.event = on_event,
			.arg = &world->side[i],
		};

		world->side[i].world = world;
		world->side[i].index = i;
		world->side[i].cm = shca_cm_create(&ops);
		assert_non_null(world->side[i].cm);
	}
}

/** A side is open only if the other was asked and has offered; refusals without loss are REJs. */
static void
compare(const struct world *world)
{
	for (unsigned int s = 0; s < 2; s++) {
		const struct side *here = &world->side[s], *there = &world->side[1 - s];

		for (unsigned int i = 0; i < here->nb_calls; i++) {
			const struct call *call = &here->call[i];
			bool is_offered = false, is_refused = false;

			if (call->is_passive)
				continue;
			for (unsigned int n = 0; n < there->nb_calls; n++) {
				const struct call *other = &there->call[n];

				if (!other->is_passive || other->number != call->number)
					continue;
				is_refused |= other->has_refused;
				is_offered |= !other->has_refused;
			}
			assert_true(!call->was_open || is_offered);
			if (world->loss_percent == 0 && is_refused && !call->was_released)
				assert_false(call->was_open);
		}
	}
}

static void
run_world(unsigned int seed, unsigned int loss)
{
	static struct world world;

	open_world(&world, seed, loss);
	for (unsigned int round = 0; round < 3000; round++) {
		struct side *side = &world.side[roll(&world, 2)];

		if (roll(&world, 30) == 0)
			begin_call(side);
		if (side->nb_calls != 0)
			go_on(&side->call[roll(&world, side->nb_calls)]);
		step(&world);
	}
	compare(&world);
	/* All go; after all retries and waits nothing is left. */
	for (unsigned int s = 0; s < 2; s++)
		for (unsigned int i = 0; i < world.side[s].nb_calls; i++)
			release(&world.side[s].call[i]);
	for (unsigned int round = 0; round < 60000 &&
		(shca_cm_nb(world.side[0].cm) != 0 || shca_cm_nb(world.side[1].cm) != 0);
		round++)
		step(&world);
	for (unsigned int s = 0; s < 2; s++) {
		for (unsigned int i = 0; i < world.side[s].nb_calls; i++)
			release(&world.side[s].call[i]);
		assert_int_equal(shca_cm_nb(world.side[s].cm), 0);
		shca_cm_destroy(world.side[s].cm);
	}
}

static void
test_good_network(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= test_rounds(80); seed++)
		run_world(seed, 0);
}

static void
test_bad_network(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= test_rounds(200); seed++)
		run_world(seed * 7919, 5 + seed % 30);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_network),
		cmocka_unit_test(test_bad_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
