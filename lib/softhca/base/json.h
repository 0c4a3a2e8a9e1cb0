/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A JSON writer (RFC 8259): no tree, no allocation. The writer sets the commas, the caller the
 * brackets and the order of keys. The writer takes bytes that are not ASCII for Latin-1, so the
 * text is valid whatever a string holds.
 */
#ifndef SHCA_BASE_JSON_H
#define SHCA_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SHCA_JSON_DEPTH_MAX 16

struct shca_json {
	FILE *out;
	unsigned int depth;
	char closing[SHCA_JSON_DEPTH_MAX]; /**< brackets still to be written */
	bool needs_comma;
};

void shca_json_init(struct shca_json *json, FILE *out);
/** @param key of a member; NULL in an array and at the top. @param bracket '{' or '[' */
void shca_json_open(struct shca_json *json, const char *key, char bracket);
void shca_json_close(struct shca_json *json);
void shca_json_number(struct shca_json *json, const char *key, uint64_t value);
void shca_json_bool(struct shca_json *json, const char *key, bool value);
void shca_json_string(struct shca_json *json, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SHCA_BASE_JSON_H */
