/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments like one that was looked up: each answer is that of a look-up of its own. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hw/queue/segment.h"

#define PDN    5
#define LENGTH 60u
#define BYTES  4096

static uint8_t memory[2][BYTES];

struct regions {
	struct shca_mem *mem;
	struct shca_mr *mr[2];
};

/** Two regions, neither of which begins at the address that it names. */
static int
setup(void **state)
{
	static struct regions regions;

	regions.mem = shca_mem_create();
	assert_non_null(regions.mem);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(shca_mem_reg(regions.mem, memory[i], BYTES, 0x10000 * (i + 1), PDN,
					 1 /* local write */, &regions.mr[i]),
			0);
	*state = &regions;
	return 0;
}

static int
teardown(void **state)
{
	shca_mem_destroy(((struct regions *)*state)->mem);
	return 0;
}

static struct mlx5_wqe_data_seg
segment_of(const struct shca_mr *mr, uint64_t offset, uint32_t room)
{
	return (struct mlx5_wqe_data_seg){ .byte_count = htobe32(room),
		.lkey = htobe32(mr->lkey),
		.addr = htobe64(mr->iova + offset) };
}

static void
nothing_is_like_nothing(void **state)
{
	const struct shca_segment_like like = { 0 };
	struct mlx5_wqe_data_seg segment = { 0 };

	(void)state;
	assert_null(shca_segment_ptr(&like, &segment));
	segment.addr = htobe64((uintptr_t)memory);
	assert_null(shca_segment_ptr(&like, &segment));
}

static void
bounds(void **state)
{
	const struct regions *regions = *state;
	struct mlx5_wqe_data_seg segment = segment_of(regions->mr[0], 100, 2048);
	struct shca_segment_like like = { 0 };
	static const struct {
		uint64_t offset;
		bool is_inside;
	} cases[] = { { 0, true }, { 1, true }, { BYTES - LENGTH, true },
		{ BYTES - LENGTH + 1, false }, { BYTES, false }, { UINT64_MAX, false },
		{ (uint64_t)INT64_MAX, false }, { 0 - (uint64_t)LENGTH, false } };

	assert_ptr_equal(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true),
		memory[0] + 100);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		segment = segment_of(regions->mr[0], cases[i].offset, 2048);
		assert_ptr_equal(shca_segment_ptr(&like, &segment),
			cases[i].is_inside ? memory[0] + cases[i].offset : NULL);
	}
}

/** Another length or key needs another look-up; what fails leaves the one before as it was. */
static void
others(void **state)
{
	const struct regions *regions = *state;
	const struct mlx5_wqe_data_seg first = segment_of(regions->mr[0], 0, 2048);
	struct mlx5_wqe_data_seg segment = segment_of(regions->mr[0], 0, 2047);
	struct shca_segment_like like = { 0 };

	assert_ptr_equal(
		shca_segment_look_up(&like, regions->mem, PDN, &first, LENGTH, true), memory[0]);
	assert_null(shca_segment_ptr(&like, &segment));
	segment = segment_of(regions->mr[1], 0, 2048);
	assert_null(shca_segment_ptr(&like, &segment));
	segment.lkey ^= htobe32(1);
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true));
	segment = segment_of(regions->mr[1], BYTES - LENGTH + 1, 2048);
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true));
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &first, BYTES + 1, true));
	assert_ptr_equal(shca_segment_ptr(&like, &first), memory[0]);
	segment = segment_of(regions->mr[1], 7, 2048);
	assert_ptr_equal(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true),
		memory[1] + 7);
	assert_null(shca_segment_ptr(&like, &first));
	assert_ptr_equal(shca_segment_ptr(&like, &segment), memory[1] + 7);
}

static void
as_a_look_up(void **state)
{
	const struct regions *regions = *state;
	struct shca_segment_like like = { 0 };
	unsigned int nb_alike = 0;

	srand(5);
	for (unsigned int i = 0; i < 20000; i++) {
		const uint32_t length = 1 + (uint32_t)rand() % 2000;
		const struct mlx5_wqe_data_seg segment = segment_of(regions->mr[rand() % 16 == 0],
			(uint64_t)rand() % (BYTES + 100) - 50,
			rand() % 8 == 0 ? (uint32_t)rand() : 2048);
		const uint8_t *at = shca_segment_ptr(&like, &segment);

		if (at != NULL) {
			assert_ptr_equal(at,
				shca_mem_ptr(regions->mem, PDN, be32toh(segment.lkey),
					be64toh(segment.addr), like.length, true));
			nb_alike++;
		} else {
			at = shca_segment_look_up(&like, regions->mem, PDN, &segment, length, true);
			assert_ptr_equal(at,
				shca_mem_ptr(regions->mem, PDN, be32toh(segment.lkey),
					be64toh(segment.addr), length, true));
		}
	}
	assert_uint_in_range(nb_alike, 5000, 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_like_nothing),
		cmocka_unit_test(bounds),
		cmocka_unit_test(others),
		cmocka_unit_test(as_a_look_up),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
