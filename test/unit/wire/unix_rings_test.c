/* SPDX-License-Identifier: BSD-3-Clause */
/** @file unix: rings between two ends of softhca, messages to all others, and memory that lies. */
#include "wire_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "wire/kinds.h"
#include "wire/unix_rings.h"

/* Of ring.c: what the other process may write. */
#define HEAD_AT    0
#define TAIL_AT    64
#define RECORDS_AT 192

static char dir[] = "/tmp/wire-rings-XXXXXX";
static char path[64];
static struct shca_wire_conf conf = { .arg = path, .fd = -1 };

static int
make_dir(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/wire", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static unsigned int
nb_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned int nb = 0;

	while (readdir(fds) != NULL)
		nb++;
	closedir(fds);
	return nb;
}

static void
send_numbered(struct shca_wire *wire, uint32_t number)
{
	uint8_t bytes[1500];
	struct shca_frame frame = numbered_frame(bytes, number, 60 + number % 1400);

	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
}

/** Receive all that are there. @return the number behind the last one */
static uint32_t
receive_numbered(struct shca_wire *wire, uint32_t number)
{
	struct shca_frame frames[32];
	unsigned int nb, nb_none = 0;

	while (nb_none < 3) {
		nb = wire->ops->rx(wire, frames, 7);
		nb_none = nb == 0 ? nb_none + 1 : 0;
		for (unsigned int i = 0; i < nb; i++, number++)
			assert_numbered_frame(&frames[i], number, 60 + number % 1400);
	}
	return number;
}

/** The end that connects sends before it knows of rings, and goes on. */
static void
test_order(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);
	uint32_t sent = 0, received = 0, back = 0;

	(void)state;
	for (; sent < 20; sent++)
		send_numbered(b, sent);
	received = receive_numbered(a, received);
	assert_int_equal(received, 20);
	for (; sent < 40; sent++)
		send_numbered(b, sent); /* still messages: it has not received yet */
	assert_int_equal(receive_numbered(b, 0), 0);
	for (unsigned int round = 0; round < 100; round++) {
		for (unsigned int i = 0; i < 50; i++)
			send_numbered(b, sent++);
		received = receive_numbered(a, received);
		assert_int_equal(received, sent);
		send_numbered(a, back);
		back = receive_numbered(b, back);
		assert_int_equal(back, round + 1);
	}
	b->ops->close(b);
	a->ops->close(a);
}

/** What was sent before an end went arrives. */
static void
test_end_goes(void **state)
{
	const unsigned int nb_before = nb_fds();
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_int_equal(receive_numbered(b, 0), 0);
	for (uint32_t i = 0; i < 200; i++)
		send_numbered(b, i);
	b->ops->close(b);
	assert_int_equal(receive_numbered(a, 0), 200);
	assert_false(shca_unix_has_peer(a));
	send_numbered(a, 0); /* dropped */
	a->ops->close(a);
	assert_int_equal(nb_fds(), nb_before);
}

/** An end that sleeps is woken each time, and none that does not. */
static void
test_wakes(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);
	struct pollfd pollfd = { .events = POLLIN };
	uint32_t number = 0;

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_int_equal(receive_numbered(b, 0), 0);
	pollfd.fd = b->ops->fd(b);
	for (unsigned int i = 0; i < 10; i++) {
		assert_true(b->ops->due_ns(b) == UINT64_MAX);
		assert_int_equal(poll(&pollfd, 1, 0), 0);
		send_numbered(a, number);
		send_numbered(a, number + 1);
		assert_int_equal(poll(&pollfd, 1, 1000), 1);
		assert_true(b->ops->due_ns(b) == 0);
		number = receive_numbered(b, number);
		assert_int_equal(number, 2 * (i + 1));
		assert_int_equal(poll(&pollfd, 1, 0), 0);
	}
	send_numbered(a, number);
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	b->ops->close(b);
	a->ops->close(a);
}

static int
connect_raw(bool is_named)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	if (is_named)
		shca_unix_rings_name(fd);
	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/** A program that knows nothing of rings. */
static void
test_messages_for_others(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf);
	const int fd = connect_raw(false);
	uint8_t bytes[2000];

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), -1);
	for (uint32_t i = 0; i < 5; i++) {
		struct shca_frame frame = numbered_frame(bytes, i, 60 + i);

		send_numbered(a, i);
		assert_int_equal(send(fd, frame.bytes, frame.length, 0), frame.length);
	}
	assert_int_equal(receive_numbered(a, 0), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const ssize_t length = recv(fd, bytes, sizeof(bytes), 0);
		struct shca_frame frame = { bytes, (uint32_t)length, 0 };

		assert_numbered_frame(&frame, i, 60 + i);
	}
	assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), -1);
	close(fd);
	a->ops->close(a);
}

/** @return the memory that the end says hello with. */
static uint8_t *
receive_hello(int fd, size_t *bytes)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char text[64];
	struct iovec iov = { .iov_base = text, .iov_len = sizeof(text) };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct stat status;
	uint8_t *memory;
	int memory_fd;

	assert_int_equal(recvmsg(fd, &message, 0), 16);
	memcpy(&memory_fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(memory_fd));
	assert_int_equal(fstat(memory_fd, &status), 0);
	*bytes = (size_t)status.st_size;
	memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(ftruncate(memory_fd, 0), -1);
	close(memory_fd);
	return memory;
}

/** The other process writes what it likes: offsets, lengths, and tails. */
static void
test_memory_lies(void **state)
{
	static const uint64_t heads[] = { 1, 15, 16, 4096, UINT64_MAX, UINT64_C(1) << 20,
		(UINT64_C(1) << 20) + 16, 1u << 31 };
	static const uint32_t lengths[] = { UINT32_MAX, UINT32_MAX - 1, SHCA_FRAME_MAX + 1,
		SHCA_FRAME_MAX, 60, 0 };
	struct shca_wire *a = open_wire("unix", &conf);
	const int fd = connect_raw(true);
	struct shca_frame frames[32];
	uint8_t *memory, *in;
	size_t bytes;

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	memory = receive_hello(fd, &bytes);
	in = memory + bytes / 2;
	assert_int_equal(send(fd, "", 1, 0), 1);
	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int j = 0; j < 6; j++) {
			for (size_t at = RECORDS_AT; at + 4 <= bytes / 2; at += 16)
				memcpy(in + at, &lengths[j], sizeof(lengths[j]));
			memcpy(in + HEAD_AT, &heads[i], sizeof(heads[i]));
			for (unsigned int k = 0; k < 5; k++) {
				unsigned int nb = a->ops->rx(a, frames, 32);

				for (unsigned int n = 0; n < nb; n++)
					assert_int_equal(frames[n].length, lengths[j]);
			}
		}
	}
	for (unsigned int i = 0; i < 8; i++) {
		memcpy(memory + TAIL_AT, &heads[i], sizeof(heads[i]));
		for (uint32_t k = 0; k < 1000; k++) {
			struct shca_frame frame = numbered_frame(in, k, 1500);

			(void)a->ops->tx(a, &frame, 1);
		}
	}
	munmap(memory, bytes);
	close(fd);
	a->ops->close(a);
}

/** A process that has written what is no head ends: another can come. */
static void
test_end_that_lies_goes(void **state)
{
	const uint64_t head = 1;
	struct shca_wire *a = open_wire("unix", &conf), *b;
	const int fd = connect_raw(true);
	uint8_t *memory;
	size_t bytes;

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	memory = receive_hello(fd, &bytes);
	assert_int_equal(send(fd, "", 1, 0), 1);
	memcpy(memory + bytes / 2 + HEAD_AT, &head, sizeof(head));
	munmap(memory, bytes);
	close(fd);
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_false(shca_unix_has_peer(a));
	b = open_wire("unix", &conf);
	assert_int_equal(receive_numbered(a, 0), 0);
	send_numbered(b, 0);
	assert_int_equal(receive_numbered(a, 0), 1);
	b->ops->close(b);
	a->ops->close(a);
}

/** One that stays and has written what is no head does not keep this end awake. */
static void
test_end_that_lies_stays(void **state)
{
	static const uint64_t heads[] = { 1, UINT64_MAX, UINT64_C(1) << 20 };
	struct shca_wire *a = open_wire("unix", &conf);
	const int fd = connect_raw(true);
	uint8_t *memory;
	size_t bytes;

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	memory = receive_hello(fd, &bytes);
	assert_int_equal(send(fd, "", 1, 0), 1);
	for (unsigned int i = 0; i < 3; i++) {
		memcpy(memory + bytes / 2 + HEAD_AT, &heads[i], sizeof(heads[i]));
		assert_int_equal(receive_numbered(a, 0), 0);
		assert_int_equal(a->ops->due_ns(a), UINT64_MAX);
	}
	munmap(memory, bytes);
	close(fd);
	a->ops->close(a);
}

/** Send a message with @p nb descriptors, which are one. */
static void
send_with_fds(int fd, const void *bytes, size_t length, int passed, unsigned int nb)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(nb * sizeof(int)) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(nb * sizeof(int));
	for (unsigned int i = 0; i < nb; i++)
		memcpy(CMSG_DATA(head) + i * sizeof(int), &passed, sizeof(int));
	assert_int_equal(sendmsg(fd, &message, 0), length);
}

/** Descriptors that nobody asked for are closed, whatever they come with. */
static void
test_stray_descriptors(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf);
	const int fd = connect_raw(true);
	struct shca_frame frame;
	unsigned int nb_before;
	uint8_t *memory;
	size_t bytes;

	(void)state;
	assert_int_equal(receive_numbered(a, 0), 0);
	memory = receive_hello(fd, &bytes);
	nb_before = nb_fds();
	send_with_fds(fd, "", 1, fd, 1); /* a note */
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_int_equal(nb_fds(), nb_before);
	send_with_fds(fd, "a frame", 8, fd, 2);
	assert_int_equal(a->ops->rx(a, &frame, 1), 1);
	assert_int_equal(nb_fds(), nb_before);
	send_with_fds(fd, "", 0, fd, 1); /* as an end */
	assert_int_equal(receive_numbered(a, 0), 0);
	assert_int_equal(nb_fds(), nb_before - 1);
	munmap(memory, bytes);
	close(fd);
	a->ops->close(a);
}

/** A hello that is none is a frame; its descriptor is closed. */
static void
test_bad_hello(void **state)
{
	static const char hello[16] = "softhca rings 1";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	const int memory_fd = memfd_create("test", MFD_ALLOW_SEALING);
	struct shca_frame frame;
	unsigned int nb_before;
	struct shca_wire *b;
	int fd;

	(void)state;
	strcpy(address.sun_path, path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	b = open_wire("unix", &conf);
	fd = accept(listener, NULL, NULL);
	nb_before = nb_fds();
	for (unsigned int i = 0; i < 3; i++) {
		if (i != 0)
			assert_int_equal(ftruncate(memory_fd, i == 1 ? 4096 : 3 << 20), 0);
		send_with_fds(fd, hello, sizeof(hello), memory_fd, 1);
		assert_int_equal(b->ops->rx(b, &frame, 1), 1);
		assert_int_equal(frame.length, sizeof(hello));
		assert_int_equal(nb_fds(), nb_before);
	}
	send_numbered(b, 1); /* a message */
	assert_int_equal(recv(fd, NULL, 0, MSG_TRUNC), 61);
	b->ops->close(b);
	close(fd);
	close(memory_fd);
	close(listener);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_end_goes),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_messages_for_others),
		cmocka_unit_test(test_memory_lies),
		cmocka_unit_test(test_end_that_lies_goes),
		cmocka_unit_test(test_end_that_lies_stays),
		cmocka_unit_test(test_stray_descriptors),
		cmocka_unit_test(test_bad_hello),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
