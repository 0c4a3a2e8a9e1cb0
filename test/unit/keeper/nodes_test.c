/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a program's descriptor is no node. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "keeper/nodes.h"

#define NOBODY 65534

static int
look(struct shca_nodes *nodes, pid_t pid, int fd)
{
	struct shca_file *file;

	return shca_nodes_get(nodes, pid, fd, &file);
}

static void
test_what_is_no_node(void **state)
{
	struct shca_nodes *nodes = shca_nodes_create();
	const int fd = open("/dev/null", O_RDWR);

	(void)state;
	assert_non_null(nodes);
	assert_true(fd >= 0);
	assert_int_equal(look(nodes, getpid(), fd), -EIO);
	close(fd);
	assert_int_equal(look(nodes, getpid(), fd), -EBADF);
	shca_nodes_destroy(nodes);
}

/** A keeper without privileges, and a program that is not dumpable (proc_pid_permission,
 * ptrace_may_access of Linux). */
static void
test_a_program_that_lets_nobody_look(void **state)
{
	struct shca_nodes *nodes = shca_nodes_create();
	int ready[2], ret;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_non_null(nodes);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_DUMPABLE, 0) != 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	/* Threads' capabilities go with the user. */
	if (geteuid() == 0)
		assert_int_equal(seteuid(NOBODY), 0);
	ret = look(nodes, pid, 0);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	shca_nodes_destroy(nodes);
	assert_int_equal(ret, -EACCES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_node),
		cmocka_unit_test(test_a_program_that_lets_nobody_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
