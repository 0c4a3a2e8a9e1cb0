/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A thread without one of its capabilities. Include cmocka before. */
#ifndef TEST_CAPABILITY_H
#define TEST_CAPABILITY_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

/**
 * Take a capability of the first 32 from the calling thread, or give it back.
 * @param on true: give back what is permitted
 * @return whether the thread had it
 */
static inline bool
test_capability(unsigned int capability, bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	const uint32_t bit = CAP_TO_MASK(capability);
	bool had;

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	had = (data[0].effective & bit) != 0;
	if (on)
		data[0].effective |= data[0].permitted & bit;
	else
		data[0].effective &= ~bit;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
	return had;
}

#endif /* TEST_CAPABILITY_H */
