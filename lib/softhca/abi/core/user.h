/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The application's request and answer buffers. These functions copy each buffer once, and return
 * -EFAULT where the kernel's copy_from_user and copy_to_user fail.
 */
#ifndef SHCA_ABI_CORE_USER_H
#define SHCA_ABI_CORE_USER_H

#include <stddef.h>
#include <stdint.h>

/** A buffer an ioctl attribute names: an address, or up to 8 bytes in the attribute itself. */
struct shca_user_buffer {
	uint64_t address; /**< 0 when the bytes are inline */
	size_t length;
	uint8_t inline_bytes[8];
	uint8_t is_inline;
};

/** @return 0 or -EFAULT. */
int shca_user_copy_in(void *to, uint64_t from, size_t length);
/** @return 0 or -EFAULT. */
int shca_user_copy_out(uint64_t to, const void *from, size_t length);

/**
 * Read @p length bytes at @p offset; bytes past the buffer's end read as zero.
 * @return 0 or -EFAULT.
 */
int shca_user_read(const struct shca_user_buffer *buffer, size_t offset, void *to, size_t length);
/** @return 0 when all bytes from @p offset on are zero, else -EOPNOTSUPP; -EFAULT. */
int shca_user_is_clear(const struct shca_user_buffer *buffer, size_t offset);
/**
 * Answer with @p length bytes: cut to the buffer, or followed by zeros to its end.
 * @return 0 or -EFAULT.
 */
int shca_user_write(const struct shca_user_buffer *buffer, const void *from, size_t length);

#endif /* SHCA_ABI_CORE_USER_H */
