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
	bool has_vfs;  /**< it is a physical function with virtual ones, in legacy mode */
	bool is_known; /**< the host's settings, below, could be read */
	unsigned int number;
	bool is_trusted;
	bool checks_source;
};

/** Read the current settings. */
void mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
/**
 * @return whether the card's switch goes by the function's netdev. In legacy mode a physical
 * function with virtual ones is a vport like theirs: what no vport has listed is for it, but a
 * group that another has is for those that list it, and what a virtual function sends to an address
 * that none has leaves by the wire (Linux mlx5_eswitch_enable_pf_vf_vports(), esw_add_mc_addr()).
 */
static inline bool
mdv_vf_is_switched(const struct mdv_vf *vf)
{
	return vf->is_vf || vf->has_vfs;
}
/** At probe: log the restrictions that the host has set. */
void mdv_vf_tell(const char *name, const struct mdv_device *device);
/**
 * Warn if the port may receive nothing for other addresses. No port is refused the mode: with the
 * host in switchdev mode all functions are without trust, and none can be given it, while rules of
 * the host decide what a function receives (Linux mlx5_eswitch_set_vport_trust). A function does
 * not see its host's mode.
 * @param mode "promiscuous" or "allmulticast"
 */
void mdv_vf_check_mode(const struct rte_eth_dev *dev, const char *mode);
/** Of a virtual function: warn if there is no netdev here that could list the port's groups for the
 * switch. */
void mdv_vf_check_groups(const struct rte_eth_dev *dev);
/** Of a virtual function: warn if @p mac differs from @p known, the address that the host has for
 * it, and no netdev here lists @p mac, or the switch drops what is sent from it. */
void mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac);

#endif /* MDV_VF_H */
