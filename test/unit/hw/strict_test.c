/* SPDX-License-Identifier: BSD-3-Clause */
/* The strict device: each mistake provoked and found, with its text; without it, silence. */
#include "rig.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/findings.h"
#include "hw/strict.h"

#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define PROT  MLX5_CQE_SYNDROME_LOCAL_PROT_ERR

/* What one program did: findings, and what they said. */
struct trial {
	struct rig rig;
	struct shca_findings findings;
	uint64_t count[SHCA_NB_FINDINGS];
	char said[8192];
	int saved, file;
};

static void
trial_start(struct trial *trial)
{
	memset(trial, 0, sizeof(*trial));
	trial->findings.mode = SHCA_STRICT_REPORT;
	trial->findings.count = trial->count;
	trial->saved = dup(STDERR_FILENO);
	trial->file = memfd_create("stderr", 0);
	assert_true(trial->file >= 0);
	dup2(trial->file, STDERR_FILENO);
	rig_init(&trial->rig);
	trial->rig.findings = &trial->findings;
}

static void
trial_end(struct trial *trial)
{
	ssize_t nb;

	rig_close(&trial->rig);
	dup2(trial->saved, STDERR_FILENO);
	close(trial->saved);
	nb = pread(trial->file, trial->said, sizeof(trial->said) - 1, 0);
	assert_true(nb >= 0);
	close(trial->file);
}

/* A program that makes, or when @p wrong is false does not make, one mistake. */
struct mistake {
	enum shca_finding finding;
	void (*run)(struct trial *trial, bool wrong);
	uint8_t syndrome; /* of the send queue's error CQE, or 0 */
	const char *said; /* besides the rule */
};

static void
open_model(struct trial *trial, const char *model)
{
	for (const struct shca_model *row = shca_models; row->name != NULL; row++)
		if (model != NULL && strcmp(row->name, model) == 0)
			trial->rig.model = *row;
	rig_open(&trial->rig);
}

/* SEND of one frame of 100 bytes, given up before it is posted. */
static void
make_send(struct rig *rig, struct rig_wqe *wqe)
{
	uint8_t frame[100];

	rig_wqe_start(wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(wqe, rig->mr->lkey,
		rig_place(rig, 0, frame, rig_frame(frame, sizeof(frame), 1)), sizeof(frame));
}

static void
set_ds(struct rig_wqe *wqe, uint32_t ds)
{
	uint32_t word;

	memcpy(&word, wqe->bytes + 4, sizeof(word));
	word = htobe32((be32toh(word) & ~0xffu) | ds);
	memcpy(wqe->bytes + 4, &word, sizeof(word));
}

static void
past_producer(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	make_send(&trial->rig, &wqe);
	rig_number(&trial->rig, &wqe);
	if (wrong)
		set_ds(&wqe, 5);
	rig_post_raw(&trial->rig, &wqe, 1);
}

static void
stale(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	make_send(&trial->rig, &wqe);
	rig_post(&trial->rig, &wqe);
	/* The next slot's WQE is the one of before. */
	if (!wrong)
		rig_number(&trial->rig, &wqe);
	rig_post_raw(&trial->rig, &wqe, 1);
}

static void
opcode(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	make_send(&trial->rig, &wqe);
	if (wrong)
		wqe.bytes[3] = MLX5_OPCODE_RDMA_WRITE;
	rig_post(&trial->rig, &wqe);
}

/* An inline header that the count does not cover. */
static void
ds(struct trial *trial, bool wrong)
{
	uint8_t frame[60];
	struct rig_wqe wqe;

	open_model(trial, NULL);
	rig_frame(frame, sizeof(frame), 1);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, frame, sizeof(frame));
	rig_number(&trial->rig, &wqe);
	if (wrong)
		set_ds(&wqe, 4);
	rig_post_raw(&trial->rig, &wqe, 2);
}

/* A chain as long as the format allows, and one segment more. */
static void
chain(struct trial *trial, bool wrong)
{
	unsigned int nb = wrong ? 62 : 61;
	struct rig *rig = &trial->rig;
	struct rig_wqe wqe;

	open_model(trial, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	for (unsigned int i = 0; i < nb; i++)
		rig_wqe_pointer(&wqe, rig->mr->lkey, (uintptr_t)rig->buffers + RIG_TX_OFFSET, 2);
	rig_number(rig, &wqe);
	set_ds(&wqe, 2 + nb);
	rig_post_raw(rig, &wqe, 16);
}

static void
inlined(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	uint8_t frame[100];
	struct rig_wqe wqe;
	uint64_t at;

	open_model(trial, "cx4lx");
	at = rig_place(rig, 0, frame, rig_frame(frame, sizeof(frame), 1));
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, frame, wrong ? 14 : 18);
	rig_wqe_pointer(&wqe, rig->mr->lkey, at + (wrong ? 14 : 18), wrong ? 86 : 82);
	rig_post(rig, &wqe);
}

static void
immediate(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	make_send(&trial->rig, &wqe);
	wqe.bytes[15] = wrong;
	rig_post(&trial->rig, &wqe);
}

/* TSO without a segment size. */
static void
form(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	uint8_t packet[200];
	struct rig_wqe wqe;
	uint32_t length;

	open_model(trial, NULL);
	length = rig_packet(packet, RIG_IPV4_TCP, false, 100);
	rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0xc0, wrong ? 0 : 50, packet, 54);
	rig_wqe_pointer(
		&wqe, rig->mr->lkey, rig_place(rig, 0, packet + 54, length - 54), length - 54);
	rig_post(rig, &wqe);
}

static void
lkey(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	struct rig_wqe wqe;

	open_model(trial, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(&wqe, rig->mr->lkey + wrong, (uintptr_t)rig->buffers, 100);
	rig_post(rig, &wqe);
}

static void
address(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	struct rig_wqe wqe;

	open_model(trial, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(&wqe, rig->mr->lkey,
		(uintptr_t)rig->buffers + RIG_BUFFERS_BYTES - 100 + wrong, 100);
	rig_post(rig, &wqe);
}

static void
sq_overrun(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	struct rig_wqe wqe;

	open_model(trial, NULL);
	for (unsigned int i = 0; i < rig->sq_attr.nb_wqebbs + wrong; i++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ON_ERROR);
		rig_post(rig, &wqe);
	}
}

static void
sq_order(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	struct rig_wqe wqe;

	open_model(trial, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
	rig_post(rig, &wqe);
	if (wrong)
		rig->sq_attr.dbrec[1] = htole32(1);
}

static void
rq_overrun(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	uint8_t frame[60];

	open_model(trial, NULL);
	rig_fill_rx(rig, rig->rq_attr.nb_wqes + wrong);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
}

static void
rq_order(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	uint8_t frame[60];

	rig->rq_attr.nb_wqes = 256;
	open_model(trial, NULL);
	rig_fill_rx(rig, 256);
	/* Swapped, 1 would be 0 in the 16 bits that count; 256 is too much. */
	if (wrong)
		rig->rq_attr.dbrec[0] = htole32(256);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
	rig_come(&rig->wire, frame, sizeof(frame));
}

static void
cq_overrun(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;

	rig->nb_cqes = 4;
	open_model(trial, NULL);
	for (unsigned int i = 0; i < 4u + wrong; i++)
		rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
}

/* One completion, consumed; its index written in some way. */
static void
consume(struct trial *trial, __be32 word)
{
	struct rig *rig = &trial->rig;
	struct shca_cqe cqe;

	open_model(trial, NULL);
	rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
	rig_run(rig);
	assert_true(rig_poll(&rig->tx, &cqe));
	rig->tx.dbrec[0] = word;
}

static void
cq_order(struct trial *trial, bool wrong)
{
	consume(trial, wrong ? htole32(1) : htobe32(1));
}

static void
cq_width(struct trial *trial, bool wrong)
{
	consume(trial, htobe32(wrong ? 0x05000001 : 1));
}

static void
cq_index(struct trial *trial, bool wrong)
{
	consume(trial, htobe32(wrong ? 2 : 1));
}

static void
receive(struct trial *trial, uint32_t room, uint32_t key, uint64_t offset)
{
	struct rig *rig = &trial->rig;
	struct mlx5_wqe_data_seg segment;
	uint8_t frame[200];

	open_model(trial, NULL);
	segment = rig_segment(room, rig->mr->lkey + key, (uintptr_t)rig->buffers + offset);
	rig_post_rx(rig, &segment, 1);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
}

static void
truncated(struct trial *trial, bool wrong)
{
	receive(trial, wrong ? 199 : 200, 0, 0);
}

static void
rx_lkey(struct trial *trial, bool wrong)
{
	receive(trial, 200, wrong, 0);
}

static void
rx_address(struct trial *trial, bool wrong)
{
	receive(trial, 2000, 0, RIG_BUFFERS_BYTES - 200 + wrong);
}

static void
rx_inline(struct trial *trial, bool wrong)
{
	receive(trial, wrong ? 0x80000000 | 200 : 200, 0, 0);
}

static const struct mistake mistakes[] = {
	{ SHCA_FINDING_WQE_PAST_PRODUCER, past_producer, QP_OP, "SEND(0x0a.0) index 0 sqn" },
	{ SHCA_FINDING_WQE_STALE, stale, QP_OP, "index 1: wqe-stale" },
	{ SHCA_FINDING_WQE_OPCODE, opcode, QP_OP, "opcode(0x08.0) index 0" },
	{ SHCA_FINDING_WQE_DS, ds, QP_OP, "ds 4 ce 2" },
	{ SHCA_FINDING_WQE_DS_OVERFLOW, chain, 0, "0000000a" },
	{ SHCA_FINDING_WQE_INLINE, inlined, QP_OP, "inline 14 [0x" },
	{ SHCA_FINDING_WQE_IMMEDIATE, immediate, 0, " 00000008 00000001" },
	{ SHCA_FINDING_WQE_FORM, form, QP_OP, "TSO(0x0e.0) index 0" },
	{ SHCA_FINDING_LKEY, lkey, PROT, "+100 lkey 0x" },
	{ SHCA_FINDING_ADDRESS, address, PROT, "+100 lkey 0x" },
	{ SHCA_FINDING_RING_OVERRUN, sq_overrun, 0, "device at 0, ring of " },
	{ SHCA_FINDING_RECORD_ORDER, sq_order, 0, "(record 0x01000000)" },
	{ SHCA_FINDING_RING_OVERRUN, rq_overrun, 0, "device at 0, ring of " },
	{ SHCA_FINDING_RECORD_ORDER, rq_order, 0, "(record 0x00010000)" },
	{ SHCA_FINDING_CQ_OVERRUN, cq_overrun, 0, "index 4: cq-overrun" },
	{ SHCA_FINDING_CQ_RECORD_ORDER, cq_order, 0, "record 0x01000000, possible 0 to 1" },
	{ SHCA_FINDING_CQ_RECORD_WIDTH, cq_width, 0, "record 0x05000001, possible 0 to 1" },
	{ SHCA_FINDING_CQ_RECORD_INDEX, cq_index, 0, "record 0x00000002, possible 0 to 1" },
	{ SHCA_FINDING_RX_TRUNCATED, truncated, 0, "frame of 200 bytes, segments [0x" },
	{ SHCA_FINDING_LKEY, rx_lkey, 0, "frame of 200 bytes, segments [0x" },
	{ SHCA_FINDING_ADDRESS, rx_address, 0, "+2000 lkey 0x" },
	{ SHCA_FINDING_WQE_FORM, rx_inline, 0, "RQ 0x" },
};

/* The rule and hardware's answer, the place, and the evidence; in order, and nothing else. */
static void
expect_said(const struct trial *trial, const struct mistake *mistake)
{
	const struct shca_finding_row *row = &shca_finding_rows[mistake->finding];
	const char *at = strstr(trial->said, "softhca: strict: mlx5_0 ");
	char rule[256];

	snprintf(rule, sizeof(rule), ": %s: %s\nsofthca: strict:   hardware: %s\n", row->name,
		row->what, row->hardware);
	if (at == NULL || strstr(at, rule) == NULL || strstr(at, mistake->said) == NULL)
		fail_msg("no '%s' in\n%s", mistake->said, trial->said);
}

static void
each_mistake_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		struct shca_cqe_error error = { 0 };
		struct shca_cqe cqe;
		struct trial trial;

		trial_start(&trial);
		mistake->run(&trial, true);
		rig_run(&trial.rig);
		/* The first error: good completions may come before it, flushed ones come after. */
		while (error.syndrome == 0 && rig_poll(&trial.rig.tx, &cqe))
			if (cqe.op_own >> 4 == MLX5_CQE_REQ_ERR)
				memcpy(&error, &cqe, sizeof(error));
		trial_end(&trial);
		for (unsigned int j = 0; j < SHCA_NB_FINDINGS; j++)
			if (trial.count[j] != (j == mistake->finding))
				fail_msg("mistake %zu (%s): %s %" PRIu64 " times\n%s", i,
					shca_finding_rows[mistake->finding].name,
					shca_finding_rows[j].name, trial.count[j], trial.said);
		expect_said(&trial, mistake);
		if (mistake->syndrome != 0) {
			assert_int_equal(error.op_own >> 4, MLX5_CQE_REQ_ERR);
			assert_int_equal(error.syndrome, mistake->syndrome);
		}
	}
}

static void
without_it_silence(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct shca_cqe cqe;
		struct trial trial;

		trial_start(&trial);
		mistakes[i].run(&trial, false);
		rig_run(&trial.rig);
		while (rig_poll(&trial.rig.tx, &cqe) || rig_poll(&trial.rig.rx, &cqe))
			assert_in_range(cqe.op_own >> 4, MLX5_CQE_REQ, MLX5_CQE_RESP_SEND);
		trial_end(&trial);
		assert_string_equal(trial.said, "");
		for (unsigned int j = 0; j < SHCA_NB_FINDINGS; j++)
			assert_int_equal(trial.count[j], 0);
	}
}

static void
every_rule_is_reached(void **state)
{
	bool is_reached[SHCA_NB_FINDINGS] = { false };

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		is_reached[mistakes[i].finding] = true;
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++)
		if (!is_reached[i])
			fail_msg("%s has no mistake here", shca_finding_rows[i].name);
}

/* Not strict, the same mistakes give the same completions and no word of --strict. */
static void
nothing_changes_what_is_done(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct shca_device_stats stats[2];

		for (unsigned int is_strict = 0; is_strict < 2; is_strict++) {
			struct trial trial;

			trial_start(&trial);
			if (!is_strict)
				trial.rig.findings = NULL;
			mistakes[i].run(&trial, true);
			rig_run(&trial.rig);
			stats[is_strict] = *shca_device_stats(trial.rig.dev);
			trial_end(&trial);
			assert_true(is_strict || strstr(trial.said, "strict") == NULL);
		}
		assert_memory_equal(&stats[0], &stats[1], sizeof(stats[0]));
	}
}

static void
consumer_indices(void **state)
{
	static const struct {
		uint32_t word, ci, pi, nb_cqes;
		enum shca_finding finding;
		uint32_t moved;
	} cases[] = {
		{ 0, 0, 0, 64, SHCA_NB_FINDINGS, 0 },
		{ 64, 0, 64, 64, SHCA_NB_FINDINGS, 64 },
		{ 0xffffff, 0xfffff0, 0xffffff, 64, SHCA_NB_FINDINGS, 0xffffff },
		{ 0, 0xfffff0, 0x1000000, 64, SHCA_NB_FINDINGS, 0x1000000 },
		{ 5, 0x1fffffa, 0x2000010, 64, SHCA_NB_FINDINGS, 0x2000005 },
		/* 32 bits of it, 16 bits, the ring's. */
		{ 0x1000000, 0xfffff0, 0x1000000, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x1000000 },
		{ 3, 0xfff0, 0x10003, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x10003 },
		{ 0xffff, 0x1fff0, 0x20003, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x1ffff },
		{ 1, 60, 65, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 65 },
		{ 0, 60, 64, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 64 },
		/* Swapped. */
		{ 0x01000000, 0, 1, 64, SHCA_FINDING_CQ_RECORD_ORDER, 1 },
		{ 0x40000000, 0, 64, 64, SHCA_FINDING_CQ_RECORD_ORDER, 64 },
		{ 0x34120000, 0x1230, 0x1240, 64, SHCA_FINDING_CQ_RECORD_ORDER, 0x1234 },
		/* None of all that. */
		{ 2, 0, 1, 64, SHCA_FINDING_CQ_RECORD_INDEX, 0 },
		{ 99, 200, 250, 64, SHCA_FINDING_CQ_RECORD_INDEX, 200 },
		{ 0xffffffff, 0, 10, 64, SHCA_FINDING_CQ_RECORD_INDEX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t ci = cases[i].ci;

		if (shca_strict_judge_ci(cases[i].word, &ci, cases[i].pi, cases[i].nb_cqes) !=
				cases[i].finding ||
			ci != cases[i].moved)
			fail_msg("case %zu: index %u", i, ci);
	}
}

/* A kind is printed so many times, and counted always. */
static void
many_are_counted(void **state)
{
	unsigned int nb_said = 0;
	struct trial trial;

	(void)state;
	trial_start(&trial);
	rig_open(&trial.rig);
	for (unsigned int i = 0; i < 3 * SHCA_FINDINGS_PRINTED; i++) {
		struct shca_cqe cqe;
		struct rig_wqe wqe;

		make_send(&trial.rig, &wqe);
		wqe.bytes[12] = 1;
		rig_post(&trial.rig, &wqe);
		rig_run(&trial.rig);
		assert_true(rig_poll(&trial.rig.tx, &cqe));
	}
	trial_end(&trial);
	assert_int_equal(trial.count[SHCA_FINDING_WQE_IMMEDIATE], 3 * SHCA_FINDINGS_PRINTED);
	for (const char *at = trial.said; (at = strstr(at, "wqe-immediate: the")) != NULL; at++)
		nb_said++;
	assert_int_equal(nb_said, SHCA_FINDINGS_PRINTED);
	assert_non_null(strstr(trial.said, "more of wqe-immediate: counted, not shown\n"));
}

/* Rings run over their ends, in bursts of all sizes, and nothing is found. */
static void
odd_bursts_over_the_rings_ends(void **state)
{
	static const unsigned int bursts[] = { 1, 3, 2, 7, 5, 4, 6, 1, 8 };
	uint8_t frame[64];
	struct trial trial;
	struct rig *rig = &trial.rig;
	unsigned int nb = 0;

	(void)state;
	trial_start(&trial);
	rig->nb_cqes = 8;
	rig_open(rig);
	rig_frame(frame, sizeof(frame), 1);
	while (nb < 70000) {
		unsigned int burst = bursts[nb % 9];
		struct shca_cqe cqe;

		rig_fill_rx(rig, burst);
		for (unsigned int i = 0; i < burst; i++) {
			rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
			rig_come(&rig->wire, frame, sizeof(frame));
		}
		rig_run(rig);
		for (unsigned int i = 0; i < burst; i++) {
			assert_true(rig_poll(&rig->tx, &cqe));
			assert_true(rig_poll(&rig->rx, &cqe));
		}
		rig_forget(&rig->wire);
		nb += burst;
	}
	trial_end(&trial);
	assert_string_equal(trial.said, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_found),
		cmocka_unit_test(without_it_silence),
		cmocka_unit_test(every_rule_is_reached),
		cmocka_unit_test(nothing_changes_what_is_done),
		cmocka_unit_test(consumer_indices),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(odd_bursts_over_the_rings_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
