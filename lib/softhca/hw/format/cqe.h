/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Completion queue entries: facts -> bytes. Pure. The ring sets owner bits (hw/state/cq.h); here
 * op_own has owner 0.
 */
#ifndef SHCA_HW_FORMAT_CQE_H
#define SHCA_HW_FORMAT_CQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hw/format/hw.h"
#include "hw/format/rx_csum.h"

struct shca_packet;

/** Facts of a receive completion beside the frame itself. */
struct shca_cqe_rx {
	uint32_t byte_count; /**< as scattered */
	uint32_t rss_hash;
	uint8_t rss_hash_type; /**< SHCA_RSS_TYPE_* */
	bool vlan_stripped;
	uint16_t vlan_tci;   /**< host order; when stripped */
	uint32_t flow_tag;   /**< 24 bits */
	uint32_t user_index; /**< 24 bits */
	uint16_t wqe_id;     /**< striding: the WQE, and wqe_counter the stride */
	uint16_t wqe_counter;
};

/** An error completion. */
struct shca_cqe_fault {
	uint8_t cqe_opcode; /**< MLX5_CQE_REQ_ERR or MLX5_CQE_RESP_ERR */
	uint8_t syndrome;   /**< MLX5_CQE_SYNDROME_* */
	uint8_t wqe_opcode; /**< of a send WQE, else 0 */
	uint32_t number;    /**< SQN or RQN */
	uint32_t user_index;
	uint32_t byte_count;
	uint16_t wqe_counter;
	uint16_t wqe_id, stride; /**< striding */
	uint8_t vendor;          /**< the maker's own syndrome */
};

/**
 * Fill the fields that all copies of a frame share: header types, checksum verdicts, the checksum,
 * the time.
 *
 * @param see_tunnels report and check the inner headers of a tunnel
 */
void shca_cqe_describe(struct shca_cqe *cqe, const struct shca_packet *packet, bool see_tunnels,
	uint64_t timestamp);
/** The same for a frame without a tunnel whose checksums have been checked. */
void shca_cqe_describe_plain(struct shca_cqe *cqe, const struct shca_headers *outer,
	struct shca_rx_csum rx_csum, uint64_t timestamp);
/** Complete a described CQE for one receive queue. */
void shca_cqe_set_rx(
	struct shca_cqe *cqe, const struct shca_cqe *described, const struct shca_cqe_rx *rx);
/** A successful send. */
void shca_cqe_set_tx(struct shca_cqe *cqe, uint8_t wqe_opcode, uint32_t sqn, uint32_t user_index,
	uint16_t wqe_counter, uint64_t timestamp);
void shca_cqe_set_fault(struct shca_cqe *cqe, const struct shca_cqe_fault *fault);

/** Print @p cqe in one line, shortened to @p size. */
void shca_cqe_print(const struct shca_cqe *cqe, char *text, size_t size);

#endif /* SHCA_HW_FORMAT_CQE_H */
