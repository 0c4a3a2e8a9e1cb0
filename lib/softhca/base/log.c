/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of softhca on standard error. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/** The file that messages go to; no path: it is whatever standard error is. */
static struct {
	pthread_mutex_t lock;
	char path[PATH_MAX];
	size_t most, size;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Make the file standard error. @return 0 or a negative errno. */
static int
begin_file(void)
{
	const int fd = (int)syscall(
		SYS_openat, AT_FDCWD, kept.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	struct stat status;

	if (fd < 0)
		return -errno;
	kept.size = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
	dup2(fd, STDERR_FILENO);
	syscall(SYS_close, fd);
	return 0;
}

int
shca_log_keep(const char *path, size_t bytes)
{
	int ret = -ENAMETOOLONG;

	pthread_mutex_lock(&kept.lock);
	if (strlen(path) < sizeof(kept.path)) {
		strcpy(kept.path, path);
		kept.most = bytes;
		ret = begin_file();
	}
	if (ret != 0)
		kept.path[0] = '\0';
	pthread_mutex_unlock(&kept.lock);
	return ret;
}

/** Begin a new file if this line would be too much. */
static void
make_room(size_t length)
{
	char old[PATH_MAX + sizeof(".old")];

	if (kept.path[0] == '\0')
		return;
	pthread_mutex_lock(&kept.lock);
	kept.size += length;
	if (kept.size > kept.most) {
		snprintf(old, sizeof(old), "%s.old", kept.path);
		if (rename(kept.path, old) != 0)
			(void)!ftruncate(STDERR_FILENO, 0);
		(void)begin_file();
		kept.size += length;
	}
	pthread_mutex_unlock(&kept.lock);
}

/** Most messages are not wanted: they pass before the line, which is large, is looked at. */
static bool
is_wanted(enum shca_log_level level)
{
	int limit = __atomic_load_n(&threshold, __ATOMIC_RELAXED);

	if (limit < 0) {
		limit = threshold_from_environment();
		__atomic_store_n(&threshold, limit, __ATOMIC_RELAXED);
	}
	return (int)level <= limit;
}

static __attribute__((noinline, format(printf, 1, 0))) void
print_line(const char *format, va_list args)
{
	char line[1024] = PREFIX;
	int saved_errno = errno;
	size_t length = sizeof(PREFIX) - 1;
	size_t room = sizeof(line) - 1 - length; /* the newline's byte is kept free */
	int wanted = vsnprintf(line + length, room, format, args);

	if (wanted > 0)
		length += (size_t)wanted < room ? (size_t)wanted : room - 1;
	line[length++] = '\n';
	make_room(length);
	/* One system call a line keeps lines of several threads whole. It bypasses libc, as the
	 * library may hook write() in this process. */
	(void)!syscall(SYS_write, STDERR_FILENO, line, length);
	errno = saved_errno;
}

void
shca_log(enum shca_log_level level, const char *format, ...)
{
	va_list args;

	if (!is_wanted(level))
		return;
	va_start(args, format);
	print_line(format, args);
	va_end(args);
}
