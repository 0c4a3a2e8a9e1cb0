/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An event descriptor: a completion channel or the asynchronous events of a context.
 *
 * The application gets one end of a SOCK_SEQPACKET pair, so read, poll, epoll and O_NONBLOCK are
 * the real ones; a read returns one record. Destroying an object takes its unread records back and
 * reports the number of records that the application has read; libibverbs waits until the
 * application has acknowledged those.
 */
#ifndef SHCA_ABI_CORE_EVENTQ_H
#define SHCA_ABI_CORE_EVENTQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct shca_file;

enum shca_eventq_kind {
	SHCA_EVENTQ_COMPLETION,
	SHCA_EVENTQ_ASYNC,
};

struct shca_eventq {
	LIST_ENTRY(shca_eventq) link;
	enum shca_eventq_kind kind;
	int our_fd;
	int user_fd; /**< the application's end: its number when it was made, maybe not there */
	ino_t inode; /**< of the application's end */
	uint32_t nb_users;
};

/**
 * Make a queue, whose user_fd the caller gives to the application (close-on-exec) or closes.
 * @return 0, -EMFILE, -ENFILE, -ENOMEM.
 */
int shca_eventq_create(
	struct shca_file *file, enum shca_eventq_kind kind, struct shca_eventq **queue);
/** @return this file's queue of this kind that the application knows as @p fd, or NULL. */
struct shca_eventq *shca_eventq_find(
	struct shca_file *file, enum shca_eventq_kind kind, int64_t fd);
/** Take / give back a use of @p queue, which may be NULL. */
struct shca_eventq *shca_eventq_get(struct shca_eventq *queue);
void shca_eventq_put(struct shca_eventq *queue);
/** Take a use of @p queue, or of the file's own asynchronous queue when @p queue is NULL. */
struct shca_eventq *shca_eventq_get_async(struct shca_file *file, struct shca_eventq *queue);
/** Close our ends; the application's stay its own. */
void shca_eventq_destroy_all(struct shca_file *file);
/**
 * As shca_eventq_destroy_all(), but the process is about to end: our ends stay open until then, so
 * that no thread that still waits for events reads the end of the file.
 */
void shca_eventq_leave_all(struct shca_file *file);

/** Never blocks. @return true when the record was queued; @p queue may be NULL. */
bool shca_eventq_send_completion(struct shca_eventq *queue, uint64_t cq_handle);
bool shca_eventq_send_async(struct shca_eventq *queue, uint64_t element, uint32_t event_type);
/** Take back the unread records of an object. @param most that it has sent: others may have the
 * same element @return how many; @p queue may be NULL. */
uint32_t shca_eventq_drop(struct shca_eventq *queue, uint64_t element, uint32_t most);

#endif /* SHCA_ABI_CORE_EVENTQ_H */
