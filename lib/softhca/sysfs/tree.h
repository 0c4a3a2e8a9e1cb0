/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The sysfs files of the ports, as libibverbs (SYSFS_PATH) and DPDK's PCI bus (SYSFS_PCI_DEVICES)
 * read them: real files in the runner's directory, which the runner writes and removes.
 *
 *     DIR/sys/devices/pci5ca0:00/5ca0:00:<i>.0     <- DIR/sys/bus/pci/devices/5ca0:00:<i>.0
 *         driver -> DIR/sys/bus/pci/drivers/mlx5_core
 *         infiniband/mlx5_<i>                      <- DIR/sys/class/infiniband/mlx5_<i>
 *         infiniband_verbs/uverbs<i>               <- DIR/sys/class/infiniband_verbs/uverbs<i>
 */
#ifndef SHCA_SYSFS_TREE_H
#define SHCA_SYSFS_TREE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct shca_options;

/** Below the runner's directory: the directories for SYSFS_PATH and SYSFS_PCI_DEVICES. */
#define SHCA_TREE_SYS "sys"
#define SHCA_TREE_PCI SHCA_TREE_SYS "/bus/pci/devices"
/** Below sys: the bus, where programs look for the way from the machine to a device (hwloc). */
#define SHCA_TREE_BUS "devices/pci5ca0:00"
/** PCI address of device %u. In a PCI domain that no machine has, so no real device has it. */
#define SHCA_TREE_PCI_ADDRESS "5ca0:00:%02x.0"
/** Longest name of the runner's directory: libibverbs builds paths of at most 255 bytes below it.
 */
#define SHCA_TREE_DIR_MAX 128

/** Write all files below the existing directory @p dir. @return 0 or a negative errno after a
 * message. */
int shca_tree_create(const struct shca_options *options, const char *dir);
/** Remove @p dir with all that is in it. @return 0 or a negative errno. */
int shca_tree_remove(const char *dir);
/** The netdev beside a port. Its name changes; in its namespace, its index does not. */
struct shca_tree_netdev {
	char name[IF_NAMESIZE]; /**< "": none */
	unsigned int ifindex;   /**< 0: unknown */
	uint64_t netns;         /**< inode of its network namespace; 0: unknown */
};
/** What the files say of a port; below, ports of device @p index have numbers from 1 on. */
struct shca_tree_port {
	uint8_t state, phys_state; /**< IBV_PORT_*, and the physical one */
	struct shca_tree_netdev netdev;
};

/** Read them. @return 0 or a negative errno. */
int shca_tree_get_port(
	const char *dir, unsigned int index, uint32_t number, struct shca_tree_port *port);
/** Names of a port's counters, ended by NULL: all but lifespan of its hw_counters. */
extern const char *const shca_tree_counters[];
/** Read one. @return 0 or a negative errno. */
int shca_tree_get_counter(
	const char *dir, unsigned int index, uint32_t number, const char *name, uint64_t *value);
/** Show the port's state. @return 0 or a negative errno. */
int shca_tree_set_link(const char *dir, unsigned int index, uint32_t number, bool up);
/** Show what the netdev beside the port is now. @return 0 or a negative errno. */
int shca_tree_set_netdev(const char *dir, unsigned int index, uint32_t number,
	const struct shca_tree_netdev *netdev);
/** Show the netdev's address. @return 0 or a negative errno. */
int shca_tree_set_mac(const char *dir, unsigned int index, uint32_t number, const uint8_t mac[6]);
/** Show the entries 2 * @p pair and 2 * @p pair + 1 of a port's GIDs, RoCE v1 and v2; NULL: they
 * are empty. @return 0 or a negative errno. */
int shca_tree_set_gid(const char *dir, unsigned int index, uint32_t pair, const uint8_t *gid);
/** Show a counter, one of shca_tree_counters or of counters/. @return 0 or a negative errno. */
int shca_tree_set_counter(
	const char *dir, unsigned int index, uint32_t number, const char *name, uint64_t count);

#endif /* SHCA_SYSFS_TREE_H */
