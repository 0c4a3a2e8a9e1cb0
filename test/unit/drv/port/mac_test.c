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
#include "rig.h"

#define NETDEV 5
#define MODES  ((unsigned int)(IFF_PROMISC | IFF_ALLMULTI))

/* In place of the flow engine's, and of what the kernel is asked, by the linker's --wrap. */
int __wrap_mdv_flow_default_update(struct mdv_port *port);
int __wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac);
int __wrap_mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before);
void __wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
int __wrap_mdv_vf_may_receive(const struct rte_eth_dev *dev, const char *mode);
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
	int may_result, mac_result, flags_result;
	struct rte_ether_addr mac; /**< of the netdev */
	unsigned int flags;        /**< of the netdev */
	unsigned int nb_flags;     /**< requests to change them */
	unsigned int nb_checks;    /**< addresses compared with the known one */
	struct rte_ether_addr known, checked;
	int gid_result;
	union ibv_gid gid;
} kernel;

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

int
__wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac)
{
	assert_int_equal(ifindex, rig.port.device.ifindex);
	if (kernel.mac_result == 0)
		*mac = kernel.mac;
	return kernel.mac_result;
}

int
__wrap_mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before)
{
	assert_int_equal(ifindex, NETDEV);
	kernel.nb_flags++;
	*before = kernel.flags & mask;
	if (kernel.flags_result == 0)
		kernel.flags = (kernel.flags & ~mask) | flags;
	return kernel.flags_result;
}

void
__wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf)
{
	assert_ptr_equal(device, &rig.port.device);
	*vf = (struct mdv_vf){ .is_vf = kernel.is_vf };
}

int
__wrap_mdv_vf_may_receive(const struct rte_eth_dev *dev, const char *mode)
{
	assert_ptr_equal(dev, &rig.dev);
	assert_non_null(mode);
	return kernel.may_result;
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

struct mode {
	int (*enable)(struct rte_eth_dev *dev);
	int (*disable)(struct rte_eth_dev *dev);
	unsigned int flag;
};

static bool
has_mode(const struct mode *mode)
{
	return mode->flag == IFF_PROMISC ? rig.data.promiscuous : rig.data.all_multicast;
}

static void
check_mode(const struct mode *mode, int result, uint8_t is_on, unsigned int flags, unsigned int own,
	unsigned int nb_flags)
{
	kernel.nb_flags = 0;
	assert_int_equal(is_on ? mode->enable(&rig.dev) : mode->disable(&rig.dev), result);
	if (result == 0)
		assert_int_equal(has_mode(mode), is_on);
	assert_int_equal(kernel.flags, flags);
	assert_int_equal(rig.port.netdev_flags, own);
	assert_int_equal(kernel.nb_flags, nb_flags);
}

static void
the_netdev_of_a_virtual_function_follows(void **state)
{
	const struct mode modes[] = {
		{ mdv_mac_promiscuous_enable, mdv_mac_promiscuous_disable, IFF_PROMISC },
		{ mdv_mac_allmulticast_enable, mdv_mac_allmulticast_disable, IFF_ALLMULTI },
	};

	for (unsigned int i = 0; i < RTE_DIM(modes); i++) {
		const struct mode *mode = &modes[i];
		const unsigned int flag = mode->flag, other = MODES & ~flag;

		port_make(state);
		/* No other port's does. */
		check_mode(mode, 0, 1, 0, 0, 0);
		check_mode(mode, 0, 0, 0, 0, 0);
		kernel.is_vf = true;
		rig.port.device.ifindex = 0;
		check_mode(mode, 0, 1, 0, 0, 0);
		check_mode(mode, 0, 0, 0, 0, 0);
		rig.port.device.ifindex = NETDEV;
		check_mode(mode, 0, 1, flag, flag, 1);
		check_mode(mode, 0, 1, flag, flag, 0);
		check_mode(mode, 0, 0, 0, 0, 1);
		check_mode(mode, 0, 0, 0, 0, 0);
		/* Beside the other mode, which somebody else has set. */
		kernel.flags = other;
		check_mode(mode, 0, 1, MODES, flag, 1);
		check_mode(mode, 0, 0, other, 0, 1);
		/* What somebody has set stays. */
		kernel.flags = flag;
		check_mode(mode, 0, 1, flag, 0, 1);
		check_mode(mode, 0, 0, flag, 0, 0);
		/* A netdev that refuses does not keep the port from its mode. */
		kernel.flags = 0;
		kernel.flags_result = -EPERM;
		check_mode(mode, 0, 1, 0, 0, 1);
		kernel.flags_result = 0;
		check_mode(mode, 0, 1, flag, flag, 1);
		kernel.flags_result = -EPERM;
		check_mode(mode, 0, 0, flag, flag, 1);
		kernel.flags_result = 0;
		/* No rules, nothing that follows. */
		update.result = -ENOSPC;
		check_mode(mode, -ENOSPC, 0, flag, flag, 0);
		update.result = 0;
		check_mode(mode, 0, 0, 0, 0, 1);
		update.result = -ENOSPC;
		check_mode(mode, -ENOSPC, 1, 0, 0, 0);
		update.result = 0;
		kernel.may_result = -EPERM;
		update.nb_calls = 0;
		check_mode(mode, -EPERM, 1, 0, 0, 0);
		assert_int_equal(update.nb_calls, 0);
		assert_int_equal(has_mode(mode), 0);
	}
}

static void
a_port_that_goes_takes_its_modes_along(void **state)
{
	(void)state;
	kernel.is_vf = true;
	kernel.flags = IFF_UP;
	assert_int_equal(mdv_mac_promiscuous_enable(&rig.dev), 0);
	assert_int_equal(mdv_mac_allmulticast_enable(&rig.dev), 0);
	assert_int_equal(kernel.flags, IFF_UP | MODES);
	assert_int_equal(rig.port.netdev_flags, MODES);
	kernel.nb_flags = 0;
	mdv_mac_release(&rig.port);
	assert_int_equal(kernel.flags, IFF_UP);
	assert_int_equal(rig.port.netdev_flags, 0);
	assert_int_equal(kernel.nb_flags, 1);
	mdv_mac_release(&rig.port);
	assert_int_equal(kernel.nb_flags, 1);
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
		cmocka_unit_test_setup(the_netdev_of_a_virtual_function_follows, port_make),
		cmocka_unit_test_setup(a_port_that_goes_takes_its_modes_along, port_make),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
