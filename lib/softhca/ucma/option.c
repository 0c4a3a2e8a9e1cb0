/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_set_option(): core/ucma.c ucma_set_option_level(), one row an option. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_sa.h>

#include "abi/core/user.h"
#include "ucma/connect.h"
#include "ucma/ucm_command.h"

/** ucma_set_option(): KMALLOC_MAX_SIZE is more than anybody needs. */
#define VALUE_BYTES_MAX 4096

static int
set_tos(struct shca_id *id, const void *value, size_t length)
{
	(void)length;
	id->tos = *(const uint8_t *)value;
	return 0;
}

/** rdma_set_reuseaddr(): it may be taken back before there is an address, and not be given to who
 * listens. */
static int
set_reuse(struct shca_id *id, const void *value, size_t length)
{
	int wanted;

	(void)length;
	memcpy(&wanted, value, sizeof(wanted));
	if (wanted == 0 ? id->state != SHCA_ID_IDLE : id->state == SHCA_ID_LISTEN)
		return -EINVAL;
	id->reuses_address = wanted != 0;
	return 0;
}

static int
set_afonly(struct shca_id *id, const void *value, size_t length)
{
	int wanted;

	(void)length;
	memcpy(&wanted, value, sizeof(wanted));
	if (id->state != SHCA_ID_IDLE && id->state != SHCA_ID_BOUND)
		return -EINVAL;
	id->is_afonly = wanted != 0;
	id->has_afonly = true;
	return 0;
}

/** rdma_set_ack_timeout(): only these have one. */
static int
set_ack_timeout(struct shca_id *id, const void *value, size_t length)
{
	(void)length;
	if (id->qp_type != IB_UVERBS_QPT_RC && id->qp_type != IB_UVERBS_QPT_XRC_INI)
		return -EINVAL;
	/* 5 bits; Linux takes others and has the QP refuse them. */
	id->ack_timeout = *(const uint8_t *)value;
	id->has_ack_timeout = true;
	return 0;
}

/** ucma_set_ib_path(): the first that is a path both ways; here all have the same. */
static int
set_path(struct shca_id *id, const void *value, size_t length)
{
	const uint32_t wanted = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	struct ib_path_rec_data path;
	size_t at = 0;

	if (length % sizeof(path) != 0)
		return -EINVAL;
	for (; at < length; at += sizeof(path)) {
		memcpy(&path, (const uint8_t *)value + at, sizeof(path));
		if (path.flags == wanted)
			break;
	}
	if (at == length || id->state != SHCA_ID_ADDR_RESOLVED)
		return -EINVAL;
	shca_connect_resolve_path(id);
	id->state = SHCA_ID_ROUTE_RESOLVED;
	return shca_ucm_event_tell(id, SHCA_UCM_ROUTE_RESOLVED, 0);
}

static const struct {
	uint32_t level, name;
	size_t bytes; /* 0: the function checks */
	int (*set)(struct shca_id *id, const void *value, size_t length);
} option_rows[] = {
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, sizeof(uint8_t), set_tos },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int), set_reuse },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int), set_afonly },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(uint8_t), set_ack_timeout },
	{ RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0, set_path },
};

int
shca_option_set(struct shca_ucma_call *call)
{
	const struct rdma_ucm_set_option *command = call->in;
	uint8_t value[VALUE_BYTES_MAX];
	struct shca_id *id;
	int ret;

	if (command->optlen > sizeof(value))
		return -EINVAL;
	ret = shca_id_find(call->file, command->id, &id);
	if (ret == 0)
		ret = shca_user_copy_in(value, command->optval, command->optlen);
	if (ret != 0)
		return ret;
	for (size_t i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]); i++) {
		if (option_rows[i].level != command->level ||
			option_rows[i].name != command->optname)
			continue;
		if (option_rows[i].bytes != 0 && option_rows[i].bytes != command->optlen)
			return -EINVAL;
		return option_rows[i].set(id, value, command->optlen);
	}
	return -ENOSYS;
}
