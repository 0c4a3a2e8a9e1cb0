/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the application's buffers and ours that survive bad addresses. */
#include "abi/core/user.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"

struct copy {
	void *to;
	const void *from;
	size_t length;
};

static void
run_copy(void *arg)
{
	const struct copy *copy = arg;

	memcpy(copy->to, copy->from, copy->length);
}

/** For sandboxes that forbid the system calls below: catch the fault, unless the application has a
 * handler of its own. */
static int
guarded_copy(void *to, const void *from, size_t length)
{
	struct copy copy = { .to = to, .from = from, .length = length };

	return shca_mem_guard_run(run_copy, &copy) ? 0 : -EFAULT;
}

/**
 * Let the kernel copy, which reports bad addresses: independent of signal handlers, and safe when
 * another thread unmaps the memory meanwhile.
 */
int
shca_user_copy_in(void *to, uint64_t from, size_t length)
{
	const struct iovec ours = { .iov_base = to, .iov_len = length };
	const struct iovec theirs = { .iov_base = (void *)(uintptr_t)from, .iov_len = length };
	ssize_t ret;

	if (length == 0)
		return 0;
	ret = process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0);
	if (ret >= 0 || errno == EFAULT)
		return ret == (ssize_t)length ? 0 : -EFAULT;
	return guarded_copy(to, theirs.iov_base, length);
}

int
shca_user_copy_out(uint64_t to, const void *from, size_t length)
{
	struct iovec ours = { .iov_len = length };
	const struct iovec theirs = { .iov_base = (void *)(uintptr_t)to, .iov_len = length };
	ssize_t ret;

	if (length == 0)
		return 0;
	memcpy(&ours.iov_base, &from, sizeof(from)); /* iovec has no const form */
	ret = process_vm_writev(getpid(), &ours, 1, &theirs, 1, 0);
	if (ret >= 0 || errno == EFAULT)
		return ret == (ssize_t)length ? 0 : -EFAULT;
	return guarded_copy(theirs.iov_base, from, length);
}

int
shca_user_read(const struct shca_user_buffer *buffer, size_t offset, void *to, size_t length)
{
	size_t nb_held = offset < buffer->length ? buffer->length - offset : 0;

	if (nb_held > length)
		nb_held = length;
	memset((uint8_t *)to + nb_held, 0, length - nb_held);
	if (nb_held == 0)
		return 0;
	if (buffer->is_inline) {
		memcpy(to, buffer->inline_bytes + offset, nb_held);
		return 0;
	}
	return shca_user_copy_in(to, buffer->address + offset, nb_held);
}

int
shca_user_is_clear(const struct shca_user_buffer *buffer, size_t offset)
{
	uint8_t bytes[256];

	for (; offset < buffer->length; offset += sizeof(bytes)) {
		int ret = shca_user_read(buffer, offset, bytes, sizeof(bytes));

		if (ret != 0)
			return ret;
		for (size_t i = 0; i < sizeof(bytes); i++)
			if (bytes[i] != 0)
				return -EOPNOTSUPP;
	}
	return 0;
}

int
shca_user_write(const struct shca_user_buffer *buffer, const void *from, size_t length)
{
	static const uint8_t zeros[256];
	size_t offset = length < buffer->length ? length : buffer->length;
	int ret = shca_user_copy_out(buffer->address, from, offset);

	while (ret == 0 && offset < buffer->length) {
		size_t step = buffer->length - offset;

		if (step > sizeof(zeros))
			step = sizeof(zeros);
		ret = shca_user_copy_out(buffer->address + offset, zeros, step);
		offset += step;
	}
	return ret;
}
