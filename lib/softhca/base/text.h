/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Texts: appended to in a fixed room, cut where they do not fit; read as numbers. */
#ifndef SHCA_BASE_TEXT_H
#define SHCA_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Append to the text in @p size bytes. */
void shca_text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void shca_text_vappend(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/** Read a number of @p base (0: decimal, or hexadecimal behind 0x). @return false when @p text is
 * anything but a plain number up to @p max. */
bool shca_text_number(const char *text, int base, uint64_t max, uint64_t *number);
/** Read a MAC of the form 02:00:00:00:00:01, or 2:0:0:0:0:1. @return false when @p text is anything
 * else. */
bool shca_text_mac(const char *text, uint8_t mac[6]);

#endif /* SHCA_BASE_TEXT_H */
