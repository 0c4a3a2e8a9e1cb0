/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a port: all of them, or those that a frame meets. */
#include "ctl/rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ctl/commands.h"
#include "ctl/request.h"
#include "hw/device.h"
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

/* @return the bytes, to be freed, or NULL. */
static uint8_t *
decode(const char *text, uint32_t *length)
{
	size_t nb_digits = strlen(text);
	uint8_t *bytes = malloc(nb_digits / 2 + 1);

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

static void
trace_frame(struct shca_device *dev, const uint8_t *bytes, uint32_t length, struct shca_json *json,
	FILE *out)
{
	const struct shca_dump_conf conf = {
		.out = out,
		.json = json,
		.describe = shca_tir_describe,
	};
	struct shca_packet packet;

	shca_parse(bytes, length, &packet);
	shca_device_lock(dev);
	shca_trace_rx(shca_device_steering(dev), &packet, &conf);
	shca_device_unlock(dev);
}

int
shca_rules_trace(struct shca_commands_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_commands_find_one(target, request, out);
	struct shca_json json;
	uint32_t length;
	uint8_t *bytes;

	if (dev == NULL)
		return -EINVAL;
	bytes = strlen(request->argument) % 2 != 0 ? NULL : decode(request->argument, &length);
	if (bytes == NULL) {
		fprintf(out, "trace takes the bytes of a frame in hexadecimal");
		return -EINVAL;
	}
	shca_json_init(&json, out);
	if (request->json)
		shca_json_open(&json, NULL, '{');
	trace_frame(dev, bytes, length, request->json ? &json : NULL, out);
	if (request->json) {
		shca_json_close(&json);
		fputc('\n', out);
	}
	free(bytes);
	return 0;
}
