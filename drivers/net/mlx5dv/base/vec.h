/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Four 64-bit lanes, in the compiler's own vectors: one source for every instruction set.
 *
 * A file that is compiled for AVX2 gets one register for the four, with SSE4 or NEON it gets two;
 * the compiler splits them. Only operations that the language lacks are written by instruction set.
 */
#ifndef MDV_VEC_H
#define MDV_VEC_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

/** Lanes of a vector. */
#define MDV_VEC_LANES 4u
/** A loop over the lanes, unrolled: a lane of a changing index would go through memory. */
#define MDV_VEC_EACH(i) _Pragma("GCC unroll 4") for (unsigned int i = 0; i < MDV_VEC_LANES; i++)

typedef uint64_t mdv_vec __attribute__((vector_size(32)));
typedef int64_t mdv_vec_signed __attribute__((vector_size(32)));
typedef uint32_t mdv_vec_words __attribute__((vector_size(32)));
typedef uint64_t mdv_vec_half __attribute__((vector_size(16)));
typedef uint8_t mdv_vec_bytes __attribute__((vector_size(32)));
/** A vector in memory: at any address, over any type. Not by memcpy(), which would leave a copy on
 * the stack. */
typedef uint64_t mdv_vec_unaligned __attribute__((vector_size(32), aligned(1), may_alias));

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "lanes are stored as they lie in memory");

static __rte_always_inline mdv_vec
mdv_vec_all(uint64_t value)
{
	return (mdv_vec){ value, value, value, value };
}

/** @{ Lanes of two vectors: the even or the odd ones by turns, both's lower or upper halves. */
#define MDV_VEC_EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define MDV_VEC_ODD(a, b)  __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define MDV_VEC_LOW(a, b)  __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define MDV_VEC_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
/** @} */

/** From any address. */
static __rte_always_inline mdv_vec
mdv_vec_load(const void *from)
{
	return *(const mdv_vec_unaligned *)from;
}

static __rte_always_inline void
mdv_vec_store(void *to, mdv_vec vec)
{
	*(mdv_vec_unaligned *)to = vec;
}

static __rte_always_inline void
mdv_vec_store_half(void *to, uint64_t first, uint64_t second)
{
	const mdv_vec_half half = { first, second };

	memcpy(to, &half, sizeof(half));
}

/** One lane from each of four addresses, @p stride bytes apart. */
static __rte_always_inline mdv_vec
mdv_vec_load_column(const void *from, size_t stride)
{
	const uint8_t *at = from;
	uint64_t lanes[MDV_VEC_LANES];

	MDV_VEC_EACH(i)
	memcpy(&lanes[i], at + i * stride, sizeof(lanes[i]));
	return (mdv_vec){ lanes[0], lanes[1], lanes[2], lanes[3] };
}

/** One lane from each of four addresses, @p offset bytes behind each. */
static __rte_always_inline mdv_vec
mdv_vec_load_each(void *const *from, size_t offset)
{
	uint64_t lanes[MDV_VEC_LANES];

	MDV_VEC_EACH(i)
	memcpy(&lanes[i], (const uint8_t *)from[i] + offset, sizeof(lanes[i]));
	return (mdv_vec){ lanes[0], lanes[1], lanes[2], lanes[3] };
}

/** Words 0 and 2 of what is at each of four addresses: by whole loads and permutations where a load
 * is a vector, which takes fewer instructions than words one by one. */
static __rte_always_inline void
mdv_vec_load_words(void *const *from, mdv_vec *word0, mdv_vec *word2)
{
#if defined(__AVX__)
	const mdv_vec a = MDV_VEC_EVEN(mdv_vec_load(from[0]), mdv_vec_load(from[1]));
	const mdv_vec b = MDV_VEC_EVEN(mdv_vec_load(from[2]), mdv_vec_load(from[3]));

	*word0 = MDV_VEC_LOW(a, b);
	*word2 = MDV_VEC_HIGH(a, b);
#else
	*word0 = mdv_vec_load_each(from, 0);
	*word2 = mdv_vec_load_each(from, 2 * sizeof(uint64_t));
#endif
}

#if defined(__AVX__)
/** Bit n of @p odd: lane n is the odd one of its half; even lanes are from @p a, odd ones from @p
 * b. For a shuffle of two vectors GCC 12 takes two instructions more. */
#define mdv_vec_pick(a, b, odd)                                                                    \
	(mdv_vec) _mm256_shuffle_pd((__m256d)mdv_vec_load(a), (__m256d)mdv_vec_load(b), odd)
#endif

/** Words 0 to 3 of what is at each of four addresses, @p stride bytes apart; by whole loads, too.
 * What the caller does not use costs nothing. */
static __rte_always_inline void
mdv_vec_load_rows(const void *from, size_t stride, mdv_vec words[MDV_VEC_LANES])
{
	const uint8_t *at = from;
#if defined(__AVX__)
	const mdv_vec outer_a = mdv_vec_pick(at, at + stride, 0xc);
	const mdv_vec outer_b = mdv_vec_pick(at + 2 * stride, at + 3 * stride, 0xc);
	const mdv_vec inner_a = mdv_vec_pick(at, at + stride, 0x3);
	const mdv_vec inner_b = mdv_vec_pick(at + 2 * stride, at + 3 * stride, 0x3);

	words[0] = MDV_VEC_LOW(outer_a, outer_b);
	words[1] = MDV_VEC_LOW(inner_a, inner_b);
	words[2] = MDV_VEC_HIGH(inner_a, inner_b);
	words[3] = MDV_VEC_HIGH(outer_a, outer_b);
#else
	MDV_VEC_EACH(i)
	words[i] = mdv_vec_load_column(at + i * sizeof(uint64_t), stride);
#endif
}

/** The bytes of each lane the other way round. */
static __rte_always_inline mdv_vec
mdv_vec_swap(mdv_vec vec)
{
	const mdv_vec_bytes bytes = (mdv_vec_bytes)vec;

	return (mdv_vec)__builtin_shufflevector(bytes, bytes, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13,
		12, 11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17, 16, 31, 30, 29, 28, 27, 26, 25, 24);
}

/** The same in each half of a lane. */
static __rte_always_inline mdv_vec
mdv_vec_swap_halves(mdv_vec vec)
{
	const mdv_vec_bytes bytes = (mdv_vec_bytes)vec;

	return (mdv_vec)__builtin_shufflevector(bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8,
		15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20, 27, 26, 25, 24, 31, 30, 29, 28);
}

/** Bits 15:0 of each lane, in both of its halves. */
static __rte_always_inline mdv_vec
mdv_vec_twice(mdv_vec vec)
{
#if defined(__AVX2__)
	return (mdv_vec)_mm256_shuffle_epi8((__m256i)vec,
		_mm256_set1_epi64x((int64_t)UINT64_C(0x8080010080800100)) +
			(__m256i)(mdv_vec){ 0, 0x0000080800000808, 0, 0x0000080800000808 });
#else
	vec &= UINT16_MAX;
	return vec | vec << 32;
#endif
}

/** The lower halves of the lanes of @p low, the upper ones of @p high. */
static __rte_always_inline mdv_vec
mdv_vec_halves(mdv_vec low, mdv_vec high)
{
#if defined(__AVX2__)
	return (mdv_vec)_mm256_blend_epi32((__m256i)low, (__m256i)high, 0xaa);
#else
	return (low & UINT32_MAX) | (high & ~(uint64_t)UINT32_MAX);
#endif
}

/** All bits of the lanes that are equal. */
static __rte_always_inline mdv_vec
mdv_vec_equal(mdv_vec a, mdv_vec b)
{
	return (mdv_vec)(a == b);
}

static __rte_always_inline bool
mdv_vec_is_zero(mdv_vec vec)
{
#if defined(__AVX__)
	return _mm256_testz_si256((__m256i)vec, (__m256i)vec);
#elif defined(__SSE4_1__)
	const mdv_vec_half any =
		(mdv_vec_half){ vec[0], vec[1] } | (mdv_vec_half){ vec[2], vec[3] };

	return _mm_testz_si128((__m128i)any, (__m128i)any);
#else
	return (vec[0] | vec[1] | vec[2] | vec[3]) == 0;
#endif
}

/** Is the top bit of each half of each lane set? */
static __rte_always_inline bool
mdv_vec_all_negative(mdv_vec vec)
{
#if defined(__AVX__)
	return _mm256_testc_ps((__m256)vec, (__m256)mdv_vec_all(UINT64_MAX));
#else
	const uint64_t signs = UINT64_C(0x8000000080000000);

	return (vec[0] & vec[1] & vec[2] & vec[3] & signs) == signs;
#endif
}

/** All bits of the lanes that are greater, as signed numbers. */
static __rte_always_inline mdv_vec
mdv_vec_greater(mdv_vec a, mdv_vec b)
{
	return (mdv_vec)((mdv_vec_signed)a > (mdv_vec_signed)b);
}

static __rte_always_inline uint64_t
mdv_vec_sum(mdv_vec vec)
{
	const mdv_vec_half sums =
		(mdv_vec_half){ vec[0], vec[1] } + (mdv_vec_half){ vec[2], vec[3] };

	return sums[0] + sums[1];
}

/**
 * Four items of which each lane has one, in crossed order: 0, 2, 1, 3. Vectors of 256 bits are
 * pairs of 128, and pairs of words of items in this order need no permutation across these.
 */
#define MDV_VEC_CROSSED(items)                                                                     \
	{                                                                                          \
		(items)[0], (items)[2], (items)[1], (items)[3]                                     \
	}

/** { a, b } of each item of lanes in crossed order, @p stride bytes apart: one after the other, or
 * with gaps. */
static __rte_always_inline void
mdv_vec_store_pairs(void *to, const size_t stride, mdv_vec a, mdv_vec b)
{
	const mdv_vec front = MDV_VEC_EVEN(a, b), back = MDV_VEC_ODD(a, b);

	if (stride == sizeof(mdv_vec) / 2) {
		mdv_vec_store(to, front);
		mdv_vec_store(RTE_PTR_ADD(to, sizeof(mdv_vec)), back);
		return;
	}
	mdv_vec_store_half(to, front[0], front[1]);
	mdv_vec_store_half(RTE_PTR_ADD(to, stride), front[2], front[3]);
	mdv_vec_store_half(RTE_PTR_ADD(to, 2 * stride), back[0], back[1]);
	mdv_vec_store_half(RTE_PTR_ADD(to, 3 * stride), back[2], back[3]);
}

/** Rows of a 4x4 matrix from its columns: @p rows[i] = { a[i], b[i], c[i], d[i] }. */
static __rte_always_inline void
mdv_vec_transpose(mdv_vec a, mdv_vec b, mdv_vec c, mdv_vec d, mdv_vec rows[MDV_VEC_LANES])
{
	const mdv_vec ab_even = MDV_VEC_EVEN(a, b), ab_odd = MDV_VEC_ODD(a, b);
	const mdv_vec cd_even = MDV_VEC_EVEN(c, d), cd_odd = MDV_VEC_ODD(c, d);

	rows[0] = MDV_VEC_LOW(ab_even, cd_even);
	rows[1] = MDV_VEC_LOW(ab_odd, cd_odd);
	rows[2] = MDV_VEC_HIGH(ab_even, cd_even);
	rows[3] = MDV_VEC_HIGH(ab_odd, cd_odd);
}

#endif /* MDV_VEC_H */
