/* SPDX-License-Identifier: BSD-3-Clause */
#include "simd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_cpuflags.h>

#define FLAGS_MAX 6

/* clang-format off */
static const struct {
	const char *name;
	const char *lacking; /**< reason if the CPU lacks a flag */
	unsigned int bits;
	unsigned int nb_flags;
	enum rte_cpu_flag_t flags[FLAGS_MAX];
} simd_rows[MDV_NB_SIMD] = {
	[MDV_SIMD_NONE] = { .name = "Scalar" },
#if defined(RTE_ARCH_X86)
	[MDV_SIMD_128] = { .name = "Vector SSE", .bits = 128 },
	[MDV_SIMD_256] = { "Vector AVX2", "the CPU has no AVX2", 256,
		3, { RTE_CPUFLAG_AVX2, RTE_CPUFLAG_BMI2, RTE_CPUFLAG_MOVBE } },
	[MDV_SIMD_512] = { "Vector AVX-512", "the CPU has no AVX-512 with VBMI", 512,
		6, { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW, RTE_CPUFLAG_AVX512DQ,
			RTE_CPUFLAG_AVX512VL, RTE_CPUFLAG_AVX512VBMI, RTE_CPUFLAG_MOVBE } },
#else
	[MDV_SIMD_128] = { .name = "Vector Neon", .bits = 128 },
	[MDV_SIMD_256] = { .name = "" },
	[MDV_SIMD_512] = { .name = "" },
#endif
};
/* clang-format on */

static bool
ask_cpu(enum mdv_simd simd)
{
	unsigned int i = 0;

	while (i < simd_rows[simd].nb_flags &&
		rte_cpu_get_flag_enabled(simd_rows[simd].flags[i]) > 0)
		i++;
	return i == simd_rows[simd].nb_flags;
}

/** Ask the CPU once: a hypervisor may take half a millisecond for each CPUID instruction. Threads
 * that come here together find the same. */
static bool
cpu_has(enum mdv_simd simd)
{
	enum {
		UNKNOWN,
		HAS,
		HAS_NOT
	};
	static uint8_t known[MDV_NB_SIMD];
	uint8_t answer = __atomic_load_n(&known[simd], __ATOMIC_RELAXED);

	if (answer == UNKNOWN) {
		answer = ask_cpu(simd) ? HAS : HAS_NOT;
		__atomic_store_n(&known[simd], answer, __ATOMIC_RELAXED);
	}
	return answer == HAS;
}

static const char *
find_limit(enum mdv_simd simd, unsigned int bits)
{
	if (!cpu_has(simd))
		return simd_rows[simd].lacking;
	return bits < simd_rows[simd].bits ? "the EAL limits the SIMD width" : NULL;
}

const char *
mdv_simd_name(enum mdv_simd simd)
{
	return simd_rows[simd].name;
}

enum mdv_simd
mdv_simd_choose(enum mdv_simd most, unsigned int bits, const char **limited_by)
{
	enum mdv_simd simd = most;

	*limited_by = NULL;
	while (simd != MDV_SIMD_NONE) {
		const char *found = find_limit(simd, bits);

		if (found == NULL)
			break;
		*limited_by = found;
		simd--;
	}
	return simd;
}
