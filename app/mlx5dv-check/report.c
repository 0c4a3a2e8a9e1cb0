/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: text on stdout, and JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <infiniband/verbs.h>
#include <rte_version.h>

#include "check.h"

#define NB_COMPLETIONS 4

static const char *const result_names[CHECK_NB_RESULTS] = {
	[CHECK_PASS] = "pass",
	[CHECK_FAIL] = "FAIL",
	[CHECK_ABSENT] = "not there",
	[CHECK_SEEN] = "seen",
};

/** What verbs says of the device. */
struct device {
	char fw[64];
	uint32_t part;
};

/** @return whether the device was found and answers */
static bool
device_query(const char *name, struct device *device)
{
	struct ibv_context *ctx = check_verbs_open(name);
	struct ibv_device_attr attr;
	bool found = ctx != NULL && ibv_query_device(ctx, &attr) == 0;

	if (found) {
		snprintf(device->fw, sizeof(device->fw), "%s", attr.fw_ver);
		device->part = attr.vendor_part_id;
	}
	if (ctx != NULL)
		ibv_close_device(ctx);
	return found;
}

/** Write a JSON string (RFC 8259 section 7). */
static void
json_string(FILE *json, const char *text)
{
	fputc('"', json);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(json, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(json, "\\u%04x", *text);
		else
			fputc(*text, json);
	}
	fputc('"', json);
}

static void
json_pair(FILE *json, const char *name, const char *text)
{
	json_string(json, name);
	fputs(": ", json);
	json_string(json, text);
}

static void
json_model(FILE *json, const struct check_port *port)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL || (port->ibdev[0] != '\0' && check_model_write(port->ibdev, out) != 0))
		fprintf(stderr, "mlx5dv-check: %s cannot be asked for its model\n", port->ibdev);
	if (out != NULL)
		fclose(out);
	json_pair(json, "model", text != NULL ? text : "");
	free(text);
}

static void
report_port(FILE *json, const struct check_port *port, bool is_last)
{
	struct device device = { "-", 0 };
	struct check_versions versions;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	if (port->ibdev[0] != '\0' && !device_query(port->ibdev, &device))
		fprintf(stderr, "mlx5dv-check: %s cannot be queried\n", port->ibdev);
	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	check_versions_port(port, &versions);
	printf("%s: part 0x%04" PRIx32 ", firmware %s, %s, Rx offloads 0x%" PRIx64
	       ", Tx offloads 0x%" PRIx64 "\n",
		port->name, device.part, device.fw, mac, port->info.rx_offload_capa,
		port->info.tx_offload_capa);
	printf("%s: driver %s of %s; its netdev's: %s\n", port->name, port->info.driver_name,
		versions.driver_file, versions.netdev_driver);
	if (json == NULL)
		return;
	fputs("    {", json);
	json_pair(json, "ibdev", port->name);
	fputs(", ", json);
	json_pair(json, "firmware", device.fw);
	fputs(", ", json);
	json_pair(json, "mac", mac);
	fputs(", ", json);
	json_pair(json, "driver", port->info.driver_name);
	fputs(", ", json);
	json_pair(json, "driver_file", versions.driver_file);
	fputs(", ", json);
	json_pair(json, "netdev_driver", versions.netdev_driver);
	fputs(", ", json);
	json_model(json, port);
	fprintf(json,
		", \"part\": %" PRIu32 ", \"rx_offloads\": %" PRIu64 ", \"tx_offloads\": %" PRIu64
		", \"rss_types\": %" PRIu64 ", \"reta_size\": %u, \"max_rx_queues\": %u"
		", \"max_tx_queues\": %u, \"max_mtu\": %u, \"speeds\": %" PRIu32 "}%s\n",
		device.part, port->info.rx_offload_capa, port->info.tx_offload_capa,
		port->info.flow_type_rss_offloads, port->info.reta_size, port->info.max_rx_queues,
		port->info.max_tx_queues, port->info.max_mtu, port->info.speed_capa,
		is_last ? "" : ",");
}

int
check_report_open(struct check_report *report, const char *json, const struct check *check)
{
	struct utsname kernel;
	char rdma_core[512];

	if (json != NULL) {
		report->json = fopen(json, "we");
		if (report->json == NULL) {
			fprintf(stderr, "mlx5dv-check: cannot write %s: %s\n", json,
				strerror(errno));
			return -errno;
		}
	}
	uname(&kernel);
	check_versions_rdma_core(rdma_core, sizeof(rdma_core));
	printf("mlx5dv-check " CHECK_VERSION ", %s, %s, Linux %s %s\n", rte_version(), rdma_core,
		kernel.release, kernel.machine);
	if (report->json != NULL) {
		fputs("{\n  ", report->json);
		json_pair(report->json, "version", CHECK_VERSION);
		fputs(",\n  ", report->json);
		json_pair(report->json, "dpdk", rte_version());
		fputs(",\n  ", report->json);
		json_pair(report->json, "rdma_core", rdma_core);
		fputs(",\n  ", report->json);
		json_pair(report->json, "kernel", kernel.release);
		fputs(",\n  ", report->json);
		json_pair(report->json, "machine", kernel.machine);
		fputs(",\n  \"ports\": [\n", report->json);
	}
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		report_port(report->json, &check->port[side], side + 1 == CHECK_NB_SIDES);
	if (report->json != NULL)
		fputs("  ],\n  \"rows\": [", report->json);
	return 0;
}

/** What the packets were, beside why the row has failed. */
static void
report_packets(FILE *json, const struct check *check)
{
	char hex[2 * CHECK_EVIDENCE_BYTES + 1];

	fputs(", \"packets\": [", json);
	for (unsigned int i = 0; i < check->nb_evidence; i++) {
		const struct check_evidence *packet = &check->evidence[i];

		hex[0] = '\0';
		for (unsigned int at = 0; at < packet->nb; at++)
			snprintf(hex + 2 * at, 3, "%02x", packet->bytes[at]);
		fprintf(json,
			"%s\n      {\"port\": %u, \"queue\": %u, \"length\": %" PRIu32
			", \"flags\": %" PRIu64 ", \"hash\": %" PRIu32 ", \"bytes\": \"%s\"}",
			i == 0 ? "" : ",", packet->side, packet->queue, packet->length,
			packet->ol_flags, packet->hash, hex);
	}
	fputs("]", json);
}

/** The latest completions of the port's receive queues, as the driver shows them. */
static void
write_completions(FILE *out, uint16_t id)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(id, &info) != 0)
		return;
	for (uint16_t q = 0; q < info.nb_rx_queues; q++)
		(void)rte_eth_rx_descriptor_dump(
			id, q, (uint16_t)-NB_COMPLETIONS, NB_COMPLETIONS, out);
}

/** What the driver knows of its queues: what was sent and completed, errors and why. */
static void
write_state(FILE *out, uint16_t id)
{
	(void)rte_eth_dev_priv_dump(id, out);
}

static void
report_text(FILE *json, const char *name, void (*write)(FILE *out, uint16_t id), uint16_t id)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL) {
		write(out, id);
		fclose(out);
	}
	fputs(", ", json);
	json_pair(json, name, text != NULL ? text : "");
	free(text);
}

static void
report_failure(FILE *json, const struct check *check)
{
	const uint16_t port = check->port[CHECK_PORT].id, peer = check->port[CHECK_PEER].id;

	report_packets(json, check);
	report_text(json, "completions", write_completions, port);
	report_text(json, "peer_completions", write_completions, peer);
	report_text(json, "state", write_state, port);
	report_text(json, "peer_state", write_state, peer);
}

void
check_report_row(struct check_report *report, const struct check *check,
	const struct check_row *row, enum check_result result)
{
	const bool is_first = !report->has_row;
	const char *why = check->why;

	report->has_row = true;
	report->count[result]++;
	printf("%-9s  %s%s%s\n", result_names[result], row->name, why[0] != '\0' ? ": " : "", why);
	fflush(stdout);
	if (report->json == NULL)
		return;
	fputs(is_first ? "\n    {" : ",\n    {", report->json);
	json_pair(report->json, "row", row->name);
	fputs(", ", report->json);
	json_pair(report->json, "shows", row->shows);
	fputs(", ", report->json);
	json_pair(report->json, "result", result_names[result]);
	fputs(", ", report->json);
	json_pair(report->json, "why", why);
	if (result == CHECK_FAIL)
		report_failure(report->json, check);
	fputs("}", report->json);
}

void
check_report_stop(struct check_report *report, const struct check *check,
	const struct check_row *row, int signal)
{
	report->stopped = signal;
	printf("%-9s  %s: by signal %d (%s)\n", "stopped", row->name, signal, strsignal(signal));
	fflush(stdout);
	if (report->json == NULL)
		return;
	fprintf(report->json, "\n  ],\n  \"stopped\": {\"signal\": %d, ", signal);
	json_pair(report->json, "row", row->name);
	fputs(", ", report->json);
	json_pair(report->json, "why", check->why);
	fputs("}", report->json);
}

/** @return whether all of a report has got where it was to go, after a message if not */
static bool
close_out(FILE *out, const char *what)
{
	bool is_whole;

	errno = EIO; /* of what was written before */
	is_whole = ferror(out) == 0;
	if ((out == stdout ? fflush(out) : fclose(out)) != 0)
		is_whole = false;
	if (!is_whole)
		fprintf(stderr, "mlx5dv-check: the %s is not whole: %s\n", what, strerror(errno));
	return is_whole;
}

int
check_report_close(struct check_report *report)
{
	bool is_whole;

	printf("%u passed, %u failed, %u not there, %u experiments\n", report->count[CHECK_PASS],
		report->count[CHECK_FAIL], report->count[CHECK_ABSENT], report->count[CHECK_SEEN]);
	is_whole = close_out(stdout, "report");
	if (report->json != NULL) {
		fprintf(report->json,
			"%s,\n  \"passed\": %u, \"failed\": %u, \"absent\": %u, \"seen\": %u\n}\n",
			report->stopped != 0 ? "" : "\n  ]", report->count[CHECK_PASS],
			report->count[CHECK_FAIL], report->count[CHECK_ABSENT],
			report->count[CHECK_SEEN]);
		if (!close_out(report->json, "JSON report"))
			return 2;
	}
	if (report->stopped != 0)
		return 128 + report->stopped;
	if (report->count[CHECK_FAIL] != 0)
		return 1;
	return is_whole && report->has_row ? 0 : 2;
}
