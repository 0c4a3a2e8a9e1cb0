/* SPDX-License-Identifier: BSD-3-Clause */
/* XRC domains: those of a file are shared by all that open it (Linux core/uverbs_cmd.c). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/memory/commands.h"
#include "abi/memory/methods.h"

/** A domain of a device, by the inode of its file. */
struct shca_xrc_domain {
	LIST_ENTRY(shca_xrc_domain) link;
	const struct shca_device *dev;
	struct shca_user_inode inode;
	bool has_inode;
	uint32_t number;
	unsigned int nb_opens;
};

/** Of all devices, for which one lock is enough. */
static LIST_HEAD(, shca_xrc_domain) domains = LIST_HEAD_INITIALIZER(domains);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last_number;

static struct shca_xrc_domain *
find(const struct shca_device *dev, const struct shca_user_inode *inode)
{
	struct shca_xrc_domain *domain;

	LIST_FOREACH (domain, &domains, link)
		if (domain->has_inode && domain->dev == dev &&
			domain->inode.device == inode->device &&
			domain->inode.number == inode->number)
			return domain;
	return NULL;
}

static int
open_domain(const struct shca_device *dev, const struct shca_user_inode *inode, uint32_t flags,
	struct shca_xrc_domain **out)
{
	struct shca_xrc_domain *domain = inode != NULL ? find(dev, inode) : NULL;

	if (inode != NULL && domain == NULL && (flags & O_CREAT) == 0)
		return -EAGAIN;
	if (domain != NULL && (flags & O_EXCL) != 0)
		return -EINVAL;
	if (domain == NULL) {
		domain = calloc(1, sizeof(*domain));
		if (domain == NULL)
			return -ENOMEM;
		domain->dev = dev;
		domain->number = ++last_number;
		if (inode != NULL) {
			domain->inode = *inode;
			domain->has_inode = true;
		}
		LIST_INSERT_HEAD(&domains, domain, link);
	}
	domain->nb_opens++;
	*out = domain;
	return 0;
}

static void
close_domain(struct shca_xrc_domain *domain)
{
	pthread_mutex_lock(&lock);
	if (--domain->nb_opens == 0) {
		LIST_REMOVE(domain, link);
		free(domain);
	}
	pthread_mutex_unlock(&lock);
}

static void
destroy(struct shca_object *object)
{
	close_domain(((struct shca_xrcd_object *)object)->domain);
}

const struct shca_object_class shca_xrcd_class = {
	.type = UVERBS_OBJECT_XRCD,
	.name = "XRCD",
	.bytes = sizeof(struct shca_xrcd_object),
	.destroy = destroy,
};

int
shca_xrcd_write_open(struct shca_write *write)
{
	struct ib_uverbs_open_xrcd_resp response;
	struct ib_uverbs_open_xrcd request;
	struct shca_user_inode inode;
	struct shca_xrcd_object *xrcd;
	struct shca_object *object;
	bool has_inode;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret != 0)
		return ret;
	has_inode = request.fd != UINT32_MAX;
	if (has_inode)
		ret = shca_user_find_inode((int32_t)request.fd, &inode);
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_xrcd_class, &object);
	if (ret != 0)
		return ret;
	xrcd = (struct shca_xrcd_object *)object;
	pthread_mutex_lock(&lock);
	ret = open_domain(
		write->file->dev, has_inode ? &inode : NULL, request.oflags, &xrcd->domain);
	pthread_mutex_unlock(&lock);
	if (ret == 0) {
		xrcd->xrcdn = xrcd->domain->number;
		response = (struct ib_uverbs_open_xrcd_resp){ .xrcd_handle = object->handle };
		ret = shca_user_write(write->out, &response, sizeof(response));
		if (ret != 0)
			close_domain(xrcd->domain);
	}
	if (ret != 0) {
		shca_object_abort(write->file, object);
		return ret;
	}
	shca_object_commit(write->file, object);
	return 0;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_XRCD_HANDLE, &shca_xrcd_class),
};

const struct shca_method shca_xrcd_methods[] = {
	{ UVERBS_METHOD_XRCD_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
