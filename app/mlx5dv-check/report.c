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
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	if (port->ibdev[0] != '\0' && !device_query(port->ibdev, &device))
		fprintf(stderr, "mlx5dv-check: %s cannot be queried\n", port->ibdev);
	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	printf("%s: part 0x%04" PRIx32 ", firmware %s, %s, Rx offloads 0x%" PRIx64
	       ", Tx offloads 0x%" PRIx64 "\n",
		port->name, device.part, device.fw, mac, port->info.rx_offload_capa,
		port->info.tx_offload_capa);
	if (json == NULL)
		return;
	fputs("    {", json);
	json_pair(json, "ibdev", port->name);
	fputs(", ", json);
	json_pair(json, "firmware", device.fw);
	fputs(", ", json);
	json_pair(json, "mac", mac);
	fputs(", ", json);
	json_model(json, port);
	fprintf(json,
		", \"part\": %" PRIu32 ", \"rx_offloads\": %" PRIu64 ", \"tx_offloads\": %" PRIu64
		"}%s\n",
		device.part, port->info.rx_offload_capa, port->info.tx_offload_capa,
		is_last ? "" : ",");
}

int
check_report_open(struct check_report *report, const char *json, const struct check *check)
{
	struct utsname kernel;

	if (json != NULL) {
		report->json = fopen(json, "we");
		if (report->json == NULL) {
			fprintf(stderr, "mlx5dv-check: cannot write %s: %s\n", json,
				strerror(errno));
			return -errno;
		}
	}
	uname(&kernel);
	printf("%s, Linux %s %s\n", rte_version(), kernel.release, kernel.machine);
	if (report->json != NULL) {
		fputs("{\n  ", report->json);
		json_pair(report->json, "dpdk", rte_version());
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
report_completions(FILE *json, const struct check_port *port)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (uint16_t q = 0; out != NULL && q < port->nb_queues; q++)
		(void)rte_eth_rx_descriptor_dump(
			port->id, q, (uint16_t)-NB_COMPLETIONS, NB_COMPLETIONS, out);
	if (out != NULL)
		fclose(out);
	fputs(", ", json);
	json_pair(json, "completions", text != NULL ? text : "");
	free(text);
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
	if (result == CHECK_FAIL) {
		report_packets(report->json, check);
		report_completions(report->json, &check->port[CHECK_PORT]);
	}
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

static int
exit_status(const struct check_report *report)
{
	if (report->stopped != 0)
		return 128 + report->stopped;
	return report->count[CHECK_FAIL] != 0 ? 1 : report->has_row ? 0 : 2;
}

int
check_report_close(struct check_report *report)
{

	printf("%u passed, %u failed, %u not there, %u experiments\n", report->count[CHECK_PASS],
		report->count[CHECK_FAIL], report->count[CHECK_ABSENT], report->count[CHECK_SEEN]);
	if (report->json == NULL)
		return exit_status(report);
	fprintf(report->json,
		"%s,\n  \"passed\": %u, \"failed\": %u, \"absent\": %u, \"seen\": %u\n}\n",
		report->stopped != 0 ? "" : "\n  ]", report->count[CHECK_PASS],
		report->count[CHECK_FAIL], report->count[CHECK_ABSENT], report->count[CHECK_SEEN]);
	if (fclose(report->json) != 0) {
		fprintf(stderr, "mlx5dv-check: the JSON report is not whole: %s\n",
			strerror(errno));
		return 2;
	}
	return exit_status(report);
}
