/* SPDX-License-Identifier: BSD-3-Clause */
/** @file How long a test goes on that tries at random. */
#ifndef TEST_ROUNDS_H
#define TEST_ROUNDS_H

#include <stdlib.h>

/** @return the part of @p all rounds that each test run has; devtools/test --all has all */
static inline unsigned int
test_rounds(unsigned int all)
{
	return getenv("TEST_ALL_ROUNDS") != NULL ? all : all / 4;
}

/** @return 1 with devtools/test --all, which takes every case of an enumeration; others take each
 * @p step th */
static inline unsigned int
test_step(unsigned int step)
{
	return getenv("TEST_ALL_ROUNDS") != NULL ? 1 : step;
}

#endif /* TEST_ROUNDS_H */
