/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains. */
#include <pthread.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/memory/commands.h"
#include "abi/memory/methods.h"
#include "base/idtable.h"

/** 24 bits (PRM, ALLOC_PD); 0 is no PD. */
#define PDN_LAST 0xffffff

/**
 * Numbers are unique in a device, not only in a file: a queue must not use the memory region of
 * another file. One table serves all devices.
 */
static struct {
	pthread_mutex_t lock;
	struct shca_idtable pds;
	uint32_t nb; /* without any there is no table */
} numbers = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.pds = { .first = 1, .last = PDN_LAST, .lowest_free = 1 },
};

static int
number_take(struct shca_pd_object *pd)
{
	int ret;

	pthread_mutex_lock(&numbers.lock);
	ret = shca_idtable_add(&numbers.pds, pd, &pd->pdn);
	numbers.nb += ret == 0 ? 1 : 0;
	pthread_mutex_unlock(&numbers.lock);
	return ret;
}

static void
number_free(const struct shca_pd_object *pd)
{
	pthread_mutex_lock(&numbers.lock);
	shca_idtable_del(&numbers.pds, pd->pdn);
	if (--numbers.nb == 0)
		shca_idtable_fini(&numbers.pds);
	pthread_mutex_unlock(&numbers.lock);
}

static void
destroy(struct shca_object *object)
{
	number_free((const struct shca_pd_object *)object);
}

const struct shca_object_class shca_pd_class = {
	.type = UVERBS_OBJECT_PD,
	.name = "PD",
	.bytes = sizeof(struct shca_pd_object),
	.limit = SHCA_LIMIT_PD,
	.destroy = destroy,
};

int
shca_pd_write_alloc(struct shca_write *write)
{
	struct mlx5_ib_alloc_pd_resp driver_response;
	struct ib_uverbs_alloc_pd_resp response;
	struct shca_pd_object *pd;
	struct shca_object *object;
	int ret;

	ret = shca_object_reserve(write->file, &shca_pd_class, &object);
	if (ret != 0)
		return ret;
	pd = (struct shca_pd_object *)object;
	ret = number_take(pd);
	if (ret != 0) {
		shca_object_abort(write->file, object);
		return ret;
	}
	driver_response.pdn = pd->pdn;
	response.pd_handle = object->handle;
	ret = shca_user_write(write->driver_out, &driver_response, sizeof(driver_response));
	if (ret == 0)
		ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		number_free(pd);
		shca_object_abort(write->file, object);
		return ret;
	}
	shca_object_commit(write->file, object);
	return 0;
}

static int
query(struct shca_bundle *bundle)
{
	const struct shca_pd_object *pd = shca_ioctl_object(bundle, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return shca_ioctl_out(bundle, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pd->pdn, sizeof(pd->pdn));
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_PD_HANDLE, &shca_pd_class),
};

static const struct shca_attr_row query_rows[] = {
	SHCA_HANDLE(MLX5_IB_ATTR_QUERY_PD_HANDLE, &shca_pd_class),
	SHCA_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4),
};

const struct shca_method shca_pd_methods[] = {
	{ UVERBS_METHOD_PD_DESTROY, SHCA_ROWS(destroy_rows) },
	{ MLX5_IB_METHOD_PD_QUERY, SHCA_ROWS(query_rows), .handler = query },
	{ 0 },
};
/* clang-format on */
