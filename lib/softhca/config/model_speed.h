/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a port's speed is in InfiniBand's words: lanes, and what one of them is called. */
#ifndef SHCA_CONFIG_MODEL_SPEED_H
#define SHCA_CONFIG_MODEL_SPEED_H

#include <stdint.h>

struct shca_model_speed {
	uint32_t mbps;
	uint32_t lanes;
	uint8_t width; /**< IB_WIDTH_*: 1: 1x, 2: 4x, 16: 2x */
	uint8_t code;  /**< IB_SPEED_*: 1 SDR, 2 DDR, 4 QDR, 32 EDR, 64 HDR, 128 NDR */
	char name[4];  /**< of that speed */
};

/** @return the one of a speed, or the next higher one. */
const struct shca_model_speed *shca_model_speed_of(uint32_t mbps);

#endif /* SHCA_CONFIG_MODEL_SPEED_H */
