/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Random rules and packets out of few values, so that they meet. */
#ifndef TEST_MODEL_GENERATE_H
#define TEST_MODEL_GENERATE_H

#include <stdint.h>

#include "build.h"
#include "naive_steering.h"

struct generator {
	uint64_t state;
};

/** @return a number below @p limit. */
uint32_t generate_below(struct generator *generator, uint32_t limit);
/** A frame, and the same as fields. */
void generate_packet(struct generator *generator, struct frame *frame, struct naive_packet *packet);
/** The specs of a rule: most make sense, some do not. */
void generate_specs(struct generator *generator, struct specs *specs);
/** Specs of so many masks and so few values that one table runs out of big groups. */
void generate_crowded_specs(struct generator *generator, struct specs *specs);

#endif /* TEST_MODEL_GENERATE_H */
