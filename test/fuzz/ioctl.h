/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Requests of a mad application: frames and payloads in its memory, the arena. No address that it
 * gives leads anywhere else, lest answers be written over the fuzzer.
 */
#ifndef FUZZ_IOCTL_H
#define FUZZ_IOCTL_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "abi/entry/file.h"
#include "config/model.h"
#include "hw/device/device.h"
#include "input.h"
#include "steering/steering.h"

#define WORLD_FILES       2
#define WORLD_FDS         128
#define WORLD_ARENA_BYTES (256u * 1024)

/** Two programs at most, on one device. */
struct world {
	struct fuzz_input input;
	struct shca_model model;
	struct shca_wire *wire;
	struct shca_device *dev;
	struct shca_file *file[WORLD_FILES];
	int fd[WORLD_FILES];
	unsigned int current; /**< whose turn it is */
	int fds[WORLD_FDS];   /**< event descriptors that were handed out */
	unsigned int nb_fds;
	uint32_t uar_page; /**< the number of each file's first one */
	uint8_t *arena;    /**< and a page that cannot be written, and one that cannot be read */
	uint32_t arena_used;
};
extern struct world world;

void world_remember_fd(int fd);
/** Bytes of the input, none of them an address outside the arena. */
void world_fill(uint8_t *to, size_t length);

/** A frame under construction; it and what it points to are in the arena. */
struct request {
	struct request_frame {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[32];
	} * at;
};
void request_init(struct request *request, uint16_t object, uint16_t method);
void request_in(struct request *request, uint16_t id, const void *bytes, uint32_t length);
/** @return where the answer will be. */
uint8_t *request_out(struct request *request, uint16_t id, uint32_t length);
void request_handle(struct request *request, uint16_t id, int64_t handle);
void request_u32(struct request *request, uint16_t id, uint32_t value);
void request_u64(struct request *request, uint16_t id, uint64_t value);
/** As it is. */
int request_run(struct shca_file *file, struct request *request);
/** To the file whose turn it is; now and then some bytes of it are others. */
void request_send(struct request *request);
/** A command in a request of its own, sent so. */
void request_command(uint64_t number, const void *in, uint32_t in_length, uint32_t out_length,
	const void *driver, uint32_t driver_length);

/** @{ Most name something: handles are small numbers, the lowest free first. */
uint32_t world_any_handle(void);
int64_t world_any_fd(void);
uint64_t world_any_ring(void);
uint64_t world_any_record(void);
/** @} */

/** Every queue names a UAR page. */
void requests_first_uar(struct shca_file *file);
/** @{ One request of the file whose turn it is: sensible, but for a byte now and then. */
void requests_cq(void);
void requests_wq(void);
void requests_table(void);
void requests_qp(void);
void requests_hash_qp(void);
void requests_flow(void);
void requests_matcher(void);
void requests_counters(void);
void requests_region(void);
void requests_resize(void);
void requests_device_memory(void);
void requests_modify_qp(void);
void requests_destroy(void);
void requests_uar(void);
void requests_pd(void);
/** @} */
/** Any method, its attributes by their rows; any command with any payload. */
void requests_method(void);
void requests_command(void);
/** Any command by the way of write(2). */
void requests_write(void);
/** A question to RDMA netlink about the device and what is on it. */
void requests_nldev(void);

#endif /* FUZZ_IOCTL_H */
