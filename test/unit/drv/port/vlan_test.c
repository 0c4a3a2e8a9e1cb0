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
} fails;

int __wrap_mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on);
int __wrap_mdv_flow_default_update(struct mdv_port *port);

int
__wrap_mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on)
{
	struct mdv_rxq *rxq = port->dev->data->rx_queues[idx];

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_queues_are_switched_or_none),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
