/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory of a file in /dev/shm that has no room for it (test/system/test_card_input.py).
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (1u << 20)

int
main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context =
		list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context != NULL ? ibv_alloc_pd(context) : NULL;
	const int fd = shm_open("/verbs-full", O_RDWR | O_CREAT | O_EXCL, 0600);
	struct ibv_mr *mr;
	void *memory;

	if (pd == NULL || fd < 0 || shm_unlink("/verbs-full") != 0 || ftruncate(fd, BYTES) != 0)
		return 1;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return 1;
	/* What there is room for, may be registered. */
	mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	if (mr == NULL || ibv_dereg_mr(mr) != 0)
		return 1;
	mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
	printf("%s: %s\n", mr == NULL ? "refused" : "registered", strerror(errno));
	return 0;
}
