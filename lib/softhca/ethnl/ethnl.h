/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The generic netlink family "ethtool" (Linux 6.1 net/ethtool/netlink.c) for ports' netdevs: a
 * message of it becomes the ioctls of ethtool that ask and set the same, and what they answer
 * becomes its answer. So there is one truth, whichever way a program asks.
 *
 * Bytes in, bytes out. Whatever is not ours to answer is for the kernel, as it came: other netdevs,
 * messages that the TAP answers, headers that name no netdev, and what needs privileges that the
 * asker lacks, which the kernel refuses itself.
 */
#ifndef SHCA_ETHNL_ETHNL_H
#define SHCA_ETHNL_ETHNL_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;

/** Who asks, and who knows. */
struct shca_ethnl {
	uint16_t family; /**< its number in this kernel */
	uint32_t portid; /**< of the asking socket, for the answers' headers */
	bool is_admin;   /**< CAP_NET_ADMIN in the network namespace */
	bool has_extack; /**< the socket's NETLINK_EXT_ACK: errors say why */
	bool caps_acks;  /**< its NETLINK_CAP_ACK: errors are without the request */
	/** @return whether it is a port's netdev, of which the device answers. */
	bool (*owns)(void *arg, const char *netdev);
	/** Find a port's netdev by number. @return whether there is such a port; @p netdev: "": it
	 * has none. */
	bool (*find)(void *arg, unsigned int number, char netdev[static IF_NAMESIZE]);
	/** Ask by a structure of SIOCETHTOOL. @return as shca_nldev_ethtool(). */
	int (*ask)(void *arg, const char *netdev, void *command);
	/** Ask the kernel; @p visit gets each message of its answer, up to NLMSG_ERROR or
	 * NLMSG_DONE.
	 * @return 0, what @p visit returned, or a negative errno. */
	int (*ask_kernel)(void *arg, const struct nlmsghdr *request,
		int (*visit)(void *visit_arg, const struct nlmsghdr *message), void *visit_arg);
	/** Send one datagram. @return 0 or a negative errno, which ends the answer. */
	int (*send)(void *arg, const void *bytes, size_t length);
	void *arg; /**< of all of them */
};

/**
 * Answer one message.
 * @param bytes as the application gave them: not trusted. Aligned to 4 bytes.
 * @return 0; SHCA_NLDEV_KERNEL: nothing was sent, and the kernel is to answer; or a negative errno:
 * of send, or -ENOMEM. What the kernel refuses is answered by NLMSG_ERROR.
 */
int shca_ethnl_answer(const struct shca_ethnl *ethnl, const void *bytes, size_t length);

#endif /* SHCA_ETHNL_ETHNL_H */
