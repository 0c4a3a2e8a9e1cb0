/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a port: all of them, or those that a frame meets. */
#include "ctl/rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/model.h"
#include "ctl/commands.h"
#include "ctl/request.h"
#include "hw/device.h"
#include "hw/out.h"
#include "hw/rewrite.h"
#include "hw/tunnels.h"
#include "hw/tx.h"
#include "steering/dump.h"
#include "steering/parse.h"
#include "steering/trace.h"

static void
dump_port(struct shca_device *dev, struct shca_json *json, FILE *out)
{
	const struct shca_dump_conf conf = {
		.out = out,
		.json = json,
		.describe = shca_tir_describe,
	};

	if (json != NULL) {
		shca_json_open(json, NULL, '{');
		shca_json_string(json, "device", "mlx5_%u", shca_device_conf(dev)->index);
	} else {
		fprintf(out, "mlx5_%u\n", shca_device_conf(dev)->index);
	}
	shca_device_lock(dev);
	shca_dump_tables(shca_device_steering(dev), &conf);
	shca_device_unlock(dev);
	if (json != NULL)
		shca_json_close(json);
}

int
shca_rules_dump(struct shca_commands_target *target, const struct shca_request *request, FILE *out)
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

/* Of @p nb_digits, and what rules may make of it. */
static size_t
room_for(size_t nb_digits)
{
	return nb_digits / 2 + SHCA_OUT_FRAME_ROOM;
}

/* @return the bytes, to be freed, or NULL. */
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

/* A frame in question, and where its story goes. */
struct story {
	struct shca_commands_target *target;
	uint8_t *bytes;
	uint32_t length;
	struct shca_json *json; /* NULL: text */
	FILE *out;
	struct shca_dump_conf conf; /* json and out, too */
};

static void
parse(const struct story *story, const struct shca_device *dev, struct shca_packet *packet)
{
	shca_parse(story->bytes, story->length, packet);
	shca_tunnels_limit(packet, shca_device_conf(dev)->model->tunnel_offloads);
}

static void
tell_receipt(const struct story *story, struct shca_device *dev)
{
	struct shca_packet packet;

	parse(story, dev, &packet);
	shca_device_lock(dev);
	shca_trace_rx(shca_device_steering(dev), &packet, &story->conf);
	shca_device_unlock(dev);
}

/* The ports of this process that it comes to. */
static void
tell_receivers(const struct story *story, const struct shca_device_fate *fate)
{
	struct shca_commands_target *target = story->target;

	for (unsigned int i = 0; i < fate->nb_to * target->nb_devices; i++) {
		struct shca_device *dev = target->devices[i % target->nb_devices];
		const struct shca_device_conf *conf = shca_device_conf(dev);

		if (conf->wire != fate->to[i / target->nb_devices])
			continue;
		if (story->json != NULL) {
			shca_json_open(story->json, NULL, '{');
			shca_json_string(story->json, "device", "mlx5_%u", conf->index);
		} else {
			fprintf(story->out, "mlx5_%u receives: ", conf->index);
		}
		tell_receipt(story, dev);
		if (story->json != NULL)
			shca_json_close(story->json);
	}
}

static void
tell_sending(struct story *story, struct shca_device *dev)
{
	struct shca_device_fate fate;
	struct shca_packet packet;
	bool is_sent;

	story->length = shca_tx_pad(story->bytes, story->length);
	parse(story, dev, &packet);
	shca_device_lock(dev);
	shca_device_foretell(dev, story->bytes, story->length, &fate);
	is_sent = shca_trace_tx(shca_device_steering(dev), &packet, fate.is_lost ? "lost" : "sent",
		fate.what, &story->conf);
	shca_device_unlock(dev);
	if (packet.bytes != story->bytes) {
		memcpy(story->bytes, packet.bytes, packet.length);
		story->length = packet.length;
	}
	if (story->json != NULL)
		shca_json_open(story->json, "received", '[');
	if (is_sent)
		tell_receivers(story, &fate);
	if (story->json != NULL)
		shca_json_close(story->json);
}

int
shca_rules_trace(struct shca_commands_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_commands_find_one(target, request, out);
	struct story story = { .target = target, .out = out };
	struct shca_json json;
	uint8_t *room;

	if (dev == NULL)
		return -EINVAL;
	if (strlen(request->argument) % 2 == 0)
		story.bytes = decode(request->argument, &story.length);
	room = malloc(room_for(strlen(request->argument)));
	if (story.bytes == NULL || room == NULL) {
		free(story.bytes);
		free(room);
		fprintf(out, "trace takes the bytes of a frame in hexadecimal");
		return -EINVAL;
	}
	shca_json_init(&json, out);
	if (request->json) {
		story.json = &json;
		shca_json_open(&json, NULL, '{');
	}
	story.conf = (struct shca_dump_conf){
		.out = out,
		.json = story.json,
		.describe = shca_tir_describe,
		.rewrite = shca_rewrite,
		.room = room,
	};
	if (request->tx)
		tell_sending(&story, dev);
	else
		tell_receipt(&story, dev);
	if (request->json) {
		shca_json_close(&json);
		fputc('\n', out);
	}
	free(story.bytes);
	free(room);
	return 0;
}
