/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The C library's own functions behind those that this library puts before them. */
#ifndef SHCA_PRELOAD_NEXT_H
#define SHCA_PRELOAD_NEXT_H

/* The functions are defined under their plain names, not as the large-file or checked variants. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#define EXPORT __attribute__((visibility("default")))

#define SYMBOLS(ROW)                                                                               \
	ROW(open)                                                                                  \
	ROW(open64)                                                                                \
	ROW(openat)                                                                                \
	ROW(openat64)                                                                              \
	ROW(__open_2)                                                                              \
	ROW(__open64_2)                                                                            \
	ROW(__openat_2)                                                                            \
	ROW(__openat64_2)                                                                          \
	ROW(stat)                                                                                  \
	ROW(stat64)                                                                                \
	ROW(lstat)                                                                                 \
	ROW(lstat64)                                                                               \
	ROW(__xstat)                                                                               \
	ROW(__xstat64)                                                                             \
	ROW(__lxstat)                                                                              \
	ROW(__lxstat64)                                                                            \
	ROW(fstat)                                                                                 \
	ROW(fstat64)                                                                               \
	ROW(__fxstat)                                                                              \
	ROW(__fxstat64)                                                                            \
	ROW(fstatat)                                                                               \
	ROW(fstatat64)                                                                             \
	ROW(__fxstatat)                                                                            \
	ROW(__fxstatat64)                                                                          \
	ROW(statx)                                                                                 \
	ROW(access)                                                                                \
	ROW(faccessat)                                                                             \
	ROW(euidaccess)                                                                            \
	ROW(eaccess)                                                                               \
	ROW(ioctl)                                                                                 \
	ROW(write)                                                                                 \
	ROW(close)                                                                                 \
	ROW(dup)                                                                                   \
	ROW(dup2)                                                                                  \
	ROW(dup3)                                                                                  \
	ROW(fcntl)                                                                                 \
	ROW(fcntl64)                                                                               \
	ROW(socket)                                                                                \
	ROW(connect)                                                                               \
	ROW(send)                                                                                  \
	ROW(sendto)                                                                                \
	ROW(sendmsg)                                                                               \
	ROW(recv)                                                                                  \
	ROW(recvfrom)                                                                              \
	ROW(recvmsg)                                                                               \
	ROW(read)                                                                                  \
	ROW(__recv_chk)                                                                            \
	ROW(__recvfrom_chk)                                                                        \
	ROW(__read_chk)                                                                            \
	ROW(lseek)                                                                                 \
	ROW(lseek64)                                                                               \
	ROW(pread)                                                                                 \
	ROW(pread64)                                                                               \
	ROW(__pread_chk)                                                                           \
	ROW(__pread64_chk)                                                                         \
	ROW(pwrite)                                                                                \
	ROW(pwrite64)                                                                              \
	ROW(preadv)                                                                                \
	ROW(preadv64)                                                                              \
	ROW(pwritev)                                                                               \
	ROW(pwritev64)                                                                             \
	ROW(readv)                                                                                 \
	ROW(writev)                                                                                \
	ROW(ftruncate)                                                                             \
	ROW(ftruncate64)                                                                           \
	ROW(fallocate)                                                                             \
	ROW(fallocate64)                                                                           \
	ROW(preadv2)                                                                               \
	ROW(preadv64v2)                                                                            \
	ROW(pwritev2)                                                                              \
	ROW(pwritev64v2)                                                                           \
	ROW(posix_fallocate)                                                                       \
	ROW(posix_fallocate64)                                                                     \
	ROW(fork)                                                                                  \
	ROW(_Fork)                                                                                 \
	ROW(madvise)                                                                               \
	ROW(mmap)                                                                                  \
	ROW(mmap64)

#define ROW_ENUM(name) SHCA_NEXT_##name,
enum shca_next {
	SYMBOLS(ROW_ENUM) SHCA_NEXT_NB
};

/** @return the function, bound at first use, or one that fails with ENOSYS. Keeps errno. */
void *shca_next_bind(enum shca_next symbol);
#define NEXT(name) ((__typeof__(&name))shca_next_bind(SHCA_NEXT_##name))

/** Return a result as the C library does: a negative errno becomes -1 and errno. */
int shca_next_answer(int ret);

#endif /* SHCA_PRELOAD_NEXT_H */
