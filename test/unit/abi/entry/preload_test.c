/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library, from the outside: nodes and their descriptors.
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

#include <rdma/mlx5-abi.h>
#include <rdma/rdma_netlink.h>

#include "abi/core/mmap.h"
#include "config/options.h"
#include "preload_rig.h"

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
		{ PRELOAD_RIG_NODE, 0, 192 },
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
	int fd = open(PRELOAD_RIG_NODE, O_RDWR | O_CLOEXEC);
	struct stat status;
	void *page;

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(status.st_rdev, makedev(231, 192));
	assert_int_equal(preload_rig_get_context(fd), 0);
	assert_int_equal(preload_rig_get_context(fd), PRELOAD_RIG_HAS_CONTEXT);
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

/** What has no page, and clocks that are not for writing (hw/mlx5/main.c mlx5_ib_mmap(),
 * core/ucma.c ucma_fops). */
static void
test_mappings_that_are_refused(void **state)
{
	static const struct {
		unsigned long command, index;
		size_t length;
		int prot, flags, expected;
	} rows[] = {
		{ MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES, 18, 1 << 18, PROT_READ | PROT_WRITE,
			MAP_SHARED, ENOSYS },
		{ 4, 0, 4096, PROT_READ, MAP_SHARED, EINVAL },
		{ MLX5_IB_MMAP_CORE_CLOCK, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM },
		{ MLX5_IB_MMAP_CORE_CLOCK, 0, 4097, PROT_READ, MAP_SHARED, EINVAL },
		{ MLX5_IB_MMAP_CORE_CLOCK, 0, 4096, PROT_READ, MAP_PRIVATE, EINVAL },
		{ MLX5_IB_MMAP_CORE_CLOCK, 0, 4096, PROT_READ, MAP_SHARED, 0 },
		{ MLX5_IB_MMAP_CLOCK_INFO, 0, 4096, PROT_WRITE, MAP_SHARED, EPERM },
		{ MLX5_IB_MMAP_CLOCK_INFO, 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM },
		{ MLX5_IB_MMAP_CLOCK_INFO, 0, 8192, PROT_READ, MAP_SHARED, EINVAL },
		{ MLX5_IB_MMAP_CLOCK_INFO, 0, 4096, PROT_READ, MAP_PRIVATE, EINVAL },
		{ MLX5_IB_MMAP_CLOCK_INFO, 1, 4096, PROT_READ, MAP_SHARED, EOPNOTSUPP },
		{ MLX5_IB_MMAP_CLOCK_INFO, 0, 8, PROT_READ, MAP_SHARED_VALIDATE, 0 },
		/* A page of doorbells is shared with the device, and is one page. */
		{ MLX5_IB_MMAP_REGULAR_PAGE, 0, 4096, PROT_WRITE, MAP_PRIVATE, EINVAL },
		{ MLX5_IB_MMAP_REGULAR_PAGE, 0, 4097, PROT_WRITE, MAP_SHARED, EINVAL },
		{ MLX5_IB_MMAP_NC_PAGE, 0, 8192, PROT_WRITE, MAP_SHARED, EINVAL },
		{ SHCA_MMAP_UARS, 0, 4096, PROT_WRITE, MAP_PRIVATE, EINVAL },
		{ SHCA_MMAP_UARS, 0, 8192, PROT_WRITE, MAP_SHARED, EINVAL },
		{ SHCA_MMAP_UARS, 0, 64, PROT_WRITE, MAP_SHARED, 0 },
		/* Device memory is as long as the program has asked for. */
		{ SHCA_MMAP_DEVICE_MEMORY, 0, 8192, PROT_WRITE, MAP_SHARED, 0 },
		{ SHCA_MMAP_DEVICE_MEMORY, 0, 4096, PROT_WRITE, MAP_PRIVATE, EINVAL },
		/* Not of the file. */
		{ MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES, 18, 4096, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS, 0 },
	};
	int fd = open(PRELOAD_RIG_NODE, O_RDWR | O_CLOEXEC);
	int connections = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(preload_rig_get_context(fd), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const off_t offset = (off_t)(rows[i].command << 8 | rows[i].index) * 4096;
		void *page = mmap(NULL, rows[i].length, rows[i].prot, rows[i].flags, fd, offset);

		assert_int_equal(page == MAP_FAILED ? errno : 0, rows[i].expected);
		if (page != MAP_FAILED)
			munmap(page, rows[i].length);
	}
	/* Before the driver is asked. */
	assert_ptr_equal(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 1 << 20), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, connections, 0), MAP_FAILED);
	assert_int_equal(errno, ENODEV);
	close(connections);
	close(fd);
}

static void
test_copies_are_one_file(void **state)
{
	int fd = open(PRELOAD_RIG_NODE, O_RDWR);
	int spare = open("/dev/null", O_RDONLY);
	int copies[4];

	(void)state;
	assert_int_equal(preload_rig_get_context(fd), 0);
	copies[0] = dup(fd);
	copies[1] = dup2(fd, spare);
	copies[2] = fcntl(fd, F_DUPFD_CLOEXEC, 50);
	copies[3] = dup3(fd, copies[0], O_CLOEXEC);
	assert_int_equal(copies[1], spare);
	assert_true(copies[2] >= 50);
	close(fd);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(preload_rig_get_context(copies[i]), PRELOAD_RIG_HAS_CONTEXT);
		close(copies[i]);
	}
	/* Copied over itself a descriptor is what it was. */
	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	assert_int_equal(dup2(fd, fd), fd);
	assert_int_equal(preload_rig_get_context(fd), 0);
	close(fd);
	/* A closed descriptor cannot be copied. */
	assert_int_equal(dup(fd), -1);
	assert_int_equal(dup2(fd, spare), -1);
	assert_int_equal(dup3(fd, spare, 0), -1);
	assert_int_equal(fcntl(fd, F_DUPFD, 50), -1);
	assert_int_equal(errno, EBADF);
	/* Numbers are free again, and nobody's. */
	assert_int_equal(preload_rig_get_context(copies[2]), EBADF);
	/* Another descriptor copied over the last one closes the file. */
	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	spare = open("/dev/null", O_RDONLY);
	assert_int_equal(dup2(spare, fd), fd);
	assert_int_equal(preload_rig_get_context(fd), ENOTTY);
	close(spare);
	close(fd);
}

/** Closed behind our back: the number is nobody's, or that of the file that took it. */
static void
test_unseen_close(void **state)
{
	int fd = open(PRELOAD_RIG_NODE, O_RDWR);
	struct stat status;
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(close_range((unsigned int)fd, (unsigned int)fd, 0), 0);
	assert_int_equal(fstat(fd, &status), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(open("/dev/null", O_RDONLY), fd);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_rdev, makedev(1, 3));
	close(fd);

	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	assert_int_equal(close_range((unsigned int)fd, (unsigned int)fd, 0), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(ends[0], fd);
	ends[0] = fcntl(fd, F_DUPFD, 50);
	assert_int_equal(dup2(ends[1], fd), fd);
	assert_int_equal(write(fd, "y", 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	close(ends[0]);
	close(ends[1]);
	close(fd);

	/* The node that is opened next takes the number and the place in the table. */
	fd = open(PRELOAD_RIG_NODE, O_RDWR);
	assert_int_equal(close_range((unsigned int)fd, (unsigned int)fd, 0), 0);
	assert_int_equal(open(PRELOAD_RIG_NODE, O_RDWR), fd);
	assert_int_equal(preload_rig_get_context(fd), 0);
	assert_int_equal(preload_rig_get_context(fd), PRELOAD_RIG_HAS_CONTEXT);
	close(fd);
}

/** ALLOC_PD as libibverbs before rdma-core 27 sends it. @return as write(2) */
static ssize_t
write_alloc_pd(int fd, size_t length)
{
	struct {
		struct ib_uverbs_alloc_pd_resp core;
		struct mlx5_ib_alloc_pd_resp driver;
	} response;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_alloc_pd command;
	} request = {
		.header = {
			.command = IB_USER_VERBS_CMD_ALLOC_PD,
			.in_words = sizeof(request) / 4,
			.out_words = sizeof(response) / 4,
		},
		.command.response = (uintptr_t)&response,
	};

	return write(fd, &request, length < sizeof(request) ? length : sizeof(request));
}

static int
write_inherited(int fd)
{
	return write_alloc_pd(fd, SIZE_MAX) == -1 && errno == EIO ? 0 : 1;
}

/** A command is written whole or not at all. */
static void
test_write(void **state)
{
	int fd = open(PRELOAD_RIG_NODE, O_RDWR);

	(void)state;
	assert_int_equal(write_alloc_pd(fd, SIZE_MAX), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(preload_rig_get_context(fd), 0);
	assert_int_equal(write_alloc_pd(fd, SIZE_MAX),
		sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_alloc_pd));
	assert_int_equal(write_alloc_pd(fd, sizeof(struct ib_uverbs_cmd_hdr)), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(preload_rig_run_child(write_inherited, fd), 0);
	close(fd);
}

static int
use_inherited(int fd)
{
	struct stat status;

	if (preload_rig_get_context(fd) != EIO || fstat(fd, &status) != 0 ||
		!S_ISCHR(status.st_mode))
		return 1;
	return close(fd) == 0 ? 0 : 2;
}

/** A child cannot copy the parent's node, and another file may take its number. */
static int
copy_inherited(int fd)
{
	int spare = open("/dev/null", O_RDWR);
	int copy = dup(fd);
	struct stat status;

	if (spare < 0 || copy < 0 || preload_rig_get_context(copy) != ENOTTY)
		return 1;
	if (dup2(spare, fd) != fd || fstat(fd, &status) != 0 || status.st_rdev != makedev(1, 3))
		return 2;
	return write(fd, "x", 1) == 1 && close(copy) == 0 && close(fd) == 0 ? 0 : 3;
}

/** A node of its own may get the number, too. */
static int
reopen_inherited(int fd)
{
	if (close(fd) != 0 || open(PRELOAD_RIG_NODE, O_RDWR) != fd)
		return 1;
	return preload_rig_get_context(fd) == 0 && close(fd) == 0 ? 0 : 2;
}

static int
open_own(int fd)
{
	int own = open(PRELOAD_RIG_NODE, O_RDWR);

	if (own < 0 || preload_rig_get_context(own) != 0 || preload_rig_get_context(fd) != EIO)
		return 1;
	/* This one, the device's and the control socket's. */
	return close(own) == 0 && nb_threads() == 3 ? 0 : 2;
}

static int
exit_without_closing(int fd)
{
	int own = open(PRELOAD_RIG_NODE, O_RDWR);

	(void)fd;
	if (own < 0 || preload_rig_get_context(own) != 0)
		return 1;
	exit(0);
}

/** A copy may be in use, so the exit leaves the file to the kernel. */
static int
exit_with_a_copy(int fd)
{
	int own = open(PRELOAD_RIG_NODE, O_RDWR);

	(void)fd;
	if (own < 0 || preload_rig_get_context(own) != 0 || dup(own) < 0)
		return 1;
	exit(0);
}

static void
test_fork(void **state)
{
	int fd = open(PRELOAD_RIG_NODE, O_RDWR);

	(void)state;
	assert_int_equal(preload_rig_get_context(fd), 0);
	assert_int_equal(preload_rig_run_child(use_inherited, fd), 0);
	assert_int_equal(preload_rig_run_child(copy_inherited, fd), 0);
	assert_int_equal(preload_rig_run_child(reopen_inherited, fd), 0);
	assert_int_equal(preload_rig_run_child(open_own, fd), 0);
	assert_int_equal(preload_rig_run_child(exit_without_closing, fd), 0);
	assert_int_equal(preload_rig_run_child(exit_with_a_copy, fd), 0);
	/* The parent has noticed nothing. */
	assert_int_equal(preload_rig_get_context(fd), PRELOAD_RIG_HAS_CONTEXT);
	close(fd);
}

/** A child of vfork() closes in our memory. */
static void
test_vfork(void **state)
{
	int fd = open(PRELOAD_RIG_NODE, O_RDWR);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(preload_rig_get_context(fd), 0);
	pid = vfork();
	if (pid == 0) {
		close(fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(preload_rig_get_context(fd), PRELOAD_RIG_HAS_CONTEXT);
	close(fd);
}

static void *
open_and_close(void *arg)
{
	for (unsigned int i = 0; i < 200; i++) {
		int fd = open(PRELOAD_RIG_NODE, O_RDWR);

		if (fd < 0 || preload_rig_get_context(fd) != 0 || close(fd) != 0)
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

static struct nlmsghdr netlink_question = {
	.nlmsg_len = sizeof(netlink_question),
	.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET),
	.nlmsg_flags = NLM_F_REQUEST,
};

static ssize_t
ask_by_send(int fd)
{
	return send(fd, &netlink_question, sizeof(netlink_question), 0);
}

static ssize_t
ask_by_write(int fd)
{
	return write(fd, &netlink_question, sizeof(netlink_question));
}

static ssize_t
ask_by_sendto(int fd)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(fd, &netlink_question, sizeof(netlink_question), 0,
		(const struct sockaddr *)&kernel, sizeof(kernel));
}

static ssize_t
ask_by_sendmsg(int fd)
{
	struct iovec iov[] = { { &netlink_question, 5 },
		{ (uint8_t *)&netlink_question + 5, sizeof(netlink_question) - 5 } };

	return sendmsg(fd, &(struct msghdr){ .msg_iov = iov, .msg_iovlen = 2 }, 0);
}

/** The answer is the kernel's, to this socket. */
static void
check_netlink_answer(int fd, uint32_t seq)
{
	struct sockaddr_nl self, from = { .nl_pid = 1 };
	_Alignas(8) uint8_t bytes[512];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr message = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
	};
	const struct nlmsghdr *header = (const void *)bytes;
	socklen_t length = sizeof(self);
	ssize_t got;

	assert_int_equal(getsockname(fd, (struct sockaddr *)&self, &length), 0);
	length = sizeof(from);
	got = seq % 2 != 0 ? recvmsg(fd, &message, MSG_DONTWAIT)
			   : recvfrom(fd, bytes, sizeof(bytes), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &length);
	assert_true(got > (ssize_t)sizeof(*header));
	assert_int_equal(from.nl_family, AF_NETLINK);
	assert_int_equal(from.nl_pid, 0);
	assert_int_equal(header->nlmsg_type, netlink_question.nlmsg_type);
	assert_int_equal(header->nlmsg_seq, seq);
	assert_int_not_equal(self.nl_pid, 0);
	assert_int_equal(header->nlmsg_pid, self.nl_pid);
	assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static void
test_netlink(void **state)
{
	ssize_t (*const ways[])(
		int fd) = { ask_by_send, ask_by_write, ask_by_sendto, ask_by_sendmsg };
	const struct sockaddr_nl other = { .nl_family = AF_NETLINK, .nl_pid = UINT32_MAX - 7 };
	static uint8_t long_bytes[1 << 16];
	struct stat status;
	int fd, copy;

	(void)state;
	for (unsigned int i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
		assert_true(fd >= 0);
		copy = dup(fd);
		netlink_question.nlmsg_seq = i;
		assert_int_equal(ways[i / 2](fd), sizeof(netlink_question));
		check_netlink_answer(copy, i);
		assert_int_equal(fstat(fd, &status), 0);
		assert_true(S_ISSOCK(status.st_mode));
		close(fd);
		assert_int_equal(ways[i / 2](copy), sizeof(netlink_question));
		check_netlink_answer(copy, i);
		assert_int_equal(send(copy, long_bytes, sizeof(long_bytes), 0), -1);
		assert_int_equal(errno, EMSGSIZE);
		/* Not for the kernel. */
		assert_int_equal(sendto(copy, &netlink_question, sizeof(netlink_question), 0,
					 (const struct sockaddr *)&other, sizeof(other)),
			-1);
		assert_int_equal(errno, ECONNREFUSED);
		close(copy);
	}
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	assert_true(fd >= 0);
	assert_int_equal(ask_by_send(fd), sizeof(netlink_question));
	close(fd);
}

/** To the kernel, whose answers come all the same; to another, and back. */
static void
test_netlink_connected(void **state)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct sockaddr_nl other = { .nl_family = AF_NETLINK, .nl_pid = UINT32_MAX - 7 };
	struct sockaddr_nl name = { .nl_pid = 1 };
	socklen_t length = sizeof(name);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&kernel, 4), -1);
	assert_int_equal(errno, EINVAL);
	for (unsigned int i = 0; i < 2; i++) {
		if (i == 1)
			assert_int_equal(
				connect(fd, (const struct sockaddr *)&other, sizeof(other)), 0);
		assert_int_equal(connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &length), 0);
		assert_int_not_equal(name.nl_pid, 0);
		assert_int_equal(getpeername(fd, (struct sockaddr *)&name, &length), 0);
		assert_int_equal(name.nl_pid, 0);
		netlink_question.nlmsg_seq = i;
		assert_int_equal(ask_by_send(fd), sizeof(netlink_question));
		check_netlink_answer(fd, i);
	}
	close(fd);
}

/** What the socket's buffer has no room for comes when the application has read, in any way. */
static void
test_netlink_waits(void **state)
{
	const unsigned int nb = 200;
	_Alignas(8) uint8_t bytes[512];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	const struct nlmsghdr *header = (const void *)bytes;
	const int size = 1; /* Linux makes it the least that there is */
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_RDMA);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	for (unsigned int i = 0; i < nb; i++) {
		netlink_question.nlmsg_seq = i;
		assert_int_equal(ask_by_send(fd), sizeof(netlink_question));
	}
	for (unsigned int i = 0; i < nb; i++) {
		ssize_t got = i % 4 == 0 ? read(fd, bytes, sizeof(bytes))
			: i % 4 == 1     ? recv(fd, bytes, sizeof(bytes), 0)
			: i % 4 == 2     ? recvfrom(fd, bytes, sizeof(bytes), 0, NULL, NULL)
					 : recvmsg(fd, &message, 0);

		assert_true(got > (ssize_t)sizeof(*header));
		assert_int_equal(header->nlmsg_seq, i);
	}
	assert_int_equal(read(fd, bytes, sizeof(bytes)), -1);
	assert_int_equal(errno, EAGAIN);
	/* What nobody reads goes with the socket. */
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(ask_by_send(fd), sizeof(netlink_question));
	close(fd);
}

/** Without the runner's directory the library is not there. */
static void
test_inactive(void **state)
{
	struct stat status;

	(void)state;
	unsetenv(SHCA_ENV_DIR);
	assert_int_equal(stat(PRELOAD_RIG_NODE, &status), -1);
	assert_int_equal(open(PRELOAD_RIG_NODE, O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
	setenv(SHCA_ENV_DIR, preload_rig_dir, 1);
	assert_int_equal(stat(PRELOAD_RIG_NODE, &status), 0);
}

/** Ordinary files are the C library's, mode and all. */
static void
test_other_files(void **state)
{
	char path[64];
	struct stat status;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", preload_rig_dir);
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
		cmocka_unit_test(test_mappings_that_are_refused),
		cmocka_unit_test(test_copies_are_one_file),
		cmocka_unit_test(test_unseen_close),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_netlink_connected),
		cmocka_unit_test(test_netlink_waits),
		cmocka_unit_test(test_inactive),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, preload_rig_set_up, preload_rig_tear_down);
}
