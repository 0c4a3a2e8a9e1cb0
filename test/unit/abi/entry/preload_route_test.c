/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library, from the outside: the set of devices that the first node opens. Each case
 * is a process of its own, as a process has one set and reads its options once.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/options.h"
#include "preload_rig.h"

#define OTHER_NODE "/dev/infiniband/uverbs1"

/** Allocations of this thread until the one that fails; negative: none does. */
static __thread int countdown = -1;
static bool has_failed;

extern void *__libc_calloc(size_t nb, size_t size);

/** The library's calls come here: the program's symbols are before those of preloaded libraries. */
void *
calloc(size_t nb, size_t size)
{
	if (countdown < 0 || countdown-- > 0)
		return __libc_calloc(nb, size);
	has_failed = true;
	errno = ENOMEM;
	return NULL;
}

static void
use_ports(const char *first, const char *second)
{
	const char *const ports[] = { first, second };

	preload_rig_write_options(ports, second == NULL ? 1 : 2);
}

static int
set_up(void **state)
{
	(void)state;
	use_ports("wire=null", "wire=null");
	return setenv(SHCA_ENV_DIR, preload_rig_dir, 1);
}

/** Nothing is ours: the answers are the kernel's, as by calls that the library does not hook. */
static int
is_elsewhere(int fd)
{
	const int exists = (int)syscall(SYS_faccessat, AT_FDCWD, PRELOAD_RIG_NODE, F_OK);
	struct stat status;

	(void)fd;
	if (stat(PRELOAD_RIG_NODE, &status) != exists || access(PRELOAD_RIG_NODE, F_OK) != exists ||
		faccessat(AT_FDCWD, PRELOAD_RIG_NODE, F_OK, 0) != exists)
		return 1;
	fd = (int)syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	return (socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA) < 0) == (fd < 0) ? 0 : 2;
}

/** The nodes' names are ours, but there is no port. */
static int
has_no_port(int fd)
{
	struct stat status;

	(void)fd;
	if (stat(PRELOAD_RIG_NODE, &status) != -1 || errno != ENOENT)
		return 1;
	return open(PRELOAD_RIG_NODE, O_RDWR) == -1 && errno == ENOENT ? 0 : 2;
}

static void
test_unusable_directories(void **state)
{
	char path[PATH_MAX + 16];

	(void)state;
	setenv(SHCA_ENV_DIR, "", 1);
	assert_int_equal(preload_rig_run_child(is_elsewhere, -1), 0);
	setenv(SHCA_ENV_DIR, "/nonexistent", 1);
	assert_int_equal(preload_rig_run_child(has_no_port, -1), 0);
	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	setenv(SHCA_ENV_DIR, path, 1);
	assert_int_equal(preload_rig_run_child(has_no_port, -1), 0);
}

/** A set that cannot be opened leaves nothing behind: the next open tries again. */
static int
opens_later(int fd)
{
	char path[64];
	FILE *file;

	(void)fd;
	if (open(PRELOAD_RIG_NODE, O_RDWR) != -1 || errno != ENOENT)
		return 1;
	snprintf(path, sizeof(path), "%s/in.pcap", preload_rig_dir);
	file = fopen(path, "w");
	/* A capture without frames: nanoseconds, version 2.4, Ethernet. */
	if (file == NULL ||
		fwrite("\x4d\x3c\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\1\0\1\0\0\0", 24, 1, file) !=
			1 ||
		fclose(file) != 0)
		return 2;
	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	return fd >= 0 && preload_rig_get_context(fd) == 0 ? 0 : 3;
}

static void
test_a_wire_that_cannot_be_opened(void **state)
{
	char port[96];

	(void)state;
	snprintf(port, sizeof(port), "wire=pcap:%s/in.pcap", preload_rig_dir);
	use_ports("wire=null", port);
	assert_int_equal(preload_rig_run_child(opens_later, -1), 0);
}

/** Without a CPU that it may run on there is no device thread, which is said once. */
static int
has_no_thread(int fd)
{
	char path[64], text[256];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/stderr", preload_rig_dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return 1;
	if (open(PRELOAD_RIG_NODE, O_RDWR) != -1 || errno != EINVAL)
		return 2;
	length = pread(fd, text, sizeof(text) - 1, 0);
	text[length < 0 ? 0 : length] = '\0';
	return strcmp(text, "softhca: cannot start the device thread: Invalid argument\n") == 0 ? 0
												: 3;
}

static void
test_no_device_thread(void **state)
{
	struct shca_options options;
	char path[64], error[128];

	(void)state;
	shca_options_init(&options);
	assert_int_equal(shca_options_add_port(&options, "wire=null", error, sizeof(error)), 0);
	CPU_ZERO(&options.cpus);
	CPU_SET(CPU_SETSIZE - 1, &options.cpus);
	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, preload_rig_dir);
	assert_int_equal(shca_options_save(&options, path), 0);
	assert_int_equal(preload_rig_run_child(has_no_thread, -1), 0);
}

/** The first node is open when the process may have no more descriptors. */
static int
has_no_descriptor(int fd)
{
	struct rlimit limit;
	int next;

	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	next = dup(fd);
	if (fd < 0 || next < 0 || close(next) != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	limit.rlim_cur = (rlim_t)next;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 2;
	if (open(OTHER_NODE, O_RDWR) != -1 || errno != EMFILE)
		return 3;
	return preload_rig_get_context(fd) == 0 ? 0 : 4;
}

static void
test_no_descriptor(void **state)
{
	(void)state;
	assert_int_equal(preload_rig_run_child(has_no_descriptor, -1), 0);
}

/** Each allocation of an open fails once: it is refused, or the node is whole. @return refusals */
static int
open_without_memory(void)
{
	int nb_refused = 0;

	has_failed = true;
	for (int n = 0; has_failed; n++) {
		int fd;

		has_failed = false;
		countdown = n;
		fd = open(PRELOAD_RIG_NODE, O_RDWR);
		countdown = -1;
		if (fd < 0) {
			/* EAGAIN: pthread_create(), which has no memory for a thread. */
			if (!has_failed || (errno != ENOMEM && errno != EAGAIN))
				return -1;
			nb_refused++;
			continue;
		}
		if (preload_rig_get_context(fd) != 0 || close(fd) != 0)
			return -1;
	}
	return nb_refused;
}

/** The first open allocates the set, later ones a file and its entry in the table. */
static int
has_no_memory(int fd)
{
	(void)fd;
	return open_without_memory() >= 10 && open_without_memory() >= 2 ? 0 : 1;
}

/** The table of descriptors grows for a number beyond its first page; else the copy is not ours. */
static int
has_no_memory_for_a_copy(int fd)
{
	int copy;

	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	if (fd < 0)
		return 1;
	countdown = 0;
	copy = fcntl(fd, F_DUPFD, 1024);
	countdown = -1;
	if (!has_failed || copy < 1024 || preload_rig_get_context(copy) != ENOTTY)
		return 2;
	close(copy);
	copy = fcntl(fd, F_DUPFD, 1024);
	return preload_rig_get_context(copy) == 0 &&
			preload_rig_get_context(fd) == PRELOAD_RIG_HAS_CONTEXT
		? 0
		: 3;
}

static void
test_no_memory(void **state)
{
	struct rlimit limit;

	(void)state;
	assert_int_equal(preload_rig_run_child(has_no_memory, -1), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur > 1100)
		assert_int_equal(preload_rig_run_child(has_no_memory_for_a_copy, -1), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unusable_directories, set_up),
		cmocka_unit_test_setup(test_a_wire_that_cannot_be_opened, set_up),
		cmocka_unit_test_setup(test_no_device_thread, set_up),
		cmocka_unit_test_setup(test_no_descriptor, set_up),
		cmocka_unit_test_setup(test_no_memory, set_up),
	};

	return cmocka_run_group_tests(tests, preload_rig_set_up, preload_rig_tear_down);
}
