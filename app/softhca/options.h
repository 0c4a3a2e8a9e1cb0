/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The options of softhca run and softhca up. */
#ifndef SOFTHCA_OPTIONS_H
#define SOFTHCA_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/options.h"

/** Which command's. */
enum app_command {
	APP_RUN = 1,
	APP_UP = 2,
};

struct app_options {
	struct shca_options card;
	const char *ctl;    /**< path for the control socket, or NULL */
	const char *faults; /**< the file, or NULL */
	const char *on;     /**< the card that is up, or NULL */
	bool sys;           /**< the ports are in /sys */
	mode_t mode;        /**< of the card's nodes */
};

/**
 * Parse what stands before the first other argument.
 * @return its index in @p argv, which may be @p argc, or 0 after a message.
 */
int app_options_parse(
	int argc, char *argv[], enum app_command command, struct app_options *options);

#endif /* SOFTHCA_OPTIONS_H */
