/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a rule changes about its packets, in the device's words.
 *
 *     received:  tunnel off -> fields -> queues, and with PASSTHRU all that follows
 *     sent:      fields -> tunnel on -> wire
 *
 * An entry of the device has one of each and knows no other order (Linux
 * drivers/infiniband/hw/mlx5/fs.c, parse_flow_flow_action), so actions that ask for another one are
 * refused (flow_action_modify.c). Two rules with equal edits share one object:
 * flow_modify_object.h. Pure.
 */
#ifndef MDV_FLOW_MODIFY_H
#define MDV_FLOW_MODIFY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_flow.h>

/** Pieces of 32 bits that one rule changes: of tables that verbs rules are in, firmware takes so
 * many (DPDK's mlx5.h: MLX5_ROOT_TBL_MODIFY_NUM). */
#define MDV_FLOW_MODIFY_STEPS 16
/** Bytes of headers put on; Linux says no sooner than here what a device has. */
#define MDV_FLOW_MODIFY_DATA 128
/** No tunnel comes or goes. */
#define MDV_FLOW_MODIFY_NO_REFORMAT UINT8_MAX

/** All of it is set, so that memcmp() compares two. */
struct mdv_flow_modify {
	uint8_t egress;
	uint8_t reformat; /**< enum mlx5dv_flow_action_packet_reformat_type, or PLAIN */
	uint8_t nb_steps;
	uint8_t header_bytes;
	uint32_t zero;
	rte_be64_t steps[MDV_FLOW_MODIFY_STEPS]; /**< set_action_in, add_action_in of the PRM */
	uint8_t header[MDV_FLOW_MODIFY_DATA];
};
static_assert(
	sizeof(struct mdv_flow_modify) == 8 + 8 * MDV_FLOW_MODIFY_STEPS + MDV_FLOW_MODIFY_DATA,
	"no padding");

/**
 * Reads what a program's actions point to, so only while these are given.
 * @param list accepted by mdv_flow_action_parse()
 * @param layers of the pattern, MDV_LAYER_*, and MDV_LAYER_INNER() of them
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_modify_translate(const struct rte_flow_action list[], uint32_t layers, bool egress,
	struct mdv_flow_modify *modify, struct rte_flow_error *error);

/** For people: a line each for what is taken off, changed and put on. */
void mdv_flow_modify_print(FILE *file, const struct mdv_flow_modify *modify);

/* flow_reformat_header.c */
/**
 * The headers that VXLAN_ENCAP's and NVGRE_ENCAP's items make, with what is left to the device: IP
 * and UDP lengths, IPv4 checksum.
 * @param action the one
 * @return how many bytes of @p header are filled, or a negative errno, @p error filled
 */
int mdv_flow_modify_build_header(const struct rte_flow_action *action,
	uint8_t header[MDV_FLOW_MODIFY_DATA], struct rte_flow_error *error);

#endif /* MDV_FLOW_MODIFY_H */
