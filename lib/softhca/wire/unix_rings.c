/* SPDX-License-Identifier: BSD-3-Clause */
/* Wire "unix:PATH": frames by shared memory, between two processes that both know how. */
#include "wire/unix_rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/ring.h"

#define SIZE_LOG2 17 /* as pair.c */
#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static const char name_begin[] = "softhca wire ";
static const char hello[16] = "softhca rings 1";

struct shca_unix_rings {
	uint8_t *memory;
	struct shca_ring *in, *out;
	bool has_switched; /**< the other end: no more frames are messages */
	bool must_switch;  /**< this end has not said so yet */
};

static size_t
ring_bytes(void)
{
	const size_t page = 4096;

	return (shca_ring_memory_bytes(SIZE_LOG2) + page - 1) & ~(page - 1);
}

void
shca_unix_rings_name(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	/* Abstract, as the first byte is 0. */
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s%d %d",
		name_begin, (int)getpid(), fd);

	(void)bind(fd, (const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
}

bool
shca_unix_rings_is_named(const struct sockaddr *peer, socklen_t length)
{
	const size_t begin = offsetof(struct sockaddr_un, sun_path), nb = sizeof(name_begin) - 1;
	const struct sockaddr_un *address = (const struct sockaddr_un *)peer;

	return length >= begin + 1 + nb && address->sun_path[0] == '\0' &&
		memcmp(address->sun_path + 1, name_begin, nb) == 0;
}

/** @param is_offering the first ring is what the offering end sends by */
static struct shca_unix_rings *
map(int memory_fd, bool is_offering)
{
	struct shca_unix_rings *rings = calloc(1, sizeof(*rings));
	struct shca_ring *ring[2] = { NULL, NULL };

	if (rings == NULL)
		return NULL;
	rings->memory =
		mmap(NULL, 2 * ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (rings->memory == MAP_FAILED) {
		free(rings);
		return NULL;
	}
	for (unsigned int i = 0; i < 2; i++)
		ring[i] = shca_ring_attach(
			(struct shca_ring_memory *)(rings->memory + i * ring_bytes()), SIZE_LOG2);
	rings->out = ring[is_offering ? 0 : 1];
	rings->in = ring[is_offering ? 1 : 0];
	rings->has_switched = rings->must_switch = !is_offering;
	if (rings->in == NULL || rings->out == NULL) {
		shca_unix_rings_free(rings);
		return NULL;
	}
	return rings;
}

static bool
say_hello(int fd, int memory_fd)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)hello, .iov_len = sizeof(hello) };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &memory_fd, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(hello);
}

struct shca_unix_rings *
shca_unix_rings_offer(int fd)
{
	int memory_fd = memfd_create("softhca wire", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct shca_unix_rings *rings = NULL;

	if (memory_fd < 0)
		return NULL;
	if (ftruncate(memory_fd, (off_t)(2 * ring_bytes())) == 0 &&
		fcntl(memory_fd, F_ADD_SEALS, SEALS) == 0)
		rings = map(memory_fd, true);
	if (rings != NULL && !say_hello(fd, memory_fd)) {
		shca_unix_rings_free(rings);
		rings = NULL;
	}
	close(memory_fd);
	return rings;
}

/** @return whether the memory is as long as it should be, and stays so. */
static bool
is_good(int memory_fd)
{
	struct stat status;
	int seals = fcntl(memory_fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(memory_fd, &status) == 0 &&
		(uint64_t)status.st_size == 2 * ring_bytes();
}

struct shca_unix_rings *
shca_unix_rings_take(const uint8_t *bytes, size_t length, int memory_fd)
{
	struct shca_unix_rings *rings = NULL;

	if (length == sizeof(hello) && memcmp(bytes, hello, sizeof(hello)) == 0 &&
		is_good(memory_fd))
		rings = map(memory_fd, false);
	close(memory_fd);
	return rings;
}

void
shca_unix_rings_free(struct shca_unix_rings *rings)
{
	if (rings == NULL)
		return;
	shca_ring_destroy(rings->in);
	shca_ring_destroy(rings->out);
	munmap(rings->memory, 2 * ring_bytes());
	free(rings);
}

void
shca_unix_rings_note(struct shca_unix_rings *rings)
{
	rings->has_switched = true;
}

static bool
send_note(int fd)
{
	const uint8_t note[SHCA_UNIX_NOTE_BYTES] = { 0 };

	return send(fd, note, sizeof(note), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

unsigned int
shca_unix_rings_tx(struct shca_unix_rings *rings, int fd, const struct shca_frame *frames,
	unsigned int nb_frames, uint64_t *nb_dropped)
{
	unsigned int nb;

	/* Behind the frames that it has sent as messages, which may fill the socket. */
	if (rings->must_switch) {
		if (!send_note(fd))
			return 0;
		rings->must_switch = false;
	}
	nb = shca_ring_push(rings->out, frames, nb_frames, nb_dropped);
	/* A socket that is full wakes, too. */
	if (shca_ring_must_wake(rings->out))
		(void)send_note(fd);
	return nb;
}

unsigned int
shca_unix_rings_rx(struct shca_unix_rings *rings, struct shca_frame *frames, unsigned int nb_frames,
	uint8_t *room)
{
	unsigned int nb;

	if (!rings->has_switched)
		return 0;
	(void)shca_ring_want_wake(rings->in, false);
	nb = shca_ring_pop(rings->in, frames, nb_frames);
	for (unsigned int i = 0; i < nb; i++) {
		memcpy(room, frames[i].bytes, frames[i].length);
		frames[i].bytes = room;
		frames[i].port = 0;
		room += (frames[i].length + 63) & ~63u;
	}
	return nb;
}

bool
shca_unix_rings_wait(struct shca_unix_rings *rings)
{
	(void)shca_ring_want_wake(rings->in, true);
	return rings->has_switched && !shca_ring_is_empty(rings->in);
}
