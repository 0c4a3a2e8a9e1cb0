/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The message about a refused text: the place of the culprit, the error, and the remedy. */
#ifndef SHCA_BASE_REFUSE_H
#define SHCA_BASE_REFUSE_H

#include <stddef.h>

/** Room for the message, and its first words: the line or the key, if there is one. */
struct shca_refusal {
	char *text;
	size_t size;
	unsigned int line; /**< from 1 */
	const char *key;
};

/** Write the message, cut to the room there is. @return -EINVAL. */
int shca_refuse(const struct shca_refusal *refusal, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SHCA_BASE_REFUSE_H */
