/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The manager of an e-switch in switchdev mode: the device of its host that has a port a vport.
 *
 *     function ── vport ──> port 2 ─┐                     ┌─ port 2 ──> vport ── function
 *     function ── vport ──> port 3 ─┼─> rules, netdevs    ├─ port 3 ──> vport ── function
 *     uplink ─────────────> port 4 ─┘   of the manager ───┴─ port 4 ──> uplink
 *
 * The switch itself has no rules, as after "devlink dev eswitch set ... mode switchdev": each frame
 * of a vport goes to the manager (Linux eswitch_offloads.c, esw_add_fdb_miss_rule), and each frame
 * of the manager to the vport of the port that it was sent by
 * (mlx5_eswitch_add_send_to_vport_rule). Ports are numbered as Linux does, by the index of the
 * vport + 1 (mlx5_ib ib_rep.c): the manager's own vport, which nothing goes to, has port 1,
 * functions follow, and the uplink is the last.
 */
#ifndef SHCA_ESWITCH_MANAGER_H
#define SHCA_ESWITCH_MANAGER_H

#include <stdint.h>

struct shca_wire;

/**
 * Create a switch with its manager; vports join it (eswitch.h).
 * @param uplink owned by the switch, and closed with its last end
 * @param nb_vports 2 or more: the manager's, functions, uplink
 * @return 0 or -ENOMEM, with nothing changed.
 */
int shca_eswitch_manage(struct shca_wire *uplink, uint32_t nb_vports, struct shca_wire **wire);

#endif /* SHCA_ESWITCH_MANAGER_H */
