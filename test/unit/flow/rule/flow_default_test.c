/* SPDX-License-Identifier: BSD-3-Clause */
/* Default steering: the set for each state of the port, its difference from the installed one, and
 * failures on the way. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/rule/flow_default.h"

#define OWN                "020000000001 ffffffffffff 0000 0000"
#define SECOND             "020000000002 ffffffffffff 0000 0000"
#define BROADCAST          "ffffffffffff ffffffffffff 0000 0000"
#define IPV6_MC            "333300000000 ffff00000000 0000 0000"
#define MC_A               "01005e000001 ffffffffffff 0000 0000"
#define VLAN_5(mac, mask)  mac mask "0005 0fff"
#define VLAN_70(mac, mask) mac mask "0046 0fff"
#define ALL_MC             "010000000000 010000000000 0000 0000"
#define ALL                "000000000000 000000000000 0000 0000"

static struct rte_ether_addr mc_list[] = { { { 1, 0, 0x5e, 0, 0, 1 } } };

static void
set_second_mac(void)
{
	fake.macs[5] = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 2 } };
}

static void
set_multicast_list(void)
{
	fake.port.mc_list = mc_list;
	fake.port.nb_mc = 1;
}

static void
set_allmulticast(void)
{
	fake.data.all_multicast = 1;
}

static void
set_vlan_filter(void)
{
	fake.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
}

static void
set_vlans(void)
{
	fake.data.all_multicast = 1;
	fake.data.vlan_filter_conf.ids[0] = UINT64_C(1) << 5;
	fake.data.vlan_filter_conf.ids[1] = UINT64_C(1) << (70 - 64);
}

static void
set_vlans_filtered(void)
{
	set_vlan_filter();
	set_vlans();
}

static void
set_vlans_filtered_promiscuous(void)
{
	set_vlans_filtered();
	fake.data.promiscuous = 1;
}

static void
set_promiscuous(void)
{
	fake.data.promiscuous = 1;
}

static void
set_isolated(void)
{
	fake.port.isolated = true;
}

static void
set_no_queues(void)
{
	fake.data.nb_rx_queues = 0;
}

static void
set_nothing(void)
{
}

static const struct {
	void (*set)(void);
	const char *matches;
} sets[] = {
	{ set_nothing, OWN BROADCAST IPV6_MC },
	{ set_second_mac, OWN SECOND BROADCAST IPV6_MC },
	{ set_multicast_list, OWN BROADCAST IPV6_MC MC_A },
	{ set_allmulticast, OWN ALL_MC },
	{ set_promiscuous, ALL },
	{ set_isolated, "" },
	{ set_no_queues, "" },
	{ set_vlan_filter, OWN BROADCAST IPV6_MC },
	{ set_vlans, OWN ALL_MC },
	{ set_vlans_filtered,
		VLAN_5("020000000001", "ffffffffffff") VLAN_5("010000000000", "010000000000")
			VLAN_70("020000000001", "ffffffffffff")
				VLAN_70("010000000000", "010000000000") },
	{ set_vlans_filtered_promiscuous, ALL },
};

static void
test_matches(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(sets); i++) {
		struct mdv_flow_default_match matches[8];
		uint32_t nb;

		fake_init();
		sets[i].set();
		nb = mdv_flow_default_matches(&fake.port, NULL, 0);
		assert_uint_in_range(nb, 0, RTE_DIM(matches));
		assert_int_equal(
			mdv_flow_default_matches(&fake.port, matches, RTE_DIM(matches)), nb);
		fake_assert_bytes(
			"set", (const uint8_t *)matches, nb * sizeof(matches[0]), sets[i].matches);
	}
}

/** Check every rule in the device, with one class and with all. */
static void
test_rules(void **state)
{
	static const char *const plain[] = {
		"00000000 00000000 3c00 0f00 01 01 0000 00000000" HEX_ETH(
			"020000000001" HEX_0_6 HEX_0_4, "ffffffffffff" HEX_0_6 HEX_0_4),
		"00000000 00000000 6400 0f00 02 01 0000 00000000" HEX_ANY_ETH HEX_ETH(
			"ffffffffffff" HEX_0_6 HEX_0_4, "ffffffffffff" HEX_0_6 HEX_0_4),
		"00000000 00000000 6400 0f00 02 01 0000 00000000" HEX_ANY_ETH HEX_ETH(
			"333300000000" HEX_0_6 HEX_0_4, "ffff00000000" HEX_0_6 HEX_0_4),
	};
	struct fake_flow *flow;

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, RTE_DIM(plain));
	for (unsigned int i = 0; i < RTE_DIM(plain); i++) {
		flow = fake_flow_at(i);
		fake_assert_bytes("rule", flow->build.bytes, flow->build.attr.size, plain[i]);
		assert_int_equal(flow->qp->fields, 0);
		assert_int_equal(flow->qp->table->queues[0], 0);
	}
	assert_int_equal(fake.nb_qps, 1);
	fake.port.rss_types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
	set_promiscuous();
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_flows, MDV_RSS_NB_CLASSES);
	for (unsigned int i = 0; i < MDV_RSS_NB_CLASSES; i++) {
		flow = fake_flow_at(i);
		assert_int_equal(flow->qp->fields, mdv_rss_classes[i].fields);
		assert_int_equal(flow->qp->table->size, i == MDV_RSS_NONE ? 1 : 4);
		/* One table for all: the deeper masks come first. */
		assert_int_equal(flow->build.attr.priority, fake_flow_at(0)->build.attr.priority);
	}
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Only the difference reaches the device, new rules before old ones go. */
static void
test_differences(void **state)
{
	static const struct {
		void (*set)(void);
		unsigned int created, destroyed, max;
	} steps[] = {
		{ set_nothing, 0, 0, 3 },
		{ set_second_mac, 1, 0, 4 },
		{ set_multicast_list, 1, 0, 5 },
		{ set_allmulticast, 1, 3, 6 },
		{ set_promiscuous, 1, 3, 4 },
		{ set_isolated, 0, 1, 1 },
	};

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 0);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	for (unsigned int i = 0; i < RTE_DIM(steps); i++) {
		fake.nb_created = 0;
		fake.nb_destroyed = 0;
		fake.max_flows = fake.nb_flows;
		steps[i].set();
		assert_int_equal(mdv_flow_default_update(&fake.port), 0);
		assert_int_equal(fake.nb_created, steps[i].created);
		assert_int_equal(fake.nb_destroyed, steps[i].destroyed);
		assert_int_equal(fake.max_flows, steps[i].max);
	}
	fake.port.isolated = false;
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 1);
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
}

/** RETA and key: the same matches to other destinations. */
static void
test_retarget(void **state)
{
	uint16_t old_level;

	(void)state;
	fake_init_flow();
	fake.port.rss_types = RTE_ETH_RSS_IPV4;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 6);
	assert_int_equal(fake.nb_qps, 2);
	fake.nb_created = 0;
	old_level = fake_flow_at(0)->build.attr.priority;
	fake.port.reta[3] = 0;
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	/* A whole new set behind the old one: no packet is taken by both. */
	assert_int_equal(fake.nb_created, 6);
	assert_int_not_equal(fake_flow_at(0)->build.attr.priority, old_level);
	assert_int_equal(fake.nb_flows, 6);
	fake.port.rss_key[0]++;
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_created, 12);
	assert_int_equal(fake.nb_qps, 2);
	fake.port.reta[0] = 1;
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_created, 18);
	assert_int_equal(fake.nb_flows, 6);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Any one call fails: an error, and the set is unchanged. */
static void
test_failures(void **state)
{
	unsigned int nth;

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	set_second_mac();
	set_multicast_list();
	fake.port.rss_types = RTE_ETH_RSS_IP;
	for (nth = 1;; nth++) {
		struct fake_flow *first = fake_flow_at(0), *last = fake_flow_at(2);
		int ret;

		/* Not all functions of verbs say why. */
		fake_arm(nth, 0);
		ret = mdv_flow_default_update(&fake.port);
		if (ret == 0)
			break;
		assert_true(ret == -ENOMEM || ret == -EINVAL);
		fake_arm(nth, ENOSPC);
		ret = mdv_flow_default_update(&fake.port);
		assert_true(ret == -ENOSPC || ret == -ENOMEM);
		assert_int_equal(fake.nb_flows, 3);
		assert_int_equal(fake.nb_qps, 1);
		assert_int_equal(fake.nb_tables, 1);
		assert_ptr_equal(fake_flow_at(0), first);
		assert_ptr_equal(fake_flow_at(2), last);
	}
	assert_true(nth > 15);
	assert_int_equal(fake.nb_flows, 5 * 3);
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static void
test_duplicates(void **state)
{
	struct rte_ether_addr twice[] = { { { 1, 0, 0x5e, 0, 0, 1 } }, { { 1, 0, 0x5e, 0, 0, 1 } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } } };

	(void)state;
	fake_init_flow();
	fake.port.mc_list = twice;
	fake.port.nb_mc = RTE_DIM(twice);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 4);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** What another thread does with the port: it takes flow.lock only then. */
static struct {
	struct fake_verbs before;
	void (*set)(void);
} other;

static void
set_by_another_thread(void)
{
	fake.data = other.before.data;
	memcpy(fake.macs, other.before.macs, sizeof(fake.macs));
	fake.port.mc_list = NULL;
	fake.port.nb_mc = 0;
	other.set();
}

/** The port's state changes while the set is computed: what is installed is the set of one state
 * or the other, and no memory is written that is not of the set. */
static void
check_change(unsigned int from, unsigned int to)
{
	struct mdv_flow_default_match installed[16];
	const struct mdv_flow_default_rule *rule;
	unsigned int nb = 0;

	fake_init_flow();
	other.before = fake;
	other.set = sets[to].set;
	sets[from].set();
	fake.on_calloc = set_by_another_thread;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	/* A set without matches takes no memory. */
	assert_int_equal(fake.on_calloc != NULL, sets[from].matches[0] == '\0');
	fake.on_calloc = NULL;
	TAILQ_FOREACH (rule, &fake.port.flow->defaults, next) {
		assert_true(nb < RTE_DIM(installed));
		installed[nb++] = rule->match;
	}
	fake_assert_bytes("installed", (const uint8_t *)installed, nb * sizeof(installed[0]),
		sets[sets[from].matches[0] != '\0' ? to : from].matches);
	fake_end_flow();
}

static void
test_changes_meanwhile(void **state)
{
	(void)state;
	for (unsigned int from = 0; from < RTE_DIM(sets); from++)
		for (unsigned int to = 0; to < RTE_DIM(sets); to++)
			check_change(from, to);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_retarget),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_changes_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
