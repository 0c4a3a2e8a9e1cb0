/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the tests of wires share: opening one, numbered frames. */
#ifndef WIRE_TEST_H
#define WIRE_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "wire/wire.h"

/** Open a wire that must open. */
static inline struct shca_wire *
open_wire(const char *kind, const struct shca_wire_conf *conf)
{
	const struct shca_wire_ops *ops = shca_wire_find(kind, strlen(kind));
	struct shca_wire *wire = NULL;

	assert_non_null(ops);
	assert_int_equal(ops->open(conf, &wire), 0);
	assert_ptr_equal(wire->ops, ops);
	return wire;
}

/** Fill @p bytes with what frame @p number of that length consists of. */
static inline struct shca_frame
numbered_frame(uint8_t *bytes, uint32_t number, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = number * 31 + i;
	memcpy(bytes, &number, sizeof(number));
	return (struct shca_frame){ bytes, length };
}

static inline void
assert_numbered_frame(const struct shca_frame *frame, uint32_t number, uint32_t length)
{
	uint8_t expected[SHCA_FRAME_MAX];

	numbered_frame(expected, number, length);
	assert_int_equal(frame->length, length);
	assert_int_equal(frame->port, 0);
	assert_memory_equal(frame->bytes, expected, length);
}

#endif /* WIRE_TEST_H */
