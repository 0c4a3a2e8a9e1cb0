/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Prefetch lines that another core holds. Never faults, whatever the address. */
#ifndef SHCA_HW_STATE_PREFETCH_H
#define SHCA_HW_STATE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/** GCC takes a function that does nothing but prefetch for one without an effect, and drops its
 * calls. */
static inline void
shca_prefetch_read(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("" : : "r"(at));
}

#define SHCA_PREFETCH_LINE 64 /**< bytes of a cache line */

/** Prefetch the lines from @p at to @p end. */
static inline void
shca_prefetch_lines(const uint8_t *at, const uint8_t *end)
{
	for (; at < end; at += SHCA_PREFETCH_LINE)
		shca_prefetch_read(at);
}

/** The same of a ring from @p first to @p end: @p bytes from @p at on. */
static inline void
shca_prefetch_ring(const uint8_t *first, const uint8_t *end, const uint8_t *at, size_t bytes)
{
	const size_t to_end = (size_t)(end - at);

	if (bytes <= to_end) {
		shca_prefetch_lines(at, at + bytes);
		return;
	}
	shca_prefetch_lines(at, end);
	shca_prefetch_lines(first, first + (bytes - to_end));
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
