/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ways to try a capability. Each asks the device for it, and returns the errno of the refusal, or 0
 * if the device accepted and did it (failed checks are counted). Each destroys its objects.
 */
#ifndef TEST_VERBS_CAPABILITIES_H
#define TEST_VERBS_CAPABILITIES_H

#include <stdint.h>

/** Make the queue pair and CQ for frames, before any try. */
void try_begin(void);
void try_end(void);

/** @{ Queries. */
int try_clock(uint64_t unused);
int try_clock_info(uint64_t unused);
/** @} */

/** @{ Objects. @p arg: a limit; or a flag or type of them. */
int try_recv_wrs(uint64_t nb);
int try_sges(uint64_t nb);
int try_cqes(uint64_t nb);
int try_table(uint64_t nb_entries);
int try_dm(uint64_t bytes);
int try_qp_type(uint64_t type);
int try_srq_wrs(uint64_t nb);
int try_srq_sges(uint64_t nb);
int try_srq_resize(uint64_t unused);
int try_tag_matching(uint64_t unused);
int try_mw(uint64_t type);
int try_xrcd(uint64_t unused);
int try_multicast(uint64_t unused);
int try_mr_access(uint64_t flags);
int try_cq_count(uint64_t count);
int try_cq_period(uint64_t us);
int try_wq_flag(uint64_t flag);
/** @} */

/** @{ Completions. */
int try_cqe_format(uint64_t format);
int try_cqe_pad(uint64_t unused);
int try_cqe_128_compressed(uint64_t unused);
/** @} */

/** @{ Frames. */
int try_checksums(uint64_t unused);
int try_rule(uint64_t unused);
int try_tso(uint64_t bytes);
int try_hash(uint64_t fields);
int try_hash_function(uint64_t function);
int try_rate(uint64_t kbps);
int try_stride_bytes(uint64_t log);
int try_strides(uint64_t log);
int try_tunnel(uint64_t offload);
int try_multi_packet(uint64_t is_enhanced);
int try_swp(uint64_t unused);
/** @} */

/** @{ Of mlx5dv. */
int try_devx(uint64_t unused);
int try_esp(uint64_t unused);
int try_crypto(uint64_t unused);
int try_dct(uint64_t unused);
int try_pp(uint64_t unused);
int try_var(uint64_t unused);
int try_dm_type(uint64_t type);
int try_matcher(uint64_t table_type);
/** @} */

#endif /* TEST_VERBS_CAPABILITIES_H */
