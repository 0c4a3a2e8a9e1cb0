/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what goes wrong because the check sees to it, and goes on afterwards. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "check.h"

#define HEAP       "check_heap"
#define HEAP_BYTES (2u << 20)
#define PAGE       4096u
#define FIRST_SLOT 65536u /* behind what the EAL writes at the begin */
#define SLOT_BYTES 2048u
#define NB_FRAMES  256u
#define FRAME      1514 /* too long to be copied into a work request */
#define RATE_MBPS  4    /* 780 ms until the last has left: the check may stand still for a while */
#define NB_FIRST   4    /* have come before the memory goes */
#define NB_AFTER   1000

/** Frames in memory that is about to go. */
struct doomed {
	uint8_t *memory;
	struct rte_mbuf_ext_shared_info shared[NB_FRAMES];
	uint16_t nb_queued;
	unsigned int nb_came, nb_freed;
	uint64_t errors_before, errors;
};

static void
count_freed(void *addr, void *arg)
{
	struct doomed *doomed = arg;

	(void)addr;
	doomed->nb_freed++;
}

static void
no_event(enum rte_mem_event event, const void *addr, size_t size, void *arg)
{
	(void)event;
	(void)addr;
	(void)size;
	(void)arg;
}

/** @return whether the EAL tells drivers of memory that goes */
static bool
memory_may_go(void)
{
	if (rte_mem_event_callback_register("check", no_event, NULL) != 0)
		return false;
	(void)rte_mem_event_callback_unregister("check", NULL);
	return true;
}

/** Memory that any driver finds as the EAL's. @return 0 or a negative errno */
static int
memory_add(struct doomed *doomed)
{
	void *memory =
		mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	if (rte_malloc_heap_create(HEAP) != 0 ||
		rte_malloc_heap_memory_add(
			HEAP, memory, HEAP_BYTES, NULL, HEAP_BYTES / PAGE, PAGE) != 0) {
		const int ret = -rte_errno;

		(void)rte_malloc_heap_destroy(HEAP);
		munmap(memory, HEAP_BYTES);
		return ret;
	}
	doomed->memory = memory;
	return 0;
}

/** Nobody was given any of the heap: the frames lie in what is free of it. */
static struct rte_mbuf *
frame_in_memory(struct check *check, struct doomed *doomed, uint32_t seq)
{
	const struct check_frame frame = { .size = FRAME };
	struct rte_mbuf_ext_shared_info *shared = &doomed->shared[seq];
	uint8_t *slot = doomed->memory + FIRST_SLOT + (size_t)seq * SLOT_BYTES;
	struct rte_mbuf *made = check_traffic_frame(check, CHECK_PORT, &frame, seq);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(check->port[CHECK_PORT].pool);

	if (made != NULL && mbuf != NULL) {
		memcpy(slot, rte_pktmbuf_mtod(made, void *), FRAME);
		*shared = (struct rte_mbuf_ext_shared_info){ .free_cb = count_freed,
			.fcb_opaque = doomed };
		rte_mbuf_ext_refcnt_set(shared, 1);
		rte_pktmbuf_attach_extbuf(mbuf, slot, RTE_BAD_IOVA, SLOT_BYTES, shared);
		mbuf->data_len = FRAME;
		mbuf->pkt_len = FRAME;
	} else {
		rte_pktmbuf_free(mbuf);
		mbuf = NULL;
	}
	rte_pktmbuf_free(made);
	return mbuf;
}

/** Give the slow queue all frames. @return 0 or a negative errno */
static int
queue_frames(struct check *check, struct doomed *doomed)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_mbuf *mbufs[NB_FRAMES];
	uint16_t nb = 0;

	while (nb < NB_FRAMES && (mbufs[nb] = frame_in_memory(check, doomed, nb)) != NULL)
		nb++;
	doomed->nb_queued = rte_eth_tx_burst(id, 0, mbufs, nb);
	rte_pktmbuf_free_bulk(mbufs + doomed->nb_queued, nb - doomed->nb_queued);
	return doomed->nb_queued == NB_FRAMES ? 0 : -EIO;
}

/** Look once at both ends. @return whether all frames have come or are counted as lost */
static bool
look(struct check *check, struct doomed *doomed)
{
	const struct check_port *port = &check->port[CHECK_PORT], *peer = &check->port[CHECK_PEER];
	struct rte_eth_stats stats = { .oerrors = 0 };
	struct rte_mbuf *mbufs[32];

	/* Drivers look after a queue in its bursts. */
	(void)rte_eth_tx_burst(port->id, 0, mbufs, 0);
	for (uint16_t q = 0; q < peer->nb_queues; q++) {
		const uint16_t nb = rte_eth_rx_burst(peer->id, q, mbufs, RTE_DIM(mbufs));
		uint32_t seq;

		for (uint16_t i = 0; i < nb; i++)
			doomed->nb_came += check_traffic_is_ours(check, mbufs[i], &seq);
		rte_pktmbuf_free_bulk(mbufs, nb);
	}
	(void)rte_eth_stats_get(port->id, &stats);
	doomed->errors = stats.oerrors - doomed->errors_before;
	return doomed->nb_came + doomed->errors >= NB_FRAMES;
}

/** The memory goes while its frames wait. @return CHECK_PASS: some were lost, and are counted */
static enum check_result
lose_memory(struct check *check, struct doomed *doomed)
{
	unsigned int nb_before;
	uint64_t end;

	if (queue_frames(check, doomed) != 0)
		return check_fail(
			check, "of %u frames %u were queued", NB_FRAMES, doomed->nb_queued);
	end = check_wait_end(check);
	while (!look(check, doomed) && doomed->nb_came < NB_FIRST && check_wait_on(end))
		;
	if (rte_malloc_heap_memory_remove(HEAP, doomed->memory, HEAP_BYTES) != 0)
		return check_fail(check, "the EAL keeps the memory: %s", rte_strerror(rte_errno));
	end = check_wait_end(check);
	while (!look(check, doomed) && check_wait_on(end))
		;
	/* Those that have come and are errors, too, may still wait behind others. */
	do {
		nb_before = doomed->nb_came;
		(void)look(check, doomed);
	} while (doomed->nb_came != nb_before);
	if (doomed->nb_came == NB_FRAMES)
		return check_absent(check, "the driver keeps memory that the EAL has given up");
	if (doomed->nb_came + doomed->errors < NB_FRAMES)
		return check_fail(check, "of %u frames %u came and %" PRIu64 " are errors",
			NB_FRAMES, doomed->nb_came, doomed->errors);
	return CHECK_PASS;
}

/** The rate is taken off in any case. */
static enum check_result
lose_memory_slowly(struct check *check, struct doomed *doomed)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_eth_stats stats = { .oerrors = 0 };
	enum check_result result;
	int ret = rte_eth_set_queue_rate_limit(id, 0, RATE_MBPS);

	if (ret == -ENOTSUP)
		return check_absent(check, "send queues have no rate: nothing waits in them");
	if (ret == 0)
		ret = rte_eth_stats_get(id, &stats);
	doomed->errors_before = stats.oerrors;
	result = ret == 0 ? lose_memory(check, doomed)
			  : check_fail(check, "a rate: %s", rte_strerror(-ret));
	ret = rte_eth_set_queue_rate_limit(id, 0, 0);
	return ret == 0 ? result : check_fail(check, "taking the rate off: %s", rte_strerror(-ret));
}

/** A send queue that the device stopped: what it held is lost, what follows is not. */
static enum check_result
send_queue(struct check *check)
{
	static struct doomed doomed;
	enum check_result result;
	int ret;

	if (!memory_may_go())
		return check_absent(check, "without hugepages no memory goes (--no-huge)");
	doomed = (struct doomed){ .memory = NULL };
	ret = memory_add(&doomed);
	if (ret != 0)
		return check_fail(check, "no memory: %s", rte_strerror(-ret));
	result = lose_memory_slowly(check, &doomed);
	if (result == CHECK_PASS && check_traffic_flood_some(check, CHECK_PORT, 256, NB_AFTER) != 0)
		result = CHECK_FAIL;
	/* It is not there any more, unless the row has failed early. */
	(void)rte_malloc_heap_memory_remove(HEAP, doomed.memory, HEAP_BYTES);
	(void)rte_malloc_heap_destroy(HEAP);
	munmap(doomed.memory, HEAP_BYTES);
	/* An error CQE names a WQE: which of several frames in it have left, only the peer knows.
	 */
	if (result == CHECK_PASS)
		(void)check_end(check, CHECK_PASS,
			"of %u frames %u came and %" PRIu64 " are errors, %" PRIu64
			" are both; %u buffers came back",
			NB_FRAMES, doomed.nb_came, doomed.errors,
			doomed.nb_came + doomed.errors - NB_FRAMES, doomed.nb_freed);
	return result;
}

const struct check_row check_rows_recovery[] = {
	{ "Tx queue with an error", "frames that are lost are counted, others follow", send_queue },
	{ NULL, NULL, NULL },
};
