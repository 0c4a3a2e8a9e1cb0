/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON writer. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

/** Longest string; a longer one is cut. */
#define TEXT_MAX 1024

void
shca_json_init(struct shca_json *json, FILE *out)
{
	*json = (struct shca_json){ .out = out };
}

static void
quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void
begin_value(struct shca_json *json, const char *key)
{
	if (json->needs_comma)
		fputs(", ", json->out);
	json->needs_comma = true;
	if (key == NULL)
		return;
	quote(json->out, key);
	fputs(": ", json->out);
}

void
shca_json_open(struct shca_json *json, const char *key, char bracket)
{
	assert(json->depth < SHCA_JSON_DEPTH_MAX);
	begin_value(json, key);
	fputc(bracket, json->out);
	json->closing[json->depth++] = bracket == '{' ? '}' : ']';
	json->needs_comma = false;
}

void
shca_json_close(struct shca_json *json)
{
	assert(json->depth != 0);
	fputc(json->closing[--json->depth], json->out);
	json->needs_comma = true;
}

void
shca_json_number(struct shca_json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void
shca_json_bool(struct shca_json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void
shca_json_string(struct shca_json *json, const char *key, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	begin_value(json, key);
	quote(json->out, text);
}
