/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The calling thread's stack: what its callers have there is mapped, and nobody can unmap it
 * meanwhile.
 */
#ifndef SHCA_BASE_STACK_H
#define SHCA_BASE_STACK_H

#include <stddef.h>

/**
 * @param frame of the caller, by __builtin_frame_address(0)
 * @return the bytes from @p frame to the stack's end; 0: the thread runs on another stack for a
 * while, or AddressSanitizer is there, which knows bytes between variables that nobody may copy.
 */
size_t shca_stack_callers(const void *frame);

#endif /* SHCA_BASE_STACK_H */
