/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a type of request. */
#include "keeper/session.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/core/user.h"
#include "abi/entry/file.h"
#include "base/log.h"
#include "base/node.h"
#include "keeper/keeper.h"
#include "keeper/message.h"
#include "keeper/nodes.h"
#include "keeper/process.h"
#include "keeper/stop.h"
#include "nldev/nldev.h"
#include "softhca.h"
#include "ucma/ucma.h"

/** What memory that was shared may grow by, of address space. */
#define GROWTH_BYTES ((off_t)1 << 40)
/** A program that reads no answers is left alone after so long: the keeper ends no sooner. */
#define PATIENCE_S 2
/** A datagram of requests to netlink, at most. */
#define NETLINK_BYTES_MAX 4096

struct session {
	struct shca_session_shared *shared;
	int fd;
	struct shca_process *process;
	struct shca_user user;          /* of the request that runs */
	struct shca_stop stop;          /* between STOP and SHARE */
	struct shca_stop_fork fork;     /* that is to come */
	struct shca_wanted_kept *kept;  /* while its child begins */
	struct shca_memory_range range; /* that has to be shared */
	bool is_to_share;
	int passed_fd; /* that came with the request, or -1 */
	pid_t sender;  /* of the request */
};

static int
map(struct shca_user *user, uint64_t address, uint64_t length, bool write, struct shca_pin *pin)
{
	struct session *session = user->arg;
	int ret;

	pthread_mutex_lock(&session->process->lock);
	if (session->process->mover != NULL) {
		/* The kernel tells no other thread where memory is that it moves (Linux 6.17: maps
		 * are read without a lock of all). */
		session->range = (struct shca_memory_range){ .fd = -1 };
		ret = -ERESTART;
	} else {
		ret = shca_memory_map(
			&session->process->memory, address, length, write, pin, &session->range);
	}
	pthread_mutex_unlock(&session->process->lock);
	if (ret == -ERESTART)
		session->is_to_share = true;
	return ret;
}

static int
open_rdma_cm(struct session *session)
{
	struct shca_ucma *ucma = shca_set_ucma(session->shared->conf->set);
	int fd = ucma != NULL ? shca_ucma_open(ucma, true) : -ENODEV;

	return fd < 0 ? fd : shca_user_give_fd(fd, 0, 0);
}

static int
run_open(struct session *session, const struct shca_message *message)
{
	struct shca_device *dev = shca_set_device(session->shared->conf->set, message->port);
	int ret = shca_user_look(message->address), fd;

	if (ret != 0) {
		SHCA_ERR("process %d: no way to look into it: %s", (int)session->process->pid,
			strerror(-ret));
		return -EPERM;
	}
	if (message->port == SHCA_NODE_RDMA_CM)
		return open_rdma_cm(session);
	if (dev == NULL)
		return -ENOENT;
	fd = shca_nodes_open(session->shared->nodes, dev);
	if (fd < 0)
		return fd;
	return shca_user_give_fd(fd, 0, 0);
}

static int
run_ioctl(struct session *session, const struct shca_message *message)
{
	struct shca_file *file;
	int ret = shca_nodes_get(session->shared->nodes, session->process->pid, message->fd, &file);

	if (ret != 0)
		return ret;
	ret = shca_file_ioctl(file, message->request, (void *)(uintptr_t)message->address);
	shca_nodes_put(session->shared->nodes, file);
	return ret;
}

static int
write_rdma_cm(struct session *session, const struct shca_message *message)
{
	struct shca_ucma *ucma = shca_set_has_ucma(session->shared->conf->set);

	if (ucma == NULL)
		return -EIO;
	return shca_ucma_write(ucma, message->fd, (const void *)(uintptr_t)message->address,
		(size_t)message->length);
}

static int
run_write(struct session *session, const struct shca_message *message)
{
	struct shca_file *file;
	int ret = shca_nodes_get(session->shared->nodes, session->process->pid, message->fd, &file);

	if (ret == -EIO)
		return write_rdma_cm(session, message);
	if (ret != 0)
		return ret;
	ret = shca_file_write(
		file, (const void *)(uintptr_t)message->address, (size_t)message->length);
	shca_nodes_put(session->shared->nodes, file);
	return ret;
}

static int
run_closed(struct session *session, const struct shca_message *message)
{
	struct shca_ucma *ucma = shca_set_has_ucma(session->shared->conf->set);

	(void)message;
	shca_nodes_reap(session->shared->nodes);
	if (ucma != NULL)
		shca_ucma_reap(ucma);
	return 0;
}

static int
send_datagram(void *arg, const void *bytes, size_t length)
{
	const struct session *session = arg;
	struct shca_reply reply = { .type = SHCA_REPLY_DATAGRAM };
	struct iovec parts[] = {
		{ .iov_base = &reply, .iov_len = sizeof(reply) },
		{ .iov_len = length },
	};
	const struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };

	memcpy(&parts[1].iov_base, &bytes, sizeof(bytes)); /* iovec has no const form */
	return sendmsg(session->fd, &header, MSG_NOSIGNAL) >= 0 ? 0 : -errno;
}

static struct shca_device *
find_device(void *arg, unsigned int index)
{
	const struct session *session = arg;

	return shca_set_device(session->shared->conf->set, index);
}

static int
run_netlink(struct session *session, const struct shca_message *message)
{
	const struct shca_nldev nldev = {
		.options = session->shared->conf->options,
		.dir = session->shared->conf->dir,
		.portid = (uint32_t)message->request,
		.send = send_datagram,
		.device = find_device,
		.arg = session,
		.ucma = shca_set_has_ucma(session->shared->conf->set),
	};
	_Alignas(8) uint8_t bytes[NETLINK_BYTES_MAX];
	int ret;

	if (message->length > sizeof(bytes))
		return -EMSGSIZE;
	ret = shca_user_copy_in(bytes, message->address, (size_t)message->length);
	/* Who has seen a program end does not see its objects. */
	shca_nodes_reap(session->shared->nodes);
	return ret == 0 ? shca_nldev_answer(&nldev, bytes, (size_t)message->length) : ret;
}

/** Memory may grow later (mremap), and its pages are then those that follow in the file. */
static int
size_file(int fd, uint64_t end)
{
	if (ftruncate(fd, (off_t)end + GROWTH_BYTES) == 0 || ftruncate(fd, (off_t)end) == 0)
		return 0;
	return errno == EFBIG ? -ENOMEM : -errno;
}

/** @return whether memory moves with this session alone. */
static bool
begin_move(struct session *session)
{
	struct shca_process *process = session->process;
	bool is_mover;

	pthread_mutex_lock(&process->lock);
	shca_process_await_fork(process);
	if (process->mover == NULL)
		process->mover = session;
	is_mover = process->mover == session;
	pthread_mutex_unlock(&process->lock);
	return is_mover;
}

/** Let the threads go on that stand still for this session. */
static void
end_move(struct session *session)
{
	struct shca_process *process = session->process;

	pthread_mutex_lock(&process->lock);
	if (process->mover == session)
		process->mover = NULL;
	pthread_mutex_unlock(&process->lock);
	shca_stop_end(&session->stop);
}

static int
run_stop(struct session *session, const struct shca_message *message)
{
	int ret;

	end_move(session);
	if (session->passed_fd < 0)
		return -EBADF;
	if (!begin_move(session))
		return -EAGAIN;
	ret = size_file(session->passed_fd, message->offset + message->length);
	if (ret == 0)
		ret = shca_stop_others(&session->stop, session->process->pid, message->tid);
	if (ret == 0 &&
		shca_memory_has_moved(&session->process->memory, message->address, message->length))
		ret = -EAGAIN;
	if (ret != 0)
		end_move(session);
	return ret;
}

static int
run_share(struct session *session, const struct shca_message *message)
{
	const int fd = session->passed_fd;
	int ret = 0;

	session->passed_fd = -1;
	if (fd >= 0) {
		pthread_mutex_lock(&session->process->lock);
		ret = shca_memory_add(
			&session->process->memory, fd, message->offset + message->length);
		shca_wanted_remove(&session->process->memory.wanted, message->address,
			message->address + message->length);
		pthread_mutex_unlock(&session->process->lock);
	}
	end_move(session);
	return ret;
}

static int
run_fork(struct session *session, const struct shca_message *message)
{
	struct shca_process *process = session->process;
	int ret;

	if (session->passed_fd < 0)
		return -EBADF;
	pthread_mutex_lock(&process->lock);
	shca_process_await_fork(process);
	ret = shca_stop_before_fork(&session->fork, process->pid, message->tid);
	process->forks = ret == 0;
	pthread_mutex_unlock(&process->lock);
	return ret;
}

/** All threads stand still: no more requests come, and those that run end first. */
static void
keep_memory(void *arg)
{
	struct session *session = arg;
	struct shca_process *process = session->process;

	pthread_rwlock_wrlock(&process->calls);
	pthread_mutex_lock(&process->lock);
	session->kept = shca_wanted_keep(&process->memory.wanted, process->pid);
	pthread_mutex_unlock(&process->lock);
}

static void
put_memory_back(void *arg)
{
	struct session *session = arg;

	shca_wanted_put_back(session->kept, session->process->pid);
	session->kept = NULL;
	pthread_rwlock_unlock(&session->process->calls);
}

/** The program has been told that it may fork. */
static void
at_fork(struct session *session)
{
	struct shca_process *process = session->process;

	session->fork.stands = keep_memory;
	session->fork.goes_on = put_memory_back;
	session->fork.arg = session;
	shca_stop_at_fork(&session->fork, session->fd, session->passed_fd);
	pthread_mutex_lock(&process->lock);
	process->forks = false;
	pthread_cond_broadcast(&process->forked);
	pthread_mutex_unlock(&process->lock);
}

static int (*const message_rows[SHCA_MESSAGE_NB])(
	struct session *session, const struct shca_message *message) = {
	[SHCA_MESSAGE_OPEN] = run_open,
	[SHCA_MESSAGE_IOCTL] = run_ioctl,
	[SHCA_MESSAGE_WRITE] = run_write,
	[SHCA_MESSAGE_CLOSED] = run_closed,
	[SHCA_MESSAGE_NETLINK] = run_netlink,
	[SHCA_MESSAGE_STOP] = run_stop,
	[SHCA_MESSAGE_SHARE] = run_share,
	[SHCA_MESSAGE_FORK] = run_fork,
};

/** Take the sender, and a descriptor if one came along. */
static void
take_control(struct session *session, struct msghdr *header)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(header);
	struct ucred sender;

	session->sender = 0;
	for (; cmsg != NULL; cmsg = CMSG_NXTHDR(header, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET)
			continue;
		if (cmsg->cmsg_type == SCM_RIGHTS)
			memcpy(&session->passed_fd, CMSG_DATA(cmsg), sizeof(int));
		if (cmsg->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&sender, CMSG_DATA(cmsg), sizeof(sender));
		session->sender = sender.pid;
	}
}

/** @return whether there is a request; false: the program has gone. */
static bool
receive(struct session *session, struct shca_message *message, ssize_t *length)
{
	struct iovec parts[] = {
		{ .iov_base = message, .iov_len = sizeof(*message) },
		{ .iov_base = session->user.ahead.bytes, .iov_len = SHCA_MESSAGE_AHEAD_MAX },
	};
	/* One descriptor has room; the kernel closes others. */
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	struct msghdr header = {
		.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(sizeof(struct ucred)) + CMSG_LEN(sizeof(int)),
	};

	do
		*length = recvmsg(session->fd, &header, MSG_CMSG_CLOEXEC);
	while (*length < 0 && errno == EINTR);
	if (*length >= 0)
		take_control(session, &header);
	return *length > 0;
}

/** Close what the program does not get. */
static void
drop_fds(struct shca_user *user)
{
	while (user->nb_fds != 0)
		close(user->fds[--user->nb_fds].fd);
}

/** The program gets the file in which its memory is to follow, or makes a new one. */
static void
give_file(struct session *session)
{
	struct shca_memory_range *range = &session->range;
	const int fd = range->fd >= 0 ? fcntl(range->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (fd >= 0)
		session->user.fds[session->user.nb_fds++] = (struct shca_user_fd){ .fd = fd };
	else
		range->offset = 0;
}

/** Those that are about threads and memory themselves are not among what writes to it. */
static int
run_row(struct session *session, const struct shca_message *message)
{
	const bool is_call = message->type <= SHCA_MESSAGE_NETLINK;
	int ret;

	if (is_call)
		pthread_rwlock_rdlock(&session->process->calls);
	ret = message_rows[message->type](session, message);
	if (is_call)
		pthread_rwlock_unlock(&session->process->calls);
	return ret;
}

static int
run(struct session *session, const struct shca_message *message, ssize_t length)
{
	struct shca_user *user = &session->user;
	int ret;

	if (length < (ssize_t)sizeof(*message) || message->version != SHCA_MESSAGE_VERSION)
		return -EPROTONOSUPPORT;
	if (message->type >= SHCA_MESSAGE_NB)
		return -EINVAL;
	/* Memory is read and written, and threads are stopped, of the process that has connected:
	 * nobody else who has its socket may ask for that (Linux, ib_safe_file_access()). A child
	 * of vfork() may close what its parent has. */
	if (session->sender != session->process->pid && message->type != SHCA_MESSAGE_CLOSED)
		return -EPERM;
	session->is_to_share = false;
	user->nb_fds = 0;
	user->ahead.address = message->address;
	user->ahead.nb_bytes = (size_t)length - sizeof(*message);
	user->deferred.start = message->stack;
	user->deferred.length = message->stack_length;
	pthread_rwlock_rdlock(&session->shared->running);
	shca_user_current = user;
	ret = run_row(session, message);
	shca_user_current = NULL;
	pthread_rwlock_unlock(&session->shared->running);
	/* Whoever made a descriptor has closed it on failure. */
	if (ret != 0)
		user->nb_fds = 0;
	session->is_to_share = session->is_to_share && ret == -ERESTART;
	if (session->is_to_share)
		give_file(session);
	if (message->type == SHCA_MESSAGE_IOCTL || message->type == SHCA_MESSAGE_WRITE)
		user->has_come_before = session->is_to_share;
	return ret;
}

/** Have the program write what was deferred. */
static void
fill_writes(struct shca_user *user, struct shca_reply *reply)
{
	static_assert(SHCA_MESSAGE_AHEAD_MAX == SHCA_USER_AHEAD_BYTES, "what was read ahead");
	static_assert(SHCA_MESSAGE_WRITES_MAX == SHCA_USER_WRITES_MAX, "all writes");
	static_assert(SHCA_MESSAGE_WRITTEN_MAX == SHCA_USER_WRITE_BYTES, "all of their bytes");
	reply->nb_writes = user->deferred.nb;
	for (unsigned int i = 0; i < user->deferred.nb; i++)
		reply->writes[i] = (struct shca_reply_write){
			.address = user->deferred.write[i].address,
			.length = user->deferred.write[i].length,
		};
}

static bool
answer(struct session *session, int ret)
{
	struct shca_user *user = &session->user;
	struct shca_reply reply = {
		.type = session->is_to_share ? SHCA_REPLY_SHARE : SHCA_REPLY_DONE,
		.ret = ret,
		.start = session->range.start,
		.length = session->range.length,
		.offset = session->range.offset,
		.prot = session->range.prot,
	};
	struct iovec parts[] = {
		{ .iov_base = &reply, .iov_len = sizeof(reply) },
		{ .iov_base = user->deferred.bytes, .iov_len = user->deferred.nb_bytes },
	};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(SHCA_USER_FDS_MAX * sizeof(int))] = { 0 };
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };
	struct cmsghdr *cmsg;
	ssize_t sent;

	fill_writes(user, &reply);
	if (user->nb_fds != 0) {
		header.msg_control = control;
		header.msg_controllen = CMSG_SPACE(user->nb_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&header);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(user->nb_fds * sizeof(int));
	}
	for (unsigned int i = 0; i < user->nb_fds; i++) {
		reply.fds[i].address = user->fds[i].address;
		reply.fds[i].bytes = user->fds[i].bytes;
		memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &user->fds[i].fd, sizeof(int));
	}
	sent = sendmsg(session->fd, &header, MSG_NOSIGNAL);
	user->deferred.nb = 0;
	user->deferred.nb_bytes = 0;
	drop_fds(user);
	return sent >= 0;
}

static void *
serve(void *arg)
{
	struct session *session = arg;
	struct shca_process *process;
	struct shca_message message;
	ssize_t length;

	session->passed_fd = -1;
	while (receive(session, &message, &length)) {
		const bool goes_on = answer(session, run(session, &message, length));

		if (session->fork.tid != 0)
			at_fork(session);
		if (session->passed_fd >= 0)
			close(session->passed_fd);
		session->passed_fd = -1;
		if (!goes_on)
			break;
	}
	if (session->passed_fd >= 0)
		close(session->passed_fd);
	end_move(session);
	close(session->fd);
	process = session->process;
	free(session);
	shca_process_await_end(process);
	shca_process_put(process);
	return NULL;
}

void
shca_session_start(struct shca_session_shared *shared, int fd)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct session *session = calloc(1, sizeof(*session));
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);
	pthread_t thread;

	if (session == NULL || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0)
		goto close_fd;
	session->shared = shared;
	session->fd = fd;
	session->process = shca_process_get(peer.pid);
	if (session->process == NULL)
		goto close_fd;
	session->user = (struct shca_user){
		.pid = peer.pid,
		.pidfd = session->process->pidfd,
		.map = map,
		.arg = session,
	};
	if (pthread_create(&thread, NULL, serve, session) == 0) {
		pthread_detach(thread);
		return;
	}
	shca_process_put(session->process);
close_fd:
	SHCA_ERR("process %d: no session: out of memory, or it has ended", (int)peer.pid);
	free(session);
	close(fd);
}
