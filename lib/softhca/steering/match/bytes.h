/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Unaligned network-order loads and stores. */
#ifndef SHCA_STEERING_MATCH_BYTES_H
#define SHCA_STEERING_MATCH_BYTES_H

#include <stdint.h>

static inline uint16_t
shca_bytes_load16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t
shca_bytes_load32(const uint8_t *bytes)
{
	return (uint32_t)shca_bytes_load16(bytes) << 16 | shca_bytes_load16(bytes + 2);
}

/** @param value of which the lower 16 bits are stored */
static inline void
shca_bytes_store16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

#endif /* SHCA_STEERING_MATCH_BYTES_H */
