/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Models as text: lines of "KEY = VALUE", one row a key in model_parse.c; # begins a
 * comment. */
#ifndef SHCA_CONFIG_MODEL_PARSE_H
#define SHCA_CONFIG_MODEL_PARSE_H

#include <stddef.h>
#include <stdio.h>

#include "config/model.h"

/** The longest file that is read. */
#define SHCA_MODEL_BYTES_MAX 65536

/**
 * Read a model. What verbs and direct verbs tell of a device must be there, the rest has defaults.
 * Capabilities that are known, but that no softhca has, are left out: shca_model.left_out.
 * @param error says the line and what is wrong with it, or which keys exclude each other
 * @return 0 or -EINVAL, and *model is not changed
 */
int shca_model_parse(struct shca_model *model, const char *text, char *error, size_t error_size);
/** Read a model from a file. @return 0 or a negative errno, with @p error as above. */
int shca_model_read(struct shca_model *model, const char *path, char *error, size_t error_size);
/** Print all keys with the values they take and their defaults, for help texts. */
void shca_model_help(FILE *out);

/** The models of the tree, ended by NULL: written by embed-models.py. */
extern const char *const shca_model_texts[];

#endif /* SHCA_CONFIG_MODEL_PARSE_H */
