/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A library's object, and what it writes there in a child. */
#ifndef TEST_VERBS_FORK_LIBRARY_H
#define TEST_VERBS_FORK_LIBRARY_H

#define FORK_LIBRARY_CHILD 77

__attribute__((visibility("default"))) void fork_library_set(int *value);

#endif /* TEST_VERBS_FORK_LIBRARY_H */
