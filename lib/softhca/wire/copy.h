/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Copies of frames: most frames are short, and an inline copy of those beats memcpy()'s. */
#ifndef SHCA_WIRE_COPY_H
#define SHCA_WIRE_COPY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/wide.h"

#define SHCA_COPY_SHORT 64 /**< bytes */

/** As memcpy(), for a length from half of SHCA_COPY_SHORT to that. */
static inline void
shca_copy_short(uint8_t *restrict to, const uint8_t *restrict from, size_t length)
{
	shca_wide first, last;

	/* Two copies of a fixed length, which fit in a few registers each; they meet or overlap. */
	static_assert(sizeof(first) == SHCA_COPY_SHORT / 2, "half");
	memcpy(&first, from, sizeof(first));
	memcpy(&last, from + length - sizeof(last), sizeof(last));
	memcpy(to, &first, sizeof(first));
	memcpy(to + length - sizeof(last), &last, sizeof(last));
}

/** @return whether shca_copy_short() copies @p length bytes. */
static inline bool
shca_copy_is_short(size_t length)
{
	return length >= SHCA_COPY_SHORT / 2 && length <= SHCA_COPY_SHORT;
}

/** As memcpy(). */
static inline void
shca_copy(uint8_t *restrict to, const uint8_t *restrict from, size_t length)
{
	if (shca_copy_is_short(length))
		shca_copy_short(to, from, length);
	else
		memcpy(to, from, length);
}

#endif /* SHCA_WIRE_COPY_H */
