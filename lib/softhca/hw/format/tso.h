/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Large send: makes the headers of one segment from those of the whole. Pure.
 */
#ifndef SHCA_HW_FORMAT_TSO_H
#define SHCA_HW_FORMAT_TSO_H

#include <stdbool.h>
#include <stdint.h>

struct shca_packet;

/** Which segment of a large send. */
struct shca_tso_segment {
	uint32_t number; /**< from 0 */
	uint32_t nb;     /**< segments in all */
	uint32_t offset; /**< of its payload in the whole payload, bytes */
};

/**
 * Turn the headers at the start of @p frame, which are those of the whole send, into those of @p
 * segment. @p packet describes the frame: all headers, then the payload of this segment only.
 * shca_tx_checksum() fills checksums, after the frame has been parsed again.
 */
void shca_tso_write_headers(
	uint8_t *frame, const struct shca_packet *packet, const struct shca_tso_segment *segment);

/** As shca_parse(), of a segment before its headers are written. */
void shca_tso_parse(uint8_t *frame, uint32_t length, struct shca_packet *packet);

#endif /* SHCA_HW_FORMAT_TSO_H */
