/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a port: all of them, or the walk of a frame. */
#include "ctl/rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/refuse.h"
#include "pattern/pattern.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "hw/device/device.h"
#include "hw/device/trace.h"

static void
dump_port(struct shca_device *dev, struct shca_json *json, FILE *out)
{
	if (json != NULL) {
		shca_json_open(json, NULL, '{');
		shca_json_string(json, "device", "mlx5_%u", shca_device_conf(dev)->index);
	} else {
		fprintf(out, "mlx5_%u\n", shca_device_conf(dev)->index);
	}
	shca_device_dump(dev, json, out);
	if (json != NULL)
		shca_json_close(json);
}

int
shca_rules_dump(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_json json;

	shca_json_init(&json, out);
	if (request->json)
		shca_json_open(&json, NULL, '[');
	for (unsigned int i = 0; i < target->nb_devices; i++)
		if (request->port < 0 ||
			(int)shca_device_conf(target->devices[i])->index == request->port)
			dump_port(target->devices[i], request->json ? &json : NULL, out);
	if (request->json) {
		shca_json_close(&json);
		fputc('\n', out);
	}
	return 0;
}

static int
digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c);

	return at == NULL ? -1 : (int)(at - digits);
}

/** @return the bytes to hold a frame of @p nb_digits after the rules have rewritten it. */
static size_t
room_for(size_t nb_digits)
{
	return nb_digits / 2 + SHCA_DEVICE_TRACE_ROOM;
}

/** @return the bytes, which the caller frees, or NULL. */
static uint8_t *
decode(const char *text, uint32_t *length)
{
	size_t nb_digits = strlen(text);
	uint8_t *bytes = malloc(room_for(nb_digits));

	for (size_t i = 0; bytes != NULL && i + 1 < nb_digits; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0) {
			free(bytes);
			return NULL;
		}
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	*length = (uint32_t)(nb_digits / 2);
	return bytes;
}

/** Trace the frame in the ports of this process that receive it. */
static void
trace_receivers(struct shca_target *target, struct shca_device_trace *trace)
{
	const unsigned int nb_to = trace->nb_to;

	trace->is_sent = false;
	for (unsigned int i = 0; i < nb_to * target->nb_devices; i++) {
		struct shca_device *dev = target->devices[i % target->nb_devices];
		const struct shca_device_conf *conf = shca_device_conf(dev);

		if (conf->wire != trace->to[i / target->nb_devices])
			continue;
		if (trace->json != NULL) {
			shca_json_open(trace->json, NULL, '{');
			shca_json_string(trace->json, "device", "mlx5_%u", conf->index);
		} else {
			fprintf(trace->out, "mlx5_%u receives: ", conf->index);
		}
		shca_device_trace(dev, trace);
		if (trace->json != NULL)
			shca_json_close(trace->json);
	}
}

static void
trace_one(struct shca_target *target, struct shca_device *dev, struct shca_device_trace *trace)
{
	const bool is_sent = trace->is_sent;

	shca_device_trace(dev, trace);
	if (!is_sent)
		return;
	if (trace->json != NULL)
		shca_json_open(trace->json, "received", '[');
	trace_receivers(target, trace);
	if (trace->json != NULL)
		shca_json_close(trace->json);
}

/** Where frames come from that a pattern gives no address. */
static const uint8_t peer_mac[6] = { 2, 0, 0, 0, 0, 0x99 };

/** Take the frame from the request's argument, in hexadecimal or as a pattern. @return 0 or
 * -EINVAL after a message. */
static int
take_frame(struct shca_device *dev, const struct shca_request *request,
	struct shca_device_trace *trace, FILE *out)
{
	uint8_t own[sizeof(peer_mac)];
	const bool is_pattern =
		strchr(request->argument, ',') != NULL || shca_pattern_is_one(request->argument);
	const size_t nb_digits =
		is_pattern ? 2 * SHCA_PATTERN_FRAME_MAX : strlen(request->argument);
	char error[512] = "", *text;
	const struct shca_refusal refusal = { .text = error, .size = sizeof(error) };
	int length;

	trace->room = malloc(room_for(nb_digits));
	if (!is_pattern) {
		if (nb_digits % 2 == 0)
			trace->bytes = decode(request->argument, &trace->length);
		if (trace->bytes != NULL && trace->room != NULL)
			return 0;
		fprintf(out, "trace takes the bytes of a frame in hexadecimal, or a pattern");
		return -EINVAL;
	}
	trace->bytes = malloc(room_for(nb_digits));
	text = strdup(request->argument);
	if (trace->bytes == NULL || trace->room == NULL || text == NULL) {
		free(text);
		fputs(strerror(ENOMEM), out);
		return -ENOMEM;
	}
	shca_device_lock(dev);
	memcpy(own, shca_device_mac(dev), sizeof(own));
	shca_device_unlock(dev);
	length = shca_pattern_frame(text, request->tx ? peer_mac : own,
		request->tx ? own : peer_mac, trace->bytes, &refusal);
	free(text);
	if (length < 0) {
		fputs(error, out);
		return length;
	}
	trace->length = (uint32_t)length;
	return 0;
}

int
shca_rules_trace(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_target_find_one(target, request, out);
	struct shca_device_trace trace = { .is_sent = request->tx, .out = out };
	struct shca_json json;
	int ret;

	if (dev == NULL)
		return -EINVAL;
	ret = take_frame(dev, request, &trace, out);
	if (ret != 0) {
		free(trace.bytes);
		free(trace.room);
		return ret;
	}
	shca_json_init(&json, out);
	if (request->json) {
		trace.json = &json;
		shca_json_open(&json, NULL, '{');
	}
	trace_one(target, dev, &trace);
	if (request->json) {
		shca_json_close(&json);
		fputc('\n', out);
	}
	free(trace.bytes);
	free(trace.room);
	return 0;
}
