/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Whose an object of a device is: a verbs context, and the process that it was made by, as they
 * were then. Below abi/ nobody looks at processes; objects and rules name such a record, which
 * outlives them.
 */
#ifndef SHCA_BASE_CONTEXT_H
#define SHCA_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** As many as the kernel has for one (TASK_COMM_LEN). */
#define SHCA_CONTEXT_COMM_BYTES 16

/** The process of a context, where that is another's: for one to end it. */
struct shca_program {
	int pidfd;
	bool is_ended; /**< by a finding (strict/findings.h) */
};

struct shca_context {
	uint32_t ctxn; /**< number among the contexts of the card */
	pid_t pid;
	char comm[SHCA_CONTEXT_COMM_BYTES]; /**< the command's name; no control characters */
	/** As long as the context is there; NULL: it is of this process. */
	struct shca_program *program;
};

#endif /* SHCA_BASE_CONTEXT_H */
