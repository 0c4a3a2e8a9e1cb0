/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in a file: a store to it must not be what finds out that the file system is full. */
#include "base/shared.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES       (3 * 4096u)
#define BLOCK_BYTES 512 /* of st_blocks */

static char dir[] = "/tmp/softhca-shared-XXXXXX";

static int
set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void
test_blocks_are_there(void **state)
{
	char path[PATH_MAX];
	struct stat status;
	uint8_t *memory, *again;
	void *map;

	(void)state;
	snprintf(path, sizeof(path), "%s/counts", dir);
	assert_int_equal(shca_shared_map(path, true, BYTES, &map), 0);
	memory = map;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, BYTES);
	assert_true((uint64_t)status.st_blocks * BLOCK_BYTES >= BYTES);
	for (unsigned int i = 0; i < BYTES; i++)
		assert_int_equal(memory[i], 0);
	memory[BYTES - 1] = 7;
	assert_int_equal(shca_shared_map(path, false, BYTES, &map), 0);
	again = map;
	assert_int_equal(again[BYTES - 1], 7);
	shca_shared_unmap(again, BYTES);
	shca_shared_unmap(memory, BYTES);
	assert_int_equal(unlink(path), 0);
}

static void
test_refusals(void **state)
{
	char path[PATH_MAX];
	void *map = NULL;

	(void)state;
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(shca_shared_map(path, false, BYTES, &map), -ENOENT);
	snprintf(path, sizeof(path), "%s/none/counts", dir);
	assert_int_equal(shca_shared_map(path, true, BYTES, &map), -ENOENT);
	assert_null(map);
	shca_shared_unmap(NULL, BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_there),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("base/shared", tests, set_up, tear_down);
}
