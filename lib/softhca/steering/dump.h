/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Tables as Mellanox's mlx_fs_dump shows them, and the same as JSON: one walk over tables, groups
 * and entries, two forms of what it meets.
 */
#ifndef SHCA_STEERING_DUMP_H
#define SHCA_STEERING_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct shca_modify_set;
struct shca_fte;
struct shca_json;
struct shca_packet;
struct shca_steering;
struct shca_table;

/** What the caller knows of a destination. */
struct shca_dump_tir {
	uint32_t number;
	/** Of a packet: the queue that takes it, and by which hash (type 0: by none). */
	uint32_t rq_number;
	const char *rq_state;
	uint32_t rss_hash;
	uint8_t rss_hash_type;
};

struct shca_dump_conf {
	FILE *out;
	struct shca_json *json; /**< an object that is open, for members; NULL: text */
	/** @param packet may be NULL: then only the number is asked for. NULL: by address. */
	void (*describe)(const void *tir, const struct shca_packet *packet,
		struct shca_dump_tir *description);
	/** Traces: change a frame as an entry does, into @ref room; NULL: a trace ends there. */
	uint32_t (*rewrite)(const struct shca_modify_set *modify_set,
		const struct shca_packet *packet, uint8_t *room);
	uint8_t *room;
};

/** Bytes for the name of an action. */
#define SHCA_DUMP_ACTION_MAX 40

/** Every table with entries in evaluation order; JSON: the member "tables". */
void shca_dump_tables(const struct shca_steering *steering, const struct shca_dump_conf *conf);
/** @return the number that the dump shows for @p table. */
unsigned int shca_dump_table_number(
	const struct shca_steering *steering, const struct shca_table *table);
/** What an entry asks for, and its value where it is not whole the mask, too: a line or member
 * each.
 */
void shca_dump_match(
	const struct shca_fte *fte, const struct shca_dump_conf *conf, const char *indent);
/** Write "FWD", "DROP" or "ALLOW", and what the entry changes: "FWD|DECAP|MOD_HDR". */
void shca_dump_action(const struct shca_table *table, const struct shca_fte *fte,
	char text[static SHCA_DUMP_ACTION_MAX]);
/** "TIR:0x1", or by address. */
void shca_dump_print_tir(const struct shca_dump_conf *conf, const void *tir);

#endif /* SHCA_STEERING_DUMP_H */
