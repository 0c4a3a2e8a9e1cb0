/* SPDX-License-Identifier: BSD-3-Clause */
/** @file tap: frames between the wire and a Linux netdev, also one in another namespace. Needs
 * root. */
#include "wire_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include "wire/tap.h"

#define NB_LOOKS 5000 /* 10 s or more: machines stand still for seconds */

static char name[IFNAMSIZ];
static struct shca_wire_conf conf = { .arg = name, .fd = -1 };
static int own_namespace = -1; /* while there is another one, too */

static void
set_flags(const char *netdev, short flags)
{
	struct ifreq ifr = { .ifr_flags = flags };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	strcpy(ifr.ifr_name, netdev);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
	close(fd);
}

/** A packet socket on the netdev: the Linux side of the wire. */
static int
packet_socket(void)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(name),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/** A frame nothing in the kernel answers: an experimental EtherType. */
static struct shca_frame
test_frame(uint8_t *bytes, uint32_t number, uint32_t length)
{
	struct shca_frame frame = numbered_frame(bytes, number, length);

	memcpy(bytes, "\x02\x00\x00\x00\x00\x11\x02\x00\x00\x00\x00\x22\x88\xb5", 14);
	memcpy(bytes + 14, &number, sizeof(number));
	return frame;
}

static bool
is_test_frame(const uint8_t *bytes, uint32_t length, uint32_t number, uint32_t expected_length)
{
	uint8_t expected[2048];

	test_frame(expected, number, expected_length);
	return length == expected_length && memcmp(bytes, expected, length) == 0;
}

/** The kernel has traffic of its own on the netdev (IPv6): look for ours among it.
 * @param nb_looks every 2 ms */
static bool
wire_receives(struct shca_wire *wire, uint32_t number, uint32_t length, unsigned int nb_looks)
{
	struct shca_frame frames[8];

	for (unsigned int i = 0; i < nb_looks; i++) {
		unsigned int nb = wire->ops->rx(wire, frames, 8);

		for (unsigned int f = 0; f < nb; f++)
			if (is_test_frame(frames[f].bytes, frames[f].length, number, length))
				return true;
		usleep(2000);
	}
	return false;
}

static bool
socket_receives(int fd, uint32_t number, uint32_t length)
{
	uint8_t bytes[2048];

	for (unsigned int i = 0; i < NB_LOOKS; i++) {
		ssize_t got;

		while ((got = recv(fd, bytes, sizeof(bytes), 0)) >= 0)
			if (is_test_frame(bytes, got, number, length))
				return true;
		usleep(2000);
	}
	return false;
}

static void
exchange(struct shca_wire *wire, uint32_t length)
{
	uint8_t bytes[2048];
	struct shca_frame frame = test_frame(bytes, 1, length);
	int fd = packet_socket();

	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	assert_true(socket_receives(fd, 1, length));
	frame = test_frame(bytes, 2, length);
	assert_int_equal(send(fd, frame.bytes, length, 0), length);
	assert_true(wire_receives(wire, 2, length, NB_LOOKS));
	close(fd);
}

static void
test_both_ways(void **state)
{
	struct shca_wire *wire = open_wire("tap", &conf);

	(void)state;
	set_flags(name, IFF_UP);
	exchange(wire, 60);
	exchange(wire, 1514);
	wire->ops->close(wire);
	assert_int_equal(if_nametoindex(name), 0);
}

static void
test_down_netdev_drops(void **state)
{
	struct shca_wire *wire = open_wire("tap", &conf);
	uint8_t bytes[64];
	struct shca_frame frame = test_frame(bytes, 1, 64);

	(void)state;
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	assert_int_equal(wire->ops->nb_lost(wire), 1);
	set_flags(name, IFF_UP);
	exchange(wire, 64);
	assert_int_equal(wire->ops->nb_lost(wire), 1);
	wire->ops->close(wire);
}

static void
test_descriptor_of_the_runner(void **state)
{
	struct shca_wire_conf inherited = conf;
	uint8_t bytes[64];
	struct shca_frame frame = test_frame(bytes, 9, 64);
	struct shca_wire *wire = NULL;
	bool created = false;
	int fd;

	(void)state;
	inherited.fd = shca_tap_attach(name, &created);
	assert_true(inherited.fd >= 0);
	assert_true(created);
	/* A frame sent before the device is there is lost, as on hardware. */
	set_flags(name, IFF_UP);
	fd = packet_socket();
	assert_int_equal(send(fd, frame.bytes, 64, 0), 64);
	wire = open_wire("tap", &inherited);
	assert_false(wire_receives(wire, 9, 64, 100));
	exchange(wire, 64);
	wire->ops->close(wire);
	/* Still the runner's. */
	assert_int_not_equal(if_nametoindex(name), 0);
	close(inherited.fd);
	close(fd);
	inherited.fd = open("/dev/null", O_RDWR);
	assert_int_equal(shca_wire_find("tap", 3)->open(&inherited, &wire), -EBADF);
	close(inherited.fd);
}

/** A program between the runner and ours closed what it does not know: Python's subprocess does. */
static void
test_descriptor_fetched_from_the_runner(void **state)
{
	struct shca_wire_conf closed = conf;
	char runner[16];
	bool created;
	int status;
	pid_t pid;

	(void)state;
	closed.fd = shca_tap_attach(name, &created);
	assert_true(closed.fd >= 0);
	set_flags(name, IFF_UP);
	snprintf(runner, sizeof(runner), "%d", getpid());
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct shca_wire *wire = NULL;

		close(closed.fd);
		setenv(SHCA_TAP_ENV_RUNNER, runner, 1);
		if (shca_wire_find("tap", 3)->open(&closed, &wire) != 0)
			exit(1);
		exchange(wire, 64);
		wire->ops->close(wire);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(closed.fd);
}

/** A runner that is gone, or whose descriptor of that number is another file's. */
static void
test_descriptor_not_of_the_runner(void **state)
{
	int other = open("/dev/null", O_RDONLY);
	char runner[16];

	(void)state;
	unsetenv(SHCA_TAP_ENV_RUNNER);
	assert_int_equal(shca_tap_adopt(name, other), -EBADF);
	setenv(SHCA_TAP_ENV_RUNNER, "none", 1);
	assert_int_equal(shca_tap_adopt(name, other), -EBADF);
	snprintf(runner, sizeof(runner), "%d", INT_MAX);
	setenv(SHCA_TAP_ENV_RUNNER, runner, 1);
	assert_int_equal(shca_tap_adopt(name, other), -EBADF);
	snprintf(runner, sizeof(runner), "%d", getpid());
	setenv(SHCA_TAP_ENV_RUNNER, runner, 1);
	assert_int_equal(shca_tap_adopt(name, other), -EBADF);
	unsetenv(SHCA_TAP_ENV_RUNNER);
	close(other);
}

static void
test_dressing(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 1, 2, 3 };
	struct ethtool_cmd settings = { .cmd = ETHTOOL_GSET };
	struct ifreq ifr = { .ifr_data = (char *)&settings };
	uint8_t got[6];
	bool created;
	int fd = shca_tap_attach(name, &created), socket_fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	assert_int_equal(shca_tap_set_mac(name, mac), 0);
	assert_int_equal(shca_tap_get_mac(name, got), 0);
	assert_memory_equal(got, mac, 6);
	assert_int_equal(shca_tap_set_speed(name, 25000), 0);
	strcpy(ifr.ifr_name, name);
	assert_int_equal(ioctl(socket_fd, SIOCETHTOOL, &ifr), 0);
	assert_int_equal(ethtool_cmd_speed(&settings), 25000);
	assert_int_equal(settings.duplex, DUPLEX_FULL);
	close(socket_fd);
	close(fd);
	/* The netdev has gone with its only descriptor. */
	assert_int_equal(shca_tap_get_mac(name, got), -ENODEV);
	assert_int_equal(shca_tap_set_mac(name, mac), -ENODEV);
	assert_int_equal(shca_tap_set_speed(name, 25000), -ENODEV);
}

static void
test_attach_errors(void **state)
{
	static const char *const bad[] = { "", "sixteen-letters-", "a/b", "tap%d", "a b" };
	bool created;
	int fd = shca_tap_attach(name, &created);

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(shca_tap_attach(bad[i], &created), -EINVAL);
	assert_int_equal(shca_tap_attach(name, &created), -EBUSY);
	assert_int_equal(shca_tap_attach("lo", &created), -EINVAL);
	close(fd);
}

static struct shca_netdev
look(struct shca_wire *wire)
{
	struct shca_netdev netdev;

	wire->ops->look(wire, &netdev);
	return netdev;
}

/** What was seen serves for some time. */
static bool
wait_for(struct shca_wire *wire, bool is_up, bool is_promiscuous)
{
	for (int i = 0; i < 1000; i++) {
		struct shca_netdev netdev = look(wire);

		if (netdev.is_up == is_up && netdev.is_promiscuous == is_promiscuous)
			return true;
		usleep(5000);
	}
	return false;
}

/** @return whether the netdev comes to have this address, or not to have it. */
static bool
wait_for_ip(struct shca_wire *wire, const uint8_t ip[SHCA_IP_BYTES], bool is_there)
{
	for (int i = 0; i < 1000; i++) {
		struct shca_netdev netdev = look(wire);
		bool is_found = false;

		for (unsigned int at = 0; at < netdev.nb_ips; at++)
			is_found = is_found || memcmp(netdev.ips[at], ip, SHCA_IP_BYTES) == 0;
		if (is_found == is_there)
			return true;
		usleep(5000);
	}
	return false;
}

static void
run(const char *format, const char *command_name)
{
	char command[192];

	snprintf(command, sizeof(command), format, command_name, command_name);
	assert_int_equal(system(command), 0);
}

static void
test_look(void **state)
{
	static const short rows[] = { IFF_UP | IFF_PROMISC, IFF_UP, 0, IFF_PROMISC, IFF_UP };
	struct shca_wire *wire = open_wire("tap", &conf);

	(void)state;
	assert_string_equal(look(wire).name, name);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_flags(name, rows[i]);
		assert_true(wait_for(wire, rows[i] & IFF_UP, rows[i] & IFF_PROMISC));
	}
	wire->ops->close(wire);
}

/** Wait until a change of a mode is seen: what was changed before was seen, too. */
static void
wait_look(struct shca_wire *wire, short flags)
{
	set_flags(name, flags | IFF_PROMISC);
	assert_true(wait_for(wire, flags & IFF_UP, true));
	set_flags(name, flags);
	assert_true(wait_for(wire, flags & IFF_UP, false));
}

/** The port's netdev has another address: the card takes frames for that one. */
static void
test_mac(void **state)
{
	static const uint8_t other[6] = { 2, 0, 0, 0, 0, 0x56 }, none[6];
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;

	(void)state;
	kernel_side.is_kernel_side = true;
	wire = open_wire("tap", &kernel_side);
	assert_memory_not_equal(look(wire).mac, none, sizeof(none));
	run("ip link set %s address 02:00:00:00:00:56", name);
	wait_look(wire, 0);
	assert_memory_equal(look(wire).mac, other, sizeof(other));
	wire->ops->close(wire);
}

static bool
lists(struct shca_wire *wire, const char *mac)
{
	struct shca_netdev netdev = look(wire);
	char text[18];

	for (unsigned int i = 0; i < netdev.nb_macs; i++) {
		const uint8_t *listed = netdev.macs[i];

		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", listed[0], listed[1],
			listed[2], listed[3], listed[4], listed[5]);
		if (strcmp(text, mac) == 0)
			return true;
	}
	return false;
}

static bool
wait_listed(struct shca_wire *wire, const char *mac, bool is_listed)
{
	for (int i = 0; i < 1000; i++) {
		if (lists(wire, mac) == is_listed)
			return true;
		usleep(5000);
	}
	return false;
}

/** A virtual function's netdev: the addresses it has, and those it gets. While it is down the
 * kernel tells its driver of none. */
static void
test_addresses(void **state)
{
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;
	unsigned int nb_changes;

	(void)state;
	kernel_side.is_kernel_side = kernel_side.wants_macs = true;
	wire = open_wire("tap", &kernel_side);
	assert_true(lists(wire, "ff:ff:ff:ff:ff:ff"));
	assert_false(lists(wire, "02:00:00:00:00:55"));
	run("bridge fdb add 02:00:00:00:00:55 dev %s self permanent", name);
	run("ip link set %s address 02:00:00:00:00:54", name);
	wait_look(wire, 0);
	assert_false(lists(wire, "02:00:00:00:00:55"));
	assert_false(lists(wire, "02:00:00:00:00:54"));
	set_flags(name, IFF_UP);
	assert_true(wait_listed(wire, "02:00:00:00:00:55", true));
	assert_true(lists(wire, "02:00:00:00:00:54"));
	run("bridge fdb add 01:00:5e:00:00:55 dev %s self permanent", name);
	assert_true(wait_listed(wire, "01:00:5e:00:00:55", true));
	run("bridge fdb del 02:00:00:00:00:55 dev %s self", name);
	assert_true(wait_listed(wire, "02:00:00:00:00:55", false));
	assert_true(lists(wire, "01:00:5e:00:00:55"));
	run("ip maddr add 01:00:5e:00:00:56 dev %s", name);
	assert_true(wait_listed(wire, "01:00:5e:00:00:56", true));
	wait_look(wire, IFF_UP);
	nb_changes = look(wire).nb_changes;
	wait_look(wire, IFF_UP | IFF_ALLMULTI);
	assert_true(look(wire).is_allmulti);
	assert_int_equal(look(wire).nb_changes, nb_changes);
	/* The addresses outlive the netdev. */
	run("ip link del %s", name);
	assert_int_equal(wire->ops->rx(wire, &(struct shca_frame){ 0 }, 1), 0);
	assert_true(wait_for(wire, true, false));
	assert_true(lists(wire, "01:00:5e:00:00:56"));
	wire->ops->close(wire);
	/* Nobody wants the addresses of other netdevs. */
	wire = open_wire("tap", &conf);
	assert_int_equal(look(wire).nb_macs, 0);
	wire->ops->close(wire);
}

/** What GIDs are made of; a wire that is no port's netdev has nobody who asks. */
static void
test_ip_addresses(void **state)
{
	static const uint8_t four[SHCA_IP_BYTES] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	static const uint8_t six[SHCA_IP_BYTES] = { 0xfd, [15] = 7 };
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;

	(void)state;
	kernel_side.is_kernel_side = true;
	wire = open_wire("tap", &kernel_side);
	assert_int_equal(look(wire).ifindex, if_nametoindex(name));
	assert_int_equal(look(wire).nb_ips, 0);
	run("ip addr add 192.0.2.1 peer 192.0.2.9 dev %s", name);
	assert_true(wait_for_ip(wire, four, true));
	run("ip link set %s up && ip addr add fd00::7/64 dev %s nodad", name);
	assert_true(wait_for_ip(wire, six, true));
	run("ip addr flush dev %s", name);
	assert_true(wait_for_ip(wire, four, false));
	assert_true(wait_for_ip(wire, six, false));
	run("ip link del %s", name);
	assert_int_equal(wire->ops->rx(wire, &(struct shca_frame){ 0 }, 1), 0);
	assert_true(wait_for(wire, true, false));
	assert_int_equal(look(wire).nb_ips, 0);
	wire->ops->close(wire);
	wire = open_wire("tap", &conf);
	run("ip addr add 192.0.2.1 dev %s", name);
	wait_look(wire, IFF_UP);
	assert_int_equal(look(wire).nb_ips, 0);
	wire->ops->close(wire);
}

/** As ip route and ip neigh have it; Linux asks for MACs that it does not know. */
static void
test_ways(void **state)
{
	static const uint8_t own[SHCA_IP_BYTES] = { [10] = 0xff, 0xff, 10, 78, 0, 1 };
	static const uint8_t near[SHCA_IP_BYTES] = { [10] = 0xff, 0xff, 10, 78, 0, 5 };
	static const uint8_t far[SHCA_IP_BYTES] = { [10] = 0xff, 0xff, 198, 51, 100, 1 };
	static const uint8_t nowhere[SHCA_IP_BYTES] = { [10] = 0xff, 0xff, 203, 0, 113, 1 };
	static const uint8_t six[SHCA_IP_BYTES] = { 0xfd, 0x33, [15] = 9 };
	static const uint8_t local[SHCA_IP_BYTES] = { 0xfe, 0x80, [15] = 9 };
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x55 }, mac6[6] = { 2, 0, 0, 0, 0, 0x66 };
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;
	struct shca_way way;

	(void)state;
	kernel_side.is_kernel_side = true;
	wire = open_wire("tap", &kernel_side);
	assert_int_equal(wire->ops->find_way(wire, near, true, &way), -ENETUNREACH);
	run("ip addr add 10.78.0.1/24 dev %s && ip link set %s up", name);
	assert_true(wait_for_ip(wire, own, true));
	assert_int_equal(wire->ops->find_way(wire, near, false, &way), -EINPROGRESS);
	assert_memory_equal(way.source, own, sizeof(own));
	assert_int_equal(wire->ops->find_way(wire, near, true, &way), -EINPROGRESS);
	run("ip neigh replace 10.78.0.5 lladdr 02:00:00:00:00:55 dev %s", name);
	assert_int_equal(wire->ops->find_way(wire, near, true, &way), 0);
	assert_memory_equal(way.mac, mac, sizeof(mac));
	/* By a router, which is a neighbour. */
	run("ip route add 198.51.100.0/24 via 10.78.0.5 dev %s", name);
	assert_int_equal(wire->ops->find_way(wire, far, false, &way), 0);
	assert_memory_equal(way.mac, mac, sizeof(mac));
	assert_memory_equal(way.source, own, sizeof(own));
	run("ip route add unreachable 203.0.113.0/24", name);
	assert_int_equal(wire->ops->find_way(wire, nowhere, false, &way), -EHOSTUNREACH);
	run("ip route del unreachable 203.0.113.0/24", name);
	run("ip addr add fd33::1/64 dev %s nodad && "
	    "ip neigh replace fd33::9 lladdr 02:00:00:00:00:66 dev %s",
		name);
	assert_int_equal(wire->ops->find_way(wire, six, false, &way), 0);
	assert_memory_equal(way.mac, mac6, sizeof(mac6));
	assert_int_equal(way.source[15], 1);
	run("ip neigh replace fe80::9 lladdr 02:00:00:00:00:66 dev %s", name);
	assert_int_equal(wire->ops->find_way(wire, local, false, &way), 0);
	assert_memory_equal(way.mac, mac6, sizeof(mac6));
	/* By another netdev. */
	memcpy(&way.source[12], (const uint8_t[]){ 127, 0, 0, 1 }, 4);
	memset(way.source, 0, 10);
	way.source[10] = way.source[11] = 0xff;
	assert_int_equal(wire->ops->find_way(wire, way.source, false, &way), -ENETUNREACH);
	wire->ops->close(wire);
}

static void
test_many_addresses(void **state)
{
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;

	(void)state;
	kernel_side.is_kernel_side = kernel_side.wants_macs = true;
	wire = open_wire("tap", &kernel_side);
	set_flags(name, IFF_UP);
	assert_true(wait_for(wire, true, false));
	run("for i in $(seq 100 699); do echo fdb add 02:00:00:00:0${i%%??}:${i#?} dev %s self; "
	    "done | bridge -batch -",
		name);
	assert_true(wait_listed(wire, "02:00:00:00:05:07", true));
	assert_int_equal(look(wire).nb_macs, SHCA_NETDEV_MACS_MAX);
	wire->ops->close(wire);
}

/** A container or a chroot may forbid to make a namespace, or to enter one. */
static bool
make_namespace(void)
{
	char command[192];

	snprintf(command, sizeof(command),
		"ip netns add %s && { ip netns exec %s true || { ip netns del %s; false; }; }",
		name, name, name);
	return system(command) == 0;
}

/** Whatever the test came to, this process is back in its own one, and the other is gone. */
static int
leave_namespace(void **state)
{
	char command[64];
	int ret;

	(void)state;
	if (own_namespace < 0)
		return 0;
	ret = setns(own_namespace, CLONE_NEWNET);
	close(own_namespace);
	own_namespace = -1;
	snprintf(command, sizeof(command), "ip netns del %s", name);
	return ret == 0 && system(command) == 0 ? 0 : -1;
}

static void
test_moved_to_another_namespace(void **state)
{
	struct shca_wire_conf kernel_side = conf;
	struct shca_wire *wire;

	(void)state;
	if (!make_namespace()) {
		print_message("no network namespaces here: ip netns add, exec\n");
		skip();
	}
	own_namespace = open("/proc/self/ns/net", O_RDONLY);
	assert_true(own_namespace >= 0);
	kernel_side.is_kernel_side = kernel_side.wants_macs = true;
	wire = open_wire("tap", &kernel_side);
	run("ip link set %s netns %s", name);
	run("ip netns exec %s ip link set %s up promisc on", name);
	assert_true(wait_for(wire, true, true));
	run("ip netns exec %s ip link set %s promisc off", name);
	assert_true(wait_for(wire, true, false));
	run("ip netns exec %s bridge fdb add 02:00:00:00:00:55 dev %s self permanent", name);
	assert_true(wait_listed(wire, "02:00:00:00:00:55", true));
	{
		char path[64];
		int netns_fd;

		snprintf(path, sizeof(path), "/run/netns/%s", name);
		netns_fd = open(path, O_RDONLY);
		assert_int_equal(setns(netns_fd, CLONE_NEWNET), 0);
		exchange(wire, 200);
		assert_int_equal(setns(own_namespace, CLONE_NEWNET), 0);
		close(netns_fd);
	}
	wire->ops->close(wire);
}

static void
test_deleted_netdev(void **state)
{
	struct shca_wire *wire = open_wire("tap", &conf);
	uint8_t bytes[64];
	struct shca_frame frame = test_frame(bytes, 1, 64);

	(void)state;
	run("ip link del %s", name);
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	assert_int_equal(wire->ops->rx(wire, &frame, 1), 0);
	assert_int_equal(wire->ops->fd(wire), -1);
	assert_true(wait_for(wire, true, false));
	assert_string_equal(look(wire).name, "");
	wire->ops->close(wire);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_down_netdev_drops),
		cmocka_unit_test(test_descriptor_of_the_runner),
		cmocka_unit_test(test_descriptor_fetched_from_the_runner),
		cmocka_unit_test(test_descriptor_not_of_the_runner),
		cmocka_unit_test(test_dressing),
		cmocka_unit_test(test_attach_errors),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_mac),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ip_addresses),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test_teardown(test_moved_to_another_namespace, leave_namespace),
		cmocka_unit_test(test_deleted_netdev),
	};
	bool created;
	int fd;

	snprintf(name, sizeof(name), "shw%d", getpid());
	fd = shca_tap_attach(name, &created);
	if (fd < 0) {
		printf("skipped: no TAP can be made here (see above)\n");
		return 77; /* meson: skipped */
	}
	close(fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
