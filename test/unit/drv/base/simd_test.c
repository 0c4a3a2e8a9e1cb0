/* SPDX-License-Identifier: BSD-3-Clause */
/* Widths of vectors, and the reasons against wider ones. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cpuflags.h>

#include "base/simd.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "rig.h"

static void
bits_are_kept_to(void **state)
{
	static const unsigned int bits[MDV_NB_SIMD] = { 0, 128, 256, 512 };
#ifdef RTE_ARCH_X86
	const unsigned int end = MDV_NB_SIMD;
#else
	const unsigned int end = MDV_SIMD_256;
#endif
	unsigned int most, limit;

	(void)state;
	for (most = MDV_SIMD_NONE; most < end; most++) {
		for (limit = 0; limit <= 512; limit += 64) {
			const char *limited_by;
			enum mdv_simd simd = mdv_simd_choose(most, limit, &limited_by);

			assert_true(simd <= most && bits[simd] <= limit);
			/* The widest, or a reason. */
			assert_int_equal(limited_by == NULL, simd == most);
		}
	}
}

/** A width is for exactly as many bits, and those below it are for the rest. */
static void
bits_are_made_use_of(void **state)
{
	const char *limited_by;

	(void)state;
	assert_int_equal(mdv_simd_choose(MDV_SIMD_128, 127, &limited_by), MDV_SIMD_NONE);
	assert_int_equal(mdv_simd_choose(MDV_SIMD_128, 128, &limited_by), MDV_SIMD_128);
	assert_null(limited_by);
#ifdef RTE_ARCH_X86
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0) {
		assert_int_equal(mdv_simd_choose(MDV_SIMD_256, 255, &limited_by), MDV_SIMD_128);
		assert_int_equal(mdv_simd_choose(MDV_SIMD_256, 256, &limited_by), MDV_SIMD_256);
	}
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VBMI) > 0) {
		assert_int_equal(mdv_simd_choose(MDV_SIMD_512, 511, &limited_by), MDV_SIMD_256);
		assert_int_equal(mdv_simd_choose(MDV_SIMD_512, 512, &limited_by), MDV_SIMD_512);
	}
#endif
}

static void
every_handicap_is_named(void **state)
{
	const char *limited_by;

	(void)state;
	assert_int_equal(mdv_simd_choose(MDV_SIMD_128, 64, &limited_by), MDV_SIMD_NONE);
	assert_string_equal(limited_by, "the EAL limits the SIMD width");
#ifdef RTE_ARCH_X86
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VBMI) > 0) {
		assert_string_equal(mdv_simd_name(mdv_simd_choose(MDV_SIMD_512, 512, &limited_by)),
			"Vector AVX-512");
		assert_null(limited_by);
		assert_string_equal(
			mdv_rx_select_limited_by(0, 256), "the EAL limits the SIMD width");
	} else {
		assert_true(mdv_simd_choose(MDV_SIMD_512, 512, &limited_by) < MDV_SIMD_512);
		assert_non_null(strstr(limited_by, "the CPU has no "));
	}
	/* There are none of 512 bits. */
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0) {
		assert_null(mdv_rx_select_limited_by(MDV_RX_SCATTER, 256));
		assert_null(mdv_rx_select_limited_by(MDV_RX_TIMESTAMP, 256));
		assert_null(mdv_tx_select_limited_by(0, 256));
	}
#endif
}

/* In place of the EAL's, by the linker's --wrap. */
int __wrap_rte_cpu_get_flag_enabled(enum rte_cpu_flag_t flag);
int __real_rte_cpu_get_flag_enabled(enum rte_cpu_flag_t flag);

/** The flag that this CPU has not; -1: the CPU is as it is, otherwise it has all others. */
static int lacking = -1;

int
__wrap_rte_cpu_get_flag_enabled(enum rte_cpu_flag_t flag)
{
	return lacking < 0 ? __real_rte_cpu_get_flag_enabled(flag) : (int)flag != lacking;
}

#ifdef RTE_ARCH_X86
/** The driver asks once, so a CPU without the flag is a process of its own. */
static void
check_without(enum rte_cpu_flag_t flag, enum mdv_simd most, enum mdv_simd chosen, const char *why)
{
	const pid_t child = fork();
	const char *limited_by;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		lacking = (int)flag;
		_exit(mdv_simd_choose(most, 512, &limited_by) != chosen ? 1
				: strcmp(limited_by, why) != 0          ? 2
									: 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/** A CPU that lacks one flag of a width has the width below, and says so. */
static void
each_flag_is_needed(void **state)
{
	static const enum rte_cpu_flag_t of_256[] = { RTE_CPUFLAG_AVX2, RTE_CPUFLAG_BMI2,
		RTE_CPUFLAG_MOVBE };
	static const enum rte_cpu_flag_t of_512[] = { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW,
		RTE_CPUFLAG_AVX512DQ, RTE_CPUFLAG_AVX512VL, RTE_CPUFLAG_AVX512VBMI };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(of_256); i++)
		check_without(of_256[i], MDV_SIMD_256, MDV_SIMD_128, "the CPU has no AVX2");
	for (unsigned int i = 0; i < RTE_DIM(of_512); i++)
		check_without(
			of_512[i], MDV_SIMD_512, MDV_SIMD_256, "the CPU has no AVX-512 with VBMI");
}
#endif

/** There is one instance for each set of options. */
static void
every_set_of_options_is_served(void **state)
{
	(void)state;
	for (unsigned int opts = 0; opts < MDV_TX_NB_OPTS; opts++) {
		assert_non_null(mdv_tx_select(opts, 512));
		assert_non_null(mdv_tx_select(opts, 0));
		if (mdv_tx_select(opts, 0) != mdv_tx_select(opts, 512))
			assert_string_equal(
				mdv_tx_select_limited_by(opts, 0), "the EAL limits the SIMD width");
		else
			assert_null(mdv_tx_select_limited_by(opts, 0));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef RTE_ARCH_X86
		/* The first, while nothing is known. */
		cmocka_unit_test(each_flag_is_needed),
#endif
		cmocka_unit_test(bits_are_kept_to),
		cmocka_unit_test(bits_are_made_use_of),
		cmocka_unit_test(every_handicap_is_named),
		cmocka_unit_test(every_set_of_options_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
