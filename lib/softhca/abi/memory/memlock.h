/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a process may pin (RLIMIT_MEMLOCK), by whatever contexts and devices, as the kernel counts
 * pinned pages of a memory map (core/umem.c ib_umem_get(), mm->pinned_vm).
 */
#ifndef SHCA_ABI_MEMORY_MEMLOCK_H
#define SHCA_ABI_MEMORY_MEMLOCK_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Count bytes to be pinned for the process that asks.
 * @param[out] owner that process, for shca_memlock_give()
 * @return 0, -EPERM (it may lock nothing), -ENOMEM (not so much more).
 */
int shca_memlock_take(uint64_t bytes, pid_t *owner);
/** They are pinned no more. */
void shca_memlock_give(pid_t owner, uint64_t bytes);

#endif /* SHCA_ABI_MEMORY_MEMLOCK_H */
