/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of a process, and the one that a request means. */
#include "ctl/target.h"

#include "ctl/request.h"
#include "hw/device/device.h"

struct shca_device *
shca_target_find_one(
	const struct shca_target *target, const struct shca_request *request, FILE *out)
{
	for (unsigned int i = 0; i < target->nb_devices; i++)
		if (target->nb_devices == 1 ||
			(int)shca_device_conf(target->devices[i])->index == request->port)
			return target->devices[i];
	fprintf(out, "%s of which port? Say --port 0 to --port %u", request->command->name,
		target->nb_devices - 1);
	return NULL;
}
