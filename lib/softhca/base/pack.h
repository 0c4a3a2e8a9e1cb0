/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Words composed of parts, in a register.
 *
 * A processor forwards a pending store to a load if that one store covers the load. A load that
 * spans several stores waits until all of them have reached the cache, and every older store
 * before them. One of those may be a completion whose cache line the program's core holds; the
 * device would wait for the other core, once a frame.
 */
#ifndef SHCA_BASE_PACK_H
#define SHCA_BASE_PACK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/** The shift in a register of a part of @p bytes, at byte @p offset of the word in memory. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define SHCA_PACK_SHIFT(offset, bytes) (8 * (offset))
#else
#define SHCA_PACK_SHIFT(offset, bytes) (8 * (8 - (offset) - (bytes)))
#endif

/** @return a word whose byte at @p offset in memory is @p value. */
static inline uint64_t
shca_pack8(unsigned int offset, uint8_t value)
{
	return (uint64_t)value << SHCA_PACK_SHIFT(offset, 1);
}

static inline uint64_t
shca_pack16(unsigned int offset, uint16_t value)
{
	return (uint64_t)value << SHCA_PACK_SHIFT(offset, 2);
}

static inline uint64_t
shca_pack32(unsigned int offset, uint32_t value)
{
	return (uint64_t)value << SHCA_PACK_SHIFT(offset, 4);
}

/** Word @p number of @p bytes. */
static inline uint64_t
shca_pack_load(const void *bytes, unsigned int number)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)bytes + number * sizeof(word), sizeof(word));
	return word;
}

static inline void
shca_pack_store(void *bytes, unsigned int number, uint64_t word)
{
	memcpy((uint8_t *)bytes + number * sizeof(word), &word, sizeof(word));
}

#endif /* SHCA_BASE_PACK_H */
