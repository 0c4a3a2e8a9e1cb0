/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What went wrong with queue pairs of a transport, and what they were asked for, by mlx5's names
 * (Linux mlx5_ib counters.c). A completion with flush error is one with error, too.
 */
#ifndef SHCA_HW_STATE_ROCE_COUNT_H
#define SHCA_HW_STATE_ROCE_COUNT_H

#include <stdint.h>

/** In the order of mlx5's: basic, out of sequence, retransmission, extended errors. */
#define SHCA_ROCE_COUNTS(ROW)                                                                      \
	ROW(RX_WRITE_REQUESTS, "rx_write_requests")                                                \
	ROW(RX_READ_REQUESTS, "rx_read_requests")                                                  \
	ROW(RX_ATOMIC_REQUESTS, "rx_atomic_requests")                                              \
	ROW(OUT_OF_SEQUENCE, "out_of_sequence")                                                    \
	ROW(DUPLICATE_REQUEST, "duplicate_request")                                                \
	ROW(RNR_NAK_RETRY_ERR, "rnr_nak_retry_err")                                                \
	ROW(PACKET_SEQ_ERR, "packet_seq_err")                                                      \
	ROW(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err")                                            \
	ROW(LOCAL_ACK_TIMEOUT_ERR, "local_ack_timeout_err")                                        \
	ROW(RESP_LOCAL_LENGTH_ERROR, "resp_local_length_error")                                    \
	ROW(RESP_CQE_ERROR, "resp_cqe_error")                                                      \
	ROW(REQ_CQE_ERROR, "req_cqe_error")                                                        \
	ROW(REQ_REMOTE_INVALID_REQUEST, "req_remote_invalid_request")                              \
	ROW(REQ_REMOTE_ACCESS_ERRORS, "req_remote_access_errors")                                  \
	ROW(RESP_REMOTE_ACCESS_ERRORS, "resp_remote_access_errors")                                \
	ROW(RESP_CQE_FLUSH_ERROR, "resp_cqe_flush_error")                                          \
	ROW(REQ_CQE_FLUSH_ERROR, "req_cqe_flush_error")

#define SHCA_ROCE_COUNT_ENUM(name, text) SHCA_ROCE_COUNT_##name,
enum shca_roce_count {
	SHCA_ROCE_COUNTS(SHCA_ROCE_COUNT_ENUM) SHCA_NB_ROCE_COUNTS
};

/** What a queue pair has counted since it was made; one of raw packets: out_of_buffer alone. */
struct shca_qp_counts {
	uint64_t out_of_buffer; /**< messages and packets that found no receive WQE */
	uint64_t roce[SHCA_NB_ROCE_COUNTS];
};

struct shca_roce_traffic {
	uint64_t packets, octets;
};

/** Frames of queue pairs with a transport, to one or to a group. The card counts them apart from
 * all others (PRM query_vport_counter: transmitted_ib_unicast and so on). */
struct shca_roce_traffics {
	struct shca_roce_traffic sent[2], received[2]; /**< [1]: to groups */
};

#endif /* SHCA_HW_STATE_ROCE_COUNT_H */
