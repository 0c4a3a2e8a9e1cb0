/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stack.h"
#include "client/cancel.h"
#include "client/connection.h"
#include "client/share.h"
#include "keeper/message.h"

#define DATAGRAM_BYTES_MAX (64u << 10)

bool
shca_link_is_kept(const char *dir)
{
	const int saved_errno = errno;
	char path[PATH_MAX];
	bool is_kept = shca_connection_path(path, sizeof(path), dir) == 0 &&
		faccessat(AT_FDCWD, path, F_OK, 0) == 0;

	errno = saved_errno;
	return is_kept;
}

/** A reply as it arrives. */
struct arrival {
	struct shca_reply reply;
	int fds[SHCA_MESSAGE_FDS_MAX];
	unsigned int nb_fds;
	bool is_cut; /* the program may have no more descriptors: some have not come */
};

/** @param room for what follows the reply, or NULL @return the length of that, or -EIO. */
static ssize_t
receive(int fd, struct arrival *arrival, void *room, size_t size)
{
	struct iovec parts[] = {
		{ .iov_base = &arrival->reply, .iov_len = sizeof(arrival->reply) },
		{ .iov_base = room, .iov_len = size },
	};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(arrival->fds))];
	struct msghdr header = {
		.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *cmsg;
	ssize_t length;

	do
		length = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	arrival->nb_fds = 0;
	arrival->is_cut = length >= 0 && (header.msg_flags & MSG_CTRUNC) != 0;
	/* Of another version, whose replies have other lengths. */
	if (length >= (ssize_t)SHCA_REPLY_SINCE_1 && arrival->reply.type == SHCA_REPLY_DONE &&
		arrival->reply.ret == -EPROTONOSUPPORT) {
		arrival->reply.nb_writes = 0;
		return 0;
	}
	if (length < (ssize_t)sizeof(arrival->reply))
		return -EIO;
	cmsg = CMSG_FIRSTHDR(&header);
	if (cmsg != NULL && cmsg->cmsg_type == SCM_RIGHTS) {
		arrival->nb_fds = (unsigned int)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(arrival->fds, CMSG_DATA(cmsg), arrival->nb_fds * sizeof(int));
	}
	return length - (ssize_t)sizeof(arrival->reply);
}

/** @return the bytes at the message's address that go along: some of the calling thread's stack. */
static size_t
find_ahead(const struct shca_message *message)
{
	const uint64_t at = message->address - message->stack;

	if (message->address < message->stack || at >= message->stack_length)
		return 0;
	if (message->stack_length - at < SHCA_MESSAGE_AHEAD_MAX)
		return (size_t)(message->stack_length - at);
	return SHCA_MESSAGE_AHEAD_MAX;
}

/** Send a message, with a file if @p passed is one. */
static bool
send_message(int fd, const struct shca_message *message, int passed)
{
	struct iovec parts[] = {
		{ .iov_len = sizeof(*message) },
		{ .iov_base = (void *)(uintptr_t)message->address, .iov_len = find_ahead(message) },
	};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };
	struct cmsghdr *cmsg;
	ssize_t sent;

	memcpy(&parts[0].iov_base, &message, sizeof(message)); /* iovec has no const form */
	if (passed >= 0) {
		header.msg_control = control;
		header.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&header);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &passed, sizeof(int));
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)(parts[0].iov_len + parts[1].iov_len);
}

static int
say(void *arg, enum shca_message_type type, int passed, const struct shca_share *share)
{
	const int *fd = arg;
	const struct shca_message message = {
		.version = SHCA_MESSAGE_VERSION,
		.type = type,
		.tid = (int32_t)syscall(SYS_gettid),
		.address = share->start,
		.length = share->length,
		.offset = share->offset,
	};
	struct arrival arrival;

	if (!send_message(*fd, &message, passed) || receive(*fd, &arrival, NULL, 0) < 0)
		return -EIO;
	return arrival.reply.ret;
}

/** Put the numbers of descriptors where the program wants them. */
static void
place_fds(const struct arrival *arrival)
{
	for (unsigned int i = 0; i < arrival->nb_fds; i++) {
		const struct shca_reply_fd *where = &arrival->reply.fds[i];
		const int64_t number = arrival->fds[i];

		/* The keeper has made it from the request's own address. */
		if (where->bytes != 0 && where->bytes <= sizeof(number))
			memcpy((void *)(uintptr_t)where->address, &number, where->bytes);
	}
}

/** Write what the keeper answers, where it may. @param bytes of them all, @p length */
static void
place_writes(const struct shca_message *message, const struct shca_reply *reply,
	const uint8_t *bytes, ssize_t length)
{
	for (unsigned int i = 0; i < reply->nb_writes && i < SHCA_MESSAGE_WRITES_MAX; i++) {
		const struct shca_reply_write *write = &reply->writes[i];
		const uint64_t at = write->address - message->stack;

		if (at > message->stack_length || write->length > message->stack_length - at ||
			(ssize_t)write->length > length)
			return;
		memcpy((void *)(uintptr_t)write->address, bytes, write->length);
		bytes += write->length;
		length -= write->length;
	}
}

static int
share(int fd, const struct arrival *arrival)
{
	const struct shca_share share = {
		.start = arrival->reply.start,
		.length = arrival->reply.length,
		.prot = (int)arrival->reply.prot,
		.fd = arrival->nb_fds != 0 ? arrival->fds[0] : -1,
		.offset = arrival->reply.offset,
	};

	return shca_share(&share, say, &fd);
}

/** Nothing was made for a program that cannot have it. */
static void
refuse_cut(struct arrival *arrival)
{
	if (!arrival->is_cut)
		return;
	while (arrival->nb_fds != 0)
		syscall(SYS_close, arrival->fds[--arrival->nb_fds]);
	arrival->reply.ret = -EMFILE;
}

/** Ask until the answer is final. @return what receive() does; false: the keeper is gone. */
static bool
ask(int fd, const struct shca_message *message, struct arrival *arrival)
{
	uint8_t written[SHCA_MESSAGE_WRITTEN_MAX];
	ssize_t length;
	int ret = 0;

	for (;;) {
		if (!send_message(fd, message, -1))
			return false;
		length = receive(fd, arrival, written, sizeof(written));
		if (length < 0)
			return false;
		place_writes(message, &arrival->reply, written, length);
		if (arrival->reply.type != SHCA_REPLY_SHARE) {
			refuse_cut(arrival);
			return true;
		}
		ret = share(fd, arrival);
		if (ret == -EIO)
			return false;
		if (ret != 0)
			break;
	}
	arrival->nb_fds = 0;
	arrival->reply.ret = ret;
	return true;
}

static int
complain(int ret)
{
	if (ret == -EPROTONOSUPPORT)
		SHCA_ERR(
			"the keeper of %s is of another version of softhca", shca_connection_dir());
	return ret;
}

/**
 * The frame of this function is below all that its callers have on the stack. Keeps errno.
 * @param made gets the descriptors that came @return what the keeper answers, or -EIO
 */
static __attribute__((noinline)) int
call(const char *dir, struct shca_message *message, struct shca_link_fds *made)
{
	struct arrival arrival;
	const int saved_errno = errno;
	const int cancelling = shca_cancel_disable();
	struct shca_connection connection;
	int ret = shca_connection_take(dir, &connection);

	made->nb = 0;
	if (ret != 0)
		goto out;
	message->version = SHCA_MESSAGE_VERSION;
	message->stack = (uintptr_t)__builtin_frame_address(0);
	message->stack_length = shca_stack_callers(__builtin_frame_address(0));
	if (!ask(connection.fd, message, &arrival))
		ret = -EIO;
	shca_connection_put(&connection, ret == 0);
out:
	shca_cancel_restore(cancelling);
	errno = saved_errno;
	if (ret != 0)
		return ret;
	place_fds(&arrival);
	made->nb = arrival.nb_fds;
	memcpy(made->fd, arrival.fds, sizeof(made->fd));
	return arrival.reply.ret;
}

/** @return why the kernel lets nobody look into this process, likely (ptrace(2),
 * PTRACE_MODE_ATTACH). */
static const char *
why_hidden(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char scope = '0';

	if (fd >= 0 && read(fd, &scope, 1) != 1)
		scope = '0';
	if (fd >= 0)
		close(fd);
	if (scope > '1')
		return scope == '2' ? "ptrace_scope of Yama is 2: that takes CAP_SYS_PTRACE"
				    : "ptrace_scope of Yama is 3: nobody may";
	if (prctl(PR_GET_DUMPABLE) != 1)
		return "it is not dumpable: see prctl(2)";
	return "it is another user's, has capabilities that the keeper lacks, or a security module forbids it";
}

int
shca_link_open(const char *dir, unsigned int port, bool cloexec)
{
	struct shca_message message = {
		.type = SHCA_MESSAGE_OPEN,
		.port = port,
		.address = (uintptr_t)&message,
	};
	struct shca_link_fds made;
	int ret = complain(call(dir, &message, &made));

	if (ret == -EPERM)
		SHCA_ERR(
			"the keeper of %s may not look into this process (%s); with SOFTHCA_KEEPER=0 softhca run needs none",
			shca_connection_dir(), why_hidden());
	if (ret == 0 && made.nb != 1)
		ret = -EIO;
	if (ret == 0 && !cloexec)
		(void)fcntl(made.fd[0], F_SETFD, 0);
	return ret == 0 ? made.fd[0] : ret;
}

int
shca_link_ioctl(int fd, unsigned long request, void *arg, struct shca_link_fds *made)
{
	struct shca_message message = {
		.type = SHCA_MESSAGE_IOCTL,
		.fd = fd,
		.request = request,
		.address = (uintptr_t)arg,
	};

	return call(NULL, &message, made);
}

int
shca_link_write(int fd, const void *bytes, size_t length, struct shca_link_fds *made)
{
	struct shca_message message = {
		.type = SHCA_MESSAGE_WRITE,
		.fd = fd,
		.address = (uintptr_t)bytes,
		.length = length,
	};

	return call(NULL, &message, made);
}

void
shca_link_closed(void)
{
	struct shca_message message = { .type = SHCA_MESSAGE_CLOSED };
	struct shca_link_fds none;

	(void)call(NULL, &message, &none);
}

int
shca_link_netlink(const char *dir, const void *bytes, size_t length, uint32_t portid,
	int (*send)(void *arg, const void *bytes, size_t length), void *arg)
{
	const struct shca_message message = {
		.version = SHCA_MESSAGE_VERSION,
		.type = SHCA_MESSAGE_NETLINK,
		.address = (uintptr_t)bytes,
		.length = length,
		.request = portid,
	};
	_Alignas(8) char datagram[DATAGRAM_BYTES_MAX];
	const int saved_errno = errno;
	const int cancelling = shca_cancel_disable();
	struct arrival arrival;
	struct shca_connection connection;
	int ret = shca_connection_take(dir, &connection);
	ssize_t got;

	if (ret != 0)
		goto out;
	got = send_message(connection.fd, &message, -1) ? 0 : -EIO;
	while (got >= 0) {
		got = receive(connection.fd, &arrival, datagram, sizeof(datagram));
		if (got < 0 || arrival.reply.type != SHCA_REPLY_DATAGRAM)
			break;
		if (ret == 0)
			ret = send(arg, datagram, (size_t)got);
	}
	shca_connection_put(&connection, got >= 0);
	if (got < 0)
		ret = -EIO;
	else
		ret = complain(ret != 0 ? ret : arrival.reply.ret);
out:
	shca_cancel_restore(cancelling);
	errno = saved_errno;
	return ret;
}

pid_t
shca_link_fork(pid_t (*fork_fn)(void))
{
	const int saved_errno = errno;
	const int cancelling = shca_cancel_disable();
	struct shca_connection connection = { .fd = -1 };
	const bool asks = shca_share_has_moved() && shca_connection_take(NULL, &connection) == 0;
	const pid_t pid = shca_share_fork(fork_fn, asks ? say : NULL, &connection.fd);
	const int error = errno;

	/* The child makes connections of its own. */
	if (asks && pid == 0)
		shca_connection_drop(&connection);
	else if (asks)
		shca_connection_put(&connection, true);
	shca_cancel_restore(cancelling);
	errno = pid < 0 ? error : saved_errno;
	return pid;
}
