/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The addresses that a netdev takes beside its own, as "bridge fdb add ADDRESS dev NETDEV self"
 * sets them, by rtnetlink. In front of a virtual function is a switch that goes by them.
 */
#ifndef MDV_FDB_H
#define MDV_FDB_H

struct rte_ether_addr;

/**
 * Add a unicast address or a group to netdev @p ifindex.
 * @return 0; -EEXIST: it is there; -ENODEV: no such netdev; another negative errno.
 */
int mdv_fdb_add(unsigned int ifindex, const struct rte_ether_addr *mac);
/** Remove what mdv_fdb_add() added. @return 0; -ENOENT: it is not there; a negative errno as above.
 */
int mdv_fdb_remove(unsigned int ifindex, const struct rte_ether_addr *mac);

#endif /* MDV_FDB_H */
