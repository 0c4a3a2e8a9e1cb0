/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges, by capget(2); the C library has no wrapper. */
#include "abi/core/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/core/user.h"

/** The user namespace of this process, which stays where it is: only the keeper asks. */
static struct stat ours;
static bool has_ours;

static void
find_ours(void)
{
	has_ours = stat("/proc/self/ns/user", &ours) == 0;
}

/** @return whether the caller's capabilities are of this process's user namespace. */
static bool
is_of_our_namespace(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct stat theirs;
	char path[32];

	if (shca_user_current == NULL)
		return true;
	pthread_once(&once, find_ours);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)shca_user_current->pid);
	return has_ours && stat(path, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
		ours.st_dev == theirs.st_dev;
}

bool
shca_caps_has(unsigned int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
		.pid = shca_user_current != NULL ? shca_user_current->pid : 0,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0 &&
		is_of_our_namespace();
}

bool
shca_caps_has_of_net(unsigned int capability)
{
	const int net = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	const int owner = net >= 0 ? ioctl(net, NS_GET_USERNS) : -1;
	/* The kernel shows no user namespace that is not this thread's or one below. */
	const bool is_above = net >= 0 && owner < 0 && errno == EPERM;

	if (owner >= 0)
		close(owner);
	if (net >= 0)
		close(net);
	return !is_above && shca_caps_has(capability);
}
