/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of softhca on standard error. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PREFIX "softhca: "

/** The environment is read once; -1 until then. Racing first readers store the same value. */
static int threshold = -1;

static int
threshold_from_environment(void)
{
	static const char *const names[] = {
		[SHCA_LOG_ERROR] = "error",
		[SHCA_LOG_WARNING] = "warning",
		[SHCA_LOG_INFO] = "info",
		[SHCA_LOG_DEBUG] = "debug",
	};
	const char *wanted = getenv("SOFTHCA_LOG");

	for (int level = 0; wanted != NULL && level <= SHCA_LOG_DEBUG; level++)
		if (strcmp(wanted, names[level]) == 0)
			return level;
	return SHCA_LOG_WARNING;
}

void
shca_log(enum shca_log_level level, const char *format, ...)
{
	char line[1024] = PREFIX;
	int saved_errno = errno;
	int limit = __atomic_load_n(&threshold, __ATOMIC_RELAXED);
	size_t length = sizeof(PREFIX) - 1;
	size_t room = sizeof(line) - 1 - length; /* the newline's byte is kept free */
	va_list args;
	int wanted;

	if (limit < 0) {
		limit = threshold_from_environment();
		__atomic_store_n(&threshold, limit, __ATOMIC_RELAXED);
	}
	if ((int)level > limit)
		return;
	va_start(args, format);
	wanted = vsnprintf(line + length, room, format, args);
	va_end(args);
	if (wanted > 0)
		length += (size_t)wanted < room ? (size_t)wanted : room - 1;
	line[length++] = '\n';
	/* One system call a line keeps lines of several threads whole. It bypasses libc, as the
	 * library may hook write() in this process. */
	(void)!syscall(SYS_write, STDERR_FILENO, line, length);
	errno = saved_errno;
}
