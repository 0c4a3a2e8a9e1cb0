/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the runner and the processes below it share. */
#include "base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/** System calls bypass libc, as open() may be hooked. */
int
shca_shared_map(const char *path, bool create, size_t bytes, void **memory)
{
	int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	void *map = MAP_FAILED;
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (!create || ftruncate(fd, (off_t)bytes) == 0)
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		ret = -errno;
	else
		*memory = map;
	syscall(SYS_close, fd);
	return ret;
}

void
shca_shared_unmap(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}
