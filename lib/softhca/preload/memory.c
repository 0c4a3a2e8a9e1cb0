/* SPDX-License-Identifier: BSD-3-Clause */
/* madvise(): memory that has moved to the keeper's sight is private to the program. posix_madvise()
 * of the C library frees nothing (sysdeps/unix/sysv/linux/posix_madvise.c of glibc 2.36). */
#include "preload/next.h"

#include <stddef.h>
#include <sys/mman.h>

#include "client/share.h"

/** Other advice says nothing of content; that of libibverbs on fork() is among it. */
EXPORT int
madvise(void *start, size_t length, int advice)
{
	if (advice != MADV_DONTNEED && advice != MADV_FREE)
		return NEXT(madvise)(start, length, advice);
	return shca_share_advise(NEXT(madvise), start, length, advice);
}
