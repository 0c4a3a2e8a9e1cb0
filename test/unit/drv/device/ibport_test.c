/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps of RDMA netlink, byte by byte, on a fake socket; test/system/test_probe.py has softhca's
 * answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "device/ibport.h"
#include "rig.h"

/* In place of the C library's, by the linker's --wrap. */
int __wrap_socket(int domain, int type, int protocol);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags);

/** What the kernel answers: datagrams in order, ended by one without bytes. */
static struct {
	struct {
		_Alignas(4) uint8_t bytes[256];
		size_t length;
	} datagram[8];
	unsigned int nb, nb_read, nb_sent;
	int socket_error, send_error, recv_error;
	struct {
		uint16_t command;
		uint32_t dev_index; /**< UINT32_MAX: none was given */
	} asked[4];
} fake;

int
__wrap_socket(int domain, int type, int protocol)
{
	assert_int_equal(domain, AF_NETLINK);
	assert_true(type & SOCK_CLOEXEC);
	assert_int_equal(protocol, NETLINK_RDMA);
	errno = fake.socket_error;
	return errno == 0 ? dup(STDIN_FILENO) : -1;
}

ssize_t
__wrap_send(int fd, const void *bytes, size_t length, int flags)
{
	struct nlmsghdr head;
	struct nlattr attr;

	assert_true(fd > STDERR_FILENO && flags == 0);
	assert_true(fake.nb_sent < RTE_DIM(fake.asked));
	memcpy(&head, bytes, sizeof(head));
	assert_int_equal(head.nlmsg_len, length);
	assert_int_equal(head.nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_int_equal(RDMA_NL_GET_CLIENT(head.nlmsg_type), RDMA_NL_NLDEV);
	fake.asked[fake.nb_sent].command = RDMA_NL_GET_OP(head.nlmsg_type);
	fake.asked[fake.nb_sent].dev_index = UINT32_MAX;
	if (length > sizeof(head)) {
		assert_int_equal(length, sizeof(head) + sizeof(attr) + sizeof(uint32_t));
		memcpy(&attr, (const char *)bytes + sizeof(head), sizeof(attr));
		assert_int_equal(attr.nla_type, RDMA_NLDEV_ATTR_DEV_INDEX);
		assert_int_equal(attr.nla_len, sizeof(attr) + sizeof(uint32_t));
		memcpy(&fake.asked[fake.nb_sent].dev_index,
			(const char *)bytes + sizeof(head) + sizeof(attr), sizeof(uint32_t));
	}
	fake.nb_sent++;
	errno = fake.send_error;
	return errno == 0 ? (ssize_t)length : -1;
}

ssize_t
__wrap_recv(int fd, void *bytes, size_t length, int flags)
{
	assert_true(fd > STDERR_FILENO && flags == 0);
	errno = fake.recv_error;
	if (errno != 0) {
		fake.recv_error = errno == EINTR ? 0 : errno;
		return -1;
	}
	assert_true(fake.nb_read < fake.nb);
	assert_true(length >= 32768);
	memcpy(bytes, fake.datagram[fake.nb_read].bytes, fake.datagram[fake.nb_read].length);
	return (ssize_t)fake.datagram[fake.nb_read++].length;
}

static int
fake_make(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static void
put_datagram(void)
{
	assert_true(fake.nb < RTE_DIM(fake.datagram));
	fake.nb++;
}

/** Begin a message in the last datagram. @return the message. */
static struct nlmsghdr *
put_message(uint16_t type)
{
	struct nlmsghdr *head =
		(void *)(fake.datagram[fake.nb - 1].bytes + fake.datagram[fake.nb - 1].length);

	*head = (struct nlmsghdr){ .nlmsg_len = sizeof(*head), .nlmsg_type = type };
	fake.datagram[fake.nb - 1].length += sizeof(*head);
	return head;
}

static void
put_attr(struct nlmsghdr *head, uint16_t type, const void *value, size_t size)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + size, .nla_type = type };
	uint8_t *bytes = fake.datagram[fake.nb - 1].bytes + fake.datagram[fake.nb - 1].length;

	memcpy(bytes, &attr, sizeof(attr));
	memcpy(bytes + sizeof(attr), value, size);
	head->nlmsg_len += NLA_ALIGN(attr.nla_len);
	fake.datagram[fake.nb - 1].length += NLA_ALIGN(attr.nla_len);
}

static void
put_u32(struct nlmsghdr *head, uint16_t type, uint32_t value)
{
	put_attr(head, type, &value, sizeof(value));
}

static void
put_name(struct nlmsghdr *head, uint16_t type, const char *name)
{
	put_attr(head, type, name, strlen(name) + 1);
}

/** The end of a dump, or an error in its place. */
static void
put_end(uint16_t type, int result)
{
	struct nlmsghdr *head = put_message(type);

	memcpy(head + 1, &result, sizeof(result));
	head->nlmsg_len += sizeof(result);
	fake.datagram[fake.nb - 1].length += sizeof(result);
}

static void
put_device(uint32_t index, const char *name)
{
	struct nlmsghdr *head = put_message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));

	put_u32(head, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_name(head, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

static void
put_port(uint32_t number, uint32_t ifindex, const char *ifname)
{
	struct nlmsghdr *head =
		put_message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET));

	/* An attribute of tomorrow, and one whose length is no multiple of 4. */
	put_u32(head, RDMA_NLDEV_ATTR_MAX + 3, 0xffffffff);
	put_attr(head, RDMA_NLDEV_ATTR_PORT_STATE, "\4", 1);
	put_u32(head, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (ifindex == 0)
		return;
	put_u32(head, RDMA_NLDEV_ATTR_NDEV_INDEX, ifindex);
	put_name(head, RDMA_NLDEV_ATTR_NDEV_NAME, ifname);
}

static void
put_done(void)
{
	put_end(NLMSG_DONE, 0);
}

/** Two devices, the second with ports in several datagrams. */
static void
put_two_devices(void)
{
	put_datagram();
	put_device(3, "mlx5_0");
	put_device(7, "mlx5_bond_0");
	put_datagram();
	put_done();
	put_datagram();
	put_port(1, 0, NULL);
	put_done();
	put_datagram();
	put_port(1, 11, "ens1f0npf0vf0");
	put_datagram();
	put_port(2, 0, NULL);
	put_port(3, 12, "ens1f0np0");
	put_datagram();
	put_done();
}

static void
ports_of_all_devices(void **state)
{
	static const struct mdv_ibport wanted[] = {
		{ "mlx5_0", 1, 0, "" },
		{ "mlx5_bond_0", 1, 11, "ens1f0npf0vf0" },
		{ "mlx5_bond_0", 2, 0, "" },
		{ "mlx5_bond_0", 3, 12, "ens1f0np0" },
	};
	struct mdv_ibport *ports;
	char text[80];

	(void)state;
	put_two_devices();
	fake.recv_error = EINTR; /* once */
	assert_int_equal(mdv_ibports_list(&ports), 4);
	for (unsigned int i = 0; i < RTE_DIM(wanted); i++) {
		assert_string_equal(ports[i].ibdev, wanted[i].ibdev);
		assert_int_equal(ports[i].port_num, wanted[i].port_num);
		assert_int_equal(ports[i].ifindex, wanted[i].ifindex);
		assert_string_equal(ports[i].ifname, wanted[i].ifname);
	}
	assert_int_equal(fake.nb_sent, 3);
	assert_int_equal(fake.asked[0].command, RDMA_NLDEV_CMD_GET);
	assert_int_equal(fake.asked[0].dev_index, UINT32_MAX);
	assert_int_equal(fake.asked[1].command, RDMA_NLDEV_CMD_PORT_GET);
	assert_int_equal(fake.asked[1].dev_index, 3);
	assert_int_equal(fake.asked[2].dev_index, 7);

	assert_int_equal(mdv_ibports_print(ports, 4, "mlx5_bond_0", text, sizeof(text)), 3);
	assert_string_equal(text, "1 (ens1f0npf0vf0), 2 (no netdev), 3 (ens1f0np0)");
	assert_int_equal(mdv_ibports_print(ports, 4, "mlx5_bond_0", text, 24), 3);
	assert_string_equal(text, "1 (ens1f0npf0vf0), 2 (n");
	assert_int_equal(mdv_ibports_print(ports, 4, "mlx5_1", text, sizeof(text)), 0);
	assert_string_equal(text, "");
	free(ports);
}

static void
a_device_that_goes_has_no_ports(void **state)
{
	struct mdv_ibport *ports;

	(void)state;
	put_datagram();
	put_device(3, "mlx5_0");
	put_device(4, "mlx5_1");
	put_done();
	put_datagram();
	put_end(NLMSG_DONE, -EINVAL);
	put_datagram();
	put_port(1, 0, NULL);
	put_done();
	assert_int_equal(mdv_ibports_list(&ports), 1);
	assert_string_equal(ports[0].ibdev, "mlx5_1");
	free(ports);
}

static void
there_are_no_devices(void **state)
{
	struct mdv_ibport *ports = NULL;

	(void)state;
	put_datagram();
	put_done();
	assert_int_equal(mdv_ibports_list(&ports), 0);
	assert_null(ports);
}

static void
errors_are_the_callers(void **state)
{
	struct mdv_ibport *ports;

	(void)state;
	fake.socket_error = EPROTONOSUPPORT;
	assert_int_equal(mdv_ibports_list(&ports), -EPROTONOSUPPORT);
	fake_make(NULL);
	fake.send_error = ECONNREFUSED;
	assert_int_equal(mdv_ibports_list(&ports), -ECONNREFUSED);
	fake_make(NULL);
	fake.recv_error = ENOBUFS;
	assert_int_equal(mdv_ibports_list(&ports), -ENOBUFS);
	fake_make(NULL);
	put_datagram();
	put_end(NLMSG_ERROR, -EPERM);
	assert_int_equal(mdv_ibports_list(&ports), -EPERM);
	fake_make(NULL);
	put_datagram(); /* without a byte */
	assert_int_equal(mdv_ibports_list(&ports), -EBADMSG);
}

/** Nothing is read behind the end of a message that says less or more than it has. */
static void
bad_messages(void **state)
{
	struct mdv_ibport *ports;
	struct nlmsghdr *head;

	(void)state;
	put_datagram();
	put_message(NLMSG_DONE); /* without its int */
	assert_int_equal(mdv_ibports_list(&ports), -EBADMSG);

	fake_make(NULL);
	put_datagram();
	head = put_message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));
	put_u32(head, RDMA_NLDEV_ATTR_DEV_INDEX, 9);
	put_attr(head, RDMA_NLDEV_ATTR_DEV_NAME, "no end", 6);
	put_attr(head, RDMA_NLDEV_ATTR_FW_VERSION, "", 0);
	((struct nlattr *)(void *)((char *)head + head->nlmsg_len - NLA_HDRLEN))->nla_len = 400;
	put_done();
	put_datagram();
	head = put_message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET));
	put_attr(head, RDMA_NLDEV_ATTR_PORT_INDEX, "\1\1", 2);
	put_u32(head, RDMA_NLDEV_ATTR_NDEV_INDEX, 5);
	put_name(head, RDMA_NLDEV_ATTR_NDEV_NAME, "a name longer than a netdev's");
	put_done();
	assert_int_equal(mdv_ibports_list(&ports), 1);
	assert_int_equal(fake.asked[1].dev_index, 9);
	assert_string_equal(ports[0].ibdev, "");
	assert_int_equal(ports[0].port_num, 0);
	assert_int_equal(ports[0].ifindex, 5);
	assert_string_equal(ports[0].ifname, "");
	free(ports);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ports_of_all_devices, fake_make),
		cmocka_unit_test_setup(a_device_that_goes_has_no_ports, fake_make),
		cmocka_unit_test_setup(there_are_no_devices, fake_make),
		cmocka_unit_test_setup(errors_are_the_callers, fake_make),
		cmocka_unit_test_setup(bad_messages, fake_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
