/* SPDX-License-Identifier: BSD-3-Clause */
#include "abi/core/user.h"
#include "ucma/ucm_command.h"

int
shca_ucm_answer(
	const struct shca_ucma_call *call, uint64_t response, const void *answer, size_t length)
{
	return shca_user_copy_out(
		response, answer, length < call->out_bytes ? length : call->out_bytes);
}
