/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The permissions of a virtual function (VF), which its host sets. The switch in front of a VF
 * passes on frames for other addresses only if the VF is trusted, and with spoof checking drops
 * frames from other source addresses. Verbs reports neither: rules are installed, and no packet
 * arrives. So the driver reads the host's settings where Linux shows them, and logs the reason.
 */
#ifndef MDV_VF_H
#define MDV_VF_H

#include <stdbool.h>

struct mdv_device;
struct rte_eth_dev;
struct rte_ether_addr;

struct mdv_vf {
	bool is_vf;
	bool is_known; /**< the host's settings, below, could be read */
	unsigned int number;
	bool is_trusted;
	bool checks_source;
};

/** Read the current settings. */
void mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
/** At probe: log the restrictions that the host has set. */
void mdv_vf_tell(const char *name, const struct mdv_device *device);
/**
 * Check that the port may receive frames for other addresses.
 * @param mode "promiscuous" or "allmulticast"
 * @return 0, or -EPERM after a message. If the host's setting cannot be read, the mode is allowed,
 * with a message.
 */
int mdv_vf_may_receive(const struct rte_eth_dev *dev, const char *mode);
/** Warn if @p mac differs from @p known, the address that the switch has for the VF. */
void mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac);

#endif /* MDV_VF_H */
