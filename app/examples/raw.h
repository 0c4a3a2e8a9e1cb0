/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What each raw Ethernet program needs before it can begin: a device, memory it may use, a
 * completion queue, and a queue pair of type RAW_PACKET, whose messages are whole Ethernet frames.
 * What goes wrong is said, and ends the program.
 */
#ifndef EXAMPLE_RAW_H
#define EXAMPLE_RAW_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_NB_BUFFERS   64
#define RAW_BUFFER_BYTES 16384

struct raw {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /**< all buffers */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *memory; /**< RAW_NB_BUFFERS buffers, one behind the other */
};

/**
 * Open the device named @p name ("mlx5_0") and make all of the above; the queue pair can send and
 * receive.
 * @param tso_header_bytes headers of large sends are at most that long; 0: there are none
 */
void raw_open(struct raw *raw, const char *name, uint16_t tso_header_bytes);
void raw_close(struct raw *raw);
uint8_t *raw_buffer(const struct raw *raw, unsigned int number);
/** Give buffer @p number to the device for a frame to come; its completion has the same number. */
void raw_post_receive(const struct raw *raw, unsigned int number);
/** Wait for the next completion. @return it; the program has ended if it is an error */
struct ibv_wc raw_wait(const struct raw *raw);
/** Print the frame of a completion in a line. */
void raw_print(const struct raw *raw, unsigned int number, const struct ibv_wc *wc);

/** Say what went wrong, with errno, and end. */
void raw_die(const char *what) __attribute__((noreturn));
/** Say how the program is used, and end. */
void raw_usage(const char *usage) __attribute__((noreturn));
/** @{ Of the command line; end with the usage when it is none. */
void raw_parse_mac(const char *text, uint8_t mac[6], const char *usage);
uint32_t raw_parse_number(const char *text, uint32_t most, const char *usage);
/** @} */

#endif /* EXAMPLE_RAW_H */
