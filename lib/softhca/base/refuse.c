/* SPDX-License-Identifier: BSD-3-Clause */
/* The message about a refused text. */
#include "base/refuse.h"

#include <errno.h>
#include <stdarg.h>

#include "base/text.h"

int
shca_refuse(const struct shca_refusal *refusal, const char *format, ...)
{
	va_list args;

	if (refusal->size != 0)
		refusal->text[0] = '\0';
	if (refusal->line != 0)
		shca_text_append(refusal->text, refusal->size, "line %u: ", refusal->line);
	if (refusal->key != NULL)
		shca_text_append(refusal->text, refusal->size, "%s: ", refusal->key);
	va_start(args, format);
	shca_text_vappend(refusal->text, refusal->size, format, args);
	va_end(args);
	return -EINVAL;
}
