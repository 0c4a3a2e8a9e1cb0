/* SPDX-License-Identifier: BSD-3-Clause */
/** @file JSON (RFC 8259), as softhca ctl writes it, as a tree. */
#ifndef SOFTHCA_TOP_TREE_H
#define SOFTHCA_TOP_TREE_H

#include <stdint.h>

/** A value. Texts are in the text that was parsed. */
struct app_tree {
	char kind;        /**< the character that it began with; '0': a number, '"': a string */
	const char *key;  /**< of a member, or NULL */
	const char *text; /**< of a string */
	uint64_t number;
	const struct app_tree *first; /**< of an array or object */
	const struct app_tree *next;  /**< in the one that it is in */
};

/** Parse @p text, which the tree keeps and changes. @return the values, the first of which is the
 * outermost and which the caller frees, or NULL: it is no JSON of so few levels, or there is no
 * memory. */
struct app_tree *app_tree_parse(char *text);
/** @{ Members; of NULL, too. */
/** @return NULL: there is none. */
const struct app_tree *app_tree_find(const struct app_tree *object, const char *key);
/** @return its first element, or NULL. */
const struct app_tree *app_tree_elements(const struct app_tree *object, const char *key);
/** @return 0: there is none. */
uint64_t app_tree_number(const struct app_tree *object, const char *key);
/** @return "": there is none. */
const char *app_tree_text(const struct app_tree *object, const char *key);
/** @} */

#endif /* SOFTHCA_TOP_TREE_H */
