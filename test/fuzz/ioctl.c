/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from bytes. */
#include "ioctl.h"

#include <string.h>

#include "check.h"

/** Frames are at the arena's start, what they point to behind it; rings in the upper half. */
#define PAYLOADS_OFFSET 4096
#define RINGS_OFFSET    (WORLD_ARENA_BYTES / 2)
#define RING_BYTES      16384

static struct fuzz_input *const input = &world.input;

void
world_remember_fd(int fd)
{
	FUZZ_CHECK(world.nb_fds < WORLD_FDS);
	world.fds[world.nb_fds++] = fd;
}

/** What could be an address is one of the arena; the two pages behind it included. */
static uint64_t
tame(uint64_t word)
{
	if (word < 65536 || word >> 47 != 0)
		return word;
	return (uintptr_t)world.arena + word % (WORLD_ARENA_BYTES + 2 * 4096);
}

static void
tame_all(uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i + 8 <= length; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		word = tame(word);
		memcpy(bytes + i, &word, sizeof(word));
	}
}

void
world_fill(uint8_t *to, size_t length)
{
	for (size_t i = 0; i < length; i += 4) {
		uint8_t how = fuzz_input_byte(input);
		uint32_t word = how < 0x90 ? how & 63 : how < 0xd0 ? 0 : fuzz_input_word(input);

		memcpy(to + i, &word, length - i < 4 ? length - i : 4);
	}
	tame_all(to, length);
}

static uint8_t *
payload(uint32_t length)
{
	uint32_t room = RINGS_OFFSET - PAYLOADS_OFFSET;
	uint8_t *at;

	if (length > room)
		length = room;
	if (world.arena_used + length > room)
		world.arena_used = 0;
	at = world.arena + PAYLOADS_OFFSET + world.arena_used;
	world.arena_used += (length + 7) & ~7u;
	return at;
}

void
request_init(struct request *request, uint16_t object, uint16_t method)
{
	request->at = (void *)world.arena;
	world.arena_used = 0;
	memset(request->at, 0, sizeof(*request->at));
	request->at->header = (struct ib_uverbs_ioctl_hdr){
		.object_id = object,
		.method_id = method,
		.driver_id = RDMA_DRIVER_MLX5,
	};
}

static struct ib_uverbs_attr *
add_attr(struct request *request, uint16_t id)
{
	struct ib_uverbs_attr *attr = &request->at->attrs[request->at->header.num_attrs++];

	FUZZ_CHECK(request->at->header.num_attrs <= 32);
	*attr = (struct ib_uverbs_attr){ .attr_id = id, .flags = UVERBS_ATTR_F_MANDATORY };
	return attr;
}

void
request_in(struct request *request, uint16_t id, const void *bytes, uint32_t length)
{
	struct ib_uverbs_attr *attr = add_attr(request, id);
	uint8_t *at;

	attr->len = (uint16_t)length;
	if (length <= sizeof(attr->data)) {
		memcpy(&attr->data, bytes, length);
		return;
	}
	at = payload(length);
	memcpy(at, bytes, length);
	attr->data = (uintptr_t)at;
}

uint8_t *
request_out(struct request *request, uint16_t id, uint32_t length)
{
	struct ib_uverbs_attr *attr = add_attr(request, id);
	uint8_t *at = payload(length);

	attr->len = (uint16_t)length;
	attr->data = (uintptr_t)at;
	return at;
}

void
request_handle(struct request *request, uint16_t id, int64_t handle)
{
	add_attr(request, id)->data_s64 = handle;
}

void
request_u32(struct request *request, uint16_t id, uint32_t value)
{
	request_in(request, id, &value, sizeof(value));
}

void
request_u64(struct request *request, uint16_t id, uint64_t value)
{
	request_in(request, id, &value, sizeof(value));
}

int
request_run(struct shca_file *file, struct request *request)
{
	request->at->header.length = (uint16_t)(sizeof(request->at->header) +
		request->at->header.num_attrs * sizeof(request->at->attrs[0]));
	return shca_file_ioctl(file, RDMA_VERBS_IOCTL, request->at);
}

/** What a request that succeeded has made besides objects is the caller's to close. */
static void
keep_descriptor(const struct request_frame *asked, const struct request_frame *answered)
{
	bool makes_one = false;
	uint64_t answer = 0;
	int32_t fd;

	for (unsigned int i = 0; i < asked->header.num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &asked->attrs[i];

		if (asked->header.object_id == UVERBS_OBJECT_ASYNC_EVENT &&
			attr->attr_id == UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
			world_remember_fd((int)answered->attrs[i].data_s64);
		makes_one |= attr->attr_id == UVERBS_ATTR_WRITE_CMD &&
			(attr->data == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL ||
				attr->data == IB_USER_VERBS_CMD_GET_CONTEXT);
		if (attr->attr_id == UVERBS_ATTR_CORE_OUT)
			answer = attr->data;
	}
	if (asked->header.object_id != UVERBS_OBJECT_DEVICE ||
		asked->header.method_id != UVERBS_METHOD_INVOKE_WRITE || !makes_one)
		return;
	memcpy(&fd, (const void *)(uintptr_t)answer, sizeof(fd));
	world_remember_fd(fd);
}

/** Answers may be written over the frame: what was asked for is kept. */
static void
run_and_keep(struct request *request, unsigned long number)
{
	struct request_frame asked = *request->at;

	if (shca_file_ioctl(world.file[world.current], number, request->at) == 0)
		keep_descriptor(&asked, request->at);
}

/** Now and then some bytes of it are others; whatever they are, no address leads astray. */
void
request_send(struct request *request)
{
	uint8_t how = fuzz_input_byte(input);
	uint8_t *bytes = (uint8_t *)request->at;
	uint16_t nb = request->at->header.num_attrs;
	size_t offset;

	request->at->header.length =
		(uint16_t)(sizeof(request->at->header) + nb * sizeof(request->at->attrs[0]));
	if (how < 0xd0) {
		run_and_keep(request, RDMA_VERBS_IOCTL);
		return;
	}
	offset = fuzz_input_word(input);
	if (how < 0xe8) /* of the frame */
		bytes[offset % request->at->header.length] ^= fuzz_input_byte(input);
	else /* of a payload */
		bytes[PAYLOADS_OFFSET + offset % 512] ^= fuzz_input_byte(input);
	for (uint16_t i = 0; i < 32; i++)
		request->at->attrs[i].data = tame(request->at->attrs[i].data);
	tame_all(world.arena + PAYLOADS_OFFSET, 1024);
	run_and_keep(request, how >= 0xfc ? how : RDMA_VERBS_IOCTL);
}

/** Small numbers, the lowest free first: most name something. */
uint32_t
world_any_handle(void)
{
	return fuzz_input_byte(input) & 31;
}

int64_t
world_any_fd(void)
{
	uint8_t which = fuzz_input_byte(input);

	if (which >= 0xf0 || world.nb_fds == 0)
		return (int8_t)which;
	return world.fds[which % world.nb_fds];
}

uint64_t
world_any_ring(void)
{
	return (uintptr_t)world.arena + RINGS_OFFSET +
		(uint64_t)fuzz_input_byte(input) % 7 * RING_BYTES;
}

uint64_t
world_any_record(void)
{
	return (uintptr_t)world.arena + WORLD_ARENA_BYTES - 4096 +
		(uint64_t)fuzz_input_byte(input) * 8;
}

void
request_command(uint64_t number, const void *in, uint32_t in_length, uint32_t out_length,
	const void *driver, uint32_t driver_length)
{
	struct request request;

	request_init(&request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	request_u64(&request, UVERBS_ATTR_WRITE_CMD, number);
	if (in_length != 0)
		request_in(&request, UVERBS_ATTR_CORE_IN, in, in_length);
	if (out_length != 0)
		request_out(&request, UVERBS_ATTR_CORE_OUT, out_length);
	if (driver_length != 0)
		request_in(&request, UVERBS_ATTR_UHW_IN, driver, driver_length);
	request_send(&request);
}
