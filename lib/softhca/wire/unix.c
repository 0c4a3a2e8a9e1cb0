/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wire "unix:PATH": a cable between two processes, one frame a SOCK_SEQPACKET message, or in rings
 * that both ends share (unix_rings.h).
 *
 * The first end binds PATH, the second connects to it. When the peer goes, frames are dropped as on
 * an unplugged cable, and the remaining end looks for a new peer: the end that bound still listens;
 * the other end tries to connect, and binds when no end listens.
 *
 * The port's link stays up without a peer process, as on a NIC whose neighbour's kernel keeps the
 * link while no program runs there: perftest and others refuse to start on a port that is down.
 */
#include "wire/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/unix_address.h"
#include "wire/unix_rings.h"

#define UNIX_BURST 64
#define RETRY_NS   20000000

struct unix_wire {
	struct shca_wire wire;
	struct sockaddr_un address;
	int dir_fd;    /**< that the address goes by, or -1 */
	int listen_fd; /**< -1: this end connected */
	int peer_fd;   /**< -1: no peer */
	int epoll_fd;  /**< polls both */
	uint64_t retry_ns;
	struct shca_unix_rings *rings; /**< with this peer; NULL: frames are messages */
	bool has_ended;                /**< the peer has closed; its ring may have frames */
	unsigned int nb_calls;         /**< calls of find_peer with a peer */
	unsigned int nb_pops;          /**< calls of rx that took frames from the ring */
	uint64_t nb_dropped;
	uint8_t bytes[UNIX_BURST * SHCA_FRAME_MAX];
};

static void
watch(struct unix_wire *end, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	/* Without epoll the device thread finds frames after its next sleep. */
	if (epoll_ctl(end->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
		SHCA_WARN("unix: cannot poll: %s", strerror(errno));
}

static int
new_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/** @return 0 with peer_fd set, -ENOENT/-ECONNREFUSED when nobody listens, or another errno. */
static int
connect_peer(struct unix_wire *end)
{
	int fd = new_socket();
	int ret;

	if (fd < 0)
		return -errno;
	shca_unix_rings_name(fd);
	if (connect(fd, (const struct sockaddr *)&end->address, sizeof(end->address)) != 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	end->peer_fd = fd;
	watch(end, fd);
	return 0;
}

static int
bind_path(struct unix_wire *end)
{
	struct stat status;
	int fd, ret;

	/* connect() is refused by whatever is no socket, too: a capture, say, named by mistake. */
	if (stat(end->address.sun_path, &status) == 0 && !S_ISSOCK(status.st_mode))
		return -ENOTSOCK;
	fd = new_socket();
	if (fd < 0)
		return -errno;
	/* connect_peer() found no listener, and we hold the lock: the socket is a dead process's.
	 */
	unlink(end->address.sun_path);
	if (bind(fd, (const struct sockaddr *)&end->address, sizeof(end->address)) != 0 ||
		listen(fd, 1) != 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	end->listen_fd = fd;
	watch(end, fd);
	return 0;
}

/** @return a descriptor of PATH's directory, or a negative errno. A lock on the directory leaves no
 * file behind. */
static int
open_directory(const struct unix_wire *end)
{
	struct sockaddr_un address = end->address;
	int fd = open(dirname(address.sun_path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/** Connect, or listen for the other end; the lock keeps two ends from deciding at once. */
static int
attach(struct unix_wire *end)
{
	int lock_fd = open_directory(end);
	int ret;

	if (lock_fd < 0)
		return lock_fd;
	if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
		ret = -EAGAIN;
		goto close_lock;
	}
	ret = connect_peer(end);
	if (ret == -ENOENT || ret == -ECONNREFUSED)
		ret = bind_path(end);
close_lock:
	close(lock_fd);
	return ret;
}

static void
drop_peer(struct unix_wire *end)
{
	if (end->peer_fd >= 0)
		close(end->peer_fd);
	end->peer_fd = -1;
	shca_unix_rings_free(end->rings);
	end->rings = NULL;
	end->has_ended = false;
}

/** Look for a peer if there is none; refuse a third end. */
static void
find_peer(struct unix_wire *end)
{
	struct sockaddr_un address;
	socklen_t length = sizeof(address);
	uint64_t now_ns;
	int fd;

	/* With a peer only a third end can come, which is not worth a system call each time. */
	if (end->peer_fd >= 0 && ++end->nb_calls % 64 != 0)
		return;
	if (end->listen_fd >= 0) {
		fd = accept4(end->listen_fd, (struct sockaddr *)&address, &length,
			SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		if (end->peer_fd >= 0) {
			close(fd);
			return;
		}
		end->peer_fd = fd;
		watch(end, fd);
		if (shca_unix_rings_is_named((const struct sockaddr *)&address, length))
			end->rings = shca_unix_rings_offer(fd);
		return;
	}
	if (end->peer_fd >= 0)
		return;
	now_ns = shca_clock_ns();
	if (now_ns < end->retry_ns)
		return;
	end->retry_ns = now_ns + RETRY_NS;
	attach(end);
}

/** It is looked for again when the peer goes, wherever the process is then: a keeper leaves its
 * directory. If it is too long with that it goes by a descriptor of its directory. */
static int
set_absolute(struct unix_wire *end, const char *path)
{
	const size_t room = sizeof(end->address.sun_path);
	char *here = getcwd(NULL, 0);
	bool fits = false;
	int ret = 0;

	if (here != NULL)
		fits = snprintf(end->address.sun_path, room, "%s/%s", here, path) < (int)room;
	free(here);
	if (!fits)
		ret = shca_unix_address(path, &end->address, &end->dir_fd);
	if (ret != 0)
		end->dir_fd = -1;
	return ret;
}

static int
set_path(struct unix_wire *end, const char *path)
{
	int ret;

	if (strlen(path) >= sizeof(end->address.sun_path)) {
		SHCA_ERR("unix:%s: a socket's path has at most %zu bytes", path,
			sizeof(end->address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	end->address.sun_family = AF_UNIX;
	strcpy(end->address.sun_path, path);
	ret = path[0] == '/' ? 0 : set_absolute(end, path);
	if (ret != 0)
		SHCA_ERR("unix:%s: %s", path, strerror(-ret));
	return ret;
}

static void
unix_close(struct shca_wire *wire)
{
	struct unix_wire *end = (struct unix_wire *)wire;

	if (end->nb_dropped != 0)
		SHCA_INFO("unix:%s: dropped %lu frames", end->address.sun_path,
			(unsigned long)end->nb_dropped);
	drop_peer(end);
	if (end->listen_fd >= 0) {
		unlink(end->address.sun_path);
		close(end->listen_fd);
	}
	if (end->epoll_fd >= 0)
		close(end->epoll_fd);
	if (end->dir_fd >= 0)
		close(end->dir_fd);
	free(end);
}

static int
unix_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	struct unix_wire *end = calloc(1, sizeof(*end));
	int ret;

	if (end == NULL)
		return -ENOMEM;
	end->wire.ops = &shca_unix_wire;
	end->dir_fd = end->listen_fd = end->peer_fd = -1;
	end->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ret = end->epoll_fd < 0 ? -errno : set_path(end, conf->arg);
	if (ret == 0) {
		ret = attach(end);
		if (ret == -EAGAIN) /* the other end is deciding; rx tries again */
			ret = 0;
		if (ret != 0)
			SHCA_ERR("unix:%s: %s", conf->arg, strerror(-ret));
	}
	if (ret != 0) {
		unix_close(&end->wire);
		return ret;
	}
	*wire = &end->wire;
	return 0;
}

/** One frame a message. See struct shca_wire_ops. */
static unsigned int
send_messages(struct unix_wire *end, const struct shca_frame *frames, unsigned int nb_frames)
{
	for (unsigned int i = 0; i < nb_frames; i++) {
		ssize_t ret;

		/* The peer would take an empty message for the end of the connection. */
		if (end->peer_fd < 0 || frames[i].length == 0 ||
			frames[i].length > SHCA_FRAME_MAX) {
			end->nb_dropped++;
			continue;
		}
		ret = send(end->peer_fd, frames[i].bytes, frames[i].length, MSG_NOSIGNAL);
		if (ret >= 0)
			continue;
		if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
			return i;
		end->nb_dropped++;
		/* Frames that the peer sent before it went may still arrive: rx drops the peer. */
	}
	return nb_frames;
}

static unsigned int
unix_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct unix_wire *end = (struct unix_wire *)wire;

	if (end->rings == NULL)
		return send_messages(end, frames, nb_frames);
	return shca_unix_rings_tx(end->rings, end->peer_fd, frames, nb_frames, &end->nb_dropped);
}

/** Receive a message, and at most one descriptor: there is no room for more, which the kernel
 * closes.
 * @return its length; 0: the peer has closed; or -errno, -EMSGSIZE: it was longer than a frame */
static ssize_t
receive(struct unix_wire *end, uint8_t *bytes, int *passed_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = bytes, .iov_len = SHCA_FRAME_MAX };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_LEN(sizeof(int)) };
	const ssize_t length = recvmsg(end->peer_fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = length >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*passed_fd = -1;
	if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(passed_fd, CMSG_DATA(head), sizeof(*passed_fd));
	if (length < 0)
		return -errno;
	if ((message.msg_flags & MSG_TRUNC) == 0)
		return length;
	if (*passed_fd >= 0)
		close(*passed_fd);
	return -EMSGSIZE;
}

/** @return whether a message is about rings, and no frame. A descriptor is closed. */
static bool
take_note(struct unix_wire *end, const uint8_t *bytes, size_t length, int passed_fd)
{
	if (passed_fd >= 0 && (end->rings != NULL || length == 0)) {
		close(passed_fd);
		passed_fd = -1;
	}
	if (end->rings != NULL && length == SHCA_UNIX_NOTE_BYTES) {
		shca_unix_rings_note(end->rings);
		return true;
	}
	if (passed_fd < 0)
		return false;
	end->rings = shca_unix_rings_take(bytes, length, passed_fd);
	return end->rings != NULL;
}

/** Receive frames that are messages, behind @p nb that are there. @return how many are there then
 */
static unsigned int
receive_messages(
	struct unix_wire *end, struct shca_frame *frames, unsigned int nb, unsigned int nb_frames)
{
	uint8_t *room = end->bytes + (size_t)nb * SHCA_FRAME_MAX;
	/* The ring has given nothing, although its peer had closed before: what is in it is no
	 * frame. */
	const bool is_over = nb == 0 && end->has_ended;

	/* A peer could send what is no frame as fast as it is read. */
	for (unsigned int i = 0; i < 2 * UNIX_BURST && end->peer_fd >= 0 && nb < nb_frames; i++) {
		int passed_fd;
		ssize_t length = receive(end, room, &passed_fd);

		if (length == -EAGAIN || length == -EINTR)
			break;
		if (length == -EMSGSIZE) {
			end->nb_dropped++;
			continue;
		}
		if (length >= 0 && take_note(end, room, (size_t)length, passed_fd))
			continue;
		if (length <= 0) { /* 0: the peer closed; no end sends empty frames */
			end->has_ended = true;
			if (end->rings == NULL || is_over || !shca_unix_rings_wait(end->rings))
				drop_peer(end);
			break;
		}
		frames[nb++] = (struct shca_frame){ room, (uint32_t)length, 0 };
		room += SHCA_FRAME_MAX;
	}
	return nb;
}

static unsigned int
unix_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct unix_wire *end = (struct unix_wire *)wire;
	unsigned int nb = 0;

	find_peer(end);
	if (nb_frames > UNIX_BURST)
		nb_frames = UNIX_BURST;
	if (end->rings != NULL)
		nb = shca_unix_rings_rx(end->rings, frames, nb_frames, end->bytes);
	/* Beside the ring the socket has notes only, and the end. */
	if (nb != 0 && ++end->nb_pops % 64 != 0)
		return nb;
	nb = receive_messages(end, frames, nb, nb_frames);
	/* They may have been about the ring. */
	if (nb == 0 && end->rings != NULL)
		nb = shca_unix_rings_rx(end->rings, frames, nb_frames, end->bytes);
	return nb;
}

static int
unix_fd(const struct shca_wire *wire)
{
	return ((const struct unix_wire *)wire)->epoll_fd;
}

static uint64_t
unix_due_ns(const struct shca_wire *wire)
{
	const struct unix_wire *end = (const struct unix_wire *)wire;

	if (end->rings != NULL && shca_unix_rings_wait(end->rings))
		return 0;
	return end->peer_fd < 0 && end->listen_fd < 0 ? end->retry_ns : UINT64_MAX;
}

bool
shca_unix_has_peer(const struct shca_wire *wire)
{
	return ((const struct unix_wire *)wire)->peer_fd >= 0;
}

const struct shca_wire_ops shca_unix_wire = {
	.name = "unix",
	.usage = "unix:PATH",
	.help = "a cable to another process that names the PATH; either may come first",
	.open = unix_open,
	.tx = unix_tx,
	.rx = unix_rx,
	.fd = unix_fd,
	.due_ns = unix_due_ns,
	.close = unix_close,
};
