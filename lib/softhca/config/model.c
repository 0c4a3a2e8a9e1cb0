/* SPDX-License-Identifier: BSD-3-Clause */
/* The models of the tree, read once from the texts that are built in. */
#include "config/model.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_verbs.h>

#include "config/model_parse.h"

#define MODELS_MAX 8

static struct shca_model models[MODELS_MAX];
static unsigned int nb_models;

static void
parse_all(void)
{
	char error[256];

	for (unsigned int i = 0; shca_model_texts[i] != NULL && i < MODELS_MAX; i++) {
		if (shca_model_parse(&models[i], shca_model_texts[i], error, sizeof(error)) != 0) {
			fprintf(stderr, "softhca: built with a model that is none: %s\n", error);
			abort();
		}
		nb_models++;
	}
}

const struct shca_model *
shca_model_at(unsigned int index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, parse_all);
	return index < nb_models ? &models[index] : NULL;
}

const struct shca_model *
shca_model_find(const char *name)
{
	const struct shca_model *model;

	for (unsigned int i = 0; (model = shca_model_at(i)) != NULL; i++)
		if (strcmp(model->name, name) == 0)
			return model;
	return NULL;
}

void
shca_model_print_fw(const struct shca_model *model, char *text, size_t size)
{
	snprintf(text, size, "%u.%u.%04u", (unsigned int)(model->fw_ver >> 32),
		(unsigned int)(model->fw_ver >> 16 & 0xffff),
		(unsigned int)(model->fw_ver & 0xffff));
}

/** Linux mlx5_ib_query_device() sets the first five of every device. */
uint64_t
shca_model_cap_flags(const struct shca_model *model)
{
	uint64_t flags = IB_UVERBS_DEVICE_CHANGE_PHY_PORT | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN |
		IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS | IB_UVERBS_DEVICE_XRC |
		IB_UVERBS_DEVICE_MEM_WINDOW | IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B |
		IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING | IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING;

	if (model->checksum)
		flags |= IB_UVERBS_DEVICE_RAW_IP_CSUM;
	if (model->scatter_fcs)
		flags |= IB_UVERBS_DEVICE_RAW_SCATTER_FCS;
	return flags;
}
