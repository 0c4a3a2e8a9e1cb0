/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca ctl trace: the packets of a capture, one request each, or the frame of a pattern.
 */
#include "trace.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pattern/pattern.h"
#include "ctl/request.h"
#include "ctl_client.h"
#include "wire/wire.h"

struct trace {
	const struct shca_request *request;
	pcap_t *pcap;
	int fd;
	char line[SHCA_REQUEST_MAX];
	unsigned int nb_packets;
};

/** @return the end of the words before the frame. */
static char *
write_command(struct trace *trace)
{
	char *at = trace->line;

	at += sprintf(at, "trace%s", trace->request->json ? " --json" : "");
	if (trace->request->tx)
		at += sprintf(at, " --tx");
	if (trace->request->port >= 0)
		at += sprintf(at, " --port %d", trace->request->port);
	*at++ = ' ';
	return at;
}

static void
write_line(struct trace *trace, const uint8_t *bytes, unsigned int length)
{
	char *at = write_command(trace);

	for (unsigned int i = 0; i < length; i++)
		at += sprintf(at, "%02x", bytes[i]);
}

/** @return 0, or a negative errno with a message in @p text, which the caller frees. */
static int
ask(struct trace *trace, const struct pcap_pkthdr *header, const uint8_t *bytes, char **text)
{
	int ret;

	if (header->caplen == 0 || header->caplen > SHCA_FRAME_MAX) {
		ret = asprintf(text, "packet %u has %u bytes: a frame has 1 to %u",
			trace->nb_packets, header->caplen, SHCA_FRAME_MAX);
		return ret < 0 ? -ENOMEM : -EMSGSIZE;
	}
	write_line(trace, bytes, header->caplen);
	ret = app_ctl_client_ask(trace->fd, trace->line, text);
	if (ret != 0)
		return ret;
	if (trace->request->json) {
		printf("%s%.*s", trace->nb_packets == 1 ? "" : ", ", (int)strcspn(*text, "\n"),
			*text);
	} else {
		printf("packet %u: %s", trace->nb_packets, *text);
		if (header->caplen < header->len)
			printf("  (the capture has %u of %u bytes)\n", header->caplen, header->len);
	}
	free(*text);
	*text = NULL;
	return 0;
}

static int
ask_all(struct trace *trace)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	char *text = NULL;
	int ret;

	while ((ret = pcap_next_ex(trace->pcap, &header, &bytes)) == 1) {
		trace->nb_packets++;
		ret = ask(trace, header, bytes, &text);
		if (ret != 0) {
			fprintf(stderr, "softhca ctl: %s\n", text == NULL ? strerror(-ret) : text);
			free(text);
			return ret;
		}
	}
	if (ret == PCAP_ERROR_BREAK)
		return 0;
	fprintf(stderr, "softhca ctl: %s, behind packet %u: %s\n", trace->request->argument,
		trace->nb_packets, pcap_geterr(trace->pcap));
	return -EINVAL;
}

/** @return whether the argument is no capture's name: words, or the name of an item. */
static bool
is_pattern(const char *argument)
{
	return access(argument, F_OK) != 0 &&
		(strpbrk(argument, " \t,") != NULL || shca_pattern_is_one(argument));
}

/** Requests have no white space in an argument, patterns may have commas for it. */
static int
ask_pattern(struct trace *trace, const char *path)
{
	char *at = write_command(trace), *text = NULL;
	const size_t room = sizeof(trace->line) - (size_t)(at - trace->line);
	int ret;

	if ((size_t)snprintf(at, room, "%s", trace->request->argument) >= room) {
		fprintf(stderr, "softhca ctl: the pattern is too long\n");
		return -EMSGSIZE;
	}
	for (; *at != '\0'; at++)
		if (strchr(" \t\r\n", *at) != NULL)
			*at = ',';
	ret = app_ctl_client_once(path, trace->line, &text);
	if (ret != 0)
		fprintf(stderr, "softhca ctl: %s\n", text == NULL ? strerror(-ret) : text);
	else if (trace->request->json)
		printf("[%.*s]\n", (int)strcspn(text, "\n"), text);
	else
		printf("frame: %s", text);
	free(text);
	return ret;
}

static pcap_t *
open_capture(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);

	if (pcap == NULL) {
		fprintf(stderr, "softhca ctl: %s\n", error);
		return NULL;
	}
	if (pcap_datalink(pcap) != DLT_EN10MB) {
		fprintf(stderr, "softhca ctl: %s is no capture of Ethernet\n", path);
		pcap_close(pcap);
		return NULL;
	}
	return pcap;
}

int
app_trace(const char *path, const struct shca_request *request)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	char *text = NULL;
	int ret = -EINVAL;

	if (trace == NULL)
		return -ENOMEM;
	trace->request = request;
	if (is_pattern(request->argument)) {
		ret = ask_pattern(trace, path);
		goto free_trace;
	}
	trace->pcap = open_capture(request->argument);
	if (trace->pcap == NULL)
		goto free_trace;
	trace->fd = app_ctl_client_open(path, &text);
	if (trace->fd < 0) {
		fprintf(stderr, "softhca ctl: %s\n", text);
		free(text);
		ret = trace->fd;
		goto close_pcap;
	}
	if (request->json)
		printf("[");
	ret = ask_all(trace);
	if (request->json)
		printf("]\n");
	close(trace->fd);
close_pcap:
	pcap_close(trace->pcap);
free_trace:
	free(trace);
	return ret;
}
