/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The keys of --port, one row each: used for parsing, for the options file and for help. Internal
 * to config/.
 */
#ifndef SHCA_CONFIG_OPTIONS_KEYS_H
#define SHCA_CONFIG_OPTIONS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/refuse.h"

struct shca_port_options;

#define SHCA_OPTIONS_FIELD_MAX 512

/** The argument of a key's functions. */
struct shca_parse {
	struct shca_port_options *port;
	struct shca_refusal refusal;
};

struct shca_key {
	const char *name;
	const char *values; /**< for messages and help */
	const char *preset; /**< the default, as text */
	const char *help;
	/** Written to the options file by the runner, refused on the command line. */
	bool is_internal;
	int (*parse)(struct shca_parse *parse, const char *value);
	void (*print)(const struct shca_port_options *port, char *text, size_t size);
};

/** Ended by a row without a name. */
extern const struct shca_key shca_keys[];

/** Give port @p index its defaults. */
void shca_keys_preset(struct shca_port_options *port, unsigned int index);

#endif /* SHCA_CONFIG_OPTIONS_KEYS_H */
