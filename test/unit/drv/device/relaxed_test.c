/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs and arguments have relaxed ordering. */
#include "device/relaxed.h"
#include "rig.h"

/* clang-format off */
static const struct {
	uint32_t cpu;
	bool relaxed; /**< by auto */
} cpus[] = {
	{ 0, true },       /* no Intel CPU */
	{ 0x306c3, false }, /* Haswell */
	{ 0x306f2, false }, /* Haswell-EP */
	{ 0x40651, false }, /* Haswell-ULT */
	{ 0x40661, false }, /* Haswell, GT3e */
	{ 0x306d4, false }, /* Broadwell */
	{ 0x40671, false }, /* Broadwell, GT3e */
	{ 0x406f1, false }, /* Broadwell-EP */
	{ 0x50663, false }, /* Broadwell-DE */
	{ 0x306a9, true },  /* Ivy Bridge */
	{ 0x50654, true },  /* Skylake-SP */
	{ 0x606a6, true },  /* Ice Lake-SP */
	{ 0x40ff1, true },  /* the model of a Broadwell-EP in another family */
};
/* clang-format on */

static void
by_cpu_and_argument(void **state)
{
	const char *why;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cpus); i++) {
		assert_int_equal(
			mdv_relaxed_choose(MDV_RELAXED_AUTO, cpus[i].cpu, &why), cpus[i].relaxed);
		assert_int_equal(strstr(why, "Haswell") != NULL, !cpus[i].relaxed);
		assert_true(mdv_relaxed_choose(MDV_RELAXED_ON, cpus[i].cpu, &why));
		assert_string_equal(why, "as relaxed_ordering= says");
		assert_false(mdv_relaxed_choose(MDV_RELAXED_OFF, cpus[i].cpu, &why));
		assert_string_equal(why, "as relaxed_ordering= says");
	}
}

/** The CPU that the test runs on has one answer. */
static void
this_cpu(void **state)
{
	const uint32_t cpu = mdv_relaxed_cpu();

	(void)state;
	assert_int_equal(cpu, mdv_relaxed_cpu());
	/* No Intel CPU since the Pentium Pro that DPDK runs on has another family. */
	assert_true(cpu == 0 || (cpu >> 8 & 0xf) == 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_cpu_and_argument),
		cmocka_unit_test(this_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
