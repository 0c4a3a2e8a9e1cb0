/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loops over frames in the widest registers of the CPU. Such a function is compiled for CPUs with
 * AVX2, too, and the dynamic linker chooses (ifunc); vectors of 32 bytes are two registers
 * elsewhere.
 */
#ifndef SHCA_WIRE_WIDE_H
#define SHCA_WIRE_WIDE_H

#include <stdint.h>

/* Sanitizers' own functions are not there yet when the linker asks which one to take. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                \
	!defined(__SANITIZE_THREAD__)
#define SHCA_WIDE __attribute__((noinline, target_clones("avx2", "default")))
#else
#define SHCA_WIDE __attribute__((noinline))
#endif

/** For local variables: as a parameter its ABI depends on the CPU. */
typedef uint64_t shca_wide __attribute__((vector_size(32)));

#endif /* SHCA_WIRE_WIDE_H */
