/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Requests of "softhca ctl" to a running device: one line of words,
 *
 *     COMMAND [--json] [--port N] [--tx] [ARGUMENT]
 *
 * answered by "ok BYTES" or "error BYTES", a newline, and so many bytes of text. One connection
 * carries any number of requests, one after the other. Client and device parse by the same rows.
 */
#ifndef SHCA_CTL_REQUEST_H
#define SHCA_CTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Longest request, newline included: a frame of SHCA_FRAME_MAX bytes in hexadecimal. */
#define SHCA_REQUEST_MAX (2 * 16384 + 256)

struct shca_target;
struct shca_request;

/** One row a command. */
struct shca_request_command {
	const char *name;
	const char *argument; /**< as help shows it, in brackets: it may be left out; NULL: none */
	bool takes_port;
	const char *help;
	/**
	 * @param out takes the answer or the error message
	 * @return 0 or a negative errno.
	 */
	int (*run)(struct shca_target *target, const struct shca_request *request, FILE *out);
	bool takes_tx; /**< takes --tx */
};
/** Ended by a row without a name (ctl/commands.c). */
extern const struct shca_request_command shca_request_commands[];

struct shca_request {
	const struct shca_request_command *command;
	bool json;
	bool tx;              /**< about frames sent */
	int port;             /**< of mlx5_<port>; -1: not given */
	const char *argument; /**< NULL: not given */
};

/**
 * Parse words, which @p request borrows.
 * @return 0 or -EINVAL; @p error has the word that is wrong, and those allowed.
 */
int shca_request_parse(char *const words[], unsigned int nb_words, struct shca_request *request,
	char *error, size_t error_size);
/** Split @p line, modifying it, and parse it. @return as shca_request_parse. */
int shca_request_parse_line(
	char *line, struct shca_request *request, char *error, size_t error_size);

#endif /* SHCA_CTL_REQUEST_H */
