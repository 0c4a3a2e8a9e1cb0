/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The verbs by name, as a faults file has them: requests of a program to the kernel, each an ioctl
 * method of its own or a command within INVOKE_WRITE.
 */
#ifndef SHCA_FAULT_VERB_H
#define SHCA_FAULT_VERB_H

#include <stdbool.h>
#include <stdint.h>

struct shca_verb {
	const char *name;
	bool is_write;   /**< a command of INVOKE_WRITE */
	bool is_destroy; /**< "any" leaves it out: the kernel does not let destruction fail */
	uint16_t object; /**< of a method */
	uint32_t number; /**< of the method or command */
};

/** Ended by a row without a name. */
extern const struct shca_verb shca_verbs[];

/** @return the verb of that name, in any case of letters, or NULL. */
const struct shca_verb *shca_verb_find(const char *name);
/** @return the verb of a method, or NULL for INVOKE_WRITE and for methods without a name. */
const struct shca_verb *shca_verb_of_method(uint16_t object, uint16_t method);
const struct shca_verb *shca_verb_of_command(uint32_t command);

#endif /* SHCA_FAULT_VERB_H */
