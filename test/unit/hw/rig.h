/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A device with hand-made rings, as an application would own them, between two wires that the test
 * plays.
 *
 * rig_init() fills the defaults; the test changes what it is about; rig_open() creates device,
 * queues, one memory region and a rule that takes every frame to the receive queue. Nothing runs
 * but in shca_device_step().
 */
#ifndef TEST_HW_RIG_H
#define TEST_HW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/model.h"
#include "hw/device/device.h"
#include "hw/format/hw.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/queue/tir.h"
#include "wire/wire.h"

#define RIG_PDN           7
#define RIG_BUFFERS_BYTES (1u << 20)
#define RIG_RX_BYTES      2048 /* of a default receive buffer; buffer i at i * RIG_RX_BYTES */
#define RIG_TX_OFFSET     (RIG_BUFFERS_BYTES / 2)
#define RIG_USER_INDEX    0xabcdef

#define RIG_WIRE_FRAMES 512
struct rig_wire {
	struct shca_wire wire;
	struct shca_frame sent[RIG_WIRE_FRAMES]; /* owned copies */
	unsigned int nb_sent;
	unsigned int room;                         /* frames it takes before it pushes back */
	struct shca_frame coming[RIG_WIRE_FRAMES]; /* owned copies */
	unsigned int nb_coming, nb_received;
	unsigned int nb_starts;
	bool promiscuous, is_down;
	uint8_t mac[6];   /* of the netdev; 0: not told */
	uint64_t nb_lost; /* while it was down */
	bool patient;     /* its frames wait for receive WQEs */
	bool no_carrier;
};

struct rig_cq {
	struct shca_cq *cq;
	uint8_t *ring;
	__be32 *dbrec;
	uint32_t nb_cqes, cqe_bytes;
	uint32_t ci;
	unsigned int nb_completion_events, nb_error_events;
};

struct rig {
	struct shca_model model;
	struct shca_sq_attr sq_attr;
	struct shca_rq_attr rq_attr;
	struct shca_tir_attr tir_attr;
	uint32_t nb_cqes, cqe_bytes;
	bool ignore_overrun, no_rule, with_kernel, is_vf, pad;
	enum shca_mini_format rx_mini, tx_mini;
	struct shca_findings *findings;
	struct shca_faults *faults;

	struct shca_device *dev;
	struct rig_wire wire, kernel;
	struct shca_wire *cable; /* wire, or what faults make of it */
	struct rig_cq tx, rx;
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct shca_tir *tir;
	struct shca_rule *rule;
	struct shca_mr *mr;
	uint8_t *buffers;
	uint16_t sq_pi, rq_pi;
	unsigned int nb_sq_fatal, nb_rq_fatal;
};

/** A send WQE under construction. */
struct rig_wqe {
	uint8_t bytes[1024];
	uint32_t length;
};

void rig_init(struct rig *rig);
void rig_open(struct rig *rig);
void rig_close(struct rig *rig);
/** Step until nothing is done any more. */
void rig_run(struct rig *rig);

/** Put a copy of @p bytes into the send area at @p offset. @return its address */
uint64_t rig_place(struct rig *rig, uint32_t offset, const void *bytes, uint32_t length);
/** Throw away what @p wire has sent and received so far. */
void rig_forget(struct rig_wire *wire);
void rig_come(struct rig_wire *wire, const void *bytes, uint32_t length);

void rig_wqe_start(struct rig_wqe *wqe, uint8_t opcode, enum shca_ce ce);
/** @p header is inlined, @p length bytes. */
void rig_wqe_eth(
	struct rig_wqe *wqe, uint8_t cs_flags, uint16_t mss, const void *header, uint16_t length);
void rig_wqe_eth_vlan(struct rig_wqe *wqe, uint8_t cs_flags, uint16_t insert, uint16_t tci);
void rig_wqe_pointer(struct rig_wqe *wqe, uint32_t lkey, uint64_t address, uint32_t length);
void rig_wqe_inline(struct rig_wqe *wqe, const void *bytes, uint32_t length);
/** Number, write to the ring and ring the doorbell. @return the WQE's index */
uint16_t rig_post(struct rig *rig, struct rig_wqe *wqe);
/** Write to the ring as it is, @p nb_wqebbs of it, and ring the doorbell. */
void rig_post_raw(struct rig *rig, const struct rig_wqe *wqe, unsigned int nb_wqebbs);
/** Number only. */
void rig_number(const struct rig *rig, struct rig_wqe *wqe);
/** SEND of one pointer segment at the send area's start. */
uint16_t rig_send(struct rig *rig, uint32_t offset, uint32_t length, enum shca_ce ce);

void rig_post_rx(struct rig *rig, const struct mlx5_wqe_data_seg *segments, unsigned int nb);
struct mlx5_wqe_data_seg rig_segment(uint32_t length, uint32_t lkey, uint64_t address);
/** Post @p nb default buffers; WQE n has buffer n modulo the ring. */
void rig_fill_rx(struct rig *rig, unsigned int nb);

/** @return true and the next CQE, consumed. */
bool rig_poll(struct rig_cq *cq, struct shca_cqe *cqe);
void rig_expect_error(struct rig_cq *cq, uint8_t op, uint8_t syndrome, uint16_t wqe_counter);
void rig_arm(struct rig_cq *cq, uint8_t sn, bool solicited);

/** Ethernet header of 14 bytes and a counting pattern. @return @p length */
uint32_t rig_frame(uint8_t *bytes, uint32_t length, uint8_t seed);

/** @{ Packets with right checksums, by the naive sum. */
enum rig_packet {
	RIG_IPV4_UDP,
	RIG_IPV4_TCP,
	RIG_IPV6_UDP,
	RIG_IPV6_TCP,
};
/** @return frame length: @p vlan adds a tag, @p payload follows the L4 header. */
uint32_t rig_packet(uint8_t *bytes, enum rig_packet kind, bool vlan, uint32_t payload);
/** IPv4/UDP/VXLAN around @p inner. */
uint32_t rig_vxlan(uint8_t *bytes, const uint8_t *inner, uint32_t inner_length);
/** RFC 1071 as it is written, in network order, not inverted. */
uint16_t rig_naive_sum(const uint8_t *bytes, uint32_t length, uint32_t start);
/** The sum an L4 header starts with. */
uint32_t rig_naive_pseudo(const uint8_t *ip, uint8_t protocol, uint32_t length);
void rig_put16(uint8_t *bytes, uint16_t value);
uint16_t rig_get16(const uint8_t *bytes);
/** @} */

#endif /* TEST_HW_RIG_H */
