/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What softhca top shows: cards at one moment, and rates since the moment before. */
#ifndef SOFTHCA_TOP_SAMPLE_H
#define SOFTHCA_TOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "top/tree.h"

#define APP_SAMPLE_CARDS_MAX 16
#define APP_SAMPLE_KEY_MAX   128

/** What there are lists of. */
enum app_sample_kind {
	APP_SAMPLE_PORTS,
	APP_SAMPLE_USERS, /**< processes and netdevs: who gets what */
	APP_SAMPLE_QUEUES,
	APP_SAMPLE_RULES,
	APP_SAMPLE_KINDS,
};

/** What is counted; rows of a kind have some of them. */
enum app_sample_count {
	APP_SAMPLE_RX, /**< frames; of a queue and a rule all that it has */
	APP_SAMPLE_RX_BYTES,
	APP_SAMPLE_TX,
	APP_SAMPLE_TX_BYTES,
	APP_SAMPLE_LOST,
	APP_SAMPLE_ERRORS,
	APP_SAMPLE_NETDEV,
	APP_SAMPLE_UNWANTED,
	APP_SAMPLE_COUNTS,
};

struct app_row {
	char key[APP_SAMPLE_KEY_MAX];        /**< the same in the next sample */
	size_t number;                       /**< in the list as ctl has it, from 1 */
	const char *card;                    /**< "": there is one */
	unsigned int port;                   /**< of mlx5_<port> */
	size_t at;                           /**< its card's place in the sample */
	pid_t pid;                           /**< whose it is; 0: nobody's, or of several */
	const char *comm;                    /**< of the process, or the name of the netdev */
	const struct app_tree *tree;         /**< what ctl says of it; of a user NULL */
	const struct app_tree *table;        /**< of a rule */
	unsigned int nb_contexts, nb_queues; /**< of a user */
	uint64_t total[APP_SAMPLE_COUNTS];
	double rate[APP_SAMPLE_COUNTS]; /**< a second; 0 if it was not there before */
};

struct app_list {
	struct app_row *row;
	size_t nb;
};

/** A card, or a program that has one of its own. */
struct app_source {
	char name[64];
	char path[256]; /**< of its control socket */
};

struct app_sources {
	struct app_source source[APP_SAMPLE_CARDS_MAX];
	size_t nb;
};

struct app_sample {
	struct app_sources sources;
	double seconds; /**< when it was taken */
	struct app_list list[APP_SAMPLE_KINDS];
	const char *thread[APP_SAMPLE_CARDS_MAX]; /**< of each source: "running" or "frozen" */
	/** Of each source: answers and their trees. */
	char *text[APP_SAMPLE_CARDS_MAX][2];
	struct app_tree *tree[APP_SAMPLE_CARDS_MAX][2];
};

/**
 * Ask the sources. One that answers no more is left out.
 * @param before the last one, for rates; NULL: there are none
 * @param[out] why of the last source that did not answer, which the caller frees
 * @return NULL when out of memory.
 */
struct app_sample *app_sample_take(
	const struct app_sources *sources, const struct app_sample *before, char **why);
/** NULL is allowed. */
void app_sample_free(struct app_sample *sample);

#endif /* SOFTHCA_TOP_SAMPLE_H */
