/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Prefetch lines that another core holds. Never faults, whatever the address. */
#ifndef SHCA_HW_STATE_PREFETCH_H
#define SHCA_HW_STATE_PREFETCH_H

#include <stdint.h>

/** GCC takes a function that does nothing but prefetch for one without an effect, and drops its
 * calls. */
static inline void
shca_prefetch_read(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("" : : "r"(at));
}

/** Take a line that will be written away from the other core now, ahead of the store. */
static inline void
shca_prefetch_write(const void *at)
{
#ifdef __x86_64__
	/* GCC emits a prefetch for reading unless -march names a processor with this instruction;
	 * every 64-bit processor accepts it, some as a no-op. */
	__asm__("prefetchw %0" : : "m"(*(const uint8_t *)at));
#else
	__builtin_prefetch(at, 1);
	__asm__ volatile("" : : "r"(at));
#endif
}

#endif /* SHCA_HW_STATE_PREFETCH_H */
