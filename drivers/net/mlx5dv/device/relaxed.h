/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * relaxed_ordering=auto|on|off: whether the device's writes of packets may pass each other on PCI
 * (PCI Express Base Specification, section 2.4). Completions are written after them in either case.
 */
#ifndef MDV_RELAXED_H
#define MDV_RELAXED_H

#include <stdbool.h>
#include <stdint.h>

#include "devargs.h"

/** @return CPUID leaf 1 EAX of an Intel CPU, 0 for other CPUs. */
uint32_t mdv_relaxed_cpu(void);
/** Decide by the argument and by the value of mdv_relaxed_cpu(), and give the reason as a text. */
bool mdv_relaxed_choose(enum mdv_relaxed wanted, uint32_t cpu, const char **why);

#endif /* MDV_RELAXED_H */
