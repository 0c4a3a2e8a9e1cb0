/* SPDX-License-Identifier: BSD-3-Clause */
#include "nldev/call.h"

#include <errno.h>
#include <stdio.h>

#include "config/options.h"
#include "config/options_ports.h"

int
shca_nldev_find_device(const struct shca_nldev_call *call, unsigned int *device)
{
	if (call->attrs[RDMA_NLDEV_ATTR_DEV_INDEX] == NULL)
		return -EINVAL;
	*device = mnl_attr_get_u32(call->attrs[RDMA_NLDEV_ATTR_DEV_INDEX]);
	return *device < call->nldev->options->nb_ports ? 0 : -EINVAL;
}

unsigned int
shca_nldev_nb_ports(const struct shca_nldev_call *call, unsigned int device)
{
	const unsigned int nb_vports = shca_options_ports_vports(call->nldev->options, device);

	return nb_vports != 0 ? nb_vports : 1;
}

int
shca_nldev_check_port(const struct shca_nldev_call *call, unsigned int device)
{
	const struct nlattr *port = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];

	if (port == NULL || mnl_attr_get_u32(port) - 1 < shca_nldev_nb_ports(call, device))
		return 0;
	return -EINVAL;
}

/** As nldev.c res_get_common_doit(): a port must be named of what ports have, and of that alone. */
int
shca_nldev_find_place(
	const struct shca_nldev_call *call, bool is_of_port, unsigned int *device, uint32_t *port)
{
	const struct nlattr *attr = call->attrs[RDMA_NLDEV_ATTR_PORT_INDEX];
	const int ret = shca_nldev_find_device(call, device);

	*port = attr != NULL ? mnl_attr_get_u32(attr) : 0;
	return ret != 0 || (attr != NULL) != is_of_port ? -EINVAL
							: shca_nldev_check_port(call, *device);
}

void
shca_nldev_put_handle(struct nlmsghdr *message, unsigned int device)
{
	char name[24];

	snprintf(name, sizeof(name), "mlx5_%u", device);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, device);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DEV_NAME, name);
}
