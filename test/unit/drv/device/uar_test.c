/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbell pages of another process's device: mapped once each, where the kernel keeps them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/uar.h"
#include "rig.h"

/** As ib_uverbs's offsets: beyond 32 bits. */
#define FIRST  (UINT64_C(0x900) << 32)
#define SECOND (FIRST + 4096)

/** In place of the device: writes to its pages can be read back. */
static int
device_open(void)
{
	int fd = memfd_create("device", 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SECOND + 4096), 0);
	return fd;
}

static void
pages_are_mapped_once_and_shared(void **state)
{
	struct mdv_uar_pages pages = SLIST_HEAD_INITIALIZER(pages);
	int fd = device_open();
	char *first, *second, byte;

	(void)state;
	first = mdv_uar_map(&pages, fd, FIRST);
	second = mdv_uar_map(&pages, fd, SECOND);
	assert_non_null(first);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(mdv_uar_map(&pages, fd, FIRST), first);
	first[0x800] = 1;
	second[0xa00] = 2;
	assert_int_equal(pread(fd, &byte, 1, FIRST + 0x800), 1);
	assert_int_equal(byte, 1);
	assert_int_equal(pread(fd, &byte, 1, SECOND + 0xa00), 1);
	assert_int_equal(byte, 2);
	close(fd);
	/* A mapped page does not need the descriptor. */
	first[0x800] = 3;
	mdv_uar_unmap(&pages);
	assert_true(SLIST_EMPTY(&pages));
	assert_int_equal(msync(first, 4096, MS_ASYNC), -1);
	mdv_uar_unmap(&pages);
}

static void
what_cannot_be_mapped(void **state)
{
	struct mdv_uar_pages pages = SLIST_HEAD_INITIALIZER(pages);
	int fd = device_open();

	(void)state;
	assert_null(mdv_uar_map(&pages, fd, MDV_UAR_NO_OFFSET));
	assert_int_equal(errno, ENOTSUP);
	assert_null(mdv_uar_map(&pages, -1, FIRST));
	assert_int_equal(errno, EBADF);
	assert_true(SLIST_EMPTY(&pages));
	close(fd);
}

static void
each_queue_has_its_place(void **state)
{
	(void)state;
	assert_int_equal(mdv_uar_slot(0, 0), 0);
	assert_int_equal(mdv_uar_slot(1, 0), mdv_uar_slot(0, RTE_MAX_QUEUES_PER_PORT - 1) + 1);
	assert_int_equal(mdv_uar_slot(RTE_MAX_ETHPORTS - 1, RTE_MAX_QUEUES_PER_PORT - 1),
		RTE_DIM(mdv_uar_regs) - 1);
}

static void
pages_are_of_the_kind_wanted(void **state)
{
	(void)state;
	assert_true(mdv_uar_wants_non_cached(MDV_SQ_DB_NC_ON));
	assert_false(mdv_uar_wants_non_cached(MDV_SQ_DB_NC_OFF));
#ifdef RTE_ARCH_ARM64
	assert_false(mdv_uar_wants_non_cached(MDV_SQ_DB_NC_AUTO));
#else
	assert_true(mdv_uar_wants_non_cached(MDV_SQ_DB_NC_AUTO));
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_mapped_once_and_shared),
		cmocka_unit_test(what_cannot_be_mapped),
		cmocka_unit_test(each_queue_has_its_place),
		cmocka_unit_test(pages_are_of_the_kind_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
