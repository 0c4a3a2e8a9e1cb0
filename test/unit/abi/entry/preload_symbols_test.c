/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library, from the outside: each name by which the C library opens or asks for a
 * path, as programs built against this and older C libraries call it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>

#include "preload_rig.h"

#define ABSENT "/dev/infiniband/uverbs7"

enum form {
	OPEN,     /* path, flags, mode */
	OPENAT,   /* directory, path, flags, mode */
	OPEN_2,   /* path, flags */
	OPENAT_2, /* directory, path, flags */
	STAT,     /* path, status */
	XSTAT,    /* version, path, status */
	STATAT,   /* directory, path, status, flags */
	XSTATAT,  /* version, directory, path, status, flags */
};

static const struct name {
	const char *name;
	enum form form;
} open_names[] = {
	{ "open", OPEN },
	{ "open64", OPEN },
	{ "openat", OPENAT },
	{ "openat64", OPENAT },
	{ "__open_2", OPEN_2 },
	{ "__open64_2", OPEN_2 },
	{ "__openat_2", OPENAT_2 },
	{ "__openat64_2", OPENAT_2 },
}, stat_names[] = {
	{ "stat", STAT },
	{ "stat64", STAT },
	{ "lstat", STAT },
	{ "lstat64", STAT },
	{ "__xstat", XSTAT },
	{ "__xstat64", XSTAT },
	{ "__lxstat", XSTAT },
	{ "__lxstat64", XSTAT },
	{ "fstatat", STATAT },
	{ "fstatat64", STATAT },
	{ "__fxstatat", XSTATAT },
	{ "__fxstatat64", XSTATAT },
}, fstat_names[] = {
	{ "fstat", STAT },
	{ "fstat64", STAT },
	{ "__fxstat", XSTAT },
	{ "__fxstat64", XSTAT },
	{ "fstatat", STATAT },
	{ "fstatat64", STATAT },
	{ "__fxstatat", XSTATAT },
	{ "__fxstatat64", XSTATAT },
};
#define NB(names) (sizeof(names) / sizeof((names)[0]))

/* The version of struct stat that x86_64 has, and that other LP64 systems have. */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

static void *
find(const struct name *name)
{
	void *function = dlsym(RTLD_DEFAULT, name->name);

	if (function == NULL)
		fail_msg("no %s", name->name);
	return function;
}

static int
call_open(const struct name *name, const char *path, int flags, mode_t mode)
{
	void *function = find(name);

	switch (name->form) {
	case OPEN:
		return ((int (*)(const char *, int, ...))function)(path, flags, mode);
	case OPENAT:
		return ((int (*)(int, const char *, int, ...))function)(
			AT_FDCWD, path, flags, mode);
	case OPEN_2:
		return ((int (*)(const char *, int))function)(path, flags);
	default:
		return ((int (*)(int, const char *, int))function)(AT_FDCWD, path, flags);
	}
}

static int
call_statat(const struct name *name, int dir, const char *path, struct stat *status, int flags)
{
	void *function = find(name);

	if (name->form == STATAT)
		return ((int (*)(int, const char *, struct stat *, int))function)(
			dir, path, status, flags);
	return ((int (*)(int, int, const char *, struct stat *, int))function)(
		STAT_VERSION, dir, path, status, flags);
}

static bool
is_at(const struct name *name)
{
	return name->form == STATAT || name->form == XSTATAT;
}

static int
call_stat(const struct name *name, const char *path, struct stat *status)
{
	void *function = find(name);

	if (is_at(name))
		return call_statat(name, AT_FDCWD, path, status, 0);
	if (name->form == STAT)
		return ((int (*)(const char *, struct stat *))function)(path, status);
	return ((int (*)(int, const char *, struct stat *))function)(STAT_VERSION, path, status);
}

static int
call_fstat(const struct name *name, int fd, struct stat *status)
{
	void *function = find(name);

	if (is_at(name))
		return call_statat(name, fd, "", status, AT_EMPTY_PATH);
	if (name->form == STAT)
		return ((int (*)(int, struct stat *))function)(fd, status);
	return ((int (*)(int, int, struct stat *))function)(STAT_VERSION, fd, status);
}

/** @return the path of a symbolic link to a file of 3 bytes in the runner's directory. */
static const char *
make_link(void)
{
	static char path[64];
	char target[64];
	FILE *file;

	snprintf(target, sizeof(target), "%s/target", preload_rig_dir);
	snprintf(path, sizeof(path), "%s/link", preload_rig_dir);
	file = fopen(target, "w");
	assert_non_null(file);
	fputs("abc", file);
	fclose(file);
	assert_true(symlink("target", path) == 0 || errno == EEXIST);
	return path;
}

static void
test_opening_nodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB(open_names); i++) {
		int fd = call_open(&open_names[i], PRELOAD_RIG_NODE, O_RDWR | O_CLOEXEC, 0);

		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(preload_rig_get_context(fd), 0);
		assert_int_equal(close(fd), 0);
		assert_int_equal(call_open(&open_names[i], ABSENT, O_RDWR, 0), -1);
		assert_int_equal(errno, ENOENT);
	}
}

/** Flags are for devices what they are for other files. */
static void
test_flags_of_nodes(void **state)
{
	static const char *const nodes[] = { PRELOAD_RIG_NODE, "/dev/infiniband/rdma_cm" };
	struct rdma_ucm_event_resp event;
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_get_event get;
	} ask = { { RDMA_USER_CM_CMD_GET_EVENT, sizeof(ask.get), sizeof(event) },
		{ (uintptr_t)&event } };

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		int node;

		PRELOAD_RIG_REFUSED(open(nodes[i], O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
		PRELOAD_RIG_REFUSED(open(nodes[i], O_RDONLY | O_DIRECTORY), ENOTDIR);
		node = open(nodes[i], O_RDWR | O_CREAT, 0600);
		assert_true(node >= 0);
		assert_false(fcntl(node, F_GETFL) & O_NONBLOCK);
		close(node);
		node = open(nodes[i], O_RDWR | O_NONBLOCK);
		assert_true(node >= 0);
		assert_true(fcntl(node, F_GETFL) & O_NONBLOCK);
		if (i == 1)
			PRELOAD_RIG_REFUSED(write(node, &ask, sizeof(ask)), EAGAIN);
		close(node);
	}
}

/** The others' bytes, and the mode of a file that is created, go through. */
static void
test_opening_others(void **state)
{
	const char *path = make_link();
	char created[64];

	(void)state;
	snprintf(created, sizeof(created), "%s/created", preload_rig_dir);
	for (size_t i = 0; i < NB(open_names); i++) {
		const struct name *name = &open_names[i];
		int fd = call_open(name, path, O_RDONLY, 0);
		char bytes[4] = "";
		struct stat status;

		assert_true(fd >= 0);
		assert_int_equal(read(fd, bytes, 3), 3);
		assert_string_equal(bytes, "abc");
		close(fd);
		assert_int_equal(call_open(name, path, O_RDONLY | O_DIRECTORY, 0), -1);
		assert_int_equal(errno, ENOTDIR);
		if (name->form != OPEN && name->form != OPENAT)
			continue;
		fd = call_open(name, created, O_CREAT | O_EXCL | O_RDWR, 0640);
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &status), 0);
		assert_int_equal(status.st_mode & 0777, 0640);
		close(fd);
		unlink(created);
	}
}

static void
test_status_by_path(void **state)
{
	const char *path = make_link();

	(void)state;
	for (size_t i = 0; i < NB(stat_names); i++) {
		const struct name *name = &stat_names[i];
		const bool follows = strchr(name->name, 'l') == NULL;
		struct stat status;

		assert_int_equal(call_stat(name, PRELOAD_RIG_NODE, &status), 0);
		assert_true(S_ISCHR(status.st_mode));
		assert_int_equal(status.st_rdev, makedev(231, 192));
		assert_int_equal(call_stat(name, ABSENT, &status), -1);
		assert_int_equal(errno, ENOENT);
		assert_int_equal(call_stat(name, path, &status), 0);
		assert_int_equal(S_ISREG(status.st_mode), follows);
		assert_int_equal(S_ISLNK(status.st_mode), !follows);
		assert_int_equal(status.st_size, follows ? 3 : 6);
	}
}

static void
test_status_by_descriptor(void **state)
{
	int node = open("/dev/infiniband/uverbs1", O_RDWR);
	int other = open(make_link(), O_RDONLY);

	(void)state;
	assert_true(node >= 0 && other >= 0);
	for (size_t i = 0; i < NB(fstat_names); i++) {
		struct stat status;

		assert_int_equal(call_fstat(&fstat_names[i], node, &status), 0);
		assert_true(S_ISCHR(status.st_mode));
		assert_int_equal(status.st_rdev, makedev(231, 193));
		assert_int_equal(call_fstat(&fstat_names[i], other, &status), 0);
		assert_int_equal(status.st_size, 3);
		assert_int_equal(call_fstat(&fstat_names[i], -1, &status), -1);
		assert_int_equal(errno, EBADF);
	}
	close(node);
	close(other);
}

/** Without a path the kernel decides: Linux before 6.11 refuses it (fs/stat.c vfs_fstatat()). */
static void
test_status_without_path(void **state)
{
	static const struct name extended = { "statx", STATAT };
	int (*extend)(int, const char *, int, unsigned int, struct statx *) = find(&extended);
	int other = open(make_link(), O_RDONLY);
	struct statx wide;

	(void)state;
	assert_true(other >= 0);
	for (int flags = 0; flags <= AT_EMPTY_PATH; flags += AT_EMPTY_PATH) {
		const long ret = syscall(SYS_statx, other, NULL, flags, STATX_SIZE, &wide);
		const int error = errno;

		for (size_t i = 0; i < NB(fstat_names); i++) {
			struct stat status;

			if (!is_at(&fstat_names[i]))
				continue;
			errno = 0;
			assert_int_equal(
				call_statat(&fstat_names[i], other, NULL, &status, flags), ret);
			assert_int_equal(ret == 0 ? status.st_size : errno, ret == 0 ? 3 : error);
		}
		errno = 0;
		assert_int_equal(extend(other, NULL, flags, STATX_SIZE, &wide), ret);
		assert_int_equal(ret == 0 ? (int)wide.stx_size : errno, ret == 0 ? 3 : error);
	}
	close(other);
}

/** Where there is no struct stat: as ls(1) and stat(1) ask. */
static void
test_extended_status(void **state)
{
	int node = open("/dev/infiniband/uverbs1", O_RDWR);
	int other = open(make_link(), O_RDONLY);
	struct statx status;

	(void)state;
	assert_true(node >= 0 && other >= 0);
	assert_int_equal(
		statx(AT_FDCWD, PRELOAD_RIG_NODE, AT_SYMLINK_NOFOLLOW, STATX_MODE, &status), 0);
	assert_true(S_ISCHR(status.stx_mode) && (status.stx_mask & STATX_MODE) != 0);
	assert_int_equal(makedev(status.stx_rdev_major, status.stx_rdev_minor), makedev(231, 192));
	assert_int_equal(status.stx_nlink, 1);
	assert_int_equal(statx(AT_FDCWD, ABSENT, 0, STATX_MODE, &status), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(statx(node, "", AT_EMPTY_PATH, STATX_MODE, &status), 0);
	assert_int_equal(makedev(status.stx_rdev_major, status.stx_rdev_minor), makedev(231, 193));
	assert_int_equal(statx(other, "", AT_EMPTY_PATH, STATX_SIZE, &status), 0);
	assert_int_equal(status.stx_size, 3);
	assert_int_equal(statx(AT_FDCWD, make_link(), 0, STATX_SIZE, &status), 0);
	assert_int_equal(status.stx_size, 3);
	assert_int_equal(statx(node, "", 0, STATX_MODE, &status), -1);
	assert_int_equal(errno, ENOENT);
	close(node);
	close(other);
}

static void
test_access(void **state)
{
	const char *path = make_link();

	(void)state;
	assert_int_equal(access(PRELOAD_RIG_NODE, F_OK), 0);
	assert_int_equal(access(PRELOAD_RIG_NODE, R_OK | W_OK), 0);
	assert_int_equal(access(PRELOAD_RIG_NODE, X_OK), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(access(ABSENT, F_OK), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(access(path, R_OK), 0);
	/* As shells ask. */
	assert_int_equal(faccessat(AT_FDCWD, PRELOAD_RIG_NODE, R_OK | W_OK, AT_EACCESS), 0);
	assert_int_equal(faccessat(AT_FDCWD, PRELOAD_RIG_NODE, X_OK, AT_EACCESS), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(faccessat(AT_FDCWD, ABSENT, F_OK, 0), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(faccessat(AT_FDCWD, path, R_OK, AT_EACCESS), 0);
	/* As test(1) asks. */
	assert_int_equal(euidaccess(PRELOAD_RIG_NODE, R_OK | W_OK), 0);
	assert_int_equal(eaccess(PRELOAD_RIG_NODE, X_OK), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(euidaccess(ABSENT, F_OK), -1);
	assert_int_equal(eaccess(path, R_OK), 0);
}

/** @return a descriptor of asynchronous events. */
static int
open_events(int node)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	frame_handle(&frame, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	assert_int_equal(ioctl(node, RDMA_VERBS_IOCTL, &frame), 0);
	return (int)frame.attrs[0].data;
}

/** A request of RDMA's on a descriptor of others, and other requests on a node's. */
static void
test_other_requests(void **state)
{
	int node = open(PRELOAD_RIG_NODE, O_RDWR);
	int other = open("/dev/null", O_RDWR);
	int connections = open("/dev/infiniband/rdma_cm", O_RDWR);
	int events, netlink;

	(void)state;
	assert_int_equal(preload_rig_get_context(connections), ENOTTY);
	close(connections);
	assert_int_equal(preload_rig_get_context(other), ENOTTY);
	assert_int_equal(preload_rig_get_context(-1), EBADF);
	assert_int_equal(preload_rig_get_context(1 << 20), EBADF);
	assert_int_equal(ioctl(node, FIOCLEX), 0);
	assert_int_equal(fcntl(node, F_GETFD), FD_CLOEXEC);
	assert_int_equal(preload_rig_get_context(node), 0);
	/* Neither events nor netlink take commands (uverbs_main.c uverbs_async_event_fops). */
	events = open_events(node);
	assert_int_equal(preload_rig_get_context(events), ENOTTY);
	close(events);
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	assert_int_equal(preload_rig_get_context(netlink), ENOTTY);
	close(netlink);
	close(node);
	close(other);
}

/** Nodes take commands alone: nobody reads them (uverbs_main.c uverbs_fops, ucma.c ucma_fops). */
static void
test_reading(void **state)
{
	static const char *const nodes[] = { PRELOAD_RIG_NODE, "/dev/infiniband/rdma_cm" };
	char byte;

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		int node = open(nodes[i], O_RDWR | O_NONBLOCK);

		assert_true(node >= 0);
		assert_int_equal(read(node, &byte, 1), -1);
		assert_int_equal(errno, EINVAL);
		close(node);
	}
}

/** They have no content and no position (stream_open()), though there is memory behind them. */
static void
test_streams(void **state)
{
	static const char *const nodes[] = { PRELOAD_RIG_NODE, "/dev/infiniband/rdma_cm" };
	char byte = 0;
	const struct iovec iov = { &byte, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		int node = open(nodes[i], O_RDWR | O_NONBLOCK);

		assert_true(node >= 0);
		PRELOAD_RIG_REFUSED(lseek(node, 1, SEEK_SET), ESPIPE);
		PRELOAD_RIG_REFUSED(lseek64(node, 0, SEEK_CUR), ESPIPE);
		PRELOAD_RIG_REFUSED(pread(node, &byte, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pread64(node, &byte, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwrite(node, &byte, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwrite64(node, &byte, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(preadv(node, &iov, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(preadv64(node, &iov, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwritev(node, &iov, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwritev64(node, &iov, 1, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(preadv2(node, &iov, 1, 0, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(preadv64v2(node, &iov, 1, 0, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwritev2(node, &iov, 1, 0, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(pwritev64v2(node, &iov, 1, 0, 0), ESPIPE);
		PRELOAD_RIG_REFUSED(readv(node, &iov, 1), EINVAL);
		PRELOAD_RIG_REFUSED(ftruncate(node, 0), EINVAL);
		PRELOAD_RIG_REFUSED(ftruncate64(node, 0), EINVAL);
		PRELOAD_RIG_REFUSED(fallocate(node, 0, 0, 4096), ENODEV);
		PRELOAD_RIG_REFUSED(fallocate64(node, 0, 0, 4096), ENODEV);
		assert_int_equal(posix_fallocate(node, 0, 4096), ENODEV);
		assert_int_equal(posix_fallocate64(node, 0, 4096), ENODEV);
		/* Not even by a system call of the program's own. */
		assert_int_equal(syscall(SYS_ftruncate, node, 0), -1);
		close(node);
	}
}

/** Files have all that. */
static void
test_streams_alone(void **state)
{
	const int file = memfd_create("file", 0);
	char bytes[2] = { 'a', 'b' };
	const struct iovec iov = { bytes, 2 };

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 8), 0);
	assert_int_equal(fallocate(file, 0, 8, 8), 0);
	assert_int_equal(posix_fallocate(file, 8, 8), 0);
	assert_int_equal(lseek(file, 0, SEEK_END), 16);
	assert_int_equal(pwrite(file, bytes, 2, 4), 2);
	assert_int_equal(pwritev(file, &iov, 1, 6), 2);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(pread(file, bytes, 2, 5), 2);
	assert_memory_equal(bytes, "ba", 2);
	assert_int_equal(preadv(file, &iov, 1, 4), 2);
	assert_memory_equal(bytes, "ab", 2);
	assert_int_equal(lseek(file, 5, SEEK_SET), 5);
	assert_int_equal(readv(file, &iov, 1), 2);
	assert_memory_equal(bytes, "ba", 2);
	close(file);
}

/** Pieces are commands of their own, up to the first one that is refused. */
static void
test_writing_pieces(void **state)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id id;
	} create = { .header = { RDMA_USER_CM_CMD_CREATE_ID, sizeof(create.id),
			     sizeof(struct rdma_ucm_create_id_resp) } };
	struct rdma_ucm_create_id_resp made = { .id = UINT32_MAX };
	char byte = 0;
	const struct iovec iov[] = { { NULL, 0 }, { &create, sizeof(create) },
		{ &create, sizeof(create) }, { &byte, 1 }, { &create, sizeof(create) } };
	const int connections = open("/dev/infiniband/rdma_cm", O_RDWR);
	const int node = open(PRELOAD_RIG_NODE, O_RDWR);
	uint32_t first;

	(void)state;
	create.id = (struct rdma_ucm_create_id){
		.response = (uintptr_t)&made, .ps = 0x0106, .qp_type = IB_UVERBS_QPT_RC
	};
	assert_int_equal(writev(connections, iov, 2), sizeof(create));
	first = made.id;
	assert_int_equal(writev(connections, iov, 5), 2 * sizeof(create));
	assert_int_equal(made.id, first + 2);
	PRELOAD_RIG_REFUSED(writev(connections, iov + 3, 2), EINVAL);
	PRELOAD_RIG_REFUSED(writev(node, iov + 3, 1), EINVAL);
	close(connections);
	close(node);
}

static void
test_status_nowhere(void **state)
{
	int node = open(PRELOAD_RIG_NODE, O_RDWR);

	(void)state;
	for (size_t i = 0; i < PRELOAD_RIG_NB_NOWHERE; i++) {
		void *bad = preload_rig_nowhere(i);

		PRELOAD_RIG_REFUSED(stat(PRELOAD_RIG_NODE, bad), EFAULT);
		PRELOAD_RIG_REFUSED(lstat(PRELOAD_RIG_NODE, bad), EFAULT);
		PRELOAD_RIG_REFUSED(fstat(node, bad), EFAULT);
		PRELOAD_RIG_REFUSED(fstatat(AT_FDCWD, PRELOAD_RIG_NODE, bad, 0), EFAULT);
		PRELOAD_RIG_REFUSED(fstatat(node, "", bad, AT_EMPTY_PATH), EFAULT);
		PRELOAD_RIG_REFUSED(statx(AT_FDCWD, PRELOAD_RIG_NODE, 0, STATX_ALL, bad), EFAULT);
		PRELOAD_RIG_REFUSED(statx(node, "", AT_EMPTY_PATH, STATX_ALL, bad), EFAULT);
		PRELOAD_RIG_REFUSED(write(node, bad, 24), EFAULT);
	}
	close(node);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opening_nodes),
		cmocka_unit_test(test_flags_of_nodes),
		cmocka_unit_test(test_opening_others),
		cmocka_unit_test(test_status_by_path),
		cmocka_unit_test(test_status_by_descriptor),
		cmocka_unit_test(test_status_without_path),
		cmocka_unit_test(test_extended_status),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_other_requests),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_streams_alone),
		cmocka_unit_test(test_writing_pieces),
		cmocka_unit_test(test_status_nowhere),
	};

	return cmocka_run_group_tests(tests, preload_rig_set_up, preload_rig_tear_down);
}
