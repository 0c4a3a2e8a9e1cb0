/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a program and the keeper of a card say to each other: datagrams on a connection of
 * SOCK_SEQPACKET, one request and its replies at a time. Both are of one machine, so structs go as
 * they are.
 *
 * A request names what it is about by the program's own addresses and descriptors: the keeper looks
 * there itself (abi/core/user.h). Requests of libibverbs and their answers are on the stack of the
 * thread that calls, which nobody else unmaps: those bytes go along, so that neither is copied by
 * a system call of its own. What only the program can do for it, it is told to do first:
 *
 *     program    IOCTL ──>                        STOP ──>      SHARE + file ──>     IOCTL ──>
 *     keeper               <── share this memory      <── done               <── done      <── 0
 *
 * STOP has the file, too, whose size the keeper sets: the program's limit of file sizes may be less
 * than its memory. That is a new file, or one that came with "share this", which then grows, as the
 * heap does. Memory that another thread has moved meanwhile does not move again: STOP is answered
 * by -EAGAIN. Between STOP and SHARE the other threads of the program stand still (keeper/stop.h),
 * so that no store of theirs is lost while the memory moves into a file.
 */
#ifndef SHCA_KEEPER_MESSAGE_H
#define SHCA_KEEPER_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/** Name of the keeper's socket in the directory of its card. */
#define SHCA_MESSAGE_SOCKET "keeper"
/** Of this header; a keeper and a program of other versions do not understand each other. */
#define SHCA_MESSAGE_VERSION 5
/** Descriptors in one message, at most. */
#define SHCA_MESSAGE_FDS_MAX 2
/** Bytes of the program's memory in one request, and answers in one reply, at most. */
#define SHCA_MESSAGE_AHEAD_MAX   1024
#define SHCA_MESSAGE_WRITES_MAX  4
#define SHCA_MESSAGE_WRITTEN_MAX 512
/** Files of memory that a program has moved there are called so. */
#define SHCA_MESSAGE_MEMORY "softhca-memory"

enum shca_message_type {
	/** Node @a port; the reply has its descriptor, or -EPERM: the kernel does not let the
	 * keeper look at @a address. */
	SHCA_MESSAGE_OPEN,
	SHCA_MESSAGE_IOCTL,  /**< @a request on @a fd with the argument @a address */
	SHCA_MESSAGE_WRITE,  /**< @a length bytes at @a address on @a fd */
	SHCA_MESSAGE_CLOSED, /**< a descriptor of a node was closed; it is gone when this returns */
	SHCA_MESSAGE_NETLINK, /**< @a length bytes at @a address, of the socket @a request */
	/** All threads but @a tid, for @a length bytes at @a address to move to the file that comes
	 * along, at @a offset. */
	SHCA_MESSAGE_STOP,
	/** They go on; if a file comes along the bytes have moved. */
	SHCA_MESSAGE_SHARE,
	/** Thread @a tid is about to fork: from then on no thread goes on but the child's, until it
	 * has written to the pipe that comes along, or ended. -ESRCH: there is no other thread.
	 * If there is no child, SHARE without a file is next. */
	SHCA_MESSAGE_FORK,
	SHCA_MESSAGE_NB,
};

/** What the program has at @a address, SHCA_MESSAGE_AHEAD_MAX bytes at most, may follow. */
struct shca_message {
	uint32_t version;
	uint32_t type; /**< enum shca_message_type */
	int32_t fd;
	int32_t tid; /**< as the program sees it */
	uint32_t port;
	uint32_t unused;
	uint64_t request;
	uint64_t address;
	uint64_t length;
	uint64_t offset;
	/** Memory that the program writes answers to itself; length 0: none. */
	uint64_t stack, stack_length;
};

enum shca_reply_type {
	SHCA_REPLY_DONE, /**< the last one: @a ret */
	/** The last one: share @a start, @a length, at @a offset of the file that comes along, or
	 * of a new one; then ask again. */
	SHCA_REPLY_SHARE,
	SHCA_REPLY_DATAGRAM, /**< of netlink: its bytes follow; more replies come */
};

/** The bytes of @a writes follow, one behind the other. */
struct shca_reply {
	uint32_t type; /**< enum shca_reply_type */
	int32_t ret;   /**< 0 or a negative errno */
	/** Of each descriptor that comes along: where the program wants its number, as so many
	 * bytes; address 0: nowhere. */
	struct shca_reply_fd {
		uint64_t address;
		uint32_t bytes;
		uint32_t unused;
	} fds[SHCA_MESSAGE_FDS_MAX];
	uint64_t start, length, offset;
	uint32_t prot; /**< PROT_*, of the memory now */
	uint32_t nb_writes;
	/** What the program puts at @a address, in this order. */
	struct shca_reply_write {
		uint64_t address;
		uint32_t length;
		uint32_t unused;
	} writes[SHCA_MESSAGE_WRITES_MAX];
};

/** Replies of all versions begin with so many bytes of these: they tell that versions differ. */
#define SHCA_REPLY_SINCE_1 offsetof(struct shca_reply, fds)

#endif /* SHCA_KEEPER_MESSAGE_H */
