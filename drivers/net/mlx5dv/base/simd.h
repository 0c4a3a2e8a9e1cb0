/* SPDX-License-Identifier: BSD-3-Clause */
/** @file How wide the vectors of burst functions may be, on this CPU and by the EAL. */
#ifndef MDV_SIMD_H
#define MDV_SIMD_H

/** Burst functions are compiled for these; none means one packet at a time. */
enum mdv_simd {
	MDV_SIMD_NONE,
	MDV_SIMD_128, /**< SSE4.2, Neon: what every CPU that we build for has */
	MDV_SIMD_256, /**< AVX2 */
	MDV_SIMD_512, /**< AVX-512 with VBMI */
	MDV_NB_SIMD,
};

/** @return as burst modes are told. */
const char *mdv_simd_name(enum mdv_simd simd);
/**
 * The widest, up to @p most, that this CPU and @p bits (rte_vect_get_max_simd_bitwidth()) allow.
 * @param most on arm64 at most MDV_SIMD_128
 * @param limited_by what kept it from a wider one, NULL: nothing
 */
enum mdv_simd mdv_simd_choose(enum mdv_simd most, unsigned int bits, const char **limited_by);

#endif /* MDV_SIMD_H */
