/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ports of RDMA devices and their netdevs, by RDMA netlink (Linux
 * drivers/infiniband/core/nldev.c).
 *
 * sysfs does not tell which netdev belongs to which port of a device: mlx5 sets no dev_port, and
 * in switchdev mode all representors are netdevs of the one PCI device.
 */
#ifndef MDV_IBPORT_H
#define MDV_IBPORT_H

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct mdv_ibport {
	char ibdev[IBV_SYSFS_NAME_MAX];
	uint32_t port_num;        /**< from 1 */
	unsigned int ifindex;     /**< of the netdev; 0: none in this network namespace */
	char ifname[IF_NAMESIZE]; /**< its name, "" without one */
};

/**
 * List the ports of all RDMA devices that this network namespace may use, by device and number.
 * @param[out] ports for the caller to free()
 * @return their number, or a negative errno: there is no RDMA netlink here
 */
int mdv_ibports_list(struct mdv_ibport **ports);
/** Print "1 (ens1f0), 2 (no netdev)", the ports of @p ibdev. @return their number. */
unsigned int mdv_ibports_print(const struct mdv_ibport *ports, unsigned int nb, const char *ibdev,
	char *text, size_t size);

#endif /* MDV_IBPORT_H */
