/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Copies of frames: the shortest ones are most, and are done before memcpy() has begun. */
#ifndef SHCA_BASE_COPY_H
#define SHCA_BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHCA_COPY_SHORT 64 /**< bytes */

/** As memcpy(). */
static inline void
shca_copy(uint8_t *restrict to, const uint8_t *restrict from, size_t length)
{
	const size_t half = SHCA_COPY_SHORT / 2;

	if (length < half || length > SHCA_COPY_SHORT) {
		memcpy(to, from, length);
		return;
	}
	/* Two runs of a fixed length, which are a few registers each, and meet or overlap. */
	memcpy(to, from, half);
	memcpy(to + length - half, from + length - half, half);
}

#endif /* SHCA_BASE_COPY_H */
