/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads of netlink's messages, and the look that follows. The netdev answers ioctls here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>

#include <rte_log.h>

#include "base/log.h"
#include "kernel/netlink.h"
#include "rig.h"

/** No netdev of this machine has it. */
#define FAKE_IFINDEX 0x7fffff

/** The netdev. */
static struct {
	bool is_there;
	const char *name;
	int mtu;
} netdev;

static char *logged;
static size_t logged_size;
static FILE *log_stream;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr);

int
__wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr)
{
	switch (request) {
	case SIOCGIFNAME:
		if (ifr->ifr_ifindex != FAKE_IFINDEX || !netdev.is_there)
			break;
		strcpy(ifr->ifr_name, netdev.name);
		return 0;
	case SIOCGIFFLAGS:
		ifr->ifr_flags = IFF_UP;
		return 0;
	case SIOCGIFMTU:
		ifr->ifr_mtu = netdev.mtu;
		return 0;
	default:
		return __real_ioctl(fd, request, ifr);
	}
	errno = ENODEV;
	return -1;
}

struct message {
	struct nlmsghdr head;
	struct ifinfomsg link;
	char attributes[9000];
};

/* clang-format off */
static const struct {
	uint16_t type;
	int ifindex;
	size_t length;
	bool is_news;
} messages[] = {
	{ RTM_NEWLINK, 7, sizeof(struct message), true },
	{ RTM_DELLINK, 7, NLMSG_LENGTH(sizeof(struct ifinfomsg)), true },
	{ RTM_NEWLINK, 8, sizeof(struct message), false },
	{ RTM_NEWLINK, 9, sizeof(struct message), true },
	{ RTM_NEWADDR, 7, sizeof(struct message), false },
	{ RTM_NEWLINK, 7, NLMSG_LENGTH(sizeof(struct ifinfomsg)) - 1, false },
	{ RTM_NEWLINK, 7, 1, false },
};
/* clang-format on */

static void
messages_of_the_netdev_are_news(void **state)
{
	const struct mdv_device device = { .ifindex = 7, .bond_ifindex = 9 };
	struct message message;
	unsigned int i;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	for (i = 0; i < RTE_DIM(messages); i++) {
		memset(&message, 0, sizeof(message));
		message.head.nlmsg_type = messages[i].type;
		message.head.nlmsg_len = sizeof(message);
		message.link.ifi_index = messages[i].ifindex;
		assert_int_equal(send(fds[1], &message, messages[i].length, 0), messages[i].length);
		assert_int_equal(mdv_netlink_read(fds[0], &device), messages[i].is_news);
		assert_false(mdv_netlink_read(fds[0], &device));
	}
	/* All are read at once, and one of them is enough. */
	for (i = 0; i < 3; i++) {
		message.head.nlmsg_type = RTM_NEWLINK;
		message.link.ifi_index = 6 + i;
		assert_int_equal(send(fds[1], &message, sizeof(message), 0), sizeof(message));
	}
	assert_true(mdv_netlink_read(fds[0], &device));
	assert_false(mdv_netlink_read(fds[0], &device));
	close(fds[0]);
	close(fds[1]);
}

static void
the_kernels_socket_waits_for_nothing(void **state)
{
	const struct mdv_device device = { .ifindex = FAKE_IFINDEX };
	int fd = mdv_netlink_open();

	(void)state;
	assert_true(fd >= 0);
	/* Messages about other netdevs. */
	assert_false(mdv_netlink_read(fd, &device));
	close(fd);
}

/** A program may have closed its input. */
static void
the_first_descriptor_is_one_too(void **state)
{
	const int copy = dup(0);
	int fd;

	(void)state;
	close(0);
	fd = mdv_netlink_open();
	/* Whatever is found, the input is as it was. */
	if (copy >= 0) {
		dup2(copy, 0);
		close(copy);
	}
	assert_int_equal(fd, 0);
}

/** Lines of the log that have @p text. */
static unsigned int
nb_logged(const char *text)
{
	unsigned int nb = 0;
	const char *at;

	fflush(log_stream);
	for (at = logged; (at = strstr(at, text)) != NULL; at++)
		nb++;
	return nb;
}

static int
look_begin(void **state)
{
	static struct rig_port rig;

	rig_port_init(&rig);
	netdev.is_there = true;
	netdev.name = "fake0";
	netdev.mtu = 1500;
	rig.port.device.ifindex = FAKE_IFINDEX;
	strcpy(rig.port.device.ifname, "fake0");
	rig.port.mtu = 1500;
	rig.port.started = true;
	rte_log_set_level(mdv_log_type, RTE_LOG_INFO);
	log_stream = open_memstream(&logged, &logged_size);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	*state = &rig.port;
	return 0;
}

static int
look_end(void **state)
{
	(void)state;
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(logged);
	return 0;
}

static void
another_mtu_is_said_once(void **state)
{
	static const struct {
		int mtu;
		uint16_t of_port;
		bool started;
		const char *says; /**< NULL: nothing */
	} cases[] = {
		{ 1500, 1500, true, NULL },
		{ 9000, 1500, true,
			"fake0 has an MTU of 9000 now, and the port one of 1500: long" },
		{ 9000, 1500, true, NULL },
		{ 576, 1500, true,
			"an MTU of 576 now, and the port one of 1500: the device drops" },
		{ 2000, 2000, true, NULL }, /* the port has set it itself */
		{ 1400, 2000, false, NULL },
		{ 1400, 2000, true, NULL },
		{ 1400 + 65536, 2000, true, NULL },
	};
	struct mdv_port *port = *state;
	uint16_t mtu = 1500;
	unsigned int i, nb = 0;

	for (i = 0; i < RTE_DIM(cases); i++) {
		netdev.mtu = cases[i].mtu;
		port->mtu = cases[i].of_port;
		port->started = cases[i].started;
		mdv_netlink_look(port, &mtu);
		nb += cases[i].says != NULL;
		assert_int_equal(nb_logged("now"), nb);
		assert_true(cases[i].says == NULL || nb_logged(cases[i].says) == 1);
		/* The application's MTU stays. */
		assert_int_equal(port->mtu, cases[i].of_port);
	}
}

static void
a_netdev_is_renamed_and_goes(void **state)
{
	struct mdv_port *port = *state;
	uint16_t mtu = 1500;

	netdev.name = "fake1";
	mdv_netlink_look(port, &mtu);
	mdv_netlink_look(port, &mtu);
	assert_int_equal(nb_logged("netdev fake0 is called fake1 now"), 1);
	assert_string_equal(port->device.ifname, "fake1");
	netdev.is_there = false;
	mdv_netlink_look(port, &mtu);
	assert_int_equal(nb_logged("netdev fake1 is gone"), 1);
	assert_int_equal(port->device.ifindex, 0);
	assert_string_equal(port->device.ifname, "");
	/* A later netdev with the index is another one. */
	netdev.is_there = true;
	netdev.mtu = 576;
	mdv_netlink_look(port, &mtu);
	assert_int_equal(port->device.ifindex, 0);
	assert_int_equal(nb_logged("netdev"), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_the_netdev_are_news),
		cmocka_unit_test(the_kernels_socket_waits_for_nothing),
		cmocka_unit_test(the_first_descriptor_is_one_too),
		cmocka_unit_test_setup_teardown(another_mtu_is_said_once, look_begin, look_end),
		cmocka_unit_test_setup_teardown(a_netdev_is_renamed_and_goes, look_begin, look_end),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
