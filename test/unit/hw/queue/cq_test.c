/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queue: owner bits over laps, CQE128, overrun, arming, resize, creation. */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "hw/state/device.h"

static void
nop(struct rig *rig)
{
	struct rig_wqe wqe;

	rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
	rig_post(rig, &wqe);
	rig_run(rig);
}

/** rig_poll() looks at the owner bit as software does. 128-byte CQEs lie in the second half. */
static void
laps(void **state)
{
	static const uint32_t sizes[] = { 64, 128 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig.nb_cqes = 4;
		rig.cqe_bytes = sizes[i];
		rig_open(&rig);
		for (unsigned int n = 0; n < 30; n++) {
			assert_false(rig_poll(&rig.tx, &cqe));
			nop(&rig);
			assert_true(rig_poll(&rig.tx, &cqe));
			assert_int_equal(be16toh(cqe.wqe_counter), n);
			assert_int_equal(cqe.op_own, n / 4 & 1);
		}
		rig_close(&rig);
	}
}

static void
overrun(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 4;
	rig_open(&rig);
	for (unsigned int n = 0; n < 4; n++)
		nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 0);
	/* One read makes room for one. */
	assert_true(rig_poll(&rig.tx, &cqe));
	nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 0);
	nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 1);
	/* It has stopped: what was unread is intact, nothing comes any more. */
	for (unsigned int n = 1; n < 5; n++) {
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), n);
	}
	nop(&rig);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(rig.tx.nb_error_events, 1);
	rig_close(&rig);
}

/** What came before the overrun wakes who waits for it, although it came in the same round. */
static void
overrun_of_an_armed_one(void **state)
{
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 4;
	rig_open(&rig);
	rig_arm(&rig.tx, 0, false);
	rig_run(&rig);
	for (unsigned int n = 0; n < 5; n++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		rig_post(&rig, &wqe);
	}
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_error_events, 1);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_close(&rig);
}

static void
overrun_ignored(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 4;
	rig.ignore_overrun = true;
	rig_open(&rig);
	for (unsigned int n = 0; n < 20; n++)
		nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 0);
	rig_close(&rig);
}

/** Let 70000 completions come and go, with the record as @p record has it of the consumer index. */
static void
consume(uint32_t nb_cqes, __be32 (*record)(uint32_t ci))
{
	struct shca_cqe cqe;
	struct rig rig;

	rig_init(&rig);
	rig.nb_cqes = nb_cqes;
	rig_open(&rig);
	for (unsigned int n = 0; n < 70000; n++) {
		struct rig_wqe wqe;

		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		rig_post(&rig, &wqe);
		shca_device_step(rig.dev);
		assert_true(rig_poll(&rig.tx, &cqe));
		rig.tx.dbrec[0] = record(rig.tx.ci);
	}
	assert_int_equal(rig.tx.nb_error_events, 0);
	rig_close(&rig);
}

static __be32
of_16_bits(uint32_t ci)
{
	return htobe32(ci & 0xffff);
}

static __be32
in_host_order(uint32_t ci)
{
	return htole32(ci);
}

/** DPDK writes 16 bits of the send CQ's consumer index: past 65536 they must not look like an
 * overrun. */
static void
consumer_index_of_16_bits(void **state)
{
	(void)state;
	consume(8, of_16_bits);
}

/** VPP's direct-verbs Rx of 2020 to 2026 writes its consumer index in the CPU's byte order, and
 * works on cards: an index that names no full ring stops nothing. */
static void
consumer_index_in_host_order(void **state)
{
	(void)state;
	consume(512, in_host_order);
}

/** The first arm word of libmlx5 is 0, like the record it initialised. */
static void
arming(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 0);
	/* Armed behind a completion: at once. */
	rig_arm(&rig.tx, 0, false);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	nop(&rig);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	/* The same number again is late. */
	assert_true(rig_poll(&rig.tx, &cqe));
	rig_arm(&rig.tx, 0, false);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	/* All read, armed: with the next completion, once. */
	assert_true(rig_poll(&rig.tx, &cqe));
	rig_arm(&rig.tx, 1, false);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	nop(&rig);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 2);
	assert_int_equal(rig.rx.nb_completion_events, 0);
	rig_close(&rig);
}

/** perftest -e arms between the event and the read: the completion that it was woken for wakes it
 * no second time; the next one does, even if it came before the arm. */
static void
arming_before_reading(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_arm(&rig.tx, 0, false);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_arm(&rig.tx, 1, false);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 2);
	nop(&rig);
	rig_arm(&rig.tx, 2, false);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 3);
	rig_close(&rig);
}

/** The same for solicited ones, of which an error is one. */
static void
arming_for_solicited_before_reading(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_arm(&rig.tx, 0, true);
	rig_send(&rig, 0, 1, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_arm(&rig.tx, 1, true);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_close(&rig);
}

/** Look at the arm word at a time of the device's clock. */
static void
look_at(struct rig *rig, uint64_t ticks)
{
	rig->dev->ticks = ticks;
	shca_cq_poll_arm(rig->tx.cq);
}

/** An event comes 100 us after the one before, or with the third completion; the thread that steps
 * knows when. */
static void
moderation(void **state)
{
	const uint64_t ticks = 15625; /* of 100 us */
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	shca_cq_moderate(rig.tx.cq, &(struct shca_cq_moderation){ 3, 100 });
	nop(&rig);
	rig_arm(&rig.tx, 0, false);
	look_at(&rig, ticks - 1);
	assert_int_equal(rig.tx.nb_completion_events, 0);
	assert_int_equal(shca_device_due_ns(rig.dev), SHCA_CLOCK_TICKS_TO_NS(ticks + 1));
	look_at(&rig, ticks);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	for (unsigned int i = 0; i < 2; i++)
		nop(&rig);
	rig_arm(&rig.tx, 1, false);
	look_at(&rig, 2 * ticks - 1);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	/* Unarmed for the step, which has the machine's clock. */
	rig_arm(&rig.tx, 0, false);
	nop(&rig);
	rig_arm(&rig.tx, 1, false);
	look_at(&rig, 2 * ticks - 1);
	assert_int_equal(rig.tx.nb_completion_events, 2);
	rig_close(&rig);
}

/** A zero is no moderation (cqc: 0 disables). */
static void
no_moderation(void **state)
{
	static const struct shca_cq_moderation rows[] = { { 0, 100 }, { 3, 0 }, { 0, 0 },
		{ 1, 100 } };
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_init(&rig);
		rig_open(&rig);
		shca_cq_moderate(rig.tx.cq, &rows[i]);
		nop(&rig);
		rig_arm(&rig.tx, 0, false);
		look_at(&rig, 1);
		assert_int_equal(rig.tx.nb_completion_events, 1);
		rig_close(&rig);
	}
}

/** Nor does moderation outlive an overrun: nobody would look at the time of an event held back. */
static void
moderation_and_overrun(void **state)
{
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 4;
	rig_open(&rig);
	rig_arm(&rig.tx, 0, false);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	shca_cq_moderate(rig.tx.cq, &(struct shca_cq_moderation){ 100, UINT16_MAX });
	rig_arm(&rig.tx, 1, false);
	for (unsigned int n = 0; n < 4; n++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		rig_post(&rig, &wqe);
	}
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_error_events, 1);
	assert_int_equal(rig.tx.nb_completion_events, 2);
	rig_close(&rig);
}

static void
first_arm_is_zero(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_arm(&rig.tx, 0, false);
	assert_int_equal(rig.tx.dbrec[1], 0);
	rig_run(&rig);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_close(&rig);
}

/** Solicited only: an ordinary completion does not wake, an error does. */
static void
arming_for_solicited(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_arm(&rig.tx, 0, true);
	nop(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 0);
	rig_send(&rig, 0, 1, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	rig_close(&rig);
}

/** A compressed one wakes, too, alone and behind one that did not ask for it. */
static void
arming_for_a_compressed_solicited(void **state)
{
	struct shca_cqe cqe = { .op_own = MLX5_CQE_RESP_SEND << SHCA_CQE_OPCODE_SHIFT };
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rx_mini = SHCA_MINI_HASH;
	rig_open(&rig);
	rig_arm(&rig.rx, 0, true);
	shca_cq_push(rig.rx.cq, &cqe, true);
	shca_cq_poll_arm(rig.rx.cq);
	assert_int_equal(rig.rx.nb_completion_events, 1);
	rig_arm(&rig.rx, 1, true);
	cqe.wqe_counter = htobe16(1);
	shca_cq_push(rig.rx.cq, &cqe, false);
	shca_cq_poll_arm(rig.rx.cq);
	assert_int_equal(rig.rx.nb_completion_events, 1);
	for (uint16_t i = 2; i < 4; i++) {
		cqe.wqe_counter = htobe16(i);
		shca_cq_push(rig.rx.cq, &cqe, i == 3);
	}
	shca_cq_poll_arm(rig.rx.cq);
	assert_int_equal(rig.rx.nb_completion_events, 2);
	rig_close(&rig);
}

/** A full ring has no place for the RESIZE CQE: it stays, and loses nothing. */
static void
resize_full(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;
	uint8_t *ring;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 4;
	rig_open(&rig);
	ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(ring, MAP_FAILED);
	for (unsigned int n = 0; n < 4; n++)
		nop(&rig);
	assert_int_equal(shca_cq_resize(rig.tx.cq, ring, 16, 64), -EINVAL);
	for (unsigned int n = 0; n < 4; n++) {
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), n);
	}
	nop(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
	munmap(ring, 4096);
}

/** As libmlx5's ibv_resize_cq: it copies up to the RESIZE CQE one place further into the new ring.
 */
static void
resize(void **state)
{
	static const uint32_t sizes[] = { 64, 128 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t nb_new = 16;
		struct shca_cqe cqe;
		struct rig rig;
		uint8_t *ring;
		uint32_t ci;

		rig_init(&rig);
		rig.nb_cqes = 4;
		rig_open(&rig);
		for (unsigned int n = 0; n < 6; n++) {
			nop(&rig);
			assert_true(rig_poll(&rig.tx, &cqe));
		}
		nop(&rig); /* two unread: 6 and 7 */
		nop(&rig);
		ring = mmap(NULL, nb_new * sizes[i], PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (uint32_t n = 0; n < nb_new; n++)
			ring[(n + 1) * sizes[i] - 1] = MLX5_CQE_INVALID << 4;
		assert_int_equal(shca_cq_resize(rig.tx.cq, ring, 1, sizes[i]), -EINVAL);
		assert_int_equal(shca_cq_resize(rig.tx.cq, ring, 2, sizes[i]), -EINVAL);
		assert_int_equal(shca_cq_resize(rig.tx.cq, ring, 12, sizes[i]), -EINVAL);
		assert_int_equal(shca_cq_resize(rig.tx.cq, ring, nb_new, 32), -EINVAL);
		assert_int_equal(shca_cq_resize(rig.tx.cq, NULL, nb_new, sizes[i]), -EFAULT);
		assert_int_equal(shca_cq_resize(rig.tx.cq, ring, nb_new, sizes[i]), 0);
		for (ci = rig.tx.ci;; ci++) {
			const uint8_t *old = rig.tx.ring + (ci & 3) * 64;
			uint8_t *new = ring + ((ci + 1) & (nb_new - 1)) * sizes[i] + sizes[i] - 64;

			assert_int_equal(old[63] & 1, ci / 4 & 1);
			if (old[63] >> 4 == MLX5_CQE_RESIZE_CQ)
				break;
			memcpy(new, old, 64);
			new[63] = (uint8_t)((old[63] & 0xfe) | ((ci + 1) / nb_new & 1));
		}
		assert_int_equal(ci, 8);
		munmap(rig.tx.ring, 4096);
		rig.tx.ring = ring;
		rig.tx.nb_cqes = nb_new;
		rig.tx.cqe_bytes = sizes[i];
		rig.tx.ci++;
		for (unsigned int n = 6; n < 40; n++) {
			if (n >= 8)
				nop(&rig);
			assert_true(rig_poll(&rig.tx, &cqe));
			assert_int_equal(be16toh(cqe.wqe_counter), n);
		}
		assert_int_equal(rig.tx.nb_error_events, 0);
		rig_close(&rig);
	}
}

static void
creation(void **state)
{
	struct shca_cq *cq = NULL;
	struct shca_cq_attr good;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	good = (struct shca_cq_attr){ .ring = rig.buffers,
		.dbrec = (__be32 *)(void *)(rig.buffers + 0x8000),
		.nb_cqes = 4,
		.cqe_bytes = 64 };
	for (unsigned int i = 0; i < 6; i++) {
		struct shca_cq_attr attr = good;
		int expected = -EINVAL;

		if (i == 0)
			attr.nb_cqes = 0;
		else if (i == 1)
			attr.nb_cqes = 3;
		else if (i == 2)
			attr.cqe_bytes = 256;
		else if (i == 3)
			attr.dbrec++;
		else
			expected = -EFAULT;
		if (i == 4)
			attr.ring = NULL;
		if (i == 5)
			attr.dbrec = NULL;
		assert_int_equal(shca_cq_create(rig.dev, &attr, &cq), expected);
	}
	assert_null(cq);
	assert_int_equal(shca_cq_create(rig.dev, &good, &cq), 0);
	assert_int_not_equal(shca_cq_number(cq), shca_cq_number(rig.tx.cq));
	shca_cq_destroy(cq);
	shca_cq_destroy(NULL);
	rig_close(&rig);
}

/** The ring goes away under the device: the CQ fails, the process lives. */
static void
unmapped_ring(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int i = 0; i < 300; i++)
		shca_device_step(rig.dev); /* cmocka's handler gives way to the guard's */
	munmap(rig.tx.ring, rig.tx.nb_cqes * rig.tx.cqe_bytes);
	nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 1);
	nop(&rig);
	assert_int_equal(rig.tx.nb_error_events, 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laps),
		cmocka_unit_test(overrun),
		cmocka_unit_test(overrun_of_an_armed_one),
		cmocka_unit_test(overrun_ignored),
		cmocka_unit_test(consumer_index_of_16_bits),
		cmocka_unit_test(consumer_index_in_host_order),
		cmocka_unit_test(arming),
		cmocka_unit_test(arming_before_reading),
		cmocka_unit_test(arming_for_solicited_before_reading),
		cmocka_unit_test(moderation),
		cmocka_unit_test(no_moderation),
		cmocka_unit_test(moderation_and_overrun),
		cmocka_unit_test(first_arm_is_zero),
		cmocka_unit_test(arming_for_solicited),
		cmocka_unit_test(arming_for_a_compressed_solicited),
		cmocka_unit_test(resize_full),
		cmocka_unit_test(resize),
		cmocka_unit_test(creation),
		cmocka_unit_test(unmapped_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
