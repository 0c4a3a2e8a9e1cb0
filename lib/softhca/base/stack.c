/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

/** Where the calling thread's stack begins and ends; both 0: not known yet. */
static __thread __attribute__((tls_model("initial-exec"))) uintptr_t stack_low, stack_high;

static void
find_stack(void)
{
	pthread_attr_t attr;
	size_t nb_bytes = 0;
	void *low = NULL;

	stack_high = UINTPTR_MAX; /* none, rather than ask again */
	stack_low = UINTPTR_MAX;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &low, &nb_bytes) == 0) {
		stack_low = (uintptr_t)low;
		stack_high = stack_low + nb_bytes;
	}
	pthread_attr_destroy(&attr);
}

size_t
shca_stack_callers(const void *frame)
{
	const uintptr_t here = (uintptr_t)frame;

	if (IS_SANITIZED)
		return 0;
	if (stack_high == 0)
		find_stack();
	return here >= stack_low && here < stack_high ? stack_high - here : 0;
}
