/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's settings of a virtual function, from sysfs and netlink messages made here; and their
 * effect on its port. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <rte_log.h>

#include "base/log.h"
#include "kernel/vf.h"
#include "kernel/vf_link.h"
#include "rig.h"

int __real_mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf);
int __wrap_mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf);

/** The physical function's netdev, where the kernel knows of the functions; 0: as it is here. */
static unsigned int asked_netdev;

int
__wrap_mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf)
{
	if (asked_netdev == 0)
		return __real_mdv_vf_link_ask(ifindex, vf);
	if (ifindex != asked_netdev)
		return -ENOENT;
	vf->is_trusted = true;
	return 0;
}

static char root[] = "/tmp/drv_vf_XXXXXX";
static char *logged;
static size_t logged_size;
static FILE *log_stream;
static struct rig_port rig;

static void
run(const char *format, const char *argument)
{
	char command[512], line[600];

	snprintf(command, sizeof(command), format, argument);
	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	assert_int_equal(system(line), 0);
}

/** A card with three functions; the port is the second's. */
static int
tree_make(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	run("mkdir -p card/sriov/1 vf0 vf1 vf2 ib && ln -s ../vf1 ib/device%s", "");
	run("for i in 0 1 2; do ln -s ../vf$i card/virtfn$i; ln -s ../card vf$i/physfn; done%s",
		"");
	run("echo 0x1018 > vf1/device%s", "");
	log_stream = open_memstream(&logged, &logged_size);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	rte_log_set_level(mdv_log_type, RTE_LOG_INFO);
	return 0;
}

static int
tree_remove(void **state)
{
	(void)state;
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(logged);
	run("rm -rf %s", root);
	return 0;
}

/** Begin the log anew: the stream keeps what is beyond its position. */
static void
forget_log(void)
{
	fflush(log_stream);
	memset(logged, 0, logged_size);
	rewind(log_stream);
}

static void
make_port(void)
{
	struct mdv_device *device;

	rig_port_init(&rig);
	device = &mdv_port(&rig.dev)->device;
	snprintf(device->name, sizeof(device->name), "mlx5_7");
	snprintf(device->sysfs_path, sizeof(device->sysfs_path), "%s/ib", root);
	forget_log();
}

static void
set_config(const char *spoof, const char *trust)
{
	char text[256];

	snprintf(text, sizeof(text),
		"VF         : 1\nMAC        : 02:00:00:00:00:01\nVLAN Proto : N/A\n"
		"SpoofCheck : %s\nTrust      : %s\nLinkState  : Follow\n",
		spoof, trust);
	run("printf '%s' > card/sriov/1/config", text);
}

static bool
has_logged(const char *text)
{
	fflush(log_stream);
	return strstr(logged, text) != NULL;
}

static void
a_trusted_function_may(void **state)
{
	struct mdv_vf vf;

	(void)state;
	make_port();
	set_config("OFF", "ON");
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && vf.is_known && vf.is_trusted && !vf.checks_source);
	assert_int_equal(vf.number, 1);
	mdv_vf_tell("net_mlx5dv6", &mdv_port(&rig.dev)->device);
	assert_true(has_logged("net_mlx5dv6: virtual function 1, trusted"));
	assert_false(has_logged("what it sends"));
	mdv_vf_check_mode(&rig.dev, "promiscuous");
	assert_false(has_logged("promiscuous"));
}

/** Nor is another one refused the mode: its host may be in switchdev mode. */
static void
another_may_not_and_is_told_why(void **state)
{
	struct rte_ether_addr known = { { 2, 0, 0, 0, 0, 1 } }, other = { { 2, 0, 0, 0, 0, 9 } };
	struct mdv_vf vf;

	(void)state;
	make_port();
	set_config("ON", "OFF");
	mdv_vf_check_mode(&rig.dev, "promiscuous");
	assert_true(
		has_logged("promiscuous mode may change nothing: mlx5_7 is virtual function 1 of "
			   "its card and not trusted"));
	assert_true(has_logged("ip link set dev <PF> vf 1 trust on"));
	assert_true(has_logged("In switchdev mode the host's rules decide"));
	mdv_vf_check_mode(&rig.dev, "allmulticast");
	assert_true(has_logged("allmulticast mode may"));
	mdv_vf_tell("net_mlx5dv7", &mdv_port(&rig.dev)->device);
	assert_true(
		has_logged("net_mlx5dv7: virtual function 1: what it sends from another address"));
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	mdv_vf_check_mac(&rig.dev, &vf, &known, &known);
	assert_false(has_logged("whose card knows it by"));
	mdv_vf_check_mac(&rig.dev, &vf, &known, &other);
	assert_true(has_logged("knows it by 02:00:00:00:00:01, without a netdev here to list other "
			       "addresses: frames for 02:00:00:00:00:09 may not get here"));
	assert_true(has_logged("knows it by 02:00:00:00:00:01: frames from 02:00:00:00:00:09 are "
			       "dropped"));
	mdv_vf_check_groups(&rig.dev);
	assert_true(
		has_logged("mlx5_7 is a virtual function without a netdev here to list groups"));
}

/** A netdev lists what the port has, and the check of source addresses is another thing. */
static void
beside_a_netdev_only_the_check_is_told_of(void **state)
{
	struct rte_ether_addr known = { { 2, 0, 0, 0, 0, 1 } }, other = { { 2, 0, 0, 0, 0, 9 } };
	struct mdv_vf vf = { .is_vf = true, .is_known = true };

	(void)state;
	make_port();
	mdv_port(&rig.dev)->device.ifindex = 5;
	mdv_vf_check_groups(&rig.dev);
	mdv_vf_check_mac(&rig.dev, &vf, &known, &other);
	assert_false(has_logged("virtual function"));
	vf.checks_source = true;
	mdv_vf_check_mac(&rig.dev, &vf, &known, &other);
	assert_true(has_logged("frames from 02:00:00:00:00:09 are dropped"));
	assert_false(has_logged("frames for"));
}

/** Linux without OFED in a namespace without the card's netdev; a guest; no function at all. */
static void
what_is_not_shown_is_allowed(void **state)
{
	struct mdv_vf vf;

	(void)state;
	make_port();
	run("rm card/sriov/1/config%s", "");
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && !vf.is_known && vf.number == 1);
	mdv_vf_tell("net_mlx5dv8", &mdv_port(&rig.dev)->device);
	assert_false(has_logged("net_mlx5dv8"));
	mdv_vf_check_mode(&rig.dev, "promiscuous");
	assert_true(has_logged("whether it is trusted cannot be seen here"));
	run("mkdir -p card/net/lo%s", ""); /* a netdev that has no functions */
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && !vf.is_known);
	run("rm vf1/physfn%s", "");
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && !vf.is_known);
	run("echo 0x1017 > vf1/device%s", "");
	make_port();
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_false(vf.is_vf);
	mdv_vf_check_mode(&rig.dev, "promiscuous");
	assert_false(has_logged("promiscuous"));
	run("rm vf1/device%s", "");
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_false(vf.is_vf);
}

static unsigned int
nb_descriptors(void)
{
	unsigned int nb = 0;

	for (int fd = 0; fd < 1024; fd++)
		nb += fcntl(fd, F_GETFD) >= 0;
	return nb;
}

/** Linux without OFED, in the card's namespace. */
static void
the_netdev_is_asked(void **state)
{
	const unsigned int nb_before = nb_descriptors();
	struct mdv_vf vf;

	(void)state;
	make_port();
	run("mkdir -p card/net/lo card/net/none && printf 'Trust : ON\n' > card/sriov/1/config%s",
		"");
	asked_netdev = 1;
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && vf.is_known && vf.is_trusted && vf.number == 1);
	asked_netdev = 9;
	mdv_vf_query(&mdv_port(&rig.dev)->device, &vf);
	assert_true(vf.is_vf && !vf.is_known);
	asked_netdev = 0;
	run("rmdir card/net/lo card/net/none%s", "");
	assert_int_equal(nb_descriptors(), nb_before);
}

/** What its guest sees of it; nor does a card help that has others. */
static void
a_function_is_known_by_its_id(void **state)
{
	static const struct {
		const char *id;
		bool is_vf;
	} cases[] = {
		{ "0x1013", false },
		{ "0x1014", true },
		{ "0x1015", false },
		{ "0x1016", true },
		{ "0x1018", true },
		{ "0x101a", true },
		{ "0x101c", true },
		{ "0x101e", true },
		{ "0x101d", false },
		{ "0xa2d3", true },
		{ "0xa2d6", false },
		{ "none", false },
	};
	struct mdv_device *device;
	struct mdv_vf vf;

	(void)state;
	make_port();
	device = &mdv_port(&rig.dev)->device;
	run("mkdir -p guest/device && ln -s ../../card guest/device/physfn%s", "");
	snprintf(device->sysfs_path, sizeof(device->sysfs_path), "%s/guest", root);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		run("echo %s > guest/device/device", cases[i].id);
		mdv_vf_query(device, &vf);
		assert_int_equal(vf.is_vf, cases[i].is_vf);
		assert_false(vf.is_known);
	}
	snprintf(device->sysfs_path, sizeof(device->sysfs_path), "%s/nowhere", root);
	mdv_vf_query(device, &vf);
	assert_false(vf.is_vf || vf.is_known || vf.has_vfs);
}

/** A netlink message in the making. */
struct message {
	_Alignas(8) uint8_t bytes[512];
	size_t length;
};

/** @return where the attribute begins. */
static size_t
add(struct message *message, unsigned short type, const void *data, size_t length)
{
	const struct rtattr attr = { .rta_type = type,
		.rta_len = (unsigned short)RTA_LENGTH(length) };
	size_t at = message->length;

	memcpy(message->bytes + at, &attr, sizeof(attr));
	if (length != 0)
		memcpy(message->bytes + at + RTA_LENGTH(0), data, length);
	message->length += RTA_SPACE(length);
	return at;
}

/** Close the attribute around everything added since. */
static void
end(struct message *message, size_t at)
{
	unsigned short length = (unsigned short)(message->length - at);

	memcpy(message->bytes + at + offsetof(struct rtattr, rta_len), &length, sizeof(length));
}

static void
add_vf(struct message *message, unsigned int number, uint32_t spoof, uint32_t trust)
{
	const uint32_t spoofchk[] = { number, spoof }, trusted[] = { number, trust };
	const struct ifla_vf_mac mac = { .vf = number };
	size_t at = add(message, IFLA_VF_INFO, NULL, 0);

	add(message, IFLA_VF_MAC, &mac, sizeof(mac));
	add(message, IFLA_VF_SPOOFCHK, spoofchk, sizeof(spoofchk));
	add(message, IFLA_VF_TRUST, trusted, sizeof(trusted));
	end(message, at);
}

/** A function of a kernel that has no such settings. */
static void
add_silent_vf(struct message *message, unsigned int number)
{
	const struct ifla_vf_mac mac = { .vf = number };
	size_t at = add(message, IFLA_VF_INFO, NULL, 0);

	add(message, IFLA_VF_MAC, &mac, sizeof(mac));
	end(message, at);
}

static void
set_head(struct message *message, unsigned short type, size_t length)
{
	const struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_len = (uint32_t)length };

	memcpy(message->bytes, &head, sizeof(head));
}

static void
make_link(struct message *message)
{
	size_t at;

	memset(message, 0, sizeof(*message));
	message->length = NLMSG_SPACE(sizeof(struct ifinfomsg));
	add(message, IFLA_IFNAME, "eth0", 5);
	at = add(message, IFLA_VFINFO_LIST | NLA_F_NESTED, NULL, 0);
	add_vf(message, 0, 0, 1);
	add_vf(message, 1, 1, 0);
	add_vf(message, 2, UINT32_MAX, UINT32_MAX);
	add_silent_vf(message, 3);
	end(message, at);
	set_head(message, RTM_NEWLINK, message->length);
}

static void
the_kernels_answer_is_read(void **state)
{
	struct mdv_vf vf = { .number = 0 };
	struct message message;

	(void)state;
	make_link(&message);
	assert_int_equal(mdv_vf_link_parse(message.bytes, message.length, &vf), 0);
	assert_true(vf.is_trusted && !vf.checks_source);
	vf.number = 1;
	assert_int_equal(mdv_vf_link_parse(message.bytes, message.length, &vf), 0);
	assert_true(!vf.is_trusted && vf.checks_source);
	vf.number = 2; /* its driver does not report the setting */
	assert_int_equal(mdv_vf_link_parse(message.bytes, message.length, &vf), -ENOENT);
	vf.number = 3; /* nor does its kernel */
	assert_int_equal(mdv_vf_link_parse(message.bytes, message.length, &vf), -ENOENT);
	vf.number = 4;
	assert_int_equal(mdv_vf_link_parse(message.bytes, message.length, &vf), -ENOENT);
}

static void
a_question_without_descriptors_is_an_error(void **state)
{
	struct mdv_vf vf = { .number = 1 };
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(mdv_vf_link_ask(1, &vf), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/** Messages cut at any place, with and without a matching length field. */
static void
a_damaged_answer_is_survived(void **state)
{
	struct mdv_vf vf = { .number = 1 };
	const int error = -ENODEV;
	struct message message;
	size_t whole;

	(void)state;
	make_link(&message);
	whole = message.length;
	for (size_t length = 0; length < whole; length++) {
		uint8_t *copy = malloc(length == 0 ? 1 : length);

		set_head(&message, RTM_NEWLINK, length);
		memcpy(copy, message.bytes, length);
		(void)mdv_vf_link_parse(copy, length, &vf);
		free(copy);
		set_head(&message, RTM_NEWLINK, whole);
		assert_int_equal(mdv_vf_link_parse(message.bytes, length, &vf), -EBADMSG);
	}
	set_head(&message, NLMSG_DONE, whole);
	assert_int_equal(mdv_vf_link_parse(message.bytes, whole, &vf), -EBADMSG);
	set_head(&message, NLMSG_ERROR, whole);
	memcpy(message.bytes + NLMSG_HDRLEN, &error, sizeof(error));
	assert_int_equal(mdv_vf_link_parse(message.bytes, whole, &vf), -ENODEV);
	assert_int_equal(mdv_vf_link_ask(0, &vf), -ENODEV);
	/* The loopback device has no functions. */
	assert_int_equal(mdv_vf_link_ask(1, &vf), -ENOENT);
}

/** In switchdev mode its device has a port for each vport. */
static void
a_physical_function_is_known_by_its_functions(void **state)
{
	struct mdv_device *device;
	struct mdv_vf vf;

	(void)state;
	make_port();
	device = &mdv_port(&rig.dev)->device;
	run("mkdir ib_pf && ln -s ../card ib_pf/device%s", "");
	snprintf(device->sysfs_path, sizeof(device->sysfs_path), "%s/ib_pf", root);
	device->nb_ports = 1;
	mdv_vf_query(device, &vf);
	assert_false(mdv_vf_is_switched(&vf));
	run("echo 0 > card/sriov_numvfs%s", "");
	mdv_vf_query(device, &vf);
	assert_false(mdv_vf_is_switched(&vf));
	run("echo 3 > card/sriov_numvfs%s", "");
	mdv_vf_query(device, &vf);
	assert_true(vf.has_vfs && !vf.is_vf && mdv_vf_is_switched(&vf));
	device->nb_ports = 2;
	mdv_vf_query(device, &vf);
	assert_false(mdv_vf_is_switched(&vf));
	device->nb_ports = 1;
	run("echo many > card/sriov_numvfs%s", "");
	mdv_vf_query(device, &vf);
	assert_false(mdv_vf_is_switched(&vf));
	make_port();
	mdv_vf_query(device, &vf);
	assert_true(vf.is_vf && !vf.has_vfs && mdv_vf_is_switched(&vf));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_physical_function_is_known_by_its_functions),
		cmocka_unit_test(a_trusted_function_may),
		cmocka_unit_test(another_may_not_and_is_told_why),
		cmocka_unit_test(a_function_is_known_by_its_id),
		cmocka_unit_test(beside_a_netdev_only_the_check_is_told_of),
		cmocka_unit_test(the_netdev_is_asked),
		cmocka_unit_test(what_is_not_shown_is_allowed),
		cmocka_unit_test(the_kernels_answer_is_read),
		cmocka_unit_test(a_damaged_answer_is_survived),
		cmocka_unit_test(a_question_without_descriptors_is_an_error),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
