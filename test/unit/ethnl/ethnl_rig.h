/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A device whose netdev is "lo", to be asked by the family "ethtool". Not beside others. */
#ifndef ETHNL_RIG_H
#define ETHNL_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include "ethnl/ethnl.h"
#include "rig.h"

#define FAMILY 21u
#define PORTID 0x4711u
#define SEQ    77u
#define NETDEV "lo"

/** The device, who asks, and what was sent: datagram behind datagram. */
extern struct ethnl_rig {
	struct rig rig;
	struct shca_ethnl ethnl;
	/** Instead of the device. */
	int (*ask)(void *command);
	_Alignas(8) uint8_t sent[65536];
	size_t length;
	unsigned int nb;
	int send_error;
} ethnl_rig;

/** @{ For cmocka. */
int ethnl_rig_setup(void **state);
int ethnl_rig_setup_function(void **state);
int ethnl_rig_teardown(void **state);
/** @} */

/** Begin a request for an acknowledgement, with room for 4 KiB. */
struct nlmsghdr *ethnl_rig_request(uint8_t command);
/** The same, with a header that names the netdev. */
struct nlmsghdr *ethnl_rig_about(uint8_t command, uint16_t header, uint32_t flags);
/** Ask. @return as shca_ethnl_answer() */
int ethnl_rig_ask(const struct nlmsghdr *request);
/** @return message @p index of what was sent, or NULL. */
const struct nlmsghdr *ethnl_rig_answer(unsigned int index);
/** Ask, and expect a reply and an acknowledgement. @return the reply. */
const struct nlmsghdr *ethnl_rig_reply(const struct nlmsghdr *request, uint8_t command);
/** Ask, and expect an error alone. @return why, or "" */
const char *ethnl_rig_error(const struct nlmsghdr *request, int error);
/** @return the attribute of a message of the family, or NULL. */
const struct nlattr *ethnl_rig_attr(const struct nlmsghdr *message, uint16_t type);
/** The same of a nest. */
const struct nlattr *ethnl_rig_nested(const struct nlattr *nest, uint16_t type);

#endif /* ETHNL_RIG_H */
