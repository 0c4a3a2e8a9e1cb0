/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory of a program, mapped here: what its queues and regions keep of it.
 *
 * Memory of a file that programs map as shared (hugepages, memfd, /dev/shm) is mapped from that
 * file. Other memory is the program's alone until it has moved it to a file (keeper/message.h). A
 * mapping outlives the program's own, as pinned pages do.
 */
#ifndef SHCA_KEEPER_MEMORY_H
#define SHCA_KEEPER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "abi/core/user.h"
#include "keeper/wanted.h"

/** The files of a program's memory that are open here. Its owner serialises calls. */
struct shca_memory {
	pid_t pid;
	int pidfd;
	LIST_HEAD(shca_memory_files, shca_memory_file) files;
	struct shca_wanted wanted;
};

/** Memory that the program has to share first. */
struct shca_memory_range {
	uint64_t start, length;
	uint32_t prot;   /**< PROT_* */
	int fd;          /**< the file that it is to follow in, borrowed; -1: a new one */
	uint64_t offset; /**< there */
};

void shca_memory_init(struct shca_memory *memory, pid_t pid, int pidfd);
/** Mappings stay. */
void shca_memory_fini(struct shca_memory *memory);
/** Give up the files of memory that has moved, and what was wanted of it, if none of them is mapped
 * any more: the program has become another. */
void shca_memory_forget_moved(struct shca_memory *memory);
/** Take a file of memory, @p fd, which is closed in any case. @param end of what has moved there
 * @return 0, -ENOMEM, -EBADF. */
int shca_memory_add(struct shca_memory *memory, int fd, uint64_t end);
/** @return whether some of @p length bytes at @p start has moved to a file already. */
bool shca_memory_has_moved(const struct shca_memory *memory, uint64_t start, uint64_t length);
/**
 * Map @p length bytes that the program has at @p address.
 * @param[out] range of -ERESTART
 * @return 0; -EFAULT: not mapped there, not in this way, or it cannot be shared; -ENOMEM;
 * -ERESTART: *range must be shared first.
 */
int shca_memory_map(struct shca_memory *memory, uint64_t address, uint64_t length, bool write,
	struct shca_pin *pin, struct shca_memory_range *range);

#endif /* SHCA_KEEPER_MEMORY_H */
