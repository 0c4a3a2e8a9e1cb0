/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Calls that a piece makes, in their order, where the functions are replaced by --wrap. */
#ifndef DRV_TRACE_H
#define DRV_TRACE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

/** The head of a function that stands in for @p name. */
#define TRACE_FAKE(type, name, ...)                                                                \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

static struct {
	char calls[1024];  /**< "one; two 3; " */
	const char *fails; /**< the call that fails, as it is in calls; NULL: none */
	int result;        /**< what it returns */
} trace;

static inline void
trace_clear(void)
{
	memset(&trace, 0, sizeof(trace));
}

/** Note a call. @return its result */
__attribute__((format(printf, 1, 2))) static inline int
trace_call(const char *format, ...)
{
	const size_t at = strlen(trace.calls);
	char call[64];
	va_list args;

	va_start(args, format);
	vsnprintf(call, sizeof(call), format, args);
	va_end(args);
	assert_true(at + strlen(call) + 3 < sizeof(trace.calls));
	sprintf(trace.calls + at, "%s; ", call);
	return trace.fails != NULL && strcmp(trace.fails, call) == 0 ? trace.result : 0;
}

/** These calls were made since the last time. */
static inline void
trace_check(const char *calls)
{
	assert_string_equal(trace.calls, calls);
	trace.calls[0] = '\0';
}

#endif /* DRV_TRACE_H */
