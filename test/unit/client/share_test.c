/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a program that moves to a file, while the program has functions of its own in place of
 * the C library's, as libraries have that watch memory come and go. */
#include "client/share.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE  4096
#define BYTES (4 * PAGE)

/** UCX 1.13's knows no fifth argument (src/ucm/mmap): memory that goes to an address goes to 0. */
void *
mremap(void *from, size_t bytes, size_t wanted, int flags, ...)
{
	return (void *)syscall(SYS_mremap, from, bytes, wanted, flags, NULL);
}

/** Nothing of this program needs it. */
int
mprotect(void *start, size_t bytes, int prot)
{
	(void)start;
	(void)bytes;
	(void)prot;
	errno = ENOSYS;
	return -1;
}

struct keeper {
	unsigned int nb_stops, nb_shares;
	int fd;          /* a copy of the file's */
	uintptr_t there; /* on the stack that memory moves by */
};

static int
say(void *arg, enum shca_message_type type, int fd, const struct shca_share *share)
{
	struct keeper *keeper = arg;

	keeper->there = (uintptr_t)&keeper;
	if (type == SHCA_MESSAGE_STOP) {
		keeper->nb_stops++;
		return ftruncate(fd, (off_t)(share->offset + share->length)) == 0 ? 0 : -errno;
	}
	keeper->nb_shares++;
	keeper->fd = fd >= 0 ? dup(fd) : -1;
	return 0;
}

/** Move memory with content to a file. */
static uint8_t *
move(struct keeper *keeper)
{
	uint8_t *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct shca_share share = {
		.start = (uintptr_t)memory,
		.length = BYTES,
		.prot = PROT_READ | PROT_WRITE,
		.fd = -1,
	};

	assert_true(memory != MAP_FAILED);
	memset(memory + PAGE, 'a', PAGE);
	assert_int_equal(shca_share(&share, say, keeper), 0);
	assert_int_equal(keeper->nb_stops, 1);
	assert_int_equal(keeper->nb_shares, 1);
	assert_true(keeper->fd >= 0);
	return memory;
}

/** @return what the file has at an offset. */
static uint8_t
byte_at(const struct keeper *keeper, off_t offset)
{
	uint8_t byte = 0;

	assert_int_equal(pread(keeper->fd, &byte, 1, offset), 1);
	return byte;
}

static void
test_memory_is_the_file_s(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);

	(void)state;
	assert_int_equal(memory[PAGE], 'a');
	assert_int_equal(byte_at(&keeper, PAGE), 'a');
	assert_int_equal(byte_at(&keeper, 0), 0);
	memory[7] = 'b';
	assert_int_equal(byte_at(&keeper, 7), 'b');
	close(keeper.fd);
	munmap(memory, BYTES);
}

/** AddressSanitizer of GCC 14 and later has locals elsewhere by default. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "detect_stack_use_after_return=0";
}

/** The keeper moves blocks of what lies side by side and is alike: never the stack. */
static void
test_the_stack_stays(void **state)
{
	struct keeper keeper = { .fd = -1 };
	uintptr_t from, to, end = 0;
	char perms[5], before[5] = "", line[512];
	bool is_found = false;
	FILE *maps;

	(void)state;
	move(&keeper);
	maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		assert_int_equal(sscanf(line, "%lx-%lx %4s", &from, &to, perms), 3);
		if (is_found) {
			assert_int_equal(from, end);
			assert_string_equal(perms, "---p");
			break;
		}
		is_found = from <= keeper.there && keeper.there < to;
		if (is_found) {
			assert_int_equal(from, end);
			assert_string_equal(before, "---p");
		}
		memcpy(before, perms, sizeof(before));
		end = to;
	}
	assert_true(is_found);
	fclose(maps);
	close(keeper.fd);
}

static void
test_a_child_has_its_own(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);
	int status;
	pid_t pid;

	(void)state;
	pid = shca_share_fork(fork, NULL, NULL);
	if (pid == 0) {
		memory[7] = 'c';
		_exit(memory[PAGE] == 'a' ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(memory[7], 0);
	assert_int_equal(byte_at(&keeper, 7), 0);
	close(keeper.fd);
	munmap(memory, BYTES);
}

static bool
is_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/** The program sees zeros, as of all its private memory; who has the file keeps what was there. */
static void
test_what_is_not_needed_is_zero(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);

	(void)state;
	memory[0] = memory[3 * PAGE] = 'd';
	assert_int_equal(shca_share_advise(madvise, memory + PAGE, 2 * PAGE - 7, MADV_DONTNEED), 0);
	assert_true(is_zero(memory + PAGE, 2 * PAGE));
	assert_int_equal(memory[0], 'd');
	assert_int_equal(memory[3 * PAGE], 'd');
	assert_int_equal(byte_at(&keeper, PAGE), 'a');
	memory[PAGE] = 'e';
	assert_int_equal(byte_at(&keeper, PAGE), 'a');
	/* What is beside it is as it was. */
	memory[0] = 'f';
	assert_int_equal(byte_at(&keeper, 0), 'f');
	close(keeper.fd);
	munmap(memory, BYTES);
}

/** It reads as it was or as zero, and no longer fails, which it does on shared memory. */
static void
test_what_may_be_freed(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);

	(void)state;
	assert_int_equal(shca_share_advise(madvise, memory, BYTES, MADV_FREE), 0);
	assert_true(memory[PAGE] == 'a' || memory[PAGE] == 0);
	memory[PAGE] = 'g';
	assert_int_equal(memory[PAGE], 'g');
	close(keeper.fd);
	munmap(memory, BYTES);
}

/** The kernel's errors are the program's: then nothing happens but where it does something. */
static void
test_advice_that_is_wrong(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);

	(void)state;
	assert_int_equal(shca_share_advise(madvise, memory + 8, PAGE, MADV_DONTNEED), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(shca_share_advise(madvise, memory, SIZE_MAX - 7, MADV_DONTNEED), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(memory[PAGE], 'a');
	assert_int_equal(shca_share_advise(madvise, memory, 0, MADV_DONTNEED), 0);
	assert_int_equal(memory[PAGE], 'a');
	assert_int_equal(munmap(memory, PAGE), 0);
	assert_int_equal(shca_share_advise(madvise, memory, BYTES, MADV_DONTNEED), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(memory[PAGE], 0);
	close(keeper.fd);
	munmap(memory + PAGE, BYTES - PAGE);
}

/** Pages that cannot be read stay so, in both processes, and keep what they have. */
static void
test_what_may_not_be_read(void **state)
{
	struct keeper keeper = { 0 };
	uint8_t *memory = move(&keeper);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(syscall(SYS_mprotect, memory, BYTES, PROT_NONE), 0);
	pid = shca_share_fork(fork, NULL, NULL);
	if (pid == 0) {
		if (syscall(SYS_write, keeper.fd, memory + PAGE, 1) != -1 || errno != EFAULT ||
			syscall(SYS_mprotect, memory, BYTES, PROT_READ) != 0)
			_exit(2);
		_exit(memory[PAGE] == 'a' ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(keeper.fd);
	munmap(memory, BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_the_file_s),
		cmocka_unit_test(test_the_stack_stays),
		cmocka_unit_test(test_a_child_has_its_own),
		cmocka_unit_test(test_what_is_not_needed_is_zero),
		cmocka_unit_test(test_what_may_be_freed),
		cmocka_unit_test(test_advice_that_is_wrong),
		cmocka_unit_test(test_what_may_not_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
