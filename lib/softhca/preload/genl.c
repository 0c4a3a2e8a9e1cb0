/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/next.h"

#include "preload/genl.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <libmnl/libmnl.h>

#include "abi/core/caps.h"
#include "ethnl/ethnl.h"
#include "nldev/drvinfo.h"
#include "nldev/nldev.h"
#include "nldev/nlmsg.h"
#include "nldev/owner.h"
#include "preload/bell.h"
#include "preload/kernel.h"
#include "preload/netlink.h"
#include "preload/route.h"

/** Who asks. */
struct asking {
	struct shca_nldev nldev;
	struct shca_bell *bell;
	int fd;
};

static int
read_attr(const struct nlattr *attr, void *arg)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		mnl_attr_validate(attr, MNL_TYPE_U16) == 0)
		*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int
read_family(void *arg, const struct nlmsghdr *message)
{
	if (message->nlmsg_type == GENL_ID_CTRL)
		(void)mnl_attr_parse(message, GENL_HDRLEN, read_attr, arg);
	return 0;
}

/** @return the number that the kernel has given the family, or 0: it has none. */
static uint16_t
find_family(void)
{
	static _Atomic uint16_t known;
	const struct shca_kernel_options options = { false };
	_Alignas(8) uint8_t bytes[64];
	uint16_t family = known;
	struct nlmsghdr *request;
	struct genlmsghdr *genl;

	if (family != 0)
		return family;
	request = mnl_nlmsg_put_header(bytes);
	request->nlmsg_type = GENL_ID_CTRL;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(request, sizeof(*genl));
	*genl = (struct genlmsghdr){ .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
	if (shca_kernel_ask(NETLINK_GENERIC, &options, request, read_family, &family) == 0)
		known = family;
	return family;
}

static bool
owns(void *arg, const char *netdev)
{
	const struct asking *asking = arg;

	return shca_drvinfo_own(&asking->nldev, netdev) >= 0;
}

static int
ask(void *arg, const char *netdev, void *command)
{
	const struct asking *asking = arg;

	return shca_route_ask(&asking->nldev, netdev, command);
}

static bool
find(void *arg, unsigned int number, char netdev[static IF_NAMESIZE])
{
	const struct asking *asking = arg;

	return shca_drvinfo_find(&asking->nldev, number, netdev);
}

static int
ask_kernel(void *arg, const struct nlmsghdr *request,
	int (*visit)(void *visit_arg, const struct nlmsghdr *message), void *visit_arg)
{
	const struct asking *asking = arg;
	const struct shca_kernel_options options = shca_kernel_options(asking->fd);

	return shca_kernel_ask(NETLINK_GENERIC, &options, request, visit, visit_arg);
}

static int
send_answer(void *arg, const void *bytes, size_t length)
{
	const struct asking *asking = arg;

	return shca_bell_ring(asking->bell, asking->fd, bytes, length);
}

/** @return as shca_genl_request(). */
static int
answer(struct asking *asking, uint16_t family, const struct nlmsghdr *message)
{
	const struct shca_kernel_options options = shca_kernel_options(asking->fd);
	struct shca_ethnl ethnl = {
		.family = family,
		.is_admin = shca_caps_has_of_net(CAP_NET_ADMIN),
		.has_extack = options.has_extack,
		.caps_acks = options.caps_acks,
		.owns = owns,
		.find = find,
		.ask = ask,
		.ask_kernel = ask_kernel,
		.send = send_answer,
		.arg = asking,
	};
	struct sockaddr_nl self;
	int ret = shca_netlink_address(asking->fd, &self);

	if (ret == 0)
		ret = shca_route_nldev(&asking->nldev);
	if (ret != 0)
		return SHCA_NLDEV_KERNEL;
	ethnl.portid = self.nl_pid;
	return shca_ethnl_answer(&ethnl, message, message->nlmsg_len);
}

/** Of several messages in a datagram each is answered by whom it is for. */
static int
answer_or_pass(struct asking *asking, uint16_t family, const struct nlmsghdr *message)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int ret = answer(asking, family, message);

	if (ret == SHCA_NLDEV_KERNEL)
		ret = NEXT(sendto)(asking->fd, message, message->nlmsg_len, 0,
			      (const struct sockaddr *)&kernel, sizeof(kernel)) < 0
			? -errno
			: 0;
	return ret;
}

/** @return whether one of the messages may be the family's. */
static bool
has_family(const void *bytes, size_t length, uint16_t *family)
{
	const struct nlmsghdr *message = bytes;
	int left = (int)length;

	for (; shca_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
		if (message->nlmsg_type <= GENL_ID_CTRL)
			continue;
		*family = find_family();
		if (message->nlmsg_type == *family)
			return true;
	}
	return false;
}

int
shca_genl_request(struct shca_bell *bell, int fd, const void *bytes, size_t length)
{
	struct asking asking = { .bell = bell, .fd = fd };
	const struct nlmsghdr *message = bytes;
	int left = (int)length, ret = 0;
	uint16_t family;

	if (!has_family(bytes, length, &family))
		return SHCA_NLDEV_KERNEL;
	if (NLMSG_ALIGN(message->nlmsg_len) >= length)
		return answer(&asking, family, message);
	for (; ret == 0 && shca_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		ret = answer_or_pass(&asking, family, message);
	return ret;
}
