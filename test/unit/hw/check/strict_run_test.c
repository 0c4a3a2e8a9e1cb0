/* SPDX-License-Identifier: BSD-3-Clause */
/* The strict device over many WQEs: what is printed, and that what is right stays unsaid. */
#include "strict_rig.h"

/** A kind is printed so many times, and counted always. */
static void
many_are_counted(void **state)
{
	unsigned int nb_said = 0;
	struct strict_rig strict_rig;

	(void)state;
	strict_rig_start(&strict_rig);
	rig_open(&strict_rig.rig);
	for (unsigned int i = 0; i < 3 * SHCA_FINDINGS_PRINTED; i++) {
		struct shca_cqe cqe;
		struct rig_wqe wqe;

		strict_rig_send(&strict_rig.rig, &wqe);
		wqe.bytes[12] = 1;
		rig_post(&strict_rig.rig, &wqe);
		rig_run(&strict_rig.rig);
		assert_true(rig_poll(&strict_rig.rig.tx, &cqe));
	}
	strict_rig_end(&strict_rig);
	assert_int_equal(strict_rig.count[SHCA_FINDING_WQE_IMMEDIATE], 3 * SHCA_FINDINGS_PRINTED);
	for (const char *at = strict_rig.said; (at = strstr(at, "wqe-immediate: the")) != NULL;
		at++)
		nb_said++;
	assert_int_equal(nb_said, SHCA_FINDINGS_PRINTED);
	assert_non_null(strstr(strict_rig.said, "more of wqe-immediate: counted, not shown\n"));
}

/** A strict device that has its eyes on the doorbell registers. */
static struct rig *
start_watched(struct strict_rig *strict_rig)
{
	strict_rig_start(strict_rig);
	rig_open(&strict_rig->rig);
	strict_rig_watch(strict_rig);
	return &strict_rig->rig;
}

/** A frame in the ring, and its record. @return what its doorbell would be */
static uint64_t
post(struct rig *rig)
{
	struct rig_wqe wqe;
	uint64_t bell;

	strict_rig_send(rig, &wqe);
	rig_post(rig, &wqe);
	memcpy(&bell, wqe.bytes, sizeof(bell));
	return bell;
}

/** A doorbell that another queue's overwrote before the device looked is none that is missing. */
static void
overwritten_doorbells_are_not_missed(void **state)
{
	struct strict_rig strict_rig;
	struct rig *rig = start_watched(&strict_rig);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct rig_wqe wqe;
		uint64_t other;

		rig_run(rig);
		post(rig);
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		rig_put16(wqe.bytes + 1, (uint16_t)(i + 1));
		memcpy(&other, wqe.bytes, sizeof(other));
		strict_rig.page[0x800 / 8] = other;
	}
	strict_rig_end(&strict_rig);
	assert_string_equal(strict_rig.said, "");
}

/**
 * Posts @p nb, rings once, and is reset, twice: the second doorbell is what the register had
 * before. Then the device looks in between, too, after @p looks_after of them.
 */
static void
reset_and_post_again(unsigned int nb, unsigned int looks_after)
{
	struct strict_rig strict_rig;
	struct rig *rig = start_watched(&strict_rig);

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t bell = 0;

		rig_run(rig);
		for (unsigned int k = 1; k <= nb; k++) {
			bell = post(rig);
			if (i == 1 && k == looks_after)
				rig_run(rig);
		}
		strict_rig.page[0x800 / 8] = bell;
		rig_run(rig);
		rig->sq_attr.dbrec[1] = 0;
		rig->sq_pi = 0;
		shca_sq_modify(rig->sq, SHCA_QUEUE_RESET);
		shca_sq_modify(rig->sq, SHCA_QUEUE_READY);
	}
	strict_rig_end(&strict_rig);
	assert_string_equal(strict_rig.said, "");
}

/** At once, between two that are rung for together, between record and doorbell. */
static void
same_doorbell_after_reset(void **state)
{
	(void)state;
	for (unsigned int nb = 1; nb <= 2; nb++)
		for (unsigned int looks_after = 0; looks_after <= nb; looks_after++)
			reset_and_post_again(nb, looks_after);
}

/** Rings run over their ends, in bursts of all sizes, and nothing is found. */
static void
odd_bursts_over_the_rings_ends(void **state)
{
	static const unsigned int bursts[] = { 1, 3, 2, 7, 5, 4, 6, 1, 8 };
	uint8_t frame[64];
	struct strict_rig strict_rig;
	struct rig *rig = &strict_rig.rig;
	unsigned int nb = 0;

	(void)state;
	strict_rig_start(&strict_rig);
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
	strict_rig_end(&strict_rig);
	assert_string_equal(strict_rig.said, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(overwritten_doorbells_are_not_missed),
		cmocka_unit_test(same_doorbell_after_reset),
		cmocka_unit_test(odd_bursts_over_the_rings_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
