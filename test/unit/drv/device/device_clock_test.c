/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of timestamps, by what verbs tells of it. */
#include <errno.h>
#include <string.h>

#include "device/device.h"
#include "rig.h"

static struct verbs_context context;

static struct {
	int result;
	uint32_t mask;
} rt;

static int
query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	assert_ptr_equal(ctx, &context.context);
	assert_int_equal(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	values->comp_mask = rt.mask;
	values->raw_clock.tv_sec = 3;
	values->raw_clock.tv_nsec = 1234567890123;
	return rt.result;
}

static void
the_clock_is_read(void **state)
{
	struct mdv_device device = { .ctx = &context.context };
	uint64_t ticks = 5;

	(void)state;
	context.sz = sizeof(context);
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context.query_rt_values = query_rt_values;
	rt.mask = IBV_VALUES_MASK_RAW_CLOCK;
	assert_int_equal(mdv_device_read_clock(&device, &ticks), 0);
	assert_int_equal(ticks, 1234567890123);
	ticks = 5;
	rt.mask = 0;
	assert_int_equal(mdv_device_read_clock(&device, &ticks), -ENOTSUP);
	rt.result = EOPNOTSUPP;
	assert_int_equal(mdv_device_read_clock(&device, &ticks), -ENOTSUP);
	rt.result = EIO;
	assert_int_equal(mdv_device_read_clock(&device, &ticks), -EIO);
	/* The counter is another clock then. */
	rt.result = 0;
	rt.mask = IBV_VALUES_MASK_RAW_CLOCK;
	device.caps.real_time = true;
	assert_int_equal(mdv_device_read_clock(&device, &ticks), -ENOTSUP);
	assert_int_equal(ticks, 5);
}

static struct {
	int results[3];
	unsigned int nb;
} clock_info;

int
mlx5dv_get_clock_info(struct ibv_context *ctx, struct mlx5dv_clock_info *info)
{
	assert_ptr_equal(ctx, &context.context);
	/* Two nanoseconds a tick. */
	*info = (struct mlx5dv_clock_info){
		.nsec = 1000, .last_cycles = 100, .mult = 4, .shift = 1, .mask = UINT32_MAX
	};
	return clock_info.results[clock_info.nb++];
}

static void
ticks_become_time(void **state)
{
	static const struct {
		int results[3], result;
		unsigned int nb;
	} cases[] = {
		{ { 0 }, 0, 1 },
		{ { EBUSY, EBUSY, 0 }, 0, 3 },
		{ { EBUSY, EIO }, -EIO, 2 },
		{ { EINVAL }, -ENOTSUP, 1 },
		{ { EOPNOTSUPP }, -ENOTSUP, 1 },
	};
	struct mdv_device device = { .ctx = &context.context };
	uint64_t ns;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		ns = 5;

		memcpy(clock_info.results, cases[i].results, sizeof(clock_info.results));
		clock_info.nb = 0;
		assert_int_equal(mdv_device_ticks_to_ns(&device, 150, &ns), cases[i].result);
		assert_int_equal(clock_info.nb, cases[i].nb);
		assert_int_equal(ns, cases[i].result == 0 ? 1100 : 5);
	}
	device.caps.real_time = true;
	assert_int_equal(mdv_device_ticks_to_ns(&device, 150, &ns), 0);
	assert_int_equal(ns, 150);
	device.caps.foreign = true;
	assert_int_equal(mdv_device_ticks_to_ns(&device, 150, &(uint64_t){ 0 }), -ENOTSUP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_read),
		cmocka_unit_test(ticks_become_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
