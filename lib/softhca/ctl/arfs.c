/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of the netdev, from text. */
#include "ctl/arfs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "ctl/ntuple.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "hw/device/device.h"
#include "steering/arfs.h"
#include "steering/ethtool.h"

static const char *
explain(int error)
{
	switch (error) {
	case -ENODEV:
		return "there is no netdev beside the port (kernel=)";
	case -EINVAL:
		return "a flow is of tcp4, udp4, tcp6 or udp6, has src-ip, dst-ip, src-port, dst-port, all whole, and a queue as action";
	case -EOPNOTSUPP:
		return "steering=a0 has no flows";
	default:
		return strerror(-error);
	}
}

static int
add(struct shca_device *dev, const char *flow, FILE *out)
{
	struct shca_ethtool_attr attr;
	char error[256] = "", *text;
	const struct shca_refusal refusal = { .text = error, .size = sizeof(error) };
	int ret = -ENOMEM;

	/* A flow is a rule without a name. */
	if (asprintf(&text, "%s,loc=0", flow) >= 0) {
		ret = shca_ntuple_parse(text, &attr, &refusal);
		free(text);
	}
	if (ret != 0) {
		fputs(error[0] != '\0' ? error : explain(ret), out);
		return ret;
	}
	shca_device_lock(dev);
	ret = shca_arfs_add(shca_device_steering(dev), &attr);
	shca_device_unlock(dev);
	if (ret != 0)
		fputs(explain(ret), out);
	return ret;
}

int
shca_arfs_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_target_find_one(target, request, out);
	const bool is_on = strcmp(request->argument, "on") == 0;
	const unsigned int index = dev != NULL ? shca_device_conf(dev)->index : 0;
	int ret = 0;

	if (dev == NULL)
		return -EINVAL;
	if (is_on || strcmp(request->argument, "off") == 0) {
		shca_device_lock(dev);
		shca_arfs_switch(shca_device_steering(dev), is_on);
		shca_device_unlock(dev);
	} else {
		ret = add(dev, request->argument, out);
	}
	if (ret == 0)
		fprintf(out, request->json ? "{\"device\": \"mlx5_%u\"}\n" : "mlx5_%u\n", index);
	return ret;
}
