/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Fetch ahead what another core has. Never faults, whatever the address. */
#ifndef SHCA_BASE_PREFETCH_H
#define SHCA_BASE_PREFETCH_H

#include <stdint.h>

static inline void
shca_prefetch_read(const void *at)
{
	__builtin_prefetch(at);
}

/** The line is to be written: take it away from the other core now, not when it is stored to. */
static inline void
shca_prefetch_write(const void *at)
{
#ifdef __x86_64__
	/* GCC makes it a fetch for reading unless told of a processor that has this instruction;
	 * all of 64 bits take it, if as a no-op. */
	__asm__("prefetchw %0" : : "m"(*(const uint8_t *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif /* SHCA_BASE_PREFETCH_H */
