/* SPDX-License-Identifier: BSD-3-Clause */
/* A send queue's life beside its objects: set-up and release on ports that run or not, and rates.
 */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "device/uar.h"
#include "queue/tx/tx_ibv.h"
#include "queue/tx/tx_limits.h"
#include "queue/tx/txq.h"
#include "queue/tx/txq_ring.h"
#include "trace.h"

#define NB_QUEUES 3

static struct rig_port rig;
/* ethdev's array has more places than a port has queues. */
static void *tx_queues[NB_QUEUES + 1];
static struct ibv_qp qps[2];
static bool cq_fails; /**< while objects are taken over, as another thread hears */

/* clang-format off */
#define FAKE_OF_TXQ(name, word) \
	TRACE_FAKE(int, name, struct mdv_txq *txq) \
	{ \
		return trace_call(word " %u", txq->idx); \
	}
FAKE_OF_TXQ(mdv_txq_ring_ready, "ready")
FAKE_OF_TXQ(mdv_txq_ring_reset, "reset")
/* clang-format on */

static bool no_memory; /**< for the next allocations */

void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);

TRACE_FAKE(
	void *, rte_zmalloc_socket, const char *type, size_t size, unsigned int align, int socket)
{
	return no_memory ? NULL : __real_rte_zmalloc_socket(type, size, align, socket);
}

TRACE_FAKE(int, mdv_txq_ring_create, struct mdv_txq *txq)
{
	int ret = trace_call("create %u", txq->idx);

	if (ret == 0)
		txq->objs.qp = &qps[0];
	return ret;
}

TRACE_FAKE(void, mdv_txq_ring_destroy, struct mdv_txq *txq)
{
	assert_non_null(txq->objs.qp);
	txq->objs.qp = NULL;
	trace_call("destroy %u", txq->idx);
}

TRACE_FAKE(void, mdv_txq_ring_adopt, struct mdv_txq *txq, const struct mdv_txq *from)
{
	txq->objs = from->objs;
	trace_call("adopt %u %u", txq->idx, from->idx);
	/* As handle_txq() of port/event.c, which looks for the CQ in both lists. */
	if (cq_fails && rig.port.parked_tx != NULL)
		rig.port.parked_tx->ring.broken = true;
}

TRACE_FAKE(void, mdv_txq_ring_clear, struct mdv_txq *txq)
{
	assert_false(txq->ready);
	trace_call("clear %u", txq->idx);
}

TRACE_FAKE(int, mdv_txq_ring_set_rate, struct mdv_txq *txq, uint32_t kbps)
{
	return trace_call("rate %u %u", txq->idx, kbps);
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	cq_fails = false;
	memset(tx_queues, 0, sizeof(tx_queues));
	rig.data.tx_queues = tx_queues;
	rig.data.nb_tx_queues = NB_QUEUES;
	rig.port.device.caps = (struct mdv_caps){
		.mode = MDV_MODE_DV, .max_qp_wr = 4096, .max_sge = 30, .tx_checksum = true
	};
	mdv_queue_list_init(&rig.port.queues);
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		mdv_txq_release(&rig.dev, i);
	mdv_txq_destroy_parked(&rig.port);
	assert_true(LIST_EMPTY(&rig.port.queues.tx));
	return 0;
}

static struct mdv_txq *
setup(uint16_t idx, uint16_t nb_desc, uint64_t offloads)
{
	const struct rte_eth_txconf conf = { .offloads = offloads, .tx_free_thresh = 7 };

	assert_int_equal(mdv_txq_setup(&rig.dev, idx, nb_desc, 0, &conf), 0);
	return tx_queues[idx];
}

static void
the_device_limits_descriptors(void **state)
{
	static const struct {
		uint32_t max_qp_wr;
		enum mdv_mode mode;
		uint16_t max;
	} cases[] = {
		{ 4096, MDV_MODE_DV, 4096 },
		{ 4095, MDV_MODE_DV, 2048 },
		{ 32768, MDV_MODE_DV, 32768 },
		{ 1u << 20, MDV_MODE_DV, 32768 },
		{ 32768, MDV_MODE_IBV, 4096 },
		{ 1000, MDV_MODE_IBV, 64 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct mdv_caps caps = { .max_qp_wr = cases[i].max_qp_wr,
			.mode = cases[i].mode };

		assert_int_equal(mdv_txq_desc_max(&caps, 0), cases[i].max);
	}
}

static void
a_queue_is_set_up(void **state)
{
	const struct rte_eth_txconf conf = { .offloads = 0 };
	struct rte_eth_txq_info info;
	struct mdv_txq *txq;

	(void)state;
	rig.data.dev_conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	txq = setup(2, 100, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
	assert_ptr_equal(txq->port, &rig.port);
	assert_int_equal(txq->port_id, 3);
	assert_int_equal(txq->idx, 2);
	assert_int_equal(txq->nb_desc, 128);
	assert_int_equal(txq->ring.uar_slot, 3 * RTE_MAX_QUEUES_PER_PORT + 2);
	assert_true(txq->limits.multi);
	assert_true(txq->limits.ol_flags & RTE_MBUF_F_TX_IP_CKSUM);
	assert_ptr_equal(LIST_FIRST(&rig.port.queues.tx), txq);
	mdv_txq_info_get(&rig.dev, 2, &info);
	assert_int_equal(info.nb_desc, 128);
	assert_int_equal(info.conf.tx_free_thresh, 7);
	assert_int_equal(
		info.conf.offloads, RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
	trace_check("");
	assert_int_equal(mdv_txq_setup(&rig.dev, 0, 4097, 0, &conf), -EINVAL);
	assert_int_equal(mdv_txq_setup(&rig.dev, 0, 0, 0, &conf), -EINVAL);
	no_memory = true;
	assert_int_equal(mdv_txq_setup(&rig.dev, 0, 128, 0, &conf), -ENOMEM);
	no_memory = false;
	assert_null(tx_queues[0]);
	assert_int_equal(setup(0, 1, 0)->nb_desc, MDV_TXQ_DESC_MIN);
	assert_int_equal(setup(1, 4096, 0)->nb_desc, 4096);
	/* Nothing is there, and nothing happens. */
	mdv_txq_release(&rig.dev, 1);
	mdv_txq_release(&rig.dev, 1);
	assert_null(tx_queues[1]);
	assert_null(rig.port.parked_tx);
}

/** Packets of 124 inlined bytes take four WQEBBs each. Until the port starts, tx_inline=auto has
 * not decided, and then does so by the queues that it finds. */
static void
inlined_packets_leave_fewer_descriptors(void **state)
{
	static const struct {
		bool started;
		uint16_t config, chosen, max;
	} cases[] = {
		{ false, 0, 0, 4096 },
		{ false, 124, 0, 1024 },
		{ false, MDV_TX_INLINE_AUTO, 0, 4096 },
		{ true, 124, 124, 1024 },
		{ true, MDV_TX_INLINE_AUTO, 124, 1024 },
		{ true, MDV_TX_INLINE_AUTO, 0, 4096 },
	};
	const struct rte_eth_txconf conf = { .offloads = 0 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.port.started = cases[i].started;
		rig.port.config.tx_inline = cases[i].config;
		rig.port.tx_inline = cases[i].chosen;
		assert_int_equal(mdv_txq_setup(&rig.dev, 0, cases[i].max + 1, 0, &conf), -EINVAL);
		assert_int_equal(setup(0, cases[i].max, 0)->nb_desc, cases[i].max);
		mdv_txq_release(&rig.dev, 0);
	}
}

static void
a_running_port_makes_objects_at_once(void **state)
{
	const struct rte_eth_txconf conf = { .offloads = 0 };

	(void)state;
	rig.port.started = true;
	trace.fails = "create 1";
	trace.result = -ENOMEM;
	assert_int_equal(mdv_txq_setup(&rig.dev, 1, 128, 0, &conf), -ENOMEM);
	assert_null(tx_queues[1]);
	assert_true(LIST_EMPTY(&rig.port.queues.tx));
	trace_clear();
	setup(1, 128, 0);
	trace_check("create 1; ");
}

/** The next queue of a number has the objects of the last one, if they fit. */
static void
a_released_queues_objects_wait(void **state)
{
	static const struct {
		enum mdv_mode mode;
		uint16_t nb_desc;
		uint64_t offloads;
		const char *calls;
	} cases[] = {
		{ MDV_MODE_DV, 128, 0, "adopt 1 1; " },
		{ MDV_MODE_DV, 128, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "adopt 1 1; " },
		{ MDV_MODE_DV, 256, 0, "destroy 1; create 1; " },
		{ MDV_MODE_IBV, 128, 0, "adopt 1 1; " },
		{ MDV_MODE_IBV, 128, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "destroy 1; create 1; " },
		{ MDV_MODE_IBV, 256, 0, "destroy 1; create 1; " },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		port_make(state);
		rig.port.device.caps.max_qp_wr = 32768;
		rig.port.device.caps.mode = cases[i].mode;
		rig.port.started = true;
		for (uint16_t k = 0; k < NB_QUEUES; k++)
			setup(k, 128, 0);
		/* That which is wanted lies between others. */
		for (uint16_t k = 0; k < NB_QUEUES; k++)
			mdv_txq_release(&rig.dev, k);
		trace_clear();
		assert_ptr_equal(setup(1, cases[i].nb_desc, cases[i].offloads)->objs.qp, &qps[0]);
		trace_check(cases[i].calls);
		assert_int_equal(rig.port.parked_tx->idx, 2);
		assert_int_equal(rig.port.parked_tx->next_parked->idx, 0);
		assert_null(rig.port.parked_tx->next_parked->next_parked);
		mdv_txq_destroy_parked(&rig.port);
		trace_check("destroy 2; destroy 0; ");
		assert_null(rig.port.parked_tx);
		port_free(state);
	}
}

/** With the objects of before, or with others. */
static void
a_queue_that_is_set_up_again_goes_on_counting(void **state)
{
	(void)state;
	rig.port.started = true;
	for (uint16_t nb_desc = 128; nb_desc <= 256; nb_desc *= 2) {
		struct mdv_txq *txq = setup(1, 128, 0);

		txq->count = (struct mdv_tx_counters){ 10, 1000 };
		txq->errors = 3;
		txq->base = (struct mdv_tx_counters){ 1, 60 };
		txq->base_errors = 1;
		mdv_txq_release(&rig.dev, 1);
		txq = setup(1, nb_desc, 0);
		assert_int_equal(mdv_txq_since(txq->count.packets, txq->base.packets), 9);
		assert_int_equal(mdv_txq_since(txq->count.bytes, txq->base.bytes), 940);
		assert_int_equal(txq->errors - txq->base_errors, 2);
		mdv_txq_release(&rig.dev, 1);
	}
}

static void
a_cq_that_fails_while_it_is_taken_over_is_noticed(void **state)
{
	(void)state;
	rig.port.started = true;
	setup(1, 128, 0);
	mdv_txq_release(&rig.dev, 1);
	trace_clear();
	cq_fails = true;
	assert_true(setup(1, 128, 0)->ring.broken);
	trace_check("adopt 1 1; ");
	assert_null(rig.port.parked_tx);
}

static void
objects_follow_the_port(void **state)
{
	struct mdv_txq *txq = setup(1, 128, 0);

	(void)state;
	assert_int_equal(mdv_txq_create(&rig.port, 1), 0);
	trace.fails = "ready 1";
	trace.result = -EIO;
	assert_int_equal(mdv_txq_start(&rig.port, 1), -EIO);
	assert_false(txq->ready);
	trace_check("create 1; ready 1; ");
	trace.fails = "reset 1";
	assert_int_equal(mdv_txq_start(&rig.port, 1), 0);
	assert_true(txq->ready);
	trace_check("ready 1; clear 1; ");
	assert_int_equal(mdv_txq_stop(&rig.port, 1), -EIO);
	trace_check("reset 1; ");
	/* Neither what there is not, nor twice. */
	tx_queues[NB_QUEUES] = txq;
	mdv_txq_destroy(&rig.port, NB_QUEUES);
	trace_check("");
	mdv_txq_destroy(&rig.port, 1);
	trace_check("destroy 1; ");
	mdv_txq_destroy(&rig.port, 1);
	mdv_txq_destroy(&rig.port, 0);
	trace_check("");
}

/** Mbufs are freed fast, for one, only as long as the application says that they may be. */
static void
a_queue_that_stays_has_the_offloads_of_its_port(void **state)
{
	const uint64_t before = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	const uint64_t after = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	struct mdv_txq *txq;

	(void)state;
	rig.data.dev_conf.txmode.offloads = before;
	txq = setup(1, 128, 0);
	assert_int_equal(txq->conf.offloads, before);
	rig.data.dev_conf.txmode.offloads = after;
	assert_int_equal(mdv_txq_create(&rig.port, 1), 0);
	assert_int_equal(txq->conf.offloads, after);
	assert_true(txq->limits.multi);
	assert_int_equal(txq->limits.ol_flags & (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM),
		RTE_MBUF_F_TX_TCP_CKSUM);
	mdv_txq_destroy(&rig.port, 1);
	trace_check("create 1; destroy 1; ");
}

/** Its CQ may be in error: what is sent before the queue is recreated would be lost. */
static void
a_broken_queue_takes_nothing_when_it_starts(void **state)
{
	struct mdv_txq *txq = setup(1, 128, 0);

	(void)state;
	assert_int_equal(mdv_txq_create(&rig.port, 1), 0);
	txq->ring.mask = 127;
	assert_int_equal(mdv_txq_start(&rig.port, 1), 0);
	assert_int_equal((uint16_t)(txq->pos.pc - txq->pos.ci), 0);
	txq->ready = false;
	txq->ring.broken = true;
	assert_int_equal(mdv_txq_start(&rig.port, 1), 0);
	assert_int_equal((uint16_t)(txq->pos.pc - txq->pos.ci), 128);
	assert_true(txq->ready && txq->ring.broken);
	trace_check("create 1; ready 1; clear 1; ready 1; clear 1; ");
	mdv_txq_destroy(&rig.port, 1);
}

static void
rates_are_within_the_devices(void **state)
{
	static const struct {
		uint32_t mbps;
		int result;
	} cases[] = {
		{ 0, 0 }, { 1, -EINVAL }, { 2, 0 }, { 100, 0 }, { 101, -EINVAL },
		{ 4294968, -EINVAL }, /* which is 704 kbit/s, of 32 bits */
	};
	struct mdv_txq *txq;

	(void)state;
	assert_int_equal(mdv_txq_set_rate(&rig.dev, 1, 2), -EINVAL);
	assert_int_equal(mdv_txq_set_rate(&rig.dev, NB_QUEUES, 2), -EINVAL);
	txq = setup(1, 128, 0);
	assert_int_equal(mdv_txq_set_rate(&rig.dev, 1, 2), -ENOTSUP);
	rig.port.device.caps.rate_min_kbps = 2000;
	rig.port.device.caps.rate_max_kbps = 100000;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		txq->rate_kbps = 77;
		assert_int_equal(mdv_txq_set_rate(&rig.dev, 1, cases[i].mbps), cases[i].result);
		assert_int_equal(txq->rate_kbps, cases[i].result == 0 ? cases[i].mbps * 1000 : 77);
	}
	trace_check("");
	/* A queue that sends is told. */
	txq->ready = true;
	assert_int_equal(mdv_txq_set_rate(&rig.dev, 1, 50), 0);
	trace_check("rate 1 50000; ");
	trace.fails = "rate 1 60000";
	trace.result = -EINVAL;
	assert_int_equal(mdv_txq_set_rate(&rig.dev, 1, 60), -EINVAL);
	assert_int_equal(txq->rate_kbps, 50000);
}

/** Flags that a packet may have in any case, and with an offload that cuts packets up. */
#define ALWAYS                                                                                     \
	(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_OUTER_IPV4 |                      \
		RTE_MBUF_F_TX_OUTER_IPV6 | RTE_MBUF_F_TX_TUNNEL_MASK)
#define CUT                                                                                        \
	(RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_IP_CKSUM |                \
		RTE_MBUF_F_TX_OUTER_IP_CKSUM)

static void
limits_follow_offloads(void **state)
{
	static const struct {
		uint64_t offload, flags;
	} flags[] = {
		{ 0, 0 },
		{ RTE_ETH_TX_OFFLOAD_VLAN_INSERT, RTE_MBUF_F_TX_VLAN },
		{ RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, RTE_MBUF_F_TX_IP_CKSUM },
		{ RTE_ETH_TX_OFFLOAD_UDP_CKSUM, RTE_MBUF_F_TX_UDP_CKSUM },
		{ RTE_ETH_TX_OFFLOAD_TCP_CKSUM, RTE_MBUF_F_TX_TCP_CKSUM },
		{ RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM, RTE_MBUF_F_TX_OUTER_IP_CKSUM },
		{ RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 0 },
	};
	struct mdv_caps caps = { .mode = MDV_MODE_DV, .tx_checksum = true, .max_sge = 30 };
	struct mdv_tx_limits limits;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(flags); i++) {
		limits = mdv_tx_limits_of(&caps, flags[i].offload);
		assert_int_equal(limits.ol_flags, ALWAYS | flags[i].flags);
		assert_int_equal(limits.multi, flags[i].offload == RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
		assert_int_equal(limits.tunnels, 1);
		assert_true(limits.tso_tunnels == 0 && limits.tso_max == 0);
		assert_int_equal(limits.segs, MDV_TX_SEGS_MAX);
	}
	/* Two bytes of longer headers are in the Ethernet segment, 76 in five more units. */
	caps.tx_min_inline = MDV_HW_ETH_INLINE_TRANSPORT;
	assert_int_equal(mdv_tx_limits_segs(&caps), MDV_TX_DS_MAX - 2 - 5);
	caps.tx_min_inline = MDV_HW_ETH_INLINE_L2;
	assert_int_equal(mdv_tx_limits_segs(&caps), MDV_TX_SEGS_MAX);
}

/** Each tunnel has its capability. */
static void
limits_follow_tunnels(void **state)
{
	static const struct {
		uint32_t capability;
		bool sw_parsing;
		uint64_t offload;
		uint16_t tunnels, tso_tunnels;
	} tunnels[] = {
		{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN, false,
			RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO, 1 | 1 << 1, 1 << 1 },
		{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE, false, RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO,
			1 | 1 << 2, 1 << 2 },
		{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE, false,
			RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO, 1 | 1 << 4, 1 << 4 },
		{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP, false, 0, 1 | 1 << 5,
			0 },
		{ 0, true, RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO, 1 | 1 << 14, 1 << 14 },
		{ 0, true, RTE_ETH_TX_OFFLOAD_IP_TNL_TSO, 1 | 1 << 13, 1 << 13 },
		{ 0, false, RTE_ETH_TX_OFFLOAD_IP_TNL_TSO, 1, 0 },
		{ 0, true, 0, 1, 0 },
		{ 0, false, RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO, 1, 0 },
		{ 0, false, RTE_ETH_TX_OFFLOAD_TCP_TSO, 1, 1 },
	};
	struct mdv_caps caps = { .mode = MDV_MODE_DV, .tx_checksum = true, .max_sge = 30 };
	struct mdv_tx_limits limits;

	(void)state;
	caps.max_tso_bytes = 999;
	for (unsigned int i = 0; i < RTE_DIM(tunnels); i++) {
		const bool cuts = tunnels[i].tso_tunnels != 0;

		caps.tunnel_offloads = tunnels[i].capability;
		caps.sw_parsing = tunnels[i].sw_parsing;
		/* What does not cut packets up does not count. */
		limits = mdv_tx_limits_of(
			&caps, tunnels[i].offload | RTE_ETH_TX_OFFLOAD_VLAN_INSERT);
		assert_int_equal(limits.tunnels, tunnels[i].tunnels);
		assert_int_equal(limits.tso_tunnels, tunnels[i].tso_tunnels);
		assert_int_equal(limits.tso_max, cuts ? 999 : 0);
		assert_int_equal(limits.ol_flags, ALWAYS | RTE_MBUF_F_TX_VLAN | (cuts ? CUT : 0));
		assert_int_equal(
			(mdv_tx_limits_tso_offloads(&caps) & tunnels[i].offload) != 0, cuts);
	}
	caps.tx_checksum = false;
	assert_int_equal(mdv_tx_limits_tso_offloads(&caps), 0);
	assert_int_equal(mdv_tx_limits_of(&caps, RTE_ETH_TX_OFFLOAD_TCP_TSO).tso_max, 0);
	caps.mode = MDV_MODE_IBV;
	assert_int_equal(mdv_tx_limits_segs(&caps), MDV_TX_IBV_SEGS);
	caps.max_sge = MDV_TX_IBV_SEGS;
	assert_int_equal(mdv_tx_limits_of(&caps, 0).segs, MDV_TX_IBV_SEGS - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_device_limits_descriptors, port_make, port_free),
		cmocka_unit_test_setup_teardown(a_queue_is_set_up, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			inlined_packets_leave_fewer_descriptors, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_running_port_makes_objects_at_once, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_released_queues_objects_wait, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_queue_that_is_set_up_again_goes_on_counting, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_cq_that_fails_while_it_is_taken_over_is_noticed, port_make, port_free),
		cmocka_unit_test_setup_teardown(objects_follow_the_port, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_queue_that_stays_has_the_offloads_of_its_port, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_broken_queue_takes_nothing_when_it_starts, port_make, port_free),
		cmocka_unit_test_setup_teardown(rates_are_within_the_devices, port_make, port_free),
		cmocka_unit_test(limits_follow_offloads),
		cmocka_unit_test(limits_follow_tunnels),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
