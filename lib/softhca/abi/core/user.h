/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The process that a request is from: its buffers, memory, descriptors, capabilities and limits.
 *
 * That is this process, or, while a thread has set shca_user_current, another one, on which the
 * kernel lets this one look as a debugger does (ptrace(2), PTRACE_MODE_ATTACH). These functions
 * copy each buffer once, and return -EFAULT where the kernel's copy_from_user and copy_to_user
 * fail.
 */
#ifndef SHCA_ABI_CORE_USER_H
#define SHCA_ABI_CORE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/context.h"

/** A buffer an ioctl attribute names: an address, or up to 8 bytes in the attribute itself. */
struct shca_user_buffer {
	uint64_t address; /**< 0 when the bytes are inline */
	size_t length;
	uint8_t inline_bytes[8];
	uint8_t is_inline;
};

/** Memory of the process that the device keeps: a ring, a doorbell record, a memory region. */
struct shca_pin {
	uint8_t *start; /**< where this process sees its first byte */
	void *map;      /**< a mapping of it in this process, or NULL: it is this process's own */
	size_t map_bytes;
};

/** Descriptors that one request makes, at most. */
#define SHCA_USER_FDS_MAX 2

/** Bytes that are read at once. */
#define SHCA_USER_AHEAD_BYTES 1024

/** Answers that go along with the end of a request, at most, and their bytes. */
#define SHCA_USER_WRITES_MAX  4
#define SHCA_USER_WRITE_BYTES 512

/** Bytes for the process at @a address. */
struct shca_user_write {
	uint64_t address;
	uint32_t length;
	uint32_t unused;
};

/** A request of another process, from its arrival to its answer. Belongs to one thread. */
struct shca_user {
	pid_t pid;
	int pidfd;
	/** Map memory of the process here. @return 0, -EFAULT, -ENOMEM, or -ERESTART: memory has to
	 * be shared first, and then the request comes again. */
	int (*map)(struct shca_user *user, uint64_t address, uint64_t length, bool write,
		struct shca_pin *pin);
	void *arg; /**< of map() */
	/** Descriptors for the process, and where their numbers go. */
	struct shca_user_fd {
		int fd;
		uint32_t bytes;
		uint64_t address;
	} fds[SHCA_USER_FDS_MAX];
	unsigned int nb_fds;
	bool has_come_before; /**< it was sent away with -ERESTART */
	/** The process's memory as last read: parts of a request lie close together, and each copy
	 * costs what the rest of the request does. */
	struct {
		uint64_t address;
		size_t nb_bytes; /**< 0: none, as at the beginning of a request */
		uint8_t bytes[SHCA_USER_AHEAD_BYTES];
	} ahead;
	/** What the process writes itself when it gets the answer: a copy saved, too. */
	struct {
		uint64_t start, length; /**< memory where it can: its thread's stack */
		unsigned int nb;
		uint32_t nb_bytes; /**< of all writes, one behind the other */
		struct shca_user_write write[SHCA_USER_WRITES_MAX];
		uint8_t bytes[SHCA_USER_WRITE_BYTES];
	} deferred;
};

/** The request that this thread works at; NULL: it is of this process. */
extern __thread __attribute__((tls_model("initial-exec"))) struct shca_user *shca_user_current;

/** @return whether the request was sent away with -ERESTART before: its faults are counted. */
bool shca_user_has_come_before(void);
/** @return the process's number. */
pid_t shca_user_pid(void);
/** Copy the name of the process's command; bytes that no terminal should get become '?'. */
void shca_user_comm(char comm[static SHCA_CONTEXT_COMM_BYTES]);
/** @param[out] pidfd of the process, for the caller to close; -1: it is this one @return 0 or a
 * negative errno. */
int shca_user_copy_pidfd(int *pidfd);
/** @return whether a variable of the environment that the process began with is that number. */
bool shca_user_has_number(const char *variable, int number);
/** @return the bytes that the process may lock; UINT64_MAX: no limit. */
uint64_t shca_user_memlock(void);

/** @param address of a byte that the process has @return 0, or a negative errno: why the kernel
 * does not let this process look into that one. */
int shca_user_look(uint64_t address);

/** @return 0 or -EFAULT. */
int shca_user_copy_in(void *to, uint64_t from, size_t length);
/** @return 0 or -EFAULT. */
int shca_user_copy_out(uint64_t to, const void *from, size_t length);

/**
 * Keep @p length bytes at @p address, for writing too if @p write. Of this process nothing is
 * checked: the device does so.
 * @return 0 or a negative errno, which the request passes on.
 */
int shca_user_pin(uint64_t address, uint64_t length, bool write, struct shca_pin *pin);
/** All-zero is allowed. */
void shca_user_unpin(struct shca_pin *pin);

/**
 * Give the process @p fd, whose number there is written to @p address as @p bytes bytes. Closing it
 * is up to the process if the request succeeds, else to the caller.
 * @return 0 or -EFAULT.
 */
int shca_user_give_fd(int fd, uint64_t address, uint32_t bytes);
/** @return how many descriptors this thread's requests have given this process since the last call,
 * those of requests that failed then included. */
unsigned int shca_user_take_given(int fds[static SHCA_USER_FDS_MAX]);
struct shca_user_inode {
	uint64_t device, number;
};
/** Find the file of the process's descriptor @p fd. @return 0 or -EBADF. */
int shca_user_find_inode(int32_t fd, struct shca_user_inode *inode);
/** @return the inode of the process's descriptor @p fd if that is a socket, or 0. */
ino_t shca_user_socket(int64_t fd);
/** @param likely a number that it may have @return the process's descriptor of a socket; -1: there
 * is none. */
int shca_user_find_socket(ino_t inode, int likely);
/** @param likely a number that it may have @return a copy of the process's descriptor of a socket,
 * which the caller closes; -1: there is none. */
int shca_user_borrow_socket(ino_t inode, int likely);

/**
 * Read @p length bytes at @p offset; bytes past the buffer's end read as zero.
 * @return 0 or -EFAULT.
 */
int shca_user_read(const struct shca_user_buffer *buffer, size_t offset, void *to, size_t length);
/** @return 0 when all bytes from @p offset on are zero, else -EOPNOTSUPP; -EFAULT. */
int shca_user_check_clear(const struct shca_user_buffer *buffer, size_t offset);
/**
 * Read a struct of @p length bytes, of which a program of another version may have fewer, which
 * then count as zero, or more, which have to be zero (Linux ib_copy_from_udata(),
 * ib_is_udata_cleared()).
 * @return 0, -EOPNOTSUPP or -EFAULT.
 */
int shca_user_read_known(const struct shca_user_buffer *buffer, void *to, size_t length);
/**
 * Answer with @p length bytes: cut to the buffer, or followed by zeros to its end.
 * @return 0 or -EFAULT.
 */
int shca_user_write(const struct shca_user_buffer *buffer, const void *from, size_t length);

#endif /* SHCA_ABI_CORE_USER_H */
