/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion channels: a descriptor that the application closes when done. */
#include <unistd.h>

#include "abi/object/commands.h"

int
shca_comp_channel_write_create(struct shca_write *write)
{
	struct shca_eventq *channel;
	int ret;

	ret = shca_eventq_create(write->file, SHCA_EVENTQ_COMPLETION, &channel);
	if (ret != 0)
		return ret;
	ret = shca_user_write(write->out, NULL, 0);
	if (ret == 0)
		ret = shca_user_give_fd(channel->user_fd,
			write->out->address +
				offsetof(struct ib_uverbs_create_comp_channel_resp, fd),
			sizeof(__u32));
	/* The next shca_eventq_create() destroys our end. */
	if (ret != 0)
		close(channel->user_fd);
	return ret;
}
