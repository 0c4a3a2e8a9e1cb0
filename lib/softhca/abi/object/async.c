/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous event descriptors. */
#include "abi/core/ioctl.h"
#include "abi/object/methods.h"

/** The first one gets the events of objects without a descriptor of their own. */
static int
alloc(struct shca_bundle *bundle)
{
	const struct shca_attr *attr =
		shca_ioctl_attr(bundle, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);

	if (bundle->file->async == NULL)
		bundle->file->async = attr->eventq;
	return 0;
}

/* clang-format off */
static const struct shca_attr_row alloc_rows[] = {
	SHCA_NEW_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, SHCA_EVENTQ_ASYNC),
};

const struct shca_method shca_async_methods[] = {
	{ UVERBS_METHOD_ASYNC_EVENT_ALLOC, SHCA_ROWS(alloc_rows), .handler = alloc },
	{ 0 },
};
/* clang-format on */
