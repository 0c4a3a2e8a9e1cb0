/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Frames from a fuzzer's bytes, and what must hold of their headers. */
#ifndef FUZZ_PACKET_H
#define FUZZ_PACKET_H

#include <stdint.h>

#include "input.h"
#include "steering/match/parse.h"

/** Room for the longest frame that is built here. */
#define FUZZ_PACKET_ROOM 2048

/** Headers that follow from each other, with a lie here and there, or the bytes as they are.
 * @return its length, 0 to FUZZ_PACKET_ROOM. */
uint32_t fuzz_packet_build(struct fuzz_input *input, uint8_t *frame);
/** Abort unless every offset is inside the frame and the facts agree with each other. */
void fuzz_packet_check(const struct shca_packet *packet);

#endif /* FUZZ_PACKET_H */
