/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The rows of faults. A line of a faults file begins with a row's two words; the row says which
 * other words the line may have, for the parser, for messages and for help.
 */
#ifndef SHCA_FAULT_ROW_H
#define SHCA_FAULT_ROW_H

#include <stdio.h>

/** Where in the device a fault strikes. */
enum shca_fault_kind {
	SHCA_FAULT_WIRE_LOSS,
	SHCA_FAULT_WIRE_DUPLICATE,
	SHCA_FAULT_WIRE_REORDER,
	SHCA_FAULT_WIRE_CORRUPT,
	SHCA_FAULT_WIRE_TRUNCATE,
	SHCA_FAULT_VERB_ERROR,
	SHCA_FAULT_SQ_ERROR,
	SHCA_FAULT_SQ_FATAL,
	SHCA_FAULT_RQ_ERROR,
	SHCA_FAULT_RQ_FATAL,
	SHCA_FAULT_CQ_OVERRUN,
	SHCA_FAULT_LINK_FLAP,
	SHCA_FAULT_DEVICE_FATAL,
	SHCA_FAULT_DEVICE_SLOW,
	SHCA_FAULT_VERB_SLOW,
	SHCA_NB_FAULT_KINDS,
};

/** Further words of a line; all but the first two may stand in any order. */
enum shca_fault_word {
	SHCA_FAULT_VERB = 1 << 0,      /**< NAME or "any", third word */
	SHCA_FAULT_SYNDROME = 1 << 1,  /**< of an error CQE, third word */
	SHCA_FAULT_DIRECTION = 1 << 2, /**< "rx" or "tx" */
	SHCA_FAULT_QUEUE = 1 << 3,     /**< "queue N" */
	SHCA_FAULT_BY = 1 << 4,        /**< "by N", required */
	SHCA_FAULT_BY_TIME = 1 << 5,   /**< "by TIME", required */
	SHCA_FAULT_TO = 1 << 6,        /**< "to N" */
	SHCA_FAULT_FOR = 1 << 7,       /**< "for N" or "for TIME" */
};

struct shca_fault_row {
	const char *subject, *action;
	enum shca_fault_kind kind;
	unsigned int words; /**< of enum shca_fault_word */
	int error;          /**< errno of a verb that fails */
	const char *counts; /**< the unit of its numbers */
	const char *usage;  /**< the words after the first two */
	const char *help;
};

/** Ended by a row without a subject; rows of a subject are neighbours. */
extern const struct shca_fault_row shca_fault_rows[];

/** Print the format of the file, from the rows. */
void shca_fault_help(FILE *out);

#endif /* SHCA_FAULT_ROW_H */
