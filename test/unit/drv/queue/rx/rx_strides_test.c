/* SPDX-License-Identifier: BSD-3-Clause */
/* Striding receive queues: which ports have them, and where their packets' bytes are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue/rx/rx_strides.h"
#include "rx_rig.h"

#define NB_STRIDES    RX_RIG_STRIDES
#define NB_BUFS       (4 * RX_RIG_WQES / RX_RIG_STRIDES)
#define POOL_SIZE     1024
#define PACKETS_MAX   POOL_SIZE
#define BIG           200
#define MTU           1500
#define FRAME(mtu)    ((mtu) + MDV_FRAME_OVERHEAD)
#define ROOM_DEFAULT  RTE_MBUF_DEFAULT_BUF_SIZE
#define LOG2_STRIDING .caps_bytes = { 6, 13 }, .caps_strides = { 3, 16 }

static eth_rx_burst_t burst;
static struct rte_mbuf *pkts[PACKETS_MAX];
static unsigned int nb_pkts;

/* clang-format off */
static const struct {
	enum mdv_mprq mprq;
	bool ibv;
	uint8_t caps_bytes[2], caps_strides[2]; /* log2 */
	unsigned int nb_attached;
	uint64_t offloads;
	uint16_t nb_desc, mtu, room;
	bool strides;
	uint8_t log2_strides, log2_bytes;
	uint16_t len_max;
	int ret;
} cases[] = {
	{ MDV_MPRQ_OFF, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_desc = 512, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_desc = 256, .mtu = MTU, .room = ROOM_DEFAULT },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 256, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 64, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 4, .log2_bytes = 11, .len_max = 1920 },
	/* The buffers' room is less than the strides'. */
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU,
		.room = RTE_PKTMBUF_HEADROOM + 1599,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1536 },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU,
		.room = RTE_PKTMBUF_HEADROOM + 1535, .ret = -ENOTSUP },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU,
		.room = RTE_PKTMBUF_HEADROOM + 1535 },
	/* A frame and the next one's headroom fill the stride. */
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = 1902, .room = 9000,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = 1903, .room = 9000,
		.strides = true, .log2_strides = 6, .log2_bytes = 12, .len_max = 3968 },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_desc = 1024, .mtu = 1903, .room = 9000 },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = 8046, .room = 9000,
		.strides = true, .log2_strides = 6, .log2_bytes = 13, .len_max = 8064 },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = 8047, .room = 9000, .ret = -ENOTSUP },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_desc = 1024, .mtu = 68, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 8, .len_max = 128 },
	/* What the device wants: 16 KiB a WQE at least. */
	{ MDV_MPRQ_ON, .caps_bytes = { 6, 13 }, .caps_strides = { 3, 16 }, .nb_desc = 256,
		.mtu = 68, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 8, .len_max = 128 },
	{ MDV_MPRQ_ON, .caps_bytes = { 6, 13 }, .caps_strides = { 3, 16 }, .nb_desc = 128,
		.mtu = 68, .room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_ON, .caps_bytes = { 6, 13 }, .caps_strides = { 3, 16 }, .nb_desc = 32,
		.mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 3, .log2_bytes = 11, .len_max = 1920 },
	{ MDV_MPRQ_ON, .caps_bytes = { 10, 13 }, .caps_strides = { 9, 16 }, .nb_desc = 2048,
		.mtu = 68, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 9, .log2_bytes = 10, .len_max = 896 },
	{ MDV_MPRQ_ON, .caps_bytes = { 6, 13 }, .caps_strides = { 9, 16 }, .nb_desc = 1024,
		.mtu = MTU, .room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_AUTO, .caps_bytes = { 6, 13 }, .caps_strides = { 9, 16 }, .nb_desc = 1024,
		.mtu = MTU, .room = ROOM_DEFAULT },
	{ MDV_MPRQ_ON, .caps_bytes = { 6, 13 }, .caps_strides = { 13, 16 }, .nb_desc = 32768,
		.mtu = MTU, .room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_ON, .nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_AUTO, .nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT },
	{ MDV_MPRQ_ON, .ibv = true, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU,
		.room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_AUTO, .ibv = true, LOG2_STRIDING, .nb_desc = 1024, .mtu = MTU,
		.room = ROOM_DEFAULT },
	/* Who is in the way. */
	{ MDV_MPRQ_ON, LOG2_STRIDING, .nb_attached = 1, .nb_desc = 1024, .mtu = MTU,
		.room = ROOM_DEFAULT, .ret = -ENOTSUP },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .nb_attached = 1, .nb_desc = 1024, .mtu = MTU,
		.room = ROOM_DEFAULT },
	{ MDV_MPRQ_AUTO, LOG2_STRIDING, .offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH, .nb_desc = 1024,
		.mtu = MTU, .room = ROOM_DEFAULT },
	{ MDV_MPRQ_ON, LOG2_STRIDING, .offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH, .nb_desc = 1024,
		.mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
	/* Not compressed anyway. */
	{ MDV_MPRQ_AUTO, LOG2_STRIDING,
		.offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_TIMESTAMP,
		.nb_desc = 1024, .mtu = MTU, .room = ROOM_DEFAULT,
		.strides = true, .log2_strides = 6, .log2_bytes = 11, .len_max = 1920 },
};
/* clang-format on */

static void
whether_a_port_has_them(void **state)
{
	struct rte_mempool *pool = rig_pool("any", 1, RX_RIG_ROOM);

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_rxq rxq = {
			.pool = pool,
			.nb_desc = cases[i].nb_desc,
			.room = cases[i].room,
			.headroom = RTE_PKTMBUF_HEADROOM,
		};
		void *queues[] = { &rxq };
		struct rig_port rig;
		char why[64];
		struct mdv_caps *caps = &rig.port.device.caps;

		rig_port_init(&rig);
		rxq.port = &rig.port;
		rig.data.rx_queues = queues;
		rig.data.nb_rx_queues = 1;
		rig.data.dev_conf.rxmode.offloads = cases[i].offloads;
		rig.port.config.mprq = cases[i].mprq;
		rig.port.mtu = cases[i].mtu;
		rig.port.primary.nb_attached = cases[i].nb_attached;
		caps->mode = cases[i].ibv ? MDV_MODE_IBV : MDV_MODE_DV;
		caps->cqe_comp_formats = MLX5DV_CQE_RES_FORMAT_HASH;
		caps->log2_striding.bytes_min = cases[i].caps_bytes[0];
		caps->log2_striding.bytes_max = cases[i].caps_bytes[1];
		caps->log2_striding.strides_min = cases[i].caps_strides[0];
		caps->log2_striding.strides_max = cases[i].caps_strides[1];
		assert_int_equal(mdv_rx_strides_choose(&rig.port), cases[i].ret);
		assert_int_equal(rig.port.strides, cases[i].strides);
		if (!cases[i].strides)
			continue;
		assert_int_equal(
			mdv_rx_strides_shape(&rxq, rig.port.mtu, true, why, sizeof(why)), 0);
		assert_int_equal(rxq.strides.log2_strides, cases[i].log2_strides);
		assert_int_equal(rxq.strides.log2_bytes, cases[i].log2_bytes);
		assert_int_equal(rxq.strides.len_max, cases[i].len_max);
		assert_true(rxq.strides.len_max >= FRAME(cases[i].mtu));
	}
	rte_mempool_free(pool);
}

/** Their mbufs cannot be attached to anything else. */
static void
pinned_buffers_are_in_the_way(void **state)
{
	struct rte_pktmbuf_extmem memory = { .elt_size = ROOM_DEFAULT, .buf_len = 4096 };
	struct mdv_rxq rxq = { .nb_desc = 1024,
		.room = ROOM_DEFAULT,
		.headroom = RTE_PKTMBUF_HEADROOM,
		.port = &rx_rig.port.port };
	char why[64];

	(void)state;
	rig_port_init(&rx_rig.port);
	memory.buf_ptr = rig_alloc(memory.buf_len);
	rxq.pool = rte_pktmbuf_pool_create_extbuf(
		"pinned", 1, 0, 0, ROOM_DEFAULT, SOCKET_ID_ANY, &memory, 1);
	assert_non_null(rxq.pool);
	assert_int_equal(mdv_rx_strides_shape(&rxq, MTU, true, why, sizeof(why)), -ENOTSUP);
	assert_non_null(strstr(why, "external memory already"));
	rte_mempool_free(rxq.pool);
	free(memory.buf_ptr);
}

static int empty = RTE_MAX_NUMA_NODES; /* this NUMA node has no memory for the EAL */

/* clang-format off */
void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int node);
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int node);
struct rte_mempool *__real_rte_mempool_create(const char *name, unsigned int n,
	unsigned int elt_size, unsigned int cache_size, unsigned int private_data_size,
	rte_mempool_ctor_t *mp_init, void *mp_init_arg, rte_mempool_obj_cb_t *obj_init,
	void *obj_init_arg, int node, unsigned int flags);
struct rte_mempool *__wrap_rte_mempool_create(const char *name, unsigned int n,
	unsigned int elt_size, unsigned int cache_size, unsigned int private_data_size,
	rte_mempool_ctor_t *mp_init, void *mp_init_arg, rte_mempool_obj_cb_t *obj_init,
	void *obj_init_arg, int node, unsigned int flags);
/* clang-format on */

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int node)
{
	return node == empty ? NULL : __real_rte_zmalloc_socket(type, size, align, node);
}

struct rte_mempool *
__wrap_rte_mempool_create(const char *name, unsigned int n, unsigned int elt_size,
	unsigned int cache_size, unsigned int private_data_size, rte_mempool_ctor_t *mp_init,
	void *mp_init_arg, rte_mempool_obj_cb_t *obj_init, void *obj_init_arg, int node,
	unsigned int flags)
{
	return node == empty
		? NULL
		: __real_rte_mempool_create(name, n, elt_size, cache_size, private_data_size,
			  mp_init, mp_init_arg, obj_init, obj_init_arg, node, flags);
}

/** Memory on the device's node is better, but another node's does. */
static void
buffers_are_of_any_node_that_has_memory(void **state)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;

	(void)state;
	rx_rig_start_strides(POOL_SIZE);
	mdv_rx_strides_close(rxq);
	rxq->port->device.numa_node = empty = 1;
	assert_int_equal(mdv_rx_strides_open(rxq), 0);
	mdv_rx_strides_close(rxq);
	rxq->port->device.numa_node = 0;
	empty = SOCKET_ID_ANY;
	assert_int_equal(mdv_rx_strides_open(rxq), 0);
	mdv_rx_strides_close(rxq);
	rxq->port->device.numa_node = SOCKET_ID_ANY;
	assert_int_equal(mdv_rx_strides_open(rxq), -ENOMEM);
	assert_null(rxq->strides.pool);
	assert_null(rxq->strides.bufs);
	empty = RTE_MAX_NUMA_NODES;
	mdv_mr_destroy(rxq->port->mr);
	rx_rig_stop();
}

static void
queue_start(void)
{
	rx_rig_start_strides(POOL_SIZE);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	burst = mdv_rx_select(MDV_RX_STRIDE, 0);
	nb_pkts = 0;
}

/** Receive @p nb frames of @p len bytes, which the application keeps. */
static void
receive(unsigned int nb, uint32_t len)
{
	for (; nb != 0; nb--) {
		const struct rx_frame frame = { .len = len, .fill = nb_pkts };

		assert_true(nb_pkts < PACKETS_MAX);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(&rx_rig.rxq, &pkts[nb_pkts], 1), 1);
		rx_rig_check(pkts[nb_pkts], &frame);
		nb_pkts++;
	}
}

/** @return how many of the packets from @p first on are where the device wrote them. */
static unsigned int
nb_in_place(unsigned int first)
{
	unsigned int nb = 0;

	for (unsigned int i = first; i < nb_pkts; i++) {
		const bool external = RTE_MBUF_HAS_EXTBUF(pkts[i]);

		if (external)
			assert_int_equal(pkts[i]->buf_len, RX_RIG_STRIDE_BYTES);
		nb += external;
	}
	return nb;
}

static void
free_packets(void)
{
	while (nb_pkts != 0)
		rte_pktmbuf_free(pkts[--nb_pkts]);
}

static void
short_packets_are_copied(void **state)
{
	static const struct {
		uint32_t len;
		bool in_place;
	} lens[] = { { 60, false }, { 128, false }, { 129, true }, { RX_RIG_STRIDE_MAX, true } };

	(void)state;
	queue_start();
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		receive(NB_STRIDES, lens[i].len);
		assert_int_equal(nb_in_place(0), lens[i].in_place ? NB_STRIDES : 0);
		free_packets();
	}
	rx_rig_stop();
}

/** Neighbours in a buffer may be written to and extended without harm. */
static void
packets_have_room_around(void **state)
{
	(void)state;
	queue_start();
	receive(NB_STRIDES, RX_RIG_STRIDE_MAX);
	for (unsigned int i = 0; i < nb_pkts; i++) {
		assert_int_equal(rte_pktmbuf_headroom(pkts[i]), RTE_PKTMBUF_HEADROOM);
		assert_int_equal(rte_pktmbuf_tailroom(pkts[i]),
			RX_RIG_STRIDE_BYTES - RTE_PKTMBUF_HEADROOM - RX_RIG_STRIDE_MAX);
		memset(rte_pktmbuf_prepend(pkts[i], RTE_PKTMBUF_HEADROOM), 0xaa,
			RTE_PKTMBUF_HEADROOM);
		memset(rte_pktmbuf_append(pkts[i], rte_pktmbuf_tailroom(pkts[i])), 0xbb,
			RX_RIG_STRIDE_BYTES - RTE_PKTMBUF_HEADROOM - RX_RIG_STRIDE_MAX);
	}
	for (unsigned int i = 0; i < nb_pkts; i++) {
		const struct rx_frame frame = { .len = RX_RIG_STRIDE_MAX, .fill = i };

		rte_pktmbuf_adj(pkts[i], RTE_PKTMBUF_HEADROOM);
		rte_pktmbuf_trim(pkts[i], pkts[i]->pkt_len - RX_RIG_STRIDE_MAX);
		rx_rig_check(pkts[i], &frame);
	}
	free_packets();
	rx_rig_stop();
}

/** One packet of each buffer stays with the application, until no spare one is left. */
static void
without_a_spare_buffer_packets_are_copied(void **state)
{
	const unsigned int nb_spares = NB_BUFS - RX_RIG_WQES / NB_STRIDES;
	unsigned int i;

	(void)state;
	queue_start();
	for (i = 0; i < nb_spares; i++) {
		receive(1, BIG);
		assert_int_equal(nb_in_place(nb_pkts - 1), 1);
		receive(NB_STRIDES - 1, 60);
	}
	i = nb_pkts;
	receive(2 * NB_STRIDES, BIG);
	assert_int_equal(nb_in_place(i), 0);
	/* The first buffer comes back, and is taken when the next is full. */
	rte_pktmbuf_free(pkts[0]);
	pkts[0] = pkts[--nb_pkts];
	receive(NB_STRIDES, BIG);
	i = nb_pkts;
	receive(NB_STRIDES, BIG);
	assert_int_equal(nb_in_place(i), NB_STRIDES);
	free_packets();
	rx_rig_stop();
}

/** A buffer whose packets were all freed in time stays in the ring. */
static void
buffers_stay_where_nobody_has_packets(void **state)
{
	struct mdv_rx_stride_buf *before[RX_RIG_WQES / NB_STRIDES];

	(void)state;
	queue_start();
	memcpy(before, rx_rig.rxq.strides.bufs, sizeof(before));
	for (unsigned int i = 0; i < RX_RIG_WQES; i++) {
		receive(1, i % 2 != 0 ? BIG : 60);
		if (i % NB_STRIDES != NB_STRIDES - 1)
			free_packets();
	}
	/* The last packet of a buffer is with the application when the buffer is left. */
	assert_memory_not_equal(before, rx_rig.rxq.strides.bufs, sizeof(before));
	free_packets();
	memcpy(before, rx_rig.rxq.strides.bufs, sizeof(before));
	for (unsigned int i = 0; i < RX_RIG_WQES; i++) {
		receive(1, i % NB_STRIDES == NB_STRIDES - 1 ? 60 : BIG);
		free_packets();
	}
	assert_memory_equal(before, rx_rig.rxq.strides.bufs, sizeof(before));
	rx_rig_stop();
}

static void
packets_outlive_the_queue(void **state)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	const struct rx_frame last = { .len = BIG, .fill = 2 * NB_STRIDES };
	char name[RTE_MEMPOOL_NAMESIZE];

	(void)state;
	queue_start();
	snprintf(name, sizeof(name), "%s", rxq->strides.pool->bufs->name);
	/* Of full buffers, and of the present one. */
	receive(2 * NB_STRIDES + 1, BIG);
	mdv_rx_drain(rxq);
	mdv_rx_strides_close(rxq);
	assert_null(rxq->strides.pool);
	assert_non_null(rte_mempool_lookup(name));
	rx_rig_check(pkts[nb_pkts - 1], &last);
	for (; nb_pkts != 1; nb_pkts--)
		rte_pktmbuf_free(pkts[nb_pkts - 1]);
	assert_non_null(rte_mempool_lookup(name));
	free_packets();
	assert_null(rte_mempool_lookup(name));
	mdv_mr_destroy(rx_rig.port.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	rx_rig_stop();
}

/** Strides that the CQE's place does not lead to: the driver goes there only if they are posted. */
static void
the_device_says_where_packets_are(void **state)
{
	const struct rx_frame frame = { .len = 100, .fill = 7 };
	struct mdv_rxq *rxq = &rx_rig.rxq;

	(void)state;
	queue_start();
	receive(2, 100);
	rx_rig.stride += 3;
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(burst(rxq, &pkts[nb_pkts], 1), 1);
	rx_rig_check(pkts[nb_pkts++], &frame);
	assert_int_equal(rxq->pos.wqe_ci, 6);
	assert_int_equal(rxq->count.errors, 0);
	assert_false(mdv_rxq_is_broken(rxq));
	/* Back in the same WQE: it would be a stride of the next one. */
	rx_rig.stride = 1;
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(burst(rxq, &pkts[nb_pkts], 1), 0);
	assert_int_equal(rxq->count.errors, 1);
	assert_true(mdv_rxq_is_broken(rxq));
	free_packets();
	rx_rig_stop();
}

static void
frames_too_long_are_errors(void **state)
{
	static const uint32_t lens[] = { RX_RIG_STRIDE_MAX + 1, RX_RIG_STRIDE_BYTES,
		RX_RIG_STRIDE_BYTES + 1, 3 * RX_RIG_STRIDE_BYTES };
	struct mdv_rxq *rxq = &rx_rig.rxq;

	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(lens); i++) {
		const struct rx_frame frame = { .len = lens[i / 2] };

		queue_start();
		if (i % 2 != 0)
			rxq->ring.runtime_opts |= MDV_RX_RUNTIME_MINI;
		receive(NB_STRIDES - 2, 100);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(rxq, &pkts[nb_pkts], 1), 0);
		assert_int_equal(rxq->count.errors, 1);
		receive(NB_STRIDES, BIG);
		assert_int_equal(rxq->count.errors, 1);
		assert_int_equal(rxq->count.packets, 2 * NB_STRIDES - 2);
		free_packets();
		rx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whether_a_port_has_them),
		cmocka_unit_test(pinned_buffers_are_in_the_way),
		cmocka_unit_test(buffers_are_of_any_node_that_has_memory),
		cmocka_unit_test(short_packets_are_copied),
		cmocka_unit_test(packets_have_room_around),
		cmocka_unit_test(without_a_spare_buffer_packets_are_copied),
		cmocka_unit_test(buffers_stay_where_nobody_has_packets),
		cmocka_unit_test(packets_outlive_the_queue),
		cmocka_unit_test(the_device_says_where_packets_are),
		cmocka_unit_test(frames_too_long_are_errors),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
