/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands: parses their parameters, finds the port, and shows its data. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_telemetry.h>

#include "base/compat.h"
#include "base/log.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"
#include "mem/mr.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "state/port.h"
#include "state/port_list.h"

/** Entries of an answer: more do not fit in telemetry's 16 KB. */
#define NB_ENTRIES 32

/** The part of a list that an answer shows: NB_ENTRIES entries from number first on. */
struct page {
	struct rte_tel_data *entries; /**< by number */
	uint32_t first;
	uint32_t nb; /**< entries of the list seen so far */
};

/** @return a dictionary for this entry; NULL: it is not on this page, or there is no memory. */
static struct rte_tel_data *
page_entry(struct page *page, uint32_t number)
{
	struct rte_tel_data *entry;
	char name[16];

	page->nb++;
	if (number < page->first || number - page->first >= NB_ENTRIES)
		return NULL;
	entry = rte_tel_data_alloc();
	if (entry == NULL)
		return NULL;
	rte_tel_data_start_dict(entry);
	snprintf(name, sizeof(name), "%" PRIu32, number);
	rte_tel_data_add_dict_container(page->entries, name, entry, 0);
	return entry;
}

/** @return a new empty dictionary @p name in @p data; NULL: no memory. */
static struct rte_tel_data *
add_dict(struct rte_tel_data *data, const char *name)
{
	struct rte_tel_data *dict = rte_tel_data_alloc();

	if (dict == NULL)
		return NULL;
	rte_tel_data_start_dict(dict);
	rte_tel_data_add_dict_container(data, name, dict, 0);
	return dict;
}

static void
add_hex(struct rte_tel_data *data, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	rte_tel_data_add_dict_string(data, name, text);
}

static int
show_info(struct mdv_port *port, __rte_unused uint32_t first, struct rte_tel_data *data)
{
	const struct rte_eth_dev_data *dev_data = port->dev->data;
	const struct mdv_device *device = &port->device;
	struct rte_eth_link link;

	rte_eth_linkstatus_get(port->dev, &link);
	rte_tel_data_add_dict_string(data, "name", dev_data->name);
	rte_tel_data_add_dict_int(data, "port", dev_data->port_id);
	rte_tel_data_add_dict_string(data, "ibdev", device->name);
	rte_tel_data_add_dict_int(data, "ibdev_port", device->port_num);
	rte_tel_data_add_dict_string(data, "netdev", device->ifname);
	rte_tel_data_add_dict_string(data, "firmware", device->caps.fw_version);
	rte_tel_data_add_dict_int(data, "started", port->started);
	rte_tel_data_add_dict_int(data, "removed", port->event.removed);
	rte_tel_data_add_dict_string(
		data, "link", link.link_status == RTE_ETH_LINK_UP ? "up" : "down");
	rte_tel_data_add_dict_uint(data, "speed", link.link_speed);
	rte_tel_data_add_dict_int(data, "mtu", port->mtu);
	rte_tel_data_add_dict_uint(data, "max_dm_size", device->caps.max_dm_bytes);
	rte_tel_data_add_dict_int(data, "isolated", port->isolated);
	rte_tel_data_add_dict_int(data, "promiscuous", dev_data->promiscuous);
	rte_tel_data_add_dict_int(data, "rx_queues", dev_data->nb_rx_queues);
	rte_tel_data_add_dict_int(data, "tx_queues", dev_data->nb_tx_queues);
	return 0;
}

/** A queue's verbs objects may be destroyed at any time, so read only the queue's own fields. */
static void
show_rxq(const struct mdv_rxq *rxq, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_int(data, "descriptors", rxq->nb_desc);
	rte_tel_data_add_dict_int(data, "started",
		rxq->port->dev->data->rx_queue_state[rxq->idx] == RTE_ETH_QUEUE_STATE_STARTED);
	rte_tel_data_add_dict_uint(data, "packets", rxq->count.packets - rxq->base.packets);
	rte_tel_data_add_dict_uint(data, "bytes", rxq->count.bytes - rxq->base.bytes);
	rte_tel_data_add_dict_uint(data, "errors", rxq->count.errors - rxq->base.errors);
	rte_tel_data_add_dict_uint(data, "nombuf", rxq->count.nombuf - rxq->base.nombuf);
}

static void
show_txq(const struct mdv_txq *txq, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_int(data, "descriptors", txq->nb_desc);
	rte_tel_data_add_dict_int(data, "started",
		txq->port->dev->data->tx_queue_state[txq->idx] == RTE_ETH_QUEUE_STATE_STARTED);
	rte_tel_data_add_dict_uint(
		data, "packets", mdv_txq_since(txq->count.packets, txq->base.packets));
	rte_tel_data_add_dict_uint(data, "bytes", mdv_txq_since(txq->count.bytes, txq->base.bytes));
	rte_tel_data_add_dict_uint(data, "errors", txq->errors - txq->base_errors);
	rte_tel_data_add_dict_uint(data, "stops", txq->nb_stops);
}

static int
show_queues(struct mdv_port *port, uint32_t first, struct rte_tel_data *data)
{
	struct page rx = { add_dict(data, "rx"), first, 0 };
	struct page tx = { add_dict(data, "tx"), first, 0 };
	const struct mdv_rxq *rxq;
	const struct mdv_txq *txq;
	struct rte_tel_data *entry;

	if (rx.entries == NULL || tx.entries == NULL)
		return 0;
	pthread_mutex_lock(&port->queues.lock);
	LIST_FOREACH (rxq, &port->queues.rx, next) {
		entry = page_entry(&rx, rxq->idx);
		if (entry != NULL)
			show_rxq(rxq, entry);
	}
	LIST_FOREACH (txq, &port->queues.tx, next) {
		entry = page_entry(&tx, txq->idx);
		if (entry != NULL)
			show_txq(txq, entry);
	}
	pthread_mutex_unlock(&port->queues.lock);
	rte_tel_data_add_dict_uint(data, "nb_rx", rx.nb);
	rte_tel_data_add_dict_uint(data, "nb_tx", tx.nb);
	return 0;
}

/** Names of items or actions, cut to telemetry's longest text. */
struct names {
	char text[RTE_TEL_MAX_STRING_LEN];
	size_t length;
};

static void
add_name(struct names *names, enum rte_flow_conv_op op, uintptr_t type)
{
	const size_t room = sizeof(names->text) - names->length;
	const char *name;

	if (rte_flow_conv(op, &name, sizeof(name), (void *)type, NULL) < 0)
		name = "?";
	names->length += snprintf(
		names->text + names->length, room, "%s%s", names->length == 0 ? "" : " ", name);
	names->length = RTE_MIN(names->length, sizeof(names->text) - 1);
}

static void
show_stages(const struct rte_flow_conv_rule *rule, struct rte_tel_data *data)
{
	struct names pattern = { "", 0 }, actions = { "", 0 };
	const struct rte_flow_action *action;
	const struct rte_flow_item *item;

	for (item = rule->pattern_ro; item->type != RTE_FLOW_ITEM_TYPE_END; item++)
		add_name(&pattern, RTE_FLOW_CONV_OP_ITEM_NAME_PTR, item->type);
	for (action = rule->actions_ro; action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		add_name(&actions, RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type);
	rte_tel_data_add_dict_string(data, "pattern", pattern.text);
	rte_tel_data_add_dict_string(data, "actions", actions.text);
}

static void
show_rule(struct rte_flow *flow, struct rte_tel_data *data)
{
	struct mdv_flow_copy_room room;
	const struct rte_flow_conv_rule *rule = mdv_flow_install_given(flow, &room);
	struct rte_flow_query_count count = { 0 };
	struct rte_flow_error error;

	add_hex(data, "rule", (uintptr_t)flow);
	rte_tel_data_add_dict_uint(data, "priority", rule->attr_ro->priority);
	rte_tel_data_add_dict_string(data, "direction", flow->egress ? "egress" : "ingress");
	show_stages(rule, data);
	rte_tel_data_add_dict_int(data, "in_device", flow->present.nb != 0);
	if (!flow->counted || mdv_flow_count_query(flow->counter, &count, &error) != 0)
		return;
	rte_tel_data_add_dict_uint(data, "hits", count.hits);
	rte_tel_data_add_dict_uint(data, "bytes", count.bytes);
}

static int
show_rules(struct mdv_port *port, uint32_t first, struct rte_tel_data *data)
{
	struct page page = { add_dict(data, "rules"), first, 0 };
	struct rte_tel_data *entry;
	struct rte_flow *flow;

	if (page.entries == NULL)
		return 0;
	pthread_mutex_lock(&port->flow->lock);
	TAILQ_FOREACH (flow, &port->flow->rules, next) {
		entry = page_entry(&page, page.nb);
		if (entry != NULL)
			show_rule(flow, entry);
	}
	pthread_mutex_unlock(&port->flow->lock);
	rte_tel_data_add_dict_uint(data, "nb_rules", page.nb);
	return 0;
}

static void
show_mr(const struct mdv_mr_range *range, const char *pool, void *arg)
{
	struct page *page = arg;
	struct rte_tel_data *entry = page_entry(page, page->nb);

	if (entry == NULL)
		return;
	add_hex(entry, "start", range->start);
	rte_tel_data_add_dict_uint(entry, "size", range->size);
	add_hex(entry, "lkey", rte_be_to_cpu_32(range->lkey_be));
	rte_tel_data_add_dict_string(entry, "mempool", pool != NULL ? pool : "");
	rte_tel_data_add_dict_int(entry, "device_memory", range->zero_based);
}

static int
show_mrs(struct mdv_port *port, uint32_t first, struct rte_tel_data *data)
{
	struct page page = { add_dict(data, "mrs"), first, 0 };

	if (page.entries == NULL)
		return 0;
	mdv_mr_each(port->mr, show_mr, &page);
	rte_tel_data_add_dict_uint(data, "nb_mrs", page.nb);
	return 0;
}

/* clang-format off */
static const struct command {
	const char *name;
	const char *help;
	int (*show)(struct mdv_port *port, uint32_t first, struct rte_tel_data *data);
	bool has_first;
} commands[] = {
	{ "/mlx5dv/info", "Returns a port and its device. Parameters: int port_id",
		show_info, false },
	{ "/mlx5dv/queues", "Returns the queues of a port. Parameters: int port_id[,int first]",
		show_queues, true },
	{ "/mlx5dv/rules",
		"Returns the flow rules of a port, with hits. Parameters: int port_id[,int first]",
		show_rules, true },
	{ "/mlx5dv/mrs",
		"Returns memory regions of a port. Parameters: int port_id[,int first]",
		show_mrs, true },
};
/* clang-format on */

/** Parse a number of digits only. @return the text behind it; NULL: no such number. */
static const char *
take_number(const char *text, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || value > UINT32_MAX)
		return NULL;
	*number = value;
	return end;
}

/** Parse "PORT" or "PORT,FIRST". */
static bool
parse(const char *params, bool has_first, uint32_t *port_id, uint32_t *first)
{
	const char *rest = params == NULL ? NULL : take_number(params, port_id);

	*first = 0;
	if (rest != NULL && *rest == ',' && has_first)
		rest = take_number(rest + 1, first);
	return rest != NULL && *rest == '\0';
}

/** Handle a command. After a negative return telemetry answers null. */
static int
handle(const char *name, const char *params, struct rte_tel_data *data)
{
	const struct command *command = NULL;
	uint32_t port_id, first;
	struct mdv_port *port;
	unsigned int i;
	int ret;

	for (i = 0; i < RTE_DIM(commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			command = &commands[i];
	}
	if (command == NULL || !parse(params, command->has_first, &port_id, &first)) {
		MDV_LOG(INFO, "telemetry %s: '%s' is no port number%s", name,
			params == NULL ? "" : params,
			command != NULL && command->has_first ? ", or one and a first entry" : "");
		return -EINVAL;
	}
	port = mdv_port_list_hold(port_id);
	if (port == NULL) {
		MDV_LOG(INFO, "telemetry %s: port %" PRIu32 " is none of this driver", name,
			port_id);
		return -ENODEV;
	}
	rte_tel_data_start_dict(data);
	ret = command->show(port, first, data);
	mdv_port_list_release();
	return ret;
}

static int
handle_list(
	__rte_unused const char *name, __rte_unused const char *params, struct rte_tel_data *data)
{
	unsigned int i;

	rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
	for (i = 0; i < RTE_MAX_ETHPORTS; i++) {
		if (mdv_port_list_hold(i) == NULL)
			continue;
		mdv_port_list_release();
		rte_tel_data_add_array_int(data, i);
	}
	return 0;
}

/** Telemetry cannot unregister a command, so register all once, with or without ports. */
RTE_INIT(mdv_telemetry_register)
{
	unsigned int i;

	rte_telemetry_register_cmd(
		"/mlx5dv/list", handle_list, "Returns the ports of this driver. No parameters");
	for (i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, handle, commands[i].help);
}
