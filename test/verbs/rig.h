/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The common parts of the verbs programs: a device whose cable ends in itself, buffers, a queue
 * pair that gets all frames, and checks. An unexpected error ends the program; a failed check is
 * printed, and the program goes on and fails at the end.
 */
#ifndef TEST_VERBS_RIG_H
#define TEST_VERBS_RIG_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_NB_BUFFERS   64
#define RIG_BUFFER_BYTES 4096
#define RIG_PATIENCE     300 /* seconds */

/** UDP over IPv4 behind an Ethernet header, and how long all that is. */
#define RIG_HEADER_BYTES 42

extern struct ibv_context *rig_context;
extern struct ibv_pd *rig_pd;
extern struct ibv_mr *rig_mr; /**< over the buffers */

/** Open the first device. */
void rig_open(void);
/** Close the device, which fails if objects are left. @return the program's exit status. */
int rig_close(void);
/** Print how many checks failed. @return the program's exit status. */
int rig_summary(void);
/** Print the error, with errno, and end. */
void rig_die(const char *what) __attribute__((noreturn));
/** End if @p error, the errno-style result of a verb, is not 0. */
void rig_must(int error, const char *what);
/** Count and print a check that fails. */
void rig_check(bool is_so, const char *what, long long value);
#define CHECK(is_so, value) rig_check(is_so, #is_so, (long long)(value))
/** Check that a verb has returned NULL, with this errno. */
void rig_check_refused(const void *object, int wanted, const char *what);
#define CHECK_REFUSED(call, wanted) rig_check_refused(call, wanted, #call " is refused")

/** Buffer @p number, and a scatter-gather element of it. */
uint8_t *rig_buffer(unsigned int number);
struct ibv_sge rig_sge(unsigned int number, size_t offset, size_t length);
/** Last byte of the MAC address that frames go to: 1, unless a program sets it. */
extern uint8_t rig_address;
/** A UDP frame of @p length bytes, checksums zero, its payload counting up from @p seed. */
void rig_frame(uint8_t *frame, size_t length, uint8_t seed);

/** @{ Frames that a loop brings back. */
#define RIG_NB_FRAMES 8
/** Post receives, and send as many frames, whose content counts up from @p seed on. */
void rig_post_frames(struct ibv_qp *qp, uint8_t seed);
/** Wait for both ends of each, and check that all have come back unchanged. */
void rig_collect_frames(struct ibv_cq *cq);
/** @} */

/** @{ Of frames: numbers of the network, and the sum of RFC 1071, all ones over what is right. */
uint16_t rig_be16(const uint8_t *bytes);
uint32_t rig_be32(const uint8_t *bytes);
uint16_t rig_sum(const uint8_t *bytes, size_t length);
/** @} */

/** RESET to RTS. */
void rig_start(struct ibv_qp *qp);
void rig_to_state(struct ibv_qp *qp, enum ibv_qp_state state);
/** Make a raw packet QP of usual size on @p cq, and start it. */
struct ibv_qp *rig_qp(struct ibv_cq *cq, uint32_t create_flags);
/** Make a rule that takes all frames to @p qp. */
struct ibv_flow *rig_take_all(struct ibv_qp *qp);
/** Make a rule that takes the frames to rig_address to @p qp. */
struct ibv_flow *rig_take_own(struct ibv_qp *qp);
void rig_receive(struct ibv_qp *qp, unsigned int buffer, size_t length);
/** Post one signalled SEND of one buffer. */
void rig_send(struct ibv_qp *qp, unsigned int buffer, size_t length);

/** Poll @p nb completions; end the program if they do not come. */
void rig_poll(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int nb);
/** Call ibv_start_poll until there is a completion; the caller ends the poll. */
void rig_start_poll(struct ibv_cq_ex *cq);
/** @return the completion of a receive or send among @p nb, or NULL. */
struct ibv_wc *rig_find(struct ibv_wc *wc, unsigned int nb, enum ibv_wc_opcode opcode);

#endif /* TEST_VERBS_RIG_H */
