/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a port: all of them. */
#include "ctl/rules.h"

#include "base/json.h"
#include "ctl/commands.h"
#include "ctl/request.h"
#include "hw/device.h"
#include "steering/dump.h"

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
