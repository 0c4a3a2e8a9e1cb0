/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Text that was refused: where in it the culprit is, what is wrong, and what would do. */
#ifndef SHCA_BASE_REFUSE_H
#define SHCA_BASE_REFUSE_H

#include <stddef.h>

/** Room for the message, and what it begins with: the line or the key, if there is one. */
struct shca_refusal {
	char *text;
	size_t size;
	unsigned int line; /**< from 1 */
	const char *key;
};

/** Say why; what does not fit is cut. @return -EINVAL. */
int shca_refuse(const struct shca_refusal *refusal, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SHCA_BASE_REFUSE_H */
