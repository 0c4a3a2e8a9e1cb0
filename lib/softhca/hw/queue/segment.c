/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of data segments that are like one that was looked up. */
#include "hw/queue/segment.h"

#include "hw/state/prefetch.h"
#include "wire/wide.h"

#define SEGMENT_BYTES sizeof(struct mlx5_wqe_data_seg)

/** Segments that take each step together: the fewer, the more often all bits are looked at. */
#define AT_ONCE 8

/** What each word of a vector is compared with. There is an unsigned comparison in few vector
 * instructions: offsets have their top bit inverted, which addresses' difference has for nothing.
 */
struct wide_like {
	shca_wide head, iova, start;
	shca_wide_signed last;
};

static inline __attribute__((always_inline)) void
widen(const struct shca_segment_like *like, struct wide_like *wide)
{
	const uint64_t top = UINT64_C(1) << 63;
	const shca_wide zero = { 0 };

	wide->head = zero + like->head;
	wide->iova = zero + (like->window.iova + top);
	wide->last = (shca_wide_signed)(zero + (like->last + top));
	wide->start = zero + ((uintptr_t)like->window.start + top);
}

/**
 * Find where as many segments point to as a vector has words.
 * @param differing has bits for those that are not like that, besides those it had
 */
static inline __attribute__((always_inline)) void
point_few(const struct wide_like *like, const uint8_t *at, uint8_t **to, shca_wide *differing)
{
	shca_wide one, two, heads, addrs, offsets;

	static_assert(2 * sizeof(one) == SHCA_WIDE_WORDS * SEGMENT_BYTES, "in two vectors");
	static_assert(sizeof(*to) == sizeof(uint64_t), "as many pointers as words");
	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "addresses are turned around");
	memcpy(&one, at, sizeof(one));
	memcpy(&two, at + sizeof(one), sizeof(two));
	/* Each word is read once: the program may write them at any time. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Within its halves, AVX2 does that in one instruction each. */
	heads = __builtin_shufflevector(one, two, 0, 4, 2, 6);
	addrs = __builtin_shufflevector(one, two, 1, 5, 3, 7);
	addrs = (shca_wide)__builtin_shufflevector((shca_wide_bytes)addrs, (shca_wide_bytes)addrs,
		7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17,
		16, 31, 30, 29, 28, 27, 26, 25, 24);
	offsets = addrs - like->iova;
	*differing |= (heads ^ like->head) | (shca_wide)((shca_wide_signed)offsets > like->last);
	offsets += like->start;
	offsets = __builtin_shufflevector(offsets, offsets, 0, 2, 1, 3);
	memcpy(to, &offsets, sizeof(offsets));
}

static inline __attribute__((always_inline)) void
prefetch(const uint8_t *at, const bool write)
{
	if (write)
		shca_prefetch_write(at);
	else
		shca_prefetch_read(at);
}

/** @param nb at least AT_ONCE @return for how many of the first ones it is so; one of the next
 * AT_ONCE is not like that, if there are any */
static inline __attribute__((always_inline)) SHCA_WIDE_TARGET unsigned int
point_wide(const struct shca_segment_like *of, const uint8_t *at, unsigned int nb, uint8_t **to,
	const bool write)
{
	struct wide_like like;

	widen(of, &like);
	for (size_t i = 0; i < nb; i += AT_ONCE) {
		shca_wide differing = { 0 };
		const uint8_t *from;
		uint8_t **out;

		/* Those that are fewer take their turn with some of the ones before. */
		if (i > nb - AT_ONCE)
			i = nb - AT_ONCE;
		from = at + i * SEGMENT_BYTES;
		out = to + i;
#pragma GCC unroll 8
		for (size_t j = 0; j < AT_ONCE; j += SHCA_WIDE_WORDS)
			point_few(&like, from + j * SEGMENT_BYTES, out + j, &differing);
		if (shca_wide_only_any(&differing))
			return (unsigned int)i;
#pragma GCC unroll 8
		for (size_t j = 0; j < AT_ONCE; j++)
			prefetch(out[j], write);
	}
	return nb;
}

/** @{ Functions of their own have all that they need in registers. */
static SHCA_WIDE_ONLY unsigned int
point_wide_read(
	const struct shca_segment_like *like, const uint8_t *at, unsigned int nb, uint8_t **to)
{
	return point_wide(like, at, nb, to, false);
}

static SHCA_WIDE_ONLY unsigned int
point_wide_write(
	const struct shca_segment_like *like, const uint8_t *at, unsigned int nb, uint8_t **to)
{
	return point_wide(like, at, nb, to, true);
}
/** @} */

static inline __attribute__((always_inline)) unsigned int
point_narrow(const struct shca_segment_like *of, const uint8_t *at, uint32_t stride_bytes,
	unsigned int nb, uint8_t **to, const bool write)
{
	const struct shca_segment_like like = *of;
	unsigned int i;

	for (i = 0; i < nb; i++, at += stride_bytes) {
		const struct mlx5_wqe_data_seg segment = shca_segment_load(at);
		uint64_t offset;

		if (!shca_segment_is_like(&like, (const void *)&segment, &offset))
			break;
		to[i] = like.window.start + offset;
		prefetch(to[i], write);
	}
	return i;
}

static __attribute__((noinline)) unsigned int
point_narrow_read(const struct shca_segment_like *like, const uint8_t *at, uint32_t stride_bytes,
	unsigned int nb, uint8_t **to)
{
	return point_narrow(like, at, stride_bytes, nb, to, false);
}

static __attribute__((noinline)) unsigned int
point_narrow_write(const struct shca_segment_like *like, const uint8_t *at, uint32_t stride_bytes,
	unsigned int nb, uint8_t **to)
{
	return point_narrow(like, at, stride_bytes, nb, to, true);
}

unsigned int
shca_segments_point(const struct shca_segment_like *like, const uint8_t *at, uint32_t stride_bytes,
	unsigned int nb, bool write, uint8_t **to)
{
	unsigned int i = 0;

	if (nb >= AT_ONCE && stride_bytes == SEGMENT_BYTES && shca_has_wide())
		i = write ? point_wide_write(like, at, nb, to) : point_wide_read(like, at, nb, to);
	if (i == nb)
		return nb;
	at += (size_t)i * stride_bytes;
	return i +
		(write ? point_narrow_write(like, at, stride_bytes, nb - i, to + i)
		       : point_narrow_read(like, at, stride_bytes, nb - i, to + i));
}
