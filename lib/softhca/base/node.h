/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ib_uverbs' device numbers (core/uverbs_main.c IB_UVERBS_MAJOR, IB_UVERBS_BASE_MINOR). */
#ifndef SHCA_BASE_NODE_H
#define SHCA_BASE_NODE_H

#define SHCA_NODE_MAJOR 231
#define SHCA_NODE_MINOR 192 /**< of uverbs0 */

#endif /* SHCA_BASE_NODE_H */
