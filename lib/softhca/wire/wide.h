/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loops over frames in the widest registers of the CPU. Such a function is compiled for CPUs with
 * AVX2, too, and the dynamic linker chooses (ifunc); vectors of 32 bytes are two registers
 * elsewhere.
 */
#ifndef SHCA_WIRE_WIDE_H
#define SHCA_WIRE_WIDE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Sanitizers' own functions are not there yet when the linker asks which one to take. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                \
	!defined(__SANITIZE_THREAD__)
#define SHCA_WIDE __attribute__((noinline, target_clones("avx2", "default")))
#else
#define SHCA_WIDE __attribute__((noinline))
#endif

/** Of a function that is slower by vectors than without them where the CPU has no AVX2: call it if
 * shca_has_wide(). */
#ifdef __x86_64__
#define SHCA_WIDE_TARGET __attribute__((target("avx2")))
#else
#define SHCA_WIDE_TARGET
#endif
#define SHCA_WIDE_ONLY __attribute__((noinline)) SHCA_WIDE_TARGET

/** @{ For local variables: as a parameter their ABI depends on the CPU. */
typedef uint64_t shca_wide __attribute__((vector_size(32)));
typedef int64_t shca_wide_signed __attribute__((vector_size(32)));
typedef uint8_t shca_wide_bytes __attribute__((vector_size(32)));
/** @} */

#define SHCA_WIDE_WORDS (sizeof(shca_wide) / sizeof(uint64_t))

/** @return whether the CPU has the instructions that functions of SHCA_WIDE_ONLY are made of. Their
 * loads are not atomic, of which a thread sanitizer would complain. */
static inline bool
shca_has_wide(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;
#elif defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return true;
#endif
}

#ifdef __x86_64__
/** @return whether any bit is set; for functions of SHCA_WIDE_ONLY: by one instruction. */
static inline __attribute__((always_inline, target("avx2"))) bool
shca_wide_only_any(const shca_wide *wide)
{
	return _mm256_testz_si256((__m256i)*wide, (__m256i)*wide) == 0;
}
#else
#define shca_wide_only_any shca_wide_any
#endif

/** @return whether any bit is set. */
static inline __attribute__((always_inline)) bool
shca_wide_any(const shca_wide *wide)
{
	static_assert(SHCA_WIDE_WORDS == 4, "all of them");
	return ((*wide)[0] | (*wide)[1] | (*wide)[2] | (*wide)[3]) != 0;
}

#endif /* SHCA_WIRE_WIDE_H */
