/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Local loopback: whether a port gives its own frames to its own receivers. Internal to hw/.
 *
 * Each context has a transport domain; its send queues and TIRs belong to it. mlx5_ib has the port
 * loop from the second context on, and while a TIR takes its own domain's frames; otherwise it does
 * not (drivers/infiniband/hw/mlx5/main.c mlx5_ib_enable_lb, mlx5_ib_disable_lb). The bits of TIRs
 * are those of create_raw_packet_qp_tir and create_rss_raw_qp_tir (qp.c).
 *
 * Nothing public says which frames the card gives back, and whether they leave, too. Taken here as
 * in the tables of its e-switch (eswitch/eswitch.c): one to an address of the port stays, one to a
 * group does both, any other leaves.
 */
#ifndef SHCA_HW_QUEUE_LOOPBACK_H
#define SHCA_HW_QUEUE_LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

struct shca_device;
struct shca_packet;
struct shca_tir;

/** The netdev's domain (mlx5/core en_common.c); contexts count theirs from 0. */
#define SHCA_TDN_NETDEV UINT32_MAX

/** A context has come (1) or gone (-1). */
void shca_loopback_count_domain(struct shca_device *dev, int change);
/** A TIR that takes frames of its own domain has come (1) or gone (-1). */
void shca_loopback_count_tir(struct shca_device *dev, int change);

/** What happens to a frame, receivers' domains aside. */
enum shca_loopback {
	SHCA_LOOPBACK_NONE, /**< it leaves */
	SHCA_LOOPBACK_ONLY, /**< it comes back and does not leave */
	SHCA_LOOPBACK_BOTH,
};

enum shca_loopback shca_loopback_of(
	const struct shca_device *dev, const struct shca_packet *packet);

/** @return whether @p tir takes a frame that domain @p tdn sent. */
bool shca_loopback_takes(
	const struct shca_tir *tir, uint32_t tdn, const struct shca_packet *packet);

#endif /* SHCA_HW_QUEUE_LOOPBACK_H */
