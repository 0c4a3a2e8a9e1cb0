/* SPDX-License-Identifier: BSD-3-Clause */
/* This process and its devices; and the other processes that have one of them open. */
#include "ctl/devices.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/context.h"
#include "base/json.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "hw/device/device.h"

/** Contexts, one of each process but this. */
struct programs {
	struct shca_context *context;
	size_t nb;
};

static bool
has(const struct programs *programs, pid_t pid)
{
	for (size_t i = 0; i < programs->nb; i++)
		if (programs->context[i].pid == pid)
			return true;
	return pid == getpid();
}

static int
add(struct programs *programs, struct shca_device *dev)
{
	struct shca_context *list, *more;
	size_t nb;
	int ret;

	shca_device_lock(dev);
	ret = shca_device_list_contexts(dev, &list, &nb);
	shca_device_unlock(dev);
	if (ret != 0)
		return ret;
	more = reallocarray(programs->context, programs->nb + nb + 1, sizeof(*more));
	if (more == NULL) {
		free(list);
		return -ENOMEM;
	}
	programs->context = more;
	for (size_t i = 0; i < nb; i++)
		if (!has(programs, list[i].pid))
			programs->context[programs->nb++] = list[i];
	free(list);
	return 0;
}

static void
print_text(const struct shca_target *target, const struct programs *programs, FILE *out)
{
	fprintf(out, "%d %s", (int)getpid(), program_invocation_short_name);
	for (unsigned int i = 0; i < target->nb_devices; i++)
		fprintf(out, " mlx5_%u", shca_device_conf(target->devices[i])->index);
	fputc('\n', out);
	for (size_t i = 0; i < programs->nb; i++)
		fprintf(out, "  %d %s\n", (int)programs->context[i].pid, programs->context[i].comm);
}

static void
print_json(const struct shca_target *target, const struct programs *programs, FILE *out)
{
	struct shca_json json;

	shca_json_init(&json, out);
	shca_json_open(&json, NULL, '{');
	shca_json_number(&json, "pid", (uint64_t)getpid());
	shca_json_string(&json, "program", "%s", program_invocation_short_name);
	shca_json_open(&json, "devices", '[');
	for (unsigned int i = 0; i < target->nb_devices; i++)
		shca_json_string(
			&json, NULL, "mlx5_%u", shca_device_conf(target->devices[i])->index);
	shca_json_close(&json);
	shca_json_open(&json, "programs", '[');
	for (size_t i = 0; i < programs->nb; i++) {
		shca_json_open(&json, NULL, '{');
		shca_json_number(&json, "pid", (uint64_t)programs->context[i].pid);
		shca_json_string(&json, "program", "%s", programs->context[i].comm);
		shca_json_close(&json);
	}
	shca_json_close(&json);
	shca_json_close(&json);
	fputc('\n', out);
}

int
shca_devices_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct programs programs = { .nb = 0 };
	int ret = 0;

	for (unsigned int i = 0; i < target->nb_devices && ret == 0; i++)
		ret = add(&programs, target->devices[i]);
	if (ret != 0)
		fputs("out of memory", out);
	else if (request->json)
		print_json(target, &programs, out);
	else
		print_text(target, &programs, out);
	free(programs.context);
	return ret;
}
