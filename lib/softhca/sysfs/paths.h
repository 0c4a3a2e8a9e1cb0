/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Places below the runner's directory. Internal to sysfs/. */
#ifndef SHCA_SYSFS_PATHS_H
#define SHCA_SYSFS_PATHS_H

#include "sysfs/tree.h"

#define SHCA_TREE_PATH_MAX 256

/** Directory of device %u, port %u. */
#define SHCA_TREE_PORT_FORMAT SHCA_TREE_SYS "/class/infiniband/mlx5_%u/ports/%u"
/** Beside the tree: files named DEVICE.PORT, each with the name of the port's netdev. */
#define SHCA_TREE_NETDEVS "netdevs"

/** Counters of RoCE in the order of mlx5's; those from roce_adp_retrans on stay 0. */
#define SHCA_TREE_ROCE_COUNTERS(ROW)                                                               \
	ROW("rx_write_requests")                                                                   \
	ROW("rx_read_requests")                                                                    \
	ROW("rx_atomic_requests")                                                                  \
	ROW("out_of_sequence")                                                                     \
	ROW("duplicate_request")                                                                   \
	ROW("rnr_nak_retry_err")                                                                   \
	ROW("packet_seq_err")                                                                      \
	ROW("implied_nak_seq_err")                                                                 \
	ROW("local_ack_timeout_err")                                                               \
	ROW("resp_local_length_error")                                                             \
	ROW("resp_cqe_error")                                                                      \
	ROW("req_cqe_error")                                                                       \
	ROW("req_remote_invalid_request")                                                          \
	ROW("req_remote_access_errors")                                                            \
	ROW("resp_remote_access_errors")                                                           \
	ROW("resp_cqe_flush_error")                                                                \
	ROW("req_cqe_flush_error")                                                                 \
	ROW("roce_adp_retrans")                                                                    \
	ROW("roce_adp_retrans_to")                                                                 \
	ROW("roce_slow_restart")                                                                   \
	ROW("roce_slow_restart_cnps")                                                              \
	ROW("roce_slow_restart_trans")                                                             \
	ROW("rp_cnp_ignored")                                                                      \
	ROW("rp_cnp_handled")                                                                      \
	ROW("np_ecn_marked_roce_packets")                                                          \
	ROW("np_cnp_sent")                                                                         \
	ROW("rx_icrc_encapsulated")

/** Of the performance management agent (Linux core/sysfs.c pma_attrs_ext): traffic of RoCE, and
 * what InfiniBand's links count, which stays 0 on Ethernet. */
#define SHCA_TREE_PMA_COUNTERS(ROW)                                                                \
	ROW("port_xmit_data")                                                                      \
	ROW("port_rcv_data")                                                                       \
	ROW("port_xmit_packets")                                                                   \
	ROW("port_rcv_packets")                                                                    \
	ROW("unicast_xmit_packets")                                                                \
	ROW("unicast_rcv_packets")                                                                 \
	ROW("multicast_xmit_packets")                                                              \
	ROW("multicast_rcv_packets")                                                               \
	ROW("port_xmit_wait")                                                                      \
	ROW("symbol_error")                                                                        \
	ROW("link_error_recovery")                                                                 \
	ROW("link_downed")                                                                         \
	ROW("port_rcv_errors")                                                                     \
	ROW("port_rcv_remote_physical_errors")                                                     \
	ROW("port_rcv_switch_relay_errors")                                                        \
	ROW("port_xmit_discards")                                                                  \
	ROW("port_xmit_constraint_errors")                                                         \
	ROW("port_rcv_constraint_errors")                                                          \
	ROW("local_link_integrity_errors")                                                         \
	ROW("excessive_buffer_overrun_errors")                                                     \
	ROW("VL15_dropped")

#endif /* SHCA_SYSFS_PATHS_H */
