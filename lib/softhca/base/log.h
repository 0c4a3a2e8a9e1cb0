/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Messages of softhca, on standard error, one line each, prefixed "softhca: ".
 *
 * The level comes from the environment variable SOFTHCA_LOG (error, warning, info, debug; warning
 * by default). Thread-safe; never changes errno.
 */
#ifndef SHCA_BASE_LOG_H
#define SHCA_BASE_LOG_H

#include <stddef.h>

enum shca_log_level {
	SHCA_LOG_ERROR,
	SHCA_LOG_WARNING,
	SHCA_LOG_INFO,
	SHCA_LOG_DEBUG,
};

/** Print one line at @p level; a newline is appended. */
void shca_log(enum shca_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * From now on standard error is the file @p path. When it has @p bytes it becomes "PATH.old", in
 * place of an older one, and a new one begins.
 * @return 0 or a negative errno
 */
int shca_log_keep(const char *path, size_t bytes);

#define SHCA_ERR(...)   shca_log(SHCA_LOG_ERROR, __VA_ARGS__)
#define SHCA_WARN(...)  shca_log(SHCA_LOG_WARNING, __VA_ARGS__)
#define SHCA_INFO(...)  shca_log(SHCA_LOG_INFO, __VA_ARGS__)
#define SHCA_DEBUG(...) shca_log(SHCA_LOG_DEBUG, __VA_ARGS__)

#endif /* SHCA_BASE_LOG_H */
