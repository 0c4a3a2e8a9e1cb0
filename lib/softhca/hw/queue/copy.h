/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Copies of frames: most frames are short, and an inline copy of those beats memcpy()'s. */
#ifndef SHCA_HW_QUEUE_COPY_H
#define SHCA_HW_QUEUE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHCA_COPY_SHORT 64 /**< bytes */

/** As memcpy(), for a length from half of SHCA_COPY_SHORT to that. */
static inline void
shca_copy_short(uint8_t *restrict to, const uint8_t *restrict from, size_t length)
{
	const size_t half = SHCA_COPY_SHORT / 2;

	/* Two copies of a fixed length, which fit in a few registers each; they meet or overlap. */
	memcpy(to, from, half);
	memcpy(to + length - half, from + length - half, half);
}

/** As memcpy(). */
static inline void
shca_copy(uint8_t *restrict to, const uint8_t *restrict from, size_t length)
{
	if (length < SHCA_COPY_SHORT / 2 || length > SHCA_COPY_SHORT)
		memcpy(to, from, length);
	else
		shca_copy_short(to, from, length);
}

#endif /* SHCA_HW_QUEUE_COPY_H */
