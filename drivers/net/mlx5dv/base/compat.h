/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Differences between the DPDK releases that the driver is built for, 22.11, 23.11, 24.11 and
 * 25.11: a row each, with the first of these that has it. No other file of the driver asks for a
 * release.
 */
#ifndef MDV_COMPAT_H
#define MDV_COMPAT_H

#include <stddef.h>
#include <stdint.h>

#include <rte_version.h>

/** rte_flow has lists of indirect actions, rules by index, queries that update, and others. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MDV_COMPAT_FLOW_LISTS
#define MDV_COMPAT_FLOW_QUOTAS(attr) ((attr)->nb_quotas)
#else
#define MDV_COMPAT_FLOW_QUOTAS(attr) 0
#endif

/** Asynchronous flow operations have a table of their own, rte_flow_fp_ops; tables are resized. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define MDV_COMPAT_FLOW_FP_OPS
#endif

/** The last action of rte_flow.h. */
#if defined(MDV_COMPAT_FLOW_FP_OPS)
#define MDV_COMPAT_FLOW_ACTION_LAST RTE_FLOW_ACTION_TYPE_JUMP_TO_TABLE_INDEX
#elif defined(MDV_COMPAT_FLOW_LISTS)
#define MDV_COMPAT_FLOW_ACTION_LAST RTE_FLOW_ACTION_TYPE_PROG
#else
#define MDV_COMPAT_FLOW_ACTION_LAST RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL
#endif

/** dev_supported_ptypes_get counts its types instead of ending them. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define MDV_COMPAT_PTYPES_ARGS(dev, nb)     struct rte_eth_dev *dev, size_t *nb
#define MDV_COMPAT_PTYPES_CALL(dev, nb)     (dev), (nb)
#define MDV_COMPAT_SET_NB_PTYPES(nb, value) (*(nb) = (value))
#define MDV_COMPAT_COUNTS_PTYPES            1
#else
#define MDV_COMPAT_PTYPES_ARGS(dev, nb)     struct rte_eth_dev *dev
#define MDV_COMPAT_PTYPES_CALL(dev, nb)     (dev)
#define MDV_COMPAT_SET_NB_PTYPES(nb, value) ((void)(value))
#define MDV_COMPAT_COUNTS_PTYPES            0
#endif

/** An IPv6 address is a structure that holds the array. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define MDV_COMPAT_IPV6(...)                                                                       \
	{                                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#else
#define MDV_COMPAT_IPV6(...)                                                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#endif

/** stats_get fills counters of queues in a structure of their own, or none if that is NULL. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 11, 0, 0)
#define MDV_COMPAT_STATS_ARGS(dev, stats, queues)                                                  \
	struct rte_eth_dev *dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues
#define MDV_COMPAT_STATS_CALL(dev, stats, queues) (dev), (stats), (queues)
#define MDV_COMPAT_QUEUE_STATS(stats, queues)     (queues)
#else
#define eth_queue_stats rte_eth_stats
#define MDV_COMPAT_STATS_ARGS(dev, stats, queues)                                                  \
	struct rte_eth_dev *dev, struct rte_eth_stats *stats
#define MDV_COMPAT_STATS_CALL(dev, stats, queues) (dev), ((void)(queues), (stats))
#define MDV_COMPAT_QUEUE_STATS(stats, queues)     (stats)
#endif

/** rte_eth_recycle_mbufs() moves mbufs from a send queue to a receive queue. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MDV_COMPAT_RECYCLE
#define MDV_COMPAT_RECYCLE_INFO_OP(function) .recycle_rxq_info_get = function,
#define MDV_COMPAT_RECYCLE_OPS(to, reuse, refill)                                                  \
	((to)->recycle_tx_mbufs_reuse = (reuse), (to)->recycle_rx_descriptors_refill = (refill))
#else
#define MDV_COMPAT_RECYCLE_INFO_OP(function)
#define MDV_COMPAT_RECYCLE_OPS(to, reuse, refill) ((void)(to))
#endif

/** rx_queue_count returns a negative errno or the count. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 11, 0, 0)
typedef int mdv_compat_rx_count_t;
#else
typedef uint32_t mdv_compat_rx_count_t;
#endif

/** Telemetry takes unsigned numbers by another name, and signed ones of 64 bits. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
typedef int64_t mdv_compat_tel_int_t;
#else
typedef int mdv_compat_tel_int_t;
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/** A control thread's type, its function's return type, and its creation. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MDV_COMPAT_CONTROL_THREADS
#define MDV_COMPAT_THREAD     rte_thread_t
#define MDV_COMPAT_THREAD_RET uint32_t
#define MDV_COMPAT_THREAD_CREATE(thread, name, function, arg)                                      \
	rte_thread_create_control(thread, name, function, arg)
#else
#define MDV_COMPAT_THREAD     pthread_t
#define MDV_COMPAT_THREAD_RET void *
#define MDV_COMPAT_THREAD_CREATE(thread, name, function, arg)                                      \
	rte_ctrl_thread_create(thread, name, NULL, function, arg)
#endif

/**
 * DPDK's own build makes its version maps of these lines from 25.07 on, by reading them as text;
 * here version.map has the names.
 */
#define RTE_EXPORT_EXPERIMENTAL_SYMBOL(function, release)

#endif /* MDV_COMPAT_H */
