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
	pid = shca_share_fork(fork);
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
	pid = shca_share_fork(fork);
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
		cmocka_unit_test(test_what_may_not_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
