/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A faults file, parsed: each fault with its site and its time. Pure.
 *
 * One fault a line, words between blanks, "#" begins a comment:
 *
 *     seed 7
 *     wire loss 0.5%                      # of the frames received
 *     wire reorder every 100 by 3 tx
 *     verb enomem CREATE_QP at 3 of mlx5_1
 *     sq error 0x04 at 100 queue 2
 */
#ifndef SHCA_FAULT_PLAN_H
#define SHCA_FAULT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault/row.h"

#define SHCA_PLAN_MAX      64   /**< faults of a file */
#define SHCA_PLAN_TEXT_MAX 128  /**< of a line, comment and superfluous blanks aside */
#define SHCA_PLAN_EVERY    (-1) /**< every device */

struct shca_verb;

enum shca_fault_when {
	SHCA_FAULT_UNSAID,
	SHCA_FAULT_AT,
	SHCA_FAULT_EVERY,
	SHCA_FAULT_FROM,
	SHCA_FAULT_CHANCE,
};

struct shca_fault {
	const struct shca_fault_row *row;
	unsigned int line;             /**< in the file, from 1 */
	char text[SHCA_PLAN_TEXT_MAX]; /**< its words */
	enum shca_fault_when when;
	uint64_t n;                   /**< AT, EVERY, FROM: from 1 */
	uint64_t chance;              /**< CHANCE: of 2^32 */
	int device;                   /**< i of mlx5_<i>, or SHCA_PLAN_EVERY */
	bool is_tx;                   /**< counts frames sent, not those received */
	const struct shca_verb *verb; /**< NULL: any */
	uint8_t syndrome;             /**< of an error CQE */
	uint32_t queue;               /**< number in order of creation, from 1; 0: each */
	uint64_t number;              /**< of "by", "to" or "for", else 0 */
	uint64_t ns;                  /**< of a time, else 0 */
};

struct shca_plan {
	uint64_t seed;
	bool has_seed; /**< the file says it */
	unsigned int nb;
	struct shca_fault fault[SHCA_PLAN_MAX];
};

/**
 * Parse the contents of a file.
 * @param nb_devices number of devices that lines may name
 * @return 0, or -EINVAL with @p error naming the line, the word, and the words allowed there.
 */
int shca_plan_parse(const char *text, unsigned int nb_devices, struct shca_plan *plan, char *error,
	size_t error_size);

#endif /* SHCA_FAULT_PLAN_H */
