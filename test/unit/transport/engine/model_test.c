/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A requester and a responder on a bad cable, beside a naive twin that does each work request at
 * once: whatever is lost, doubled or late, the program sees the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../rounds.h"
#include "transport/engine/requester.h"
#include "transport/engine/responder.h"

#define MTU       256
#define NB_WRS    300
#define LONGEST   (5 * MTU + 3)
#define AREA      4096 /* of remote memory: written, read, counted */
#define NB_FLIGHT 256
#define TIMEOUT   100

/** A packet under way. */
struct flight {
	struct shca_bth bth;
	uint8_t payload[MTU];
	bool to_responder;
};

struct result {
	struct shca_received what;
	uint8_t bytes[LONGEST];
};

struct model {
	struct shca_requester requester;
	struct shca_responder responder;
	struct shca_wr wr[NB_WRS];
	uint8_t source[NB_WRS][LONGEST];
	uint8_t answers[NB_WRS][LONGEST], twin_answers[NB_WRS][LONGEST];
	_Alignas(8) uint8_t memory[3 * AREA];
	uint8_t twin[3 * AREA];
	uint8_t arriving[LONGEST];
	struct result received[NB_WRS], expected[NB_WRS];
	unsigned int nb_received, nb_expected, nb_completed;
	struct flight flight[NB_FLIGHT];
	unsigned int nb_flight;
	unsigned int percent_lost, percent_doubled, percent_late, percent_not_ready;
	bool has_failed;
	uint32_t random;
	uint64_t now;
};

static uint32_t
draw(struct model *model, uint32_t below)
{
	model->random = model->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(model->random >> 8) * below >> 24);
}

static enum shca_outcome
gather(void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, uint8_t *to)
{
	struct model *model = arg;

	memcpy(to, model->source[wr->index] + offset, length);
	return SHCA_OUTCOME_SUCCESS;
}

static enum shca_outcome
scatter_answer(
	void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, const uint8_t *from)
{
	struct model *model = arg;

	memcpy(model->answers[wr->index] + offset, from, length);
	return SHCA_OUTCOME_SUCCESS;
}

static enum shca_outcome
execute(void *arg, const struct shca_wr *wr)
{
	(void)arg;
	(void)wr;
	return SHCA_OUTCOME_SUCCESS;
}

static void
complete(void *arg, const struct shca_wr *wr, enum shca_outcome outcome)
{
	struct model *model = arg;

	assert_int_equal(outcome, SHCA_OUTCOME_SUCCESS);
	assert_int_equal(wr->index, model->nb_completed);
	model->nb_completed++;
}

static enum shca_take
take(void *arg)
{
	struct model *model = arg;

	return draw(model, 100) >= model->percent_not_ready ? SHCA_TAKE_DONE : SHCA_TAKE_NONE;
}

static enum shca_outcome
scatter(void *arg, uint32_t offset, uint32_t length, const uint8_t *from)
{
	struct model *model = arg;

	memcpy(model->arriving + offset, from, length);
	return SHCA_OUTCOME_SUCCESS;
}

static void
received(void *arg, const struct shca_received *what)
{
	struct model *model = arg;
	struct result *result = &model->received[model->nb_received++];

	result->what = *what;
	if (!what->is_write)
		memcpy(result->bytes, model->arriving, what->length);
}

static bool
allows(void *arg, enum shca_remote what)
{
	(void)arg;
	(void)what;
	return true;
}

static uint8_t *
remote(void *arg, enum shca_remote what, uint32_t rkey, uint64_t va, uint32_t length)
{
	struct model *model = arg;

	assert_int_equal(rkey, what);
	assert_true(va + length <= sizeof(model->memory));
	return model->memory + va;
}

static bool
invalidate(void *arg, uint32_t rkey)
{
	(void)arg;
	return rkey == 77;
}

static void
failed(void *arg, enum shca_outcome outcome)
{
	(void)arg;
	assert_int_equal(outcome, SHCA_OUTCOME_SUCCESS);
}

static const struct shca_requester_host requester_host = { gather, scatter_answer, execute,
	complete };
static const struct shca_responder_host responder_host = { take, scatter, received, allows, remote,
	invalidate, failed };

/** A work request at random. Reads are of memory that no write changes: a read may see later
 * writes (IBTA 10.8.3.3). */
static void
make_wr(struct model *model, uint16_t index)
{
	static const uint32_t lengths[] = { 0, 1, MTU - 1, MTU, MTU + 1, 3 * MTU };
	struct shca_wr *wr = &model->wr[index];

	*wr = (struct shca_wr){
		.kind = (enum shca_wr_kind)draw(model, SHCA_WR_LOCAL + 1),
		.length = draw(model, 2) ? draw(model, LONGEST + 1) : lengths[draw(model, 6)],
		.index = index,
		.solicited = draw(model, 2),
		.fence = draw(model, 8) == 0,
	};
	for (uint32_t i = 0; i < wr->length; i++)
		model->source[index][i] = (uint8_t)draw(model, 256);
	if (wr->kind <= SHCA_WR_WRITE && draw(model, 3) == 0) {
		wr->has_imm = true;
		wr->imm = draw(model, 1000000);
	} else if (wr->kind == SHCA_WR_SEND && draw(model, 4) == 0) {
		wr->has_inval = true;
		wr->imm = 77;
	}
	wr->rkey = wr->kind == SHCA_WR_WRITE ? SHCA_REMOTE_WRITE
		: wr->kind == SHCA_WR_READ   ? SHCA_REMOTE_READ
					     : SHCA_REMOTE_ATOMIC;
	wr->va = draw(model, AREA - LONGEST) + wr->rkey * AREA;
	if (wr->kind == SHCA_WR_CMP_SWAP || wr->kind == SHCA_WR_FETCH_ADD) {
		wr->length = 8;
		wr->va = 2 * AREA + 8 * draw(model, 3);
		wr->compare = draw(model, 3);
		wr->swap_add = draw(model, 3);
	}
}

/** The twin does it at once. */
static void
do_twin(struct model *model, const struct shca_wr *wr)
{
	struct result *result = &model->expected[model->nb_expected];
	uint64_t value;

	if (wr->kind == SHCA_WR_SEND || (wr->kind == SHCA_WR_WRITE && wr->has_imm)) {
		model->nb_expected++;
		result->what = (struct shca_received){
			.is_write = wr->kind == SHCA_WR_WRITE,
			.has_imm = wr->has_imm,
			.has_inval = wr->has_inval,
			.solicited = wr->solicited,
			.imm = wr->imm,
			.length = wr->length,
		};
		if (wr->kind == SHCA_WR_SEND)
			memcpy(result->bytes, model->source[wr->index], wr->length);
	}
	if (wr->kind == SHCA_WR_WRITE)
		memcpy(model->twin + wr->va, model->source[wr->index], wr->length);
	if (wr->kind == SHCA_WR_READ)
		memcpy(model->twin_answers[wr->index], model->twin + wr->va, wr->length);
	if (wr->kind != SHCA_WR_CMP_SWAP && wr->kind != SHCA_WR_FETCH_ADD)
		return;
	memcpy(&value, model->twin + wr->va, 8);
	memcpy(model->twin_answers[wr->index], &value, 8);
	if (wr->kind == SHCA_WR_FETCH_ADD)
		value += wr->swap_add;
	else if (value == wr->compare)
		value = wr->swap_add;
	memcpy(model->twin + wr->va, &value, 8);
}

/** Through the bytes of the headers, to the flight, or lost. */
static void
launch(struct model *model, const struct shca_bth *bth, bool to_responder)
{
	uint8_t bytes[SHCA_BTH_HEADERS_MAX + MTU + 3] = { 0 };
	const unsigned int copies = draw(model, 100) < model->percent_doubled ? 2 : 1;
	uint32_t length = shca_bth_write(bth, bytes);

	if (bth->payload_bytes != 0)
		memcpy(bytes + length, bth->payload, bth->payload_bytes);
	length = (length + bth->payload_bytes + 3) & ~3u;
	for (unsigned int i = 0; i < copies; i++) {
		struct flight *flight = &model->flight[model->nb_flight];

		if (draw(model, 100) < model->percent_lost || model->nb_flight == NB_FLIGHT)
			continue;
		assert_true(shca_bth_read(&flight->bth, bytes, length));
		memcpy(flight->payload, flight->bth.payload, flight->bth.payload_bytes);
		flight->to_responder = to_responder;
		model->nb_flight++;
	}
}

/** Land one, not always the first. */
static void
land(struct model *model)
{
	const unsigned int late =
		draw(model, 100) < model->percent_late ? draw(model, model->nb_flight) : 0;
	struct flight flight = model->flight[late];

	model->nb_flight--;
	memmove(&model->flight[late], &model->flight[late + 1],
		(model->nb_flight - late) * sizeof(flight));
	flight.bth.payload = flight.payload;
	if (flight.to_responder)
		shca_responder_receive(&model->responder, &flight.bth);
	else
		shca_requester_receive(&model->requester, model->now, &flight.bth);
}

static void
run(struct model *model)
{
	uint8_t payload[MTU];
	struct shca_bth bth = { 0 };
	unsigned int nb_posted = 0;

	for (uint32_t turns = 0; model->nb_completed < NB_WRS; turns++) {
		assert_true(turns < 3000000);
		model->now++;
		shca_requester_look(&model->requester, model->now, false);
		while (nb_posted < NB_WRS && shca_requester_has_room(&model->requester))
			shca_requester_post(&model->requester, &model->wr[nb_posted++]);
		for (uint32_t nb = draw(model, 8); nb != 0; nb--)
			if (shca_requester_next(&model->requester, model->now, &bth, payload))
				launch(model, &bth, true);
		for (uint32_t nb = draw(model, 8); nb != 0; nb--)
			if (shca_responder_next(&model->responder, &bth, payload))
				launch(model, &bth, false);
		for (uint32_t nb = draw(model, 12); nb != 0 && model->nb_flight != 0; nb--)
			land(model);
	}
}

static void
play(struct model *model, uint32_t seed)
{
	const uint32_t psn = seed % 3 == 0 ? 0xffff80 : seed * 7919 & SHCA_PSN_MASK;

	model->random = seed;
	for (uint32_t i = 0; i < sizeof(model->memory); i++)
		model->memory[i] = i < 2 * AREA ? (uint8_t)draw(model, 256) : 0;
	memcpy(model->twin, model->memory, sizeof(model->twin));
	shca_requester_init(&model->requester,
		&(struct shca_requester_conf){ &requester_host, model, true, MTU, psn,
			1 + draw(model, 8), TIMEOUT, 255, 7 });
	shca_responder_init(&model->responder,
		&(struct shca_responder_conf){ &responder_host, model, true, MTU, psn, 8, 1 });
	for (uint16_t i = 0; i < NB_WRS; i++) {
		make_wr(model, i);
		do_twin(model, &model->wr[i]);
	}
	run(model);
	assert_int_equal(model->nb_received, model->nb_expected);
	for (unsigned int i = 0; i < model->nb_expected; i++) {
		assert_memory_equal(&model->received[i].what, &model->expected[i].what,
			sizeof(model->expected[i].what));
		assert_memory_equal(model->received[i].bytes, model->expected[i].bytes, LONGEST);
	}
	assert_memory_equal(model->memory, model->twin, sizeof(model->twin));
	assert_memory_equal(model->answers, model->twin_answers, sizeof(model->answers));
}

static void
play_with(unsigned int lost, unsigned int doubled, unsigned int late, unsigned int not_ready)
{
	for (uint32_t seed = 1; seed <= test_rounds(80); seed++) {
		struct model *model = calloc(1, sizeof(*model));

		assert_non_null(model);
		model->percent_lost = lost;
		model->percent_doubled = doubled;
		model->percent_late = late;
		model->percent_not_ready = not_ready;
		play(model, seed);
		/* A good cable costs no repetition. */
		if (lost + doubled + late + not_ready == 0)
			assert_int_equal(model->requester.nb_repeats, 0);
		free(model);
	}
}

static void
good_cable(void **state)
{
	(void)state;
	play_with(0, 0, 0, 0);
}

static void
losses(void **state)
{
	(void)state;
	play_with(8, 0, 0, 0);
}

static void
doubles(void **state)
{
	(void)state;
	play_with(0, 20, 0, 0);
}

static void
late_ones(void **state)
{
	(void)state;
	play_with(0, 0, 15, 0);
}

static void
no_receive_wqes(void **state)
{
	(void)state;
	play_with(0, 0, 0, 30);
}

static void
everything(void **state)
{
	(void)state;
	play_with(5, 5, 5, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_cable),
		cmocka_unit_test(losses),
		cmocka_unit_test(doubles),
		cmocka_unit_test(late_ones),
		cmocka_unit_test(no_receive_wqes),
		cmocka_unit_test(everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
