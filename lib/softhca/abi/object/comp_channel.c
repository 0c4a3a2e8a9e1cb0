/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion channels: a descriptor that the application closes when done. */
#include <unistd.h>

#include "abi/object/commands.h"

int
shca_comp_channel_write_create(struct shca_write *write)
{
	struct ib_uverbs_create_comp_channel_resp response;
	int fd, ret;

	ret = shca_eventq_create(write->file, SHCA_EVENTQ_COMPLETION, &fd);
	if (ret != 0)
		return ret;
	response.fd = (uint32_t)fd;
	ret = shca_user_write(write->out, &response, sizeof(response));
	/* The next shca_eventq_create() destroys our end. */
	if (ret != 0)
		close(fd);
	return ret;
}
