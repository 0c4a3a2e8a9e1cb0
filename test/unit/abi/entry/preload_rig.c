/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/options.h"
#include "sysfs/tree.h"

char preload_rig_dir[] = "/tmp/softhca-test-XXXXXX";

void
preload_rig_write_options(const char *const ports[], unsigned int nb)
{
	struct shca_options options;
	char path[64], error[256];

	shca_options_init(&options);
	for (unsigned int i = 0; i < nb; i++)
		if (shca_options_add_port(&options, ports[i], error, sizeof(error)) != 0)
			fail_msg("%s: %s", ports[i], error);
	snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, preload_rig_dir);
	assert_int_equal(shca_options_save(&options, path), 0);
}

int
preload_rig_set_up(void **state)
{
	static const char *const ports[] = { "wire=null", "wire=null" };

	(void)state;
	assert_non_null(mkdtemp(preload_rig_dir));
	preload_rig_write_options(ports, 2);
	return setenv(SHCA_ENV_DIR, preload_rig_dir, 1);
}

int
preload_rig_tear_down(void **state)
{
	(void)state;
	/* The control sockets, too: of this process, which has the device open, and its children.
	 */
	return shca_tree_remove(preload_rig_dir);
}

int
preload_rig_get_context(int fd)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 request = {
		.total_num_bfregs = 16,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp response;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	frame_in(&frame, UVERBS_ATTR_UHW_IN, &request, sizeof(request));
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
	return ioctl(fd, RDMA_VERBS_IOCTL, &frame) == 0 ? 0 : errno;
}

int
preload_rig_run_child(int (*child)(int fd), int fd)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(child(fd));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void *
preload_rig_nowhere(unsigned int which)
{
	void *volatile pointers[PRELOAD_RIG_NB_NOWHERE] = { NULL, (void *)(uintptr_t)1,
		(void *)(UINTPTR_MAX - 4095) };

	return pointers[which];
}
