/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Headers from outside that most files of the driver and of its unit tests include: parsed once for
 * all of them, which takes half of the compiler's time. Every file includes what it uses all the
 * same; test/system/test_build.py builds without this one.
 */
#ifndef MDV_PCH_H
#define MDV_PCH_H

#include <ethdev_driver.h>
#include <infiniband/mlx5dv.h>
#include <rte_flow_driver.h>

#endif /* MDV_PCH_H */
