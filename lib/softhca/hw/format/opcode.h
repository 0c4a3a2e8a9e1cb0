/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The opcodes of send WQEs, one row each: how the WQE is decoded, when it is refused, how many
 * frames it makes, and which function builds one. A WQE whose opcode has no row is refused.
 */
#ifndef SHCA_HW_FORMAT_OPCODE_H
#define SHCA_HW_FORMAT_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

struct shca_gather;
struct shca_model;
struct shca_wqe;

struct shca_opcode {
	uint8_t opcode; /**< MLX5_OPCODE_* or SHCA_OPCODE_* */
	uint8_t opmod;  /**< rows with an opmod stand before the opcode's row without one */
	const char *name;
	/** An ethernet segment follows, then data segments. */
	bool has_eth;
	/** Data segments follow the control segment at once. A row with neither has no frames. */
	bool has_data;
	bool can_insert_vlan;
	/** Frames of mss bytes, which may be inlined end to end in one segment. */
	bool is_split;
	/** The form has no place for inlined headers, whatever the model's minimum is. */
	bool is_never_inline;
	/** @return whether the model or the fields of a well-formed WQE of this row forbid it. */
	bool (*is_refused)(const struct shca_wqe *wqe, const struct shca_model *model);
	uint32_t (*nb_frames)(const struct shca_wqe *wqe);
	/** Make frame @p number: as shca_gather_send(). */
	uint8_t (*build)(const struct shca_gather *source, uint32_t number, uint8_t *room,
		const uint8_t **bytes, uint32_t *length);
};

/** @return the row, or NULL when Ethernet send queues have no such opcode. */
const struct shca_opcode *shca_opcode_find(uint8_t opcode, uint8_t opmod);

/** @return whether the WQE inlines less than the model's minimum. */
bool shca_opcode_is_inline_short(const struct shca_wqe *wqe, const struct shca_model *model);

/** @return whether @p model refuses a WQE that was decoded without error. */
bool shca_opcode_is_refused(const struct shca_wqe *wqe, const struct shca_model *model);

#endif /* SHCA_HW_FORMAT_OPCODE_H */
