/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

bool
shca_text_number(const char *text, int base, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, &end, base);
	return errno == 0 && *end == '\0' && *number <= max;
}

bool
shca_text_mac(const char *text, uint8_t mac[6])
{
	int end = 0;

	/* scanf() takes signs and blanks before a number. */
	return strspn(text, "0123456789abcdefABCDEF:") == strlen(text) &&
		sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
			&mac[3], &mac[4], &mac[5], &end) == 6 &&
		text[end] == '\0';
}
