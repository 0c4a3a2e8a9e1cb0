/* SPDX-License-Identifier: BSD-3-Clause */
/* The strict device: each mistake provoked and found, with its text; without it, silence. */
#include "strict_rig.h"

#include <endian.h>
#include <inttypes.h>

#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define PROT  MLX5_CQE_SYNDROME_LOCAL_PROT_ERR

/** A program that makes, or when @p wrong is false does not make, one mistake. */
struct mistake {
	enum shca_finding finding;
	void (*run)(struct strict_rig *strict_rig, bool wrong);
	uint8_t syndrome; /* of the send queue's error CQE, or 0 */
	const char *said; /* besides the rule */
};

static void
open_model(struct strict_rig *strict_rig, const char *model)
{
	if (model != NULL)
		strict_rig->rig.model = *shca_model_find(model);
	rig_open(&strict_rig->rig);
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
past_producer(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_send(&strict_rig->rig, &wqe);
	rig_number(&strict_rig->rig, &wqe);
	if (wrong)
		set_ds(&wqe, 5);
	rig_post_raw(&strict_rig->rig, &wqe, 1);
}

static void
stale(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_send(&strict_rig->rig, &wqe);
	rig_post(&strict_rig->rig, &wqe);
	/* The next slot's WQE is the one of before. */
	if (!wrong)
		rig_number(&strict_rig->rig, &wqe);
	rig_post_raw(&strict_rig->rig, &wqe, 1);
}

static void
opcode(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_send(&strict_rig->rig, &wqe);
	if (wrong)
		wqe.bytes[3] = MLX5_OPCODE_RDMA_WRITE;
	rig_post(&strict_rig->rig, &wqe);
}

/** An inline header that the count does not cover. */
static void
ds(struct strict_rig *strict_rig, bool wrong)
{
	uint8_t frame[60];
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	rig_frame(frame, sizeof(frame), 1);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, frame, sizeof(frame));
	rig_number(&strict_rig->rig, &wqe);
	if (wrong)
		set_ds(&wqe, 4);
	rig_post_raw(&strict_rig->rig, &wqe, 2);
}

/** A chain as long as the format allows, and one segment more. */
static void
chain(struct strict_rig *strict_rig, bool wrong)
{
	unsigned int nb = wrong ? 62 : 61;
	struct rig *rig = &strict_rig->rig;
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	for (unsigned int i = 0; i < nb; i++)
		rig_wqe_pointer(&wqe, rig->mr->lkey, (uintptr_t)rig->buffers + RIG_TX_OFFSET, 2);
	rig_number(rig, &wqe);
	set_ds(&wqe, 2 + nb);
	rig_post_raw(rig, &wqe, 16);
}

static void
inlined(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	uint8_t frame[100];
	struct rig_wqe wqe;
	uint64_t at;

	open_model(strict_rig, "cx4lx");
	at = rig_place(rig, 0, frame, rig_frame(frame, sizeof(frame), 1));
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, frame, wrong ? 14 : 18);
	rig_wqe_pointer(&wqe, rig->mr->lkey, at + (wrong ? 14 : 18), wrong ? 86 : 82);
	rig_post(rig, &wqe);
}

static void
immediate(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_send(&strict_rig->rig, &wqe);
	wqe.bytes[15] = wrong;
	rig_post(&strict_rig->rig, &wqe);
}

/** TSO without a segment size. */
static void
form(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	uint8_t packet[200];
	struct rig_wqe wqe;
	uint32_t length;

	open_model(strict_rig, NULL);
	length = rig_packet(packet, RIG_IPV4_TCP, false, 100);
	rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0xc0, wrong ? 0 : 50, packet, 54);
	rig_wqe_pointer(
		&wqe, rig->mr->lkey, rig_place(rig, 0, packet + 54, length - 54), length - 54);
	rig_post(rig, &wqe);
}

static void
lkey(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(&wqe, rig->mr->lkey + wrong, (uintptr_t)rig->buffers, 100);
	rig_post(rig, &wqe);
}

static void
address(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(&wqe, rig->mr->lkey,
		(uintptr_t)rig->buffers + RIG_BUFFERS_BYTES - 100 + wrong, 100);
	rig_post(rig, &wqe);
}

static void
sq_overrun(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	for (unsigned int i = 0; i < rig->sq_attr.nb_wqebbs + wrong; i++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ON_ERROR);
		rig_post(rig, &wqe);
	}
}

static void
sq_order(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
	rig_post(rig, &wqe);
	if (wrong)
		rig->sq_attr.dbrec[1] = htole32(1);
}

static void
rq_overrun(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	uint8_t frame[60];

	open_model(strict_rig, NULL);
	rig_fill_rx(rig, rig->rq_attr.nb_wqes + wrong);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
}

static void
rq_order(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	uint8_t frame[60];

	rig->rq_attr.nb_wqes = 256;
	open_model(strict_rig, NULL);
	rig_fill_rx(rig, 256);
	/* Swapped, 1 would be 0 in the 16 bits that count; 256 is too much. */
	if (wrong)
		rig->rq_attr.dbrec[0] = htole32(256);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
	rig_come(&rig->wire, frame, sizeof(frame));
}

static void
cq_overrun(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;

	rig->nb_cqes = 4;
	open_model(strict_rig, NULL);
	for (unsigned int i = 0; i < 4u + wrong; i++)
		rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
}

/** One completion, consumed; its index written in some way. */
static void
consume(struct strict_rig *strict_rig, __be32 word)
{
	struct rig *rig = &strict_rig->rig;
	struct shca_cqe cqe;

	open_model(strict_rig, NULL);
	rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
	rig_run(rig);
	assert_true(rig_poll(&rig->tx, &cqe));
	rig->tx.dbrec[0] = word;
}

static void
cq_order(struct strict_rig *strict_rig, bool wrong)
{
	consume(strict_rig, wrong ? htole32(1) : htobe32(1));
}

static void
cq_width(struct strict_rig *strict_rig, bool wrong)
{
	consume(strict_rig, htobe32(wrong ? 0x05000001 : 1));
}

static void
cq_index(struct strict_rig *strict_rig, bool wrong)
{
	consume(strict_rig, htobe32(wrong ? 2 : 1));
}

static void
receive(struct strict_rig *strict_rig, uint32_t room, uint32_t key, uint64_t offset)
{
	struct rig *rig = &strict_rig->rig;
	struct mlx5_wqe_data_seg segment;
	uint8_t frame[200];

	open_model(strict_rig, NULL);
	segment = rig_segment(room, rig->mr->lkey + key, (uintptr_t)rig->buffers + offset);
	rig_post_rx(rig, &segment, 1);
	rig_come(&rig->wire, frame, rig_frame(frame, sizeof(frame), 1));
}

static void
truncated(struct strict_rig *strict_rig, bool wrong)
{
	receive(strict_rig, wrong ? 199 : 200, 0, 0);
}

static void
rx_lkey(struct strict_rig *strict_rig, bool wrong)
{
	receive(strict_rig, 200, wrong, 0);
}

static void
rx_address(struct strict_rig *strict_rig, bool wrong)
{
	receive(strict_rig, 2000, 0, RIG_BUFFERS_BYTES - 200 + wrong);
}

static void
rx_inline(struct strict_rig *strict_rig, bool wrong)
{
	receive(strict_rig, wrong ? 0x80000000 | 200 : 200, 0, 0);
}

/** Write the WQE's first 8 bytes to one of the places of the register. */
static void
ring(struct strict_rig *strict_rig, const struct rig_wqe *wqe, unsigned int place)
{
	uint64_t value;

	memcpy(&value, wqe->bytes, sizeof(value));
	__atomic_store_n(&strict_rig->page[(0x800 + place * 0x100) / 8], value, __ATOMIC_RELEASE);
	shca_device_step(strict_rig->rig.dev);
}

static void
no_record(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_watch(strict_rig);
	strict_rig_send(&strict_rig->rig, &wqe);
	rig_post(&strict_rig->rig, &wqe);
	if (wrong)
		strict_rig->rig.sq_attr.dbrec[1] = 0;
	ring(strict_rig, &wqe, 0);
}

static void
late_record(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_watch(strict_rig);
	for (unsigned int i = 0; i < 4; i++) {
		__be32 word;

		strict_rig_send(&strict_rig->rig, &wqe);
		rig_post(&strict_rig->rig, &wqe);
		word = strict_rig->rig.sq_attr.dbrec[1];
		if (wrong && i == 2)
			strict_rig->rig.sq_attr.dbrec[1] = htobe32(i);
		ring(strict_rig, &wqe, i);
		strict_rig->rig.sq_attr.dbrec[1] = word;
		rig_run(&strict_rig->rig);
	}
}

static void
no_doorbell(struct strict_rig *strict_rig, bool wrong)
{
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
	strict_rig_watch(strict_rig);
	for (unsigned int i = 0; i < 3; i++) {
		rig_run(&strict_rig->rig);
		strict_rig_send(&strict_rig->rig, &wqe);
		rig_post(&strict_rig->rig, &wqe);
		shca_device_step(strict_rig->rig.dev);
		/* One for several is enough. */
		if (i == 0 || (!wrong && i == 2))
			ring(strict_rig, &wqe, 0);
	}
}

static void
compressed_tx(struct strict_rig *strict_rig, bool wrong)
{
	strict_rig->rig.tx_mini = wrong ? SHCA_MINI_HASH : SHCA_MINI_NONE;
	open_model(strict_rig, NULL);
}

static void
mini_format(struct strict_rig *strict_rig, bool wrong)
{
	strict_rig->rig.rx_mini = wrong ? SHCA_MINI_CSUM_STRIDX : SHCA_MINI_CSUM;
	open_model(strict_rig, NULL);
}

/** Strides, and no index. */
static void
mini_format_striding(struct strict_rig *strict_rig, bool wrong)
{
	strict_rig->rig.rx_mini = wrong ? SHCA_MINI_CSUM : SHCA_MINI_CSUM_STRIDX;
	strict_rig->rig.rq_attr.log_strides = 9;
	strict_rig->rig.rq_attr.log_stride_bytes = 6;
	strict_rig->rig.rq_attr.stride_bytes = 32;
	open_model(strict_rig, NULL);
}

static void
own_broadcast(struct strict_rig *strict_rig, bool wrong)
{
	struct rig *rig = &strict_rig->rig;
	uint8_t frame[64];
	struct rig_wqe wqe;

	open_model(strict_rig, NULL);
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

/** The rule and hardware's answer, the place, and the evidence; in order, and nothing else. */
static void
expect_said(const struct strict_rig *strict_rig, const struct mistake *mistake)
{
	const struct shca_finding_row *row = &shca_finding_rows[mistake->finding];
	const char *at = strstr(strict_rig->said, "softhca: strict: mlx5_0 ");
	char rule[256];

	snprintf(rule, sizeof(rule), ": %s: %s\nsofthca: strict:   hardware: %s\n", row->name,
		row->what, row->hardware);
	if (at == NULL || strstr(at, rule) == NULL || strstr(at, mistake->said) == NULL)
		fail_msg("no '%s' in\n%s", mistake->said, strict_rig->said);
}

static void
each_mistake_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		struct shca_cqe_error error = { 0 };
		struct shca_cqe cqe;
		struct strict_rig strict_rig;

		strict_rig_start(&strict_rig);
		mistake->run(&strict_rig, true);
		rig_run(&strict_rig.rig);
		/* The first error: good completions may come before it, flushed ones come after. */
		while (error.syndrome == 0 && rig_poll(&strict_rig.rig.tx, &cqe))
			if (cqe.op_own >> 4 == MLX5_CQE_REQ_ERR)
				memcpy(&error, &cqe, sizeof(error));
		strict_rig_end(&strict_rig);
		for (unsigned int j = 0; j < SHCA_NB_FINDINGS; j++)
			if (strict_rig.count[j] != (j == mistake->finding))
				fail_msg("mistake %zu (%s): %s %" PRIu64 " times\n%s", i,
					shca_finding_rows[mistake->finding].name,
					shca_finding_rows[j].name, strict_rig.count[j],
					strict_rig.said);
		expect_said(&strict_rig, mistake);
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
		struct strict_rig strict_rig;

		strict_rig_start(&strict_rig);
		mistakes[i].run(&strict_rig, false);
		rig_run(&strict_rig.rig);
		while (rig_poll(&strict_rig.rig.tx, &cqe) || rig_poll(&strict_rig.rig.rx, &cqe))
			assert_uint_in_range(cqe.op_own >> 4, MLX5_CQE_REQ, MLX5_CQE_RESP_SEND);
		strict_rig_end(&strict_rig);
		assert_string_equal(strict_rig.said, "");
		for (unsigned int j = 0; j < SHCA_NB_FINDINGS; j++)
			assert_int_equal(strict_rig.count[j], 0);
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
	is_reached[SHCA_FINDING_QUEUE_STATE] = true;
	is_reached[SHCA_FINDING_EGRESS_ENTRY] = true;
	/* Those of queue pairs with a transport: hw/roce/roce_strict_test.c. */
	for (unsigned int i = 0; i < SHCA_FINDING_SEND_STATE; i++)
		if (!is_reached[i])
			fail_msg("%s has no mistake here", shca_finding_rows[i].name);
}

/** Not strict, the same mistakes give the same completions and no word of --strict. */
static void
nothing_changes_what_is_done(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct shca_device_stats stats[2];

		for (unsigned int is_strict = 0; is_strict < 2; is_strict++) {
			struct strict_rig strict_rig;

			strict_rig_start(&strict_rig);
			if (!is_strict)
				strict_rig.rig.findings = NULL;
			mistakes[i].run(&strict_rig, true);
			rig_run(&strict_rig.rig);
			stats[is_strict] = *shca_device_stats(strict_rig.rig.dev);
			strict_rig_end(&strict_rig);
			assert_true(is_strict || strstr(strict_rig.said, "strict") == NULL);
		}
		assert_memory_equal(&stats[0], &stats[1], sizeof(stats[0]));
	}
}

/** A queue that is reset is looked at for the last time, whatever its program has unmapped. */
static void
record_is_gone(void **state)
{
	struct strict_rig strict_rig;
	struct rig *rig = &strict_rig.rig;

	(void)state;
	strict_rig_start(&strict_rig);
	rig_open(rig);
	strict_rig_watch(&strict_rig);
	for (unsigned int i = 0; i < 256; i++)
		shca_device_step(rig->dev); /* cmocka's handler gives way to the guard's */
	munmap(rig->sq_attr.dbrec, 4096);
	strict_rig.page[0x800 / 8] = htobe64((uint64_t)shca_sq_number(rig->sq) << 8 | 1);
	shca_device_lock(rig->dev);
	shca_sq_modify(rig->sq, SHCA_QUEUE_RESET);
	shca_device_unlock(rig->dev);
	strict_rig_end(&strict_rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_found),
		cmocka_unit_test(without_it_silence),
		cmocka_unit_test(every_rule_is_reached),
		cmocka_unit_test(nothing_changes_what_is_done),
		cmocka_unit_test(record_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
