/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Completion queue: made once by verbs, then read in place.
 *
 *     slot ci & mask   owner bit of a valid CQE = parity of the lap, (ci >> log2) & 1
 *     doorbell record  word 0 = be32(ci & 0xffffff): slots before it are the device's again
 *
 * ci is free-running; the CQEs start out with opcode INVALID, so lap 0 differs from an empty ring.
 *
 * Where compression was asked for, a run of packets that differ in little may be a block of N slots
 * (Linux mlx5e_decompress_cqe(), DPDK mlx5_rx_poll_len()):
 *
 *     slot  t      t+1       ...  t+8        ...  t+16       ...  t+N-1
 *           title  minis 0-7      minis 8-15      minis 16-23
 *
 * The title is the first packet's CQE, with N in byte_cnt; its owner bit counts for all. At op_own
 * of the other slots are bytes of minis, or older bytes: they could look valid on a later lap. So
 * each slot that the device wrote is made INVALID before it is given back.
 */
#ifndef MDV_CQ_H
#define MDV_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_byteorder.h>
#include <rte_common.h>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include "base/hw.h"

struct mdv_device;

struct mdv_cq {
	struct ibv_cq *ibv_cq;
	struct mdv_hw_cqe *cqes;
	volatile __be32 *dbrec;
	uint32_t cqe_cnt; /**< power of two */
	uint8_t log2_cqes;
	bool compressed; /**< there may be blocks */
	/* To arm it. */
	void *uar; /**< page of doorbell registers */
	uint32_t cqn;
	uint32_t arm_sn; /**< its events taken so far */
	/* mode=ibv: see cq_ibv.h. */
	struct ibv_cq_ex *ex; /**< read by verbs; NULL: in place */
	uint64_t wc_flags;    /**< the fields that it reports of a packet; 0: a CQ of sends */
	uint32_t pi;          /**< completions copied so far */
};

/**
 * Make a CQ of at least @p nb_cqes entries, for reading in place only.
 * @param mini_format enum mlx5dv_cqe_comp_res_format that the device supports; 0: no compression
 * @param channel gets its events; NULL: no events
 * @return 0 or a negative errno, logged.
 */
int mdv_cq_create(const struct mdv_device *device, uint32_t nb_cqes, uint32_t mini_format,
	struct ibv_comp_channel *channel, struct mdv_cq *cq);
/** Destroy the CQ, after the queues that complete to it. @p cq may never have been created. */
void mdv_cq_destroy(const struct mdv_device *device, struct mdv_cq *cq);
/** Text of the syndrome of an error CQE, for logs. */
const char *mdv_cq_syndrome(uint8_t syndrome);
/** @return the syndrome that verbs reports as @p status; UINT8_MAX if there is none. */
uint8_t mdv_cq_syndrome_of(enum ibv_wc_status status);
/**
 * Log that a queue has stopped with @p syndrome and restarts: at warning level once for each
 * syndrome, then at debug level, because a fault may come with every packet.
 * @param side "Rx" or "Tx"
 * @param logged by 1 << syndrome % 64, syndromes logged already
 */
void mdv_cq_log_error(
	const char *side, uint16_t port_id, uint16_t idx, uint8_t syndrome, uint64_t *logged);

/** @return the slot of @p ci. */
static __rte_always_inline size_t
mdv_cq_slot(uint32_t ci, uint8_t log2_cqes)
{
	/* In 64 bits: the slot is an index, which the compiler would have to widen. */
#if defined(__BMI2__) && defined(__x86_64__)
	return _bzhi_u64(ci, log2_cqes);
#else
	return ci & (((size_t)1 << log2_cqes) - 1);
#endif
}

/** Read op_own of the slot of @p ci, before the rest of the CQE. */
static __rte_always_inline uint8_t
mdv_cq_op_own(const struct mdv_hw_cqe *cqe)
{
	uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	/* The device writes the owner bit last: orders this load before those of the CQE's body. */
	rte_io_rmb();
	return op_own;
}

/** @return whether the device has written the slot of @p ci. */
static __rte_always_inline bool
mdv_cq_is_valid(uint8_t op_own, uint32_t ci, uint8_t log2_cqes)
{
	return (op_own >> MDV_HW_CQE_OPCODE_SHIFT) != MLX5_CQE_INVALID &&
		(op_own & MDV_HW_CQE_OWNER) == ((ci >> log2_cqes) & 1);
}

/** @return whether the device has written the slot of @p ci, and the CQE says that WQEs are sent.
 */
static __rte_always_inline bool
mdv_cq_is_sent(uint8_t op_own, uint32_t ci, uint8_t log2_cqes)
{
	static_assert(MLX5_CQE_REQ == 0, "an opcode of 0 and the owner are one comparison");

	return ((op_own ^ (ci >> log2_cqes & 1)) &
		       (0xf << MDV_HW_CQE_OPCODE_SHIFT | MDV_HW_CQE_OWNER)) == 0;
}

/** @return whether this valid CQE is the title of a block of received packets. */
static __rte_always_inline bool
mdv_cq_is_block(uint8_t op_own)
{
	const uint8_t title =
		MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT | MDV_HW_CQE_FORMAT_MINI;

	return (op_own & ~(MDV_HW_CQE_OWNER | MDV_HW_CQE_SOLICITED)) == title;
}

/** @return the slots of the valid CQE, which are as many packets; from 1 to @p nb_cqes. */
static __rte_always_inline uint32_t
mdv_cq_span(const struct mdv_hw_cqe *cqe, uint8_t op_own, uint32_t nb_cqes)
{
	uint32_t nb;

	if (!mdv_cq_is_block(op_own))
		return 1;
	nb = rte_be_to_cpu_32(cqe->byte_cnt);
	return nb == 0 ? 1 : RTE_MIN(nb, nb_cqes);
}

/** @return the slot with the minis from @p nth, a multiple of 8, of the block at @p ci. */
static __rte_always_inline struct mdv_hw_cqe *
mdv_cq_minis(struct mdv_hw_cqe *cqes, uint32_t mask, uint32_t ci, uint32_t nth)
{
	return &cqes[(ci + nth + (nth == 0)) & mask];
}

/**
 * Mark a slot as read: one that the device wrote, of a CQ with blocks. The device skips slots in
 * the middle of a block ("hardware leaves holes", DPDK mlx5_rx_poll_len()), so these keep the mark.
 */
static __rte_always_inline void
mdv_cq_invalidate(struct mdv_hw_cqe *cqe)
{
	cqe->op_own = MLX5_CQE_INVALID << MDV_HW_CQE_OPCODE_SHIFT;
}

/** Give the slots before @p ci back to the device. */
static __rte_always_inline void
mdv_cq_update_ci(volatile __be32 *dbrec, uint32_t ci)
{
	/* Orders the loads of the CQEs before the store that lets the device overwrite them. A
	 * load barrier is enough: no supported CPU moves a store before an earlier load across
	 * it. */
	rte_io_rmb();
	*dbrec = rte_cpu_to_be_32(ci & MDV_HW_CQ_CI_MASK);
}

#endif /* MDV_CQ_H */
