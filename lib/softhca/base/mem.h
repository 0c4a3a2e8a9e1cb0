/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory regions of one device, and the only way the device touches application memory.
 *
 * A region is mapped in the process that has the device, the keeper's or the application's own, so
 * an address in a WQE becomes a plain pointer once it is known to lie in a region. As on hardware,
 * every access names an lkey. An access outside the region, with an unknown lkey, or with an lkey
 * of another protection domain is a protection error; the caller turns it into a completion.
 *
 * A program may unmap memory that it registered (the kernel would keep the pages pinned). Copies
 * are therefore guarded: shca_mem_guard_run() runs a function in which a fault on application
 * memory ends the function instead of the process.
 *
 * Not thread-safe: the device lock (hw/device/device.h) covers registration and use.
 */
#ifndef SHCA_BASE_MEM_H
#define SHCA_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idtable.h"

/** Internal, as is struct shca_idtable; in this header for the inline look-up below. */
struct shca_mem {
	struct shca_idtable mrs;
	uint8_t next_tag;
};

/** A key is index << 8 | tag (mem.c). */
#define SHCA_MEM_LKEY_INDEX_SHIFT 8

/** One memory region; owned by the table. */
struct shca_mr {
	uint64_t iova;   /**< first address as WQEs name it */
	uint64_t length; /**< bytes */
	uint8_t *start;  /**< where this process has iova */
	uint32_t lkey;   /**< also the rkey; never 0 and never 0x100 (the list terminator) */
	uint32_t pdn;
	uint32_t access; /**< IB_UVERBS_ACCESS_* */
	bool is_writable;
	bool is_window; /**< it begins a struct shca_window */
};

/** @return an empty table, or NULL when out of memory. */
struct shca_mem *shca_mem_create(void);
/** Frees the table and all regions still in it. NULL is allowed. */
void shca_mem_destroy(struct shca_mem *mem);

/** Names of files with the device's own pages begin so. Programs map such pages, but cannot
 * register them. */
#define SHCA_MEM_DEVICE_FILE "softhca-uverbs"

/**
 * Register a region. The caller has validated access flags; this checks that the range can be
 * pinned (and written when access asks to write).
 *
 * @return 0, -EINVAL (address overflow), -EFAULT (not to be pinned), -ENOMEM.
 */
int shca_mem_reg(struct shca_mem *mem, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access, struct shca_mr **mr);
/** Register a region of the device's own memory; @p start is the device's mapping. */
int shca_mem_reg_own(struct shca_mem *mem, uint8_t *start, uint64_t length, uint64_t iova,
	uint32_t pdn, uint32_t access, struct shca_mr **mr);
/** Give @p mr, which the caller has allocated and the table owns then, a key of its own. */
int shca_mem_add_key(struct shca_mem *mem, struct shca_mr *mr);
/** Change a region, whose key stays. Errors as of shca_mem_reg(). */
int shca_mem_rereg(struct shca_mr *mr, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access);
/** NULL is allowed. */
void shca_mem_dereg(struct shca_mem *mem, struct shca_mr *mr);

/**
 * Look up @p length bytes at @p iova through @p lkey in O(1).
 *
 * @return where this process has them, or NULL when no region of @p pdn with that key covers the
 * range or @p write is asked of a region without local write.
 */
static inline uint8_t *
shca_mem_ptr(struct shca_mem *mem, uint32_t pdn, uint32_t lkey, uint64_t iova, uint64_t length,
	bool write)
{
	const struct shca_mr *mr = shca_idtable_get(&mem->mrs, lkey >> SHCA_MEM_LKEY_INDEX_SHIFT);

	if (mr == NULL || mr->lkey != lkey || mr->pdn != pdn)
		return NULL;
	if (iova < mr->iova || length > mr->length || iova - mr->iova > mr->length - length)
		return NULL;
	if (write && !mr->is_writable)
		return NULL;
	return mr->start + (iova - mr->iova);
}

/** The region of the last look-up, for callers that mostly use one region. No registration changes
 * while a window is in use. All zero: none yet. */
struct shca_mem_window {
	uint8_t *start; /**< @{ as of struct shca_mr */
	uint64_t iova, length;
	uint32_t lkey; /**< @} */
};

/** As shca_mem_ptr(), with the same @p pdn and @p write in all calls for one @p window. */
static inline uint8_t *
shca_mem_window_ptr(struct shca_mem_window *window, struct shca_mem *mem, uint32_t pdn,
	uint32_t lkey, uint64_t iova, uint64_t length, bool write)
{
	const uint64_t offset = iova - window->iova;
	const struct shca_mr *mr;
	uint8_t *at;

	/* An address before the region is beyond its end, modulo 2^64. */
	if (lkey == window->lkey && length <= window->length && offset <= window->length - length)
		return window->start + offset;
	at = shca_mem_ptr(mem, pdn, lkey, iova, length, write);
	if (at != NULL) {
		mr = shca_idtable_get(&mem->mrs, lkey >> SHCA_MEM_LKEY_INDEX_SHIFT);
		*window = (struct shca_mem_window){ mr->start, mr->iova, mr->length, lkey };
	}
	return at;
}

/** Why shca_mem_ptr() gives NULL. */
enum shca_mem_fault {
	SHCA_MEM_GOOD,
	SHCA_MEM_NO_KEY,
	SHCA_MEM_OTHER_PD,
	SHCA_MEM_READ_ONLY,
	SHCA_MEM_OUTSIDE,
};
/** @return why shca_mem_ptr() refuses these arguments. */
enum shca_mem_fault shca_mem_explain(struct shca_mem *mem, uint32_t pdn, uint32_t lkey,
	uint64_t iova, uint64_t length, bool write);

/** @return true when every page of the range can be read (and written if @p write). */
bool shca_mem_is_mapped(const void *start, uint64_t length, bool write);
/** @return true when, besides, no page is the device's or a guard: the kernel does not pin pages
 * that have no struct page (VM_PFNMAP; mm/gup.c check_vma_flags). */
bool shca_mem_can_pin(const void *start, uint64_t length, bool write);
/**
 * Cut a range of whole pages of a program down to what has no guard page: one within a mapping that
 * the program has forbidden itself to touch (madvise(MADV_GUARD_INSTALL), Linux 6.13), of which
 * maps does not tell. glibc from 2.42 on has them below the stacks of threads.
 * @param wanted,end what has to stay in the range
 * @return 0; -EFAULT: a guard page is in there, and the range is as before.
 */
int shca_mem_leave_out_guards(
	pid_t pid, uint64_t wanted, uint64_t end, uint64_t *start, uint64_t *length);

/**
 * Run @p function(@p arg) so that a SIGSEGV or SIGBUS of this thread inside it returns from here.
 * Other faults go to the handler that the application installed. A run inside of another one
 * returns from there.
 *
 * @return true when the function ended by itself, false when a fault ended it.
 */
bool shca_mem_guard_run(void (*function)(void *arg), void *arg);

#endif /* SHCA_BASE_MEM_H */
