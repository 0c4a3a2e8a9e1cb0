/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets in device memory on softhca: whole, in chains, among others; and the lifetimes of the
 * memory and its mbufs. */
#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "port_rig.h"
#include "rte_pmd_mlx5dv.h"

#define MAX_BYTES (128u << 10)
#define FRAME     100u

static uint16_t
port_make(const char *name)
{
	struct shape shape = port_rig_shapes[0];
	uint16_t port_id = port_rig_open(name);

	port_rig_configure(port_id, &shape);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	return port_id;
}

static void
port_end(const char *name)
{
	assert_int_equal(rte_vdev_uninit(name), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

static struct rte_pmd_mlx5dv_dm *
take(uint16_t port_id, size_t size)
{
	struct rte_pmd_mlx5dv_dm *dm = rte_pmd_mlx5dv_dm_alloc(port_id, size, 0);

	assert_non_null(dm);
	return dm;
}

/** A broadcast frame whose bytes tell it from others. */
static void
fill(uint8_t *frame, uint8_t number)
{
	memset(frame, 0xff, 6);
	memcpy(frame + 6, "\x02\x00\x00\x00\x00\x07\x88\xb5", 8);
	memset(frame + 14, number, FRAME - 14);
}

static struct rte_mbuf *
attached(struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(port_rig_pool);

	assert_non_null(mbuf);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, offset, len, mbuf), 0);
	return mbuf;
}

/** Get the next frame that comes back, for the caller to free. */
static struct rte_mbuf *
receive(uint16_t port_id)
{
	struct rte_mbuf *got = NULL;
	unsigned int polls;

	for (polls = 0; got == NULL && polls < NB_POLLS; polls++)
		rte_eth_rx_burst(port_id, 0, &got, 1);
	assert_non_null(got);
	return got;
}

static void
transmit(uint16_t port_id, struct rte_mbuf **pkts, uint16_t nb)
{
	assert_int_equal(rte_eth_tx_burst(port_id, 0, pkts, nb), nb);
}

static void
expect(uint16_t port_id, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *got = receive(port_id);

	assert_int_equal(got->pkt_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(got, uint8_t *), frame, len);
	rte_pktmbuf_free(got);
}

/** A queue keeps a sent mbuf until it sends more, or stops. */
static void
free_after_stop(uint16_t port_id, struct rte_pmd_mlx5dv_dm *dm)
{
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
}

static void
frames_leave_from_wherever_they_lie(void **state)
{
	/* Neither start nor length need be multiples of a word. */
	static const size_t offsets[] = { 0, 128, 2 * 128 + 1, 3 * 128 + 2, 4 * 128 + 3 };
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 1024);
	struct rte_mbuf *pkts[2 * RTE_DIM(offsets)];
	uint8_t bytes[1024], host[FRAME];
	unsigned int i, round;

	(void)state;
	for (i = 0; i < RTE_DIM(offsets); i++)
		fill(bytes + offsets[i], i);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, bytes, sizeof(bytes)), 0);
	/* Between packets of the host's memory, so that bursts go from one to the other. */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < RTE_DIM(offsets); i++) {
			pkts[2 * i] = port_rig_packet(1, FRAME);
			pkts[2 * i + 1] = attached(dm, offsets[i], FRAME - i);
		}
		memcpy(host, rte_pktmbuf_mtod(pkts[0], void *), FRAME);
		transmit(port_id, pkts, RTE_DIM(pkts));
		for (i = 0; i < RTE_DIM(offsets); i++) {
			expect(port_id, host, FRAME);
			expect(port_id, bytes + offsets[i], FRAME - i);
		}
	}
	free_after_stop(port_id, dm);
	port_end("net_mlx5dv0");
}

static void
chains_mix_both_memories(void **state)
{
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 256);
	struct rte_mbuf *chain, *part, *pkts[2];
	uint8_t bytes[256], frame[2 * FRAME + 40];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, bytes, sizeof(bytes)), 0);
	for (i = 0; i < RTE_DIM(pkts); i++) {
		chain = port_rig_packet(1, FRAME);
		assert_int_equal(rte_pktmbuf_chain(chain, attached(dm, 33, 40)), 0);
		part = rte_pktmbuf_alloc(port_rig_pool);
		memset(rte_pktmbuf_append(part, FRAME), 0x5a, FRAME);
		assert_int_equal(rte_pktmbuf_chain(chain, part), 0);
		pkts[i] = chain;
	}
	memcpy(frame, rte_pktmbuf_mtod(chain, void *), FRAME);
	memcpy(frame + FRAME, bytes + 33, 40);
	memset(frame + FRAME + 40, 0x5a, FRAME);
	transmit(port_id, pkts, RTE_DIM(pkts));
	for (i = 0; i < RTE_DIM(pkts); i++)
		expect(port_id, frame, sizeof(frame));
	free_after_stop(port_id, dm);
	port_end("net_mlx5dv0");
}

static void
memory_with_mbufs_is_not_freed(void **state)
{
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 64);
	struct rte_mbuf *mbuf = attached(dm, 0, 64), *clone;

	(void)state;
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), -EBUSY);
	clone = rte_pktmbuf_clone(mbuf, port_rig_pool);
	assert_non_null(clone);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), -EBUSY);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 0, 64, clone), -EINVAL);
	rte_pktmbuf_free(clone);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(NULL), 0);
	port_end("net_mlx5dv0");
}

static void
mbufs_of_one_memory_are_counted_to_the_last(void **state)
{
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 64);
	struct rte_mbuf mbuf = { .nb_segs = 1 };
	unsigned int i;

	(void)state;
	for (i = 0; i < UINT16_MAX - 1; i++) {
		mbuf.ol_flags = 0;
		assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 0, 64, &mbuf), 0);
	}
	mbuf.ol_flags = 0;
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 0, 64, &mbuf), -EAGAIN);
	rte_mbuf_ext_refcnt_set(mbuf.shinfo, 1);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	port_end("net_mlx5dv0");
}

static void
sizes_have_limits(void **state)
{
	static const struct {
		size_t size, align;
		int error;
	} refused[] = {
		{ 0, 0, EINVAL },
		{ MAX_BYTES + 1, 0, EINVAL },
		{ SIZE_MAX, 0, EINVAL },
		{ 64, 3, EINVAL },
		{ 64, 8192, EINVAL },
		/* Some is taken. */
		{ MAX_BYTES, 0, ENOMEM },
	};
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm;
	struct rte_mbuf *mbuf;
	unsigned int i;
	size_t max;

	(void)state;
	assert_int_equal(rte_pmd_mlx5dv_dm_max(port_id, &max), 0);
	assert_int_equal(max, MAX_BYTES);
	dm = rte_pmd_mlx5dv_dm_alloc(port_id, 1, 4096);
	assert_non_null(dm);
	mbuf = attached(dm, 0, 1);
	assert_int_equal((uintptr_t)mbuf->buf_addr % 4096, 0);
	rte_pktmbuf_free(mbuf);
	for (i = 0; i < RTE_DIM(refused); i++) {
		assert_null(rte_pmd_mlx5dv_dm_alloc(port_id, refused[i].size, refused[i].align));
		assert_int_equal(rte_errno, refused[i].error);
	}
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(take(port_id, MAX_BYTES)), 0);
	/* A port of another driver. */
	assert_int_equal(rte_pmd_mlx5dv_dm_max(port_id + 1, &max), -ENODEV);
	assert_null(rte_pmd_mlx5dv_dm_alloc(RTE_MAX_ETHPORTS, 64, 0));
	assert_int_equal(rte_errno, ENODEV);
	port_end("net_mlx5dv0");
}

static void
copies_are_of_whole_words_where_they_start(void **state)
{
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 65);
	uint8_t bytes[128], back[128];
	struct rte_mbuf mbuf = { .nb_segs = 1 };
	unsigned int i, len;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x80 + i;
	for (len = 0; len < 10; len++) {
		memset(back, 0x11, sizeof(back));
		assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, back, sizeof(back)), 0);
		assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 8, bytes, len), 0);
		assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 0, back, 8 + len + 3), 0);
		assert_int_equal(back[7], 0x11);
		assert_memory_equal(back + 8, bytes, len);
		assert_int_equal(back[8 + len], 0x11);
		/* Not one byte more than requested. */
		back[len] = 0x22;
		assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 8, back, len), 0);
		assert_memory_equal(back, bytes, len);
		assert_int_equal(back[len], 0x22);
	}
	/* 65 bytes are 128. */
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 64, bytes, 64), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 64, bytes, 65), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 2, bytes, 4), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 2, bytes, 1), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 1, back, 4), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 132, back, 0), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 127, 2, &mbuf), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	port_end("net_mlx5dv0");
}

/** Every operation that is still allowed on memory that is gone. */
static void
check_gone(struct rte_pmd_mlx5dv_dm *dm, struct rte_mbuf *mbuf)
{
	uint32_t word = 0;

	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, &word, sizeof(word)), -ENODEV);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 0, &word, sizeof(word)), -ENODEV);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 0, 64, mbuf), -ENODEV);
}

static void
a_port_takes_its_memory_with_it(void **state)
{
	const struct shape *shape = &port_rig_shapes[0];
	uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *first = take(port_id, 64), *second = take(port_id, 64);
	struct rte_mbuf *mbuf = attached(first, 0, 64), *other = attached(second, 0, 64);

	(void)state;
	/* A stop does not free it. */
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(first, 0, shape, 8), 0);
	assert_int_equal(rte_eth_dev_reset(port_id), 0);
	check_gone(first, mbuf);
	check_gone(second, other);
	/* Still the application frees the last reference. */
	assert_int_equal(rte_pmd_mlx5dv_dm_free(first), -EBUSY);
	rte_pktmbuf_free(mbuf);
	rte_pktmbuf_free(other);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(first), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(second), 0);
	/* The memory is the device's again. */
	first = take(port_id, MAX_BYTES);
	mbuf = attached(first, 0, 64);
	assert_int_equal(rte_eth_dev_close(port_id), 0);
	check_gone(first, mbuf);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(first), 0);
	port_end("net_mlx5dv0");
}

/** The same as for any memory that a port does not know. */
static void
memory_of_another_port_is_not_sent(void **state)
{
	const uint16_t port_id = port_make("net_mlx5dv0"), other_id = port_make("net_mlx5dv1");
	struct rte_pmd_mlx5dv_dm *dm = take(other_id, 128);
	struct rte_mbuf *pkts[2] = { attached(dm, 0, 64), port_rig_packet(1, FRAME) };
	struct rte_eth_stats stats;

	(void)state;
	transmit(port_id, pkts, RTE_DIM(pkts));
	assert_int_equal(rte_eth_stats_get(port_id, &stats), 0);
	assert_int_equal(stats.oerrors, 1);
	assert_int_equal(stats.opackets, 1);
	rte_pktmbuf_free(receive(port_id));
	/* It was freed. */
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv1"), 0);
	port_end("net_mlx5dv0");
}

static void
offloads_leave_the_template_alone(void **state)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |
			RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO };
	const uint16_t port_id = port_make("net_mlx5dv0");
	struct rte_pmd_mlx5dv_dm *dm = take(port_id, 128);
	uint8_t frame[FRAME], back[FRAME];
	struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	struct rte_eth_stats stats;
	struct rte_mbuf *mbuf;

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port_id), 0);
	assert_int_equal(rte_eth_dev_configure(port_id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port_id, 0, 256, 0, NULL, port_rig_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port_id, 0, 256, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	fill(frame, 3);
	memcpy(frame + 12, "\x08\x00", 2);
	*ip = (struct rte_ipv4_hdr){ .version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(FRAME - RTE_ETHER_HDR_LEN),
		.time_to_live = 1,
		.next_proto_id = IPPROTO_UDP };
	udp->dgram_len = rte_cpu_to_be_16(FRAME - RTE_ETHER_HDR_LEN - sizeof(*ip));
	udp->dgram_cksum = RTE_BE16(0xbad0);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, frame, FRAME), 0);
	mbuf = attached(dm, 0, FRAME);
	mbuf->l2_len = RTE_ETHER_HDR_LEN;
	mbuf->l3_len = sizeof(*ip);
	mbuf->l4_len = sizeof(struct rte_udp_hdr);
	mbuf->tso_segsz = 10;
	mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_SEG;
	assert_int_equal(rte_eth_tx_prepare(port_id, 0, &mbuf, 1), 0);
	assert_int_equal(rte_errno, ENOTSUP);
	/* Without the offload it is refused, too. */
	rte_mbuf_refcnt_update(mbuf, 1);
	transmit(port_id, &mbuf, 1);
	assert_int_equal(rte_mbuf_refcnt_read(mbuf), 1);
	assert_int_equal(rte_eth_stats_get(port_id, &stats), 0);
	assert_int_equal(stats.oerrors, 1);
	mbuf->ol_flags &= ~RTE_MBUF_F_TX_TCP_SEG;
	mbuf->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	assert_int_equal(rte_eth_tx_prepare(port_id, 0, &mbuf, 1), 1);
	transmit(port_id, &mbuf, 1);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_cksum = 0;
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
	expect(port_id, frame, FRAME);
	/* The fields in the memory are unchanged. */
	ip->hdr_checksum = 0;
	udp->dgram_cksum = RTE_BE16(0xbad0);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 0, back, FRAME), 0);
	assert_memory_equal(back, frame, FRAME);
	free_after_stop(port_id, dm);
	port_end("net_mlx5dv0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_leave_from_wherever_they_lie),
		cmocka_unit_test(chains_mix_both_memories),
		cmocka_unit_test(memory_with_mbufs_is_not_freed),
		cmocka_unit_test(mbufs_of_one_memory_are_counted_to_the_last),
		cmocka_unit_test(sizes_have_limits),
		cmocka_unit_test(copies_are_of_whole_words_where_they_start),
		cmocka_unit_test(a_port_takes_its_memory_with_it),
		cmocka_unit_test(memory_of_another_port_is_not_sent),
		cmocka_unit_test(offloads_leave_the_template_alone),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
