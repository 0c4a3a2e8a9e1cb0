/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a virtual function may do. Its host decides: a switch in front of the function gives it
 * frames for others only if it is trusted, and may drop what it sends from another address. Verbs
 * says nothing of it: rules are installed, and nothing comes. So the driver looks where Linux shows
 * the host's settings, and tells its user why.
 */
#ifndef MDV_VF_H
#define MDV_VF_H

#include <stdbool.h>

struct mdv_device;
struct rte_eth_dev;
struct rte_ether_addr;

struct mdv_vf {
	bool is_vf;
	bool is_known; /**< the host's settings can be seen here, and are: */
	unsigned int number;
	bool is_trusted;
	bool checks_source;
};

/** Look at the settings as they are now. */
void mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
/** At probe: say what the host forbids the function. */
void mdv_vf_tell(const char *name, const struct mdv_device *device);
/**
 * Whether the port may receive what is not addressed to it.
 * @param mode "promiscuous" or "allmulticast"
 * @return 0 or -EPERM after a message. What cannot be seen is allowed, and said.
 */
int mdv_vf_may_receive(const struct rte_eth_dev *dev, const char *mode);
/** Warn of an address @p mac that is not the one the card knows the function @p vf by, @p known. */
void mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac);

#endif /* MDV_VF_H */
