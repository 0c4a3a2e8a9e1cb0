/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What must hold, whether or not assertions are compiled in; and memory that is in use. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/** Of the sanitizers' allocator, where there is one. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/** @return bytes allocated, 0 where nobody counts them. */
static inline size_t
fuzz_check_allocated(void)
{
	return __sanitizer_get_current_allocated_bytes != NULL
		? __sanitizer_get_current_allocated_bytes()
		: 0;
}

/** Ends the program unless as much is allocated as before; a second thread would disturb this. */
static inline void
fuzz_check_freed(size_t before)
{
	const size_t now = fuzz_check_allocated();

	if (now == before)
		return;
	fprintf(stderr, "%zu bytes are allocated, not %zu as before\n", now, before);
	abort();
}

#endif /* FUZZ_CHECK_H */
