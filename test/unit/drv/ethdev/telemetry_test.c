/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry's commands: what they take, and all that they answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "base/compat.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"
#include "mem/mr.h"
#include "rig.h"
#include "state/port_list.h"

#define NB_COMMANDS 5
#define NB_SHOWN    32

/** An answer, or a dictionary in one: entries are lines "path=value" of the text. */
struct rte_tel_data {
	char path[64];
};

static struct {
	const char *name;
	telemetry_cb handle;
} registered[NB_COMMANDS];
static unsigned int nb_registered;

static char text[32768];
static size_t text_bytes;
static struct rte_tel_data dicts[2 * NB_SHOWN + 8];
static unsigned int nb_dicts, fail_at; /* the dictionary that is refused; 0: none */
static struct rig_port rig;
static struct mdv_flow_state flow_state;

/* These stand before the library's for the driver. */

int
rte_telemetry_register_cmd(const char *name, telemetry_cb handle, const char *help)
{
	/* ethdev and the EAL have some, too. */
	if (strncmp(name, "/mlx5dv/", 8) != 0)
		return 0;
	if (nb_registered == NB_COMMANDS || help == NULL)
		abort();
	registered[nb_registered].name = name;
	registered[nb_registered++].handle = handle;
	return 0;
}

struct rte_tel_data *
rte_tel_data_alloc(void)
{
	assert_true(nb_dicts < RTE_DIM(dicts));
	return ++nb_dicts == fail_at ? NULL : &dicts[nb_dicts - 1];
}

int
rte_tel_data_start_dict(struct rte_tel_data *data)
{
	data->path[0] = '\0';
	return 0;
}

int
rte_tel_data_start_array(struct rte_tel_data *data, enum rte_tel_value_type type)
{
	assert_int_equal(type, RTE_TEL_INT_VAL);
	data->path[0] = '\0';
	return 0;
}

static void
note(const struct rte_tel_data *data, const char *name, const char *value)
{
	text_bytes += snprintf(
		text + text_bytes, sizeof(text) - text_bytes, "%s%s=%s\n", data->path, name, value);
	assert_true(text_bytes < sizeof(text));
}

int
rte_tel_data_add_dict_container(
	struct rte_tel_data *data, const char *name, struct rte_tel_data *val, int keep)
{
	assert_int_equal(keep, 0);
	assert_true(snprintf(val->path, sizeof(val->path), "%s%s/", data->path, name) <
		(int)sizeof(val->path));
	return 0;
}

int
rte_tel_data_add_dict_string(struct rte_tel_data *data, const char *name, const char *val)
{
	note(data, name, val);
	return 0;
}

int
rte_tel_data_add_dict_uint(struct rte_tel_data *data, const char *name, uint64_t val)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, val);
	note(data, name, number);
	return 0;
}

int
rte_tel_data_add_dict_int(struct rte_tel_data *data, const char *name, mdv_compat_tel_int_t val)
{
	rte_tel_data_add_dict_uint(data, name, val);
	return 0;
}

int
rte_tel_data_add_array_int(struct rte_tel_data *data, mdv_compat_tel_int_t val)
{
	rte_tel_data_add_dict_uint(data, "", val);
	return 0;
}

/* In place of the driver's, by the linker's --wrap. */
void __wrap_mdv_mr_each(struct mdv_mr_table *table, mdv_mr_each_t each, void *arg);
int __wrap_mdv_flow_count_query(struct mdv_flow_count *count, struct rte_flow_query_count *query,
	struct rte_flow_error *error);

static unsigned int nb_mrs;
static int count_result;

void
__wrap_mdv_mr_each(struct mdv_mr_table *table, mdv_mr_each_t each, void *arg)
{
	assert_ptr_equal(table, rig.port.mr);
	for (unsigned int i = 0; i < nb_mrs; i++) {
		const struct mdv_mr_range range = { 0xabc000 + i, 4096 + i,
			rte_cpu_to_be_32(0x1234 + i), i == 1 };

		each(&range, i == 0 ? "pool" : NULL, arg);
	}
}

int
__wrap_mdv_flow_count_query(struct mdv_flow_count *count, struct rte_flow_query_count *query,
	struct rte_flow_error *error)
{
	assert_non_null(count);
	assert_non_null(error);
	query->hits = 17;
	query->bytes = 1700;
	return count_result;
}

static int
ask(const char *name, const char *params)
{
	static struct rte_tel_data answer;

	text_bytes = 0;
	text[0] = '\0';
	nb_dicts = 0;
	for (unsigned int i = 0; i < nb_registered; i++)
		if (strcmp(registered[i].name, name) == 0)
			return registered[i].handle(name, params, &answer);
	fail_msg("no command %s", name);
	return 0;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	strcpy(rig.data.name, "net_mlx5dv0");
	memset(&flow_state, 0, sizeof(flow_state));
	pthread_mutex_init(&flow_state.lock, NULL);
	TAILQ_INIT(&flow_state.rules);
	rig.port.flow = &flow_state;
	mdv_queue_list_init(&rig.port.queues);
	mdv_port_list_add(&rig.port);
	fail_at = 0;
	count_result = 0;
	return 0;
}

static int
port_remove(void **state)
{
	(void)state;
	mdv_port_list_remove(&rig.port);
	return 0;
}

static void
parameters_are_a_port_and_a_first(void **state)
{
	static const struct {
		const char *params;
		int of_info, of_rules;
	} cases[] = {
		{ "3", 0, 0 },
		{ "03", 0, 0 },
		{ "3,0", -EINVAL, 0 },
		{ "3,4294967295", -EINVAL, 0 },
		{ "3,4294967296", -EINVAL, -EINVAL },
		{ "3,", -EINVAL, -EINVAL },
		{ "3,x", -EINVAL, -EINVAL },
		{ "3,1,1", -EINVAL, -EINVAL },
		{ "3 ", -EINVAL, -EINVAL },
		{ " 3", -EINVAL, -EINVAL },
		{ "-3", -EINVAL, -EINVAL },
		{ "+3", -EINVAL, -EINVAL },
		{ "0x3", -EINVAL, -EINVAL },
		{ "", -EINVAL, -EINVAL },
		{ NULL, -EINVAL, -EINVAL },
		{ "99999999999999999999999", -EINVAL, -EINVAL },
		{ "4294967299", -EINVAL, -EINVAL },
		{ "2", -ENODEV, -ENODEV },
		{ "4294967295", -ENODEV, -ENODEV },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(ask("/mlx5dv/info", cases[i].params), cases[i].of_info);
		assert_int_equal(ask("/mlx5dv/rules", cases[i].params), cases[i].of_rules);
		assert_int_equal(ask("/mlx5dv/queues", cases[i].params), cases[i].of_rules);
		assert_int_equal(ask("/mlx5dv/mrs", cases[i].params), cases[i].of_rules);
	}
	/* A name that nobody registered. */
	assert_int_equal(registered[1].handle("/mlx5dv/else", "3", &dicts[0]), -EINVAL);
}

static void
ports_are_listed(void **state)
{
	struct rig_port *other = calloc(1, sizeof(*other));

	(void)state;
	assert_non_null(other);
	other->dev.data = &other->data;
	other->data.dev_private = &other->port;
	other->port.dev = &other->dev;
	assert_int_equal(ask("/mlx5dv/list", NULL), 0);
	assert_string_equal(text, "=3\n");
	mdv_port_list_add(&other->port);
	assert_int_equal(ask("/mlx5dv/list", NULL), 0);
	assert_string_equal(text, "=0\n=3\n");
	mdv_port_list_remove(&other->port);
	free(other);
}

static void
a_port_is_shown(void **state)
{
	struct mdv_device *device = &rig.port.device;

	(void)state;
	strcpy(device->name, "mlx5_7");
	strcpy(device->ifname, "eth7");
	strcpy(device->caps.fw_version, "16.35");
	device->port_num = 2;
	device->caps.max_dm_bytes = 1ull << 33;
	rig.port.mtu = 1400;
	rig.port.started = true;
	rig.data.promiscuous = 1;
	rig.data.nb_rx_queues = 4;
	rig.data.nb_tx_queues = 5;
	rig.data.dev_link =
		(struct rte_eth_link){ .link_speed = 25000, .link_status = RTE_ETH_LINK_UP };
	assert_int_equal(ask("/mlx5dv/info", "3"), 0);
	assert_string_equal(text,
		"name=net_mlx5dv0\nport=3\nibdev=mlx5_7\nibdev_port=2\nnetdev=eth7\n"
		"firmware=16.35\nstarted=1\nremoved=0\nlink=up\nspeed=25000\nmtu=1400\n"
		"max_dm_size=8589934592\nisolated=0\npromiscuous=1\nrx_queues=4\ntx_queues=5\n");
	rig.port.started = false;
	rig.port.event.removed = true;
	rig.port.isolated = true;
	rig.data.promiscuous = 0;
	rig.data.dev_link.link_status = RTE_ETH_LINK_DOWN;
	assert_int_equal(ask("/mlx5dv/info", "3"), 0);
	assert_non_null(strstr(text, "started=0\nremoved=1\nlink=down\n"));
	assert_non_null(strstr(text, "isolated=1\npromiscuous=0\n"));
}

static void
queues_are_shown(void **state)
{
	static struct mdv_rxq rxqs[2];
	static struct mdv_txq txqs[2];

	(void)state;
	memset(rxqs, 0, sizeof(rxqs));
	memset(txqs, 0, sizeof(txqs));
	for (unsigned int i = 0; i < 2; i++) {
		rxqs[i].port = txqs[i].port = &rig.port;
		rxqs[i].idx = txqs[i].idx = 40 - 40 * i;
		rxqs[i].nb_desc = 128;
		txqs[i].nb_desc = 256;
		LIST_INSERT_HEAD(&rig.port.queues.rx, &rxqs[i], next);
		LIST_INSERT_HEAD(&rig.port.queues.tx, &txqs[i], next);
	}
	rig.data.rx_queue_state[0] = RTE_ETH_QUEUE_STATE_STARTED;
	rig.data.tx_queue_state[40] = RTE_ETH_QUEUE_STATE_STARTED;
	rxqs[1].count = (struct mdv_rx_counters){ 11, 22, 33, 44 };
	rxqs[1].base = (struct mdv_rx_counters){ 1, 2, 3, 4 };
	txqs[1].count = (struct mdv_tx_counters){ 111, 222 };
	txqs[1].errors = 333;
	txqs[1].base = (struct mdv_tx_counters){ 1, 2 };
	txqs[1].base_errors = 3;
	txqs[1].nb_stops = 5;
	assert_int_equal(ask("/mlx5dv/queues", "3"), 0);
	assert_string_equal(text,
		"rx/0/descriptors=128\nrx/0/started=1\nrx/0/packets=10\nrx/0/bytes=20\n"
		"rx/0/errors=40\nrx/0/nombuf=30\n"
		"tx/0/descriptors=256\ntx/0/started=0\ntx/0/packets=110\ntx/0/bytes=220\n"
		"tx/0/errors=330\ntx/0/stops=5\n"
		"nb_rx=2\nnb_tx=2\n");
	assert_int_equal(ask("/mlx5dv/queues", "3,9"), 0);
	assert_string_equal(text,
		"rx/40/descriptors=128\nrx/40/started=0\nrx/40/packets=0\nrx/40/bytes=0\n"
		"rx/40/errors=0\nrx/40/nombuf=0\n"
		"tx/40/descriptors=256\ntx/40/started=1\ntx/40/packets=0\ntx/40/bytes=0\n"
		"tx/40/errors=0\ntx/40/stops=0\n"
		"nb_rx=2\nnb_tx=2\n");
	assert_int_equal(ask("/mlx5dv/queues", "3,8"), 0);
	assert_string_equal(text, "nb_rx=2\nnb_tx=2\n");
	/* The first of each kind, and one queue, have no memory. */
	for (fail_at = 1; fail_at <= 2; fail_at++) {
		assert_int_equal(ask("/mlx5dv/queues", "3"), 0);
		assert_string_equal(text, "");
	}
	assert_int_equal(ask("/mlx5dv/queues", "3"), 0);
	assert_null(strstr(text, "rx/"));
	assert_non_null(strstr(text, "nb_rx=2\n"));
}

/** A rule as it is kept, without its copy. */
static void
rule_make(struct rte_flow *flow, struct rte_flow_conv_rule *rule)
{
	memset(flow, 0, sizeof(*flow));
	flow->rule = rule;
	TAILQ_INSERT_TAIL(&flow_state.rules, flow, next);
}

static void
rules_are_shown(void **state)
{
	static const struct rte_flow_attr first = { .priority = 3 }, second = { .priority = 0 };
	static const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 }, { .type = RTE_FLOW_ITEM_TYPE_END } };
	static const struct rte_flow_action actions[] = { { .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_DROP }, { .type = RTE_FLOW_ACTION_TYPE_END } };
	struct rte_flow_conv_rule rules[2] = {
		{ .attr_ro = &first, .pattern_ro = pattern, .actions_ro = actions },
		{ .attr_ro = &second, .pattern_ro = pattern + 2, .actions_ro = actions + 1 }
	};
	static struct rte_flow flows[2];
	static struct mdv_flow_count own;
	char wanted[512];

	(void)state;
	rule_make(&flows[0], &rules[0]);
	rule_make(&flows[1], &rules[1]);
	flows[0].counted = true;
	flows[0].counter = &own;
	flows[0].present.nb = 2;
	flows[1].egress = true;
	snprintf(wanted, sizeof(wanted),
		"rules/0/rule=0x%" PRIxPTR "\nrules/0/priority=3\nrules/0/direction=ingress\n"
		"rules/0/pattern=ETH IPV4\nrules/0/actions=COUNT DROP\nrules/0/in_device=1\n"
		"rules/0/hits=17\nrules/0/bytes=1700\n"
		"rules/1/rule=0x%" PRIxPTR "\nrules/1/priority=0\nrules/1/direction=egress\n"
		"rules/1/pattern=\nrules/1/actions=DROP\nrules/1/in_device=0\n"
		"nb_rules=2\n",
		(uintptr_t)&flows[0], (uintptr_t)&flows[1]);
	assert_int_equal(ask("/mlx5dv/rules", "3"), 0);
	assert_string_equal(text, wanted);
	count_result = -EIO;
	assert_int_equal(ask("/mlx5dv/rules", "3"), 0);
	assert_null(strstr(text, "hits"));
	assert_non_null(strstr(text, "nb_rules=2\n"));
	assert_int_equal(ask("/mlx5dv/rules", "3,1"), 0);
	assert_null(strstr(text, "rules/0"));
	assert_non_null(strstr(text, "rules/1/priority=0\n"));
	fail_at = 1;
	assert_int_equal(ask("/mlx5dv/rules", "3"), 0);
	assert_string_equal(text, "");
}

/** More names than a text of telemetry's has room for. */
static void
long_rules_are_cut(void **state)
{
	static const struct rte_flow_attr attr = { .priority = 0 };
	static struct rte_flow_item pattern[200];
	static const struct rte_flow_action end = { .type = RTE_FLOW_ACTION_TYPE_END };
	struct rte_flow_conv_rule rule = {
		.attr_ro = &attr, .pattern_ro = pattern, .actions_ro = &end
	};
	static struct rte_flow flow;
	const char *shown;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(pattern) - 1; i++)
		pattern[i].type = RTE_FLOW_ITEM_TYPE_VXLAN;
	pattern[1].type = (enum rte_flow_item_type)9999;
	pattern[RTE_DIM(pattern) - 1].type = RTE_FLOW_ITEM_TYPE_END;
	rule_make(&flow, &rule);
	assert_int_equal(ask("/mlx5dv/rules", "3"), 0);
	shown = strstr(text, "pattern=");
	assert_non_null(shown);
	assert_memory_equal(shown, "pattern=VXLAN ? VXLAN", 21);
	assert_int_equal(strcspn(shown + 8, "\n"), RTE_TEL_MAX_STRING_LEN - 1);
	assert_non_null(strstr(text, "actions=\n"));
}

static void
regions_are_shown_by_pages(void **state)
{
	char wanted[64];

	(void)state;
	nb_mrs = 2;
	assert_int_equal(ask("/mlx5dv/mrs", "3"), 0);
	assert_string_equal(text,
		"mrs/0/start=0xabc000\nmrs/0/size=4096\nmrs/0/lkey=0x1234\nmrs/0/mempool=pool\n"
		"mrs/0/device_memory=0\n"
		"mrs/1/start=0xabc001\nmrs/1/size=4097\nmrs/1/lkey=0x1235\nmrs/1/mempool=\n"
		"mrs/1/device_memory=1\n"
		"nb_mrs=2\n");
	nb_mrs = 2 * NB_SHOWN;
	for (unsigned int first = 0; first < nb_mrs + 2; first++) {
		const unsigned int last = RTE_MIN(first + NB_SHOWN, nb_mrs);

		snprintf(wanted, sizeof(wanted), "3,%u", first);
		assert_int_equal(ask("/mlx5dv/mrs", wanted), 0);
		for (unsigned int i = 0; i < nb_mrs; i++) {
			snprintf(wanted, sizeof(wanted), "mrs/%u/size=%u\n", i, 4096 + i);
			assert_int_equal(strstr(text, wanted) != NULL, i >= first && i < last);
		}
		assert_non_null(strstr(text, "nb_mrs=64\n"));
	}
	fail_at = 1;
	assert_int_equal(ask("/mlx5dv/mrs", "3"), 0);
	assert_string_equal(text, "");
	fail_at = 2;
	assert_int_equal(ask("/mlx5dv/mrs", "3"), 0);
	assert_null(strstr(text, "mrs/0/"));
	assert_non_null(strstr(text, "mrs/1/size=4097\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			parameters_are_a_port_and_a_first, port_make, port_remove),
		cmocka_unit_test_setup_teardown(ports_are_listed, port_make, port_remove),
		cmocka_unit_test_setup_teardown(a_port_is_shown, port_make, port_remove),
		cmocka_unit_test_setup_teardown(queues_are_shown, port_make, port_remove),
		cmocka_unit_test_setup_teardown(rules_are_shown, port_make, port_remove),
		cmocka_unit_test_setup_teardown(long_rules_are_cut, port_make, port_remove),
		cmocka_unit_test_setup_teardown(regions_are_shown_by_pages, port_make, port_remove),
	};

	assert_int_equal(nb_registered, NB_COMMANDS);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
