/* SPDX-License-Identifier: BSD-3-Clause */
/* The preloaded library, from the outside: what programs send to netlink sockets and read there. */
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include "preload_rig.h"

static void
test_requests_in_pieces(void **state)
{
	struct nlmsghdr header = { .nlmsg_len = sizeof(header),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
	const struct iovec iov[] = { { &header, 4 }, { (char *)&header + 4, sizeof(header) - 4 } };
	const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char answer[4096];

	(void)state;
	assert_int_equal(writev(fd, iov, 2), sizeof(header));
	assert_true(recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > (ssize_t)sizeof(header));
	close(fd);
}

/** A message fills all pieces, and makes room for those that wait as any other read does. */
static void
test_answers_in_pieces(void **state)
{
	struct nlmsghdr question = { .nlmsg_len = sizeof(question),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
	struct nlmsghdr answer;
	char rest[4096];
	const struct iovec iov[] = { { &answer, sizeof(answer) }, { rest, sizeof(rest) } };
	const int size = 1, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_RDMA);

	(void)state;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	for (question.nlmsg_seq = 0; question.nlmsg_seq < 100; question.nlmsg_seq++)
		assert_int_equal(send(fd, &question, sizeof(question), 0), sizeof(question));
	for (unsigned int i = 0; i < 100; i++) {
		assert_true(readv(fd, iov, 2) > (ssize_t)sizeof(answer));
		assert_int_equal(answer.nlmsg_seq, i);
	}
	PRELOAD_RIG_REFUSED(readv(fd, iov, 2), EAGAIN);
	close(fd);
}

/** What says to be longer than the datagram is taken and not answered (af_netlink.c
 * netlink_rcv_skb()), on all sockets that are looked at. */
static void
test_damaged_lengths(void **state)
{
	static const uint32_t lengths[] = { 0, 17, UINT32_C(1) << 31, UINT32_MAX - 1024,
		UINT32_MAX - 2, UINT32_MAX };
	static const struct {
		int protocol;
		uint16_t type;
	} sockets[] = { { NETLINK_RDMA, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET) },
		{ NETLINK_ROUTE, RTM_GETLINK }, { NETLINK_GENERIC, UINT16_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		const int fd = socket(AF_NETLINK, SOCK_RAW, sockets[i].protocol);

		for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
			struct nlmsghdr message = { .nlmsg_len = lengths[j],
				.nlmsg_type = sockets[i].type,
				.nlmsg_flags = NLM_F_REQUEST };

			assert_int_equal(send(fd, &message, sizeof(message), 0), sizeof(message));
			PRELOAD_RIG_REFUSED(
				recv(fd, &message, sizeof(message), MSG_DONTWAIT), EAGAIN);
		}
		close(fd);
	}
}

/** What programs get wrong is told by the kernel's errno, on all sockets that are looked at. */
static void
test_messages_nowhere(void **state)
{
	const int sockets[] = { socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA),
		socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE),
		socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), socket(AF_INET, SOCK_DGRAM, 0) };
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	char bytes[64] = { 0 };

	(void)state;
	for (size_t i = 0; i < PRELOAD_RIG_NB_NOWHERE * 4; i++) {
		const int fd = sockets[i / PRELOAD_RIG_NB_NOWHERE];
		void *bad = preload_rig_nowhere(i % PRELOAD_RIG_NB_NOWHERE);
		struct iovec iov = { bad, sizeof(bytes) };
		struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

		assert_true(fd >= 0);
		PRELOAD_RIG_REFUSED(sendmsg(fd, bad, 0), EFAULT);
		PRELOAD_RIG_REFUSED(recvmsg(fd, bad, MSG_DONTWAIT), EFAULT);
		message.msg_iov = bad;
		PRELOAD_RIG_REFUSED(sendmsg(fd, &message, 0), EFAULT);
		PRELOAD_RIG_REFUSED(
			sendto(fd, bytes, sizeof(bytes), 0, preload_rig_nowhere(1), sizeof(kernel)),
			EFAULT);
		PRELOAD_RIG_REFUSED(
			recvfrom(fd, bytes, sizeof(bytes), MSG_DONTWAIT, (void *)bytes, bad),
			EAGAIN);
		message.msg_iov = &iov;
		if (i / PRELOAD_RIG_NB_NOWHERE == 3)
			continue;
		PRELOAD_RIG_REFUSED(sendmsg(fd, &message, 0), EFAULT);
		PRELOAD_RIG_REFUSED(send(fd, bad, sizeof(bytes), 0), EFAULT);
		PRELOAD_RIG_REFUSED(
			sendto(fd, bad, 64, 0, (const void *)&kernel, sizeof(kernel)), EFAULT);
		PRELOAD_RIG_REFUSED(write(fd, bad, sizeof(bytes)), EFAULT);
	}
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		close(sockets[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_in_pieces),
		cmocka_unit_test(test_answers_in_pieces),
		cmocka_unit_test(test_damaged_lengths),
		cmocka_unit_test(test_messages_nowhere),
	};

	return cmocka_run_group_tests(tests, preload_rig_set_up, preload_rig_tear_down);
}
