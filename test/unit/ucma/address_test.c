/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of three families, and the GIDs that they are. */
#include "ucma/address.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct shca_address v4 = {
	.in = { .sin_family = AF_INET, .sin_addr.s_addr = 0x0100000a, .sin_port = 0x2f1d },
};
static const struct shca_address v6 = {
	.in6 = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 9 },
		.sin6_port = 0x2f1d },
};

static void
test_sizes(void **state)
{
	const struct shca_address ib = { .any.sa_family = AF_IB }, other = { .any.sa_family = 9 };

	(void)state;
	assert_int_equal(shca_address_size(&v4), 16);
	assert_int_equal(shca_address_size(&v6), 28);
	assert_int_equal(shca_address_size(&ib), 48);
	assert_int_equal(shca_address_size(&other), 0);
}

static void
test_gids(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	struct shca_address back = { .any.sa_family = AF_INET };
	uint8_t gid[16];

	(void)state;
	shca_address_to_gid(&v4, gid);
	assert_memory_equal(gid, mapped, sizeof(gid));
	assert_true(shca_address_from_gid(&back, gid));
	assert_true(shca_address_is_same(&back, &v4));
	assert_true(shca_address_is_mapped(gid));
	shca_address_to_gid(&v6, gid);
	assert_int_equal(gid[0], 0xfe);
	assert_int_equal(gid[15], 9);
	assert_false(shca_address_from_gid(&back, gid));
	back.any.sa_family = AF_INET6;
	assert_true(shca_address_from_gid(&back, gid));
	assert_false(shca_address_from_gid(&back, mapped));
	back.any.sa_family = AF_IB;
	assert_true(shca_address_from_gid(&back, mapped));
	assert_int_equal(back.ib.addr[15], 1);
}

/** The host, and nothing beside it: its last byte is set, and what comes behind stays. */
static void
test_nothing_else(void **state)
{
	static const uint8_t gid[16] = { 0xfd, [14] = 0x88, 0x99 },
			     mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 0x99 };
	static const sa_family_t families[] = { AF_INET, AF_INET6, AF_IB };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct shca_address address, wanted;

		memset(&address, 0x5a, sizeof(address));
		address.any.sa_family = families[i];
		wanted = address;
		if (i == 0)
			memcpy(&wanted.in.sin_addr, mapped + 12, 4);
		else if (i == 1)
			memcpy(&wanted.in6.sin6_addr, gid, 16);
		else
			memcpy(wanted.ib.addr, gid, 16);
		assert_true(shca_address_from_gid(&address, i == 0 ? mapped : gid));
		assert_memory_equal(&address, &wanted, sizeof(address));
	}
}

static void
test_kinds(void **state)
{
	const struct shca_address none = { .any.sa_family = 0 };
	const struct shca_address any = { .any.sa_family = AF_INET6 };
	const struct shca_address group4 = { .in = { .sin_family = AF_INET,
						     .sin_addr.s_addr = htobe32(0xe0000005) } };
	const struct shca_address group6 = { .in6 = { .sin6_family = AF_INET6,
						     .sin6_addr.s6_addr = { 0xff, 0x0e } } };

	const struct shca_address lo4 = { .in = { .sin_family = AF_INET,
						  .sin_addr.s_addr = htobe32(0x7f010203) } };
	const struct shca_address lo6 = { .in6 = { .sin6_family = AF_INET6,
						  .sin6_addr.s6_addr = { [15] = 1 } } };

	const struct shca_address unknown = { .ib = { .family = 0, .addr = { 1 } } };
	const struct shca_address near6 = { .in6 = { .sin6_family = AF_INET6,
						    .sin6_addr.s6_addr = { [14] = 1, 1 } } };
	const struct shca_address unix_ = { .ib = { .family = AF_UNIX, .addr = { 1 } } };
	const struct shca_address net0 = { .in = { .sin_family = AF_INET,
						   .sin_addr.s_addr = htobe32(0x00010203) } };
	const struct shca_address net1 = { .in = { .sin_family = AF_INET,
						   .sin_addr.s_addr = htobe32(0x01000000) } };

	(void)state;
	assert_true(shca_address_is_none(&net0));
	assert_false(shca_address_is_none(&net1));
	assert_true(shca_address_is_none(&unknown));
	assert_false(shca_address_is_none(&unix_));
	assert_false(shca_address_is_any(&near6));
	assert_true(shca_address_is_none(&none));
	assert_true(shca_address_is_none(&any));
	assert_false(shca_address_is_none(&lo4));
	assert_false(shca_address_is_none(&lo6));
	assert_true(shca_address_is_any(&lo4));
	assert_true(shca_address_is_any(&lo6));
	assert_true(shca_address_is_any(&none));
	assert_true(shca_address_is_any(&any));
	assert_false(shca_address_is_any(&v4));
	assert_false(shca_address_is_multicast(&v4));
	assert_false(shca_address_is_multicast(&v6));
	assert_true(shca_address_is_multicast(&group4));
	assert_true(shca_address_is_multicast(&group6));
	assert_false(shca_address_is_same(&v4, &v6));
}

static void
test_ports(void **state)
{
	struct shca_address address = v4;

	(void)state;
	assert_int_equal(shca_address_port(&v4), 7471);
	assert_int_equal(shca_address_port(&v6), 7471);
	shca_address_set_port(&address, 0x106, 5);
	assert_int_equal(address.in.sin_port, htobe16(5));
	address = (struct shca_address){ .any.sa_family = AF_IB };
	assert_int_equal(shca_address_port(&address), 0);
	address.any.sa_family = 0;
	assert_int_equal(shca_address_port(&address), 0);
	address.any.sa_family = AF_IB;
	shca_address_set_port(&address, 0x106, 7471);
	assert_int_equal(be64toh(address.ib.sid), 0x01061d2f);
	assert_int_equal(shca_address_port(&address), 7471);
	/* A mask without the port's bits: any port. */
	address.ib.sid_mask = htobe64(UINT64_C(0xffffffffffff0000));
	assert_int_equal(shca_address_port(&address), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_nothing_else),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
