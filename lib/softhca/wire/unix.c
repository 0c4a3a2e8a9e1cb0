/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wire "unix:PATH": a cable between two processes, one frame a SOCK_SEQPACKET message.
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
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"

#define UNIX_BURST 32
#define RETRY_NS   20000000

struct unix_wire {
	struct shca_wire wire;
	struct sockaddr_un address;
	int listen_fd; /**< -1: this end connected */
	int peer_fd;   /**< -1: no peer */
	int epoll_fd;  /**< polls both */
	uint64_t retry_ns;
	unsigned int nb_calls; /**< calls of find_peer with a peer */
	uint64_t nb_dropped;
	uint8_t bytes[UNIX_BURST][SHCA_FRAME_MAX];
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
	int fd = new_socket();
	int ret;

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
}

/** Look for a peer if there is none; refuse a third end. */
static void
find_peer(struct unix_wire *end)
{
	uint64_t now_ns;
	int fd;

	/* With a peer only a third end can come, which is not worth a system call each time. */
	if (end->peer_fd >= 0 && ++end->nb_calls % 64 != 0)
		return;
	if (end->listen_fd >= 0) {
		fd = accept4(end->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		if (end->peer_fd >= 0) {
			close(fd);
			return;
		}
		end->peer_fd = fd;
		watch(end, fd);
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

static int
set_path(struct unix_wire *end, const char *path)
{
	if (strlen(path) >= sizeof(end->address.sun_path)) {
		SHCA_ERR("unix:%s: a socket's path has at most %zu bytes", path,
			sizeof(end->address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	end->address.sun_family = AF_UNIX;
	strcpy(end->address.sun_path, path);
	return 0;
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
	end->listen_fd = end->peer_fd = -1;
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

static unsigned int
unix_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct unix_wire *end = (struct unix_wire *)wire;

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
unix_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct unix_wire *end = (struct unix_wire *)wire;
	unsigned int nb = 0;

	find_peer(end);
	while (end->peer_fd >= 0 && nb < nb_frames && nb < UNIX_BURST) {
		ssize_t length = recv(end->peer_fd, end->bytes[nb], sizeof(end->bytes[nb]), 0);

		if (length > 0) {
			frames[nb] = (struct shca_frame){ end->bytes[nb], (uint32_t)length, 0 };
			nb++;
			continue;
		}
		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		drop_peer(end); /* 0: the peer closed; no end sends empty frames */
	}
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
	.open = unix_open,
	.tx = unix_tx,
	.rx = unix_rx,
	.fd = unix_fd,
	.due_ns = unix_due_ns,
	.close = unix_close,
};
