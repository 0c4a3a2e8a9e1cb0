/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Capabilities of who calls, for the checks that the kernel makes. */
#ifndef SHCA_ABI_CORE_CAPS_H
#define SHCA_ABI_CORE_CAPS_H

#include <stdbool.h>

/**
 * @param capability CAP_NET_RAW and its like
 * @return whether the calling thread has it in effect, or the main thread of the process that
 * shca_user_current is from: in the user namespace of this process, as the kernel's capable() asks
 * for the machine's and not for that of a namespace below (user_namespaces(7)).
 */
bool shca_caps_has(unsigned int capability);
/**
 * @return the same for what belongs to the calling thread's network namespace, as the kernel's
 * ns_capable(net->user_ns): in the user namespace that owns it, or one above.
 */
bool shca_caps_has_of_net(unsigned int capability);

#endif /* SHCA_ABI_CORE_CAPS_H */
