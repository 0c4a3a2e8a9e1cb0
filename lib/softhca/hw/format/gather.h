/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send WQE -> frames: gathers a frame from inline bytes and memory regions, with tag, padding and
 * the headers of a large send's segment. Checksums follow when the frame has been parsed
 * (hw/format/tx.h).
 */
#ifndef SHCA_HW_FORMAT_GATHER_H
#define SHCA_HW_FORMAT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

struct shca_mem;
struct shca_wqe;

struct shca_gather {
	struct shca_mem *mem;
	const struct shca_wqe *wqe; /**< well-formed, and with frames */
	uint32_t pdn;
	bool copies;      /**< never leave a frame in application memory */
	uint32_t tunnels; /**< MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_* of the model
			     (hw/format/tunnels.h) */
	bool has_swp;     /**< the WQE may say where headers are (hw/format/swp.h) */
};

/**
 * Make frame @p number of a WQE: the only one of a SEND, one for each segment, or one for each mss
 * of a large send.
 *
 * @param room SHCA_OUT_FRAME_ROOM bytes to build it in
 * @param[out] bytes the frame's place: @p room, or application memory when one pointer segment is
 * the frame, the device changes no byte of it (no checksum flag either) and need not copy it
 * @param[out] length 0 when the port drops the frame, which is longer than SHCA_FRAME_MAX
 * @return 0 or a syndrome
 */
uint8_t shca_gather_send(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length);
/** As shca_gather_send(). */
uint8_t shca_gather_segment(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length);
/** As shca_gather_send(). */
uint8_t shca_gather_tso(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length);
/** As shca_gather_send(), for data that the device reads and does not send: @p length is 0. */
uint8_t shca_gather_dump(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length);

#endif /* SHCA_HW_FORMAT_GATHER_H */
