/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/next.h"

#include "preload/bell.h"

#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "abi/core/user.h"
#include "client/cancel.h"

#define FIRST_NUMBER 0x5ca00000u /* no application counts its requests from there */

struct answer {
	STAILQ_ENTRY(answer) next;
	uint32_t number; /* of its bell */
	size_t length;
	uint8_t bytes[];
};

struct shca_bell {
	int protocol;
	pthread_mutex_t lock;
	STAILQ_HEAD(, answer) waiting;
	uint32_t last;          /* number */
	atomic_uint nb_waiting; /* read without the lock */
};

/** What the kernel sends when a bell rings. */
struct rung {
	struct nlmsghdr header;
	struct nlmsgerr ack;
};

struct shca_bell *
shca_bell_create(int protocol)
{
	struct shca_bell *bell = calloc(1, sizeof(*bell));

	if (bell == NULL)
		return NULL;
	bell->protocol = protocol;
	bell->last = FIRST_NUMBER;
	pthread_mutex_init(&bell->lock, NULL);
	STAILQ_INIT(&bell->waiting);
	return bell;
}

/** The lock is held. */
static void
drop_first(struct shca_bell *bell)
{
	struct answer *answer = STAILQ_FIRST(&bell->waiting);

	STAILQ_REMOVE_HEAD(&bell->waiting, next);
	atomic_fetch_sub(&bell->nb_waiting, 1);
	free(answer);
}

void
shca_bell_destroy(struct shca_bell *bell)
{
	if (bell == NULL)
		return;
	while (!STAILQ_EMPTY(&bell->waiting))
		drop_first(bell);
	pthread_mutex_destroy(&bell->lock);
	free(bell);
}

int
shca_bell_protocol(const struct shca_bell *bell)
{
	return bell->protocol;
}

static int
ring(int fd, uint32_t number)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct nlmsghdr nothing = {
		.nlmsg_len = sizeof(nothing),
		.nlmsg_type = NLMSG_NOOP,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.nlmsg_seq = number,
	};

	return NEXT(sendto)(fd, &nothing, sizeof(nothing), 0, (const struct sockaddr *)&kernel,
		       sizeof(kernel)) == sizeof(nothing)
		? 0
		: -errno;
}

int
shca_bell_ring(struct shca_bell *bell, int fd, const void *bytes, size_t length)
{
	struct answer *answer = malloc(sizeof(*answer) + length);
	int cancelling, ret;

	if (answer == NULL)
		return -ENOMEM;
	answer->length = length;
	memcpy(answer->bytes, bytes, length);
	cancelling = shca_cancel_disable();
	pthread_mutex_lock(&bell->lock);
	answer->number = ++bell->last;
	STAILQ_INSERT_TAIL(&bell->waiting, answer, next);
	atomic_fetch_add(&bell->nb_waiting, 1);
	ret = ring(fd, answer->number);
	if (ret != 0) {
		STAILQ_REMOVE(&bell->waiting, answer, answer, next);
		atomic_fetch_sub(&bell->nb_waiting, 1);
		free(answer);
	}
	pthread_mutex_unlock(&bell->lock);
	shca_cancel_restore(cancelling);
	return ret;
}

/** The lock is held. @return the answer whose bell was received, or NULL: something else was. */
static const struct answer *
find_answer(struct shca_bell *bell, const struct rung *rung, ssize_t length)
{
	const struct answer *first;

	if (length != sizeof(*rung) || rung->header.nlmsg_type != NLMSG_ERROR ||
		rung->ack.error != 0 || rung->ack.msg.nlmsg_type != NLMSG_NOOP)
		return NULL;
	/* Bells of earlier ones were lost: the queue was full (ENOBUFS). */
	while ((first = STAILQ_FIRST(&bell->waiting)) != NULL &&
		(int32_t)(first->number - rung->header.nlmsg_seq) < 0)
		drop_first(bell);
	return first != NULL && first->number == rung->header.nlmsg_seq ? first : NULL;
}

/** Read what has been received in pieces. @return its bytes, at most @p size. */
static size_t
gather(const struct msghdr *message, void *bytes, size_t size)
{
	struct iovec piece;
	size_t at = 0;

	for (size_t i = 0; i < message->msg_iovlen && at < size; i++) {
		if (shca_user_copy_in(&piece, (uintptr_t)&message->msg_iov[i], sizeof(piece)) != 0)
			break;
		if (piece.iov_len > size - at)
			piece.iov_len = size - at;
		if (shca_user_copy_in(
			    (uint8_t *)bytes + at, (uintptr_t)piece.iov_base, piece.iov_len) != 0)
			break;
		at += piece.iov_len;
	}
	return at;
}

/** @return whether all pieces together have room for a bell; pieces that are nowhere are the
 * kernel's to refuse. */
static bool
has_room(const struct msghdr *message)
{
	struct iovec piece;
	size_t room = 0;

	for (size_t i = 0; i < message->msg_iovlen && room < sizeof(struct rung); i++) {
		if (shca_user_copy_in(&piece, (uintptr_t)&message->msg_iov[i], sizeof(piece)) != 0)
			return true;
		room = piece.iov_len < SIZE_MAX - room ? room + piece.iov_len : SIZE_MAX;
	}
	return room >= sizeof(struct rung);
}

/** Copy an answer to where the application wants it. @return what recvmsg() returns, with errno. */
static ssize_t
scatter(const struct answer *answer, struct msghdr *message, int flags)
{
	struct iovec piece;
	size_t at = 0;

	for (size_t i = 0; i < message->msg_iovlen && at < answer->length; i++) {
		const size_t left = answer->length - at;
		size_t length;

		if (shca_user_copy_in(&piece, (uintptr_t)&message->msg_iov[i], sizeof(piece)) != 0)
			return shca_next_answer(-EFAULT);
		length = left < piece.iov_len ? left : piece.iov_len;
		if (shca_user_copy_out((uintptr_t)piece.iov_base, answer->bytes + at, length) != 0)
			return shca_next_answer(-EFAULT);
		at += length;
	}
	message->msg_flags &= ~MSG_TRUNC;
	if (at == answer->length)
		return (ssize_t)at;
	message->msg_flags |= MSG_TRUNC;
	return (ssize_t)((flags & MSG_TRUNC) != 0 ? answer->length : at);
}

/** Receive an answer, if that is what comes next. Address and control messages are the bell's.
 * @return whether it was; then @p ret is the result. */
static bool
take_answer(struct shca_bell *bell, int fd, struct msghdr *message, int flags, ssize_t *ret)
{
	struct iovec *iov = message->msg_iov;
	const size_t nb = message->msg_iovlen;
	const int cancelling = shca_cancel_disable();
	const struct answer *answer;
	struct rung rung;
	struct iovec room = { .iov_base = &rung, .iov_len = sizeof(rung) };

	pthread_mutex_lock(&bell->lock);
	*ret = NEXT(recv)(fd, &rung, sizeof(rung), MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
	answer = find_answer(bell, &rung, *ret);
	if (answer != NULL) {
		message->msg_iov = &room;
		message->msg_iovlen = 1;
		(void)NEXT(recvmsg)(fd, message, flags | MSG_DONTWAIT);
		message->msg_iov = iov;
		message->msg_iovlen = nb;
		*ret = scatter(answer, message, flags);
		if ((flags & MSG_PEEK) == 0)
			drop_first(bell);
	}
	pthread_mutex_unlock(&bell->lock);
	shca_cancel_restore(cancelling);
	return answer != NULL;
}

/** A bell came although nothing waited: another thread has asked meanwhile. */
static ssize_t
exchange(struct shca_bell *bell, struct msghdr *message, int flags, ssize_t length)
{
	const struct answer *answer;
	struct rung rung;

	if (length != sizeof(rung) || atomic_load(&bell->nb_waiting) == 0 ||
		gather(message, &rung, sizeof(rung)) != sizeof(rung))
		return length;
	pthread_mutex_lock(&bell->lock);
	answer = find_answer(bell, &rung, length);
	if (answer != NULL) {
		length = scatter(answer, message, flags);
		if ((flags & MSG_PEEK) == 0)
			drop_first(bell);
	}
	pthread_mutex_unlock(&bell->lock);
	return length;
}

ssize_t
shca_bell_receive(struct shca_bell *bell, int fd, struct msghdr *message, int flags)
{
	struct rung rung;
	ssize_t ret;

	/* Of a bell that is cut nobody knows whose it is. */
	if (atomic_load(&bell->nb_waiting) != 0 || !has_room(message)) {
		/* Wait as the application would, for whatever comes. */
		ret = NEXT(recv)(fd, &rung, sizeof(rung), MSG_PEEK | (flags & MSG_DONTWAIT));
		if (ret < 0)
			return ret;
		if (take_answer(bell, fd, message, flags, &ret))
			return ret;
	}
	ret = NEXT(recvmsg)(fd, message, flags);
	return ret < 0 ? ret : exchange(bell, message, flags, ret);
}
