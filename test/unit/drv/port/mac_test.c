/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and modes: the rules have to follow, and after a refusal everything is unchanged. */
#include <string.h>

#include <rte_malloc.h>

#include "port/mac.h"
#include "rig.h"

/** Replaces the flow engine's function, by the linker's --wrap. */
int __wrap_mdv_flow_default_update(struct mdv_port *port);

static struct {
	int result;
	unsigned int nb_calls;
	uint8_t promiscuous, all_multicast;
	struct rte_ether_addr first, second;
	uint32_t nb_mc;
} update;

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

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
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
	struct rte_ether_addr unicast = { { 2, 0, 0, 0, 0, 2 } };
	struct mdv_port *port = &rig.port;

	(void)state;
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, list, 2), 0);
	assert_int_equal(update.nb_mc, 2);
	assert_memory_equal(port->mc_list, list, sizeof(list));
	assert_int_equal(mdv_mac_set_mc_list(&rig.dev, &unicast, 1), -EINVAL);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			modes_are_set_before_the_rules_and_back_on_failure, port_make),
		cmocka_unit_test_setup(
			addresses_are_set_before_the_rules_and_back_on_failure, port_make),
		cmocka_unit_test_setup(the_multicast_list_is_replaced_whole, port_make),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
