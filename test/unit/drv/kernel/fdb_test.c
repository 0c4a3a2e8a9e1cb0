/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to list addresses, byte by byte, on a fake socket; test/system/test_vf.py has the
 * kernel's answers. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "kernel/fdb.h"
#include "rig.h"

#define IFINDEX 77
#define REQUEST 40 /* 28 bytes of heads, 4 of the attribute's, 6 of address, 2 of padding */

/* In place of the C library's, by the linker's --wrap. */
int __wrap_socket(int domain, int type, int protocol);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags);

static struct {
	int socket_error, send_error, recv_error;
	uint16_t answer_type;
	int answer;
	size_t answer_length;
	uint8_t sent[64];
	size_t nb_sent;
} fake;

int
__wrap_socket(int domain, int type, int protocol)
{
	assert_int_equal(domain, AF_NETLINK);
	assert_true(type & SOCK_CLOEXEC);
	assert_int_equal(protocol, NETLINK_ROUTE);
	errno = fake.socket_error;
	return errno == 0 ? dup(STDIN_FILENO) : -1;
}

ssize_t
__wrap_send(int fd, const void *bytes, size_t length, int flags)
{
	assert_true(fd > STDERR_FILENO && flags == 0);
	assert_true(length <= sizeof(fake.sent));
	memcpy(fake.sent, bytes, length);
	fake.nb_sent = length;
	errno = fake.send_error;
	return errno == 0 ? (ssize_t)length : -1;
}

ssize_t
__wrap_recv(int fd, void *bytes, size_t length, int flags)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} answer = {
		.head = { .nlmsg_len = sizeof(answer), .nlmsg_type = fake.answer_type },
		.error.error = fake.answer,
	};

	assert_true(fd > STDERR_FILENO && flags == 0);
	assert_true(length >= sizeof(answer) + REQUEST);
	memcpy(bytes, &answer, sizeof(answer));
	errno = fake.recv_error;
	return errno == 0 ? (ssize_t)fake.answer_length : -1;
}

static int
fake_make(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.answer_type = NLMSG_ERROR;
	fake.answer_length = sizeof(struct nlmsghdr) + sizeof(struct nlmsgerr);
	return 0;
}

static const struct rte_ether_addr mac = { { 2, 1, 2, 3, 4, 5 } };

static void
check_sent(uint16_t type, uint16_t flags)
{
	struct nlmsghdr head;
	struct ndmsg neighbour;
	struct rtattr attr;

	assert_int_equal(fake.nb_sent, REQUEST);
	memcpy(&head, fake.sent, sizeof(head));
	assert_int_equal(head.nlmsg_len, REQUEST);
	assert_int_equal(head.nlmsg_type, type);
	assert_int_equal(head.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | flags);
	memcpy(&neighbour, fake.sent + 16, sizeof(neighbour));
	assert_int_equal(neighbour.ndm_family, PF_BRIDGE);
	assert_int_equal(neighbour.ndm_ifindex, IFINDEX);
	assert_int_equal(neighbour.ndm_flags, NTF_SELF);
	assert_true((neighbour.ndm_state & NUD_PERMANENT) != 0);
	memcpy(&attr, fake.sent + 28, sizeof(attr));
	assert_int_equal(attr.rta_type, NDA_LLADDR);
	assert_int_equal(attr.rta_len, 4 + 6);
	assert_memory_equal(fake.sent + 32, mac.addr_bytes, 6);
}

static void
requests_are_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(mdv_fdb_add(IFINDEX, &mac), 0);
	check_sent(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL);
	/* With any flag more Linux removes other addresses, too: NLM_F_BULK is NLM_F_EXCL. */
	assert_int_equal(mdv_fdb_remove(IFINDEX, &mac), 0);
	check_sent(RTM_DELNEIGH, 0);
}

static void
errors_are_handed_on(void **state)
{
	static const int errors[] = { -EEXIST, -EPERM, -ENODEV, -ENOENT };

	(void)state;
	for (unsigned int i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		fake.answer = errors[i];
		assert_int_equal(mdv_fdb_add(IFINDEX, &mac), errors[i]);
		assert_int_equal(mdv_fdb_remove(IFINDEX, &mac), errors[i]);
	}
	fake.answer = 0;
	fake.answer_type = RTM_NEWNEIGH;
	assert_int_equal(mdv_fdb_add(IFINDEX, &mac), -EBADMSG);
	fake.answer_type = NLMSG_ERROR;
	fake.answer_length = sizeof(struct nlmsghdr) + 3;
	assert_int_equal(mdv_fdb_add(IFINDEX, &mac), -EBADMSG);
	fake.recv_error = ENOBUFS;
	assert_int_equal(mdv_fdb_add(IFINDEX, &mac), -ENOBUFS);
	fake.send_error = ECONNREFUSED;
	assert_int_equal(mdv_fdb_add(IFINDEX, &mac), -ECONNREFUSED);
	fake.nb_sent = 0;
	fake.socket_error = EMFILE;
	assert_int_equal(mdv_fdb_remove(IFINDEX, &mac), -EMFILE);
	assert_int_equal(mdv_fdb_add(0, &mac), -ENODEV);
	assert_int_equal(fake.nb_sent, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(requests_are_the_kernels, fake_make),
		cmocka_unit_test_setup(errors_are_handed_on, fake_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
