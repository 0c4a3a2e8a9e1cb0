/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A heap of the EAL's that has nothing left, for a test linked with --wrap=rte_zmalloc. */
#ifndef DRV_NO_MEMORY_H
#define DRV_NO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *__wrap_rte_zmalloc(const char *type, size_t size, unsigned int align);
void *__real_rte_zmalloc(const char *type, size_t size, unsigned int align);

static bool no_memory; /**< for the next allocations */

void *
__wrap_rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	return no_memory ? NULL : __real_rte_zmalloc(type, size, align);
}

#endif /* DRV_NO_MEMORY_H */
