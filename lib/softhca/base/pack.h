/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Words made of parts, in a register.
 *
 * A processor hands a load the bytes of an earlier store if they are all of one store. A word that
 * was stored in parts is not there before all of them have reached the cache, behind every older
 * store: behind that of a completion, say, whose line the program's core holds. What is stored in
 * parts and then copied or compared by words waits for the other core, once a frame.
 */
#ifndef SHCA_BASE_PACK_H
#define SHCA_BASE_PACK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/** Where byte @p offset of a word in memory is in a register, for a part of @p bytes. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define SHCA_PACK_SHIFT(offset, bytes) (8 * (offset))
#else
#define SHCA_PACK_SHIFT(offset, bytes) (8 * (8 - (offset) - (bytes)))
#endif

/** @return the word with @p value, as it lies in memory, at byte @p offset. */
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
