/* SPDX-License-Identifier: BSD-3-Clause */
/** @file How wide the vectors of burst functions may be, on this CPU and by the EAL. */
#ifndef MDV_SIMD_H
#define MDV_SIMD_H

/** Burst functions are compiled for these; none means one packet at a time. */
enum mdv_simd {
	MDV_SIMD_NONE,
	MDV_SIMD_128, /**< SSE4.2, Neon: every CPU that the driver is built for has it */
	MDV_SIMD_256, /**< AVX2 */
	MDV_SIMD_512, /**< AVX-512 with VBMI */
	MDV_NB_SIMD,
};

/** @return its name in burst modes. */
const char *mdv_simd_name(enum mdv_simd simd);
/**
 * The widest, up to @p most, that this CPU and @p bits (rte_vect_get_max_simd_bitwidth()) allow.
 * @param most on arm64 at most MDV_SIMD_128
 * @param limited_by the reason why it is no wider one, NULL: there is none
 */
enum mdv_simd mdv_simd_choose(enum mdv_simd most, unsigned int bits, const char **limited_by);

#endif /* MDV_SIMD_H */
