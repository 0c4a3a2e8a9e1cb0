/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: bounds, keys, access; the map's answer; and real faults under the guard. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "base/mem.h"

#define PAGE   4096ul
#define PAGES  4ul
#define PDN    3
#define WRITE  IB_UVERBS_ACCESS_LOCAL_WRITE
#define IOVA   0x10000000ull
#define LENGTH 5000ull

static uint8_t *
map(int protection)
{
	uint8_t *memory = mmap(NULL, PAGES * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static void
look_up(void **state)
{
	static const struct {
		uint64_t iova, length;
		uint32_t pdn, lkey_change;
		bool write, is_found;
	} cases[] = {
		{ IOVA, 1, PDN, 0, false, true },
		{ IOVA, LENGTH, PDN, 0, true, true },
		{ IOVA + LENGTH - 1, 1, PDN, 0, true, true },
		{ IOVA + LENGTH, 0, PDN, 0, false, true },
		{ IOVA, LENGTH + 1, PDN, 0, false, false },
		{ IOVA + LENGTH, 1, PDN, 0, false, false },
		{ IOVA - 1, 1, PDN, 0, false, false },
		{ IOVA - 1, 2, PDN, 0, false, false },
		{ 0, UINT64_MAX, PDN, 0, false, false },
		{ UINT64_MAX, 2, PDN, 0, false, false },
		{ IOVA + 1, UINT64_MAX, PDN, 0, false, false },
		{ IOVA, 1, PDN + 1, 0, false, false },
		{ IOVA, 1, PDN, 1, false, false },
		{ IOVA, 1, PDN, 0x100, false, false },
		{ IOVA, 1, PDN, 0x80000000, false, false },
	};
	struct shca_mem *mem = shca_mem_create();
	uint8_t *memory = map(PROT_READ | PROT_WRITE);
	struct shca_mr *mr;

	(void)state;
	assert_int_equal(shca_mem_reg(mem, memory + 100, LENGTH, IOVA, PDN, WRITE, &mr), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *found = shca_mem_ptr(mem, cases[i].pdn, mr->lkey ^ cases[i].lkey_change,
			cases[i].iova, cases[i].length, cases[i].write);

		assert_ptr_equal(
			found, cases[i].is_found ? memory + 100 + (cases[i].iova - IOVA) : NULL);
		assert_int_equal(
			shca_mem_explain(mem, cases[i].pdn, mr->lkey ^ cases[i].lkey_change,
				cases[i].iova, cases[i].length, cases[i].write) == SHCA_MEM_GOOD,
			cases[i].is_found);
	}
	shca_mem_destroy(mem);
	munmap(memory, PAGES * PAGE);
}

static void
access_and_stale_keys(void **state)
{
	struct shca_mem *mem = shca_mem_create();
	uint8_t *memory = map(PROT_READ | PROT_WRITE);
	struct shca_mr *mr, *again;
	uint32_t lkey;

	(void)state;
	assert_int_equal(shca_mem_reg(mem, memory, PAGE, IOVA, PDN, 0, &mr), 0);
	assert_non_null(shca_mem_ptr(mem, PDN, mr->lkey, IOVA, 1, false));
	assert_null(shca_mem_ptr(mem, PDN, mr->lkey, IOVA, 1, true));
	lkey = mr->lkey;
	assert_int_equal(shca_mem_explain(mem, PDN, lkey, IOVA, 1, true), SHCA_MEM_READ_ONLY);
	assert_int_equal(shca_mem_explain(mem, PDN, lkey, IOVA + PAGE, 1, true), SHCA_MEM_OUTSIDE);
	assert_int_equal(shca_mem_explain(mem, PDN + 1, lkey, IOVA, 1, false), SHCA_MEM_OTHER_PD);
	assert_int_equal(shca_mem_explain(mem, PDN, lkey ^ 1, IOVA, 1, false), SHCA_MEM_NO_KEY);
	shca_mem_dereg(mem, mr);
	assert_null(shca_mem_ptr(mem, PDN, lkey, IOVA, 1, false));
	assert_int_equal(shca_mem_reg(mem, memory, PAGE, IOVA, PDN, 0, &again), 0);
	assert_int_not_equal(again->lkey, lkey);
	assert_null(shca_mem_ptr(mem, PDN, lkey, IOVA, 1, false));
	shca_mem_dereg(mem, NULL);
	shca_mem_destroy(mem);
	munmap(memory, PAGES * PAGE);
}

/** No key may be 0 or 0x100, which end scatter lists. */
static void
keys_are_never_reserved(void **state)
{
	struct shca_mem *mem = shca_mem_create();
	uint8_t *memory = map(PROT_READ);
	struct shca_mr *mr;

	(void)state;
	for (unsigned int i = 0; i < 600; i++) {
		assert_int_equal(shca_mem_reg(mem, memory, 1, IOVA, PDN, 0, &mr), 0);
		assert_int_not_equal(mr->lkey, 0);
		assert_int_not_equal(mr->lkey & 0xff, 0);
		if (i % 2 != 0)
			shca_mem_dereg(mem, mr);
	}
	shca_mem_destroy(mem);
	munmap(memory, PAGES * PAGE);
}

/** A region of nothing is one, of device memory; nothing is in it. */
static void
empty(void **state)
{
	struct shca_mem *mem = shca_mem_create();
	uint8_t byte;
	struct shca_mr *mr;

	(void)state;
	assert_int_equal(shca_mem_reg(mem, &byte, 0, IOVA, PDN, 0, &mr), 0);
	assert_null(shca_mem_ptr(mem, PDN, mr->lkey, IOVA, 1, false));
	shca_mem_dereg(mem, mr);
	shca_mem_destroy(mem);
}

static void
refusals(void **state)
{
	struct shca_mem *mem = shca_mem_create();
	uint8_t *memory = map(PROT_READ);
	struct shca_mr *mr = NULL;

	(void)state;
	munmap(memory + 2 * PAGE, PAGE);
	assert_int_equal(shca_mem_reg(mem, memory, UINT64_MAX, 0, PDN, 0, &mr), -EINVAL);
	assert_int_equal(shca_mem_reg(mem, memory, 16, UINT64_MAX - 8, PDN, 0, &mr), -EINVAL);
	assert_int_equal(shca_mem_reg(mem, memory, 2 * PAGE + 1, IOVA, PDN, 0, &mr), -EFAULT);
	assert_int_equal(shca_mem_reg(mem, memory, PAGE, IOVA, PDN, WRITE, &mr), -EFAULT);
	assert_null(mr);
	assert_int_equal(shca_mem_reg(mem, memory, 2 * PAGE, IOVA, PDN, 0, &mr), 0);
	shca_mem_destroy(mem);
	shca_mem_destroy(NULL);
	munmap(memory, PAGES * PAGE);
}

static void
is_mapped(void **state)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE);
	/* Pages: rw, r, none, rw. */
	static const struct {
		uint64_t offset, length;
		bool write, is_mapped;
	} cases[] = {
		{ 0, PAGE, true, true },
		{ PAGE - 1, 2, false, true },
		{ PAGE - 1, 2, true, false },
		{ PAGE, PAGE, false, true },
		{ PAGE, PAGE, true, false },
		{ 0, 2 * PAGE + 1, false, false },
		{ 2 * PAGE, 1, false, false },
		{ 3 * PAGE, PAGE, true, true },
		{ 2 * PAGE + PAGE / 2, 0, true, true },
	};

	(void)state;
	mprotect(memory + PAGE, PAGE, PROT_READ);
	mprotect(memory + 2 * PAGE, PAGE, PROT_NONE);
	errno = 77;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(shca_mem_is_mapped(
					 memory + cases[i].offset, cases[i].length, cases[i].write),
			cases[i].is_mapped);
	assert_false(shca_mem_is_mapped(memory, UINT64_MAX, false));
	assert_false(shca_mem_is_mapped(NULL, 1, false));
	assert_int_equal(errno, 77);
	munmap(memory, PAGES * PAGE);
	assert_false(shca_mem_is_mapped(memory, 1, false));
}

/** The answer must not depend on how long the process's map is. */
static void
is_mapped_in_a_long_map(void **state)
{
	enum {
		NB = 600
	};
	uint8_t *memory = mmap(
		NULL, 2 * NB * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	for (unsigned int i = 0; i < NB; i++)
		assert_int_equal(mprotect(memory + 2 * i * PAGE, PAGE, PROT_READ), 0);
	assert_true(shca_mem_is_mapped(memory, 2 * NB * PAGE, false));
	assert_false(shca_mem_is_mapped(memory, 2 * NB * PAGE, true));
	for (unsigned int i = 0; i < 2 * NB; i++)
		assert_int_equal(shca_mem_is_mapped(memory + i * PAGE, PAGE, true), i % 2 == 1);
	munmap(memory, 2 * NB * PAGE);
}

static void
read_byte(void *arg)
{
	*(volatile uint8_t *)arg;
}

static void
do_nothing(void *arg)
{
	(void)arg;
}

/** The guard looks whether its handler is in place every 256th run; cmocka installs its own for
 * each test. */
static void
settle(void)
{
	for (unsigned int i = 0; i < 300; i++)
		assert_true(shca_mem_guard_run(do_nothing, NULL));
}

static void
faults_end_the_function(void **state)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE);

	(void)state;
	settle();
	assert_true(shca_mem_guard_run(read_byte, memory));
	munmap(memory, PAGES * PAGE);
	/* More than once: the signal must not stay blocked. */
	for (unsigned int i = 0; i < 3; i++)
		assert_false(shca_mem_guard_run(read_byte, memory));
}

static void
read_byte_inside(void *memory)
{
	assert_false(shca_mem_guard_run(read_byte, memory));
	assert_true(shca_mem_guard_run(do_nothing, NULL));
	read_byte(memory);
}

/** A run inside of another one ends alone, and the other one is guarded as before. */
static void
faults_end_the_inner_function(void **state)
{
	uint8_t *memory = map(PROT_NONE);

	(void)state;
	settle();
	assert_false(shca_mem_guard_run(read_byte_inside, memory));
	assert_false(shca_mem_guard_run(read_byte, memory));
	munmap(memory, PAGES * PAGE);
}

/** A file that was cut short gives SIGBUS. */
static void
bus_errors_too(void **state)
{
	int fd = memfd_create("short", MFD_CLOEXEC);
	uint8_t *memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	settle();
	assert_false(shca_mem_guard_run(read_byte, memory));
	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_true(shca_mem_guard_run(read_byte, memory));
	munmap(memory, PAGE);
	close(fd);
}

static sigjmp_buf application_jump;
static volatile sig_atomic_t nb_application_faults;

static void
application_handler(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)info;
	(void)context;
	nb_application_faults++;
	siglongjmp(application_jump, 1);
}

/** Runs in a child: handlers are the process's. @return 0 when all is well. */
static int
chain_in_a_child(void)
{
	struct sigaction action = { .sa_sigaction = application_handler, .sa_flags = SA_SIGINFO };
	uint8_t *memory = map(PROT_NONE);

	sigaction(SIGSEGV, &action, NULL);
	settle();
	if (shca_mem_guard_run(read_byte, memory))
		return 1;
	if (nb_application_faults != 0)
		return 2;
	/* More than once, as it left the handler by a jump. */
	for (int i = 1; i <= 3; i++) {
		if (sigsetjmp(application_jump, 1) == 0) {
			read_byte(memory);
			return 3;
		}
		if (nb_application_faults != i)
			return 4;
	}
	return 0;
}

static uint8_t *application_page;

/** The old form of handler. It makes the page readable, and the load is repeated. */
static void
mending_handler(int signal_number)
{
	(void)signal_number;
	nb_application_faults++;
	mprotect(application_page, PAGE, PROT_READ);
}

static int
mend_in_a_child(void)
{
	application_page = map(PROT_NONE);
	signal(SIGSEGV, mending_handler);
	settle();
	for (int i = 1; i <= 3; i++) {
		read_byte(application_page);
		if (nb_application_faults != i)
			return 1;
		mprotect(application_page, PAGE, PROT_NONE);
	}
	return 0;
}

static struct sigaction previous;

/** Hands over to the handler that was there before, which is the guard's. */
static void
passing_handler(int signal_number, siginfo_t *info, void *context)
{
	if (nb_application_faults++ == 100)
		_exit(5);
	previous.sa_sigaction(signal_number, info, context);
}

/** Two handlers that hand over to each other must not do so for ever. */
static int
pass_in_a_child(void)
{
	const struct sigaction action = { .sa_sigaction = passing_handler, .sa_flags = SA_SIGINFO };
	uint8_t *memory = map(PROT_NONE);

	settle();
	sigaction(SIGSEGV, &action, &previous);
	settle();
	if (shca_mem_guard_run(read_byte, memory) || nb_application_faults != 0)
		return 1;
	read_byte(memory);
	return 2;
}

/** @return how the child ended that @p run was in. */
static int
run_child(int (*run)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		exit(run());
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
other_faults_reach_the_application(void **state)
{
	(void)state;
	assert_int_equal(run_child(chain_in_a_child), 0);
	assert_int_equal(run_child(mend_in_a_child), 0);
}

static void
handlers_that_pass_faults_on(void **state)
{
	int status = run_child(pass_in_a_child);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void
other_faults_without_a_handler_kill(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		uint8_t *memory = map(PROT_NONE);

		signal(SIGSEGV, SIG_DFL);
		settle();
		read_byte(memory);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	/* A sanitizer's own handler, if any, exits instead. */
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
}

/** The device has it for its own, and nobody else can lend it. */
static void
device_pages(void **state)
{
	struct shca_mem *mem = shca_mem_create();
	int fd = memfd_create(SHCA_MEM_DEVICE_FILE "7", MFD_CLOEXEC);
	struct shca_mr *mr;
	uint8_t *memory;

	(void)state;
	assert_non_null(mem);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_true(shca_mem_is_mapped(memory, PAGE, true));
	assert_false(shca_mem_can_pin(memory, PAGE, true));
	assert_false(shca_mem_can_pin(memory + 100, 1, false));
	assert_int_equal(shca_mem_reg(mem, memory, PAGE, IOVA, PDN, WRITE, &mr), -EFAULT);
	assert_int_equal(shca_mem_reg_own(mem, memory, PAGE, IOVA, PDN, WRITE, &mr), 0);
	assert_ptr_equal(shca_mem_ptr(mem, PDN, mr->lkey, IOVA, 1, true), memory);
	munmap(memory, PAGE);
	close(fd);
	shca_mem_destroy(mem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look_up),
		cmocka_unit_test(access_and_stale_keys),
		cmocka_unit_test(keys_are_never_reserved),
		cmocka_unit_test(empty),
		cmocka_unit_test(refusals),
		cmocka_unit_test(is_mapped),
		cmocka_unit_test(is_mapped_in_a_long_map),
		cmocka_unit_test(faults_end_the_function),
		cmocka_unit_test(faults_end_the_inner_function),
		cmocka_unit_test(bus_errors_too),
		cmocka_unit_test(other_faults_reach_the_application),
		cmocka_unit_test(handlers_that_pass_faults_on),
		cmocka_unit_test(other_faults_without_a_handler_kill),
		cmocka_unit_test(device_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
