/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager: its files, and the way of datagrams from and to the CM. */
#include "ucma/ucma.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/core/user.h"
#include "base/clock.h"
#include "base/log.h"
#include "ucma/bind.h"
#include "ucma/ucm_command.h"
#include "ucma/connect.h"

/** Datagrams that wait, at most: more are lost, as on QP1 of a card without receive buffers. */
enum {
	DATAGRAMS_MAX = 4096
};

static void
send_mad(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad)
{
	struct shca_ucma *ucma = arg;
	uint8_t bytes[SHCA_MAD_BYTES];
	struct shca_ucma_gid gid;

	shca_mad_write(mad, bytes);
	if (shca_bind_find_path(ucma, path, &gid))
		ucma->conf.send(ucma->conf.arg, &gid, path->remote, bytes);
	else
		SHCA_DEBUG("rdma_cm: %s not sent: its GID is gone", shca_mad_name(mad->kind));
}

struct shca_ucma *
shca_ucma_create(const struct shca_ucma_conf *conf)
{
	struct shca_ucma *ucma = calloc(1, sizeof(*ucma));
	struct shca_cm_ops ops = {
		.send = send_mad,
		.request = shca_connect_on_request,
		.event = shca_connect_on_event,
		.arg = ucma,
	};

	if (ucma == NULL)
		return NULL;
	if (getrandom(&ops.id_operand, sizeof(ops.id_operand), GRND_NONBLOCK) < 0)
		ops.id_operand = (uint32_t)shca_clock_real_ns();
	ucma->conf = *conf;
	ucma->cm = shca_cm_create(&ops);
	if (ucma->cm == NULL) {
		free(ucma);
		return NULL;
	}
	pthread_mutex_init(&ucma->lock, NULL);
	pthread_mutex_init(&ucma->queue_lock, NULL);
	LIST_INIT(&ucma->files);
	TAILQ_INIT(&ucma->queue);
	shca_idtable_init(&ucma->ids, 0, INT32_MAX);
	shca_idtable_init(&ucma->groups, 0, INT32_MAX);
	ucma->random = (uint32_t)shca_clock_real_ns() | 1;
	return ucma;
}

static void
close_file(struct shca_ucma_file *file)
{
	while (!LIST_EMPTY(&file->ids))
		shca_id_destroy(LIST_FIRST(&file->ids));
	LIST_REMOVE(file, link);
	close(file->our_fd);
	free(file);
}

void
shca_ucma_destroy(struct shca_ucma *ucma)
{
	struct shca_ucma_datagram *datagram;

	if (ucma == NULL)
		return;
	while (!LIST_EMPTY(&ucma->files))
		close_file(LIST_FIRST(&ucma->files));
	shca_cm_destroy(ucma->cm);
	while ((datagram = TAILQ_FIRST(&ucma->queue)) != NULL) {
		TAILQ_REMOVE(&ucma->queue, datagram, link);
		free(datagram);
	}
	shca_idtable_fini(&ucma->ids);
	shca_idtable_fini(&ucma->groups);
	pthread_mutex_destroy(&ucma->queue_lock);
	pthread_mutex_destroy(&ucma->lock);
	free(ucma);
}

static void
wake(const struct shca_ucma *ucma)
{
	if (ucma->conf.wake != NULL)
		ucma->conf.wake(ucma->conf.arg);
}

/** The lock is held. */
static void
reap(struct shca_ucma *ucma)
{
	struct shca_ucma_file *file = LIST_FIRST(&ucma->files);

	while (file != NULL) {
		struct shca_ucma_file *next = LIST_NEXT(file, link);
		struct pollfd pollfd = { .fd = file->our_fd };

		/* Asked for no events it tells of POLLHUP alone. */
		if (poll(&pollfd, 1, 0) == 1)
			close_file(file);
		file = next;
	}
}

void
shca_ucma_reap(struct shca_ucma *ucma)
{
	pthread_mutex_lock(&ucma->lock);
	reap(ucma);
	pthread_mutex_unlock(&ucma->lock);
	wake(ucma);
}

int
shca_ucma_open(struct shca_ucma *ucma, bool cloexec)
{
	struct shca_ucma_file *file = calloc(1, sizeof(*file));
	struct stat status;
	int fds[2], ret = 0;

	if (file == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | (cloexec ? SOCK_CLOEXEC : 0), 0, fds) != 0) {
		ret = -errno;
		free(file);
		return ret;
	}
	fstat(fds[1], &status);
	file->ucma = ucma;
	file->our_fd = fds[0];
	file->user_fd = fds[1];
	file->inode = status.st_ino;
	file->pid = shca_user_pid();
	LIST_INIT(&file->ids);
	TAILQ_INIT(&file->events);
	pthread_mutex_lock(&ucma->lock);
	reap(ucma);
	LIST_INSERT_HEAD(&ucma->files, file, link);
	pthread_mutex_unlock(&ucma->lock);
	wake(ucma);
	return fds[1];
}

int
shca_ucma_write(struct shca_ucma *ucma, int fd, const void *bytes, size_t length)
{
	const ino_t inode = shca_user_socket(fd);
	struct shca_ucma_file *file;
	int ret = -EIO;

	if (inode == 0)
		return -EBADF;
	pthread_mutex_lock(&ucma->lock);
	/* A port may be that of a program that has ended, and so may be the file: of one that was
	 * killed meanwhile, or whose other thread has closed it. */
	reap(ucma);
	LIST_FOREACH (file, &ucma->files, link)
		if (file->inode == inode)
			break;
	if (file != NULL)
		ret = shca_ucm_command_run(file, bytes, length);
	pthread_mutex_unlock(&ucma->lock);
	if (ret != -EAGAIN)
		wake(ucma);
	return ret;
}

void
shca_ucma_receive(struct shca_ucma *ucma, const struct shca_ucma_gid *local,
	const uint8_t remote[SHCA_UCMA_GID_BYTES], const uint8_t bytes[SHCA_UCMA_MAD_BYTES])
{
	struct shca_ucma_datagram *datagram = calloc(1, sizeof(*datagram));

	if (datagram == NULL)
		return;
	datagram->path.port = shca_id_path_port(local);
	memcpy(datagram->path.local, local->gid, sizeof(datagram->path.local));
	memcpy(datagram->path.remote, remote, sizeof(datagram->path.remote));
	memcpy(datagram->bytes, bytes, sizeof(datagram->bytes));
	pthread_mutex_lock(&ucma->queue_lock);
	if (ucma->nb_queued < DATAGRAMS_MAX) {
		TAILQ_INSERT_TAIL(&ucma->queue, datagram, link);
		ucma->nb_queued++;
		datagram = NULL;
	}
	pthread_mutex_unlock(&ucma->queue_lock);
	free(datagram);
	wake(ucma);
}

void
shca_ucma_remove(struct shca_ucma *ucma, unsigned int device)
{
	pthread_mutex_lock(&ucma->queue_lock);
	ucma->removed |= UINT64_C(1) << device;
	pthread_mutex_unlock(&ucma->queue_lock);
	wake(ucma);
}

/** core/cma.c cma_process_remove(); those that listen at any address lose nothing. */
static void
tell_removal(struct shca_ucma *ucma, uint64_t removed)
{
	struct shca_id *id;
	uint32_t number = 0;

	for (; (id = shca_idtable_next(&ucma->ids, &number)) != NULL; number++) {
		if (!id->has_gid || id->state == SHCA_ID_REMOVED ||
			(removed >> id->gid.device & 1) == 0)
			continue;
		if (id->state == SHCA_ID_ADDR_QUERY)
			ucma->nb_resolving--;
		id->state = SHCA_ID_REMOVED;
		shca_cm_release(id->conn, shca_clock_ns());
		id->conn = NULL;
		/* The application does not know of a request that it has not accepted. */
		if (id->uid != 0)
			(void)shca_ucm_event_tell(id, SHCA_UCM_DEVICE_REMOVAL, 0);
	}
}

static uint64_t
take_removed(struct shca_ucma *ucma)
{
	uint64_t removed;

	pthread_mutex_lock(&ucma->queue_lock);
	removed = ucma->removed;
	ucma->removed = 0;
	pthread_mutex_unlock(&ucma->queue_lock);
	return removed;
}

static struct shca_ucma_datagram *
take_datagram(struct shca_ucma *ucma)
{
	struct shca_ucma_datagram *datagram;

	pthread_mutex_lock(&ucma->queue_lock);
	datagram = TAILQ_FIRST(&ucma->queue);
	if (datagram != NULL) {
		TAILQ_REMOVE(&ucma->queue, datagram, link);
		ucma->nb_queued--;
	}
	pthread_mutex_unlock(&ucma->queue_lock);
	return datagram;
}

uint64_t
shca_ucma_step(struct shca_ucma *ucma)
{
	struct shca_ucma_datagram *datagram;
	uint64_t next, due, removed;

	pthread_mutex_lock(&ucma->lock);
	reap(ucma);
	removed = take_removed(ucma);
	if (removed != 0)
		tell_removal(ucma, removed);
	while ((datagram = take_datagram(ucma)) != NULL) {
		shca_cm_receive(ucma->cm, shca_clock_ns(), &datagram->path, datagram->bytes,
			sizeof(datagram->bytes));
		free(datagram);
	}
	due = shca_bind_step(ucma, shca_clock_ns());
	next = shca_cm_run(ucma->cm, shca_clock_ns());
	pthread_mutex_unlock(&ucma->lock);
	return due < next ? due : next;
}

unsigned int
shca_ucma_files(struct shca_ucma *ucma, struct pollfd *pollfds, unsigned int max)
{
	struct shca_ucma_file *file;
	unsigned int nb = 0;

	pthread_mutex_lock(&ucma->lock);
	LIST_FOREACH (file, &ucma->files, link)
		if (nb < max)
			pollfds[nb++] = (struct pollfd){ .fd = file->our_fd };
	pthread_mutex_unlock(&ucma->lock);
	return nb;
}

unsigned int
shca_ucma_nb_ids(struct shca_ucma *ucma)
{
	unsigned int nb = 0;
	uint32_t number = 0;

	pthread_mutex_lock(&ucma->lock);
	for (; shca_idtable_next(&ucma->ids, &number) != NULL; number++)
		nb++;
	pthread_mutex_unlock(&ucma->lock);
	return nb;
}
