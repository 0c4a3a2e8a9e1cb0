/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send WQE: bytes -> struct. Pure; reads only the bytes.
 */
#ifndef SHCA_HW_FORMAT_WQE_H
#define SHCA_HW_FORMAT_WQE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hw/format/hw.h"
#include "hw/format/opcode.h"
#include "hw/format/swp.h"

/** The control segment leaves room for these. */
#define SHCA_WQE_MAX_SEGMENTS (SHCA_WQE_MAX_DS - 1)

struct shca_wqe_segment {
	uint32_t length;
	uint32_t lkey;          /**< of a pointer segment */
	uint64_t address;       /**< of a pointer segment */
	const uint8_t *inlined; /**< the bytes, or NULL in a pointer segment */
};

struct shca_wqe {
	uint8_t opcode, opmod;
	const struct shca_opcode *row; /**< of opcode and opmod; NULL: the opcode is unknown */
	uint16_t index;                /**< the WQEBB counter as the control segment states it */
	uint32_t sqn;                  /**< as the control segment states it */
	uint8_t ds;
	uint8_t nb_wqebbs;
	enum shca_ce ce;

	/* Below: valid when the row has data segments; has_eth and nb_segments always. Without
	 * has_eth, fields before segments_length are 0. */
	bool has_eth;
	uint8_t cs_flags;
	struct shca_swp swp;
	uint16_t mss;
	bool insert_vlan;
	uint16_t vlan_tpid, vlan_tci; /**< to insert; host order */
	uint16_t inline_length;
	const uint8_t *inline_header;
	uint32_t segments_length; /**< bytes of all segments */
	uint8_t nb_segments;
	struct shca_wqe_segment segment[SHCA_WQE_MAX_SEGMENTS];
};

/** @return ds of the control segment that @p bytes (16) is. */
static inline uint8_t
shca_wqe_ds(const uint8_t *bytes)
{
	struct mlx5_wqe_ctrl_seg ctrl;

	memcpy(&ctrl, bytes, sizeof(ctrl));
	return be32toh(ctrl.qpn_ds) & SHCA_CTRL_DS_MASK;
}

/** @return when the WQE completes, by the control segment in @p bytes (16). */
static inline enum shca_ce
shca_wqe_ce(const uint8_t *bytes)
{
	struct mlx5_wqe_ctrl_seg ctrl;

	memcpy(&ctrl, bytes, sizeof(ctrl));
	return ctrl.fm_ce_se >> SHCA_CTRL_CE_SHIFT & SHCA_CTRL_CE_MASK;
}

/** @return how many WQEBBs a WQE of @p ds takes; 1 for a malformed 0. */
static inline uint8_t
shca_wqe_nb_wqebbs(uint8_t ds)
{
	const unsigned int ds_per_wqebb = SHCA_WQEBB_BYTES / SHCA_DS_BYTES;

	return ds == 0 ? 1 : (ds + ds_per_wqebb - 1) / ds_per_wqebb;
}

/** Decode the control segment alone, which @p bytes (16) starts with. */
void shca_wqe_decode_ctrl(const uint8_t *bytes, struct shca_wqe *wqe);

/**
 * Decode the WQE that starts at @p bytes; @p wqe borrows them. The control fields are set even if
 * decoding fails.
 *
 * @param length bytes available, at least 64
 * @return 0 or the syndrome of its error CQE
 */
uint8_t shca_wqe_decode(const uint8_t *bytes, size_t length, struct shca_wqe *wqe);

/** Print @p wqe in one line, shortened to @p size. */
void shca_wqe_print(const struct shca_wqe *wqe, char *text, size_t size);

#endif /* SHCA_HW_FORMAT_WQE_H */
