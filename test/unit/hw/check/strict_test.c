/* SPDX-License-Identifier: BSD-3-Clause */
/* The strict device: each mistake provoked and found, with its text; without it, silence. */
#include "trial.h"

#include <endian.h>
#include <inttypes.h>

#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define PROT  MLX5_CQE_SYNDROME_LOCAL_PROT_ERR

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
	trial_send(&trial->rig, &wqe);
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
	trial_send(&trial->rig, &wqe);
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
	trial_send(&trial->rig, &wqe);
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
	trial_send(&trial->rig, &wqe);
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

/* Write the WQE's first 8 bytes to one of the places of the register. */
static void
ring(struct trial *trial, const struct rig_wqe *wqe, unsigned int place)
{
	uint64_t value;

	memcpy(&value, wqe->bytes, sizeof(value));
	__atomic_store_n(&trial->page[(0x800 + place * 0x100) / 8], value, __ATOMIC_RELEASE);
	shca_device_step(trial->rig.dev);
}

static void
no_record(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	trial_watch(trial);
	trial_send(&trial->rig, &wqe);
	rig_post(&trial->rig, &wqe);
	if (wrong)
		trial->rig.sq_attr.dbrec[1] = 0;
	ring(trial, &wqe, 0);
}

static void
late_record(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	trial_watch(trial);
	for (unsigned int i = 0; i < 4; i++) {
		__be32 word;

		trial_send(&trial->rig, &wqe);
		rig_post(&trial->rig, &wqe);
		word = trial->rig.sq_attr.dbrec[1];
		if (wrong && i == 2)
			trial->rig.sq_attr.dbrec[1] = htobe32(i);
		ring(trial, &wqe, i);
		trial->rig.sq_attr.dbrec[1] = word;
		rig_run(&trial->rig);
	}
}

static void
no_doorbell(struct trial *trial, bool wrong)
{
	struct rig_wqe wqe;

	open_model(trial, NULL);
	trial_watch(trial);
	for (unsigned int i = 0; i < 3; i++) {
		rig_run(&trial->rig);
		trial_send(&trial->rig, &wqe);
		rig_post(&trial->rig, &wqe);
		shca_device_step(trial->rig.dev);
		/* One for several is enough. */
		if (i == 0 || (!wrong && i == 2))
			ring(trial, &wqe, 0);
	}
}

static void
compressed_tx(struct trial *trial, bool wrong)
{
	trial->rig.tx_mini = wrong ? SHCA_MINI_HASH : SHCA_MINI_NONE;
	open_model(trial, NULL);
}

static void
mini_format(struct trial *trial, bool wrong)
{
	trial->rig.rx_mini = wrong ? SHCA_MINI_CSUM_STRIDX : SHCA_MINI_CSUM;
	open_model(trial, NULL);
}

/* Strides, and no index. */
static void
mini_format_striding(struct trial *trial, bool wrong)
{
	trial->rig.rx_mini = wrong ? SHCA_MINI_CSUM : SHCA_MINI_CSUM_STRIDX;
	trial->rig.rq_attr.log_strides = 9;
	trial->rig.rq_attr.log_stride_bytes = 6;
	trial->rig.rq_attr.stride_bytes = 32;
	open_model(trial, NULL);
}

static void
own_broadcast(struct trial *trial, bool wrong)
{
	struct rig *rig = &trial->rig;
	uint8_t frame[64];
	struct rig_wqe wqe;

	open_model(trial, NULL);
	shca_device_lock(rig->dev);
	shca_sq_destroy(rig->sq);
	assert_int_equal(shca_sq_create(rig->dev, &rig->sq_attr, &rig->sq), 0);
	shca_sq_modify(rig->sq, SHCA_QUEUE_READY);
	shca_device_unlock(rig->dev);
	rig_frame(frame, sizeof(frame), 1);
	if (wrong)
		memset(frame, 0xff, 6);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(
		&wqe, rig->mr->lkey, rig_place(rig, 0, frame, sizeof(frame)), sizeof(frame));
	rig_post(rig, &wqe);
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
	{ SHCA_FINDING_DOORBELL_WITHOUT_RECORD, no_record, 0, "doorbell of WQE 0, record 0" },
	{ SHCA_FINDING_RECORD_AFTER_DOORBELL, late_record, 0, "doorbell of WQE 2, record 3" },
	{ SHCA_FINDING_RECORD_WITHOUT_DOORBELL, no_doorbell, 0, "doorbell of WQE 0, record 3" },
	{ SHCA_FINDING_CQ_COMPRESSED_TX, compressed_tx, 0, "mini CQEs with hash" },
	{ SHCA_FINDING_CQ_MINI_FORMAT, mini_format, 0, "with checksum and stride index" },
	{ SHCA_FINDING_CQ_MINI_FORMAT, mini_format_striding, 0, "mini CQEs with checksum\n" },
	{ SHCA_FINDING_OWN_BROADCAST, own_broadcast, 0, "SEND(0x0a.0) index 0" },
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
	/* abi/ finds these: test/system/test_strict.py. */
	is_reached[SHCA_FINDING_CQE_SIZE] = true;
	is_reached[SHCA_FINDING_FLOW_PORT] = true;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_found),
		cmocka_unit_test(without_it_silence),
		cmocka_unit_test(every_rule_is_reached),
		cmocka_unit_test(nothing_changes_what_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
