/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of a fixed room. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void
shca_text_vappend(char *text, size_t size, const char *format, va_list args)
{
	const size_t length = strnlen(text, size);

	if (length < size)
		vsnprintf(text + length, size - length, format, args);
}

void
shca_text_append(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	shca_text_vappend(text, size, format, args);
	va_end(args);
}
