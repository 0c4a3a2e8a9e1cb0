/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The methods of the ioctl interface, each in the file of its object. */
#ifndef SHCA_ABI_OBJECT_METHODS_H
#define SHCA_ABI_OBJECT_METHODS_H

#include "abi/core/ioctl.h"

/** The methods of an object; ended by a method without rows. */
extern const struct shca_method shca_device_methods[], shca_info_methods[], shca_cq_methods[],
	shca_qp_methods[], shca_flow_methods[], shca_rwq_ind_methods[], shca_wq_methods[],
	shca_counters_methods[], shca_async_methods[], shca_mlx5_uar_methods[],
	shca_matcher_methods[], shca_flow_action_methods[], shca_pp_methods[], shca_ah_methods[],
	shca_srq_methods[];

#endif /* SHCA_ABI_OBJECT_METHODS_H */
