/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN offloads switched for all queues, of which some refuse. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "burst/rx/rx.h"
#include "port/vlan.h"
#include "rig.h"

#define NB_QUEUES 4
#define NOBODY    UINT_MAX

static struct {
	unsigned int refuses; /**< queue, when it is switched to what is wanted of all */
	bool wanted;
	int filter_result;
	unsigned int nb_strips, nb_filters;
} fails;

int __wrap_mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on);
int __wrap_mdv_flow_default_update(struct mdv_port *port);

int
__wrap_mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on)
{
	struct mdv_rxq *rxq = port->dev->data->rx_queues[idx];

	fails.nb_strips++;
	if (idx == fails.refuses && on == fails.wanted)
		return -EIO;
	if (rxq != NULL)
		rxq->vlan_strip = on;
	return 0;
}

int
__wrap_mdv_flow_default_update(struct mdv_port *port)
{
	(void)port;
	fails.nb_filters++;
	return fails.filter_result;
}

/* clang-format off */
static const struct {
	bool before[NB_QUEUES];
	bool wanted;
	unsigned int refuses;
	int filter_result;
	int result;
} cases[] = {
	{ { 0, 0, 0, 0 }, true, NOBODY, 0, 0 },
	{ { 1, 0, 1, 0 }, true, NOBODY, 0, 0 },
	{ { 1, 0, 1, 0 }, false, NOBODY, 0, 0 },
	/* The former state is restored. */
	{ { 0, 0, 0, 0 }, true, 3, 0, -EIO },
	{ { 1, 0, 1, 0 }, true, 3, 0, -EIO },
	{ { 1, 0, 1, 1 }, false, 3, 0, -EIO },
	{ { 0, 1, 0, 1 }, false, 1, 0, -EIO },
	{ { 1, 0, 1, 0 }, true, NOBODY, -ENOMEM, -ENOMEM },
	{ { 0, 1, 1, 0 }, false, NOBODY, -ENOMEM, -ENOMEM },
};
/* clang-format on */

static void
all_queues_are_switched_or_none(void **state)
{
	struct rig_port rig;
	struct mdv_rxq rxqs[NB_QUEUES];
	void *queues[NB_QUEUES + 1] = { NULL };
	unsigned int i, j;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		rig_port_init(&rig);
		rig.data.rx_queues = queues;
		rig.data.nb_rx_queues = NB_QUEUES + 1; /* one that is not set up */
		rig.data.dev_conf.rxmode.offloads =
			cases[i].wanted ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0;
		for (j = 0; j < NB_QUEUES; j++) {
			rxqs[j].vlan_strip = cases[i].before[j];
			queues[j] = &rxqs[j];
		}
		fails.refuses = cases[i].refuses;
		fails.wanted = cases[i].wanted;
		fails.filter_result = cases[i].filter_result;
		assert_int_equal(mdv_vlan_offload_set(&rig.dev,
					 RTE_ETH_VLAN_STRIP_MASK | RTE_ETH_VLAN_FILTER_MASK),
			cases[i].result);
		for (j = 0; j < NB_QUEUES; j++)
			assert_int_equal(rxqs[j].vlan_strip,
				cases[i].result == 0 ? cases[i].wanted : cases[i].before[j]);
	}
}

/** Each bit of the mask asks for its offload and no other. */
static void
the_mask_says_what_is_set(void **state)
{
	static const struct {
		int mask, filter_result;
		unsigned int nb_strips, nb_filters;
		int result;
	} masks[] = {
		{ 0, -EIO, 0, 0, 0 },
		{ RTE_ETH_VLAN_EXTEND_MASK, -EIO, 0, 0, 0 },
		{ RTE_ETH_VLAN_STRIP_MASK, -EIO, NB_QUEUES, 0, 0 },
		{ RTE_ETH_VLAN_FILTER_MASK, 0, 0, 1, 0 },
		/* Nothing was set that would have to be restored. */
		{ RTE_ETH_VLAN_FILTER_MASK, -EIO, 0, 1, -EIO },
		{ RTE_ETH_VLAN_STRIP_MASK | RTE_ETH_VLAN_FILTER_MASK, -EIO, 2 * NB_QUEUES, 1,
			-EIO },
	};
	struct rig_port rig;
	struct mdv_rxq rxqs[NB_QUEUES];
	void *queues[NB_QUEUES];

	(void)state;
	rig_port_init(&rig);
	rig.data.rx_queues = queues;
	rig.data.nb_rx_queues = NB_QUEUES;
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		rxqs[i].vlan_strip = false;
		queues[i] = &rxqs[i];
	}
	fails.refuses = NOBODY;
	for (unsigned int i = 0; i < RTE_DIM(masks); i++) {
		fails.nb_strips = fails.nb_filters = 0;
		fails.filter_result = masks[i].filter_result;
		assert_int_equal(mdv_vlan_offload_set(&rig.dev, masks[i].mask), masks[i].result);
		assert_int_equal(fails.nb_strips, masks[i].nb_strips);
		assert_int_equal(fails.nb_filters, masks[i].nb_filters);
	}
}

static void
a_queue_is_switched_alone(void **state)
{
	struct rig_port rig;
	struct mdv_rxq rxqs[2] = { { .vlan_strip = false }, { .vlan_strip = false } };
	void *queues[] = { &rxqs[0], &rxqs[1] };

	(void)state;
	rig_port_init(&rig);
	rig.data.rx_queues = queues;
	rig.data.nb_rx_queues = 2;
	rig.port.device.caps.cvlan_strip = true;
	fails.refuses = NOBODY;
	mdv_vlan_strip_queue_set(&rig.dev, 1, 2);
	assert_false(rxqs[0].vlan_strip);
	assert_true(rxqs[1].vlan_strip);
	mdv_vlan_strip_queue_set(&rig.dev, 0, 1);
	mdv_vlan_strip_queue_set(&rig.dev, 1, 0);
	assert_true(rxqs[0].vlan_strip);
	assert_false(rxqs[1].vlan_strip);
	/* No queue of a device that strips no tags would start with it. */
	rig.port.device.caps.cvlan_strip = false;
	mdv_vlan_strip_queue_set(&rig.dev, 1, 1);
	mdv_vlan_strip_queue_set(&rig.dev, 0, 0);
	assert_false(rxqs[0].vlan_strip);
	assert_false(rxqs[1].vlan_strip);
}

/** Identifiers are bits of an array, changed one by one; a refused change leaves it as it was. */
static void
an_identifier_is_a_bit(void **state)
{
	static const uint16_t vids[] = { 0, 1, 31, 32, 63, 64, 127, 4032, 4095 };
	struct rte_vlan_filter_conf wanted = { { 0 } };
	struct rig_port rig;
	uint64_t *ids = rig.data.vlan_filter_conf.ids;

	(void)state;
	rig_port_init(&rig);
	fails.filter_result = 0;
	for (unsigned int i = 0; i < RTE_DIM(vids); i++) {
		wanted.ids[vids[i] / 64] |= UINT64_C(1) << vids[i] % 64;
		assert_int_equal(mdv_vlan_filter_set(&rig.dev, vids[i], 1), 0);
		assert_memory_equal(ids, wanted.ids, sizeof(wanted.ids));
		assert_int_equal(mdv_vlan_filter_set(&rig.dev, vids[i], 1), 0);
		assert_memory_equal(ids, wanted.ids, sizeof(wanted.ids));
	}
	fails.filter_result = -ENOSPC;
	assert_int_equal(mdv_vlan_filter_set(&rig.dev, 2, 1), -ENOSPC);
	assert_int_equal(mdv_vlan_filter_set(&rig.dev, 1, 0), -ENOSPC);
	assert_memory_equal(ids, wanted.ids, sizeof(wanted.ids));
	fails.filter_result = 0;
	for (unsigned int i = 0; i < RTE_DIM(vids); i++) {
		wanted.ids[vids[i] / 64] &= ~(UINT64_C(1) << vids[i] % 64);
		assert_int_equal(mdv_vlan_filter_set(&rig.dev, vids[i], 0), 0);
		assert_memory_equal(ids, wanted.ids, sizeof(wanted.ids));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_queues_are_switched_or_none),
		cmocka_unit_test(the_mask_says_what_is_set),
		cmocka_unit_test(a_queue_is_switched_alone),
		cmocka_unit_test(an_identifier_is_a_bit),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
