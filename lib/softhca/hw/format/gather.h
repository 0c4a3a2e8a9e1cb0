/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send WQE -> frames: gathers a frame from inline bytes and memory regions, with tag, padding and
 * the headers of a large send's segment. Checksums come after, once the frame is parsed
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
	uint32_t tunnels; /**< that the device looks into (hw/format/tunnels.h) */
	bool has_swp;     /**< the WQE may say where headers are (hw/format/swp.h) */
};

/**
 * Make frame @p number of a WQE: a SEND's only one, one a segment, or one an mss of a large send.
 *
 * @param room SHCA_OUT_FRAME_ROOM bytes to build it in
 * @param[out] bytes where it is: @p room, or application memory when one pointer segment is the
 * frame, nothing of it changes (no checksum flag either) and it need not be copied
 * @param[out] length 0 when the port drops it: longer than SHCA_FRAME_MAX
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
/** As shca_gather_send(), for data that is read and not sent: @p length is always 0. */
uint8_t shca_gather_dump(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length);

#endif /* SHCA_HW_FORMAT_GATHER_H */
