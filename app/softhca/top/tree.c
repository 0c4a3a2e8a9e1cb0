/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 32

struct parser {
	char *at;
	struct app_tree *free; /* the next value; there are as many as can be */
};

static bool parse_value(struct parser *parser, unsigned int level, struct app_tree **value);

static char
peek(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t\r\n");
	return *parser->at;
}

static bool
take(struct parser *parser, char what)
{
	if (peek(parser) != what)
		return false;
	parser->at++;
	return true;
}

/** @return the character of \uXXXX if a terminal may get it, else '?'; 0: there are no four digits.
 */
static char
take_code(struct parser *parser)
{
	char digits[5] = "";
	unsigned long code;
	char *end;

	strncpy(digits, parser->at, 4);
	code = strtoul(digits, &end, 16);
	if (end != digits + 4)
		return 0;
	parser->at += 4;
	return code >= ' ' && code < 0x7f ? (char)code : '?';
}

/** Undo the escapes in place. @return the string, or NULL. */
static const char *
take_string(struct parser *parser)
{
	char *start, *to;

	if (!take(parser, '"'))
		return NULL;
	for (start = to = parser->at; *parser->at != '"'; to++) {
		char c = *parser->at++;

		if (c == '\\') {
			c = *parser->at++;
			if (c == 'u')
				c = take_code(parser);
			else if (strchr("bfnrt", c) != NULL && c != '\0')
				c = ' ';
		}
		if (c == '\0')
			return NULL;
		*to = c;
	}
	parser->at++;
	*to = '\0';
	return start;
}

/** Parse the values up to @p closing. */
static bool
take_list(struct parser *parser, unsigned int level, char closing, struct app_tree *parent)
{
	const struct app_tree **link = &parent->first;

	if (take(parser, closing))
		return true;
	do {
		const char *key = NULL;
		struct app_tree *value;

		if (closing == '}') {
			key = take_string(parser);
			if (key == NULL || !take(parser, ':'))
				return false;
		}
		if (!parse_value(parser, level, &value))
			return false;
		value->key = key;
		*link = value;
		link = &value->next;
	} while (take(parser, ','));
	return take(parser, closing);
}

static bool
take_word(struct parser *parser, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(parser->at, word, length) != 0)
		return false;
	parser->at += length;
	return true;
}

static bool
parse_value(struct parser *parser, unsigned int level, struct app_tree **out)
{
	const char c = peek(parser);
	struct app_tree *value = parser->free++;
	char *end;

	*out = value;
	value->kind = c;
	switch (c) {
	case '{':
	case '[':
		parser->at++;
		return level < LEVELS_MAX &&
			take_list(parser, level + 1, c == '{' ? '}' : ']', value);
	case '"':
		value->text = take_string(parser);
		return value->text != NULL;
	case 't':
		value->number = 1;
		return take_word(parser, "true");
	case 'f':
		return take_word(parser, "false");
	case 'n':
		return take_word(parser, "null");
	default:
		value->kind = '0';
		value->number = strtoull(parser->at, &end, 10);
		if (c < '0' || c > '9')
			return false;
		parser->at = end;
		return true;
	}
}

/** Each value is the first of a list, or behind a comma, or the outermost. */
static size_t
nb_values(const char *text)
{
	size_t nb = 1;

	for (; (text = strpbrk(text, ",[{")) != NULL; text++)
		nb++;
	return nb;
}

struct app_tree *
app_tree_parse(char *text)
{
	struct app_tree *values = calloc(nb_values(text), sizeof(*values)), *outermost;
	struct parser parser = { .at = text, .free = values };

	if (values == NULL)
		return NULL;
	if (parse_value(&parser, 0, &outermost) && peek(&parser) == '\0')
		return values;
	free(values);
	return NULL;
}

const struct app_tree *
app_tree_find(const struct app_tree *object, const char *key)
{
	const struct app_tree *member = object != NULL ? object->first : NULL;

	while (member != NULL && (member->key == NULL || strcmp(member->key, key) != 0))
		member = member->next;
	return member;
}

const struct app_tree *
app_tree_elements(const struct app_tree *object, const char *key)
{
	const struct app_tree *array = app_tree_find(object, key);

	return array != NULL ? array->first : NULL;
}

uint64_t
app_tree_number(const struct app_tree *object, const char *key)
{
	const struct app_tree *member = app_tree_find(object, key);

	return member != NULL ? member->number : 0;
}

const char *
app_tree_text(const struct app_tree *object, const char *key)
{
	const struct app_tree *member = app_tree_find(object, key);

	return member != NULL && member->text != NULL ? member->text : "";
}
