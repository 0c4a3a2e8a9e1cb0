/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: a verbs context on a device. */
#include "abi/file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "abi/ioctl.h"
#include "abi/mmap.h"
#include "abi/object.h"

int
shca_file_open(struct shca_device *dev, bool cloexec, struct shca_file **out, int *fd)
{
	struct shca_file *file = calloc(1, sizeof(*file));
	int ret;

	if (file == NULL)
		return -ENOMEM;
	ret = shca_mmap_open(shca_device_conf(dev)->index, cloexec);
	if (ret < 0) {
		free(file);
		return ret;
	}
	file->dev = dev;
	file->model = shca_device_conf(dev)->model;
	/* The kernel's handles are s32 to some callers: keep them positive. */
	shca_idtable_init(&file->handles, 0, INT32_MAX);
	shca_idtable_init(&file->uars, 0, SHCA_MMAP_UAR_LAST);
	TAILQ_INIT(&file->objects);
	LIST_INIT(&file->eventqs);
	*fd = ret;
	*out = file;
	return 0;
}

int
shca_file_ioctl(struct shca_file *file, unsigned long request, void *arg)
{
	int ret;

	shca_device_lock(file->dev);
	ret = shca_ioctl_run(file, request, arg);
	shca_device_unlock(file->dev);
	return ret;
}

void
shca_file_close(struct shca_file *file)
{
	if (file == NULL)
		return;
	shca_device_lock(file->dev);
	shca_object_destroy_all(file);
	shca_eventq_destroy_all(file);
	shca_device_unlock(file->dev);
	shca_idtable_fini(&file->uars);
	shca_idtable_fini(&file->handles);
	free(file);
}
