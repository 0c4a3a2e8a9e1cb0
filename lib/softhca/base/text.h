/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Texts of a fixed room, written piece by piece: what does not fit is cut. */
#ifndef SHCA_BASE_TEXT_H
#define SHCA_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/** Append to the text in @p size bytes. */
void shca_text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void shca_text_vappend(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif /* SHCA_BASE_TEXT_H */
