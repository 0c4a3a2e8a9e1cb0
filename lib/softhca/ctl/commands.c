/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, one row each. */
#include "ctl/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/arfs.h"
#include "ctl/devices.h"
#include "ctl/netdev.h"
#include "ctl/ntuple.h"
#include "ctl/request.h"
#include "ctl/rules.h"
#include "ctl/stats.h"
#include "ctl/target.h"
#include "hw/device/device.h"
#include "hw/device/threads.h"

static void
print_thread(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	const char *state = shca_threads_are_frozen(target->threads) ? "frozen" : "running";

	if (request->json)
		fprintf(out, "{\"thread\": \"%s\"}\n", state);
	else
		fprintf(out, "%s\n", state);
}

static int
run_freeze(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	shca_threads_freeze(target->threads);
	print_thread(target, request, out);
	return 0;
}

static int
run_thaw(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	shca_threads_thaw(target->threads);
	print_thread(target, request, out);
	return 0;
}

static int
run_link(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	bool up = strcmp(request->argument, "up") == 0;
	struct shca_device *dev;
	const char *state;

	if (!up && strcmp(request->argument, "down") != 0) {
		fprintf(out, "link takes up or down, not '%.32s'", request->argument);
		return -EINVAL;
	}
	dev = shca_target_find_one(target, request, out);
	if (dev == NULL)
		return -EINVAL;
	shca_device_lock(dev);
	shca_device_set_link(dev, up);
	/* The peer may keep the link down. */
	state = shca_device_link(dev) ? "up" : "down";
	shca_device_unlock(dev);
	fprintf(out,
		request->json ? "{\"device\": \"mlx5_%u\", \"link\": \"%s\"}\n" : "mlx5_%u %s\n",
		shca_device_conf(dev)->index, state);
	return 0;
}

/* clang-format off */
const struct shca_request_command shca_request_commands[] = {
	{ "devices", NULL, false, "who is running: process, program, devices; and who has them open", shca_devices_run },
	{ "stats", "[pci]", true, "counters of each port and queue, or of what crosses PCI", shca_stats_run },
	{ "dump", NULL, true, "the rules as tables, groups and entries, with their hits", shca_rules_dump },
	{ "freeze", NULL, false, "stop the device threads: doorbells and frames pile up", run_freeze },
	{ "thaw", NULL, false, "let the device threads go on", run_thaw },
	{ "link", "up|down", true, "take the link of a port down, or up again", run_link },
	{ "ntuple", "RULE|delete=N", true, "add or delete a rule of the netdev, as ethtool -N does on hardware", shca_ntuple_run },
	{ "trace", "PCAP|PATTERN", true, "what would become of each packet of a capture, or of a frame, received or --tx, and why", shca_rules_trace, true },
	{ "arfs", "on|off|FLOW", true, "add a flow of the netdev, or let its frames add flows, or end all", shca_arfs_run },
	{ "ethtool", "HEX", true, "the bytes of an ioctl of ethtool about the netdev, and its answer", shca_netdev_run },
	{ "pci", "on|off", true, "count what crosses PCI, from zero, or end that", shca_stats_set_pci },
	{ NULL },
};
/* clang-format on */

static bool
has_port(const struct shca_target *target, int port)
{
	for (unsigned int i = 0; i < target->nb_devices; i++)
		if ((int)shca_device_conf(target->devices[i])->index == port)
			return true;
	return false;
}

int
shca_commands_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	if (request->port >= 0 && !has_port(target, request->port)) {
		fprintf(out, "no port %d; there are", request->port);
		for (unsigned int i = 0; i < target->nb_devices; i++)
			fprintf(out, "%s%u", i == 0 ? " " : ", ",
				shca_device_conf(target->devices[i])->index);
		return -ENODEV;
	}
	return request->command->run(target, request, out);
}
