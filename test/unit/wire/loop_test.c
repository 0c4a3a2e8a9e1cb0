/* SPDX-License-Identifier: BSD-3-Clause */
/** @file loop gives back what it got and pushes back when full; null swallows. */
#include "wire_test.h"

static const struct shca_wire_conf conf = { .arg = "", .fd = -1 };

static void
test_comes_back(void **state)
{
	struct shca_wire *wire = open_wire("loop", &conf);
	uint8_t bytes[3][SHCA_FRAME_MAX];
	struct shca_frame frames[3], out[8];

	(void)state;
	assert_true(wire->ops->due_ns(wire) == UINT64_MAX);
	for (int i = 0; i < 3; i++)
		frames[i] = numbered_frame(bytes[i], i, 60 + 700 * i);
	assert_int_equal(wire->ops->tx(wire, frames, 3), 3);
	memset(bytes, 0, sizeof(bytes)); /* the bytes are the caller's again */
	assert_true(wire->ops->due_ns(wire) == 0);
	assert_int_equal(wire->ops->rx(wire, out, 8), 3);
	for (int i = 0; i < 3; i++)
		assert_numbered_frame(&out[i], i, 60 + 700 * i);
	assert_int_equal(wire->ops->rx(wire, out, 8), 0);
	wire->ops->close(wire);
}

static void
test_full_is_back_pressure(void **state)
{
	struct shca_wire *wire = open_wire("loop", &conf);
	uint8_t bytes[SHCA_FRAME_MAX];
	uint32_t sent = 0, received = 0;
	struct shca_frame frame, out[32];
	unsigned int nb;

	(void)state;
	for (;; sent++) {
		frame = numbered_frame(bytes, sent, 1500);
		if (wire->ops->tx(wire, &frame, 1) == 0)
			break;
		assert_true(sent < 100000);
	}
	assert_true(sent > 1000);
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 0);
	while ((nb = wire->ops->rx(wire, out, 32)) != 0)
		for (unsigned int i = 0; i < nb; i++, received++)
			assert_numbered_frame(&out[i], received, 1500);
	assert_int_equal(received, sent);
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	wire->ops->close(wire);
}

static void
test_null(void **state)
{
	struct shca_wire *wire = open_wire("null", &conf);
	uint8_t bytes[64];
	struct shca_frame frame = numbered_frame(bytes, 1, 64), out;

	(void)state;
	for (int i = 0; i < 100000; i++)
		assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	assert_int_equal(wire->ops->rx(wire, &out, 1), 0);
	assert_int_equal(wire->ops->fd(wire), -1);
	wire->ops->close(wire);
}

static void
test_find(void **state)
{
	(void)state;
	assert_null(shca_wire_find("lo", 2));
	assert_null(shca_wire_find("loops", 5));
	assert_null(shca_wire_find("", 0));
	assert_ptr_equal(shca_wire_find("tap:x", 3), shca_wire_find("tap", 3));
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++) {
		const struct shca_wire_ops *ops = shca_wire_kinds[i];

		assert_ptr_equal(shca_wire_find(ops->name, strlen(ops->name)), ops);
		assert_int_equal(strncmp(ops->usage, ops->name, strlen(ops->name)), 0);
		assert_true(ops->open && ops->tx && ops->rx && ops->fd && ops->close);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_back),
		cmocka_unit_test(test_full_is_back_pressure),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
