/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send WQE -> frames: gathers a frame from inline bytes and memory regions, with tag, padding and
 * the headers of a large send's segment. Checksums come after, once the frame is parsed (hw/tx.h).
 */
#ifndef SHCA_HW_GATHER_H
#define SHCA_HW_GATHER_H

#include <stdint.h>

struct shca_mem;
struct shca_wqe;

/**
 * Make frame @p number of @p wqe, a well-formed SEND, TSO or multi-packet send.
 *
 * @param room SHCA_OUT_FRAME_ROOM bytes to build it in
 * @param[out] bytes where it is: @p room, or application memory when one pointer segment is the
 * frame and nothing of it changes (no checksum flag either)
 * @param[out] length 0 when the port drops it: longer than SHCA_FRAME_MAX
 * @return 0 or a syndrome
 */
uint8_t shca_gather_frame(struct shca_mem *mem, uint32_t pdn, const struct shca_wqe *wqe,
	uint32_t number, uint8_t *room, const uint8_t **bytes, uint32_t *length);

#endif /* SHCA_HW_GATHER_H */
