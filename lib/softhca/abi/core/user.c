/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the application's buffers and ours that survive bad addresses; other processes'
 * descriptors and limits, as /proc and the calls for debuggers tell them. */
#include "abi/core/user.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stack.h"

__thread __attribute__((tls_model("initial-exec"))) struct shca_user *shca_user_current;

/** See shca_user_take_given(). */
static __thread __attribute__((tls_model("initial-exec"))) struct {
	unsigned int nb;
	int fd[SHCA_USER_FDS_MAX];
} given;

bool
shca_user_has_come_before(void)
{
	return shca_user_current != NULL && shca_user_current->has_come_before;
}

pid_t
shca_user_pid(void)
{
	return shca_user_current != NULL ? shca_user_current->pid : getpid();
}

void
shca_user_comm(char comm[static SHCA_CONTEXT_COMM_BYTES])
{
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)shca_user_pid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd >= 0 ? read(fd, comm, SHCA_CONTEXT_COMM_BYTES - 1) : -1;
	if (fd >= 0)
		close(fd);
	comm[length > 0 ? length : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	for (char *at = comm; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
}

int
shca_user_copy_pidfd(int *pidfd)
{
	*pidfd = -1;
	if (shca_user_current == NULL)
		return 0;
	*pidfd = fcntl(shca_user_current->pidfd, F_DUPFD_CLOEXEC, 3);
	return *pidfd >= 0 ? 0 : -errno;
}

bool
shca_user_has_number(const char *variable, int number)
{
	const size_t length = strlen(variable);
	const char *value = shca_user_current == NULL ? getenv(variable) : NULL;
	FILE *environment = NULL;
	char path[32], *line = NULL;
	size_t size = 0;
	bool has;

	if (shca_user_current != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/environ", (int)shca_user_pid());
		environment = fopen(path, "re");
	}
	while (environment != NULL && value == NULL &&
		getdelim(&line, &size, '\0', environment) > 0)
		if (strncmp(line, variable, length) == 0 && line[length] == '=')
			value = line + length + 1;
	has = value != NULL && atoi(value) == number;
	free(line);
	if (environment != NULL)
		fclose(environment);
	return has;
}

uint64_t
shca_user_memlock(void)
{
	struct rlimit most;

	if (prlimit(shca_user_pid(), RLIMIT_MEMLOCK, NULL, &most) != 0 ||
		most.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return most.rlim_cur;
}

struct copy {
	void *to;
	const void *from;
	size_t length;
};

static void
run_copy(void *arg)
{
	const struct copy *copy = arg;

	memcpy(copy->to, copy->from, copy->length);
}

/** For sandboxes that forbid the system calls below: catch the fault, unless the application has a
 * handler of its own. */
static int
guarded_copy(void *to, const void *from, size_t length)
{
	struct copy copy = { .to = to, .from = from, .length = length };

	if (shca_user_current != NULL)
		return -EFAULT;
	return shca_mem_guard_run(run_copy, &copy) ? 0 : -EFAULT;
}

/**
 * @return whether the memory is that of callers of this function, on the stack of this process's
 * thread: it is mapped, and nobody can unmap it meanwhile. libibverbs has requests there, and a
 * copy by the kernel costs what the whole request does.
 */
static __attribute__((noinline)) bool
is_callers(uint64_t address, size_t length)
{
	const void *frame = __builtin_frame_address(0);
	const uint64_t here = (uintptr_t)frame;
	size_t nb_bytes;

	if (shca_user_current != NULL)
		return false;
	nb_bytes = shca_stack_callers(frame);
	return address >= here && address - here < nb_bytes &&
		length <= nb_bytes - (address - here);
}

/** @return whether the memory is among what was read last. */
static bool
is_ahead(const struct shca_user *user, uint64_t address, size_t length)
{
	return address >= user->ahead.address &&
		address - user->ahead.address <= user->ahead.nb_bytes &&
		length <= user->ahead.nb_bytes - (address - user->ahead.address);
}

/** Write what answers have been deferred until now, in their order. @return 0 or -EFAULT */
static int
write_deferred(struct shca_user *user)
{
	const struct iovec ours = { user->deferred.bytes, user->deferred.nb_bytes };
	struct iovec theirs[SHCA_USER_WRITES_MAX];
	const unsigned int nb = user->deferred.nb;
	ssize_t ret;

	if (nb == 0)
		return 0;
	for (unsigned int i = 0; i < nb; i++)
		theirs[i] = (struct iovec){ (void *)(uintptr_t)user->deferred.write[i].address,
			user->deferred.write[i].length };
	user->deferred.nb = 0;
	user->deferred.nb_bytes = 0;
	ret = process_vm_writev(user->pid, &ours, 1, theirs, nb, 0);
	return ret == (ssize_t)ours.iov_len ? 0 : -EFAULT;
}

/** @return whether the bytes go along with the request's answer: there is room, and the process has
 * that memory until then. */
static bool
defer(struct shca_user *user, uint64_t to, const void *from, size_t length)
{
	const uint64_t at = to - user->deferred.start;

	if (to < user->deferred.start || at > user->deferred.length ||
		length > user->deferred.length - at)
		return false;
	if (user->deferred.nb == SHCA_USER_WRITES_MAX ||
		length > sizeof(user->deferred.bytes) - user->deferred.nb_bytes)
		return false;
	user->deferred.write[user->deferred.nb++] =
		(struct shca_user_write){ .address = to, .length = (uint32_t)length };
	memcpy(user->deferred.bytes + user->deferred.nb_bytes, from, length);
	user->deferred.nb_bytes += (uint32_t)length;
	return true;
}

/** Copy from another process, and read what follows with it. The kernel ends where nothing is
 * mapped. @return as read(2) */
static ssize_t
read_ahead(struct shca_user *user, void *to, uint64_t from, size_t length)
{
	const struct iovec ours = { user->ahead.bytes, sizeof(user->ahead.bytes) };
	const struct iovec theirs = { (void *)(uintptr_t)from, sizeof(user->ahead.bytes) };
	ssize_t ret;

	if (!is_ahead(user, from, length)) {
		user->ahead.nb_bytes = 0;
		if (write_deferred(user) != 0)
			return -1;
		ret = process_vm_readv(user->pid, &ours, 1, &theirs, 1, 0);
		if (ret < (ssize_t)length)
			return ret;
		user->ahead.address = from;
		user->ahead.nb_bytes = (size_t)ret;
	}
	memcpy(to, user->ahead.bytes + (from - user->ahead.address), length);
	return (ssize_t)length;
}

/** Have what was written in what was read, too. */
static void
write_ahead(struct shca_user *user, uint64_t to, const uint8_t *from, size_t length)
{
	if (is_ahead(user, to, length))
		memcpy(user->ahead.bytes + (to - user->ahead.address), from, length);
	else
		user->ahead.nb_bytes = 0;
}

/**
 * Let the kernel copy, which reports bad addresses: independent of signal handlers, and safe when
 * another thread unmaps the memory meanwhile.
 */
int
shca_user_copy_in(void *to, uint64_t from, size_t length)
{
	const struct iovec ours = { .iov_base = to, .iov_len = length };
	const struct iovec theirs = { .iov_base = (void *)(uintptr_t)from, .iov_len = length };
	struct shca_user *user = shca_user_current;
	ssize_t ret;

	if (length == 0)
		return 0;
	if (is_callers(from, length)) {
		memcpy(to, theirs.iov_base, length);
		return 0;
	}
	if (user != NULL && length <= sizeof(user->ahead.bytes))
		ret = read_ahead(user, to, from, length);
	else if (user != NULL && write_deferred(user) != 0)
		return -EFAULT;
	else
		ret = process_vm_readv(shca_user_pid(), &ours, 1, &theirs, 1, 0);
	if (ret >= 0 || errno == EFAULT)
		return ret == (ssize_t)length ? 0 : -EFAULT;
	return guarded_copy(to, theirs.iov_base, length);
}

int
shca_user_look(uint64_t address)
{
	uint8_t byte;
	const struct iovec ours = { .iov_base = &byte, .iov_len = 1 };
	const struct iovec theirs = { .iov_base = (void *)(uintptr_t)address, .iov_len = 1 };

	return process_vm_readv(shca_user_pid(), &ours, 1, &theirs, 1, 0) == 1 ? 0 : -errno;
}

int
shca_user_copy_out(uint64_t to, const void *from, size_t length)
{
	struct iovec ours = { .iov_len = length };
	const struct iovec theirs = { .iov_base = (void *)(uintptr_t)to, .iov_len = length };
	struct shca_user *user = shca_user_current;
	ssize_t ret;

	if (length == 0)
		return 0;
	if (is_callers(to, length)) {
		memcpy(theirs.iov_base, from, length);
		return 0;
	}
	if (user != NULL) {
		write_ahead(user, to, from, length);
		if (defer(user, to, from, length))
			return 0;
		if (write_deferred(user) != 0)
			return -EFAULT;
	}
	memcpy(&ours.iov_base, &from, sizeof(from)); /* iovec has no const form */
	ret = process_vm_writev(shca_user_pid(), &ours, 1, &theirs, 1, 0);
	if (ret >= 0 || errno == EFAULT)
		return ret == (ssize_t)length ? 0 : -EFAULT;
	return guarded_copy(theirs.iov_base, from, length);
}

int
shca_user_pin(uint64_t address, uint64_t length, bool write, struct shca_pin *pin)
{
	*pin = (struct shca_pin){ .start = (uint8_t *)(uintptr_t)address };
	if (shca_user_current == NULL)
		return 0;
	return shca_user_current->map(shca_user_current, address, length, write, pin);
}

void
shca_user_unpin(struct shca_pin *pin)
{
	if (pin->map != NULL)
		munmap(pin->map, pin->map_bytes);
	*pin = (struct shca_pin){ 0 };
}

int
shca_user_give_fd(int fd, uint64_t address, uint32_t bytes)
{
	struct shca_user *user = shca_user_current;
	const int64_t number = fd;

	if (user == NULL) {
		if (given.nb < SHCA_USER_FDS_MAX)
			given.fd[given.nb++] = fd;
		return shca_user_copy_out(address, &number, bytes);
	}
	if (user->nb_fds == SHCA_USER_FDS_MAX)
		return -EMFILE;
	user->fds[user->nb_fds++] =
		(struct shca_user_fd){ .fd = fd, .bytes = bytes, .address = address };
	return 0;
}

unsigned int
shca_user_take_given(int fds[static SHCA_USER_FDS_MAX])
{
	const unsigned int nb = given.nb;

	memcpy(fds, given.fd, nb * sizeof(fds[0]));
	given.nb = 0;
	return nb;
}

/** @return the inode of a socket, or 0: the name is none's. */
static ino_t
socket_at(const char *path)
{
	struct stat status;

	return fstatat(AT_FDCWD, path, &status, 0) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino
										    : 0;
}

ino_t
shca_user_socket(int64_t fd)
{
	char path[64];

	if (fd < 0 || fd > INT32_MAX)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRId64, (int)shca_user_pid(), fd);
	return socket_at(path);
}

int
shca_user_find_inode(int32_t fd, struct shca_user_inode *inode)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRId32, (int)shca_user_pid(), fd);
	if (fd < 0 || fstatat(AT_FDCWD, path, &status, 0) != 0)
		return -EBADF;
	*inode = (struct shca_user_inode){ .device = status.st_dev, .number = status.st_ino };
	return 0;
}

/** Copy a descriptor of the process. Without a process to look into it is this one's, which the
 * preloaded fcntl() would enter into its table, whose lock may be held. */
static int
copy_fd(int fd)
{
	if (shca_user_current == NULL)
		return (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	return (int)syscall(SYS_pidfd_getfd, shca_user_current->pidfd, fd, 0);
}

int
shca_user_find_socket(ino_t inode, int likely)
{
	const struct dirent *entry;
	char path[64];
	DIR *dir;
	int fd = -1;

	if (shca_user_socket(likely) == inode)
		return likely;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)shca_user_pid());
	dir = opendir(path);
	while (dir != NULL && fd < 0 && (entry = readdir(dir)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
			shca_user_socket(atoi(entry->d_name)) == inode)
			fd = atoi(entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return fd;
}

int
shca_user_borrow_socket(ino_t inode, int likely)
{
	const int fd = shca_user_find_socket(inode, likely);

	return fd < 0 ? -1 : copy_fd(fd);
}

int
shca_user_read(const struct shca_user_buffer *buffer, size_t offset, void *to, size_t length)
{
	size_t nb_held = offset < buffer->length ? buffer->length - offset : 0;

	if (nb_held > length)
		nb_held = length;
	memset((uint8_t *)to + nb_held, 0, length - nb_held);
	if (nb_held == 0)
		return 0;
	if (buffer->is_inline) {
		memcpy(to, buffer->inline_bytes + offset, nb_held);
		return 0;
	}
	return shca_user_copy_in(to, buffer->address + offset, nb_held);
}

int
shca_user_check_clear(const struct shca_user_buffer *buffer, size_t offset)
{
	uint8_t bytes[256];

	for (; offset < buffer->length; offset += sizeof(bytes)) {
		int ret = shca_user_read(buffer, offset, bytes, sizeof(bytes));

		if (ret != 0)
			return ret;
		for (size_t i = 0; i < sizeof(bytes); i++)
			if (bytes[i] != 0)
				return -EOPNOTSUPP;
	}
	return 0;
}

int
shca_user_read_known(const struct shca_user_buffer *buffer, void *to, size_t length)
{
	int ret = shca_user_read(buffer, 0, to, length);

	return ret == 0 ? shca_user_check_clear(buffer, length) : ret;
}

int
shca_user_write(const struct shca_user_buffer *buffer, const void *from, size_t length)
{
	static const uint8_t zeros[256];
	size_t offset = length < buffer->length ? length : buffer->length;
	int ret = shca_user_copy_out(buffer->address, from, offset);

	while (ret == 0 && offset < buffer->length) {
		size_t step = buffer->length - offset;

		if (step > sizeof(zeros))
			step = sizeof(zeros);
		ret = shca_user_copy_out(buffer->address + offset, zeros, step);
		offset += step;
	}
	return ret;
}
