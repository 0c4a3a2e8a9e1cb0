/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Modify header and packet reformat of a rule, in the device's terms.
 *
 *     received:  tunnel off -> fields -> queues, and with PASSTHRU all later rules
 *     sent:      fields -> tunnel on -> wire
 *
 * An entry of the device has one of each and only this order (Linux
 * drivers/infiniband/hw/mlx5/fs.c, parse_flow_flow_action); flow_action_modify.c refuses actions in
 * another order. Two rules with equal changes share one object: flow_modify_object.h. Pure.
 */
#ifndef MDV_FLOW_MODIFY_H
#define MDV_FLOW_MODIFY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_flow.h>

/** Steps of one rule, 32 bits each: the firmware's limit for the tables that verbs rules are in
 * (DPDK's mlx5.h: MLX5_ROOT_TBL_MODIFY_NUM). */
#define MDV_FLOW_MODIFY_STEPS 16
/** Bytes of headers put on; Linux reports a device's limit only by refusing. */
#define MDV_FLOW_MODIFY_DATA 128
/** No tunnel is taken off or put on. */
#define MDV_FLOW_MODIFY_NO_REFORMAT UINT8_MAX

/** Every byte is set, so that memcmp() compares two. */
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
 * Translate the changes. The configurations that the list points to must be valid during the call.
 * @param list accepted by mdv_flow_action_parse()
 * @param layers of the pattern, MDV_LAYER_*, and MDV_LAYER_INNER() of them
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_modify_translate(const struct rte_flow_action list[], uint32_t layers, bool egress,
	struct mdv_flow_modify *modify, struct rte_flow_error *error);

/** Print for people: one line each for headers taken off, fields changed and headers put on. */
void mdv_flow_modify_print(FILE *file, const struct mdv_flow_modify *modify);

/* flow_reformat_header.c */
/**
 * Build the headers of VXLAN_ENCAP's and NVGRE_ENCAP's items; the device fills in IP and UDP
 * lengths and the IPv4 checksum.
 * @param action the VXLAN_ENCAP or NVGRE_ENCAP
 * @return the number of bytes in @p header, or a negative errno, @p error filled
 */
int mdv_flow_modify_build_header(const struct rte_flow_action *action,
	uint8_t header[MDV_FLOW_MODIFY_DATA], struct rte_flow_error *error);

#endif /* MDV_FLOW_MODIFY_H */
