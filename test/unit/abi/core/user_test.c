/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from and to the application, by the kernel and where a sandbox forbids that; privileges;
 * the same of another process. */
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"

#define PAGE 4096

/** A sandbox. */
static bool forbids;
/** Copies by the kernel. */
static unsigned int nb_copies;

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags);
ssize_t __real_process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

ssize_t
__wrap_process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags)
{
	nb_copies++;
	if (!forbids)
		return __real_process_vm_readv(pid, ours, nb_ours, theirs, nb_theirs, flags);
	errno = EPERM;
	return -1;
}

ssize_t
__wrap_process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags)
{
	nb_copies++;
	if (!forbids)
		return __real_process_vm_writev(pid, ours, nb_ours, theirs, nb_theirs, flags);
	errno = ENOSYS;
	return -1;
}

long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (!forbids || number != SYS_capget)
		return __real_syscall(number, a, b, c, d, e, f);
	errno = ENOSYS;
	return -1;
}

/** A page that can be read and written, before one that cannot. */
static uint8_t *page;

static int
set_up(void **state)
{
	(void)state;
	page = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED || mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return munmap(page, 2 * PAGE);
}

static void
check_copies(void)
{
	uint8_t bytes[16] = "";

	memcpy(page, "question", 8);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page, 8), 0);
	assert_memory_equal(bytes, "question", 8);
	assert_int_equal(shca_user_copy_out((uintptr_t)page, "answer", 7), 0);
	assert_string_equal((char *)page, "answer");
	/* To the very end of what there is, and one byte further. */
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 16, 16), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 15, 16), -EFAULT);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + PAGE - 16, bytes, 16), 0);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + PAGE - 15, bytes, 16), -EFAULT);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE, 1), -EFAULT);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + PAGE, bytes, 1), -EFAULT);
	/* A length of 0 accepts any address. */
	assert_int_equal(shca_user_copy_in(bytes, 0, 0), 0);
	assert_int_equal(shca_user_copy_out(0, bytes, 0), 0);
}

static void
copies(void **state)
{
	(void)state;
	check_copies();
}

static void
copies_in_a_sandbox(void **state)
{
	(void)state;
	forbids = true;
	check_copies();
	forbids = false;
}

/** Copy from and to a variable of the caller's stack. @return the kernel's part in it. */
static unsigned int
copy_on_stack(void)
{
	volatile uint32_t there = 7;
	const uint32_t eight = 8;
	uint32_t seen = 0;

	nb_copies = 0;
	assert_int_equal(shca_user_copy_in(&seen, (uintptr_t)&there, sizeof(seen)), 0);
	assert_int_equal(seen, 7);
	assert_int_equal(shca_user_copy_out((uintptr_t)&there, &eight, sizeof(eight)), 0);
	assert_int_equal(there, 8);
	return nb_copies;
}

static void *
copy_on_own_stack(void *end)
{
	uint8_t bytes[32];

	/* The page behind the stack cannot be read. */
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)end - 16, 16), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)end - 16, 17), -EFAULT);
	assert_int_equal(shca_user_copy_in(bytes, UINT64_MAX - 7, 16), -EFAULT);
	return copy_on_stack() == 0 ? NULL : end;
}

/** Requests lie on the stack of the thread that makes them: the kernel need not be asked. */
static void
copies_on_the_stack_need_no_kernel(void **state)
{
	const size_t nb_bytes = 64 * PAGE;
	pthread_attr_t attr;
	pthread_t thread;
	uint8_t *stack;
	void *failed;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* the kernel copies everything there */
#endif
	assert_int_equal(copy_on_stack(), 0);
	stack = mmap(NULL, nb_bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(stack != MAP_FAILED);
	assert_int_equal(mprotect(stack, nb_bytes, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack, nb_bytes), 0);
	assert_int_equal(pthread_create(&thread, &attr, copy_on_own_stack, stack + nb_bytes), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	pthread_attr_destroy(&attr);
	munmap(stack, nb_bytes + PAGE);
	/* Other memory may be unmapped meanwhile. */
	nb_copies = 0;
	assert_int_equal(shca_user_copy_out((uintptr_t)page, "answer", 7), 0);
	assert_int_equal(nb_copies, 1);
}

static unsigned int nb_on_other_stack;

static void
on_other_stack(int number)
{
	(void)number;
	nb_on_other_stack = copy_on_stack();
}

/** A thread on a stack that it was not started with, as in a handler of signals. */
static void
other_stacks_are_the_kernels(void **state)
{
	static uint8_t bytes[256 * 1024];
	const stack_t alternate = { .ss_sp = bytes, .ss_size = sizeof(bytes) };
	const stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction action = { .sa_handler = on_other_stack, .sa_flags = SA_ONSTACK }, before;

	(void)state;
	assert_int_equal(sigaltstack(&alternate, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	raise(SIGUSR1);
	assert_int_equal(nb_on_other_stack, 2);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	assert_int_equal(sigaltstack(&none, NULL), 0);
}

/** Without an answer of the kernel there is no privilege. */
static void
privileges(void **state)
{
	(void)state;
	assert_false(shca_caps_has(CAP_LAST_CAP + 1));
	forbids = true;
	assert_false(shca_caps_has(CAP_NET_RAW));
	forbids = false;
}

/** Memory that the two processes have in common by address, not by content. */
static uint32_t word = 1;

/** Another process: its word is 2, it has one end of a socket pair and no privileges, and may lock
 * a page. */
static pid_t
start_other(int own_end, int other_end)
{
	const struct rlimit one_page = { PAGE, PAGE };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	close(own_end);
	word = 2;
	syscall(SYS_capset, &header, none);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "a (b)\033[2J\n");
	setrlimit(RLIMIT_MEMLOCK, &one_page);
	(void)!write(other_end, "", 1);
	for (;;)
		pause();
}

static int
no_map(struct shca_user *user, uint64_t address, uint64_t length, bool write, struct shca_pin *pin)
{
	(void)user;
	(void)pin;
	return address == 1 && length == 2 && write ? -ERESTART : -EFAULT;
}

/** Parts of a request that lie together are read together, to where memory ends, and never more
 * than once in a request. */
static void
check_other_copies(struct shca_user *user)
{
	static const uint8_t answer[4] = { 1, 2, 3, 4 };
	uint8_t bytes[SHCA_USER_AHEAD_BYTES + 1];

	user->ahead.nb_bytes = 0;
	nb_copies = 0;
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page, 24), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + 24, 64), 0);
	assert_int_equal(
		shca_user_copy_in(bytes, (uintptr_t)page + SHCA_USER_AHEAD_BYTES - 1, 1), 0);
	assert_int_equal(nb_copies, 1);
	/* What was written is read again. */
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 8, answer, sizeof(answer)), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + 6, 8), 0);
	assert_memory_equal(bytes + 2, answer, sizeof(answer));
	assert_int_equal(nb_copies, 2);
	/* The end of memory, a byte before what was read, and more than is read at once. */
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 16, 16), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 15, 15), 0);
	assert_int_equal(nb_copies, 3);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 15, 16), -EFAULT);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + PAGE - 17, 16), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page, sizeof(bytes)), 0);
	assert_int_equal(nb_copies, 6);
	/* Writing over the border of what was read. */
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + 100, 4), 0);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 98, answer, sizeof(answer)), 0);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page + 100, 2), 0);
	assert_memory_equal(bytes, answer + 2, 2);
}

/** @return the byte of the other process at an address. */
static uint8_t
byte_there(const struct shca_user *user, const uint8_t *address)
{
	uint8_t byte = 0xff;
	const struct iovec ours = { &byte, 1 };
	const struct iovec theirs = { (void *)(uintptr_t)address, 1 };

	assert_int_equal(__real_process_vm_readv(user->pid, &ours, 1, &theirs, 1, 0), 1);
	return byte;
}

static void
write_byte(const uint8_t *address, uint8_t byte)
{
	assert_int_equal(shca_user_copy_out((uintptr_t)address, &byte, 1), 0);
}

/** Answers on the other process's stack wait for its message, unless that can be seen. */
static void
check_other_deferred(struct shca_user *user)
{
	uint8_t bytes[SHCA_USER_WRITE_BYTES + 1] = { 77 };
	uint8_t byte = 0;

	user->ahead.nb_bytes = 0;
	user->deferred.start = (uintptr_t)page + 64;
	user->deferred.length = 1024;
	for (uint8_t i = 0; i < 8; i++)
		page[60 + i] = byte_there(user, page + 60 + i);
	nb_copies = 0;
	for (uint8_t i = 1; i <= SHCA_USER_WRITES_MAX; i++)
		write_byte(page + 64 + i, 100 + i);
	assert_int_equal(nb_copies, 0);
	assert_int_equal(user->deferred.nb, SHCA_USER_WRITES_MAX);
	assert_int_equal(user->deferred.nb_bytes, SHCA_USER_WRITES_MAX);
	assert_int_equal(user->deferred.write[1].address, (uintptr_t)page + 66);
	assert_int_equal(user->deferred.write[1].length, 1);
	assert_int_equal(user->deferred.bytes[1], 102);
	assert_int_equal(byte_there(user, page + 65), page[65]);
	/* One more than there is room for: in order. */
	write_byte(page + 65, 111);
	assert_int_equal(nb_copies, 2);
	assert_int_equal(user->deferred.nb, 0);
	assert_int_equal(
		byte_there(user, page + 64 + SHCA_USER_WRITES_MAX), 100 + SHCA_USER_WRITES_MAX);
	assert_int_equal(byte_there(user, page + 65), 111);
	/* What is read again is what was written. */
	write_byte(page + 70, 120);
	assert_int_equal(shca_user_copy_in(&byte, (uintptr_t)page + 70, 1), 0);
	assert_int_equal(byte, 120);
	assert_int_equal(user->deferred.nb, 0);
	write_byte(page + 70, 121);
	assert_int_equal(shca_user_copy_in(&byte, (uintptr_t)page + 70, 1), 0);
	assert_int_equal(byte, 121);
	assert_int_equal(user->deferred.nb, 1);
	assert_int_equal(shca_user_copy_in(bytes, (uintptr_t)page, SHCA_USER_WRITE_BYTES), 0);
	assert_int_equal(user->deferred.nb, 0);
	assert_int_equal(byte_there(user, page + 70), 121);
	/* Over either border, and more bytes than go along. */
	nb_copies = 0;
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 63, bytes, 2), 0);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 64 + 1023, bytes, 2), 0);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 64, bytes, sizeof(bytes)), 0);
	assert_int_equal(nb_copies, 3);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 64, bytes, sizeof(bytes) - 1), 0);
	assert_int_equal(shca_user_copy_out((uintptr_t)page + 64 + 1023, bytes, 1), 0);
	assert_int_equal(nb_copies, 5);
	assert_int_equal(user->deferred.nb, 0);
	user->deferred.nb = user->deferred.nb_bytes = 0;
	user->deferred.length = 0;
}

static void
check_other(struct shca_user *user, int other_end, ino_t inode)
{
	const uint32_t three = 3;
	char comm[SHCA_CONTEXT_COMM_BYTES];
	struct shca_pin pin;
	uint32_t seen = 0;
	int fd;

	assert_int_equal(shca_user_pid(), user->pid);
	shca_user_comm(comm);
	assert_string_equal(comm, "a (b)?[2J");
	assert_int_equal(shca_user_copy_in(&seen, (uintptr_t)&word, sizeof(seen)), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(shca_user_copy_out((uintptr_t)&word, &three, sizeof(three)), 0);
	assert_int_equal(shca_user_copy_in(&seen, (uintptr_t)&word, sizeof(seen)), 0);
	assert_int_equal(seen, 3);
	assert_int_equal(word, 1);
	check_other_copies(user);
	check_other_deferred(user);
	assert_int_equal(shca_user_copy_in(&seen, 8, sizeof(seen)), -EFAULT);
	assert_false(shca_caps_has(CAP_NET_RAW));
	assert_int_equal(shca_user_memlock(), PAGE);
	assert_int_equal(shca_user_pin(1, 2, true, &pin), -ERESTART);
	assert_int_equal(shca_user_pin(1, 2, false, &pin), -EFAULT);
	assert_true(shca_user_socket(other_end) == inode);
	assert_true(shca_user_socket(0x100000000) == 0);
	fd = shca_user_borrow_socket(inode, -1);
	assert_true(fd >= 0);
	close(fd);
	fd = shca_user_borrow_socket(inode, other_end);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(shca_user_borrow_socket(inode + 1000000, -1), -1);
	for (unsigned int i = 0; i < SHCA_USER_FDS_MAX; i++)
		assert_int_equal(shca_user_give_fd((int)i, 0x10 * i, 4), 0);
	assert_int_equal(shca_user_give_fd(9, 0, 4), -EMFILE);
	assert_int_equal(user->fds[1].address, 0x10);
}

static void
another_process(void **state)
{
	struct shca_user user = { .map = no_map };
	struct stat status;
	char byte;
	int ends[2], copy;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fstat(ends[1], &status), 0);
	user.pid = start_other(ends[0], ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	user.pidfd = (int)syscall(SYS_pidfd_open, user.pid, 0);
	close(ends[1]);
	assert_int_equal(shca_user_pid(), getpid());
	assert_int_equal(shca_user_copy_pidfd(&copy), 0);
	assert_int_equal(copy, -1);
	setenv("SHCA_TEST_NUMBER", "128", 1); /* later than the other process */
	assert_true(shca_user_has_number("SHCA_TEST_NUMBER", 128));
	assert_false(shca_user_has_number("SHCA_TEST_NUMBER", 64));
	assert_false(shca_user_has_number("SHCA_TEST", 128));
	shca_user_current = &user;
	assert_false(shca_user_has_number("SHCA_TEST_NUMBER", 128));
	assert_int_equal(shca_user_copy_pidfd(&copy), 0);
	assert_true(copy >= 0 && copy != user.pidfd);
	close(copy);
	check_other(&user, ends[1], status.st_ino);
	shca_user_current = NULL;
	kill(user.pid, SIGKILL);
	assert_int_equal(waitpid(user.pid, NULL, 0), user.pid);
	close(user.pidfd);
	close(ends[0]);
}

/** @return a process that waits, in a user namespace with these flags of unshare(2) if any, or -1.
 */
static pid_t
start_in_namespace(int flags)
{
	int ends[2];
	pid_t pid;
	char is_in = 0;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		is_in = unshare(flags) == 0;
		(void)!write(ends[1], &is_in, 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &is_in, 1), 1);
	close(ends[0]);
	close(ends[1]);
	if (is_in)
		return pid;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return -1;
}

static bool
has_net_raw(pid_t pid)
{
	struct shca_user user = { .pid = pid };
	bool has;

	shca_user_current = &user;
	has = shca_caps_has(CAP_NET_RAW);
	shca_user_current = NULL;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return has;
}

/** Who makes a user namespace has all capabilities there, and none outside. */
static void
another_namespace(void **state)
{
	const bool has = shca_caps_has(CAP_NET_RAW);
	const pid_t pid = start_in_namespace(CLONE_NEWUSER);

	(void)state;
	assert_int_equal(has_net_raw(start_in_namespace(0)), has);
	assert_int_equal(shca_caps_has_of_net(CAP_NET_RAW), has);
	if (pid < 0)
		skip();
	assert_false(has_net_raw(pid));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* Before privileges are given up. */
		cmocka_unit_test(another_namespace),
		cmocka_unit_test(copies),
		cmocka_unit_test(copies_in_a_sandbox),
		cmocka_unit_test(copies_on_the_stack_need_no_kernel),
		cmocka_unit_test(other_stacks_are_the_kernels),
		cmocka_unit_test(privileges),
		cmocka_unit_test(another_process),
	};

	/* No fixtures of a test: cmocka installs handlers of its own for each, and the guard looks
	 * for them only now and then. */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
