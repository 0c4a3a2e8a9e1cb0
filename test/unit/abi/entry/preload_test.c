/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library, from the outside: this program runs with LD_PRELOAD and calls the C
 * library. Its own copy of the core only writes the options file, as the runner does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/options.h"
#include "rig.h"
#include "sysfs/tree.h"

#define NODE "/dev/infiniband/uverbs0"

static char directory[] = "/tmp/softhca-test-XXXXXX";

static void
write_options(void)
{
	struct shca_options options;
	char path[64], error[256];

	assert_non_null(mkdtemp(directory));
	shca_options_init(&options);
	assert_int_equal(shca_options_add_port(&options, "wire=null", error, sizeof(error)), 0);
	assert_int_equal(shca_options_add_port(&options, "wire=null", error, sizeof(error)), 0);
	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, directory);
	assert_int_equal(shca_options_save(&options, path), 0);
}

static int
set_up(void **state)
{
	(void)state;
	write_options();
	return setenv(SHCA_ENV_DIR, directory, 1);
}

static int
tear_down(void **state)
{
	(void)state;
	/* The control sockets, too: of this process, which has the device open, and its children.
	 */
	return shca_tree_remove(directory);
}

/** GET_CONTEXT through the real ioctl. @return 0 or the errno. */
static int
get_context(int fd)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 request = {
		.total_num_bfregs = 16,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp response;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	frame_in(&frame, UVERBS_ATTR_UHW_IN, &request, sizeof(request));
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
	return ioctl(fd, RDMA_VERBS_IOCTL, &frame) == 0 ? 0 : errno;
}

/** A second GET_CONTEXT is refused with this: the file is open and has its context. */
#define HAS_CONTEXT EINVAL

static int
nb_threads(void)
{
	struct stat status;

	assert_int_equal(stat("/proc/self/task", &status), 0);
	return (int)status.st_nlink - 2;
}

static void
test_paths(void **state)
{
	static const struct {
		const char *path;
		int expected; /* errno */
		unsigned int minor;
	} rows[] = {
		{ NODE, 0, 192 },
		{ "/dev/infiniband/uverbs1", 0, 193 },
		{ "/dev/char/231:193", 0, 193 },
		{ "/dev/infiniband/uverbs2", ENOENT, 0 },
		{ "/dev/infiniband/uverbs", ENOENT, 0 },
		{ "/dev/infiniband/uverbs0x", ENOENT, 0 },
		{ "/dev/infiniband/uverbs99999999999", ENOENT, 0 },
		{ "/dev/char/231:191", ENOENT, 0 },
		{ "/dev/char/231:194", ENOENT, 0 },
	};
	int nb_before = nb_threads();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat status;
		int ret = stat(rows[i].path, &status);

		assert_int_equal(ret == 0 ? 0 : errno, rows[i].expected);
		assert_int_equal(access(rows[i].path, R_OK | W_OK), ret);
		if (ret != 0) {
			assert_int_equal(open(rows[i].path, O_RDWR), -1);
			assert_int_equal(errno, ENOENT);
			continue;
		}
		assert_true(S_ISCHR(status.st_mode));
		assert_int_equal(status.st_rdev, makedev(231, rows[i].minor));
	}
	/* Looking starts nothing. */
	assert_int_equal(nb_threads(), nb_before);
}

static void
test_an_open_node(void **state)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);
	struct stat status;
	void *page;

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(status.st_rdev, makedev(231, 192));
	assert_int_equal(get_context(fd), 0);
	assert_int_equal(get_context(fd), HAS_CONTEXT);
	page = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0x900000);
	assert_ptr_not_equal(page, MAP_FAILED);
	memset(page, 1, 8);
	assert_int_equal(munmap(page, 4096), 0);
	assert_int_equal(ioctl(fd, TCGETS, NULL), -1);
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(fd), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(fstat(fd, &status), -1);
}

static void
test_copies_are_one_file(void **state)
{
	int fd = open(NODE, O_RDWR);
	int spare = open("/dev/null", O_RDONLY);
	int copies[4];

	(void)state;
	assert_int_equal(get_context(fd), 0);
	copies[0] = dup(fd);
	copies[1] = dup2(fd, spare);
	copies[2] = fcntl(fd, F_DUPFD_CLOEXEC, 50);
	copies[3] = dup3(fd, copies[0], O_CLOEXEC);
	assert_int_equal(copies[1], spare);
	assert_true(copies[2] >= 50);
	close(fd);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(get_context(copies[i]), HAS_CONTEXT);
		close(copies[i]);
	}
	/* Numbers are free again, and nobody's. */
	assert_int_equal(get_context(copies[2]), EBADF);
	/* Another descriptor copied over the last one closes the file. */
	fd = open(NODE, O_RDWR);
	spare = open("/dev/null", O_RDONLY);
	assert_int_equal(dup2(spare, fd), fd);
	assert_int_equal(get_context(fd), ENOTTY);
	close(spare);
	close(fd);
}

/** Closed behind our back, and the number taken by another file: fstat tells the truth. */
static void
test_unseen_close(void **state)
{
	int fd = open(NODE, O_RDWR);
	struct stat status;

	(void)state;
	assert_int_equal(close_range((unsigned int)fd, (unsigned int)fd, 0), 0);
	assert_int_equal(open("/dev/null", O_RDONLY), fd);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_rdev, makedev(1, 3));
	close(fd);
}

static int
run_child(int (*child)(int fd), int fd)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child(fd));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
use_inherited(int fd)
{
	struct stat status;

	if (get_context(fd) != EIO || fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode))
		return 1;
	return close(fd) == 0 ? 0 : 2;
}

static int
open_own(int fd)
{
	int own = open(NODE, O_RDWR);

	if (own < 0 || get_context(own) != 0 || get_context(fd) != EIO)
		return 1;
	/* This one, the device's and the control socket's. */
	return close(own) == 0 && nb_threads() == 3 ? 0 : 2;
}

static int
exit_without_closing(int fd)
{
	int own = open(NODE, O_RDWR);

	(void)fd;
	if (own < 0 || get_context(own) != 0)
		return 1;
	exit(0);
}

static void
test_fork(void **state)
{
	int fd = open(NODE, O_RDWR);

	(void)state;
	assert_int_equal(get_context(fd), 0);
	assert_int_equal(run_child(use_inherited, fd), 0);
	assert_int_equal(run_child(open_own, fd), 0);
	assert_int_equal(run_child(exit_without_closing, fd), 0);
	/* The parent has noticed nothing. */
	assert_int_equal(get_context(fd), HAS_CONTEXT);
	close(fd);
}

/** A child of vfork() closes in our memory. */
static void
test_vfork(void **state)
{
	int fd = open(NODE, O_RDWR);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(get_context(fd), 0);
	pid = vfork();
	if (pid == 0) {
		close(fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(get_context(fd), HAS_CONTEXT);
	close(fd);
}

static void *
open_and_close(void *arg)
{
	for (unsigned int i = 0; i < 200; i++) {
		int fd = open(NODE, O_RDWR);

		if (fd < 0 || get_context(fd) != 0 || close(fd) != 0)
			return arg;
	}
	return NULL;
}

static void
test_threads(void **state)
{
	pthread_t threads[4];
	char failed;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &failed), 0);
	for (unsigned int i = 0; i < 4; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
}

static void
test_netlink(void **state)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	(void)state;
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	assert_true(fd >= 0);
	close(fd);
}

/** Without the runner's directory the library is not there. */
static void
test_inactive(void **state)
{
	struct stat status;

	(void)state;
	unsetenv(SHCA_ENV_DIR);
	assert_int_equal(stat(NODE, &status), -1);
	assert_int_equal(open(NODE, O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
	setenv(SHCA_ENV_DIR, directory, 1);
	assert_int_equal(stat(NODE, &status), 0);
}

/** Ordinary files are the C library's, mode and all. */
static void
test_other_files(void **state)
{
	char path[64];
	struct stat status;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0640);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(open(path, O_CREAT | O_EXCL | O_RDWR, 0640), -1);
	assert_int_equal(errno, EEXIST);
	close(fd);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_an_open_node),
		cmocka_unit_test(test_copies_are_one_file),
		cmocka_unit_test(test_unseen_close),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_inactive),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
