/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Tables as Mellanox's mlx_fs_dump shows them, and the same as JSON: one walk over tables, groups
 * and entries, which prints each in one of the two forms.
 */
#ifndef SHCA_STEERING_DUMP_H
#define SHCA_STEERING_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct shca_context;
struct shca_modify_set;
struct shca_fte;
struct shca_json;
struct shca_packet;
struct shca_steering;
struct shca_table;

/** The caller's description of a destination. */
struct shca_dump_tir {
	uint32_t number;
	const struct shca_context *context; /**< whose it is; NULL: nobody's */
	/** Of a packet: the queue that gets it, and the hash (type 0: none). */
	uint32_t rq_number;
	const char *rq_state;
	uint32_t rss_hash;
	uint8_t rss_hash_type;
};

struct shca_dump_conf {
	FILE *out;
	struct shca_json *json; /**< an open object, which gets members; NULL: text */
	/** Describe a TIR; @p packet NULL: by its number only. NULL: TIRs are shown by address. */
	void (*describe)(const void *tir, const struct shca_packet *packet,
		struct shca_dump_tir *description);
	/** For traces: rewrite a frame into @ref room; NULL: a trace ends at such an entry. */
	uint32_t (*rewrite)(const struct shca_modify_set *modify_set,
		const struct shca_packet *packet, uint8_t *room);
	uint8_t *room;
	/** Hide from a changed frame's headers the tunnels that are none of @p offloads, which the
	 * device does not look into; NULL: it looks into all. */
	void (*limit)(struct shca_packet *packet, uint32_t offloads);
};

/** @{ Whose something is, in the words of rdma(8), "rdma resource show qp". */
/** Print "pid 12 comm testpmd ctxn 3" behind @p before; NULL: nothing at all. */
void shca_dump_context(const struct shca_context *context, const char *before, FILE *out);
/** Add the members ctxn, pid and comm; NULL: none. */
void shca_dump_add_context(const struct shca_context *context, struct shca_json *json);
/** @} */

/** Bytes for the name of an action. */
#define SHCA_DUMP_ACTION_MAX 40

/** Print every table that has entries, in evaluation order; JSON: the member "tables". */
void shca_dump_tables(const struct shca_steering *steering, const struct shca_dump_conf *conf);
/** @return the number that the dump shows for @p table. */
unsigned int shca_dump_table_number(
	const struct shca_steering *steering, const struct shca_table *table);
/** Print the fields that an entry matches, a line each, or a member each name: the value and, where
 * it is partial, the mask. */
void shca_dump_match(
	const struct shca_fte *fte, const struct shca_dump_conf *conf, const char *indent);
/** Write "FWD", "DROP" or "ALLOW", and the entry's changes: "FWD|DECAP|MOD_HDR". */
void shca_dump_action(const struct shca_table *table, const struct shca_fte *fte,
	char text[static SHCA_DUMP_ACTION_MAX]);
/** Print "TIR:0x1", or the address. */
void shca_dump_print_tir(const struct shca_dump_conf *conf, const void *tir);

#endif /* SHCA_STEERING_DUMP_H */
