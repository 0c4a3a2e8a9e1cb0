/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A message of the family under way, and the rows that say what is done with which. */
#ifndef SHCA_ETHNL_CALL_H
#define SHCA_ETHNL_CALL_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct shca_ethnl;

/** Bytes before a message's attributes. */
#define SHCA_ETHNL_HEADER (NLMSG_HDRLEN + GENL_HDRLEN)
/** Attributes that a message may have, and more. */
#define SHCA_ETHNL_ATTRS 16

/** An attribute of a request, as the kernel's policies have them (enum nla_policy type). */
enum shca_ethnl_kind {
	SHCA_ETHNL_UNKNOWN = 0, /**< refused */
	SHCA_ETHNL_NEST,
	SHCA_ETHNL_U8,
	SHCA_ETHNL_U32,
	SHCA_ETHNL_FLAG,
	SHCA_ETHNL_NAME, /**< ends with a zero */
	SHCA_ETHNL_BINARY,
};

/** What attributes there may be in a message or a nest. */
struct shca_ethnl_policy {
	uint8_t max; /**< highest attribute */
	uint8_t kind[SHCA_ETHNL_ATTRS];
};

struct shca_ethnl_call {
	const struct shca_ethnl *ethnl;
	const struct nlmsghdr *request;
	/** Of the request, checked; NULL: not there. */
	const struct nlattr *attrs[SHCA_ETHNL_ATTRS];
	char netdev[IF_NAMESIZE];
	uint32_t index;         /**< of the netdev */
	uint32_t flags;         /**< ETHTOOL_FLAG_* */
	struct nlmsghdr *reply; /**< begun, with the netdev; NULL: the row has none */
	bool is_silent;         /**< the reply is not wanted */
	/** @{ Of an error, for its extended acknowledgement. */
	const char *why;
	const struct nlattr *culprit; /**< in the request, or NULL */
				      /** @} */
};

struct shca_ethnl_message {
	uint8_t reply;  /**< ETHTOOL_MSG_*_REPLY, 0: an acknowledgement is all */
	uint8_t header; /**< attribute that names the netdev */
	/** The kernel wants CAP_NET_ADMIN (GENL_UNS_ADMIN_PERM). */
	bool is_privileged;
	bool has_stats; /**< the header may have ETHTOOL_FLAG_STATS */
	struct shca_ethnl_policy policy;
	/** Put what the reply has behind the netdev. @return 0, a negative errno, which is the
	 * answer instead, or SHCA_NLDEV_KERNEL. */
	int (*run)(struct shca_ethnl_call *call);
};

/** @return the row of ETHTOOL_MSG_*, or NULL: the kernel's. */
const struct shca_ethnl_message *shca_ethnl_find(uint8_t command);

/** Go from attribute to attribute, from @p at to @p end. @return the next, NULL: no more fits. */
const struct nlattr *shca_ethnl_next(const uint8_t **at, const uint8_t *end);
/**
 * Check attributes of the request and find them.
 * @param bytes in the request, @p length of them
 * @param[out] attrs by type; the last of a type counts; NULL: it is not there
 * @return 0 or a negative errno, refused.
 */
int shca_ethnl_take(struct shca_ethnl_call *call, const void *bytes, size_t length,
	const struct shca_ethnl_policy *policy, const struct nlattr *attrs[SHCA_ETHNL_ATTRS]);
/** Note why a request is refused. @param culprit in it, or NULL @return @p error */
int shca_ethnl_refuse(
	struct shca_ethnl_call *call, int error, const struct nlattr *culprit, const char *why);
/** Ask about the call's netdev. @return as struct shca_ethnl's ask */
int shca_ethnl_ask(struct shca_ethnl_call *call, void *command);
/** Set @p value to an attribute's, if it is there. @return whether that is another. @{ */
bool shca_ethnl_update_u32(struct shca_ethnl_call *call, unsigned int attr, uint32_t *value);
bool shca_ethnl_update_bool(struct shca_ethnl_call *call, unsigned int attr, uint32_t *value);
/** @} */

#endif /* SHCA_ETHNL_CALL_H */
