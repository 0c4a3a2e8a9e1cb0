/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory windows: keys beside those of regions, which are bound to a part of a region by work
 * requests (IBTA 10.6.7). Only remote sides use them, and through the region: one that has gone
 * takes nothing with it. Not thread-safe, as base/mem.h.
 */
#ifndef SHCA_HW_ROCE_WINDOW_H
#define SHCA_HW_ROCE_WINDOW_H

#include "base/mem.h"

/** Any queue pair of the PD: windows of type 1. */
#define SHCA_WINDOW_ANY_QP UINT32_MAX

struct shca_window {
	/** What the table of keys has; of no PD, so that no lkey is found here. */
	struct shca_mr mr;
	uint32_t pdn;
	bool is_type_2; /**< 2B: bound by the consumer's key, to one queue pair */
	bool is_bound;
	uint32_t qpn;         /**< or SHCA_WINDOW_ANY_QP */
	uint32_t target_lkey; /**< of the region */
	uint64_t target;      /**< address in the region of the window's first byte */
};

/** What a bind asks for; a length of 0 unbinds a window of type 1. */
struct shca_window_bind {
	uint32_t pdn, qpn;
	uint8_t variant; /**< lower bits of the new key */
	uint32_t access; /**< IB_UVERBS_ACCESS_REMOTE_* */
	uint64_t start;  /**< first address as remote sides name it */
	uint64_t length;
	uint32_t lkey;
	uint64_t address;
};

/** @return 0, -ENOMEM. */
int shca_window_alloc(
	struct shca_mem *mem, uint32_t pdn, bool is_type_2, struct shca_window **window);
void shca_window_free(struct shca_mem *mem, struct shca_window *window);
/** @return the window of a key, whatever the key's lower bits are, or NULL. */
struct shca_window *shca_window_find(struct shca_mem *mem, uint32_t key);
/** @return false: window, region, range or rights do not allow it (IBTA 10.6.7.2.2). */
bool shca_window_bind(
	struct shca_mem *mem, struct shca_window *window, const struct shca_window_bind *bind);
/** @return false: it is not bound, or by another key, or for another queue pair or PD. */
bool shca_window_invalidate(struct shca_window *window, uint32_t key, uint32_t pdn, uint32_t qpn);
/** The queue pair goes: windows of type 2 that are bound to it can be bound again, and nobody
 * reaches anything by them (IBTA 10.6.7.2.5). */
void shca_window_forget_qp(struct shca_mem *mem, uint32_t qpn);
/** @param wanted IB_UVERBS_ACCESS_REMOTE_* @return where the bytes are, or NULL. */
uint8_t *shca_window_ptr(struct shca_mem *mem, const struct shca_window *window, uint32_t wanted,
	uint32_t rkey, uint32_t pdn, uint32_t qpn, uint64_t va, uint64_t length);

#endif /* SHCA_HW_ROCE_WINDOW_H */
