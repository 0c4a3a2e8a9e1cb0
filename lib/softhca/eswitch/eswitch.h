/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The switch in front of one wire that virtual functions share, as Linux's mlx5 programs it in
 * legacy mode. Each function's port is a wire of its own:
 *
 *     vport 0 ──┐ source address checked, if so asked
 *     vport 1 ──┼── by destination: a vport ── or the uplink, the wire they share
 *     vport 2 ──┘
 *
 * One vport may be the physical function's, which has the switch (the kernel's vport 0). It is
 * trusted, and nobody checks its source addresses.
 *
 * A vport lists addresses: those of its netdev. A unicast frame goes to the vports that list its
 * address only. If no vport does, a frame from a vport goes to the uplink, and a frame from the
 * uplink to the vports that are trusted and promiscuous. A multicast frame goes to the uplink, to
 * the vports that list its group, and to those that are trusted and allmulti or promiscuous. A
 * frame from the uplink that is for none of them goes to the physical function. No frame returns to
 * its sender.
 *
 * In switchdev mode none of that counts, but the rules of the host between the representors of
 * vports and uplink. With a manager (manager.h) they are its own; else, on another host, they are
 * fixed: each frame goes to all but its sender.
 *
 * A new vport lists its own address and broadcast, as one with a netdev that nobody has configured;
 * set_rx_mode() changes that.
 */
#ifndef SHCA_ESWITCH_ESWITCH_H
#define SHCA_ESWITCH_ESWITCH_H

#include <stdbool.h>
#include <stdint.h>

struct shca_frame;
struct shca_wire;

struct shca_eswitch_vport {
	const uint8_t *mac;
	bool is_physical;    /**< the physical function's; of a switch at most one */
	bool is_trusted;     /**< may be promiscuous and allmulti; the physical one always may */
	bool is_promiscuous; /**< its first request; set_rx_mode() changes it */
	bool checks_source;  /**< drop frames that it sends from another address */
	bool is_switchdev;   /**< the switch's mode; of all its vports the same */
	uint32_t port;       /**< of the manager: its representor's; 0: there is no manager */
};

/**
 * Create a switch with its first vport.
 * @param uplink owned by the switch, and closed with its last vport
 * @return 0 or -ENOMEM, with nothing changed.
 */
int shca_eswitch_open(
	struct shca_wire *uplink, const struct shca_eswitch_vport *vport, struct shca_wire **wire);
/** Add a vport to the switch of another, or of its manager, @p of. @return as shca_eswitch_open. */
int shca_eswitch_join(
	struct shca_wire *of, const struct shca_eswitch_vport *vport, struct shca_wire **wire);

#endif /* SHCA_ESWITCH_ESWITCH_H */
