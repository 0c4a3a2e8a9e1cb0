/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A read or write in pieces of what takes each piece by itself. */
#ifndef SHCA_PRELOAD_PIECES_H
#define SHCA_PRELOAD_PIECES_H

#include "preload/next.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>

#include "abi/core/user.h"

/**
 * Give each piece to @p one, up to one that is not filled, or is not written whole (Linux
 * fs/read_write.c do_loop_readv_writev()).
 * @return as readv() and writev()
 */
static inline ssize_t
shca_pieces(int fd, const struct iovec *iov, int nb, ssize_t (*one)(int fd, void *bytes, size_t nb))
{
	ssize_t sum = 0;

	for (int i = 0; i < nb; i++) {
		struct iovec piece;
		ssize_t ret;

		if (shca_user_copy_in(&piece, (uintptr_t)&iov[i], sizeof(piece)) != 0)
			return sum != 0 ? sum : shca_next_answer(-EFAULT);
		ret = piece.iov_len != 0 ? one(fd, piece.iov_base, piece.iov_len) : 0;
		if (ret < 0)
			return sum != 0 ? sum : ret;
		sum += ret;
		if ((size_t)ret != piece.iov_len)
			break;
	}
	return sum;
}

#endif /* SHCA_PRELOAD_PIECES_H */
