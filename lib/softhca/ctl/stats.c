/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of ports and queues, and what crosses PCI, as text and as JSON. */
#include "ctl/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/model.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "hw/device/device.h"
#include "hw/device/threads.h"
#include "pci/pci.h"
#include "steering/dump.h"
#include "steering/steering.h"

/** Numbers of one moment, all taken under one hold of the lock. */
struct snapshot {
	unsigned int index;
	const char *model;
	bool has_link;
	struct shca_device_stats stats;
	char netdev[16]; /* "": none, or it is gone */
	struct shca_queue_info *queues;
	size_t nb_queues;
	struct shca_context *contexts;
	size_t nb_contexts;
};

/* clang-format off */
static const struct counter {
	const char *name;
	size_t offset;
} port_counters[] = {
	{ "rx_frames", offsetof(struct shca_device_stats, rx_frames) },
	{ "rx_bytes", offsetof(struct shca_device_stats, rx_bytes) },
	{ "tx_frames", offsetof(struct shca_device_stats, tx_frames) },
	{ "tx_bytes", offsetof(struct shca_device_stats, tx_bytes) },
	{ "rx_steered", offsetof(struct shca_device_stats, rx_steered) },
	{ "rx_kernel", offsetof(struct shca_device_stats, rx_kernel) },
	{ "rx_kernel_lost", offsetof(struct shca_device_stats, rx_kernel_lost) },
	{ "rx_unwanted", offsetof(struct shca_device_stats, rx_unwanted) },
	{ "out_of_buffer", offsetof(struct shca_device_stats, out_of_buffer) },
	{ "rx_errors", offsetof(struct shca_device_stats, rx_errors) },
	{ "tx_errors", offsetof(struct shca_device_stats, tx_errors) },
	{ "rx_no_link", offsetof(struct shca_device_stats, rx_no_link) },
	{ "tx_no_link", offsetof(struct shca_device_stats, tx_no_link) },
	{ "tx_refused", offsetof(struct shca_device_stats, tx_refused) },
	{ "tirs", offsetof(struct shca_device_stats, tirs) },
	{ "rqts", offsetof(struct shca_device_stats, rqts) },
	{ "flow_commands", offsetof(struct shca_device_stats, flow_commands) },
	{ "flow_rewrites", offsetof(struct shca_device_stats, flow_rewrites) },
}, queue_counters[] = {
	{ "packets", offsetof(struct shca_queue_count, packets) },
	{ "bytes", offsetof(struct shca_queue_count, bytes) },
	{ "out_of_buffer", offsetof(struct shca_queue_count, out_of_buffer) },
	{ "errors", offsetof(struct shca_queue_count, errors) },
};
/* clang-format on */
#define NB(rows) (sizeof(rows) / sizeof((rows)[0]))

static uint64_t
value_of(const struct counter *counter, const void *counts)
{
	return *(const uint64_t *)((const uint8_t *)counts + counter->offset);
}

static void
count_commands(const struct shca_steering *steering, struct shca_device_stats *stats)
{
	const struct shca_steering_commands *commands = shca_steering_commands(steering);

	stats->flow_rewrites = commands->rewrites;
	stats->flow_commands =
		commands->tables + commands->groups + commands->entries + commands->rewrites;
}

static int
take(struct shca_device *dev, struct snapshot *snapshot)
{
	int ret;

	*snapshot = (struct snapshot){
		.index = shca_device_conf(dev)->index,
		.model = shca_device_conf(dev)->model->name,
	};
	shca_device_lock(dev);
	snapshot->has_link = shca_device_link(dev);
	snprintf(snapshot->netdev, sizeof(snapshot->netdev), "%s", shca_device_netdev(dev));
	snapshot->stats = *shca_device_stats(dev);
	count_commands(shca_device_steering(dev), &snapshot->stats);
	ret = shca_device_list_queues(dev, &snapshot->queues, &snapshot->nb_queues);
	if (ret == 0)
		ret = shca_device_list_contexts(dev, &snapshot->contexts, &snapshot->nb_contexts);
	shca_device_unlock(dev);
	if (ret != 0)
		free(snapshot->queues);
	return ret;
}

static void
print_text(const struct snapshot *snapshot, FILE *out)
{
	fprintf(out, "mlx5_%u (%s), link %s\n", snapshot->index, snapshot->model,
		snapshot->has_link ? "up" : "down");
	if (snapshot->netdev[0] != '\0')
		fprintf(out, "  netdev         %s\n", snapshot->netdev);
	for (unsigned int i = 0; i < NB(port_counters); i++)
		fprintf(out, "  %-14s %" PRIu64 "\n", port_counters[i].name,
			value_of(&port_counters[i], &snapshot->stats));
	for (size_t i = 0; i < snapshot->nb_contexts; i++) {
		fputs("  context        ", out);
		shca_dump_context(&snapshot->contexts[i], "", out);
		fputc('\n', out);
	}
	if (snapshot->nb_queues == 0)
		return;
	fprintf(out, "  %-9s %-6s %11s", "queue", "state", "fill");
	for (unsigned int i = 0; i < NB(queue_counters); i++)
		fprintf(out, " %13s", queue_counters[i].name);
	fputc('\n', out);
	for (size_t q = 0; q < snapshot->nb_queues; q++) {
		const struct shca_queue_info *queue = &snapshot->queues[q];

		fprintf(out, "  %s 0x%-4" PRIx32 " %-6s %5" PRIu32 "/%-5" PRIu32, queue->kind,
			queue->number, queue->state, queue->fill, queue->size);
		for (unsigned int i = 0; i < NB(queue_counters); i++)
			fprintf(out, " %13" PRIu64, value_of(&queue_counters[i], &queue->count));
		if (queue->context.pid != 0)
			shca_dump_context(&queue->context, "  ", out);
		fputc('\n', out);
	}
}

static void
print_json(const struct snapshot *snapshot, struct shca_json *json)
{
	shca_json_open(json, NULL, '{');
	shca_json_string(json, "device", "mlx5_%u", snapshot->index);
	shca_json_string(json, "model", "%s", snapshot->model);
	shca_json_string(json, "link", "%s", snapshot->has_link ? "up" : "down");
	if (snapshot->netdev[0] != '\0')
		shca_json_string(json, "netdev", "%s", snapshot->netdev);
	for (unsigned int i = 0; i < NB(port_counters); i++)
		shca_json_number(
			json, port_counters[i].name, value_of(&port_counters[i], &snapshot->stats));
	shca_json_open(json, "contexts", '[');
	for (size_t i = 0; i < snapshot->nb_contexts; i++) {
		shca_json_open(json, NULL, '{');
		shca_dump_add_context(&snapshot->contexts[i], json);
		shca_json_close(json);
	}
	shca_json_close(json);
	shca_json_open(json, "queues", '[');
	for (size_t q = 0; q < snapshot->nb_queues; q++) {
		const struct shca_queue_info *queue = &snapshot->queues[q];

		shca_json_open(json, NULL, '{');
		shca_json_string(json, "kind", "%s", queue->kind);
		shca_json_number(json, "number", queue->number);
		shca_json_number(json, "cq", queue->cq_number);
		shca_json_string(json, "state", "%s", queue->state);
		shca_json_number(json, "fill", queue->fill);
		shca_json_number(json, "size", queue->size);
		shca_json_number(json, "ring", queue->ring);
		shca_json_number(json, "ring_bytes", queue->ring_bytes);
		shca_json_number(json, "record", queue->record);
		if (queue->context.pid != 0)
			shca_dump_add_context(&queue->context, json);
		for (unsigned int i = 0; i < NB(queue_counters); i++)
			shca_json_number(json, queue_counters[i].name,
				value_of(&queue_counters[i], &queue->count));
		shca_json_close(json);
	}
	shca_json_close(json);
	shca_json_close(json);
}

static unsigned int
index_of(const struct shca_device *dev)
{
	return shca_device_conf(dev)->index;
}

static bool
is_meant(const struct shca_device *dev, const struct shca_request *request)
{
	return request->port < 0 || (int)index_of(dev) == request->port;
}

static void
print_pci_row(const char *name, const struct shca_pci_count *count, FILE *out)
{
	fprintf(out,
		"  %-12s %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %14" PRIu64 " %12" PRIu64
		" %14" PRIu64 "\n",
		name, count->transactions, count->data, count->to_host.tlps, count->to_host.bytes,
		count->to_device.tlps, count->to_device.bytes);
}

static void
print_pci_text(unsigned int index, const struct shca_pci *pci, FILE *out)
{
	struct shca_pci_count all = { 0 };

	fprintf(out,
		"mlx5_%u: payload up to %" PRIu32 ", read requests up to %" PRIu32
		", completions cut at %" PRIu32 "\n",
		index, pci->limits.max_payload, pci->limits.max_read,
		pci->limits.completion_boundary);
	fprintf(out, "  %-12s %12s %14s %27s %27s\n  %-12s %12s %14s %12s %14s %12s %14s\n", "", "",
		"", "to the host", "to the device", "what", "transactions", "data bytes", "TLPs",
		"bytes", "TLPs", "bytes");
	for (unsigned int i = 0; i < SHCA_PCI_NB_CAUSES; i++) {
		const struct shca_pci_count *count = &pci->count[i];

		print_pci_row(shca_pci_cause_name(i), count, out);
		all.transactions += count->transactions;
		all.data += count->data;
		all.to_host.tlps += count->to_host.tlps;
		all.to_host.bytes += count->to_host.bytes;
		all.to_device.tlps += count->to_device.tlps;
		all.to_device.bytes += count->to_device.bytes;
	}
	print_pci_row("all", &all, out);
}

static void
print_pci_json(unsigned int index, const struct shca_pci *pci, struct shca_json *json)
{
	shca_json_open(json, NULL, '{');
	shca_json_string(json, "device", "mlx5_%u", index);
	shca_json_number(json, "max_payload", pci->limits.max_payload);
	shca_json_number(json, "max_read", pci->limits.max_read);
	shca_json_number(json, "completion_boundary", pci->limits.completion_boundary);
	shca_json_open(json, "causes", '{');
	for (unsigned int i = 0; i < SHCA_PCI_NB_CAUSES; i++) {
		const struct shca_pci_count *count = &pci->count[i];

		shca_json_open(json, shca_pci_cause_name(i), '{');
		shca_json_number(json, "transactions", count->transactions);
		shca_json_number(json, "data", count->data);
		shca_json_number(json, "to_host_tlps", count->to_host.tlps);
		shca_json_number(json, "to_host_bytes", count->to_host.bytes);
		shca_json_number(json, "to_device_tlps", count->to_device.tlps);
		shca_json_number(json, "to_device_bytes", count->to_device.bytes);
		shca_json_close(json);
	}
	shca_json_close(json);
	shca_json_close(json);
}

/** Take the counts of one moment. @return whether they are counted. */
static bool
take_pci(struct shca_device *dev, struct shca_pci *pci)
{
	const struct shca_pci *counted;

	shca_device_lock(dev);
	counted = shca_device_pci(dev);
	if (counted != NULL)
		*pci = *counted;
	shca_device_unlock(dev);
	return counted != NULL;
}

static int
run_pci(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_json json;
	struct shca_pci pci;

	for (unsigned int i = 0; i < target->nb_devices; i++) {
		if (is_meant(target->devices[i], request) && !take_pci(target->devices[i], &pci)) {
			fprintf(out,
				"what crosses PCI is not counted on mlx5_%u; 'pci on' counts it",
				index_of(target->devices[i]));
			return -ENODATA;
		}
	}
	shca_json_init(&json, out);
	if (request->json) {
		shca_json_open(&json, NULL, '{');
		shca_json_open(&json, "ports", '[');
	}
	for (unsigned int i = 0; i < target->nb_devices; i++) {
		struct shca_device *dev = target->devices[i];

		if (!is_meant(dev, request) || !take_pci(dev, &pci))
			continue;
		if (request->json)
			print_pci_json(index_of(dev), &pci, &json);
		else
			print_pci_text(index_of(dev), &pci, out);
	}
	if (request->json) {
		shca_json_close(&json);
		shca_json_close(&json);
		fputc('\n', out);
	}
	return 0;
}

static void
begin(struct shca_json *json, const char *thread, bool is_json)
{
	if (!is_json) {
		fprintf(json->out, "device thread: %s\n", thread);
		return;
	}
	shca_json_open(json, NULL, '{');
	shca_json_string(json, "thread", "%s", thread);
	shca_json_open(json, "ports", '[');
}

int
shca_stats_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	const char *thread = shca_threads_are_frozen(target->threads) ? "frozen" : "running";
	struct shca_json json;

	if (request->argument != NULL && strcmp(request->argument, "pci") == 0)
		return run_pci(target, request, out);
	if (request->argument != NULL) {
		fprintf(out, "stats takes pci or nothing, not '%.32s'", request->argument);
		return -EINVAL;
	}
	shca_json_init(&json, out);
	begin(&json, thread, request->json);
	for (unsigned int i = 0; i < target->nb_devices; i++) {
		struct snapshot snapshot;

		if (!is_meant(target->devices[i], request))
			continue;
		if (take(target->devices[i], &snapshot) != 0)
			return -ENOMEM;
		if (request->json)
			print_json(&snapshot, &json);
		else
			print_text(&snapshot, out);
		free(snapshot.queues);
		free(snapshot.contexts);
	}
	if (request->json) {
		shca_json_close(&json);
		shca_json_close(&json);
		fputc('\n', out);
	}
	return 0;
}

static void
print_pci_state(unsigned int index, const char *state, struct shca_json *json)
{
	shca_json_open(json, NULL, '{');
	shca_json_string(json, "device", "mlx5_%u", index);
	shca_json_string(json, "pci", "%s", state);
	shca_json_close(json);
}

int
shca_stats_set_pci(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	const bool on = strcmp(request->argument, "on") == 0;
	struct shca_json json;

	if (!on && strcmp(request->argument, "off") != 0) {
		fprintf(out, "pci takes on or off, not '%.32s'", request->argument);
		return -EINVAL;
	}
	shca_json_init(&json, out);
	if (request->json)
		shca_json_open(&json, NULL, '[');
	for (unsigned int i = 0; i < target->nb_devices; i++) {
		struct shca_device *dev = target->devices[i];
		int ret;

		if (!is_meant(dev, request))
			continue;
		shca_device_lock(dev);
		ret = shca_device_count_pci(dev, on);
		shca_device_unlock(dev);
		if (ret != 0)
			return ret;
		if (request->json)
			print_pci_state(index_of(dev), request->argument, &json);
		else
			fprintf(out, "mlx5_%u %s\n", index_of(dev), request->argument);
	}
	if (request->json) {
		shca_json_close(&json);
		fputc('\n', out);
	}
	return 0;
}
