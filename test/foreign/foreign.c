/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded, it makes every device one that is not libmlx5's: verbs is as before, while libmlx5
 * takes an mlx5 device for such by the operations that its provider registered it with
 * (providers/mlx5/mlx5.c is_mlx5_dev()), and these are copies here. Its mlx5dv functions then
 * refuse the device. None of them should be asked: those that the driver calls end the program.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

bool mlx5dv_is_supported(struct ibv_device *device);

/** As libibverbs begins its own (libibverbs/driver.h); the operations are of nine words. */
struct verbs_device {
	struct ibv_device device;
	const struct operations {
		const void *words[9];
	} * ops;
};

static void
end(const char *what, const char *why)
{
	fprintf(stderr, "foreign: %s: %s\n", what, why);
	abort();
}

static void
estrange(struct ibv_device *device)
{
	struct verbs_device *verbs = (struct verbs_device *)device;
	struct operations *copy;

	if (!mlx5dv_is_supported(device))
		return;
	/* For as long as libibverbs has the device, which is to the end. */
	copy = malloc(sizeof(*copy));
	if (copy == NULL)
		end(device->name, "no memory");
	*copy = *verbs->ops;
	verbs->ops = copy;
	if (mlx5dv_is_supported(device))
		end(device->name, "is an mlx5 device still");
}

struct ibv_device **
ibv_get_device_list(int *nb_devices)
{
	struct ibv_device **(*real)(int *) = dlsym(RTLD_NEXT, "ibv_get_device_list");
	struct ibv_device **list = real(nb_devices);

	for (int i = 0; list != NULL && list[i] != NULL; i++)
		estrange(list[i]);
	return list;
}

/** Nobody who calls these here comes back, so their types do not matter. */
#define NOT_ASKED(name)                                                                            \
	void name(void);                                                                           \
	void name(void)                                                                            \
	{                                                                                          \
		end(#name, "called, and the device is no mlx5 device");                            \
	}

NOT_ASKED(mlx5dv_create_cq)
NOT_ASKED(mlx5dv_create_flow_action_modify_header)
NOT_ASKED(mlx5dv_create_flow_action_packet_reformat)
NOT_ASKED(mlx5dv_create_qp)
NOT_ASKED(mlx5dv_create_wq)
NOT_ASKED(mlx5dv_get_clock_info)
NOT_ASKED(mlx5dv_init_obj)
NOT_ASKED(mlx5dv_query_device)
NOT_ASKED(mlx5dv_set_context_attr)
