/* SPDX-License-Identifier: BSD-3-Clause */
/* Annex A11: service IDs and the header before private data. */
#include "cm/ip.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_service(void **state)
{
	(void)state;
	assert_int_equal(shca_ip_service(0x0106, 7471), 0x01061d2f);
	assert_true(shca_ip_is_service(0x01061d2f));
	assert_true(shca_ip_is_service(0x01110000));
	assert_false(shca_ip_is_service(0x02060001));
	assert_false(shca_ip_is_service(0x1000000001061d2f));
}

static void
test_header(void **state)
{
	static const uint8_t wanted[SHCA_IP_BYTES] = { 0, 0x40, 0x12, 0x34, [16] = 10, 0, 0,
		1, [32] = 10, 0, 0, 2 };
	const struct shca_ip ip = {
		.version = 4,
		.src_port = 0x1234,
		.src = { [12] = 10, 0, 0, 1 },
		.dst = { [12] = 10, 0, 0, 2 },
	};
	uint8_t bytes[SHCA_IP_BYTES];
	struct shca_ip read = { 0 };

	(void)state;
	memset(bytes, 0xee, sizeof(bytes));
	shca_ip_write(&ip, bytes);
	assert_memory_equal(bytes, wanted, sizeof(bytes));
	assert_int_equal(shca_ip_read(bytes, &read), 0);
	assert_int_equal(read.version, 4);
	assert_int_equal(read.src_port, 0x1234);
	assert_memory_equal(read.src, ip.src, sizeof(ip.src));
	assert_memory_equal(read.dst, ip.dst, sizeof(ip.dst));
}

static void
test_refused(void **state)
{
	uint8_t bytes[SHCA_IP_BYTES] = { 0, 0x60 };
	struct shca_ip ip;

	(void)state;
	assert_int_equal(shca_ip_read(bytes, &ip), 0);
	bytes[1] = 0x50;
	assert_int_equal(shca_ip_read(bytes, &ip), -EBADMSG);
	bytes[1] = 0x40;
	bytes[0] = 0x10;
	assert_int_equal(shca_ip_read(bytes, &ip), -EBADMSG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
