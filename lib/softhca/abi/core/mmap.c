/* SPDX-License-Identifier: BSD-3-Clause */
/* The mmap space of an open file. */
#include "abi/core/mmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/mlx5-abi.h>

#include "base/mem.h"

/** All offsets of the encoding below are less: 8 + 8 + 8 bits of page number. */
#define SPACE_BYTES (1ULL << 36)

/** The device's pages stay, whatever system calls a program makes itself. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/** MLX5_IB_MMAP_OFFSET_START: the commands below it are those of enum mlx5_ib_mmap_cmd. */
#define COMMAND_OBJECT ((uint64_t)SHCA_MMAP_UARS)

/** Between the commands of enum mlx5_ib_mmap_cmd. */
#define UNKNOWN_COMMAND 4

/** The first pages of a function's UAR range are the kernel's own; users get those from here on. */
#define FIRST_USER_UAR 8

int
shca_mmap_open(unsigned int index, bool cloexec)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), SHCA_MEM_DEVICE_FILE "%u", index);
	fd = memfd_create(name, MFD_ALLOW_SEALING | (cloexec ? MFD_CLOEXEC : 0));
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, SPACE_BYTES) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

void *
shca_mmap_area(int fd, enum shca_mmap_area area, size_t bytes)
{
	const off_t offset = (off_t)((uint64_t)area << 8) * SHCA_MMAP_PAGE_BYTES;
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return start != MAP_FAILED ? start : NULL;
}

/** Whatever is mapped is shared (rdma_user_mmap_io(), rdma_user_mmap_entry_get()). */
static int
check_shared(int flags)
{
	const int kind = flags & MAP_TYPE;

	return kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE ? 0 : -EINVAL;
}

/** Clocks and doorbells are a page each (uar_mmap(), mlx5_ib_mmap_clock_info_page()). */
static int
check_page(size_t length, int flags)
{
	return length > SHCA_MMAP_PAGE_BYTES ? -EINVAL : check_shared(flags);
}

/** Clock pages are read (mlx5_ib_mmap(), mlx5_ib_mmap_clock_info_page(), rdma_user_mmap_io()). */
static int
check_clock(size_t length, int prot, int flags, int refused)
{
	const int ret = check_page(length, flags);

	return ret == 0 && (prot & refused) != 0 ? -EPERM : ret;
}

int
shca_mmap_check(uint64_t offset, size_t length, int prot, int flags)
{
	const uint64_t page = offset / SHCA_MMAP_PAGE_BYTES;

	switch ((page >> 8) & 0xff) {
	case MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES:
		return -ENOSYS;
	case UNKNOWN_COMMAND:
		return -EINVAL;
	case MLX5_IB_MMAP_CORE_CLOCK:
		return check_clock(length, prot, flags, PROT_WRITE);
	case MLX5_IB_MMAP_CLOCK_INFO:
		if ((page & 0xff) != MLX5_IB_CLOCK_INFO_V1)
			return -EOPNOTSUPP;
		return check_clock(length, prot, flags, PROT_WRITE | PROT_EXEC);
	case MLX5_IB_MMAP_DEVICE_MEM:
		return check_shared(flags);
	default:
		return check_page(length, flags);
	}
}

uint64_t
shca_mmap_uar_offset(uint32_t index)
{
	uint64_t page = (uint64_t)(index >> 8) << 16 | COMMAND_OBJECT << 8 | (index & 0xff);

	return page * SHCA_MMAP_PAGE_BYTES;
}

uint32_t
shca_mmap_uar_page(uint32_t index)
{
	return FIRST_USER_UAR + index;
}
