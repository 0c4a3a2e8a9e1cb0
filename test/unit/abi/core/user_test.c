/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from and to the application, by the kernel and where a sandbox forbids that; privileges.
 */
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"

#define PAGE 4096

/** A sandbox. */
static bool forbids;

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
	if (!forbids)
		return __real_process_vm_readv(pid, ours, nb_ours, theirs, nb_theirs, flags);
	errno = EPERM;
	return -1;
}

ssize_t
__wrap_process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long nb_ours,
	const struct iovec *theirs, unsigned long nb_theirs, unsigned long flags)
{
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(copies_in_a_sandbox),
		cmocka_unit_test(privileges),
	};

	/* No fixtures of a test: cmocka installs handlers of its own for each, and the guard looks
	 * for them only now and then. */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
