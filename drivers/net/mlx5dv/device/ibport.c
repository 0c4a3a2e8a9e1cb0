/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA_NLDEV_CMD_GET and RDMA_NLDEV_CMD_PORT_GET, as dumps. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "ibport.h"

/** The kernel fills datagrams of a dump up to this size (af_netlink.c netlink_dump()). */
#define DATAGRAM_BYTES 32768

struct rdma_device {
	uint32_t index;
	char name[IBV_SYSFS_NAME_MAX];
};

struct list {
	int fd;
	struct rdma_device *devices;
	struct mdv_ibport *ports;
	unsigned int nb_devices, nb_ports;
	const struct rdma_device *asked; /**< whose ports are asked for; NULL: none's */
	_Alignas(struct nlmsghdr) char datagram[DATAGRAM_BYTES];
};

typedef int (*message_fn)(struct list *list, const struct nlattr *const attrs[RDMA_NLDEV_ATTR_MAX]);

static uint32_t
get_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (attr != NULL && attr->nla_len >= NLA_HDRLEN + sizeof(value))
		memcpy(&value, (const char *)attr + NLA_HDRLEN, sizeof(value));
	return value;
}

/** Copy the string; too long a one, or none, is "". */
static void
get_name(const struct nlattr *attr, char *name, size_t size)
{
	size_t len = attr == NULL ? 0 : attr->nla_len - NLA_HDRLEN;

	name[0] = '\0';
	if (len != 0 && len <= size && ((const char *)attr)[NLA_HDRLEN + len - 1] == '\0')
		memcpy(name, (const char *)attr + NLA_HDRLEN, len);
}

/** Find the attributes that the payload consists of. */
static void
find_attrs(const char *payload, size_t length, const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX])
{
	memset(attrs, 0, sizeof(attrs[0]) * RDMA_NLDEV_ATTR_MAX);
	while (length >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)payload;
		const size_t type = attr->nla_type & NLA_TYPE_MASK, step = NLA_ALIGN(attr->nla_len);

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > length)
			return;
		if (type < RDMA_NLDEV_ATTR_MAX)
			attrs[type] = attr;
		if (step >= length)
			return;
		payload += step;
		length -= step;
	}
}

/**
 * Call @p fn for each message of the datagram.
 * @return 1 at the end of the dump, 0 before, or a negative errno.
 */
static int
read_datagram(struct list *list, size_t length, message_fn fn)
{
	struct nlmsghdr *message = (void *)list->datagram;
	const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX];
	int ret = 0, error;

	for (; ret == 0 && NLMSG_OK(message, length); message = NLMSG_NEXT(message, length)) {
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
			/* Both begin with an int. */
			if (message->nlmsg_len < NLMSG_LENGTH(sizeof(error)))
				return -EBADMSG;
			memcpy(&error, NLMSG_DATA(message), sizeof(error));
			return error < 0 ? error : 1;
		}
		find_attrs(NLMSG_DATA(message), NLMSG_PAYLOAD(message, 0), attrs);
		ret = fn(list, attrs);
	}
	return ret;
}

/** Ask for all devices, or for all ports of the device @c asked. */
static int
dump(struct list *list, unsigned int command, message_fn fn)
{
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		uint32_t dev_index;
	} request = {
		.head = { .nlmsg_len = sizeof(request.head),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.attr = { .nla_len = NLA_HDRLEN + sizeof(uint32_t),
			.nla_type = RDMA_NLDEV_ATTR_DEV_INDEX },
	};
	int ret = 0;

	if (list->asked != NULL) {
		request.head.nlmsg_len = sizeof(request);
		request.dev_index = list->asked->index;
	}
	if (send(list->fd, &request, request.head.nlmsg_len, 0) < 0)
		return -errno;
	while (ret == 0) {
		ssize_t length = recv(list->fd, list->datagram, sizeof(list->datagram), 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return length < 0 ? -errno : -EBADMSG;
		ret = read_datagram(list, (size_t)length, fn);
	}
	return ret < 0 ? ret : 0;
}

static int
add_device(struct list *list, const struct nlattr *const attrs[RDMA_NLDEV_ATTR_MAX])
{
	struct rdma_device *devices =
		reallocarray(list->devices, list->nb_devices + 1, sizeof(*devices));

	if (devices == NULL)
		return -ENOMEM;
	list->devices = devices;
	devices += list->nb_devices++;
	devices->index = get_u32(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]);
	get_name(attrs[RDMA_NLDEV_ATTR_DEV_NAME], devices->name, sizeof(devices->name));
	return 0;
}

static int
add_port(struct list *list, const struct nlattr *const attrs[RDMA_NLDEV_ATTR_MAX])
{
	struct mdv_ibport *ports = reallocarray(list->ports, list->nb_ports + 1, sizeof(*ports));

	if (ports == NULL)
		return -ENOMEM;
	list->ports = ports;
	ports += list->nb_ports++;
	rte_strscpy(ports->ibdev, list->asked->name, sizeof(ports->ibdev));
	ports->port_num = get_u32(attrs[RDMA_NLDEV_ATTR_PORT_INDEX]);
	ports->ifindex = get_u32(attrs[RDMA_NLDEV_ATTR_NDEV_INDEX]);
	get_name(attrs[RDMA_NLDEV_ATTR_NDEV_NAME], ports->ifname, sizeof(ports->ifname));
	return 0;
}

static int
dump_all(struct list *list)
{
	int ret = dump(list, RDMA_NLDEV_CMD_GET, add_device);

	for (unsigned int i = 0; ret == 0 && i < list->nb_devices; i++) {
		list->asked = &list->devices[i];
		ret = dump(list, RDMA_NLDEV_CMD_PORT_GET, add_port);
		/* The device may have gone meanwhile. */
		if (ret == -EINVAL || ret == -ENODEV)
			ret = 0;
	}
	return ret;
}

int
mdv_ibports_list(struct mdv_ibport **ports)
{
	struct list *list = calloc(1, sizeof(*list));
	int ret;

	if (list == NULL)
		return -ENOMEM;
	list->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	ret = list->fd < 0 ? -errno : dump_all(list);
	if (list->fd >= 0)
		close(list->fd);
	if (ret == 0) {
		*ports = list->ports;
		ret = (int)list->nb_ports;
	} else {
		free(list->ports);
	}
	free(list->devices);
	free(list);
	return ret;
}

unsigned int
mdv_ibports_print(
	const struct mdv_ibport *ports, unsigned int nb, const char *ibdev, char *text, size_t size)
{
	unsigned int found = 0;
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < nb; i++) {
		if (strcmp(ports[i].ibdev, ibdev) != 0)
			continue;
		if (len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%u (%s)",
				found == 0 ? "" : ", ", ports[i].port_num,
				ports[i].ifindex == 0 ? "no netdev" : ports[i].ifname);
		found++;
	}
	return found;
}
