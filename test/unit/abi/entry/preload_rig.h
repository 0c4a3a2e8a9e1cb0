/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The preloaded library from the outside: programs that run with LD_PRELOAD and call the C library.
 * Their own copy of the core only writes the options file, as the runner does.
 */
#ifndef TEST_PRELOAD_RIG_H
#define TEST_PRELOAD_RIG_H

#include "rig.h"

#define PRELOAD_RIG_NODE "/dev/infiniband/uverbs0"
/** A second GET_CONTEXT is refused with this: the file is open and has its context. */
#define PRELOAD_RIG_HAS_CONTEXT EINVAL

/** A call fails with this errno. */
#define PRELOAD_RIG_REFUSED(call, wanted)                                                          \
	do {                                                                                       \
		errno = 0;                                                                         \
		assert_int_equal(call, -1);                                                        \
		assert_int_equal(errno, wanted);                                                   \
	} while (0)

/** A runner's directory. */
extern char preload_rig_dir[];

/** Write the options file of @p nb ports. */
void preload_rig_write_options(const char *const ports[], unsigned int nb);
/** cmocka set-up and tear-down: the directory of two ports whose wire is null, and its variable. */
int preload_rig_set_up(void **state);
int preload_rig_tear_down(void **state);
/** GET_CONTEXT through the real ioctl. @return 0 or the errno. */
int preload_rig_get_context(int fd);
/** @return what @p child returns in a child process, which then ends by exit(). */
int preload_rig_run_child(int (*child)(int fd), int fd);
/** @return memory that is not there, which a compiler must not know. */
void *preload_rig_nowhere(unsigned int which);
#define PRELOAD_RIG_NB_NOWHERE 3

#endif /* TEST_PRELOAD_RIG_H */
