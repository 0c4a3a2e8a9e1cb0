/* SPDX-License-Identifier: BSD-3-Clause */
/* Destinations: tables, sharing, undoing; hash classes; expansions. */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/rule/flow_dest.h"
#include "flow/rule/flow_state.h"

static const uint16_t queues[] = { 2, 0, 3, 1, 1 };
static const uint8_t key[40] = { 7 }, other_key[40] = { 8 };

static struct mdv_flow_dest_conf
conf_of(uint64_t fields, uint32_t nb_queues)
{
	return (struct mdv_flow_dest_conf){ fields, key, queues, nb_queues, false };
}

static void
test_table_size(void **state)
{
	static const struct {
		uint32_t nb, max, size;
	} cases[] = {
		{ 0, 512, 0 },
		{ 1, 512, 1 },
		{ 2, 512, 2 },
		{ 3, 512, 512 },
		{ 4, 512, 4 },
		{ 3, 4096, 512 },
		{ 513, 4096, 1024 },
		{ 513, 512, 0 },
		{ 3, 2, 0 },
		{ 3, 3, 0 },
		{ 3, 4, 4 },
		{ 3, 5, 4 },
		{ 1, 1, 1 },
		{ 2, 1, 0 },
		{ 512, 512, 512 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(mdv_rss_table_size(cases[i].nb, cases[i].max), cases[i].size);
}

static void
test_tables(void **state)
{
	struct mdv_flow_dest_conf conf = conf_of(3, 4);
	struct mdv_flow_dest *pow2, *odd, *one;
	struct fake_table *table;
	struct fake_qp *qp;

	(void)state;
	fake_init();
	memset(&fake.port.flow->dests, 0, sizeof(fake.port.flow->dests));
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &pow2), 0);
	qp = (struct fake_qp *)mdv_flow_dest_qp(pow2);
	assert_int_equal(qp->fields, 3);
	assert_memory_equal(qp->key, key, sizeof(key));
	assert_int_equal(qp->table->size, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(qp->table->queues[i], queues[i]);
	conf.nb_queues = 5;
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &odd), 0);
	table = ((struct fake_qp *)mdv_flow_dest_qp(odd))->table;
	assert_int_equal(table->size, 512);
	for (unsigned int i = 0; i < 512; i++)
		assert_int_equal(table->queues[i], queues[i % 5]);
	/* Without hashed fields: the first queue alone, whatever the other queues and the key. */
	conf.fields = 0;
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &one), 0);
	table = ((struct fake_qp *)mdv_flow_dest_qp(one))->table;
	assert_int_equal(table->size, 1);
	assert_int_equal(table->queues[0], 2);
	mdv_flow_dest_put(pow2);
	mdv_flow_dest_put(odd);
	mdv_flow_dest_put(one);
	mdv_flow_dest_put(NULL);
	fake_assert_empty();
}

static void
test_sharing(void **state)
{
	struct mdv_flow_dest_conf conf = conf_of(3, 4), other = conf_of(3, 4);
	struct mdv_flow_dest *rss, *again, *different, *drop, *drop_again;

	(void)state;
	fake_init();
	memset(&fake.port.flow->dests, 0, sizeof(fake.port.flow->dests));
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &rss), 0);
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &again), 0);
	assert_ptr_equal(rss, again);
	assert_int_equal(fake.nb_qps, 1);
	other.key = other_key;
	assert_int_equal(mdv_flow_dest_get(&fake.port, &other, &different), 0);
	assert_ptr_not_equal(rss, different);
	mdv_flow_dest_put(different);
	other = conf_of(3, 2);
	assert_int_equal(mdv_flow_dest_get(&fake.port, &other, &different), 0);
	assert_ptr_not_equal(rss, different);
	mdv_flow_dest_put(different);
	/* No key without a hash. */
	conf = conf_of(0, 1);
	other = conf_of(0, 4);
	other.key = other_key;
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &different), 0);
	assert_int_equal(mdv_flow_dest_get(&fake.port, &other, &drop), 0);
	assert_ptr_equal(different, drop);
	mdv_flow_dest_put(drop);
	mdv_flow_dest_put(different);
	assert_int_equal(mdv_flow_dest_get_bare(&fake.port, false, &drop), 0);
	assert_int_equal(mdv_flow_dest_get_bare(&fake.port, false, &drop_again), 0);
	assert_ptr_equal(drop, drop_again);
	assert_null(((struct fake_qp *)mdv_flow_dest_qp(drop))->table);
	mdv_flow_dest_put(drop);
	mdv_flow_dest_put(drop_again);
	mdv_flow_dest_hold(rss);
	mdv_flow_dest_put(rss);
	mdv_flow_dest_put(rss);
	assert_int_equal(fake.nb_qps, 1);
	mdv_flow_dest_put(again);
	fake_assert_empty();
}

static void
test_failures(void **state)
{
	struct mdv_flow_dest_conf conf = conf_of(3, 4);
	struct mdv_flow_dest *rss;
	unsigned int nth;

	(void)state;
	fake_init();
	memset(&fake.port.flow->dests, 0, sizeof(fake.port.flow->dests));
	for (nth = 1;; nth++) {
		int ret;

		fake_arm(nth, ENOMEM);
		ret = mdv_flow_dest_get(&fake.port, &conf, &rss);
		if (ret == 0)
			break;
		assert_int_equal(ret, -ENOMEM);
		fake_assert_empty();
		fake_assert_no_dests();
	}
	assert_int_equal(nth, 5); /* struct, WQ array, table, QP */
	mdv_flow_dest_put(rss);
	for (nth = 1;; nth++) {
		fake_arm(nth, EPERM);
		if (mdv_flow_dest_get_bare(&fake.port, false, &rss) == 0)
			break;
		fake_assert_empty();
	}
	assert_int_equal(nth, 4); /* struct, CQ, QP */
	mdv_flow_dest_put(rss);
	fake_arm(0, 0);
	fake.queues_started = false;
	assert_int_equal(mdv_flow_dest_get(&fake.port, &conf, &rss), -ENODEV);
	fake_assert_empty();
}

/** Sets of equal ends are in one bucket. */
static void
test_many_sets(void **state)
{
	static struct mdv_flow_dest *dests[8 * 8 * 8], *again;
	uint16_t set[3];
	struct mdv_flow_dest_conf conf = { 3, key, set, RTE_DIM(set), false };

	(void)state;
	fake_init();
	memset(&fake.port.flow->dests, 0, sizeof(fake.port.flow->dests));
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < RTE_DIM(dests); i++) {
			set[0] = i % 8;
			set[1] = i / 8 % 8;
			set[2] = i / 64;
			assert_int_equal(mdv_flow_dest_get(&fake.port, &conf,
						 round == 0 ? &dests[i] : &again),
				0);
			assert_true(round == 0 || again == dests[i]);
		}
		assert_int_equal(fake.nb_qps, RTE_DIM(dests));
	}
	for (unsigned int i = 0; i < RTE_DIM(dests); i++) {
		mdv_flow_dest_put(dests[i]);
		mdv_flow_dest_put(dests[i]);
	}
	fake_assert_empty();
	fake_assert_no_dests();
}

static void
test_types(void **state)
{
	struct mdv_caps caps = { .rx_hash_fields = 0 };

	(void)state;
	assert_int_equal(mdv_rss_types(&caps), 0);
	caps.rx_hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	assert_int_equal(mdv_rss_types(&caps),
		RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |
			RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	caps.rx_hash_fields = 0xff;
	assert_int_equal(mdv_rss_types(&caps), RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	/* The kernel takes no two L3 and no two L4 protocols a QP. */
	for (unsigned int i = 0; i < MDV_RSS_NB_CLASSES; i++) {
		uint64_t fields = mdv_rss_classes[i].fields;

		assert_true((fields & 0x03) == 0 || (fields & 0x0c) == 0);
		assert_true((fields & 0x30) == 0 || (fields & 0xc0) == 0);
	}
}

static void
test_expand(void **state)
{
	struct mdv_rss_expansion out[MDV_RSS_NB_CLASSES];

	(void)state;
	assert_int_equal(mdv_rss_expand(MDV_LAYER_ETH, 0, out), 1);
	assert_int_equal(out[0].id, MDV_RSS_NONE);
	assert_int_equal(mdv_rss_expand(MDV_LAYER_ETH,
				 RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP, out),
		MDV_RSS_NB_CLASSES);
	for (unsigned int i = 0; i < MDV_RSS_NB_CLASSES; i++) {
		assert_int_equal(out[i].id, i);
		assert_int_equal(out[i].add_layers, mdv_rss_classes[i].layers);
	}
	assert_int_equal(mdv_rss_expand(MDV_LAYER_IPV6 | MDV_LAYER_TCP,
				 RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP, out),
		1);
	assert_int_equal(out[0].id, MDV_RSS_IPV6_TCP);
	/* Only an L3 class over a bare L4 pattern: it needs the L3 layer, no L4 one. */
	assert_int_equal(mdv_rss_expand(MDV_LAYER_UDP, RTE_ETH_RSS_IPV4, out), 2);
	assert_int_equal(out[0].id, MDV_RSS_IPV4);
	assert_int_equal(out[0].add_layers, MDV_LAYER_IPV4);
}

/** What is inside of the tunnel counts before what carries it. */
static void
test_tunnels(void **state)
{
	static const struct {
		uint32_t layers;
		const char *name;
	} cases[] = {
		{ 0, NULL },
		{ MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_UDP, NULL },
		{ MDV_LAYER_MPLS_TUNNEL, NULL },
		{ MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_MPLS_TUNNEL, "MPLS over UDP" },
		{ MDV_LAYER_IPV6 | MDV_LAYER_GRE | MDV_LAYER_MPLS_TUNNEL, "MPLS over GRE" },
		{ MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_VXLAN, "VXLAN" },
		{ MDV_LAYER_NVGRE, "NVGRE" },
		{ MDV_LAYER_IPV4 | MDV_LAYER_GRE, "GRE" },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct mdv_rss_tunnel *tunnel = mdv_rss_tunnel_of(cases[i].layers);

		assert_int_equal(tunnel == NULL, cases[i].name == NULL);
		if (tunnel != NULL)
			assert_string_equal(tunnel->name, cases[i].name);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_size),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_many_sets),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_tunnels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
