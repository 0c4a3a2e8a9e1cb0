/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters objects: created empty, bound by the first flow that names them, read by index. */
#include "abi/object/counters.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/object/methods.h"

/** The limit of an attribute's 16-bit length (hw/mlx5/counters.h MAX_COUNTERS_NUM). */
#define POINTS_MAX (UINT16_MAX / sizeof(uint64_t))

static_assert(sizeof(struct shca_counter_point) == sizeof(struct mlx5_ib_flow_counters_desc),
	"points are copied as the request has them");

static void
destroy(struct shca_object *object)
{
	free(((struct shca_counters_object *)object)->points);
}

const struct shca_object_class shca_counters_class = {
	.type = UVERBS_OBJECT_COUNTERS,
	.name = "counters",
	.bytes = sizeof(struct shca_counters_object),
	.limit = SHCA_LIMIT_COUNTERS,
	.destroy = destroy,
};

int
shca_counters_bind(struct shca_counters_object *counters, uint64_t address, uint32_t nb_points)
{
	struct shca_counter_point *points;
	uint64_t nb_values = 0;
	int ret;

	/* The first flow must give a description, and later ones must not. */
	if ((counters->points != NULL) == (nb_points != 0))
		return -EINVAL;
	if (counters->points != NULL)
		return 0;
	if (nb_points > POINTS_MAX)
		return -EINVAL;
	points = calloc(nb_points, sizeof(*points));
	if (points == NULL)
		return -ENOMEM;
	ret = shca_user_copy_in(points, address, nb_points * sizeof(*points));
	for (uint32_t i = 0; ret == 0 && i < nb_points; i++) {
		if (points[i].description > 1)
			ret = -EINVAL;
		else if (points[i].index >= nb_values)
			nb_values = (uint64_t)points[i].index + 1;
	}
	if (ret != 0) {
		free(points);
		return ret;
	}
	counters->points = points;
	counters->nb_points = nb_points;
	counters->nb_values = nb_values;
	return 0;
}

void
shca_counters_unbind(struct shca_counters_object *counters)
{
	free(counters->points);
	counters->points = NULL;
	counters->nb_points = 0;
	counters->nb_values = 0;
}

static int
read_values(struct shca_bundle *bundle)
{
	const struct shca_counters_object *counters =
		shca_ioctl_object(bundle, UVERBS_ATTR_READ_COUNTERS_HANDLE);
	const struct shca_user_buffer *out =
		shca_ioctl_buffer(bundle, UVERBS_ATTR_READ_COUNTERS_BUFF);
	uint64_t *values;
	int ret;

	if (counters->points == NULL || out->length / sizeof(*values) < counters->nb_values)
		return -EINVAL;
	values = calloc(counters->nb_values, sizeof(*values));
	if (values == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < counters->nb_points; i++)
		values[counters->points[i].index] += counters->points[i].description == 0
			? counters->count.packets
			: counters->count.bytes;
	ret = shca_user_write(out, values, counters->nb_values * sizeof(*values));
	free(values);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &shca_counters_class),
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &shca_counters_class),
};

static const struct shca_attr_row read_rows[] = {
	SHCA_HANDLE(UVERBS_ATTR_READ_COUNTERS_HANDLE, &shca_counters_class),
	SHCA_OUT_LEAST(UVERBS_ATTR_READ_COUNTERS_BUFF, 0),
	SHCA_FLAGS(UVERBS_ATTR_READ_COUNTERS_FLAGS, IB_UVERBS_READ_COUNTERS_PREFER_CACHED),
};

const struct shca_method shca_counters_methods[] = {
	{ UVERBS_METHOD_COUNTERS_CREATE, SHCA_ROWS(create_rows) },
	{ UVERBS_METHOD_COUNTERS_DESTROY, SHCA_ROWS(destroy_rows) },
	{ UVERBS_METHOD_COUNTERS_READ, SHCA_ROWS(read_rows), .handler = read_values },
	{ 0 },
};
/* clang-format on */
