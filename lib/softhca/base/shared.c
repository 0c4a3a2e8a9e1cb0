/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the runner and the processes below it share. */
#include "base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Give a file its size, and all of its blocks: a store to memory has no way to say that there is
 * no room. @return 0 or a negative errno. */
static int
fill(int fd, size_t bytes)
{
	if (fallocate(fd, 0, 0, (off_t)bytes) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return -errno;
	return ftruncate(fd, (off_t)bytes) == 0 ? 0 : -errno;
}

/** System calls bypass libc, as open() may be hooked. */
int
shca_shared_map(const char *path, bool create, size_t bytes, void **memory)
{
	int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	void *map = MAP_FAILED;
	int ret;

	if (fd < 0)
		return -errno;
	ret = create ? fill(fd, bytes) : 0;
	if (ret == 0)
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ret == 0 && map == MAP_FAILED)
		ret = -errno;
	if (ret == 0)
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
