/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the rules of a port may say, beside what its model can do (steering/profile.h). */
#ifndef SHCA_BASE_PROFILE_H
#define SHCA_BASE_PROFILE_H

enum shca_profile {
	SHCA_PROFILE_MODEL,   /**< whatever the model can do; unless told otherwise */
	SHCA_PROFILE_CX4_EXP, /**< of the first drivers of ConnectX-4 */
	SHCA_PROFILE_DMFS,    /**< of a ConnectX-3: device-managed flow steering */
	SHCA_PROFILE_A0,      /**< of a ConnectX-3: static A0 */
};

#endif /* SHCA_BASE_PROFILE_H */
