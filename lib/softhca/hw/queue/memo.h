/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What became of a received frame (hw/state/memo.h): looked up, and remembered. */
#ifndef SHCA_HW_QUEUE_MEMO_H
#define SHCA_HW_QUEUE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/memo.h"

struct shca_cache_trail;
struct shca_packet;
struct shca_verdict;

/** @return 0 or -ENOMEM. */
int shca_memo_init(struct shca_memo *memo);
void shca_memo_fini(struct shca_memo *memo);

/** @return what is known of @p frame under the rules of @p generation, or NULL. */
const struct shca_memo_line *shca_memo_find(
	struct shca_memo *memo, uint64_t generation, const struct shca_frame *frame);
/**
 * Remember what became of @p packet, if it is a frame of the kind that is remembered.
 * @param trail of all entries that it met, or NULL
 */
void shca_memo_put(struct shca_memo *memo, uint64_t generation, const struct shca_packet *packet,
	const struct shca_verdict *verdict, const struct shca_cache_trail *trail);

#endif /* SHCA_HW_QUEUE_MEMO_H */
