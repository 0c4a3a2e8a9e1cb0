/* SPDX-License-Identifier: BSD-3-Clause */
/* What of moved memory is wanted, and that the rest becomes again what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "keeper/message.h"
#include "keeper/wanted.h"

#define PAGE 4096u

static void
check(const struct shca_wanted *wanted, unsigned int nb, const struct shca_wanted_range *ranges)
{
	assert_int_equal(wanted->nb, nb);
	assert_memory_equal(wanted->range, ranges, nb * sizeof(*ranges));
	assert_false(wanted->is_unknown);
}

static void
ranges_that_touch_are_one(void **state)
{
	struct shca_wanted wanted = { 0 };

	(void)state;
	shca_wanted_remove(&wanted, 0, 100);
	shca_wanted_add(&wanted, 30, 40);
	shca_wanted_add(&wanted, 10, 20);
	shca_wanted_add(&wanted, 50, 60);
	check(&wanted, 3, (struct shca_wanted_range[]){ { 10, 20 }, { 30, 40 }, { 50, 60 } });
	shca_wanted_add(&wanted, 12, 15);
	shca_wanted_add(&wanted, 20, 31);
	check(&wanted, 2, (struct shca_wanted_range[]){ { 10, 40 }, { 50, 60 } });
	shca_wanted_remove(&wanted, 15, 20);
	check(&wanted, 3, (struct shca_wanted_range[]){ { 10, 15 }, { 20, 40 }, { 50, 60 } });
	shca_wanted_remove(&wanted, 12, 55);
	check(&wanted, 2, (struct shca_wanted_range[]){ { 10, 12 }, { 55, 60 } });
	shca_wanted_add(&wanted, 0, 70);
	check(&wanted, 1, (struct shca_wanted_range[]){ { 0, 70 } });
	shca_wanted_remove(&wanted, 0, 70);
	assert_int_equal(wanted.nb, 0);
	shca_wanted_fini(&wanted);
}

/** Here the program is this process, and all that writes meanwhile. */
static void
what_is_not_wanted_is_put_back(void **state)
{
	const int fd = memfd_create(SHCA_MESSAGE_MEMORY, MFD_CLOEXEC);
	struct shca_wanted wanted = { 0 };
	struct shca_wanted_kept *kept;
	uint8_t *bytes;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	memset(bytes, 1, PAGE);
	shca_wanted_add(&wanted, (uintptr_t)bytes + 100, (uintptr_t)bytes + 200);
	kept = shca_wanted_keep(&wanted, getpid());
	assert_non_null(kept);
	memset(bytes, 2, PAGE);
	shca_wanted_put_back(kept, getpid());
	for (unsigned int i = 0; i < PAGE; i++)
		assert_int_equal(bytes[i], i >= 100 && i < 200 ? 2 : 1);
	shca_wanted_add(&wanted, (uintptr_t)bytes, (uintptr_t)bytes + PAGE);
	assert_null(shca_wanted_keep(&wanted, getpid()));
	shca_wanted_fini(&wanted);
	munmap(bytes, PAGE);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_that_touch_are_one),
		cmocka_unit_test(what_is_not_wanted_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
