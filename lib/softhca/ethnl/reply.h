/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Messages to who asks. */
#ifndef SHCA_ETHNL_REPLY_H
#define SHCA_ETHNL_REPLY_H

struct nlmsghdr;
struct shca_ethnl_call;
struct shca_ethnl_message;

/** Bytes that one message may have: the features by name take 12 KiB. */
#define SHCA_REPLY_MAX 32768

/** Begin a reply with the netdev. @param bytes SHCA_REPLY_MAX of them */
struct nlmsghdr *shca_reply_begin(
	const struct shca_ethnl_call *call, void *bytes, const struct shca_ethnl_message *row);
/** Send one message. @return as struct shca_ethnl's send */
int shca_reply_send(const struct shca_ethnl_call *call, const struct nlmsghdr *message);
/** Send an acknowledgement, or why there is none. @param bytes SHCA_REPLY_MAX of them */
int shca_reply_acknowledge(const struct shca_ethnl_call *call, void *bytes, int error);

#endif /* SHCA_ETHNL_REPLY_H */
