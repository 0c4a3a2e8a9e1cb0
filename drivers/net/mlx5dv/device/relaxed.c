/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether packet memory is registered with relaxed ordering. */
#include <rte_common.h>

#include "relaxed.h"

#ifdef RTE_ARCH_X86
#include <cpuid.h>

uint32_t
mdv_relaxed_cpu(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx ||
		!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return 0;
	return eax;
}
#else
uint32_t
mdv_relaxed_cpu(void)
{
	return 0;
}
#endif

/**
 * Relaxed writes are slower there: erratum HSE23 of Haswell, BDF30 of Broadwell. Family 6 and
 * model, as DPDK's mlx5 driver has them (drivers/common/mlx5/mlx5_common.c).
 */
static bool
is_slower(uint32_t cpu)
{
	/* clang-format off */
	static const uint8_t models[] = {
		0x3c, 0x3f, 0x45, 0x46, /* Haswell */
		0x3d, 0x47, 0x4f, 0x56, /* Broadwell */
	};
	/* clang-format on */
	const uint32_t family = cpu >> 8 & 0xf, model = (cpu >> 12 & 0xf0) | (cpu >> 4 & 0xf);

	for (unsigned int i = 0; i < RTE_DIM(models); i++) {
		if (family == 6 && model == models[i])
			return true;
	}
	return false;
}

bool
mdv_relaxed_choose(enum mdv_relaxed wanted, uint32_t cpu, const char **why)
{
	const bool slower = is_slower(cpu);

	if (wanted != MDV_RELAXED_AUTO) {
		*why = "as relaxed_ordering= says";
		return wanted == MDV_RELAXED_ON;
	}
	*why = slower ? "this CPU (Haswell or Broadwell) is slower with it"
		      : "no reason against it is known of this CPU";
	return !slower;
}
