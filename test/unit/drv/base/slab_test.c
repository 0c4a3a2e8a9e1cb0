/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a few sizes: their places, their reuse, and a lack of memory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/slab.h"
#include "rig.h"

/** More of the smallest objects than a chunk has. */
#define NB_OBJECTS 1500
/** A slab that has so many bytes takes as many at once. */
#define HUGE_BYTES (2048u * 1024)

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static void *chunk_start;
static size_t chunk_size;
static unsigned int nb_allocs, nb_huge, nb_populated;
static bool no_memory, no_huge;

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	assert_int_equal(alignment, size == HUGE_BYTES ? HUGE_BYTES : MDV_SLAB_LINE);
	chunk_size = size;
	chunk_start = no_memory || (no_huge && size == HUGE_BYTES)
		? NULL
		: __real_aligned_alloc(alignment, size);
	nb_allocs += chunk_start != NULL;
	return chunk_start;
}

int __wrap_madvise(void *addr, size_t length, int advice);

/** As of a kernel that does not know the advice: the slab works on. */
int
__wrap_madvise(void *addr, size_t length, int advice)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (advice == MADV_HUGEPAGE) {
		assert_ptr_equal(addr, chunk_start);
		assert_int_equal(length, HUGE_BYTES);
		assert_int_equal(nb_populated + 1, nb_allocs);
		nb_huge++;
		errno = EINVAL;
		return -1;
	}
	assert_int_equal(advice, MADV_POPULATE_WRITE);
	assert_int_equal((uintptr_t)addr % page, 0);
	assert_int_equal(length % page, 0);
	assert_uint_in_range(
		(uintptr_t)addr, (uintptr_t)chunk_start, (uintptr_t)chunk_start + page);
	assert_true((uint8_t *)addr + length <= (uint8_t *)chunk_start + chunk_size);
	assert_true(length + 2 * page > chunk_size);
	nb_populated++;
	errno = EINVAL;
	return -1;
}

static const size_t sizes[] = { 0, 1, 63, 64, 65, 128, 1000, MDV_SLAB_OBJECT_MAX - 63,
	MDV_SLAB_OBJECT_MAX, MDV_SLAB_OBJECT_MAX + 1, 10000 };

/** @return whether AddressSanitizer's build takes each object from malloc(). */
static bool
is_kept(size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	(void)size;
	return false;
#else
	return size <= MDV_SLAB_OBJECT_MAX;
#endif
}

static void
objects_begin_at_lines_and_do_not_overlap(void **state)
{
	static uint8_t *objects[NB_OBJECTS];
	struct mdv_slab slab;
	unsigned int i, k;

	(void)state;
	for (k = 0; k < RTE_DIM(sizes); k++) {
		mdv_slab_init(&slab);
		nb_allocs = nb_huge = nb_populated = 0;
		for (i = 0; i < NB_OBJECTS; i++) {
			objects[i] = mdv_slab_get(&slab, sizes[k]);
			assert_non_null(objects[i]);
			assert_int_equal((uintptr_t)objects[i] % MDV_SLAB_LINE, 0);
			memset(objects[i], i % 251, sizes[k]);
		}
		if (is_kept(sizes[k])) {
			const size_t size = RTE_ALIGN(RTE_MAX(sizes[k], 1u), MDV_SLAB_LINE);
			const size_t a_chunk = (64 * 1024 - MDV_SLAB_LINE) / size;
			const size_t chunks = (NB_OBJECTS + a_chunk - 1) / a_chunk;
			const size_t few = RTE_MIN(chunks, HUGE_BYTES / (64 * 1024));

			assert_int_equal(nb_huge, chunks > few ? 1 : 0);
			assert_int_equal(nb_allocs, few + nb_huge);
			assert_int_equal(nb_populated, nb_allocs);
		} else {
			assert_int_equal(nb_allocs, NB_OBJECTS);
		}
		for (i = 0; i < NB_OBJECTS; i++) {
			size_t at;

			for (at = 0; at < sizes[k]; at++)
				assert_int_equal(objects[i][at], i % 251);
			mdv_slab_put(&slab, objects[i], sizes[k]);
		}
		mdv_slab_fini(&slab);
		mdv_slab_fini(&slab);
	}
}

static void
what_was_put_back_is_used_again_in_its_size(void **state)
{
	struct mdv_slab slab;
	void *one, *two;

	(void)state;
	if (!is_kept(1)) {
		print_message("under AddressSanitizer each object is an allocation of its own\n");
		skip();
	}
	mdv_slab_init(&slab);
	one = mdv_slab_get(&slab, 100);
	two = mdv_slab_get(&slab, 120);
	/* One after the other in a chunk. */
	assert_ptr_equal(two, (uint8_t *)one + 128);
	mdv_slab_put(&slab, one, 100);
	assert_ptr_not_equal(mdv_slab_get(&slab, 64), one);
	assert_ptr_not_equal(mdv_slab_get(&slab, 129), one);
	assert_ptr_equal(mdv_slab_get(&slab, 65), one);
	assert_int_equal((uintptr_t)mdv_slab_get(&slab, 128) - (uintptr_t)two, 128);
	mdv_slab_fini(&slab);
}

static void
nothing_breaks_without_memory(void **state)
{
	struct mdv_slab slab;
	unsigned int k;
	void *object;

	(void)state;
	for (k = 0; k < RTE_DIM(sizes); k++) {
		mdv_slab_init(&slab);
		no_memory = true;
		assert_null(mdv_slab_get(&slab, sizes[k]));
		no_memory = false;
		object = mdv_slab_get(&slab, sizes[k]);
		assert_non_null(object);
		mdv_slab_put(&slab, object, sizes[k]);
		mdv_slab_fini(&slab);
	}
}

/** Small chunks go on where there are no 2 MiB in a row. */
static void
few_are_taken_where_many_are_refused(void **state)
{
	const unsigned int a_chunk = (64 * 1024 - MDV_SLAB_LINE) / MDV_SLAB_OBJECT_MAX;
	const unsigned int nb_few = a_chunk * (HUGE_BYTES / (64 * 1024));
	struct mdv_slab slab;
	unsigned int i;

	(void)state;
	if (!is_kept(1)) {
		print_message("under AddressSanitizer each object is an allocation of its own\n");
		skip();
	}
	mdv_slab_init(&slab);
	nb_allocs = nb_huge = nb_populated = 0;
	no_huge = true;
	for (i = 0; i < nb_few + 1; i++)
		assert_non_null(mdv_slab_get(&slab, MDV_SLAB_OBJECT_MAX));
	no_huge = false;
	assert_int_equal(chunk_size, 64 * 1024);
	assert_int_equal(nb_allocs, nb_few / a_chunk + 1);
	assert_int_equal(nb_populated, nb_allocs);
	assert_int_equal(slab.bytes, (nb_few / a_chunk + 1) * 64 * 1024);
	/* The next chunk is large again. */
	for (i = 0; i < a_chunk; i++)
		assert_non_null(mdv_slab_get(&slab, MDV_SLAB_OBJECT_MAX));
	assert_int_equal(chunk_size, HUGE_BYTES);
	mdv_slab_fini(&slab);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_begin_at_lines_and_do_not_overlap),
		cmocka_unit_test(what_was_put_back_is_used_again_in_its_size),
		cmocka_unit_test(few_are_taken_where_many_are_refused),
		cmocka_unit_test(nothing_breaks_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
