/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A send WQE of a queue pair with a transport, as libmlx5 writes it: bytes -> struct. Pure.
 */
#ifndef SHCA_HW_ROCE_ROCE_WQE_H
#define SHCA_HW_ROCE_ROCE_WQE_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/format/hw.h"
#include "hw/format/wqe.h"
#include "hw/roce/gid.h"
#include "transport/engine/host.h"

/** Bytes of a message, at most: the port's max_msg_sz (Linux mlx5_core log_max_msg, which
 * hw/mlx5/qp.c gives to each queue pair). */
#define SHCA_ROCE_MESSAGE_MAX (1u << 30)

/** The address of a datagram (mlx5dv.h struct mlx5_wqe_av). */
struct shca_roce_av {
	struct shca_gid_route route;
	uint8_t dmac[6];
	uint32_t qpn, qkey;
};

/** What stands between the control segment and an opcode's own segments. */
enum shca_roce_wqe_form {
	SHCA_ROCE_WQE_CONNECTED, /**< nothing */
	SHCA_ROCE_WQE_DATAGRAM,  /**< an address vector */
	SHCA_ROCE_WQE_XRC, /**< the number of an SRQ (libmlx5 wqe.h struct mlx5_wqe_xrc_seg) */
};

/** A bind or invalidation of a memory window, as libmlx5's set_bind_wr() writes it. */
struct shca_roce_umr {
	uint32_t key; /**< the window's; the immediate of the control segment */
	bool has_qpn; /**< of a window of type 2 */
	bool is_free; /**< it is not bound afterwards */
	uint32_t qpn;
	uint8_t variant, access_flags; /**< MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_* */
	uint64_t start, length;
	uint32_t lkey; /**< of the region */
	uint64_t address;
};

struct shca_roce_wqe {
	struct shca_wr wr;
	bool has_umr;
	struct shca_roce_umr umr;
	struct shca_roce_av av; /**< of a datagram */
	uint8_t nb_segments;
	struct shca_wqe_segment segment[SHCA_WQE_MAX_SEGMENTS];
};

/**
 * @param bytes the WQE's WQEBBs, which @p wqe borrows; at least one
 * @return 0 or the syndrome of its completion; the control segment's part is filled anyway
 */
uint8_t shca_roce_wqe_decode(const uint8_t *bytes, uint32_t length, enum shca_roce_wqe_form form,
	struct shca_roce_wqe *wqe);

/** @return whether queue pairs of datagrams, or connected ones, have such an opcode. */
bool shca_roce_wqe_has_opcode(uint8_t opcode, bool is_datagram);

#endif /* SHCA_HW_ROCE_ROCE_WQE_H */
