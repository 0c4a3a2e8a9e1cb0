/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: libmlx5 builds the address itself and asks for the MAC alone. */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "base/log.h"

/** What Linux 6.1 knows of the provider's answer. */
#define ANSWER_BYTES                                                                               \
	(offsetof(struct mlx5_ib_create_ah_resp, dmac) +                                           \
		sizeof(((struct mlx5_ib_create_ah_resp *)0)->dmac))

static void
destroy(struct shca_object *object)
{
	struct shca_ah_object *ah = (struct shca_ah_object *)object;

	shca_ah_remove(&ah->ah);
	ah->pd->object.nb_users--;
}

const struct shca_object_class shca_ah_class = {
	.type = UVERBS_OBJECT_AH,
	.name = "AH",
	.bytes = sizeof(struct shca_ah_object),
	.destroy = destroy,
};

/** rdma_is_port_valid() */
static bool
is_port(const struct shca_file *file, uint8_t port)
{
	return port != 0 && port <= shca_conf_nb_ports(shca_device_conf(file->dev));
}

/** As rdma_check_ah_attr, ib_resolve_eth_dmac. */
static int
resolve(const struct shca_file *file, const struct ib_uverbs_ah_attr *attr, uint8_t mac[6])
{
	uint8_t sgid[SHCA_GID_BYTES];
	bool is_v2;

	if (!attr->is_global) {
		SHCA_WARN("an address handle without a GID: RoCE has no LIDs");
		return -EINVAL;
	}
	if (attr->grh.sgid_index >= shca_gid_nb(file->dev))
		return -EINVAL;
	if (!shca_gid_get(file->dev, attr->grh.sgid_index, sgid, &is_v2))
		return -ENODATA; /* rdma_get_gid_attr() */
	return shca_gid_resolve(file->dev, attr->grh.dgid, mac);
}

static void
commit(struct shca_file *file, struct shca_ah_object *ah, struct shca_pd_object *pd,
	const struct ib_uverbs_global_route *grh)
{
	ah->pd = pd;
	pd->object.nb_users++;
	ah->ah.pdn = pd->pdn;
	ah->ah.sgid_index = grh->sgid_index;
	memcpy(ah->ah.dgid, grh->dgid, sizeof(ah->ah.dgid));
	shca_ah_add(file->dev, &ah->ah);
	shca_object_commit(file, &ah->object);
}

int
shca_ah_write_create(struct shca_write *write)
{
	struct mlx5_ib_create_ah_resp driver_response = { 0 };
	struct ib_uverbs_create_ah_resp response;
	struct ib_uverbs_create_ah request;
	struct shca_object *object, *pd;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0 && !is_port(write->file, request.attr.port_num))
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_pd_class, request.pd_handle, &pd);
	if (ret == 0)
		ret = resolve(write->file, &request.attr, driver_response.dmac);
	/* mlx5_ib_create_ah(): libmlx5 cannot do without the MAC. */
	if (ret == 0 && write->driver_out->length < ANSWER_BYTES)
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_ah_class, &object);
	if (ret != 0)
		return ret;
	response = (struct ib_uverbs_create_ah_resp){ .ah_handle = object->handle };
	driver_response.response_length = ANSWER_BYTES;
	ret = shca_user_write(write->driver_out, &driver_response, ANSWER_BYTES);
	if (ret == 0)
		ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		shca_object_abort(write->file, object);
		return ret;
	}
	commit(write->file, (struct shca_ah_object *)object, (struct shca_pd_object *)pd,
		&request.attr.grh);
	return 0;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_AH_HANDLE, &shca_ah_class),
};

const struct shca_method shca_ah_methods[] = {
	{ UVERBS_METHOD_AH_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
