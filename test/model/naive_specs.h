/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Flow specs for the naive steering: bytes to conditions, by one switch a step. */
#ifndef TEST_MODEL_NAIVE_SPECS_H
#define TEST_MODEL_NAIVE_SPECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "naive_steering.h"

struct naive_spec {
	uint32_t type;
	uint8_t value[40], mask[40]; /**< filters, filled up with zeros */
	uint32_t tag;
};

struct naive_actions {
	bool drop, tagged, counted;
	uint32_t tag;
};

/** uverbs' part. @return 0 or a negative errno. */
int naive_specs_read(
	const uint8_t *bytes, size_t length, unsigned int nb, struct naive_spec *specs);
/** mlx5_ib's part, but for values outside masks. @return 0 or a negative errno. */
int naive_specs_apply(const struct naive_spec *specs, unsigned int nb, uint32_t caps,
	struct naive_match *match, struct naive_actions *actions);
bool naive_specs_multicast(const struct naive_spec *specs, unsigned int nb);

#endif /* TEST_MODEL_NAIVE_SPECS_H */
