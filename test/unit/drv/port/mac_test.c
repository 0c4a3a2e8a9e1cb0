/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and modes: the rules are asked to follow, and a refusal leaves everything as it was. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <rte_malloc.h>

#include "kernel/netdev.h"
#include "kernel/vf.h"
#include "no_memory.h"
#include "port/mac.h"
#include "port/mac_netdev.h"
#include "rig.h"

#define NETDEV 5

/* In place of the flow engine's, and of what the kernel is asked, by the linker's --wrap. */
int __wrap_mdv_flow_default_update(struct mdv_port *port);
void __wrap_mdv_flow_default_set_groups(
	struct mdv_port *port, struct rte_ether_addr *list, uint32_t nb);
int __wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac);
void __wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
int __wrap_mdv_mac_netdev_list(struct rte_eth_dev *dev);
void __wrap_mdv_mac_netdev_follow(struct rte_eth_dev *dev, unsigned int flag, bool on);
void __wrap_mdv_vf_check_mode(const struct rte_eth_dev *dev, const char *mode);
void __wrap_mdv_vf_check_groups(const struct rte_eth_dev *dev);
void __wrap_mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac);

static struct {
	int result;
	unsigned int nb_calls;
	uint8_t promiscuous, all_multicast;
	struct rte_ether_addr first, second;
	uint32_t nb_mc;
} update;

/** The kernel's side. */
static struct {
	bool is_vf;
	int mac_result;
	struct rte_ether_addr mac;    /**< of the netdev */
	unsigned int nb_checks;       /**< addresses compared with the known one */
	unsigned int nb_group_checks; /**< lists of groups that were warned of, maybe */
	const char *mode;             /**< the last that was warned of, maybe */
	struct rte_ether_addr known, checked;
	int gid_result;
	union ibv_gid gid;
} kernel;

/** What mac_netdev.c is asked for. */
static struct {
	int result; /**< of the next list */
	unsigned int nb_lists;
	struct rte_ether_addr second;
	uint32_t nb_mc;
	unsigned int flags;
} netdev;

/** More addresses than the EAL's 64 MB hold. */
#define NB_MANY ((64u << 20) / sizeof(struct rte_ether_addr))
static struct rte_ether_addr many[NB_MANY];
static struct rig_port rig;
static struct rte_ether_addr macs[MDV_MAC_MAX];

int
__wrap_mdv_flow_default_update(struct mdv_port *port)
{
	update.nb_calls++;
	update.promiscuous = port->dev->data->promiscuous;
	update.all_multicast = port->dev->data->all_multicast;
	update.first = port->dev->data->mac_addrs[0];
	update.second = port->dev->data->mac_addrs[1];
	update.nb_mc = port->nb_mc;
	return update.result;
}

void
__wrap_mdv_flow_default_set_groups(struct mdv_port *port, struct rte_ether_addr *list, uint32_t nb)
{
	port->mc_list = list;
	port->nb_mc = nb;
}

int
__wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac)
{
	assert_int_equal(ifindex, rig.port.device.ifindex);
	if (kernel.mac_result == 0)
		*mac = kernel.mac;
	return kernel.mac_result;
}

/** Note what the port has now; the result is the next call's only. */
int
__wrap_mdv_mac_netdev_list(struct rte_eth_dev *dev)
{
	int result = netdev.result;

	assert_ptr_equal(dev, &rig.dev);
	netdev.nb_lists++;
	netdev.second = dev->data->mac_addrs[1];
	netdev.nb_mc = rig.port.nb_mc;
	netdev.result = 0;
	return result;
}

void
__wrap_mdv_mac_netdev_follow(struct rte_eth_dev *dev, unsigned int flag, bool on)
{
	assert_ptr_equal(dev, &rig.dev);
	netdev.flags = on ? netdev.flags | flag : netdev.flags & ~flag;
}

void
__wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf)
{
	assert_ptr_equal(device, &rig.port.device);
	*vf = (struct mdv_vf){ .is_vf = kernel.is_vf };
}

void
__wrap_mdv_vf_check_mode(const struct rte_eth_dev *dev, const char *mode)
{
	assert_ptr_equal(dev, &rig.dev);
	kernel.mode = mode;
}

void
__wrap_mdv_vf_check_groups(const struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	kernel.nb_group_checks++;
}

void
__wrap_mdv_vf_check_mac(const struct rte_eth_dev *dev, const struct mdv_vf *vf,
	const struct rte_ether_addr *known, const struct rte_ether_addr *mac)
{
	assert_ptr_equal(dev, &rig.dev);
	assert_true(vf->is_vf);
	kernel.nb_checks++;
	kernel.known = *known;
	kernel.checked = *mac;
}

int
ibv_query_gid(struct ibv_context *context, uint8_t port_num, int idx, union ibv_gid *gid)
{
	assert_ptr_equal(context, rig.port.device.ctx);
	assert_int_equal(port_num, 1);
	assert_int_equal(idx, 0);
	*gid = kernel.gid;
	return kernel.gid_result;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(&kernel, 0, sizeof(kernel));
	memset(&netdev, 0, sizeof(netdev));
	rig.port.device.ifindex = NETDEV;
	memset(&update, 0, sizeof(update));
	memset(macs, 0, sizeof(macs));
	macs[0].addr_bytes[0] = 2;
	rig.data.mac_addrs = macs;
	return 0;
}

static void
modes_are_set_before_the_rules_and_back_on_failure(void **state)
{
	(void)state;
	assert_int_equal(mdv_mac_promiscuous_enable(&rig.dev), 0);
	assert_int_equal(update.promiscuous, 1);
	assert_int_equal(mdv_mac_allmulticast_enable(&rig.dev), 0);
	assert_int_equal(update.all_multicast, 1);
	update.result = -ENOSPC;
	assert_int_equal(mdv_mac_promiscuous_disable(&rig.dev), -ENOSPC);
	assert_int_equal(update.promiscuous, 0);
	assert_int_equal(rig.data.promiscuous, 1);
	assert_int_equal(mdv_mac_allmulticast_disable(&rig.dev), -ENOSPC);
	assert_int_equal(rig.data.all_multicast, 1);
	update.result = 0;
	assert_int_equal(mdv_mac_promiscuous_disable(&rig.dev), 0);
	assert_int_equal(rig.data.promiscuous, 0);
}

static void
addresses_are_set_before_the_rules_and_back_on_failure(void **state)
{
	struct rte_ether_addr one = { { 2, 0, 0, 0, 0, 1 } }, two = { { 2, 0, 0, 0, 0, 2 } };

	(void)state;
	assert_int_equal(mdv_mac_set(&rig.dev, &one), 0);
	assert_true(rte_is_same_ether_addr(&update.first, &one));
	assert_int_equal(mdv_mac_add(&rig.dev, &two, 1, 0), 0);
	assert_true(rte_is_same_ether_addr(&update.second, &two));
	update.result = -ENOMEM;
	assert_int_equal(mdv_mac_set(&rig.dev, &two), -ENOMEM);
	assert_true(rte_is_same_ether_addr(&macs[0], &one));
	assert_int_equal(mdv_mac_add(&rig.dev, &one, 1, 0), -ENOMEM);
	assert_true(rte_is_same_ether_addr(&macs[1], &two));
	update.nb_calls = 0;
	assert_int_equal(mdv_mac_add(&rig.dev, &one, MDV_MAC_MAX, 0), -EINVAL);
	assert_int_equal(update.nb_calls, 0);
	update.result = 0;
	mdv_mac_remove(&rig.dev, 1);
	assert_true(rte_is_zero_ether_addr(&update.second));
}

static void
the_multicast_list_is_replaced_whole(void **state)
{
	struct rte_ether_addr list[2] = { { { 1, 0, 0x5e, 0, 0, 1 } },
		{ { 1, 0, 0x5e, 0, 0, 2 } } };
	struct rte_ether_addr mixed[2] = { list[0], { { 2, 0, 0, 0, 0, 2 } } };
	struct mdv_port *port = &rig.port;

	(void)state;
	memset(many, 1, sizeof(many));
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, list, 2), 0);
	assert_int_equal(update.nb_mc, 2);
	assert_memory_equal(port->mc_list, list, sizeof(list));
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, mixed, 2), -EINVAL);
	/* More than there is memory. */
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, many, NB_MANY), -ENOMEM);
	assert_int_equal(port->nb_mc, 2);
	update.result = -ENOSPC;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, list + 1, 1), -ENOSPC);
	assert_int_equal(port->nb_mc, 2);
	assert_memory_equal(port->mc_list, list, sizeof(list));
	update.result = 0;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, NULL, 0), 0);
	assert_int_equal(port->nb_mc, 0);
	assert_null(port->mc_list);
}

/** Without a netdev the address is in GID 0, an EUI-64 (RFC 4291 appendix A). */
static void
the_first_address_is_the_netdevs_or_in_the_gid(void **state)
{
	static const struct {
		int mac_result, gid_result;
		uint8_t eui[8];
		int result;
		uint8_t mac[6];
	} cases[] = {
		{ 0, 0, { 0 }, 0, { 2, 2, 3, 4, 5, 6 } },
		{ -ENODEV, 0, { 0, 7, 8, 0xff, 0xfe, 9, 10, 11 }, 0, { 2, 7, 8, 9, 10, 11 } },
		{ -EPERM, 0, { 6, 7, 8, 0xff, 0xfe, 9, 10, 11 }, 0, { 4, 7, 8, 9, 10, 11 } },
		{ -ENODEV, 0, { 0, 7, 8, 0xff, 0xff, 9, 10, 11 }, -ENODEV, { 0 } },
		{ -ENODEV, 0, { 0, 7, 8, 0xfe, 0xfe, 9, 10, 11 }, -ENODEV, { 0 } },
		{ -ENODEV, EINVAL, { 0, 7, 8, 0xff, 0xfe, 9, 10, 11 }, -ENODEV, { 0 } },
		/* A group's, and nobody's. */
		{ -ENODEV, 0, { 3, 7, 8, 0xff, 0xfe, 9, 10, 11 }, -ENODEV, { 0 } },
		{ -ENODEV, 0, { 2, 0, 0, 0xff, 0xfe, 0, 0, 0 }, -ENODEV, { 0 } },
	};
	const struct rte_ether_addr of_netdev = { { 2, 2, 3, 4, 5, 6 } };
	static const struct rte_ether_addr none[MDV_MAC_MAX - 1];

	(void)state;
	kernel.mac = of_netdev;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		kernel.mac_result = cases[i].mac_result;
		kernel.gid_result = cases[i].gid_result;
		memset(&kernel.gid, 0xfe, sizeof(kernel.gid));
		memcpy(kernel.gid.raw + 8, cases[i].eui, sizeof(cases[i].eui));
		rig.data.mac_addrs = NULL;
		assert_int_equal(mdv_mac_init(&rig.dev), cases[i].result);
		if (cases[i].result != 0) {
			assert_null(rig.data.mac_addrs);
			continue;
		}
		assert_memory_equal(&rig.data.mac_addrs[0], cases[i].mac, sizeof(cases[i].mac));
		assert_memory_equal(&rig.data.mac_addrs[1], none, sizeof(none));
		rte_free(rig.data.mac_addrs);
	}
}

static void
without_memory_there_is_no_address(void **state)
{
	(void)state;
	rig.data.mac_addrs = NULL;
	no_memory = true;
	assert_int_equal(mdv_mac_init(&rig.dev), -ENOMEM);
	no_memory = false;
	assert_null(rig.data.mac_addrs);
}

/** The switch before a virtual function knows one address, others are warned of. */
static void
addresses_of_a_virtual_function_are_compared(void **state)
{
	struct rte_ether_addr one = { { 2, 0, 0, 0, 0, 1 } };

	(void)state;
	assert_int_equal(mdv_mac_set(&rig.dev, &one), 0);
	assert_int_equal(kernel.nb_checks, 0);
	kernel.is_vf = true;
	kernel.mac.addr_bytes[0] = 6;
	assert_int_equal(mdv_mac_set(&rig.dev, &one), 0);
	assert_int_equal(kernel.nb_checks, 1);
	assert_true(rte_is_same_ether_addr(&kernel.known, &kernel.mac));
	assert_true(rte_is_same_ether_addr(&kernel.checked, &one));
	/* Not of what was not set, and not when nobody knows. */
	update.result = -ENOMEM;
	assert_int_equal(mdv_mac_set(&rig.dev, &one), -ENOMEM);
	update.result = 0;
	kernel.mac_result = -ENODEV;
	kernel.gid_result = EINVAL;
	assert_int_equal(mdv_mac_set(&rig.dev, &one), 0);
	assert_int_equal(kernel.nb_checks, 1);
}

static void
addresses_are_removed_where_they_are(void **state)
{
	struct rte_ether_addr last = { { 2, 0, 0, 0, 0, 3 } };

	(void)state;
	assert_int_equal(mdv_mac_add(&rig.dev, &last, MDV_MAC_MAX - 1, 0), 0);
	assert_true(rte_is_same_ether_addr(&macs[MDV_MAC_MAX - 1], &last));
	update.nb_calls = 0;
	mdv_mac_remove(&rig.dev, MDV_MAC_MAX);
	assert_int_equal(update.nb_calls, 0);
	mdv_mac_remove(&rig.dev, MDV_MAC_MAX - 1);
	assert_int_equal(update.nb_calls, 1);
	assert_true(rte_is_zero_ether_addr(&macs[MDV_MAC_MAX - 1]));
	assert_int_equal(macs[0].addr_bytes[0], 2);
}

/** What the netdev of a virtual function refuses, the port does not have; the netdev is told what
 * is left. */
static void
the_netdev_lists_before_the_rules(void **state)
{
	struct rte_ether_addr one = { { 2, 0, 0, 0, 0, 1 } }, two = { { 2, 0, 0, 0, 0, 2 } };
	struct rte_ether_addr group = { { 1, 0, 0x5e, 0, 0, 1 } };

	(void)state;
	assert_int_equal(mdv_mac_add(&rig.dev, &one, 1, 0), 0);
	assert_int_equal(netdev.nb_lists, 1);
	assert_true(rte_is_same_ether_addr(&netdev.second, &one));
	netdev.result = -EPERM;
	update.nb_calls = 0;
	assert_int_equal(mdv_mac_add(&rig.dev, &two, 1, 0), -EPERM);
	assert_true(rte_is_same_ether_addr(&macs[1], &one));
	assert_true(rte_is_same_ether_addr(&netdev.second, &one));
	assert_int_equal(netdev.nb_lists, 3);
	netdev.result = -EPERM;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &group, 1), -EPERM);
	assert_int_equal(rig.port.nb_mc, 0);
	assert_int_equal(netdev.nb_mc, 0);
	assert_int_equal(update.nb_calls, 0);
	/* What the rules refuse, neither. */
	update.result = -ENOSPC;
	assert_int_equal(mdv_mac_add(&rig.dev, &two, 1, 0), -ENOSPC);
	assert_true(rte_is_same_ether_addr(&netdev.second, &one));
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &group, 1), -ENOSPC);
	assert_int_equal(netdev.nb_mc, 0);
	update.result = 0;
	mdv_mac_remove(&rig.dev, 1);
	assert_true(rte_is_zero_ether_addr(&netdev.second));
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &group, 1), 0);
	assert_int_equal(netdev.nb_mc, 1);
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, NULL, 0), 0);
	assert_int_equal(netdev.nb_mc, 0);
}

static void
groups_of_a_virtual_function_are_warned_of(void **state)
{
	struct rte_ether_addr group = { { 1, 0, 0x5e, 0, 0, 1 } };

	(void)state;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &group, 1), 0);
	assert_int_equal(kernel.nb_group_checks, 0);
	kernel.is_vf = true;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &group, 1), 0);
	assert_int_equal(kernel.nb_group_checks, 1);
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, NULL, 0), 0);
	assert_int_equal(kernel.nb_group_checks, 1);
}

static void
the_netdev_follows_the_rules(void **state)
{
	(void)state;
	assert_int_equal(mdv_mac_promiscuous_enable(&rig.dev), 0);
	assert_int_equal(netdev.flags, IFF_PROMISC);
	assert_string_equal(kernel.mode, "promiscuous");
	assert_int_equal(mdv_mac_allmulticast_enable(&rig.dev), 0);
	assert_int_equal(netdev.flags, IFF_PROMISC | IFF_ALLMULTI);
	assert_string_equal(kernel.mode, "allmulticast");
	update.result = -ENOSPC;
	assert_int_equal(mdv_mac_promiscuous_disable(&rig.dev), -ENOSPC);
	assert_int_equal(mdv_mac_allmulticast_disable(&rig.dev), -ENOSPC);
	assert_int_equal(netdev.flags, IFF_PROMISC | IFF_ALLMULTI);
	update.result = 0;
	assert_int_equal(mdv_mac_promiscuous_disable(&rig.dev), 0);
	assert_int_equal(mdv_mac_allmulticast_disable(&rig.dev), 0);
	assert_int_equal(netdev.flags, 0);
	kernel.mode = NULL;
	update.result = -ENOSPC;
	assert_int_equal(mdv_mac_promiscuous_enable(&rig.dev), -ENOSPC);
	assert_int_equal(mdv_mac_allmulticast_enable(&rig.dev), -ENOSPC);
	assert_int_equal(netdev.flags, 0);
	assert_null(kernel.mode);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			modes_are_set_before_the_rules_and_back_on_failure, port_make),
		cmocka_unit_test_setup(
			addresses_are_set_before_the_rules_and_back_on_failure, port_make),
		cmocka_unit_test_setup(the_multicast_list_is_replaced_whole, port_make),
		cmocka_unit_test_setup(the_first_address_is_the_netdevs_or_in_the_gid, port_make),
		cmocka_unit_test_setup(without_memory_there_is_no_address, port_make),
		cmocka_unit_test_setup(addresses_of_a_virtual_function_are_compared, port_make),
		cmocka_unit_test_setup(addresses_are_removed_where_they_are, port_make),
		cmocka_unit_test_setup(the_netdev_lists_before_the_rules, port_make),
		cmocka_unit_test_setup(groups_of_a_virtual_function_are_warned_of, port_make),
		cmocka_unit_test_setup(the_netdev_follows_the_rules, port_make),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
