/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's memory, mapped here: what is a file's, what must be shared first, what is refused.
 * The program is this process, whose addresses another one could have. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/core/mmap.h"
#include "keeper/cuts.h"
#include "keeper/memory.h"

#define PAGE  4096
#define BYTES (4 * PAGE)
#define BLOCK (16 * PAGE)
/** Pieces of the heap begin at multiples of it (doc/design/card.md). */
#define HEAP_PIECE (2u << 20)

static struct shca_memory memory;
static int pidfd;

static int
set_up(void **state)
{
	(void)state;
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	shca_memory_init(&memory, getpid(), pidfd);
	return pidfd >= 0 ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	shca_memory_fini(&memory);
	close(pidfd);
	return 0;
}

static int
map(const void *address, uint64_t length, bool write, struct shca_pin *pin,
	struct shca_memory_range *range)
{
	*pin = (struct shca_pin){ 0 };
	*range = (struct shca_memory_range){ 0 };
	return shca_memory_map(&memory, (uintptr_t)address, length, write, pin, range);
}

static int
make_file(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	return fd;
}

static uint8_t *
map_own(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	uint8_t *bytes = mmap(at, length, prot, flags, fd, offset);

	assert_true(bytes != MAP_FAILED);
	return bytes;
}

/** Stores of each side are the other's; the mapping outlives the program's own. */
static void
memory_of_a_file(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	int fd = make_file();
	uint8_t *bytes = map_own(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)state;
	assert_int_equal(map(bytes + 100, PAGE, true, &pin, &range), 0);
	assert_ptr_not_equal(pin.start, bytes + 100);
	assert_int_equal((uintptr_t)pin.start % PAGE, 100);
	bytes[100 + PAGE - 1] = 7;
	assert_int_equal(pin.start[PAGE - 1], 7);
	pin.start[0] = 8;
	assert_int_equal(bytes[100], 8);
	munmap(bytes, BYTES);
	assert_int_equal(pin.start[0], 8);
	shca_user_unpin(&pin);
	assert_null(pin.map);
	close(fd);
}

/** As of a user's keeper, which finds files by descriptors: the first one can be read only, the
 * second one names the file. @return whether the region can be written */
static bool
maps_what_is_open_thrice(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct shca_memory_range range;
	struct shca_pin pin;
	uint8_t *bytes;
	char path[32];
	int fd = make_file(), last;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (open(path, O_RDONLY) < fd || open(path, O_PATH) < fd)
		return false;
	last = dup(fd);
	bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, last, 0);
	close(fd);
	if (last < fd || bytes == MAP_FAILED || syscall(SYS_capset, &header, none) != 0)
		return false;
	if (set_up(NULL) != 0 || map(bytes, BYTES, true, &pin, &range) != 0)
		return false;
	pin.start[0] = 8;
	return bytes[0] == 8;
}

static void
a_file_that_is_open_thrice(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(maps_what_is_open_thrice() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/** Pieces of two files, one behind the other, are one region. */
static void
memory_of_two_files(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	int first = make_file(), second = make_file();
	uint8_t *bytes = map_own(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	map_own(bytes, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, first, PAGE);
	map_own(bytes + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, second,
		2 * PAGE);
	memset(bytes, 1, PAGE);
	memset(bytes + PAGE, 2, PAGE);
	assert_int_equal(map(bytes, 2 * PAGE, true, &pin, &range), 0);
	assert_int_equal(pin.start[PAGE - 1], 1);
	assert_int_equal(pin.start[PAGE], 2);
	shca_user_unpin(&pin);
	munmap(bytes, 2 * PAGE);
	close(first);
	close(second);
}

/** The range is no more than the mapping, and has its protection. */
static void
private_memory_is_to_be_shared(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	uint8_t *all = map_own(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *bytes = all + PAGE;

	(void)state;
	assert_int_equal(mprotect(bytes, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(map(bytes + PAGE, 8, true, &pin, &range), -ERESTART);
	assert_true(range.start >= (uintptr_t)bytes && range.start <= (uintptr_t)bytes + PAGE);
	assert_int_equal(range.start + range.length, (uintptr_t)bytes + 2 * PAGE);
	assert_int_equal(range.prot, PROT_READ | PROT_WRITE);
	assert_null(pin.map);
	munmap(all, BYTES);
}

static void
is_to_be_shared(const uint8_t *bytes, struct shca_memory_range *range)
{
	struct shca_pin pin;

	assert_int_equal(map(bytes, 8, true, &pin, range), -ERESTART);
	assert_true(range->start <= (uintptr_t)bytes);
	assert_true(range->start + range->length >= (uintptr_t)bytes + 8);
}

/** Of the heap it is a large piece, although libibverbs marks pages of it (ibv_fork_init). */
static void
the_heap_is_shared_in_large_pieces(void **state)
{
	struct shca_memory_range range;
	uint8_t *other, *bytes, *page;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	print_message("AddressSanitizer has no heap\n");
	skip();
#endif
	other = malloc(16 * PAGE);
	bytes = malloc(16 * PAGE);
	/* Where a piece ends is chance: one of the two is in one piece. */
	if ((uintptr_t)bytes / HEAP_PIECE != ((uintptr_t)bytes + 16 * PAGE - 1) / HEAP_PIECE) {
		page = other;
		other = bytes;
		bytes = page;
	}
	page = bytes + PAGE - (uintptr_t)bytes % PAGE;
	assert_int_equal(madvise(page + PAGE, PAGE, MADV_DONTFORK), 0);
	is_to_be_shared(page + PAGE, &range);
	assert_true(range.start <= (uintptr_t)bytes);
	assert_true(range.start + range.length >= (uintptr_t)bytes + 16 * PAGE);
	assert_int_equal(madvise(page + PAGE, PAGE, MADV_DOFORK), 0);
	free(bytes);
	free(other);
}

static void
check_shared(const uint8_t *wanted, const uint8_t *from, const uint8_t *to)
{
	struct shca_memory_range range;

	is_to_be_shared(wanted, &range);
	assert_int_equal(range.start, (uintptr_t)from);
	assert_int_equal(range.start + range.length, (uintptr_t)to);
}

/** The ends of a mapping, where the C library has what is its own, stay unless they are wanted. */
static void
the_ends_of_a_mapping_stay(void **state)
{
	const int shared = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
	uint8_t *all = map_own(NULL, 2 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *bytes = all + BLOCK - (uintptr_t)all % BLOCK + PAGE, *end = bytes + 5 * PAGE;

	(void)state;
	assert_int_equal(mprotect(bytes, 5 * PAGE, PROT_READ | PROT_WRITE), 0);
	check_shared(bytes + 2 * PAGE, bytes + PAGE, end - PAGE);
	check_shared(bytes + PAGE - 8, bytes, end - PAGE);
	check_shared(end - PAGE, bytes + PAGE, end);
	/* What has moved next to them may have been another mapping's. */
	map_own(bytes, PAGE, PROT_READ | PROT_WRITE, shared, -1, 0);
	check_shared(bytes + 2 * PAGE, bytes + 2 * PAGE, end - PAGE);
	map_own(end - PAGE, PAGE, PROT_READ | PROT_WRITE, shared, -1, 0);
	check_shared(bytes + 3 * PAGE, bytes + 2 * PAGE, end - PAGE);
	munmap(all, 2 * BLOCK);
}

/** AddressSanitizer of GCC 14 and later has locals elsewhere by default. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "detect_stack_use_after_return=0";
}

/** Mappings that touch are not one, as a thread's stack and an arena: the ends of both stay. */
static void
mappings_that_touch(void **state)
{
	struct shca_memory_range range;
	uint8_t *all = map_own(NULL, 4 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *block = (uint8_t *)(((uintptr_t)all + BLOCK - 1) / BLOCK * BLOCK);
	uint8_t *second = block + BLOCK / 2;

	(void)state;
	/* One cannot grow into the other: they have flags of their own. */
	map_own(block, BLOCK / 2, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	map_own(second, BLOCK / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		-1, 0);
	assert_int_equal(madvise(second, BLOCK / 2, MADV_DONTDUMP), 0);
	is_to_be_shared(second + 2 * PAGE, &range);
	assert_true(range.start >= (uintptr_t)second + PAGE);
	is_to_be_shared(block + 2 * PAGE, &range);
	assert_true(range.start + range.length <= (uintptr_t)second - PAGE);
	munmap(all, 4 * BLOCK);
}

/** Of the stack it is nothing but the pages: below them it has to grow. */
static void
the_stack_is_shared_by_pages(void **state)
{
	struct shca_memory_range range;
	uint8_t bytes[BYTES] = { 0 };

	(void)state;
	is_to_be_shared(bytes, &range);
	assert_true(range.length <= 2 * PAGE);
}

/** A file that the program hands over is the one that is mapped, even if it has closed it. */
static void
memory_that_was_shared(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	int fd = make_file();
	uint8_t *bytes = map_own(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int ends[2];

	(void)state;
	assert_int_equal(shca_memory_add(&memory, fd, BYTES), 0);
	bytes[5] = 5;
	assert_int_equal(map(bytes, BYTES, true, &pin, &range), 0);
	assert_int_equal(pin.start[5], 5);
	shca_user_unpin(&pin);
	munmap(bytes, BYTES);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(shca_memory_add(&memory, ends[0], 0), -EBADF);
	close(ends[1]);
}

static void
refused(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	int fd = make_file(), node;
	uint8_t *bytes = map_own(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	uint8_t *pages;

	(void)state;
	assert_int_equal(map((void *)8, 8, false, &pin, &range), -EFAULT);
	assert_int_equal(map((void *)UINTPTR_MAX, 8, false, &pin, &range), -EFAULT);
	assert_int_equal(map(bytes, BYTES, true, &pin, &range), -EFAULT);
	assert_int_equal(map(bytes, BYTES, false, &pin, &range), 0);
	shca_user_unpin(&pin);
	munmap(bytes + PAGE, PAGE);
	assert_int_equal(map(bytes, BYTES, false, &pin, &range), -EFAULT);
	assert_null(pin.map);
	munmap(bytes, BYTES);
	close(fd);
	node = shca_mmap_open(0, true);
	assert_true(node >= 0);
	pages = map_own(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, node, 0);
	assert_int_equal(map(pages, PAGE, false, &pin, &range), -EFAULT);
	munmap(pages, PAGE);
	close(node);
}

/** Whoever cuts its file short ends nobody but itself. */
static void
a_file_that_is_cut_short(void **state)
{
	struct shca_memory_range range;
	struct shca_pin pin;
	int fd = make_file(), status;
	uint8_t *bytes = map_own(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t pid;

	(void)state;
	memset(bytes, 9, BYTES);
	assert_int_equal(map(bytes, BYTES, true, &pin, &range), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		shca_cuts_survive();
		if (ftruncate(fd, PAGE) != 0)
			_exit(1);
		pin.start[2 * PAGE] = 3;
		_exit(pin.start[0] == 9 && pin.start[2 * PAGE] == 3 && pin.start[PAGE] == 0 ? 0
											    : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	shca_user_unpin(&pin);
	munmap(bytes, BYTES);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_of_a_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_open_thrice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_of_two_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(private_memory_is_to_be_shared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_heap_is_shared_in_large_pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_ends_of_a_mapping_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(mappings_that_touch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_stack_is_shared_by_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_that_was_shared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_cut_short, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
