/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A command of the write interface, as the file of its object sees it. */
#ifndef SHCA_ABI_CORE_COMMAND_H
#define SHCA_ABI_CORE_COMMAND_H

#include "abi/core/object.h"
#include "abi/core/user.h"

/** A command without its headers. */
struct shca_write {
	struct shca_file *file;
	const struct shca_user_buffer *in, *out, *driver_in, *driver_out;
};

/** One command: 0 or a negative errno. */
typedef int (*shca_write_fn)(struct shca_write *write);

#endif /* SHCA_ABI_CORE_COMMAND_H */
