/* SPDX-License-Identifier: BSD-3-Clause */
/* The netdev's side: on the loopback device, which every namespace has, and on one that a fake
 * ioctl() has. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if_arp.h>

#include "kernel/netdev.h"
#include "rig.h"

#define FAKE_INDEX 77
#define FAKE_NAME  "fake0"

/** What the kernel has of the netdev, and what it does of the next requests. */
static struct {
	bool on;
	unsigned int nb_requests, nb_changes;
	unsigned long refused; /**< code of a request; */
	int error;             /**< its errno */
	int mtu, family;
	bool keeps_mtu;          /**< says that it was set */
	unsigned int nb_renames; /**< to come, one after each question for the name */
	unsigned int nb_unknown; /**< requests to come that know no name, as during a rename */
	char name[IF_NAMESIZE];
	unsigned short flags;
	int nb_words; /**< of link modes, as the first answer has it */
	uint32_t speed;
} fake;

/* In place of the C library's, by the linker's --wrap. */
int __real_ioctl(int fd, unsigned long code, void *argument);
int __wrap_ioctl(int fd, unsigned long code, void *argument);
int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);

static int socket_result;

int
__wrap_socket(int domain, int type, int protocol)
{
	assert_int_equal(domain, AF_INET);
	assert_true(type & SOCK_CLOEXEC);
	if (socket_result == 0)
		return __real_socket(domain, type, protocol);
	errno = socket_result;
	return -1;
}

static int
fake_link_settings(struct ethtool_link_settings *link)
{
	assert_int_equal(link->cmd, ETHTOOL_GLINKSETTINGS);
	if (link->link_mode_masks_nwords == 0) {
		memset(link, 0, sizeof(*link));
		link->link_mode_masks_nwords = (int8_t)-fake.nb_words;
		return 0;
	}
	assert_int_equal(link->link_mode_masks_nwords, fake.nb_words);
	memset(link->link_mode_masks, 0xff, 3 * fake.nb_words * sizeof(uint32_t));
	link->speed = fake.speed;
	return 0;
}

int
__wrap_ioctl(int fd, unsigned long code, void *argument)
{
	static const uint8_t mac[6] = { 2, 3, 4, 5, 6, 7 };
	struct ifreq *ifr = argument;

	if (!fake.on)
		return __real_ioctl(fd, code, argument);
	fake.nb_requests++;
	if (code == fake.refused) {
		errno = fake.error;
		return -1;
	}
	if (code == SIOCGIFNAME) {
		assert_int_equal(ifr->ifr_ifindex, FAKE_INDEX);
		strcpy(ifr->ifr_name, fake.name);
		if (fake.nb_renames != 0)
			snprintf(fake.name, sizeof(fake.name), "later%u", fake.nb_renames--);
		return 0;
	}
	if (strcmp(ifr->ifr_name, fake.name) != 0 || fake.nb_unknown != 0) {
		fake.nb_unknown -= fake.nb_unknown != 0 ? 1 : 0;
		errno = ENODEV;
		return -1;
	}
	if (code == SIOCGIFMTU)
		ifr->ifr_mtu = fake.mtu;
	if (code == SIOCSIFMTU && !fake.keeps_mtu)
		fake.mtu = ifr->ifr_mtu;
	if (code == SIOCGIFFLAGS)
		ifr->ifr_flags = (short)fake.flags;
	if (code == SIOCSIFFLAGS)
		fake.flags = (unsigned short)ifr->ifr_flags;
	if (code == SIOCSIFMTU || code == SIOCSIFFLAGS)
		fake.nb_changes++;
	if (code == SIOCGIFHWADDR) {
		ifr->ifr_hwaddr.sa_family = (sa_family_t)fake.family;
		memcpy(ifr->ifr_hwaddr.sa_data, mac, sizeof(mac));
	}
	return code == SIOCETHTOOL ? fake_link_settings((void *)ifr->ifr_data) : 0;
}

static int
fake_make(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.on = true;
	fake.family = ARPHRD_ETHER;
	fake.mtu = 1500;
	fake.flags = IFF_UP | IFF_BROADCAST;
	fake.nb_words = 4;
	fake.speed = 25000;
	strcpy(fake.name, FAKE_NAME);
	return 0;
}

static int
fake_end(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	socket_result = 0;
	return 0;
}

/** Each function once. @return how many gave @p error. */
static unsigned int
count_errors(int error)
{
	char name[IF_NAMESIZE] = "same";
	struct rte_ether_addr mac = { { 9 } };
	unsigned int before = 9, nb = 0;
	uint32_t speed = 9;
	uint16_t mtu = 9;
	bool up = false;

	nb += mdv_netdev_get_name(FAKE_INDEX, name) == error;
	nb += mdv_netdev_get_mtu(FAKE_INDEX, &mtu) == error;
	nb += mdv_netdev_set_mtu(FAKE_INDEX, 1400) == error;
	nb += mdv_netdev_get_mac(FAKE_INDEX, &mac) == error;
	nb += mdv_netdev_get_up(FAKE_INDEX, &up) == error;
	nb += mdv_netdev_set_up(FAKE_INDEX, false) == error;
	nb += mdv_netdev_set_flags(FAKE_INDEX, IFF_PROMISC, IFF_PROMISC, &before) == error;
	nb += mdv_netdev_get_speed(FAKE_INDEX, &speed) == error;
	if (nb == 8) {
		assert_string_equal(name, "same");
		assert_int_equal(mac.addr_bytes[0], 9);
		assert_true(before == 9 && speed == 9 && mtu == 9 && !up);
	}
	return nb;
}

static void
what_the_kernel_refuses_is_told(void **state)
{
	const int free_fd = dup(0);

	(void)state;
	close(free_fd);
	socket_result = EMFILE;
	assert_int_equal(count_errors(-EMFILE), 8);
	assert_int_equal(fake.nb_requests, 0);
	socket_result = 0;
	fake.refused = SIOCGIFNAME;
	fake.error = ENODEV;
	assert_int_equal(count_errors(-ENODEV), 8);
	assert_int_equal(fake.nb_requests, 8);
	assert_int_equal(count_errors(-EPERM), 0);
	/* Nobody keeps a socket. */
	assert_int_equal(dup(0), free_fd);
	close(free_fd);
}

/** Its index is known, its name is asked for and used: another one may come between. */
static void
a_netdev_that_is_renamed_meanwhile_is_found(void **state)
{
	char name[IF_NAMESIZE];

	(void)state;
	fake.nb_renames = 1;
	assert_int_equal(mdv_netdev_get_name(FAKE_INDEX, name), 0);
	assert_string_equal(name, FAKE_NAME);
	assert_int_equal(mdv_netdev_get_name(FAKE_INDEX, name), 0);
	assert_string_equal(name, "later1");
	fake.nb_renames = 3;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1400), 0);
	assert_int_equal(fake.mtu, 1400);
	assert_int_equal(fake.nb_renames, 0);
	assert_int_equal(count_errors(-ENODEV), 0);
	/* The netdev is there, and says so of what was asked. */
	fake.nb_requests = 0;
	fake.refused = SIOCSIFMTU;
	fake.error = ENODEV;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1300), -ENODEV);
	assert_int_equal(fake.nb_requests, 6);
}

/** By its index it is, but for a while by neither name. */
static void
a_netdev_that_is_being_renamed_is_waited_for(void **state)
{
	char name[IF_NAMESIZE];
	uint16_t mtu = 0;

	(void)state;
	/* It ends behind either of the two questions by name. */
	for (unsigned int nb = 20; nb <= 21; nb++) {
		fake.nb_unknown = nb;
		assert_int_equal(mdv_netdev_get_name(FAKE_INDEX, name), 0);
		assert_int_equal(fake.nb_unknown, nb);
		mtu = 0;
		assert_int_equal(mdv_netdev_get_mtu(FAKE_INDEX, &mtu), 0);
		assert_int_equal(fake.nb_unknown, 0);
		assert_int_equal(mtu, 1500);
	}
}

static void
the_first_descriptor_is_one_too(void **state)
{
	const int stdin_copy = dup(0);
	uint16_t mtu = 0;

	(void)state;
	close(0);
	assert_int_equal(mdv_netdev_get_mtu(FAKE_INDEX, &mtu), 0);
	assert_int_equal(mtu, 1500);
	/* It was given and given back. */
	assert_int_equal(stdin_copy >= 0 ? dup2(stdin_copy, 0) : 0, 0);
	close(stdin_copy);
}

static void
an_mtu_is_set_and_read_back(void **state)
{
	uint16_t mtu = 0;

	(void)state;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1400), 0);
	assert_int_equal(fake.mtu, 1400);
	assert_int_equal(mdv_netdev_get_mtu(FAKE_INDEX, &mtu), 0);
	assert_int_equal(mtu, 1400);
	fake.keeps_mtu = true;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1300), -EAGAIN);
	/* Nobody says that it is another one. */
	fake.refused = SIOCGIFMTU;
	fake.error = EIO;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1300), 0);
	assert_int_equal(mdv_netdev_get_mtu(FAKE_INDEX, &mtu), -EIO);
	fake.refused = SIOCSIFMTU;
	fake.error = EPERM;
	assert_int_equal(mdv_netdev_set_mtu(FAKE_INDEX, 1300), -EPERM);
}

static void
an_mtu_that_fits_is_told(void **state)
{
	static const struct {
		int mtu, result;
	} cases[] = { { 0, 0 }, { 1, 0 }, { 65535, 0 }, { 65536, -ERANGE }, { -1, -ERANGE } };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint16_t mtu = 77;

		fake.mtu = cases[i].mtu;
		assert_int_equal(mdv_netdev_get_mtu(FAKE_INDEX, &mtu), cases[i].result);
		assert_int_equal(mtu, cases[i].result == 0 ? cases[i].mtu : 77);
	}
}

static void
an_ethernet_address_is_told(void **state)
{
	const struct rte_ether_addr wanted = { { 2, 3, 4, 5, 6, 7 } };
	struct rte_ether_addr mac = { { 0 } };

	(void)state;
	assert_int_equal(mdv_netdev_get_mac(FAKE_INDEX, &mac), 0);
	assert_true(rte_is_same_ether_addr(&mac, &wanted));
	fake.family = ARPHRD_LOOPBACK;
	assert_int_equal(mdv_netdev_get_mac(FAKE_INDEX, &mac), -EINVAL);
}

static void
flags_change_by_the_mask(void **state)
{
	static const struct {
		unsigned short now;
		unsigned int mask, flags, before;
		unsigned short after;
		unsigned int nb_changes;
	} cases[] = {
		{ IFF_UP, IFF_PROMISC, IFF_PROMISC, 0, IFF_UP | IFF_PROMISC, 1 },
		{ IFF_UP | IFF_PROMISC, IFF_PROMISC, IFF_PROMISC, IFF_PROMISC, IFF_UP | IFF_PROMISC,
			0 },
		{ IFF_UP | IFF_PROMISC, IFF_PROMISC, 0, IFF_PROMISC, IFF_UP, 1 },
		{ IFF_UP | IFF_ALLMULTI, IFF_PROMISC, 0, 0, IFF_UP | IFF_ALLMULTI, 0 },
		{ IFF_UP | IFF_ALLMULTI, IFF_PROMISC | IFF_ALLMULTI, IFF_PROMISC, IFF_ALLMULTI,
			IFF_UP | IFF_PROMISC, 1 },
		/* The highest bit is no sign. */
		{ 0x8000 | IFF_UP, 0x8000, 0x8000, 0x8000, 0x8000 | IFF_UP, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		unsigned int before = 77;

		fake.flags = cases[i].now;
		fake.nb_changes = 0;
		assert_int_equal(
			mdv_netdev_set_flags(FAKE_INDEX, cases[i].mask, cases[i].flags, &before),
			0);
		assert_int_equal(before, cases[i].before);
		assert_int_equal(fake.flags, cases[i].after);
		assert_int_equal(fake.nb_changes, cases[i].nb_changes);
	}
}

static void
flags_that_are_refused_were_read(void **state)
{
	unsigned int before = 77;

	(void)state;
	fake.flags = IFF_UP | IFF_ALLMULTI;
	fake.refused = SIOCSIFFLAGS;
	fake.error = EPERM;
	assert_int_equal(mdv_netdev_set_flags(FAKE_INDEX, IFF_ALLMULTI, 0, &before), -EPERM);
	assert_int_equal(before, IFF_ALLMULTI);
	assert_int_equal(mdv_netdev_set_up(FAKE_INDEX, false), -EPERM);
}

static void
the_state_changes_when_it_differs(void **state)
{
	bool up = false;

	(void)state;
	assert_int_equal(mdv_netdev_get_up(FAKE_INDEX, &up), 0);
	assert_true(up);
	assert_int_equal(mdv_netdev_set_up(FAKE_INDEX, true), 0);
	assert_int_equal(fake.nb_changes, 0);
	assert_int_equal(mdv_netdev_set_up(FAKE_INDEX, false), 0);
	assert_int_equal(fake.nb_changes, 1);
	assert_int_equal(fake.flags, IFF_BROADCAST);
	assert_int_equal(mdv_netdev_get_up(FAKE_INDEX, &up), 0);
	assert_false(up);
	assert_int_equal(mdv_netdev_set_up(FAKE_INDEX, false), 0);
	assert_int_equal(fake.nb_changes, 1);
	assert_int_equal(mdv_netdev_set_up(FAKE_INDEX, true), 0);
	assert_int_equal(fake.flags, IFF_UP | IFF_BROADCAST);
}

static void
a_speed_takes_two_requests(void **state)
{
	static const struct {
		int nb_words;
		uint32_t speed;
		int result;
	} cases[] = {
		{ 4, 25000, 0 },
		{ 1, 1, 0 },
		{ 32, 400000, 0 },
		/* More than there is room for; and what says that nothing is known. */
		{ 33, 25000, -ENODATA },
		{ 0, 25000, -ENODATA },
		{ -1, 25000, -ENODATA },
		{ 4, 0, -ENODATA },
		{ 4, (uint32_t)SPEED_UNKNOWN, -ENODATA },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint32_t speed = 77;

		fake.nb_words = cases[i].nb_words;
		fake.speed = cases[i].speed;
		assert_int_equal(mdv_netdev_get_speed(FAKE_INDEX, &speed), cases[i].result);
		assert_int_equal(speed, cases[i].result == 0 ? cases[i].speed : 77);
	}
	fake.refused = SIOCETHTOOL;
	fake.error = EOPNOTSUPP;
	assert_int_equal(mdv_netdev_get_speed(FAKE_INDEX, &(uint32_t){ 0 }), -EOPNOTSUPP);
}

static void
an_absent_netdev_is_enodev(void **state)
{
	static const unsigned int indices[] = { 0, INT_MAX };
	char name[IF_NAMESIZE];
	struct rte_ether_addr mac;
	uint32_t speed;
	uint16_t mtu;
	unsigned int i;
	bool up;

	(void)state;
	assert_int_equal(mdv_netdev_index(""), 0);
	assert_int_equal(mdv_netdev_index("no_such_netdev0"), 0);
	for (i = 0; i < RTE_DIM(indices); i++) {
		assert_int_equal(mdv_netdev_get_name(indices[i], name), -ENODEV);
		assert_int_equal(mdv_netdev_get_mtu(indices[i], &mtu), -ENODEV);
		assert_int_equal(mdv_netdev_set_mtu(indices[i], 1500), -ENODEV);
		assert_int_equal(mdv_netdev_get_mac(indices[i], &mac), -ENODEV);
		assert_int_equal(mdv_netdev_get_up(indices[i], &up), -ENODEV);
		assert_int_equal(mdv_netdev_set_up(indices[i], true), -ENODEV);
		assert_int_equal(mdv_netdev_get_speed(indices[i], &speed), -ENODEV);
	}
}

static void
the_loopback_device_answers(void **state)
{
	const unsigned int lo = mdv_netdev_index("lo");
	char name[IF_NAMESIZE];
	struct rte_ether_addr mac;
	uint32_t speed = 77;
	uint16_t mtu = 77;
	bool up;
	int ret;

	(void)state;
	assert_int_equal(lo, 1);
	assert_int_equal(mdv_netdev_get_name(lo, name), 0);
	assert_string_equal(name, "lo");
	/* 65536 does not fit ethdev's MTU; a smaller value that a user has set does. */
	ret = mdv_netdev_get_mtu(lo, &mtu);
	assert_true(ret == -ERANGE ? mtu == 77 : ret == 0);
	assert_int_equal(mdv_netdev_get_up(lo, &up), 0);
	/* Not an Ethernet device, and no speed to tell: outputs stay as they were. */
	assert_int_equal(mdv_netdev_get_mac(lo, &mac), -EINVAL);
	assert_int_not_equal(mdv_netdev_get_speed(lo, &speed), 0);
	assert_int_equal(speed, 77);
	/* A state that is already set needs no permission. */
	assert_int_equal(mdv_netdev_set_up(lo, up), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_netdev_is_enodev),
		cmocka_unit_test(the_loopback_device_answers),
		cmocka_unit_test_setup_teardown(
			what_the_kernel_refuses_is_told, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(
			a_netdev_that_is_renamed_meanwhile_is_found, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(
			a_netdev_that_is_being_renamed_is_waited_for, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(
			the_first_descriptor_is_one_too, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(an_mtu_is_set_and_read_back, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(an_mtu_that_fits_is_told, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(an_ethernet_address_is_told, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(flags_change_by_the_mask, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(
			flags_that_are_refused_were_read, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(
			the_state_changes_when_it_differs, fake_make, fake_end),
		cmocka_unit_test_setup_teardown(a_speed_takes_two_requests, fake_make, fake_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
