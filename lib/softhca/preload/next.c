/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#define ROW_NAME(name) #name,
static const char *const symbol_names[] = { SYMBOLS(ROW_NAME) };

/** In place of a function that the C library lacks. */
static int
refuse(void)
{
	errno = ENOSYS;
	return -1;
}

/** Bind a function at first use: other libraries' constructors may call it before ours run. */
void *
shca_next_bind(enum shca_next symbol)
{
	static void *_Atomic bound[SHCA_NEXT_NB];
	void *function = atomic_load_explicit(&bound[symbol], memory_order_relaxed);
	int saved_errno;

	if (function != NULL)
		return function;
	saved_errno = errno;
	function = dlsym(RTLD_NEXT, symbol_names[symbol]);
	errno = saved_errno;
	if (function == NULL)
		return (void *)refuse;
	atomic_store_explicit(&bound[symbol], function, memory_order_relaxed);
	return function;
}

int
shca_next_answer(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}
