/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Commands on an open file. The manager's lock is held. */
#ifndef SHCA_UCMA_UCM_COMMAND_H
#define SHCA_UCMA_UCM_COMMAND_H

#include "ucma/id.h"

/** A command's bytes, copied and at least as long as its row says, zeros behind them. */
struct shca_ucma_call {
	struct shca_ucma_file *file;
	const void *in;
	size_t in_bytes;  /**< that the application gave */
	size_t out_bytes; /**< that it has room for */
};

/** @{ One command each: @return 0 or a negative errno. */
int shca_query_route(struct shca_ucma_call *call);
int shca_query(struct shca_ucma_call *call);
int shca_option_set(struct shca_ucma_call *call);
int shca_group_join_ip(struct shca_ucma_call *call);
int shca_group_join(struct shca_ucma_call *call);
int shca_group_leave(struct shca_ucma_call *call);
/** @} */
/** Run one; @p length bytes of it are at @p bytes in the application. */
int shca_ucm_command_run(struct shca_ucma_file *file, const void *bytes, size_t length);
/** @param response where the application wants the answer: as much of it as there is room for */
int shca_ucm_answer(
	const struct shca_ucma_call *call, uint64_t response, const void *answer, size_t length);

#endif /* SHCA_UCMA_UCM_COMMAND_H */
