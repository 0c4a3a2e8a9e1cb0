/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The common beginning of the raw Ethernet programs: a device, memory for it, a completion queue,
 * and a queue pair of type RAW_PACKET, whose messages are whole Ethernet frames. An error is
 * reported and ends the program.
 */
#ifndef EXAMPLE_RAW_H
#define EXAMPLE_RAW_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_NB_BUFFERS   256
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
 * @param tso_header_bytes the longest headers of large sends; 0: no large sends
 */
void raw_open(struct raw *raw, const char *name, uint16_t tso_header_bytes);
void raw_close(struct raw *raw);
uint8_t *raw_buffer(const struct raw *raw, unsigned int number);
/** Give buffer @p number to the device for a later frame; its completion has the same number. */
void raw_post_receive(const struct raw *raw, unsigned int number);
/** Send the frame that is in @p sge; it completes. @param flags IBV_SEND_*, besides SIGNALED */
void raw_post_send(const struct raw *raw, struct ibv_sge sge, unsigned int flags);
/** Wait for the next completion. @return it; an error ends the program */
struct ibv_wc raw_wait(const struct raw *raw);
/** Print the frame of a completion in a line. */
void raw_print(const struct raw *raw, unsigned int number, const struct ibv_wc *wc);

/** Report an error, with errno, and end. */
void raw_die(const char *what) __attribute__((noreturn));
/** Print how the program is used, and end. */
void raw_usage(const char *usage) __attribute__((noreturn));
/** @{ Parse an argument; print the usage and end if it is malformed. */
void raw_parse_mac(const char *text, uint8_t mac[6], const char *usage);
uint32_t raw_parse_number(const char *text, uint32_t most, const char *usage);
/** @} */

#endif /* EXAMPLE_RAW_H */
