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

/** @return where the segment points, or NULL if it is not like that. */
static uint8_t *
point_one(const struct shca_segment_like *like, const struct mlx5_wqe_data_seg *segment)
{
	uint8_t *at;

	return shca_segments_point(like, (const void *)segment, sizeof(*segment), 1, true, &at) != 0
		? at
		: NULL;
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
		assert_ptr_equal(point_one(&like, &segment),
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
	assert_null(point_one(&like, &segment));
	segment = segment_of(regions->mr[1], 0, 2048);
	assert_null(point_one(&like, &segment));
	segment.lkey ^= htobe32(1);
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true));
	segment = segment_of(regions->mr[1], BYTES - LENGTH + 1, 2048);
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true));
	assert_null(shca_segment_look_up(&like, regions->mem, PDN, &first, BYTES + 1, true));
	assert_ptr_equal(point_one(&like, &first), memory[0]);
	segment = segment_of(regions->mr[1], 7, 2048);
	assert_ptr_equal(shca_segment_look_up(&like, regions->mem, PDN, &segment, LENGTH, true),
		memory[1] + 7);
	assert_null(point_one(&like, &first));
	assert_ptr_equal(point_one(&like, &segment), memory[1] + 7);
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
		const uint8_t *at = point_one(&like, &segment);

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

/** One may differ from the others in its length, in its key, or by being outside. */
static struct mlx5_wqe_data_seg
any_segment(const struct regions *regions, bool is_odd)
{
	const uint64_t inside = (uint64_t)rand() % (BYTES - LENGTH + 1);
	const uint64_t before = 0 - (1 + (uint64_t)rand() % BYTES);
	const uint64_t behind = BYTES - LENGTH + 1 + (uint64_t)rand() % BYTES;

	if (!is_odd)
		return segment_of(regions->mr[0], inside, 2048);
	switch (rand() % 5) {
	case 0:
		return segment_of(regions->mr[0], inside, 2049);
	case 1:
		return segment_of(regions->mr[1], inside, 2048);
	case 2:
		return segment_of(regions->mr[0], before, 2048);
	case 3:
		return segment_of(regions->mr[0], behind, 2048);
	default:
		return segment_of(regions->mr[0], inside ^ UINT64_C(1) << 63, 2048);
	}
}

/** Whatever their number and what is between them, segments end before the first one that is not
 * like that, and point where each of them does. */
static void
runs(void **state)
{
	enum {
		MAX = 64,
		STRIDES = 3
	};
	const struct regions *regions = *state;
	static struct mlx5_wqe_data_seg ring[MAX * STRIDES];
	const struct mlx5_wqe_data_seg first = segment_of(regions->mr[0], 1, 2048);
	struct shca_segment_like like = { 0 };
	unsigned int nb_whole = 0, nb_cut = 0;

	assert_non_null(shca_segment_look_up(&like, regions->mem, PDN, &first, LENGTH, true));
	srand(7);
	for (unsigned int i = 0; i < 4000; i++) {
		const unsigned int nb = (unsigned int)rand() % (MAX + 1), odd = 1 + i % (2 * MAX);
		const unsigned int stride = i % 2 == 0 ? 1 : STRIDES;
		uint8_t *at[MAX + 1] = { NULL };
		unsigned int want;

		for (unsigned int j = 0; j < nb; j++)
			ring[j * stride] = any_segment(regions, rand() % odd == 0 && j + 3 > odd);
		for (want = 0; want < nb; want++)
			if (point_one(&like, &ring[want * stride]) == NULL)
				break;
		at[nb] = memory[1];
		assert_int_equal(shca_segments_point(&like, (const void *)ring,
					 (uint32_t)(stride * sizeof(ring[0])), nb, i % 3 == 0, at),
			want);
		for (unsigned int j = 0; j < want; j++)
			assert_ptr_equal(at[j], point_one(&like, &ring[j * stride]));
		assert_ptr_equal(at[nb], memory[1]);
		nb_whole += want == nb && nb > 8;
		nb_cut += want < nb && want > 8;
	}
	assert_uint_in_range(nb_whole, 100, 4000);
	assert_uint_in_range(nb_cut, 100, 4000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds),
		cmocka_unit_test(others),
		cmocka_unit_test(as_a_look_up),
		cmocka_unit_test(runs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
